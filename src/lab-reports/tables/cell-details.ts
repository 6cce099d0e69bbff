// Further lines of the cells of a table that hold what other tables have columns for: the unit below each name, the range below each result.
import { isUnit } from '../../lab-values/units.ts'
import { centerY, heightOf, type Word } from '../pages/page.ts'
import { columnKind } from './headers.ts'
import { type Run, runOf, textOf } from './runs.ts'
import { cellOf, splitCell, type TypedCell } from './table-cells.ts'
import { isRange, lettersOf, type TableColumn, type TableOfRuns } from './table-columns.ts'
import { isBroken, isSmaller, isUnfinished, type Part } from './cell-runs.ts'
import * as tolerances from './tolerances.ts'

/** Columns beside those of the table: of what belongs to results, and of notes on names. */
const detailsColumn = (kind: 'result' | 'note'): TableColumn => ({
  left: 0,
  right: 0,
  band: { left: 0, right: 0 },
  names: [],
  width: Infinity,
  detailsOf: kind,
})

export interface DetailOptions {
  isName: (column: TableColumn) => boolean
  isResult: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  isNamed: (name: string) => boolean
}

/** The lines of a table with the details of its cells in columns of their own, where most cells of a column have some. */
export function withDetails(lines: TableOfRuns['lines'], options: DetailOptions): TableOfRuns['lines'] {
  const parts = lines.flatMap((line) => line.parts ?? [])
  const [ofResults, notes] = [detailsColumn('result'), detailsColumn('note')]
  const replacements = new Map<Part, Part[]>()
  for (const [column, columnParts] of Map.groupBy(parts, (part) => part.column))
    for (const { first, details } of detailedCells(columnParts, column, parts, options)) {
      const isNote = (part: Part) => options.isName(column) && isNoteText(part.run)
      for (const part of details) replacements.set(part, [])
      for (const [ofKind, owner] of [
        [details.filter((part) => !isNote(part)), ofResults],
        [details.filter(isNote), notes],
      ] as const) {
        const words = ofKind.flatMap(({ run }) => (owner === notes ? run.words : withoutLabel(run.words)))
        if (words.length) replacements.set(ofKind[0]!, [{ run: asHighAs(runOf(words), first, details.at(-1)!), column: owner }])
      }
    }
  if (!replacements.size) return lines
  return lines.map((line) =>
    line.parts ? { ...line, parts: line.parts.flatMap((part) => replacements.get(part) ?? [part]) } : line,
  )
}

/** A run that reaches over the lines of a cell, and so stands in its row. Lines above each other may overlap, their middles do not. */
const asHighAs = (run: Run, first: Part, last: Part): Run => ({
  ...run,
  box: { ...run.box, top: centerY(first.run.box), bottom: centerY(last.run.box) },
})

interface DetailedCell {
  /** The first line. */
  first: Part
  details: Part[]
}

function detailedCells(
  parts: readonly Part[],
  column: TableColumn,
  partsOfTable: readonly Part[],
  options: DetailOptions,
): DetailedCell[] {
  if (!options.isName(column) && !options.isResult(column) && !options.isRange(column)) return []
  const sorted = parts.toSorted((a, b) => a.run.box.top - b.run.box.top)
  const isDetail = markDetails(sorted, column, options)
  // A note below the line of the result is in no result.
  if (options.isName(column) && areAtTop(sorted, isDetail, partsOfTable, options))
    for (const [index, { run }] of sorted.entries()) if (isNoteText(run)) isDetail[index] = false
  if (!options.isName(column) && areRows(sorted, isDetail, partsOfTable, options)) return []
  const cells: DetailedCell[] = []
  let cellCount = 0
  for (const [index, part] of sorted.entries()) {
    const previous = isDetail[index - 1] ? undefined : sorted[index - 1]
    const isContinued = previous && isNear(previous.run, part.run) && isBroken(previous.run, part.run, column)
    if (!isDetail[index] && !isContinued) cellCount++
    if (!isDetail[index] || isDetail[index - 1]) continue
    const end = isDetail.findIndex((isOne, position) => position > index && !isOne)
    let start = index - 1
    const gap = gapBetween(sorted[start]!, part)
    const isFirstLine = (upper: Part, lower: Part) =>
      gapBetween(upper, lower) < gap + tolerances.LINES_CLOSER && isBroken(upper.run, lower.run, column)
    while (start > 0 && !isDetail[start - 1] && isFirstLine(sorted[start - 1]!, sorted[start]!)) start--
    cells.push({ first: sorted[start]!, details: sorted.slice(index, end < 0 ? undefined : end) })
  }
  const isMost = cells.length >= tolerances.DETAILS_MIN && cells.length >= cellCount * tolerances.DETAILS_SHARE
  const results = partsOfTable.filter(
    ({ run, column: owner }) => options.isResult(owner) && /^[<>≤≥]?\s?\d/u.test(textOf(run)) && !isRange(textOf(run)),
  )
  // Names below the larger letters of headings are not notes on these.
  const hasNames = !options.isName(column) || cellCount >= results.length * tolerances.NAMES_SHARE
  return isMost && hasNames ? cells : []
}

