// Further lines of the cells of a table that hold what other tables have columns for: the unit below each name, the range below each result.
import { isUnit } from '../../lab-values/units.ts'
import { centerY, heightOf, type Word } from '../pages/page.ts'
import { columnKind } from './headers.ts'
import { type Run, runOf, textOf } from './runs.ts'
import { cellOf, splitCell, type TypedCell } from './table-cells.ts'
import { lettersOf, type TableColumn, type TableOfRuns } from './table-columns.ts'
import { isBroken, isUnfinished, type Part } from './table-rows.ts'
import * as tolerances from './tolerances.ts'

/** The column of all details: they are beside the columns of the table. */
const detailsColumn = (): TableColumn => ({
  left: 0,
  right: 0,
  band: { left: 0, right: 0 },
  names: [],
  width: Infinity,
  isOfDetails: true,
})

export interface DetailOptions {
  isName: (column: TableColumn) => boolean
  isResult: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  isNamed: (name: string) => boolean
}

/** A cell without its details, which are one run that reaches from its top to its bottom: so it stands in the row of the cell. */
interface DetailedCell {
  details: Part[]
  run: Run
}

/** The lines of a table with the details of its cells in a column of their own, where most cells of a column have some. */
export function withDetails(lines: TableOfRuns['lines'], options: DetailOptions): TableOfRuns['lines'] {
  const parts = lines.flatMap((line) => line.parts ?? [])
  const column = detailsColumn()
  const runsByPart = new Map<Part, Run | undefined>()
  for (const [owner, ownParts] of Map.groupBy(parts, (part) => part.column))
    for (const { details, run } of detailedCells(ownParts, owner, parts, options))
      for (const [index, part] of details.entries()) runsByPart.set(part, index ? undefined : run)
  if (!runsByPart.size) return lines
  return lines.map((line) => {
    if (!line.parts) return line
    const ownParts = line.parts.flatMap((part) => {
      if (!runsByPart.has(part)) return [part]
      const run = runsByPart.get(part)
      return run ? [{ run, column }] : []
    })
    return { ...line, parts: ownParts }
  })
}

function detailedCells(
  parts: readonly Part[],
  column: TableColumn,
  partsOfTable: readonly Part[],
  options: DetailOptions,
): DetailedCell[] {
  if (!options.isName(column) && !options.isResult(column) && !options.isRange(column)) return []
  const sorted = parts.toSorted((a, b) => a.run.box.top - b.run.box.top)
  const isDetail = sorted.map(({ run }, index) => {
    const next = sorted[index + 1]?.run
    const whole = next && isUnfinished(textOf(run)) && isNear(run, next) ? runOf([...run.words, ...next.words]) : run
    return index > 0 && isNear(sorted[index - 1]!.run, run) && isOther(whole, column, options)
  })
  addUnreadable(sorted, isDetail)
  if (!options.isName(column) && areRows(sorted, isDetail, partsOfTable, options)) return []
  const cells: DetailedCell[] = []
  let cellCount = 0
  for (const [index, part] of sorted.entries()) {
    const isContinued = index > 0 && !isDetail[index - 1] && isBroken(sorted[index - 1]!.run, part.run, column)
    if (!isDetail[index] && !isContinued) cellCount++
    if (!isDetail[index] || isDetail[index - 1]) continue
    const end = isDetail.findIndex((isOne, other) => other > index && !isOne)
    const details = sorted.slice(index, end < 0 ? undefined : end)
    let start = index - 1
    const gap = gapBetween(sorted[start]!, part)
    const isFirstLine = (above: Part, below: Part) =>
      gapBetween(above, below) < gap + tolerances.LINES_CLOSER && isBroken(above.run, below.run, column)
    while (start > 0 && !isDetail[start - 1] && isFirstLine(sorted[start - 1]!, sorted[start]!)) start--
    const words = details.flatMap(({ run }) => withoutLabel(run.words))
    if (!words.length) continue
    const run = runOf(words)
    // Lines of cells above each other may overlap, their middles do not.
    const [top, bottom] = [sorted[start]!, details.at(-1)!].map((part) => centerY(part.run.box)) as [number, number]
    cells.push({ details, run: { ...run, box: { ...run.box, top, bottom } } })
  }
  return cells.length >= tolerances.DETAILS_MIN && cells.length >= cellCount * tolerances.DETAILS_SHARE ? cells : []
}

/** Whether most of what seems to be details stands next to names, as what is above it does: each is a result of its own, as `<0.10`. */
function areRows(
  parts: readonly Part[],
  isDetail: readonly boolean[],
  partsOfTable: readonly Part[],
  { isName }: DetailOptions,
): boolean {
  const names = partsOfTable.filter(({ column, run }) => isName(column) && /\p{L}{2}/u.test(textOf(run)))
  const hasName = ({ run: { box } }: Part) =>
    names.some(({ run }) => Math.abs(centerY(run.box) - centerY(box)) < heightOf(box) * tolerances.LEVEL)
  const details = parts.flatMap((part, index) => (isDetail[index] ? [{ part, above: parts[index - 1]! }] : []))
  return details.filter(({ part, above }) => hasName(part) && hasName(above)).length * 2 > details.length
}

const gapBetween = (upper: Part, lower: Part): number => lower.run.box.top - upper.run.box.bottom

const isNear = (upper: Run, lower: Run): boolean =>
  lower.box.top - upper.box.bottom < heightOf(lower.box) * tolerances.CELL_LINE_GAP

/** Whether a line of a cell holds nothing of what its column is for. */
function isOther({ words }: Run, column: TableColumn, { isName, isRange, isNamed }: DetailOptions): boolean {
  const text = textOf({ words })
  if (isRange(column)) return isUnit(text)
  if (isName(column) && isNamed(text)) return false
  const rest = withoutLabel(words)
  if (!rest.length) return true
  const cells = splitCell(cellOf(rest))
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
    const isRest = isDetail[index - 1] === true && isUnfinished(textOf(above.run))
    if ((isPrintedSo && isWord) || isRest) isDetail[index] = true
  }
}

/** The words of a label in front of a range. */
const LABEL_WORDS_MAX = 4

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
