// What a laboratory's message means by the profile of its link: the incoming result. Pure. Source: HL7 version 2.5.1, tables 0085 and 0123.
import { createHash } from 'node:crypto'
import {
  isDay,
  type DiagnosticReport,
  type ReportComment,
  type OrderedTest,
  type OrderStatement,
  type PerformingLaboratory,
  type ReportedMissing,
  type ReportedPlace,
  type ReportedResult,
  type ResultState,
  type ReportedAnalyte,
} from '../links/diagnostic-report.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { DecimalMark } from '../links/profile/text-options.ts'
import { readLinkTime, readValue, withDecimalPoints } from '../links/link-texts.ts'
import { numberKinds, type LinkDelivery, type OrderNumber, type ReportedPatient } from './incoming-result.ts'
import type { LinkMessage, ObservedTest, Observation } from '../links/link-message.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { createCodes, type LinkCodes, translate } from './link-codes.ts'

interface MessageLink {
  account_id: string
  lab_slug: string
  profile: LinkProfile
}

/**
 * The incoming result of a message. Numbers have a decimal point and times an offset, both by the profile; each result has its state.
 * Errors: UnreadableMessage a status that is not supported, an invalid time, a message without a test.
 */
export function interpretMessage(message: LinkMessage, { account_id, lab_slug, profile }: MessageLink): LinkDelivery {
  const orderNumbers = numberKinds.flatMap((kind) =>
    (message.numbers[kind] ?? []).map((number): OrderNumber => ({ kind, number })),
  )
  const first = (...kinds: (typeof numberKinds)[number][]) => orderNumbers.find(({ kind }) => kinds.includes(kind))?.number
  return {
    lab_slug,
    link: { account_id, sender: message.sender },
    message_id: message.control_id,
    sample_id: first('placer') ?? first('specimen') ?? null,
    numbers: orderNumbers,
    account_number: message.account_number ?? null,
    patient: message.patient ? toPatient(message.patient) : null,
    ...(message.documents?.length && { documents: message.documents.map(summarize) }),
    report: toReport(message, profile, first('specimen') ?? first('accession', 'filler', 'placer') ?? message.control_id),
  }
}

/** The content of a document is not part of a delivery, but another document makes another one. */
const summarize = ({ filler, test, code, name, content }: NonNullable<LinkMessage['documents']>[number]) => ({
  ...(filler && { filler }),
  ...(test && { test }),
  code,
  name,
  digest: createHash('sha256').update(content).digest('base64url'),
})

const toPatient = ({ first_name, last_name, dob, gender }: NonNullable<LinkMessage['patient']>): ReportedPatient => ({
  first_name: first_name || null,
  last_name: last_name || null,
  dob: dob === undefined ? null : wholeDay(dob),
  gender: gender?.trim() || null,
})

/** A day of birth that is not whole is none: it cannot be compared. */
function wholeDay(text: string): string | null {
  const day = text.trim().replace(/^(\d{4})-(\d{2})-(\d{2})$/u, '$1$2$3')
  return readLinkTime(day.slice(0, 8), 'UTC')?.time ?? null
}

