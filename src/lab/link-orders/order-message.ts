// Writes an order as a message of HL7 version 2: OML^O21 or ORM^O01, by the profile of its link. Every text of the order is escaped. Pure.
// Source: HL7 version 2.5.1, chapter 4; lab-links.md 8.3.
import type { RequisitionContent } from '../documents/requisition-content.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { headerSegment, writeBytes } from './header-segment.ts'
import { guardianSegments, patientSegment, payerSegments } from './patient-segments.ts'
import { placeOfField, SegmentBuilder } from './segment-builder.ts'
import {
  codeAtLaboratory,
  noteSegments,
  testNumber,
  testSegments,
  type OrderAction,
  type PlacedTest,
  type TestGroup,
} from './test-segments.ts'
import { Unsendable } from './unsendable.ts'

export interface OrderMessageRequest {
  action: OrderAction
  content: RequisitionContent
  profile: LinkProfile
  /** The patient's id of the caller, for profiles that send it. */
  client_user_id: string
  /** The codes of tests that are left out, because the laboratory has them. */
  acceptedCodes?: ReadonlySet<string>
  filler_number: string | null
  /** `T`: the laboratory must not carry out the order. */
  processing_id: 'P' | 'T'
  now: Date
  /** The id of each message, at most 20 characters; called once for each message. */
  newControlId: () => string
}

export interface OrderMessage {
  control_id: string
  /** `OML^O21`. */
  message_type: string
  bytes: Buffer
  /** Our numbers in the message. */
  placer_numbers: string[]
}

/**
 * The messages of an order: one, or by the profile one for each specimen. Errors: Unsendable the profile or the laboratory's catalog leaves
 * something open, or a text does not fit.
 */
export function writeOrder(request: OrderMessageRequest): OrderMessage[] {
  const { content, profile } = request
  if (content.tests.length === 0) throw new Unsendable(['The order has no tests'])
  if (content.order.method === 'testkit' && content.order.sample_id !== null && !hasSampleId(profile))
    throw new Unsendable(['SPM-2: the sample id of the kit has no place (order_number.number, order_content.specimen)'])
  const groups = groupTests(content, profile).map((tests) => tests.filter((test) => !isAccepted(request, test)))
  return groups.filter((tests) => tests.length > 0).map((tests) => writeMessage(request, tests))
}

/** Whether the messages say which sample is meant. */
const hasSampleId = ({ order_number, order_content }: LinkProfile): boolean =>
  order_number.number === 'sample_id' || order_content.specimen === 'SPM'

/** Whether the laboratory has a test already. */
const isAccepted = ({ acceptedCodes, profile }: OrderMessageRequest, { test }: PlacedTest): boolean =>
  acceptedCodes !== undefined && acceptedCodes.size > 0 && acceptedCodes.has(codeAtLaboratory(profile, test))

/** Our number of an order at the laboratory. */
function orderNumber({ order }: Pick<RequisitionContent, 'order'>, { order_number }: LinkProfile): string {
  const number = order_number.number === 'sample_id' ? (order.sample_id ?? order.id) : order.id
  const written = `${order_number.prefix}${number}`
  if (written.length > (order_number.length_max ?? Infinity))
    throw new Unsendable([`ORC-2.1: has more than ${order_number.length_max} characters (order_number.length_max)`])
  return written
}

/** The tests of each message. A test that needs several specimens goes with its first one. */
function groupTests({ tests, order }: RequisitionContent, { order_content }: LinkProfile): PlacedTest[][] {
  const placed = tests.map((test, position) => ({ test, position }))
  if (order_content.messages_per === 'order') return [placed]
  return [...Map.groupBy(placed, ({ test }) => test.specimens[0]?.specimen ?? order.sample_type).values()]
}

