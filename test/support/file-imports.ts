// Files as a team sends them, and what becomes of them.
import assert from 'node:assert/strict'
import { zipBytes } from './zip.ts'
import type { Reply, TestTeam } from './server.ts'

const PROLOG = `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE HealthData [\n<!ELEMENT HealthData ANY>\n]>\n`

/** An `export.xml` with these elements. */
export const exportXml = (...elements: string[]): string =>
  `${PROLOG}<HealthData locale="en_US">\n${elements.join('\n')}\n</HealthData>\n`

const attributesOf = (attributes: Record<string, string>): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ')

export const WATCH = {
  sourceName: 'Fictional Watch',
  device:
    '&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:9.1&gt;',
}
export const PHONE = {
  sourceName: 'Fictional iPhone',
  device: '&lt;&lt;HKDevice: 0x2&gt;, name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,5, software:16.1&gt;',
}

/** A record of a quantity. @param from an instant in the notation of Apple; also its end, unless that is given */
export function record(
  type: string,
  value: string | number | undefined,
  unit: string,
  from: string,
  { to = from, inside = '', ...more }: { to?: string; inside?: string } & Record<string, string> = {},
): string {
  const all = { unit, startDate: from, endDate: to, creationDate: to, ...WATCH, ...more }
  const identifier = type.startsWith('HK') ? type : `HKQuantityTypeIdentifier${type}`
  return `<Record type="${identifier}" ${attributesOf(all)}${value === undefined ? '' : ` value="${value}"`}>${inside}</Record>`
}

export const metadata = (key: string, value: string): string => `<MetadataEntry key="${key}" value="${value}"/>`

/** An archive as a phone makes it. */
export const exportZip = (xml: string, name = 'apple_health_export/export.xml'): Promise<Buffer> =>
  zipBytes([
    { name: 'apple_health_export/export_cda.xml', content: ['<ClinicalDocument/><ClinicalDocument/>'] },
    { name, content: [xml] },
  ])

export const upload = ({ api }: TestTeam, user_id: string, file: Uint8Array, query = ''): Promise<Reply> =>
  api.post(`/v2/user/${user_id}/file_import${query}`, file, { 'content-type': 'application/octet-stream' })

/** Sends a file and runs its import. @returns the import */
export async function imported(team: TestTeam, user_id: string, file: Uint8Array | string) {
  const { status, body } = await upload(team, user_id, typeof file === 'string' ? Buffer.from(file) : file)
  assert.equal(status, 202, JSON.stringify(body))
  await team.settle()
  return (await team.api.get(`/v2/user/${user_id}/file_import/${body.id}`)).body
}
