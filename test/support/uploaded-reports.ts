// Lab reports as people upload them: drawn PDFs, forms, and what becomes of them.
import assert from 'node:assert/strict'
import PDFDocument from 'pdfkit'
import { exampleReport } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import { claimJob, createJob, endJob } from '../../src/lab-reports/parsing-jobs/jobs.ts'
import type { ReadReport } from '../../src/lab-reports/reading/read-report.ts'
import type { ReportResult } from '../../src/lab-reports/reading/result.ts'
import { vault, type Reply, type TestTeam } from './server.ts'

export interface DrawnText {
  x: number
  y: number
  text: string
  size?: number
}

/** A PDF of these pages. */
export function pdfOf(...pages: DrawnText[][]): Promise<Buffer> {
  return new Promise((resolve) => {
    const document = new PDFDocument({ size: 'LETTER', margin: 0, autoFirstPage: false })
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
): Promise<Reply> {
  const form = new FormData()
  for (const { bytes, type = 'application/pdf', name = 'report' } of files)
    form.append('file', new Blob([new Uint8Array(bytes)], { type }), name)
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) form.append(field, value)
  const request = new Response(form)
  return api.post('/lab_report/v1/parser/job', new Uint8Array(await request.arrayBuffer()), {
    'content-type': request.headers.get('content-type')!,
  })
}

export const readJob = async ({ api }: TestTeam, id: string) => (await api.get(`/lab_report/v1/parser/job/${id}`)).body

/** Uploads a report, runs its job and returns it. */
export async function parsed(team: TestTeam, user_id: string, file: FormFile, fields: Record<string, string> = {}) {
  const { status, body } = await uploadReport(team, [file], { user_id, ...fields })
  assert.equal(status, 200, JSON.stringify(body))
  await team.settle()
  return readJob(team, body.id)
}

const PLACE = {
  page: 1,
  row: { left: 40, top: 84, right: 300, bottom: 94 },
  value: { left: 80, top: 84, right: 100, bottom: 94 },
  confidence: 0.9,
}
const readResult = (test_name: string, value: string, more: Partial<ReportResult> = {}): ReportResult => ({
  test_name,
  value,
  type: 'numeric',
  units: 'mg/dL',
  min_reference_range: 70,
  max_reference_range: 99,
  source_panel_name: null,
  sample_type: 'unknown',
  measurement_kind: 'unknown',
  sensitivity: 'unknown',
  interpretation: 'normal',
  is_above_max_range: false,
  is_below_min_range: false,
  loinc_match_status: 'auto_match',
  loinc_matches: [
    {
      loinc_code: '2345-7',
      loinc_name: 'Glucose [Mass/volume] in Serum or Plasma',
      display_name: 'Glucose',
      aliases: [],
      confidence_score: 0.95,
    },
  ],
  findings: [],
  place: PLACE,
  ...more,
})

/** What a thread would have read of the example, and one result more that is implausible. */
export const readExample: ReadReport = {
  metadata: {
    patient_first_name: null,
    patient_last_name: null,
    dob: null,
    gender: 'other',
    lab_name: null,
    date_reported: null,
    date_collected: null,
    specimen_number: null,
  },
  results: [
    readResult('Glucose', '95'),
    readResult('Sodium', '1400', {
      units: 'mmol/L',
      min_reference_range: 136,
      max_reference_range: 145,
      interpretation: 'abnormal',
      is_above_max_range: true,
      loinc_match_status: 'needs_review',
      loinc_matches: [],
      findings: [
        {
          kind: 'outside_human_limits',
          text: 'The value of Sodium is outside of what is possible.',
          factor: 0.85,
          asksForReview: true,
        },
      ],
    }),
  ],
  pages: [{ number: 1, width: 612, height: 792 }],
}

/** A job that waits for a person, made by the functions of the upload and of the end of parsing, without a thread. @returns its id */
export async function waitingReport(team: TestTeam, user_id: string, report = readExample): Promise<string> {
  const files = [{ bytes: Buffer.from(exampleReport), type: 'application/pdf' as const }]
  const { id } = await team.db.tx(team.tenant, (tx) => createJob(tx, vault, { files, user_id, needs_human_review: true }, 1))
  await team.db.tx(team.tenant, (tx) => claimJob(tx, id))
  await team.db.tx(team.tenant, (tx) => endJob(tx, id, { report }, 86_400))
  return id
}