/** Which lines of a column are details of the cell above. */
function markDetails(parts: readonly Part[], column: TableColumn, options: DetailOptions): boolean[] {
  const isDetail: boolean[] = []
  let cell: Run | undefined
  for (const [index, { run }] of parts.entries()) {
    const [above, next] = [parts[index - 1]?.run, parts[index + 1]?.run]
    const whole = next && isParted(run, next) && isNear(run, next) ? runOf([...run.words, ...next.words]) : run
    const isOne = above !== undefined && isNear(above, run) && isOther(whole, cell, column, options)
    isDetail.push(isOne)
    if (!isOne) cell = run
  }
  addUnreadable(parts, isDetail)
  return isDetail
}

/** Whether most results stand in the first line of cells with details, as those that are aligned at the top do. */
function areAtTop(
  parts: readonly Part[],
  isDetail: readonly boolean[],
  partsOfTable: readonly Part[],
  { isResult }: DetailOptions,
): boolean {
  const results = partsOfTable.filter(({ column }) => isResult(column))
  const cells = parts.filter((_, index) => isDetail[index + 1] && !isDetail[index])
  return cells.filter((cell) => results.some((result) => areLevel(cell, result))).length * 2 > cells.length
}

const areLevel = ({ run: { box } }: Part, { run }: Part): boolean =>
  Math.abs(centerY(run.box) - centerY(box)) < heightOf(box) * tolerances.LEVEL

/** Whether most of what seems to be details stands next to names, as what is above it does: each is a result of its own, as `<0.10`. */
function areRows(
  parts: readonly Part[],
  isDetail: readonly boolean[],
  partsOfTable: readonly Part[],
  { isName }: DetailOptions,
): boolean {
  const names = partsOfTable.filter(({ column, run }) => isName(column) && /\p{L}{2}/u.test(textOf(run)))
  const hasName = (part: Part) => names.some((name) => areLevel(part, name))
  const details = parts.flatMap((part, index) => (isDetail[index] ? [{ part, above: parts[index - 1]! }] : []))
  return details.filter(({ part, above }) => hasName(part) && hasName(above)).length * 2 > details.length
}

/** Whether a range goes on in the next line. */
const isParted = (upper: Run, lower: Run): boolean => isUnfinished(textOf(upper)) || /^[-–—]\s?\d/u.test(textOf(lower))

const gapBetween = (upper: Part, lower: Part): number => lower.run.box.top - upper.run.box.bottom

const isNear = (upper: Run, lower: Run): boolean =>
  lower.box.top - upper.box.bottom < heightOf(lower.box) * tolerances.CELL_LINE_GAP

/** Whether a line of a cell holds nothing of what its column is for. @param cell the last line that does */
function isOther(run: Run, cell: Run | undefined, column: TableColumn, { isName, isRange, isNamed }: DetailOptions): boolean {
  const { words } = run
  const text = textOf(run)
  if (isRange(column)) return isUnit(text)
  if (isName(column) && isNamed(text)) return false
  if (isName(column) && cell && isNoteText(run)) return isSmaller(run, cell) || /^\p{L}[\p{L} ]*:/u.test(text)
  const rest = withoutLabel(words)
  if (!rest.length) return true
  const cells = splitCell(cellOf(rest))
  if (rest.length < words.length) return cells.every(({ kind }) => kind !== 'text')
  return cells.every(isKindOfDetail) && cells.some(({ kind }) => kind !== 'flag')
}

const isKindOfDetail = ({ kind, value, text }: TypedCell): boolean =>
  kind === 'unit' || kind === 'flag' || kind === 'range' || value === 'comparator' || (value === 'interval' && /\d/u.test(text))

/** Lines below a cell that are printed as the details of the others, and unlike cells: `Negative` below `Trace`, and the end of a range. */
function addUnreadable(parts: readonly Part[], isDetail: boolean[]): void {
  const details = new Set(parts.flatMap(({ run }, index) => (isDetail[index] ? [lettersOf(run)] : [])))
  const cells = new Set(parts.flatMap(({ run }, index) => (isDetail[index + 1] && !isDetail[index] ? [lettersOf(run)] : [])))
  for (const [index, { run }] of parts.entries()) {
    const above = parts[index - 1]
    if (!above || isDetail[index] || !isNear(above.run, run)) continue
    const isPrintedSo = details.has(lettersOf(run)) && !cells.has(lettersOf(run)) && cells.has(lettersOf(above.run))
    const isWord = splitCell(cellOf(run.words)).every(({ kind }) => kind !== 'text')
    const isRest = isDetail[index - 1] === true && isParted(above.run, run)
    if ((isPrintedSo && isWord) || isRest) isDetail[index] = true
  }
}

/** The words of a label in front of a range. */
const LABEL_WORDS_MAX = 4

/** What is neither a unit nor a range nor a label of one: a method, a specimen, a code. */
const isNoteText = ({ words }: Run): boolean => {
  const rest = withoutLabel(words)
  return rest.length > 0 && splitCell(cellOf(rest)).some(({ kind }) => kind === 'text')
}

/** `Reference range: 3.5 - 5.0` without what names it: nothing is left of a line that is a label alone. */
function withoutLabel(words: Word[]): Word[] {
  const isLabel = (count: number) => {
    const text = textOf({ words: words.slice(0, count) })
    const kind = columnKind(text)
    return (kind === 'range' || kind === 'unit') && (count < words.length || text.endsWith(':'))
  }
  for (let count = Math.min(LABEL_WORDS_MAX, words.length); count > 0; count--) if (isLabel(count)) return words.slice(count)
  return words
}
