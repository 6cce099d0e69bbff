// What the simulated laboratory reads of an order message: OML^O21 or ORM^O01. It is lenient, because it is not the laboratory that a link is
// made for. Pure.
import { readHl7, type Hl7Segment } from '../../lab/hl7/hl7-message.ts'
import { readHl7Header, type MessageHeader } from '../../lab/hl7/message-header.ts'
import type { Hl7Fields } from '../../lab/hl7/writer.ts'

export interface OrderedCode {
  placer: string
  code: string
  name: string
  /** OBR-4, which results repeat. */
  components: string[]
}

/** The orders of a message: what is asked (ORC-1 of the first), and the tests. */
export interface OrderMessage {
  header: MessageHeader
  /** `NW` new, `CA` cancel, `XO` or `RP` change. */
  control: string
  /** The number that commands name the order by: of the group if there is one, else of the first test. */
  placer: string
  tests: OrderedCode[]
  /** PID, which results and answers repeat. */
  patient: Hl7Fields
  dob: string | undefined
  gender: string
  specimen: string | undefined
}

/** Reads an order message. Errors: UnreadableMessage it is not HL7; Error it has no order. */
export function readOrderMessage(bytes: Uint8Array): OrderMessage {
  const charset = { charset: 'UNICODE UTF-8' }
  const message = readHl7(bytes, charset)
  const tests: OrderedCode[] = []
  let common: Hl7Segment | undefined
  let first: Hl7Segment | undefined
  for (const segment of message.segments) {
    if (segment.id === 'ORC') {
      common = segment
      first ??= segment
    }
    if (segment.id === 'OBR') tests.push(toOrderedCode(segment, common))
  }
  if (!first) throw new Error('The message has no order')
  const pid = message.find('PID')
  return {
    header: readHl7Header(bytes, charset),
    control: first.get(1),
    placer: first.get(4) || first.get(2) || tests[0]?.placer || '',
    tests,
    patient: pid ? toFields(pid) : ['PID'],
    dob: pid?.get(7) || undefined,
    gender: { F: 'female', M: 'male' }[pid?.get(8) ?? ''] ?? 'unknown',
    specimen: message.find('SPM')?.get(2) || undefined,
  }
}

function toOrderedCode(segment: Hl7Segment, common: Hl7Segment | undefined): OrderedCode {
  const components = segment.components(4)
  // Some laboratories have their codes in the second half of the field.
  const isLocal = Boolean(components[0])
  return {
    placer: segment.get(2) || common?.get(2) || '',
    code: components[isLocal ? 0 : 3] ?? '',
    name: components[isLocal ? 1 : 4] ?? '',
    components,
  }
}

/** A segment as it can be written again, without subcomponents. */
function toFields(segment: Hl7Segment): Hl7Fields {
  const fields = Array.from({ length: segment.fieldCount }, (_, i) => ({
    repetitions: segment.repetitions(i + 1),
  }))
  return [segment.id, ...fields]
}
