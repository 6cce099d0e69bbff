// The segments of the tests of an order: ORC, TQ1, OBR, NTE, DG1, OBX or what the profile has in its place, SPM. Source: HL7 version 2.5.1,
// chapter 4. Pure.
import type { RequisitionContent } from '../documents/requisition-content.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { writeLinkTime } from '../links/link-texts.ts'
import { isVersionFrom, toProvider } from './order-fields.ts'
import { SegmentBuilder, type FieldValue } from './segment-builder.ts'
import { Unsendable } from './unsendable.ts'

type RequestedTest = RequisitionContent['tests'][number]

/** `new`: NW, `cancel`: CA, `change`: XO. */
export type OrderAction = 'new' | 'cancel' | 'change'
const CONTROL_CODES: Record<OrderAction, string> = { new: 'NW', cancel: 'CA', change: 'XO' }

export interface TestGroup {
  action: OrderAction
  content: RequisitionContent
  profile: LinkProfile
  /** Our number of the order. */
  order_number: string
  /** The number that the laboratory has given the order; null if it has not named one. */
  filler_number: string | null
}

/** A test with its position in the order, from 0. */
export interface PlacedTest {
  test: RequestedTest
  position: number
}

/** The segments of a test. The first one of a message has what is of the whole order. */
export function testSegments(group: TestGroup, { test, position }: PlacedTest, place: number): SegmentBuilder[] {
  const { content, profile, action } = group
  const options = profile.order_content
  const isFirst = place === 0
  const head = [commonOrder(group, position), ...prioritySegments(group), observationRequest(group, { test, position }, place)]
  if (action === 'cancel') return head
  return [
    ...head,
    ...(isFirst && options.notes === 'OBR' ? noteSegments(profile, content.order.notes) : []),
    ...(options.answers === 'nte' ? answerNotes(profile, test) : []),
    ...(options.diagnoses === 'test' || (options.diagnoses === 'order' && isFirst) ? diagnosisSegments(group) : []),
    ...(options.answers === 'nte' ? [] : answerSegments(profile, test)),
    ...(options.specimen === 'SPM' ? specimenSegments(group, test) : []),
  ]
}

/** Our number of a test: that of the order, or with the position of the test. */
export const testNumber = ({ order_number, profile }: Pick<TestGroup, 'order_number' | 'profile'>, position: number): string =>
  profile.order_number.per_test ? `${order_number}-${position + 1}` : order_number

const withNamespace = ({ order_number: { namespace } }: LinkProfile, number: string): FieldValue => [number, namespace]

function commonOrder(group: TestGroup, position: number): SegmentBuilder {
  const { action, content, profile, filler_number, order_number } = group
  const { order, physician } = content
  const provider = physician && toProvider(profile, physician)
  return new SegmentBuilder('ORC', {
    1: CONTROL_CODES[action],
    2: withNamespace(profile, testNumber(group, position)),
    3: filler_number,
    4: profile.order_number.per_test ? withNamespace(profile, order_number) : null,
    9: writeLinkTime(new Date(order.created_at), profile.text),
    12: provider,
  })
}

/** Before version 2.5 there is no TQ1: the priority then has its older place. */
const priorityField = (profile: LinkProfile): 'OBR-5' | 'OBR-27' | 'TQ1' => {
  const { priority_field } = profile.order_content
  return priority_field === 'TQ1' && !isVersionFrom(profile, '2.5') ? 'OBR-27' : priority_field
}

const priorityCode = ({ content, profile }: TestGroup): string | undefined =>
  profile.order_content.priority_values[content.order.priority ? 'priority' : 'routine']

const prioritySegments = (group: TestGroup): SegmentBuilder[] => {
  const code = priorityCode(group)
  return priorityField(group.profile) === 'TQ1' && code ? [new SegmentBuilder('TQ1', { 1: '1', 9: code })] : []
}

function observationRequest(group: TestGroup, { test, position }: PlacedTest, place: number): SegmentBuilder {
  const { content, profile, filler_number } = group
  const options = profile.order_content
  const { physician } = content
  const field = priorityField(profile)
  const code = priorityCode(group) ?? ''
  const specimen = options.specimen === 'OBR-15' ? test.specimens[0] : undefined
  const segment = new SegmentBuilder('OBR', {
    1: String(place + 1),
    2: withNamespace(profile, testNumber(group, position)),
    3: filler_number,
    4: testIdentifier(profile, test),
    5: field === 'OBR-5' ? code : null,
    7: collectionTime(group),
    15: specimen && [[specimenCode(profile, specimen.specimen) ?? '', specimen.specimen], '', specimen.container ?? ''],
    16: physician && toProvider(profile, physician),
    27: field === 'OBR-27' ? ['', '', '', '', '', code] : null,
  })
  if (options.copies === 'OBR-28') for (const recipient of options.copy_recipients) segment.add(28, recipient.split('^'))
  return segment
}

const collectionTime = ({ content: { order }, profile }: TestGroup): string | null =>
  order.collected_at && writeLinkTime(new Date(order.collected_at), profile.text)

