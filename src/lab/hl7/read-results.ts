// Messages with results (ORU^R01, OUL^R22) and with statuses of orders (ORM^O01, OSU^O51) as neutral messages: one for each patient and order, so
// that nothing of one can come to another. The profile says what a message leaves open. Source: HL7 version 2.5.1, chapters 4 and 7. Pure.
import { DOCUMENTS_MAX, OBSERVATIONS_MAX, type LinkMessage, type ObservedTest } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { joinPieces, readDocumentPieces, readZefPiece, type DocumentPiece } from './embedded-documents.ts'
import { readId, readName, readText } from './field-limits.ts'
import type { Hl7Message, Hl7Segment } from './hl7-message.ts'
import { fillerOf, readNumbers } from './message-numbers.ts'
import { describeObservation, joinNotes, readIdentity, readObservations, readStatus, withoutEmpty } from './observations.ts'
import type { OrderGroup, TestGroup } from './message-groups.ts'
import { collectOrders } from './order-groups.ts'
import { createSiteFinder, type SiteFinder } from './performing-sites.ts'

/**
 * The neutral messages of a message, one for each order. Errors: UnreadableMessage results without an ordered test, neither test nor document, more
 * than 500 tests or 10,000 observations, a text that is too long, a status that is not of one letter.
 */
export function readResults(message: Hl7Message, profile: LinkProfile): LinkMessage[] {
  const groups = collectOrders(message, profile)
  if (groups.length === 0) throw new UnreadableMessage('The message has no test')
  const context = {
    profile,
    sites: createSiteFinder(message, profile),
    isStatus: message.get('MSH-9') !== 'ORU' && message.get('MSH-9') !== 'OUL',
  }
  const tests = groups.flatMap((group) => group.tests)
  const count = tests.reduce((sum, test) => sum + test.observations.length + test.specimenObservations.length, 0)
  if (count > OBSERVATIONS_MAX) throw new UnreadableMessage(`The message has more than ${OBSERVATIONS_MAX} observations`)
  const { header } = message
  const control_id = readId(header.text(10), header, 10)
  if (control_id === '') throw new UnreadableMessage('MSH-10 is empty')
  return groups.map((group) => ({
    sender: nameSender(header.text(3), header.text(4)),
    control_id,
    sent_at: header.get(7),
    ...readOrder(group, context),
  }))
}

/** Sending application and facility. */
export const nameSender = (application: string, facility: string): string =>
  [application, facility].filter(Boolean).join('|').slice(0, 200)

interface ResultContext {
  profile: LinkProfile
  sites: SiteFinder
  /** Whether the message is about orders, not about results. */
  isStatus: boolean
}

function readOrder(group: OrderGroup, context: ResultContext): Omit<LinkMessage, 'sender' | 'control_id' | 'sent_at'> {
  const { profile } = context
  const parts = group.tests.map((test) => readTest(test, group.tests, context))
  const pieces = [...group.documents.flatMap(readLoosePieces), ...parts.flatMap(({ documents }) => documents)]
  const notes = [joinNotes(group.notes), ...parts.flatMap(({ comments }) => comments)].filter(Boolean).join('\n')
  const order_status = statusOfOrder(group.tests)
  const documents = profile.results.documents === 'none' ? [] : joinPieces(pieces.filter(({ isAbsent }) => !isAbsent))
  if (documents.length > DOCUMENTS_MAX) throw new UnreadableMessage(`The message has more than ${DOCUMENTS_MAX} documents`)
  return {
    ...(group.patient && { patient: readPatient(group.patient, profile) }),
    numbers: readNumbers(group, profile),
    ...(order_status && { order_status }),
    ...(context.isStatus && { is_order_status: true }),
    tests: parts.map(({ test }) => test),
    ...(notes && { notes }),
    ...(documents.length > 0 && { documents }),
  }
}

/** Documents that no test is before. */
const readLoosePieces = (segment: Hl7Segment): DocumentPiece[] =>
  segment.id === 'ZEF'
    ? [readZefPiece(segment)]
    : readDocumentPieces(segment, { code: segment.get(3) || 'PDF', name: readName(segment.get(3, 2), segment, 3) })

/** The status of the order, if all of its tests have the same. */
function statusOfOrder(tests: readonly TestGroup[]): string {
  const statuses = new Set(tests.map(({ order }) => order?.get(5) ?? ''))
  const [status = ''] = statuses
  return statuses.size === 1 ? status.slice(0, 10) : ''
}

