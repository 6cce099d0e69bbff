import { Maybe, OpenEnum, T } from '../../../platform/schema/schema.ts'
import { Choice, Flag, Lines, namesAny, OptionGroup } from './option-types.ts'

/** Of table 0078, as far as results say what they mean. */
const flags = ['', 'N', 'NEG', 'H', 'L', 'A', 'AA', 'POS', 'HH', 'LL', 'CRIT', 'IND'] as const

export const ResultOptions = OptionGroup(
  {
    reports: OpenEnum(['incremental', 'cumulative'], {
      description: '`incremental`: a message contains what is new. `cumulative`: it contains all results of its order.',
    }),
    later_reports: Choice(
      ['apply', 'review'],
      'apply',
      'What a message for a completed order does: it adds to the result and corrects it, or opens a review.',
    ),
    completes_on_order_status: Flag(false, 'The order status `CM` completes an order, whatever the status of its tests.'),
    completes_after_days: Maybe(
      T.Integer({
        minimum: 1,
        maximum: 365,
        description: 'Completes an order with partial results so many days after the last message. Default: never.',
      }),
    ),
    status_from: Choice(
      ['both', 'test', 'result'],
      'both',
      'Status of a result: OBX-11 and, where that is empty, OBR-25 (`both`), OBR-25 alone (`test`), or OBX-11 alone (`result`).',
    ),
    flags: T.Record(T.String(), OpenEnum(flags), {
      default: {},
      nameRule: namesAny,
      description:
        'Meaning of flags that are not of HL7: `{"*": "A"}`. Values: normal `N`, `NEG`; abnormal `H`, `L`, `A`, `AA`, `POS`; critical `HH`, `LL`, `CRIT`; not known `IND`; empty: the flag says nothing.',
    }),
    document_codes: Lines('Codes of results that are documents.'),
    comment_codes: Lines('Codes of results that are comments on the report.'),
    rendering_codes: Lines('Codes of results that print the whole report as text. They are left out.'),
    answer_codes: Lines('Codes of results that repeat answers of the order. They are left out.'),
    not_performed_words: Lines('Values that say that a test was not performed.', ['TNP', 'DNP']),
    has_footer: Flag(false, 'The last NTE block of a message belongs to the whole report.'),
    documents: Choice(
      ['ED', 'ST', 'ZEF', 'none'],
      'ED',
      'Place of PDF documents: OBX of type ED, OBX of type ST or TX, segments ZEF, or none.',
    ),
    loinc_without_system: Flag(false, 'The first component of OBX-3 is a LOINC code if it has the form of one, without `LN`.'),
    performing_laboratory: Choice(['OBX-23', 'OBX-15', 'ZPS'], 'OBX-23', 'Place of the performing laboratory.'),
  },
  'What messages with results mean.',
)
