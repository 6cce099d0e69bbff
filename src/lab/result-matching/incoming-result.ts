// What a link hands over: a laboratory's report, and what the laboratory says of whose it is. Only the shape and its limits; what it was
// sent as (a message, a file, a form) is the link's business.
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { MISSING_MAX, RESULTS_MAX } from '../results/results.ts'

/** The patient as the laboratory knows them. */
export interface ReportedPatient {
  first_name: string | null
  last_name: string | null
  /** `YYYY-MM-DD` */
  dob: string | null
  gender: string | null
}

export interface IncomingResult {
  lab_slug: string
  /** The sender's own number of the message: one that is sent again changes nothing. */
  message_id: string
  /** The number by which the laboratory and the order know the sample; null when the message has none. */
  sample_id: string | null
  /** The account that the laboratory works under; null when the message does not say. */
  account_number: string | null
  patient: ReportedPatient | null
  report: DiagnosticReport
}

const ID_LENGTH_MAX = 200
const NAME_LENGTH_MAX = 200
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** 400: texts that are too long or empty, a date of birth that is none, more results than a report has. */
export function assertDelivery({ message_id, sample_id, account_number, patient, report }: IncomingResult): void {
  if (message_id.length === 0) throw badRequest('message_id is required')
  for (const text of [message_id, sample_id, account_number, report.specimen_number])
    if (text !== null && text.length > ID_LENGTH_MAX)
      throw badRequest(`Identifiers must have at most ${ID_LENGTH_MAX} characters`)
  for (const text of [patient?.first_name, patient?.last_name, patient?.gender])
    if (text && text.length > NAME_LENGTH_MAX) throw badRequest(`Names must have at most ${NAME_LENGTH_MAX} characters`)
  if (patient?.dob && !(DATE.test(patient.dob) && !Number.isNaN(Date.parse(patient.dob))))
    throw badRequest('The date of birth must be YYYY-MM-DD')
  if (report.results.length > RESULTS_MAX || report.missing.length > MISSING_MAX)
    throw badRequest(`A report must have at most ${RESULTS_MAX} results and ${MISSING_MAX} missing results`)
}
