// The headings of panels that have a column of their own: over which rows of the table each stands.
import { heightOf } from '../pages/page.ts'
import type { Run } from './runs.ts'
import { type Line, toLine } from './table-cells.ts'
import type { TableColumn } from './table-columns.ts'
import { cellOfRuns, isBroken, type Part, type TableRow } from './cell-runs.ts'
import * as tolerances from './tolerances.ts'

const PANEL = /^(?:test )?(?:panel|profile|group|section|department|category)s?(?: name)?$/iu

/** Whether the name of a column says that it has panels. */
export const isPanelName = (text: string): boolean => PANEL.test(text)

interface Panel {
  runs: Run[]
  top: number
  bottom: number
}

/** The texts of a column, the lines of each together. */
function findPanels(parts: readonly Part[], column: TableColumn): Panel[] {
  const panels: Panel[] = []
  for (const { run } of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = panels.at(-1)
    if (
      last &&
      run.box.top - last.bottom < heightOf(run.box) * tolerances.CELL_LINE_GAP &&
      isBroken(last.runs.at(-1)!, run, column)
    ) {
      last.runs.push(run)
      last.bottom = run.box.bottom
    } else panels.push({ runs: [run], top: run.box.top, bottom: run.box.bottom })
  }
  return panels
}

/** The heading of each row with which another panel begins: a text stands at the top of its rows, in their middle, or at their end. */
export function panelHeadings(
  page: number,
  parts: readonly Part[],
  column: TableColumn,
  rows: readonly TableRow[],
): Map<TableRow, Line> {
  const panels = findPanels(parts, column)
  if (!rows.length || !panels.length) return new Map()
  const [tops, middles, ends] = [startsAtTop, startsInMiddle, startsByEnd].map((findStarts) => findStarts(panels, rows)) as [
    Starts,
    Starts,
    Starts,
  ]
  const best = tops.error <= middles.error ? tops : middles
  // That panels end with their texts is the least usual.
  const isByEnd = ends.error < best.error && ends.error < panels.length * tolerances.PANEL_END
  const { starts } = isByEnd ? ends : best
  return new Map(panels.map(({ runs }, index) => [rows[starts[index]!]!, toLine(page, [cellOfRuns(runs)])]))
}

interface Starts {
  /** The first row of each panel. */
  starts: number[]
  /** How far texts stand aside of where they should, in points. */
  error: number
}

function startsAtTop(panels: readonly Panel[], rows: readonly TableRow[]): Starts {
  const starts = panels.map(({ top }) => nearestTo(rows.map((row) => row.top - top)))
  const distances = panels.map(({ top }, index) => rows[starts[index]!]!.top - top)
  // The first panel begins with the first row.
  const rest = starts[0] === 0 ? 0 : panels[0]!.top - rows[0]!.top
  return { starts, error: sumOfSizes([...distances, rest]) }
}

const sumOfSizes = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + Math.abs(number), 0)

/** The index of the smallest distance. */
const nearestTo = (distances: readonly number[]): number =>
  distances.reduce((best, distance, index) => (Math.abs(distance) < Math.abs(distances[best]!) ? index : best), 0)

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

/** Each panel begins behind the row with which the one before it ends; the last one ends with the last row. */
function startsByEnd(panels: readonly Panel[], rows: readonly TableRow[]): Starts {
  const ends = panels.map(({ bottom }) => nearestTo(rows.map((row) => row.bottom - bottom)))
  const isInOrder = ends.every((end, index) => index === 0 || end > ends[index - 1]!)
  const distances = panels.map(({ bottom }, index) => rows[ends[index]!]!.bottom - bottom)
  return {
    starts: ends.map((_, index) => (index ? ends[index - 1]! + 1 : 0)),
    error: isInOrder ? sumOfSizes([...distances, rows.at(-1)!.bottom - panels.at(-1)!.bottom]) : Infinity,
  }
}
