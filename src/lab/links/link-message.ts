// A message with results as a laboratory's link reads it: the texts of the laboratory, and where in the message they are. Values, times and
// statuses are as HL7 version 2 has them; interpret-message.ts says what they mean by the profile of the link. Pure.
import { Fields, Maybe, OpenEnum, T, Text, type Static } from '../../platform/schema/schema.ts'
import { RuleError, validate, type Rule } from '../../platform/schema/request-validation.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'
import { UnreadableMessage } from './unreadable-message.ts'

export const ID_LENGTH_MAX = 200
export const NAME_LENGTH_MAX = 1000
export const TEXT_LENGTH_MAX = 1_000_000
export const TESTS_MAX = 500
export const OBSERVATIONS_MAX = 10_000
export const NUMBERS_MAX = 20
export const DOCUMENTS_MAX = 20

/** Ids are compared, so blanks around them do not count. All other texts stay as they were sent. */
const withoutBlanks: Rule = (text) => text.trim() || new RuleError('must not be blank')
const id = Text({ minLength: 1, maxLength: ID_LENGTH_MAX, rule: withoutBlanks })
const name = Text({ maxLength: NAME_LENGTH_MAX })
const time = Text({ maxLength: 30 })
const longText = Text({ maxLength: TEXT_LENGTH_MAX })
/** Of table 0085 or 0123 of HL7. */
const status = Text({ pattern: '^[A-Z]$' })

/** A site of the laboratory. */
const Site = Fields({
  code: id,
  name: Text({ minLength: 1, maxLength: 500 }),
  clia: Maybe(id),
  medical_director: Maybe(name),
  phone_number: Maybe(Text({ maxLength: 100 })),
  address: Maybe(
    Fields({ first_line: name, second_line: Maybe(name), city: name, state: name, zip: name, country: Maybe(name) }),
  ),
})

const Observation = Fields({
  code: id,
  name,
  loinc: Maybe(Text({ minLength: 1, maxLength: 20, rule: withoutBlanks })),
  sub_id: Maybe(id),
  value: Maybe(longText),
  /** `coded`: of a list. `text`: never a number, such as a time. Absent: a number, a range or a text. */
  value_kind: Maybe(OpenEnum(['coded', 'text'])),
  unit: Maybe(Text({ maxLength: 200 })),
  reference_range: Maybe(Text({ maxLength: 10_000 })),
  flag: Maybe(Text({ maxLength: 100 })),
  status: Maybe(status),
  reported_at: Maybe(time),
  notes: Maybe(longText),
  performing_laboratory: Maybe(Site),
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
  /** Comments on the test, or why it was not performed. */
  notes: Maybe(longText),
  observations: T.Array(Observation, { maxItems: OBSERVATIONS_MAX }),
})
export type ObservedTest = Static<typeof ObservedTest>

/** A document of the laboratory, such as its own report. */
const LinkDocument = Fields({
  /** The laboratory's number and code of the test that it belongs to. */
  filler: Maybe(id),
  test: Maybe(id),
  code: id,
  name,
  /** As the laboratory names it: `PDF`. */
  type: Text({ maxLength: 100 }),
  /** In Base64. */
  content: Text({ maxLength: 45_000_000 }),
})
export type LinkDocument = Static<typeof LinkDocument>

const numberList = Maybe(T.Array(id, { maxItems: NUMBERS_MAX }))

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
    /** The message is about the order itself, not about its results. */
    is_order_status: Maybe(T.Boolean()),
    tests: T.Array(ObservedTest, { maxItems: TESTS_MAX }),
    /** Comments on the whole report. */
    notes: Maybe(longText),
    documents: Maybe(T.Array(LinkDocument, { maxItems: DOCUMENTS_MAX })),
  },
  { title: 'LinkMessage' },
)
export type LinkMessage = Static<typeof LinkMessage>

/** Reads a message as JSON in UTF-8. Errors: UnreadableMessage with every fault. */
export function readJsonMessage(bytes: Uint8Array): LinkMessage {
  const faults: Fault[] = []
  const message = validate(LinkMessage, parseMessage(bytes), [], faults, 'json')
  if (faults.length) throw new UnreadableMessage(faults.map(({ loc, msg }) => `${loc.join('.') || 'message'}: ${msg}`).join('; '))
  return message as LinkMessage
}

const Header = Fields({ sender: Text({ maxLength: 200 }), control_id: id })

/** The sender and the control id of a message as JSON; undefined if these cannot be read. */
export function readJsonHeader(bytes: Uint8Array): Static<typeof Header> | undefined {
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
  const decoded = decodeUtf8(bytes)
  if (!decoded.isWellFormed()) throw new UnreadableMessage('The message is not UTF-8')
  try {
    return readOutsideJson(decoded.replace(/^\uFEFF/u, ''))
  } catch {
    throw new UnreadableMessage('The message is not JSON')
  }
}
