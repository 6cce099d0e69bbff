// Counts of colonies in cultures that are in no result.
import { areInLine } from '../pages/page.ts'
import { COUNT_OF_COLONIES } from '../tables/rows.ts'
import { looksLikeSentence } from '../texts/names.ts'
import type { ReportFinding } from './finding.ts'
import type { Reading } from './table-doubts.ts'

/** A finding for each line in which a count of colonies stands behind a name, and of which there is no row. */
export const culturesNotRead = ({ pages, rows }: Pick<Reading, 'pages' | 'rows'>): ReportFinding[] =>
  pages.flatMap(({ page, lines }) =>
    lines
      .filter(
        ({ cells, box }) =>
          cells.slice(1).some(({ text }) => COUNT_OF_COLONIES.test(text)) &&
          !looksLikeSentence(cells.map(({ text }) => text).join(' ')) &&
          !rows.some((row) => row.page === page.number && areInLine(row.box, box)),
      )
      .map(({ box }): ReportFinding => ({
        kind: 'line_without_row',
        text: 'The count of a culture is in no result.',
        page: page.number,
        box,
      })),
  )
