// The events of jobs that read uploaded lab reports, with samples. Source: events.md 4.10.
import type { ReportData } from './schema.ts'
import { EXAMPLE_OBJECT, type EventType } from '../../platform/queue/event-type.ts'

const data: ReportData = {
  metadata: {
    patient_first_name: 'Fictional',
    patient_last_name: 'Person',
    dob: '1990-01-01',
    lab_name: 'Fictional Laboratory',
    date_reported: '2025-01-01',
    date_collected: '2024-12-30',
    specimen_number: 'ABC123',
    gender: 'other',
  },
  results: [
    {
      test_name: 'Glucose',
      value: '90',
      type: 'numeric',
      units: 'mg/dL',
      min_reference_range: 70,
      max_reference_range: 99,
      source_panel_name: 'CMP',
      sample_type: 'serum_plasma_blood',
      measurement_kind: 'direct',
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
          confidence_score: 0.99,
        },
      ],
    },
  ],
}

const sample = (status: string) => ({
  id: EXAMPLE_OBJECT,
  job_id: EXAMPLE_OBJECT,
  status,
  failure_reason: null,
  needs_human_review: false,
  is_reviewed: false,
  data: null,
})

export const eventTypes: readonly EventType[] = [
  { name: 'lab_report.parsing_job.created', family: 'lab', example: () => sample('started') },
  { name: 'lab_report.parsing_job.updated', family: 'lab', example: () => ({ ...sample('completed'), data }) },
]
