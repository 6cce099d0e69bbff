// A message of a laboratory in HL7, from its neutral form.
import { encodeText } from '../../src/lab/hl7/charsets.ts'
import { STANDARD_DELIMITERS, type Delimiters } from '../../src/lab/hl7/escapes.ts'
import { writeSegments, type Hl7Fields } from '../../src/lab/hl7/writer.ts'
import type { LinkMessage, Observation, ObservedTest } from '../../src/lab/links/link-message.ts'

interface WritingOptions {
  charset?: string
  delimiters?: Delimiters
  line_end?: string
}

/** The bytes of an ORU^R01 that says what the message says. */
export function toOru(
  message: LinkMessage,
  { charset = 'UNICODE UTF-8', delimiters = STANDARD_DELIMITERS, line_end = '\r' }: WritingOptions = {},
): Buffer {
  const { patient, tests, documents = [], notes, numbers } = message
  const segments: Hl7Fields[] = [
    fields('MSH', {
      1: message.sender,
      5: message.sent_at,
      7: ['ORU', 'R01', 'ORU_R01'],
      8: message.control_id,
      9: 'P',
      10: '2.5.1',
      16: charset,
    }),
    ...(patient
      ? [
          fields('PID', {
            1: '1',
            5: [patient.last_name, patient.first_name],
            7: patient.dob,
            8: patient.gender?.charAt(0).toUpperCase(),
          }),
        ]
      : []),
    ...tests.flatMap((test, i) => toTest(test, i, message)),
    ...documents.map(({ code, name, content }) =>
      fields('OBX', { 2: 'ED', 3: [code, name], 5: [undefined, 'application', 'pdf', 'Base64', content], 11: 'F' }),
    ),
    ...(notes ? [fields('ZPS', { 1: '1' }), fields('NTE', { 1: '1', 3: notes })] : []),
  ]
  const specimen = numbers.specimen?.[0]
  if (specimen) segments.push(fields('SPM', { 1: '1', 2: [undefined, specimen] }))
  return encodeText(writeSegments(segments, delimiters).replaceAll('\r', line_end), charset)
}

function toTest(test: ObservedTest, i: number, { numbers, order_status }: LinkMessage): Hl7Fields[] {
  const placer = numbers.placer?.[0]
  const parent = test.parent && [test.parent.code, test.parent.sub_id]
  return [
    fields('ORC', { 1: 'RE', 2: placer, 3: test.filler ?? numbers.filler?.[0], 5: order_status }),
    fields('OBR', {
      1: `${i + 1}`,
      2: placer,
      3: test.filler ?? numbers.filler?.[0],
      4: [test.code, test.name],
      7: test.collected_at,
      14: test.received_at,
      22: test.reported_at,
      25: test.status,
      26: parent,
    }),
    ...toNotes(test.notes),
    ...test.observations.flatMap((item, n) => [toObx(item, n), ...toNotes(item.notes)]),
  ]
}

const toNotes = (text: string | undefined): Hl7Fields[] => (text === undefined ? [] : [fields('NTE', { 1: '1', 3: text })])

const toObx = (item: Observation, n: number): Hl7Fields =>
  fields('OBX', {
    1: `${n + 1}`,
    2: item.value_kind === 'coded' ? 'CWE' : 'ST',
    3: [item.code, item.name, undefined, item.loinc, undefined, item.loinc && 'LN'],
    4: item.sub_id,
    5: item.value_kind === 'coded' ? [undefined, item.value] : item.value,
    6: item.unit,
    7: item.reference_range,
    8: item.flag,
    11: item.status,
  })

type Fields = Record<number, Hl7Fields[number]>

/** A segment by the numbers of its fields; of a header from the third field on. */
function fields(id: string, byNumber: Fields): Hl7Fields {
  const count = Math.max(...Object.keys(byNumber).map(Number))
  return [id, ...Array.from({ length: count }, (_, i) => byNumber[i + 1])]
}
