// Files as a team sends them, and what becomes of them.
import assert from 'node:assert/strict'
import { Batches, type Batch } from '../../src/connections/file-imports/batches.ts'
import { readFile } from '../../src/connections/file-imports/read-file.ts'
import { ReadError, type ReadSummary } from '../../src/connections/file-imports/reading.ts'
import type { IncomingSample } from '../../src/wearables/ingestion/ingest.ts'
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

/** A record of a quantity. @param start an instant in the notation of Apple; also its end, unless that is given */
export function record(
  type: string,
  value: string | number | undefined,
  unit: string,
  start: string,
  { end = start, content = '', ...more }: { end?: string; content?: string } & Record<string, string> = {},
): string {
  const all = { unit, startDate: start, endDate: end, creationDate: end, ...WATCH, ...more }
  const identifier = type.startsWith('HK') ? type : `HKQuantityTypeIdentifier${type}`
  return `<Record type="${identifier}" ${attributesOf(all)}${value === undefined ? '' : ` value="${value}"`}>${content}</Record>`
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
export async function importFile(team: TestTeam, user_id: string, file: Uint8Array | string) {
  const { status, body } = await upload(team, user_id, typeof file === 'string' ? Buffer.from(file) : file)
  assert.equal(status, 202, JSON.stringify(body))
  await team.settle()
  return (await team.api.get(`/v2/user/${user_id}/file_import/${body.id}`)).body
}

/** The instant at which `reading` reads. */
const NOW_MS = Date.parse('2026-02-10T00:00:00Z')

/** What a file has, read as the server reads it. */
export async function reading(file: string | Buffer) {
  const bytes = Buffer.from(file as string)
  const samples: Record<string, IncomingSample[]> = {}
  const summaries: Record<string, ReadSummary[]> = {}
  const take = async (batch: Batch) => {
    if ('samples' in batch) (samples[batch.resource] ??= []).push(...batch.samples)
    else (summaries[batch.kind] ??= []).push(...batch.summaries)
  }
  const batches = new Batches('manual', take)
  const progress = { read_bytes: 0, content_bytes: 0 }
  let error: unknown
  await readFile(
    { size: bytes.length, read: async (start) => bytes.subarray(start, start + 10_000) },
    batches,
    { now_ms: NOW_MS },
    progress,
  ).catch((reason: unknown) => (error = reason))
  if (error !== undefined && !(error instanceof ReadError)) throw error
  return { samples, summaries, skipped: batches.skips, error: (error as ReadError | undefined)?.code ?? null }
}

export const values = (samples: IncomingSample[] | undefined) => (samples ?? []).map(({ value }) => value)
export const documents = (summaries: ReadSummary[] | undefined) =>
  (summaries ?? []).map(({ record: { document } }) => document as Record<string, unknown>)
