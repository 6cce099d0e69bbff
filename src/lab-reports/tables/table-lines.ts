// The rows of a table as lines, of which each cell is one text, and the line that names its columns.
import type { Word } from '../pages/page.ts'
import { type Cell, cellOf, type Line, toLine } from './table-cells.ts'
import { joinsName } from './row-parts.ts'
import { type Run, textOf } from './runs.ts'
import { isMethod, namesSpecimen } from './statements.ts'
import type { TableColumn } from './table-columns.ts'
import {
  type Part,
  type TableRow,
  isNoteBelow,
  isTitleOfNote,
  goesOn,
  inOrder,
  isSmaller,
  lettersOnly,
  segmentsOf,
  cellOfRuns,
} from './cell-runs.ts'

export interface Writer {
  page: number
  columns: readonly TableColumn[]
  isName: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  /** The column of upper bounds next to one of lower bounds. */
  upperOf: (column: TableColumn) => TableColumn | undefined
  /** Letters of texts below names that are the category of several tests. */
  categories: ReadonlySet<string>
  /** Whether the second line of a name is one of its own in most rows. */
  isSystematic: boolean
  /** Whether several names have a specimen or a method below them: a specimen there is not part of these names. */
  hasSpecimens: boolean
  /** Whether a text is, word for word, the name of something that laboratories measure. */
  isNamed: (name: string) => boolean
}

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
  return toLine(
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
        (lines[index] ??= []).push({
          ...segment,
          band: column.band,
          ...(index > 0 && writer.isName(column) && { isBelowName: true }),
        })
  }
  for (const { run, column } of parts) {
    if (column.detailsOf === 'result') (lines[0] ??= []).push({ ...cellOf(run.words), isDetail: true })
    if (column.detailsOf === 'note')
      lines.push([{ ...cellOf(run.words), band: writer.columns.find(writer.isName)!.band, isBelowName: true }])
  }
  return lines.flatMap((cells) => (cells ? [toLine(writer.page, cells)] : []))
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
  const segments = segmentsOf(parts).flatMap((segment) => (writer.isName(column) ? splitNote(segment, writer) : [segment]))
  if (writer.isRange(column)) return segments.map(cellOfRuns)
  const cells: Run[][] = []
  for (const segment of segments) {
    const lastCell = cells.at(-1)
    if (!lastCell || standsAlone(lastCell, segment, writer)) cells.push([...segment])
    else lastCell.push(...segment)
  }
  return cells.map(cellOfRuns)
}

/**
 * A name and the specimen, method or category below it, which in a narrow column looks like its last word. `Blood` is part of `Fecal Occult Blood`, and
 * `Calculated` of `LDL Cholesterol, Calculated`.
 */
function splitNote(segment: Run[], { isNamed, hasSpecimens, categories }: Writer): Run[][] {
  const index = segment.findIndex((run, i) => {
    const [name, text] = [i > 0 ? cellOfRuns(segment.slice(0, i)).text : '', textOf(run)]
    const isOne = (hasSpecimens && namesSpecimen(text)) || (isMethod(text) && !/calculated/iu.test(text))
    return (isOne && !goesOn(name) && isNamed(name)) || (i > 0 && categories.has(lettersOnly(text)))
  })
  return index < 0 ? [segment] : [segment.slice(0, index), segment.slice(index)]
}

/** Shorter texts below a name may tell it from others. */
const DESCRIPTION_LETTERS_MIN = 9

/** Whether a line below a name is not part of it: a note, or nothing that makes a longer name of a name. */
function standsAlone(runsAbove: readonly Run[], segment: readonly Run[], { isSystematic, isNamed }: Writer): boolean {
  const [first, next] = [runsAbove[0]!, segment[0]!]
  const [name, text] = [cellOfRuns(runsAbove).text, textOf(next)]
  if (isSmaller(next, first) || isNoteBelow(name, text) || isTitleOfNote(text)) return true
  // `Luteinizing hormone` below `LH`, where other names have such a description; `Direct` and `HDL` tell names apart.
  if (isSystematic && isNamed(name) && isNamed(text) && text.length >= DESCRIPTION_LETTERS_MIN) return true
  if (joinsName(name, text, isNamed) || isNamed(cellOfRuns([...runsAbove, ...segment]).text)) return false
  return isSystematic || isNamed(name)
}
