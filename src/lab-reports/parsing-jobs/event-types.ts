// The events of jobs that read uploaded lab reports, with samples. Nothing emits them yet. Source: events.md 4.10.
import { SAMPLE_OBJECT, type EventType } from '../../platform/queue/event-type.ts'

const sample = (status: string) => ({
  id: SAMPLE_OBJECT,
  status,
  failure_reason: null,
  needs_human_review: false,
  is_reviewed: false,
  data: null,
})

export const eventTypes: readonly EventType[] = [
  { name: 'lab_report.parsing_job.created', family: 'lab', sample: () => sample('upload_pending') },
  { name: 'lab_report.parsing_job.updated', family: 'lab', sample: () => sample('started') },
]
