// Why a person has to look at a row or at a report. Processes that serve requests import this file, which imports no reader of files.
import type { Box } from '../pages/page.ts'

/** Why a row, or a report as a whole, has to be looked at by a person. */
type ReadingFindingKind =
  | 'unit_is_no_unit'
  | 'name_holds_a_value'
  | 'name_holds_a_heading'
  | 'name_is_incomplete'
  | 'name_is_unknown'
  | 'value_is_no_result'
  | 'range_is_not_understood'
  | 'value_is_far_from_range'
  | 'flag_contradicts_range'
  | 'flag_is_missing'
  | 'flag_is_not_understood'
  | 'among_particulars'
  | 'range_is_missing'
  | 'range_is_doubtful'
  | 'column_is_empty'
  | 'text_not_read'
  | 'line_without_row'
  | 'table_is_doubtful'
  | 'letters_not_read'
  | 'rows_not_read'

export interface ReadingFinding {
  kind: ReadingFindingKind
  /** For the reviewer; states no value of the patient. */
  text: string
}

/** A finding that concerns no row: something of the page is in no result. */
export interface ReportFinding extends ReadingFinding {
  page: number
  box: Box
}

/** A finding about a row, by its index. */
export interface RowFinding {
  row: number
  finding: ReadingFinding
}

/** Whether something of a row cannot be right, in how it was read or in what it means. */
export const isDoubtful = ({ findings }: { findings: readonly unknown[] }): boolean => findings.length > 0