function toReport(message: LinkMessage, profile: LinkProfile, specimen_number: string): DiagnosticReport {
  if (message.tests.length === 0 && !message.documents?.length) throw new UnreadableMessage('tests: the message reports none')
  const clock = createClock(message, profile)
  const codes = createCodes(profile)
  const parts = message.tests.map((test, i) => interpretTest(test, { clock, profile, codes, path: `tests.${i}` }))
  const comments = [
    ...(message.notes ? [{ ordered_test: null, name: null, text: message.notes }] : []),
    ...parts.flatMap(({ comment }) => comment ?? []),
  ]
  if (profile.results.reports === 'cumulative' && parts.some(({ confirmations }) => confirmations.length > 0))
    throw new UnreadableMessage('tests: a cumulative report must repeat the values of its results')
  const collectedTimes = message.tests.flatMap(
    ({ collected_at }, i) => clock.optional(collected_at, `tests.${i}.collected_at`) ?? [],
  )
  const completes_order = profile.results.completes_on_order_status && message.order_status?.trim() === 'CM'
  const order_statement = completes_order ? undefined : readStatement(message)
  const receivedTimes = message.tests.flatMap(({ received_at }, i) => clock.optional(received_at, `tests.${i}.received_at`) ?? [])
  return {
    // What reviewers see of this message alone. Whether the order is completed depends on all of its tests.
    status: parts.length > 0 && parts.every(({ orderedTest }) => orderedTest.state !== 'unfinished') ? 'final' : 'partial',
    scope: profile.results.reports,
    amended: false,
    follows_final: profile.results.later_reports !== 'review',
    completes_order,
    ...(order_statement && { order_statement }),
    ...(profile.results.completes_after_days !== undefined && { completes_after_days: profile.results.completes_after_days }),
    specimen_number,
    collected_at: collectedTimes[0] ?? null,
    received_at: receivedTimes[0] ?? null,
    reported_at: clock.sent_at,
    performing_laboratory: null,
    ordered_tests: parts.map(({ orderedTest }) => orderedTest),
    results: parts.flatMap(({ results }) => results),
    missing: parts.flatMap(({ missingResults }) => missingResults),
    withdrawn_results: parts.flatMap(({ withdrawals }) => withdrawals),
    confirmed_results: parts.flatMap(({ confirmations }) => confirmations),
    ...(comments.length > 0 && { comments }),
    ...(message.documents?.length && { has_document: true }),
  }
}

/** Of a test that is ordered or scheduled. */
const WITHOUT_SAMPLE = new Set(['O', 'S'])

/** What a message without results says of its order; undefined if it has results, or tests that the laboratory did not perform. */
function readStatement({ tests, documents, is_order_status }: LinkMessage): OrderStatement | undefined {
  if (documents?.length || tests.length === 0 || tests.some(({ observations }) => observations.length > 0)) return undefined
  const statuses = tests.map(({ status }) => status ?? '')
  const hasSample = tests.some(
    ({ received_at, notes = '' }) => received_at || SAMPLE_REJECTED.test(notes) || NOT_SUFFICIENT.test(notes),
  )
  if (is_order_status && !hasSample && statuses.every((status) => status === 'X')) return 'refused'
  if (statuses.some((status) => TEST_STATUSES[status]?.[0] !== 'unfinished')) return undefined
  return hasSample || statuses.some((status) => !WITHOUT_SAMPLE.has(status)) ? 'received' : 'expected'
}

/** What the reader of HL7 writes for SPM-21. */
const SAMPLE_REJECTED = /^Specimen rejected: /mu

interface MessageClock {
  sent_at: string
  optional(text: string | undefined, path: string): string | undefined
  /** A day without a time says less than the time of the message. */
  orSent(text: string | undefined, path: string): string
}

/** A message without a time, or with a day alone, is of the time of its first test that has one. */
function createClock({ sent_at, tests }: LinkMessage, { text: { time_zone } }: LinkProfile): MessageClock {
  const isWrong = sent_at !== '' && !readLinkTime(sent_at, time_zone)
  const texts = isWrong ? [] : [sent_at, ...tests.map(({ reported_at }) => reported_at ?? '')]
  const own = texts.map((text) => readLinkTime(text, time_zone)).find((time) => time !== undefined && !isDay(time.time))
  if (!own) throw new UnreadableMessage('sent_at (MSH-7): must be a time')
  const optional = (text: string | undefined, path: string) => {
    if (text === undefined || text === '') return undefined
    const known = readLinkTime(text, time_zone, own.offset)
    if (!known) throw new UnreadableMessage(`${path}: must be a time`)
    return known.time
  }
  return {
    sent_at: own.time,
    optional,
    orSent: (text, path) => {
      const time = optional(text, path)
      return time === undefined || isDay(time) ? own.time : time
    },
  }
}

interface TestContext {
  clock: MessageClock
  profile: LinkProfile
  codes: LinkCodes
  path: string
}

