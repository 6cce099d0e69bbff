// The cells of a row of a table: the lines of each put together, and lines of their own below the row.
import { boxAround, heightOf, type Word } from '../pages/page.ts'
import { cellOf, lineOf, type Cell, type Line } from './lines.ts'
import { joinsName } from './row-parts.ts'
import type { TableColumn } from './table-columns.ts'
import { isBroken, isNote, type Part, type TableRow } from './table-rows.ts'
import { textOf, type Run } from './table-runs.ts'

/** Smaller letters are those of notes. */
const NOTE_HEIGHT = 0.9
/** In pictures, in which heights are measured. */
const NOTE_HEIGHT_IN_PICTURE = 0.8

export interface Writer {
  page: number
  columns: readonly TableColumn[]
  isName: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  /** The column of upper bounds beside one of lower bounds. */
  upperOf: (column: TableColumn) => TableColumn | undefined
  /** Whether the second line of a name is one of its own in most rows. */
  isSystematic: boolean
  /** Whether a text is, word for word, the name of something that laboratories measure. */
  isNamed: (name: string) => boolean
}

const inOrder = (runs: readonly Run[]): Run[] =>
  runs.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)

/** What names a column; empty if nothing does. */
export const nameOfColumn = ({ names }: TableColumn): string => (names.length ? cellOfRuns(inOrder(names)).text : '')

/** What names columns in the page before, as wide as the texts below it reached there. */
export const continuedNames = (columns: readonly TableColumn[]): Run[] =>
  columns.flatMap(({ names, left, right }) => {
    if (!names.length) return []
    const { words, box } = cellOfRuns(inOrder(names))
    return [{ words, box: { ...box, left, right } }]
  })

/** The line that names the columns; two columns of bounds are one of ranges. */
export function headerLine(page: number, columns: readonly TableColumn[], upperOf: Writer['upperOf']): Line {
  const uppers = new Set(columns.flatMap((column) => upperOf(column) ?? []))
  return lineOf(
    page,
    columns.flatMap((column): Cell[] => {
      if (!column.names.length || uppers.has(column)) return []
      const upper = upperOf(column)
      const cell = cellOfRuns(inOrder([...column.names, ...(upper?.names ?? [])]))
      if (!upper) return [{ ...cell, band: column.band }]
      return [{ ...cell, text: 'Reference range', words: cell.words, band: { left: column.band.left, right: upper.band.right } }]
    }),
  )
}

/** A row as a line, and below it the lines of names and ranges that stand for themselves. */
export function linesOfRow({ parts }: TableRow, writer: Writer): Line[] {
  const lines: Cell[][] = []
  const uppers = new Set<TableColumn>()
  for (const column of writer.columns) {
    if (uppers.has(column)) continue
    const own = parts.filter((part) => part.column === column)
    const upper = writer.upperOf(column)
    if (upper) {
      uppers.add(upper)
      const range = rangeOfBounds(
        own,
        parts.filter((part) => part.column === upper),
      )
      if (range) (lines[0] ??= []).push({ ...range, band: { left: column.band.left, right: upper.band.right } })
    } else if (own.length)
      for (const [index, segment] of cellsOfColumn(own, column, writer).entries())
        (lines[index] ??= []).push({ ...segment, band: column.band })
  }
  return lines.flatMap((cells) => (cells ? [lineOf(writer.page, cells)] : []))
}

/** The bounds of two columns as a range. */
function rangeOfBounds(lower: readonly Part[], upper: readonly Part[]): Cell | undefined {
  const [low, high] = [lower, upper].map((parts) => (parts.length ? cellOfRuns(inOrder(parts.map(({ run }) => run))) : undefined))
  const sign = (text: string, { words: [first], box }: Cell): Word => ({ ...first!, text, box: { ...box, right: box.left } })
  const isText = (cell: Cell | undefined) => cell !== undefined && !/^\d/u.test(cell.text)
  if (isText(low) || isText(high)) return low && high ? cellOf([...low.words, ...high.words]) : (low ?? high)
  if (low && high) return cellOf([...low.words, sign('-', high), ...high.words])
  if (low) return cellOf([sign('>=', low), ...low.words])
  return high && cellOf([sign('<=', high), ...high.words])
}

function cellsOfColumn(parts: readonly Part[], column: TableColumn, writer: Writer): Cell[] {
  const all = inOrder(parts.map(({ run }) => run))
  if (!writer.isName(column) && !writer.isRange(column)) return [cellOfRuns(all)]
  const segments = segmentsOf(parts)
  if (writer.isRange(column)) return segments.map(cellOfRuns)
  const cells: Run[][] = []
  for (const segment of segments) {
    const lastCell = cells.at(-1)
    if (!lastCell || standsAlone(lastCell, segment, writer)) cells.push([...segment])
    else lastCell.push(...segment)
  }
  return cells.map(cellOfRuns)
}

/** Whether a line below a name is no part of it: a note, or nothing that makes a longer name of a name. */
function standsAlone(runsAbove: readonly Run[], segment: readonly Run[], { isSystematic, isNamed }: Writer): boolean {
  const [first, next] = [runsAbove[0]!, segment[0]!]
  const [name, text] = [cellOfRuns(runsAbove).text, textOf(next)]
  const smaller = next.words[0]!.font === undefined ? NOTE_HEIGHT_IN_PICTURE : NOTE_HEIGHT
  if (heightOf(next.box) < heightOf(first.box) * smaller || isNote(text)) return true
  if (joinsName(name, text, isNamed) || isNamed(cellOfRuns([...runsAbove, ...segment]).text)) return false
  return isSystematic || isNamed(name)
}

/** The lines of a cell, those that had no room together. */
export function segmentsOf(parts: readonly Part[]): Run[][] {
  const segments: Run[][] = []
  for (const { run, column } of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = segments.at(-1)?.at(-1)
    if (last && isBroken(last, run, column)) segments.at(-1)!.push(run)
    else segments.push([run])
  }
  return segments
}

/** The lines of a cell as one text; a word that was parted at a hyphen or slash is one again. */
export function cellOfRuns(runs: readonly Run[]): Cell {
  const words: Word[] = []
  for (const run of runs)
    for (const [index, word] of run.words.entries()) {
      const last = words.at(-1)
      if (last && index === 0 && /[\p{L}\d)][-–/]$/u.test(last.text))
        words[words.length - 1] = {
          ...last,
          text: last.text + word.text,
          box: boxAround([last.box, word.box]),
          confidence: Math.min(last.confidence, word.confidence),
        }
      else words.push(word)
    }
  return cellOf(words)
}