function testIdentifier(profile: LinkProfile, test: RequestedTest): FieldValue {
  const identifier = [codeAtLaboratory(profile, test), test.name, profile.order_content.coding_system]
  return profile.order_content.test_code === 'first' ? identifier : ['', '', '', ...identifier]
}

/** The laboratory's code of a test. Errors: Unsendable the catalog has none, or the profile has several. */
export function codeAtLaboratory(profile: LinkProfile, { code }: RequestedTest): string {
  const codes = Object.entries(profile.codes.tests).flatMap(([own, provider_id]) => (provider_id === code ? [own] : []))
  if (codes.length > 1) throw new Unsendable([`codes.tests: ${codes.length} codes of the laboratory are of one test`])
  const ownCode = codes[0] ?? code
  if (ownCode === '') throw new Unsendable(['OBR-4: a test of the order has no code of the laboratory'])
  return ownCode
}

/** Each line of a text is a note of its own, and a line that is too long for the profile goes on in the next one. */
export function noteSegments(profile: LinkProfile, text: string | null): SegmentBuilder[] {
  if (!text) return []
  const limit = profile.text.length_limits['NTE-3'] ?? profile.text.length_limits['NTE-3.1'] ?? Number.POSITIVE_INFINITY
  const lines = text.split(/\r\n|\r|\n/u).flatMap((line) => wrapLine(line, limit))
  return lines.map((line, i) => new SegmentBuilder('NTE', { 1: String(i + 1), 3: line }))
}

/** The parts of a line, of at most `limit` characters: broken after a space if there is one. Nothing is left out. */
function wrapLine(line: string, limit: number): string[] {
  const characters = Array.from(line)
  const parts: string[] = []
  let start = 0
  while (characters.length - start > limit) {
    const space = characters.lastIndexOf(' ', start + limit - 1)
    const end = space > start ? space + 1 : start + limit
    parts.push(characters.slice(start, end).join(''))
    start = end
  }
  return [...parts, characters.slice(start).join('')]
}

/** Every answer as a note: `question: answer`. */
const answerNotes = (profile: LinkProfile, { answers }: RequestedTest): SegmentBuilder[] =>
  noteSegments(
    profile,
    answers.map(({ question, answers: chosen }) => `${question}: ${chosen.map(({ text }) => text).join(', ')}`).join('\n'),
  )

/** Version 2.5.1 replaces the type CE by CWE. */
const codedType = (profile: LinkProfile): string => (isVersionFrom(profile, '2.5.1') ? 'CWE' : 'CE')

/** Every answer as an OBX, or as a ZSE with the question in the first field and the answer in the second. */
function answerSegments(profile: LinkProfile, { answers }: RequestedTest): SegmentBuilder[] {
  const { answers: form, coding_system } = profile.order_content
  const items = answers.flatMap(({ code, question, type, answers: chosen }) =>
    chosen.map((answer, i) => ({
      question: [code, question, coding_system],
      type,
      answer,
      sub_id: chosen.length > 1 ? String(i + 1) : null,
    })),
  )
  return items.map(({ question, type, answer, sub_id }, i) => {
    const isCoded = type === 'choice' || type === 'multi_choice'
    const value = isCoded ? [answer.code, answer.text, coding_system] : answer.text
    if (form === 'zse') return new SegmentBuilder('ZSE', { 1: String(i + 1), 2: question, 3: value })
    const hasType = isVersionFrom(profile, '2.5.1')
    return new SegmentBuilder('OBX', {
      1: String(i + 1),
      2: isCoded ? codedType(profile) : type === 'numeric' ? 'NM' : 'ST',
      3: question,
      4: sub_id,
      5: value,
      11: hasType ? 'O' : 'F',
      29: hasType ? 'QST' : null,
    })
  })
}

const diagnosisSegments = ({ content: { diagnoses }, profile }: TestGroup): SegmentBuilder[] =>
  diagnoses.map(
    ({ code, description }, i) =>
      new SegmentBuilder('DG1', {
        1: String(i + 1),
        2: isVersionFrom(profile, '2.5') ? null : profile.order_content.diagnosis_system,
        3: [code, description ?? '', profile.order_content.diagnosis_system],
        // Version 2.5 requires a type. Of a diagnosis that is to be examined it is `working`.
        6: 'W',
      }),
  )

const specimenCode = (profile: LinkProfile, specimen: string): string | undefined =>
  profile.order_content.specimen_codes[specimen]

/** SPM of each specimen of a test; for a test of which the catalog says nothing, of the type of sample that the order has. */
function specimenSegments(group: TestGroup, { specimens }: RequestedTest): SegmentBuilder[] {
  const { content, profile } = group
  const time = collectionTime(group)
  const items = specimens.length > 0 ? specimens : [{ specimen: content.order.sample_type, container: null }]
  return items.map(({ specimen, container }, i) => {
    const code = specimenCode(profile, specimen)
    return new SegmentBuilder('SPM', {
      1: String(i + 1),
      2: content.order.sample_id,
      4: code ? [code, specimen, 'HL70487'] : ['', specimen],
      17: time,
      27: container && ['', container],
    })
  })
}
