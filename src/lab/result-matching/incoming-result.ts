// The incoming result that a link passes on: the laboratory's report and its statements about patient and sample. Defines the shape and its
// limits only; the transport (a message, a file, a form) is the link's concern.
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { MISSING_MAX, RESULTS_MAX } from '../results/results.ts'
import type { LabDocument } from '../results/lab-documents.ts'

/** The patient as the laboratory reported them. */
export interface ReportedPatient {
  first_name: string | null
  last_name: string | null
  /** `YYYY-MM-DD` */
  dob: string | null
  gender: string | null
}

/** The link that delivered a message. */
interface LinkOrigin {
  /** The lab account of the link. */
  account_id: string
  /** The sending application and facility, as the message names them; `''` if it names none. */
  sender: string
}

/** The kinds of numbers of an order, in the order in which they are searched. */
export const numberKinds = ['placer', 'filler', 'specimen', 'accession', 'group'] as const

/** A number by which a message names its order: `placer` is ours, or that of who placed the order; the others are the laboratory's. */
export interface OrderNumber {
  kind: (typeof numberKinds)[number]
  number: string
}

export interface IncomingResult {
  lab_slug: string
  /** Null: from a sender that delivers for one team. */
  link: LinkOrigin | null
  /**
   * The sender's id of the message. The same message again changes nothing. Another message with the same id is a message of its own,
   * because counters of senders restart.
   */
  message_id: string
  /** The sample id that the laboratory and the order share; null if the message has none. */
  sample_id: string | null
  /** The other numbers of the order, for messages over a link. */
  numbers: OrderNumber[]
  /** The laboratory's account; null if the message does not name it. */
  account_number: string | null
  patient: ReportedPatient | null
  /** The documents of the message, without their content. */
  documents?: { filler?: string; test?: string; code: string; name: string; digest: string }[]
  report: DiagnosticReport
}

/** What came in a message. */
export interface ReceivedResult {
  delivery: IncomingResult
  /** The laboratory's own documents, as `documents` of the delivery names them; null for one that is no PDF. */
  pdfs: readonly (Buffer | null)[]
}

/** The PDFs of what came, each with its names. */
export const documentsOf = ({ delivery: { documents = [] }, pdfs }: ReceivedResult): LabDocument[] =>
  pdfs.flatMap((bytes, i) => {
    const { filler: report_number = '', test: test_code = '', code = 'PDF', name = '' } = documents[i] ?? {}
    return bytes ? [{ report_number, test_code, code, name, bytes }] : []
  })

/** A result that came over a link. */
export type LinkDelivery = IncomingResult & { link: LinkOrigin }

const ID_LENGTH_MAX = 200
const NAME_LENGTH_MAX = 200
const NUMBERS_MAX = 100
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Errors: 400 texts that are too long or empty, an invalid date of birth, more results than a report may have. */
export function assertDelivery(delivery: IncomingResult): void {
  const { link, message_id, sample_id, numbers, account_number, patient, report } = delivery
  if (message_id.length === 0) throw badRequest('message_id is required')
  if (numbers.length > NUMBERS_MAX) throw badRequest(`A message must name at most ${NUMBERS_MAX} numbers`)
  const ids = [link?.sender, message_id, sample_id, account_number, report.specimen_number]
  for (const text of [...ids, ...numbers.map(({ number }) => number)])
    if (text && text.length > ID_LENGTH_MAX) throw badRequest(`Identifiers must have at most ${ID_LENGTH_MAX} characters`)
  for (const text of [patient?.first_name, patient?.last_name, patient?.gender])
    if (text && text.length > NAME_LENGTH_MAX) throw badRequest(`Names must have at most ${NAME_LENGTH_MAX} characters`)
  if (patient?.dob && !(DATE.test(patient.dob) && !Number.isNaN(Date.parse(patient.dob))))
    throw badRequest('The date of birth must be YYYY-MM-DD')
  if (report.results.length > RESULTS_MAX || report.missing.length > MISSING_MAX)
    throw badRequest(`A report must have at most ${RESULTS_MAX} results and ${MISSING_MAX} missing results`)
}