interface InterpretedTest {
  orderedTest: OrderedTest
  results: ReportedResult[]
  missingResults: ReportedMissing[]
  withdrawals: ReportedAnalyte[]
  confirmations: ReportedAnalyte[]
  comment: ReportComment | undefined
}

/** What an observation is. `confirmed`: final with the value of an earlier message. `pending`: a value follows. `none`: it is no result. */
type Meaning = ResultState | 'missing' | 'withdrawn' | 'confirmed' | 'pending' | 'none'

/** Table 0085. */
const OBSERVATION_STATUSES: Record<string, Meaning> = {
  F: 'final',
  V: 'final',
  U: 'confirmed',
  C: 'corrected',
  A: 'corrected',
  P: 'preliminary',
  R: 'preliminary',
  X: 'missing',
  D: 'withdrawn',
  W: 'withdrawn',
  I: 'pending',
  S: 'pending',
  N: 'none',
  O: 'none',
}

/** Table 0123: the state of the test, and the meaning of its observations without a status. */
const TEST_STATUSES: Record<string, [OrderedTest['state'], Meaning]> = {
  F: ['final', 'final'],
  C: ['final', 'corrected'],
  X: ['cancelled', 'missing'],
  P: ['unfinished', 'preliminary'],
  A: ['unfinished', 'preliminary'],
  M: ['unfinished', 'corrected'],
  R: ['unfinished', 'preliminary'],
  I: ['unfinished', 'pending'],
  S: ['unfinished', 'pending'],
  O: ['unfinished', 'pending'],
}

function interpretTest(test: ObservedTest, context: TestContext): InterpretedTest {
  const { clock, codes, path } = context
  const reported_at = clock.orSent(test.reported_at, `${path}.reported_at`)
  const ofTest = statusOfTest(test, context)
  const testId = { code: codes.test(test.code), filler: test.filler ?? null }
  const parent = test.parent ? { code: codes.result(test.parent).provider_id!, sub_id: test.parent.sub_id ?? null } : null
  const items = test.observations.map((item, i) => ({
    item,
    meaning: readMeaning(item, ofTest?.[1], context, i),
    place: {
      ordered_test: testId,
      sub_id: item.sub_id ?? null,
      parent,
      performing_laboratory: item.performing_laboratory ? toLaboratory(item.performing_laboratory) : null,
      reported_at: item.reported_at ? clock.orSent(item.reported_at, `${path}.observations.${i}.reported_at`) : reported_at,
    },
  }))
  const isCancelled = ofTest?.[0] === 'cancelled' && items.length === 0
  const select = <R>(meaning: Meaning, read: (item: Observation, place: ReportedPlace) => R): R[] =>
    items.flatMap((entry) => (entry.meaning === meaning ? [read(entry.item, entry.place)] : []))
  const toPlacedAnalyte = (item: Observation, place: ReportedPlace): ReportedAnalyte => ({ ...codes.result(item), ...place })
  const meanings = items.map(({ meaning }) => meaning)
  return {
    orderedTest: { ...testId, state: stateOfTest(ofTest?.[0], meanings), reported_at },
    results: items.flatMap(({ item, meaning, place }) => (isState(meaning) ? [toResult(item, meaning, place, context)] : [])),
    missingResults: isCancelled
      ? [toMissing(test, { ...codes.result(test), provider_id: testId.code, ordered_test: testId, reported_at })]
      : select('missing', (item, place) => toMissing(item, toPlacedAnalyte(item, place))),
    withdrawals: select('withdrawn', toPlacedAnalyte),
    confirmations: select('confirmed', toPlacedAnalyte),
    comment: test.notes && !isCancelled ? { ordered_test: testId, name: test.name || test.code, text: test.notes } : undefined,
  }
}

