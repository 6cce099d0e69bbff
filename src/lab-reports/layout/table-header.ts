// Which lines name the columns of a table together: cells on two lines, centered beside others on one.
import { centerX, heightOf, overlapX, overlapY } from '../pages/page.ts'
import { columnKind, columnsOf, isRowBelow } from './headers.ts'
import type { Line } from './lines.ts'
import { runsOf, textOf, type Run, type Spaces } from './table-runs.ts'
import { dateIn } from './dates.ts'
import { isUnit } from '../../lab-values/units.ts'

/** Consecutive lines of a page that name columns. */
export interface HeaderLines {
  /** Index of the first of them among the lines of the page, and of the first line below them. */
  from: number
  to: number
  /** The runs of each. */
  runs: Run[][]
}

/** Of the height of letters: lines of a cell are no further apart. */
const HEADER_LINE_GAP = 0.75
/** Of the height of letters: lines of a cell are closer than headers. */
const HEADER_STACK_GAP = 0.35
/** Of the height of letters: lines that overlap more stand beside each other. */
const ROW_OVERLAP = 0.15
/** Letters of one header differ less in their height, in a text and in a picture, in which a bracket makes the letters of a line higher. */
const [HEADER_HEIGHT_IN_TEXT, HEADER_HEIGHT_IN_PICTURE] = [0.15, 0.45]
const LINES_MAX = 8

const isNamed = (text: string): boolean => columnKind(text) !== undefined
/** A unit or a date under the name of a column, or the rest of one. */
const isBelowName = (text: string): boolean => /^[([]|^[^([]*[)\]]$/u.test(text) || isUnit(text) || dateIn(text)?.index === 0

/**
 * The lines that may name columns, from top to bottom.
 * @param isParted whether something is drawn between two lines
 * @param columnsAbove the columns of a table that may go on in the first lines
 */
export function findHeaders(
  lines: readonly Line[],
  spaces: Spaces,
  isParted: (upper: Line, lower: Line) => boolean,
  columnsAbove: Parameters<typeof isRowBelow>[1] = [],
): HeaderLines[] {
  const headers: HeaderLines[] = []
  const runs = lines.map((line) => runsOf(line, spaces))
  const isHeader = lines.map(({ isParticulars }, index) => !isParticulars && isHeaderLine(runs[index]!))
  for (let from = 0; from < lines.length; from++) {
    if (!isHeader[from] || !runs[from]!.some((run) => isNamed(textOf(run)))) continue
    let to = from + 1
    while (to < lines.length && to - from < LINES_MAX && isHeader[to] && isNext(lines, from, to, isParted)) to++
    const header = { from, to, runs: runs.slice(from, to) }
    if (!namesColumns(header) || isRowBelow(cellsOf(header.runs), headers.length ? columnsOfRuns(headers.at(-1)!) : columnsAbove))
      continue
    headers.push(header)
    from = to - 1
  }
  return headers
}

const cellsOf = (runs: readonly (readonly Run[])[]) => runs.flat().map((run) => ({ text: textOf(run), box: run.box }))

const columnsOfRuns = ({ runs }: HeaderLines) => cellsOf(runs).map(({ text, box }) => ({ kind: columnKind(text), box }))

function isHeaderLine(runs: readonly Run[]): boolean {
  const texts = runs.map(textOf)
  const namedCount = texts.filter((text) => isNamed(text) || isBelowName(text)).length
  return namedCount * 2 > texts.length && texts.every((text) => text.length <= 60 && !/^[<>≤≥]?\s?\d+(?:[.,]\d+)?$/u.test(text))
}

function isNext(lines: readonly Line[], from: number, to: number, isParted: (upper: Line, lower: Line) => boolean): boolean {
  const line = lines[to]!
  const linesAbove = lines.slice(from, to)
  if (linesAbove.some((item) => overlapY(item.box, line.box) > heightOf(line.box) * ROW_OVERLAP)) return true
  const last = linesAbove.at(-1)!
  const [upper, lower] = [last.cells[0]!.words[0]!, line.cells[0]!.words[0]!]
  const height = Math.min(heightOf(upper.box), heightOf(lower.box))
  const tolerance = lower.font === undefined ? HEADER_HEIGHT_IN_PICTURE : HEADER_HEIGHT_IN_TEXT
  return (
    Math.abs(heightOf(upper.box) - heightOf(lower.box)) < height * tolerance &&
    line.box.top - Math.max(...linesAbove.map(({ box }) => box.bottom)) < height * HEADER_LINE_GAP &&
    !isParted(last, line) &&
    // Of two lines that each name all of a table the second is the next header; the second lines of some names are fewer.
    !(
      line.box.top - last.box.bottom > height * HEADER_STACK_GAP &&
      line.cells.length >= last.cells.length &&
      namesTable(line) &&
      namesTable(last)
    )
  )
}

/** Whether a line names both the tests and their results. */
function namesTable(line: Line): boolean {
  const kinds = columnsOf(line)?.map(({ kind }) => kind) ?? []
  return kinds.includes('name') && kinds.some((kind) => kind === 'value' || kind === 'normal_value' || kind === 'dated_value')
}

/** Whether some runs together name a result and what belongs to it. */
function namesColumns({ runs }: HeaderLines): boolean {
  const all = runs.flat()
  if (all.length < 2) return false
  const kinds = new Set(
    all.flatMap((run) => run.words.map(({ text }) => columnKind(text))).filter((kind) => kind && kind !== 'other'),
  )
  for (const run of all) {
    const kind = columnKind(textOf(run))
    if (kind && kind !== 'other') kinds.add(kind)
  }
  return kinds.size > 1 && ['name', 'value', 'dated_value', 'range', 'unit'].filter((kind) => kinds.has(kind as never)).length > 1
}

/** The name of a column of lower bounds, or of upper ones, whatever stands above both. */
export const isLowerBound = (text: string): boolean =>
  /(?:^|\s)(?:min(?:imum)?|low(?:er)?(?: limit| bound)?|from)\.?$/iu.test(text)
export const isUpperBound = (text: string): boolean => /(?:^|\s)(?:max(?:imum)?|high|upper(?: limit| bound)?|to)\.?$/iu.test(text)

export interface SpanningRun {
  run: Run
  /** Whether lower and upper bounds stand below it. */
  isOfBounds: boolean
}

/** The runs of a header that stand above several others: the name of columns that have names of their own below it. */
export function spanningRuns(runs: readonly (readonly Run[])[]): SpanningRun[] {
  return runs.flatMap((line, position) =>
    line.flatMap((run): SpanningRun[] => {
      const linesBelow = runs.slice(position + 1)
      if (linesBelow.some((other) => other.some((_, index) => isAboveBounds(run, other.slice(index, index + 2)))))
        return [{ run, isOfBounds: true }]
      const isAbove = linesBelow.some((other) => other.filter(({ box }) => overlapX(box, run.box) > 0.5).length > 1)
      return isAbove ? [{ run, isOfBounds: false }] : []
    }),
  )
}

const isAboveBounds = ({ box }: Run, [low, high]: readonly Run[]): boolean =>
  low !== undefined &&
  high !== undefined &&
  isLowerBound(textOf(low)) &&
  isUpperBound(textOf(high)) &&
  centerX(box) > low.box.left &&
  centerX(box) < high.box.right
