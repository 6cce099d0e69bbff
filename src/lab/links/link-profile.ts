// The profile of a link: what a laboratory's messages mean where messages leave it open. Without the profile's word nothing is guessed.
import { Fields, Maybe, OpenEnum, T, TimeZone, type Static } from '../../platform/schema/schema.ts'

/** The sign between whole numbers and decimals. The other one separates thousands. */
const decimalMarks = ['.', ','] as const
export type DecimalMark = (typeof decimalMarks)[number]

export const LinkProfile = Fields(
  {
    reports: OpenEnum(['incremental', 'cumulative'], {
      description: '`incremental`: a message contains what is new. `cumulative`: it contains all results of its order.',
    }),
    decimal_mark: OpenEnum(decimalMarks, { description: 'Of values and reference ranges.' }),
    time_zone: TimeZone,
    later_reports: Maybe(
      OpenEnum(['apply', 'review'], {
        description:
          'What a message for a completed order does: it adds to the result and corrects it (the default), or opens a review.',
      }),
    ),
    completes_on_order_status: Maybe(
      T.Boolean({ description: 'The order status `CM` completes an order, whatever the status of its tests. Default: false.' }),
    ),
  },
  { title: 'LinkProfile', additionalProperties: false },
)
export type LinkProfile = Static<typeof LinkProfile>
