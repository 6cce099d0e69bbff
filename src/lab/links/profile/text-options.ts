import { OpenEnum, T, Text, TimeZone, describedAs } from '../../../platform/schema/schema.ts'
import { RuleError } from '../../../platform/schema/request-validation.ts'
import { Choice, FieldNames, Flag, namesOrderField, OptionGroup } from './option-types.ts'

/** The sign between whole numbers and decimals. The other one separates thousands. */
const decimalMarks = ['.', ','] as const
export type DecimalMark = (typeof decimalMarks)[number]

/** Names of character sets, as table 0211 of HL7 has them, and `windows-1252`. */
const charsets = [
  'ASCII',
  '8859/1',
  '8859/2',
  '8859/3',
  '8859/4',
  '8859/5',
  '8859/6',
  '8859/7',
  '8859/8',
  '8859/9',
  '8859/15',
  'ISO IR87',
  'UNICODE UTF-8',
  'windows-1252',
] as const

const DELIMITERS_LENGTH = 5

const Delimiters = Text({
  minLength: DELIMITERS_LENGTH,
  maxLength: DELIMITERS_LENGTH,
  default: '|^~\\&',
  description: 'Of messages to the laboratory, in this order: field, component, repetition, escape, subcomponent.',
  rule: (text) =>
    new Set(text).size === DELIMITERS_LENGTH && /^[!-/:-@[-`{-~]+$/u.test(text)
      ? text
      : new RuleError('must be five different punctuation marks'),
})

export const TextOptions = OptionGroup(
  {
    decimal_mark: OpenEnum(decimalMarks, { description: 'Of values and reference ranges of the laboratory.' }),
    time_zone: describedAs(TimeZone, 'Zone of times of the laboratory without an offset, in messages without one in MSH-7.'),
    sends_offsets: Flag(
      true,
      'Times to the laboratory have the offset of its zone: `20300102081500+0100`. Without it they have none.',
    ),
    charset: Choice(charsets, 'UNICODE UTF-8', 'Character set of received messages without MSH-18.'),
    ignores_declared_charset: Flag(
      false,
      'Received messages have the set of `charset`, whatever MSH-18 says: for laboratories that declare another one than they send.',
    ),
    sent_charset: Choice(charsets, 'UNICODE UTF-8', 'Character set of messages to the laboratory, and their MSH-18.'),
    delimiters: Delimiters,
    line_end: Choice(['CR', 'CRLF', 'LF'], 'CR', 'End of a segment in files to the laboratory. Over MLLP it is always CR.'),
    transliterates: Flag(false, 'Writes texts to the laboratory in ASCII: `Müller` becomes `Mueller`.'),
    length_limits: T.Record(T.String(), T.Integer({ minimum: 1, maximum: 100_000 }), {
      default: {},
      nameRule: namesOrderField,
      description:
        'Most characters of a field to the laboratory, such as `{"PID-5.1": 25}`. Names: fields of orders. An order with a longer text is refused, unless the field is in `cut_fields`. A longer note, `NTE-3`, goes on in another segment.',
    }),
    cut_fields: FieldNames('Fields with a limit that cut longer texts.', []),
  },
  'How texts, numbers and times are written.',
)