function readPatient(segment: Hl7Segment, { patient }: LinkProfile): NonNullable<LinkMessage['patient']> {
  const sex = segment.get(8)
  const gender = Object.entries(patient.sex_codes).find(([, code]) => code !== '' && code === sex)?.[0] ?? SEX[sex] ?? sex
  return withoutEmpty({
    last_name: readName(segment.get(5, 1, { subcomponent: 1 }), segment, 5),
    first_name: readName(segment.get(5, 2), segment, 5),
    dob: segment.get(7).slice(0, 30),
    gender: readName(gender, segment, 8),
  })
}

/** Table 0001. */
const SEX: Record<string, string> = { F: 'female', M: 'male', O: 'other', A: 'other', U: 'unknown' }

interface ReadTest {
  test: ObservedTest
  documents: DocumentPiece[]
  comments: string[]
}

function readTest(group: TestGroup, tests: readonly TestGroup[], context: ResultContext): ReadTest {
  const { request, specimens } = group
  const { observations, documents, comments } = readObservations(group.observations, context)
  const ofSpecimen = readObservations(group.specimenObservations, context)
  const code = request.get(4).trim() || request.get(4, 4).trim()
  if (code === '') throw new UnreadableMessage(`OBR-4 of line ${request.number} is empty`)
  const parent = readParent(request, tests, context)
  const specimen = specimens[0]
  const notes = [
    joinNotes(group.notes),
    ...ofSpecimen.observations.map(describeObservation),
    ...specimens.map((segment) => rejectionOf(segment)),
    ...(context.isStatus ? [group.order?.get(16, 2) || group.order?.get(16)] : []),
  ]
  const fields = {
    filler: fillerOf(group),
    status: context.isStatus ? readOrderStatus(group) : readStatus(request, 25),
    collected_at: request.get(7) || (specimen?.get(17) ?? ''),
    received_at: request.get(14) || (specimen?.get(18) ?? ''),
    reported_at: request.get(22),
    notes: readText(notes.filter(Boolean).join('\n'), request, 4),
  }
  return {
    test: {
      code: readId(code, request, 4),
      name: readName(request.get(4, 2) || request.get(4, 5) || code, request, 4),
      ...withoutEmpty(fields),
      ...(parent && { parent }),
      observations,
    },
    documents: [...documents, ...ofSpecimen.documents].map((piece) => ({ ...piece, filler: fields.filler, test: code })),
    comments: [...comments, ...ofSpecimen.comments],
  }
}

/** SPM-21: why the laboratory rejects a specimen. */
function rejectionOf(segment: Hl7Segment): string {
  const reason = segment.get(21, 2) || segment.get(21)
  return reason && `Specimen rejected: ${reason}`
}

/** What a message about an order says of a test, as a status of table 0123. `''`: nothing that counts for the order. */
function readOrderStatus({ request, order }: TestGroup): string {
  const control = order?.get(1) ?? ''
  // Canceled, discontinued or refused by the laboratory.
  if (control === 'OC' || control === 'OD' || control === 'UA') return 'X'
  const status = order?.get(5) ?? ''
  return (Object.hasOwn(ORDER_STATUSES, status) && ORDER_STATUSES[status]) || readStatus(request, 25)
}

/** Table 0038: a test is not final because its order is, for its results come in messages of their own. */
const ORDER_STATUSES: Record<string, string | undefined> = {
  A: 'I',
  CA: 'X',
  CM: 'I',
  DC: 'X',
  ER: 'X',
  HD: 'S',
  IP: 'I',
  RP: 'X',
  SC: 'S',
}

/**
 * The result that a test specifies: of OBR-26, with its sub-id; without it the only result of the test with the filler number of OBR-29.
 */
function readParent(request: Hl7Segment, tests: readonly TestGroup[], { profile }: ResultContext): ObservedTest['parent'] {
  const code = request.get(26, 1, { subcomponent: 1 }).trim()
  const sub_id = readId(request.get(26, 2), request, 26)
  if (code !== '') {
    // The parent names the result by one of the two codes of its OBX-3.
    const named = tests
      .flatMap(({ observations }) => observations)
      .find(
        ({ segment }) => [segment.get(3).trim(), segment.get(3, 4).trim()].includes(code) && segment.text(4).trim() === sub_id,
      )
    return {
      code: named ? readIdentity(named.segment, profile.results).code : readId(code, request, 26),
      ...(sub_id && { sub_id }),
    }
  }
  const filler = request.get(29, 2, { subcomponent: 1 })
  const observations = filler === '' ? [] : tests.filter((test) => fillerOf(test) === filler).flatMap((test) => test.observations)
  if (observations.length !== 1) return undefined
  const { segment } = observations[0]!
  return {
    code: readIdentity(segment, profile.results).code,
    ...(segment.text(4).trim() && { sub_id: readId(segment.text(4), segment, 4) }),
  }
}
