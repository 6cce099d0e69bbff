// A message with results as a laboratory's link reads it: the texts of the laboratory, and where in the message they are. Values, times and
// statuses are as HL7 version 2 has them; interpret-message.ts says what they mean by the profile of the link. Pure.
import { Fields, Maybe, T, Text, type Static } from '../../platform/schema/schema.ts'
import { validate } from '../../platform/schema/request-validation.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'
import { MISSING_MAX, RESULTS_MAX } from '../results/results.ts'

const id = Text({ minLength: 1, maxLength: 200 })
const name = Text({ maxLength: 1000 })
const time = Text({ maxLength: 30 })
/** Of table 0085 or 0123 of HL7. */
const status = Text({ pattern: '^[A-Z]$' })

const Observation = Fields({
  code: id,
  name,
  loinc: Maybe(Text({ minLength: 1, maxLength: 20 })),
  sub_id: Maybe(id),
  value: Maybe(Text({ maxLength: 100_000 })),
  unit: Maybe(Text({ maxLength: 200 })),
  reference_range: Maybe(Text({ maxLength: 10_000 })),
  flag: Maybe(Text({ maxLength: 100 })),
  status: Maybe(status),
  reported_at: Maybe(time),
  notes: Maybe(Text({ maxLength: 100_000 })),
  performing_laboratory: Maybe(
    Fields({ code: id, name: Text({ minLength: 1, maxLength: 500 }), clia: Maybe(id), medical_director: Maybe(name) }),
  ),
})
export type Observation = Static<typeof Observation>

const ObservedTest = Fields({
  code: id,
  name,
  filler: Maybe(id),
  status: Maybe(status),
  parent: Maybe(Fields({ code: id, sub_id: Maybe(id) })),
  collected_at: Maybe(time),
  received_at: Maybe(time),
  reported_at: Maybe(time),
  observations: T.Array(Observation, { maxItems: RESULTS_MAX }),
})
export type ObservedTest = Static<typeof ObservedTest>

const numberList = Maybe(T.Array(id, { maxItems: 20 }))

const LinkMessage = Fields(
  {
    /** Sending application and facility. */
    sender: Text({ maxLength: 200 }),
    control_id: id,
    sent_at: time,
    account_number: Maybe(id),
    patient: Maybe(Fields({ first_name: Maybe(name), last_name: Maybe(name), dob: Maybe(time), gender: Maybe(name) })),
    numbers: Fields({ placer: numberList, filler: numberList, specimen: numberList, accession: numberList, group: numberList }),
    order_status: Maybe(Text({ maxLength: 10 })),
    tests: T.Array(ObservedTest, { maxItems: MISSING_MAX }),
  },
  { title: 'LinkMessage' },
)
export type LinkMessage = Static<typeof LinkMessage>

/** A message that has no meaning for the link. The text contains nothing of the message but names of its fields. */
export class UnreadableMessage extends Error {
  override name = 'UnreadableMessage'
}

/** Reads a message as JSON in UTF-8. Errors: UnreadableMessage with every fault. */
export function readMessage(bytes: Uint8Array): LinkMessage {
  const faults: Fault[] = []
  const message = validate(LinkMessage, parseMessage(bytes), [], faults, 'json')
  if (faults.length) throw new UnreadableMessage(faults.map(({ loc, msg }) => `${loc.join('.') || 'message'}: ${msg}`).join('; '))
  return message as LinkMessage
}

const Header = Fields({ sender: Text({ maxLength: 200 }), control_id: id })

/** The sender and the control id of a message; undefined if these cannot be read. */
export function readHeader(bytes: Uint8Array): Static<typeof Header> | undefined {
  const faults: Fault[] = []
  try {
    const header = validate(Header, parseMessage(bytes), [], faults, 'json') as Static<typeof Header>
    return faults.length ? undefined : header
  } catch {
    // The message is stored without them, and its processing reports the error.
    return undefined
  }
}

function parseMessage(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  if (!text.isWellFormed()) throw new UnreadableMessage('The message is not UTF-8')
  try {
    return readOutsideJson(text.replace(/^\uFEFF/u, ''))
  } catch {
    throw new UnreadableMessage('The message is not JSON')
  }
}
