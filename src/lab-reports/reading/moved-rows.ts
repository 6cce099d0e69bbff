// Pictures whose results stand in the rows of others, as where a page is slanted or curved: several of them do not fit their names. Pure.
import type { ReadingFinding } from './finding.ts'
import type { ReportResult } from './result.ts'

/** What shows that a result, its unit or its range is that of another test. */
const OF_OTHER_ROWS: ReadonlySet<string> = new Set([
  'outside_human_limits',
  'unit_does_not_fit',
  'contradicts_parts',
  'range_is_not_understood',
  'flag_contradicts_range',
])
/** Of the results of a page: where as many do not fit their names, no row of it is certain. */
const [ROWS_MIN, ROWS_SHARE] = [3, 0.2]

const MOVED: ReadingFinding = {
  kind: 'table_is_doubtful',
  text: 'Several results of this page do not fit their names: results may stand in the rows of others.',
}

/** Results with a finding where they stand on the picture of a page whose results may have moved. @param pictures numbers of such pages */
export function withMovedRows(results: readonly ReportResult[], pictures: ReadonlySet<number>): ReportResult[] {
  const isOdd = ({ findings }: ReportResult) => findings.some(({ kind }) => OF_OTHER_ROWS.has(kind))
  const moved = [...pictures].filter((page) => {
    const own = results.filter(({ place }) => place.page === page)
    const odd = own.filter(isOdd).length
    return odd >= ROWS_MIN && odd >= own.length * ROWS_SHARE
  })
  return results.map((result) =>
    moved.includes(result.place.page) && !result.findings.length ? { ...result, findings: [MOVED] } : result,
  )
}