/** The status of a test by the profile; undefined if it has none and its results decide. Errors: UnreadableMessage it is not supported. */
function statusOfTest(test: ObservedTest, { profile, path }: TestContext): (typeof TEST_STATUSES)[string] | undefined {
  const hasOwnStatuses = profile.results.status_from === 'result' && test.observations.length > 0
  if (hasOwnStatuses || (test.status === undefined && test.observations.length > 0)) return undefined
  const status = test.status === undefined ? undefined : TEST_STATUSES[test.status]
  if (!status) throw new UnreadableMessage(`${path}.status: is not supported`)
  return status
}

/** A test is not final while one of its results is pending, whatever its own status. Without a status its results decide. */
function stateOfTest(state: OrderedTest['state'] | undefined, meanings: Meaning[]): OrderedTest['state'] {
  if (state === 'cancelled') return state
  if (meanings.includes('pending')) return 'unfinished'
  return state ?? (meanings.includes('preliminary') ? 'unfinished' : 'final')
}

function readMeaning(item: Observation, ofTest: Meaning | undefined, { profile, path }: TestContext, i: number): Meaning {
  const { status_from, not_performed_words } = profile.results
  const ownStatus = status_from === 'test' ? undefined : item.status
  const meaning = ownStatus === undefined ? ofTest : OBSERVATION_STATUSES[ownStatus]
  if (!meaning) throw new UnreadableMessage(`${path}.observations.${i}.status: is not supported`)
  // The status has changed, and the value is repeated or not.
  const ownMeaning = meaning === 'confirmed' && item.value?.trim() ? 'final' : meaning
  return isState(ownMeaning) && saysNotPerformed(item.value ?? '', not_performed_words) ? 'missing' : ownMeaning
}

/** Whether a value is one of the words, or begins with one that punctuation follows. */
function saysNotPerformed(value: string, words: readonly string[]): boolean {
  const text = value.trim().toUpperCase()
  return words.some((word) => {
    const start = word.toUpperCase()
    return (
      text.startsWith(start) &&
      !/^[\p{L}\p{N}]/u.test(text.slice(start.length)) &&
      !/^\s+[\p{L}\p{N}]/u.test(text.slice(start.length))
    )
  })
}

const isState = (meaning: Meaning): meaning is ResultState =>
  meaning === 'preliminary' || meaning === 'final' || meaning === 'corrected'

function toResult(
  item: Observation,
  state: ResultState,
  place: ReportedPlace,
  { profile: { text, results }, codes }: TestContext,
): ReportedResult {
  const flag = item.flag ?? ''
  return {
    ...codes.result(item),
    ...readResultValue(item, text.decimal_mark),
    unit: codes.unit(item),
    reference_range: item.reference_range ? withDecimalPoints(item.reference_range, text.decimal_mark) : null,
    flag: translate(results.flags, flag),
    notes: item.notes || null,
    ...place,
    state,
  }
}

/** A value of a list is no number, whatever its text, and neither is a time. */
function readResultValue({ value = '', value_kind }: Observation, mark: DecimalMark): Pick<ReportedResult, 'type' | 'result'> {
  if (value_kind === undefined) return readValue(value, mark)
  return { type: value_kind === 'coded' ? 'coded_value' : 'comment', result: value }
}

/** `QNS`: quantity not sufficient. */
const NOT_SUFFICIENT = /\b(?:QNS|quantity not sufficient)\b/iu

function toMissing(item: { value?: string; notes?: string }, analyte: ReportedAnalyte): ReportedMissing {
  const note = [item.value, item.notes].filter(Boolean).join('\n') || null
  return {
    ...analyte,
    failure: note !== null && NOT_SUFFICIENT.test(note) ? 'quantity_not_sufficient_failure' : 'unknown_failure',
    note,
  }
}

function toLaboratory(site: NonNullable<Observation['performing_laboratory']>): PerformingLaboratory {
  const { code, name, clia = null, medical_director = null, phone_number = null, address } = site
  return {
    // A prefix, because objects list keys that are numbers first.
    id: `site-${code}`,
    name,
    clia,
    phone_number,
    medical_director,
    address: address ? { ...address, second_line: address.second_line ?? null, country: address.country ?? '' } : null,
  }
}
