// Lab reports that wait for a person.
import { exampleReport } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import { claimJob, createJob, endJob } from '../../src/lab-reports/parsing-jobs/parsing-jobs.ts'
import type { ReadReport } from '../../src/lab-reports/reading/read-report.ts'
import type { ReportResult } from '../../src/lab-reports/reading/result.ts'
import type { TestTeam } from './server.ts'
import { reportFiles } from './report-files.ts'

const PLACE = {
  page: 1,
  row: { left: 40, top: 84, right: 300, bottom: 94 },
  value: { left: 80, top: 84, right: 100, bottom: 94 },
  confidence: 0.9,
}
const LAB_BOX = { left: 40, top: 30, right: 160, bottom: 42 }
const readResult = (test_name: string, value: string, overrides: Partial<ReportResult> = {}): ReportResult => ({
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
  ...overrides,
})

/** What a thread would have read of the example, and one result more that is implausible. */
export const readExample: ReadReport = {
  metadata: {
    patient_first_name: null,
    patient_last_name: null,
    dob: null,
    gender: 'other',
    lab_name: 'Fictional Laboratory',
    date_reported: null,
    date_collected: null,
    specimen_number: null,
  },
  metadata_places: { lab_name: { page: 1, box: LAB_BOX } },
  results: [
    readResult('Glucose', '95'),
    readResult('Sodium', '1400', {
      comments: ['Repeated.'],
      specimen: 'Serum',
      method: 'ISE',
      date: '2026-01-22',
      unit_ucum: 'mmol/L',
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
  const stored = await reportFiles.store((execute) => team.db.tx(team.tenant, execute), files)
  const { id } = await team.db.tx(team.tenant, (tx) => createJob(tx, stored, { user_id, needs_human_review: true }, 1))
  await team.db.tx(team.tenant, (tx) => claimJob(tx, id))
  await team.db.tx(team.tenant, (tx) => endJob(tx, id, { report }, 86_400))
  return id
}
