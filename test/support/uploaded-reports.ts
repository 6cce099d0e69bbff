// Lab reports as people upload them: drawn PDFs, forms, and what becomes of them.
import assert from 'node:assert/strict'
import PDFDocument from 'pdfkit'
import type { Reply, TestTeam } from './server.ts'

export interface DrawnText {
  x: number
  y: number
  text: string
  size?: number
}

/** A PDF of these pages; the same pages make the same bytes. */
export const pdfOf = (...pages: DrawnText[][]): Promise<Buffer> => pdfOfSize('LETTER', ...pages)

/** The same with pages of another size. */
export function pdfOfSize(size: 'LETTER' | [width: number, height: number], ...pages: DrawnText[][]): Promise<Buffer> {
  return new Promise((resolve) => {
    const document = new PDFDocument({ size, margin: 0, autoFirstPage: false, info: { CreationDate: new Date(0) } })
    const parts: Buffer[] = []
    document.on('data', (part: Buffer) => parts.push(part))
    document.on('end', () => resolve(Buffer.concat(parts)))
    for (const page of pages) {
      document.addPage()
      for (const { x, y, text, size = 9 } of page) document.fontSize(size).text(text, x, y, { lineBreak: false })
    }
    document.end()
  })
}

const COLUMNS = [40, 220, 290, 340, 430]

/** Texts side by side at the places of the columns. */
export const tableRow = (y: number, ...texts: string[]): DrawnText[] =>
  texts.flatMap((text, column) => (text ? [{ x: COLUMNS[column]!, y, text }] : []))

/** A page of a report of a fictional laboratory, with these results. */
export const reportPage = (...rows: string[][]): DrawnText[] => [
  { x: 40, y: 40, text: 'Fictional Diagnostic Laboratories', size: 16 },
  { x: 40, y: 70, text: 'Patient Name: PERSON, FICTIONAL Q' },
  { x: 300, y: 70, text: 'Collected: 03/14/2024 08:15' },
  { x: 40, y: 84, text: 'DOB: 01/22/1980   Sex: F' },
  { x: 300, y: 84, text: 'Reported: 03/15/2024' },
  { x: 40, y: 98, text: 'Specimen ID: AB-123456' },
  ...tableRow(130, 'TEST', 'RESULT', 'FLAG', 'UNITS', 'REFERENCE INTERVAL'),
  ...rows.flatMap((texts, index) => tableRow(150 + 14 * index, ...texts)),
]

export const glucoseReport = (): Promise<Buffer> => pdfOf(reportPage(['Glucose', '105', 'H', 'mg/dL', '70-99']))

export interface FormFile {
  bytes: Uint8Array
  type?: string
  name?: string
}

/** Uploads files with the form of the API. Fields that are undefined are left out. */
export async function uploadReport(
  { api }: TestTeam,
  files: FormFile[],
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const form = new FormData()
  for (const { bytes, type = 'application/pdf', name = 'report' } of files)
    form.append('file', new Blob([new Uint8Array(bytes)], { type }), name)
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) form.append(field, value)
  const request = new Response(form)
  return api.post('/lab_report/v1/parser/job', new Uint8Array(await request.arrayBuffer()), {
    'content-type': request.headers.get('content-type')!,
    ...headers,
  })
}

export const readJob = async ({ api }: TestTeam, id: string) => (await api.get(`/lab_report/v1/parser/job/${id}`)).body

/** Uploads a report, runs its job and returns it. */
export async function parseUpload(team: TestTeam, user_id: string, file: FormFile, fields: Record<string, string> = {}) {
  const { status, body } = await uploadReport(team, [file], { user_id, ...fields })
  assert.equal(status, 200, JSON.stringify(body))
  await team.settle()
  return readJob(team, body.id)
}
