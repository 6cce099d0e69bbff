// A column of panels, whose cells may go over several rows: each text becomes the heading above its rows.
import { heightOf } from '../pages/page.ts'
import { lineOf, type Line } from './lines.ts'
import { cellOfRuns } from './table-cells.ts'
import type { TableColumn } from './table-columns.ts'
import { isBroken, type Part, type TableRow } from './table-rows.ts'
import type { Run } from './table-runs.ts'

const PANEL = /^(?:test )?(?:panel|profile|group|section|department|category)s?(?: name)?$/iu

export const isPanelName = (text: string): boolean => PANEL.test(text)

/** Of the height of letters: lines of a cell are no further apart. */
const CELL_LINE_GAP = 0.85

interface Panel {
  runs: Run[]
  top: number
  bottom: number
}

/** The texts of a column, the lines of each together. */
function panelsOf(parts: readonly Part[], column: TableColumn): Panel[] {
  const panels: Panel[] = []
  for (const { run } of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = panels.at(-1)
    if (last && run.box.top - last.bottom < heightOf(run.box) * CELL_LINE_GAP && isBroken(last.runs.at(-1)!, run, column)) {
      last.runs.push(run)
      last.bottom = run.box.bottom
    } else panels.push({ runs: [run], top: run.box.top, bottom: run.box.bottom })
  }
  return panels
}

/** The heading of each row with which another panel begins: a text stands at the top of its rows, or in their middle. */
export function panelHeadings(
  page: number,
  parts: readonly Part[],
  column: TableColumn,
  rows: readonly TableRow[],
): Map<TableRow, Line> {
  const panels = panelsOf(parts, column)
  if (!rows.length || !panels.length) return new Map()
  const [tops, middles] = [startsAtTop(panels, rows), startsInMiddle(panels, rows)]
  const { starts } = tops.error <= middles.error ? tops : middles
  return new Map(panels.map(({ runs }, index) => [rows[starts[index]!]!, lineOf(page, [cellOfRuns(runs)])]))
}

interface Starts {
  /** The first row of each panel. */
  starts: number[]
  /** How far texts stand aside of where they should, in points. */
  error: number
}

function startsAtTop(panels: readonly Panel[], rows: readonly TableRow[]): Starts {
  const starts = panels.map(({ top }) => {
    const distances = rows.map((row) => Math.abs(row.top - top))
    return distances.indexOf(Math.min(...distances))
  })
  return { starts, error: panels.reduce((sum, { top }, index) => sum + Math.abs(rows[starts[index]!]!.top - top), 0) }
}

function startsInMiddle(panels: readonly Panel[], rows: readonly TableRow[]): Starts {
  const starts: number[] = []
  let [start, error] = [0, 0]
  for (const { top, bottom } of panels) {
    starts.push(Math.min(start, rows.length - 1))
    const errors = rows.slice(start).map((row) => Math.abs((rows[start]!.top + row.bottom) / 2 - (top + bottom) / 2))
    if (!errors.length) return { starts: panels.map(() => 0), error: Infinity }
    const best = errors.indexOf(Math.min(...errors))
    error += errors[best]!
    start += best + 1
  }
  return { starts, error }
}