function writeMessage(request: OrderMessageRequest, tests: PlacedTest[]): OrderMessage {
  const { content, profile, action } = request
  const control_id = request.newControlId()
  const order_number = orderNumber(content, profile)
  const group: TestGroup = { action, content, profile, order_number, filler_number: request.filler_number }
  const patient_id = profile.patient.id === 'client_user_id' ? request.client_user_id : content.order.user_id
  const segments = [
    headerSegment(profile, { ...typeOf(profile), control_id, processing_id: request.processing_id, now: request.now }),
    patientSegment(profile, content, patient_id),
    ...(action === 'cancel'
      ? []
      : [
          ...(profile.order_content.notes === 'PID' ? noteSegments(profile, content.order.notes) : []),
          ...guardianSegments(profile, content),
          ...payerSegments(profile, content),
        ]),
    ...tests.flatMap((test, place) => testSegments(group, test, place)),
  ]
  const complete = withProfileFields(segments, request)
  return {
    control_id,
    message_type: `${profile.order_content.message}^${TRIGGERS[profile.order_content.message]}`,
    bytes: writeBytes(complete, profile),
    placer_numbers: [...new Set(tests.map(({ position }) => testNumber(group, position)))],
  }
}

const TRIGGERS = { OML: 'O21', ORM: 'O01' }

const typeOf = ({ order_content: { message } }: LinkProfile) => ({ code: message, trigger: TRIGGERS[message] })

/** Names of segments in the order in which messages have them; others, such as Z segments, follow at the end. */
const BEFORE_TESTS = ['MSH', 'SFT', 'NTE', 'PID', 'PD1', 'NK1', 'PV1', 'PV2', 'IN1', 'IN2', 'IN3', 'GT1', 'AL1']
/** Segments of every test of a message. */
const OF_TESTS = new Set(['ORC', 'TQ1', 'OBR'])

/** Adds the fields whose places the profile names. Errors: Unsendable a place that a message does not have. */
function withProfileFields(segments: SegmentBuilder[], { content, profile, action }: OrderMessageRequest): SegmentBuilder[] {
  const options = profile.order_content
  const { order, account } = content
  const isHeld = action !== 'cancel' && order.method === 'walk_in_test' && order.collected_at === null
  const values: [name: string, text: string | undefined][] = [
    ...options.account_fields.map((name): [string, string] => [name, account.number]),
    ...options.account_name_fields.map((name): [string, string] => [name, account.name ?? '']),
    [options.collection_center_field, isHeld ? options.collection_center_value : ''],
    ...(action === 'cancel'
      ? []
      : ([
          [options.billing_field, options.billing_values[order.billing]],
          [options.abn_field, options.abn_values[order.has_abn ? 'signed' : 'not_needed']],
          [options.fasting_field, fastingValue(order.fasting.answer, options.fasting_values)],
        ] satisfies [string, string | undefined][])),
  ]
  const result = [...segments]
  for (const [name, text] of values) if (text) setField(result, name, [text])
  for (const [name, text] of Object.entries(options.constants)) setField(result, name, text.split('^'))
  return result
}

const fastingValue = (answer: boolean | null, values: Record<string, string>): string | undefined =>
  answer === null ? undefined : values[answer ? 'yes' : 'no']

/** Sets a field of every segment with the name; adds the segment if there is none. Several components begin at the one that is named. */
function setField(segments: SegmentBuilder[], name: string, components: readonly string[]): void {
  const { segment: id, field, component } = placeOfField(name)
  if (!segments.some((segment) => segment.id === id)) insertSegment(segments, id)
  for (const segment of segments)
    if (segment.id === id) for (const [i, text] of components.entries()) segment.setText(field, component + i, text)
}

function insertSegment(segments: SegmentBuilder[], id: string): void {
  if (OF_TESTS.has(id)) throw new Unsendable([`The profile names a field of ${id}, which the messages do not have`])
  const segment = new SegmentBuilder(id, /^(?:IN|GT|PV|AL)\d$/u.test(id) ? { 1: '1' } : {})
  const rank = BEFORE_TESTS.indexOf(id)
  const index = rank < 0 ? -1 : segments.findIndex((next) => BEFORE_TESTS.indexOf(next.id) > rank || next.id === 'ORC')
  if (index < 0) segments.push(segment)
  else segments.splice(index, 0, segment)
}
