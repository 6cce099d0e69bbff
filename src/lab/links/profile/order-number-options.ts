import { Choice, FieldNames, Flag, Line, OptionGroup } from './option-types.ts'
import { Maybe, T, Text } from '../../../platform/schema/schema.ts'
import { RuleError } from '../../../platform/schema/request-validation.ts'

const NumberPattern = Maybe(
  Text({
    maxLength: 100,
    description:
      'Form of our order numbers in messages of the laboratory, if it changes them: `{number}`, with text before and after; `*` stands for any text. `{number}-*` reads `4711` from `4711-0175`.',
    rule: (text) =>
      text.split('{number}').length === 2 && (text.match(/\*/gu) ?? []).length <= 2
        ? text
        : new RuleError('must contain {number} once, and * at most twice'),
  }),
)

export const OrderNumberOptions = OptionGroup(
  {
    number: Choice(
      ['sample_id', 'order_id'],
      'sample_id',
      'Our number of an order, in ORC-2 and OBR-2. An order without a sample id has its own id.',
    ),
    prefix: Line('Text before the number.', ''),
    length_max: Maybe(
      T.Integer({
        minimum: 10,
        maximum: 100,
        description:
          'Most characters of the number with its prefix: an order without a sample id gets one that fits, with at least eight characters. One with a longer number is refused. Default: no limit.',
      }),
    ),
    per_test: Flag(
      false,
      'Each test has a number of its own, the number of the order with the position of the test: `4711-2`. ORC-4 is the number of the order.',
    ),
    namespace: Line('Second component of ORC-2 and OBR-2.', ''),
    fields: FieldNames('Fields of received messages that contain our number, in the order in which they are tried.', [
      'ORC-2.1',
      'OBR-2.1',
      'ORC-4.1',
      'SPM-2.1',
    ]),
    pattern: NumberPattern,
    ignores_case: Flag(false, 'Compares numbers without regard to capital letters.'),
    ignores_leading_zeros: Flag(false, 'Compares numbers without their leading zeros.'),
  },
  'Numbers of orders.',
)
