// Regions of a page, which are lines under the same columns, and the column of each cell.
import { isUnit } from '../../lab-values/units.ts'
import { flagOf, numberOf, partFlag } from '../../lab-values/values.ts'
import { type Box, boxAround, centerX, heightOf, overlapX, type PageText } from '../pages/page.ts'
import { dateIn } from '../texts/dates.ts'
import { type Cell, cellOf, type Line, toLine, splitCell, type TypedCell } from './table-cells.ts'
import { wordsOfLastNumber } from './digit-groups.ts'
import { type Column, columnKind, type ColumnKind, columnsOf, isRowBelow } from './headers.ts'
import * as tolerances from './tolerances.ts'

/** Without columns what the cells are decides. */
export interface Region {
  columns: Column[] | null
  lines: Line[]
}

export interface ReadPage {
  page: PageText
  lines: readonly Line[]
}

/** The regions of all pages, without what repeats on them; the columns of a page without names of columns are those of the page before. */
export function* regionsOfPages(pages: readonly ReadPage[]): Generator<{ page: PageText; region: Region }> {
  const repeatedKeys = pages.length > 1 ? repeatedLines(pages) : new Set<string>()
  let columnsBefore: Column[] | null = null
  for (const { page, lines } of pages) {
    // Between what does not repeat nothing is head or foot: `Bio. Ref. Interval :` may stand at one height on all pages.
    const isOwn = (line: Line) => !repeatedKeys.has(keyOf(line))
    const ownLines = lines.slice(Math.max(0, lines.findIndex(isOwn)), lines.findLastIndex(isOwn) + 1)
    const columnsAbove: Column[] | null =
      (page.source === 'ocr' && columnsBefore && sameColumns(ownLines, columnsBefore)) || columnsBefore
    for (const region of splitRegions(ownLines, columnsAbove).map(withNamesOfMeasures)) {
      yield { page, region }
      columnsBefore = region.columns ?? columnsBefore
    }
  }
}

/** Columns that a page names in the order of others: pictures of pages lie in different places, the tables of a page in the same. */
const sameColumns = (lines: readonly Line[], columns: readonly Column[]): Column[] | undefined => {
  const kindsOf = (items: readonly Column[]) => items.map(({ kind }) => kind).join(' ')
  return lines.map((line) => columnsOf(line) ?? []).find((items) => kindsOf(items) === kindsOf(columns))
}

/** `Measure  Your result  Last year`: a first column of units that holds hardly any is that of names, if no other is. */
function withNamesOfMeasures(region: Region): Region {
  const { columns, lines } = region
  const first = columns?.toSorted((a, b) => a.box.left - b.box.left)[0]
  if (!columns || first?.kind !== 'unit' || columns.some(({ kind }) => kind === 'name')) return region
  const cells = lines.flatMap((line) => line.cells.filter(({ box }) => nearestColumn(box, columns) === first))
  const units = cells.filter(({ text }) => isUnit(text)).length
  if (cells.length < 2 || units > cells.length * tolerances.UNITS_AMONG_NAMES) return region
  return { ...region, columns: columns.map((column) => (column === first ? { ...column, kind: 'name' } : column)) }
}

/** Heads and feet of pages: the same text at the same height on most pages. */
function repeatedLines(pages: readonly ReadPage[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { lines } of pages)
    // The names of columns repeat as well, and are needed.
    for (const key of new Set(lines.filter((line) => !columnsOf(line)).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Set(
    [...counts]
      .filter(([key, count]) => count > 1 && count >= pages.length * tolerances.REPEATED_SHARE && !/result/iu.test(key))
      .map(([key]) => key),
  )
}

const keyOf = (line: Line): string =>
  `${Math.round(line.box.top / tolerances.REPEATED_HEIGHT)} ${line.cells.map((cell) => cell.text.replaceAll(/\d/gu, '0')).join('|')}`

/** Cuts lines at the lines that name columns. Tables side by side are read one after the other, each with headers of its own. */
function splitRegions(lines: readonly Line[], columnsBefore: Column[] | null): Region[] {
  const regions: Region[] = []
  let region: Region = { columns: columnsBefore, lines: [] }
  const end = () => {
    if (region.lines.length) regions.push(...(region.columns ? [region] : splitAtGutter(region)))
  }
  let named = columnsBefore
  for (let index = 0; index < lines.length; index++) {
    if ((lines[index]!.isBare ?? false) !== (lines[index - 1]?.isBare ?? false)) {
      end()
      if (lines[index]!.isBare) named = region.columns
      region = { columns: lines[index]!.isBare ? null : named, lines: [] }
    }
    // Above the names of the columns of the table that was read last: it begins the one next to it.
    if (region.columns !== columnsBefore && region.columns?.every(({ box }) => lines[index]!.box.bottom <= box.top)) {
      end()
      region = { columns: null, lines: [] }
    }
    const columns = columnsOf(lines[index]!) ?? headerOfTwoLines(lines[index]!, lines) ?? headerOfDates(lines, index)
    if (!columns || isRowBelow(lines[index]!.cells, region.columns ?? [])) {
      region.lines.push(lines[index]!)
      continue
    }
    // `Reference` with `Range` in the line below.
    if (isRestOfHeader(lines[index + 1], lines[index]!)) index++
    const groups = splitTables(columns)
    const headings = groups.length > 1 ? takeHeadings(region.lines, lines[index]!, groups) : []
    end()
    region = { columns: withTimes(columns, lines.slice(index + 1, index + 1 + DATED_LINES)), lines: [] }
    if (groups.length === 1) continue
    const starts = groups.map((group) => Math.min(...group.map((column) => column.box.left)) - tolerances.TABLE_LEFT)
    const across = lines.findIndex((line, position) => position > index && isAcross(columnsOf(line), starts[1]!))
    const until = across < 0 ? lines.length : across
    for (const [position, group] of groups.entries())
      regions.push(
        ...splitRegions(
          linesBetween(
            [...headings, ...lines.slice(index + 1, until)],
            position ? starts[position]! : -Infinity,
            starts[position + 1] ?? Infinity,
          ),
          group,
        ),
      )
    index = until - 1
    region = { columns: null, lines: [] }
  }
  end()
  return regions
}

/** The line above tables side by side if it has a heading for each of them; it is taken out of the lines above. */
function takeHeadings(linesAbove: Line[], header: Line, groups: readonly Column[][]): Line[] {
  const line = linesAbove.at(-1)
  if (
    !line ||
    header.box.top - line.box.bottom > heightOf(line.box) * tolerances.TABLES_HEADING_GAP ||
    line.cells.length !== groups.length
  )
    return []
  const isAbove = line.cells.every(({ text, box }, index) => {
    const [left, right] = [groups[index]![0]!.box.left - tolerances.TABLE_LEFT, groups[index + 1]?.[0]!.box.left ?? Infinity]
    return box.left >= left && box.right < right && /^\p{L}/u.test(text) && !/:|\d{3}/u.test(text)
  })
  return isAbove ? linesAbove.splice(-1) : []
}

/** Whether columns are those of one table over the whole width. */
const isAcross = (columns: Column[] | undefined, middle: number): boolean =>
  columns !== undefined &&
  columns.filter((column) => column.kind === 'name').length === 1 &&
  columns.some((column) => column.kind === 'name' && column.box.left < middle) &&
  columns.some((column) => column.box.left >= middle)

/** Columns that repeat (`Test Result Unit Test Result Unit`) are two tables. */
export function splitTables(columns: readonly Column[]): Column[][] {
  const groups: Column[][] = [[]]
  for (const column of columns) {
    const group = groups.at(-1)!
    const isNext =
      column.kind === 'name' &&
      group.some((groupColumn) => groupColumn.kind === 'name') &&
      group.some((groupColumn) => groupColumn.kind === 'value')
    if (isNext) groups.push([column])
    else group.push(column)
  }
  return groups
}

/** `Reference` above `Range`: the words of both lines by their places. */
function headerOfTwoLines(line: Line, lines: readonly Line[]): Column[] | undefined {
  const next = lines[lines.indexOf(line) + 1]
  if (
    !next ||
    next.box.top - line.box.bottom > heightOf(line.box) * tolerances.HEADER_SECOND_LINE ||
    line.cells.length + next.cells.length < 3
  )
    return undefined
  if (line.cells.some((cell) => /\d/u.test(cell.text)) || next.cells.some((cell) => /\d/u.test(cell.text))) return undefined
  // A title above names no column.
  if (line.cells.length === 1 && columnsOf(next)) return undefined
  if (!line.cells.every((cell) => columnKind(cell.text))) return undefined
  const cells = next.cells.map((cell) => {
    const cellsAbove = line.cells.filter((cellAbove) => overlapX(cellAbove.box, cell.box) > 0)
    return cellsAbove.length
      ? {
          text: [...cellsAbove, cell].map((part) => part.text).join(' '),
          box: boxAround([...cellsAbove, cell].map((part) => part.box)),
          words: [...cellsAbove.flatMap((part) => part.words), ...cell.words],
        }
      : cell
  })
  const cellsAlone = line.cells.filter((cell) => next.cells.every((cellBelow) => overlapX(cellBelow.box, cell.box) <= 0))
  const columns = columnsOf(
    toLine(
      line.page,
      [...cells, ...cellsAlone].toSorted((a, b) => a.box.left - b.box.left),
    ),
  )
  // The second line is read as a row of nothing and dropped.
  return columns
}

const REST_OF_NAME = /^(?:ranges?|intervals?|values?|limits?|levels?|units?|name)$/iu

/** Whether a line is nothing but the rest of names of columns that stand above. */
const isRestOfHeader = (line: Line | undefined, header: Line): boolean =>
  line !== undefined &&
  line.box.top - header.box.bottom < heightOf(header.box) * tolerances.HEADER_SECOND_LINE &&
  line.cells.every(
    ({ text, box }) =>
      REST_OF_NAME.test(text) &&
      header.cells
        .slice(1)
        .some((cellAbove) => overlapX(cellAbove.box, box) > 0 && !REST_OF_NAME.test(cellAbove.words.at(-1)!.text)),
  )

const DATES =
  /^(?:(?:date|time|day)s?(?: (?:of )?(?:collected|collection|sampled|sample|drawn|test))?|(?:collected|collection|sample|sampling|test|request(?:ed)?|drawn)(?: date)?(?: ?\/ ?time)?)\s*:?$/iu
/** Lines below dates in which the other columns are named: hours, numbers of specimens. */
const DATED_LINES = 4

/** `Date 11/01/23 20/07/23` of a cumulative report; units and ranges may be named in the lines below. */
function headerOfDates(lines: readonly Line[], index: number): Column[] | undefined {
  const [first, ...rest] = lines[index]!.cells
  if (!first || !DATES.test(first.text)) return undefined
  const dates = rest.filter((cell) => dateIn(cell.text)?.index === 0)
  if (dates.length < 2 || dates.length + 2 < rest.length) return undefined
  const others = lines
    .slice(index, index + 1 + DATED_LINES)
    .flatMap((line) => line.cells)
    .flatMap(({ text, box }): Column[] => {
      const kind = columnKind(text)
      return kind === 'unit' || kind === 'range' || kind === 'flag' ? [{ kind, box }] : []
    })
  if (!others.length) return undefined
  return [
    { kind: 'name', box: first.box },
    ...dates.map(({ box, text }): Column => ({ kind: 'dated_value', box, date: text })),
    ...others,
  ]
}

const TIME = /^\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]m)?$/iu

/** Days with the times of the lines below them: two samples may be of one day. */
function withTimes(columns: Column[], linesBelow: readonly Line[]): Column[] {
  const times = linesBelow
    .filter(({ cells }) => cells.filter(({ text }) => !TIME.test(text)).length < 2)
    .flatMap(({ cells }) => cells.filter(({ text }) => TIME.test(text)))
  return columns.map((column) => {
    const time = column.date === undefined ? undefined : times.find(({ box }) => overlapX(box, column.box) > 0)
    return time ? { ...column, date: `${column.date} ${time.text}` } : column
  })
}

/** Lines cut to what begins between two places. */
const linesBetween = (lines: readonly Line[], left: number, right: number): Line[] =>
  lines.flatMap((line) => {
    const cells = line.cells.filter((cell) => cell.box.left >= left && cell.box.left < right)
    return cells.length ? [toLine(line.page, cells)] : []
  })

/** Two tables without column names: in several lines a second name begins at the same place behind a result. */
function splitAtGutter(region: Region): Region[] {
  return (
    splitBehind(region, (cell) => cell.value !== 'word', GUTTER_LINES_MIN) ??
    splitBehind(region, () => true, GUTTER_LINES_OF_WORDS_MIN) ?? [region]
  )
}

/** So many lines show two tables of results; words may be explained by what stands behind them. */
const [GUTTER_LINES_MIN, GUTTER_LINES_OF_WORDS_MIN] = [3, 4]

function splitBehind(region: Region, isResult: (cell: TypedCell) => boolean, least: number): Region[] | undefined {
  const starts = new Map<number, number>()
  for (const line of region.lines) {
    const kinds = line.cells.flatMap((cell) => splitCell(cell))
    const value = kinds.findIndex((cell, index) => cell.kind === 'value' && isResult(cell) && kinds[index - 1]?.kind === 'text')
    const second = kinds.findIndex((cell, index) => index > value && value > 0 && cell.kind === 'text')
    if (second > 0 && kinds.slice(second + 1).some((cell) => cell.kind === 'value')) {
      const left = Math.round(kinds[second]!.box.left / tolerances.TABLE_LEFT)
      starts.set(left, (starts.get(left) ?? 0) + 1)
    }
  }
  const [best] = [...starts].toSorted(([, one], [, other]) => other - one)
  if (!best || best[1] < least) return undefined
  const edge = (best[0] - 1) * tolerances.TABLE_LEFT
  return [
    { columns: null, lines: linesBetween(region.lines, -Infinity, edge) },
    { columns: null, lines: linesBetween(region.lines, edge, Infinity) },
  ]
}

/** What a cell of a column is that holds one thing alone. */
const HOLDS: Partial<Record<ColumnKind, (cell: TypedCell) => boolean>> = {
  name: ({ kind, text }) => kind === 'text' && /\p{L}/u.test(text),
  value: ({ kind, value }) => kind === 'value' && value === 'number',
  unit: ({ kind }) => kind === 'unit',
  range: ({ kind, value, text }) => kind === 'range' || value === 'comparator' || (value === 'interval' && /\d/u.test(text)),
  flag: ({ kind, text }) => kind === 'flag' || flagOf(text) !== undefined,
}
/** A name, its result and one thing more. */
const IN_ORDER_MIN = 3

/**
 * Where cells are next to their columns, as in lines that are written with spaces, what they are tells: each of another column, from left to
 * right. Undefined if columns hold anything else, as former results, and for texts that go on without gaps.
 */
function assignInOrder(cells: readonly TypedCell[], columns: readonly Column[]): Map<Column, TypedCell[]> | undefined {
  const kinds = new Set(columns.map(({ kind }) => kind))
  if (cells.length < IN_ORDER_MIN || kinds.size < columns.length || columns.some(({ kind }) => !HOLDS[kind])) return undefined
  const isApart = ({ box }: TypedCell, index: number) =>
    index === 0 || box.left - cells[index - 1]!.box.right >= heightOf(box) * tolerances.CELL_GAP
  // A number that stands where the ranges begin is a bound of one.
  const isBound = ({ value, box }: TypedCell) =>
    value === 'number' &&
    columns.some((item) => item.kind === 'range' && Math.abs(item.box.left - box.left) < tolerances.COLUMN_EDGE)
  if (!cells.every(isApart) || cells.some(isBound)) return undefined
  const assigned = new Map<Column, TypedCell[]>()
  let from = 0
  for (const cell of cells) {
    const position = columns.findIndex(({ kind }, index) => index >= from && HOLDS[kind]!(cell))
    if (position < 0) return undefined
    assigned.set(columns[position]!, [cell])
    from = position + 1
  }
  const kindsWithCell = [...assigned.keys()].map(({ kind }) => kind)
  return kindsWithCell.includes('name') && kindsWithCell.includes('value') ? assigned : undefined
}

/** Each cell to the column above it. */
export function assign(cells: readonly TypedCell[], columns: readonly Column[]): Map<Column, TypedCell[]> {
  const ordered = columns.some(({ band }) => band) ? undefined : assignInOrder(cells, columns)
  if (ordered) return ordered
  const assigned = new Map<Column, TypedCell[]>()
  for (const cell of cells) {
    const column = columnFor(cell, columns)
    if (!column) continue
    const others = assigned.get(column)
    if (others) others.push(cell)
    else assigned.set(column, [cell])
  }
  moveRestOfName(assigned)
  return assigned
}

/** Moves the end of a name that reaches below the column of results, close behind its begin and in front of the result: `Bilirubin  Total  11`. */
function moveRestOfName(cellsOfColumns: Map<Column, TypedCell[]>): void {
  const name = [...cellsOfColumns].find(([{ kind }]) => kind === 'name')?.[1]
  const end = name?.at(-1)
  for (const [{ kind }, cells] of cellsOfColumns) {
    const [first, next] = cells
    if (!end || !RESULTS.has(kind) || first!.kind !== 'text' || next?.kind !== 'value') continue
    const gap = first!.box.left - end.box.right
    if (gap >= 0 && gap < heightOf(first!.box) * tolerances.NAME_GAP_MAX) name!.push(cells.shift()!)
  }
}

/** What is in them is neither a unit nor a flag of the result: `U` is a specimen there, and `NG` a laboratory. */
const KEEPS_CELLS = new Set<ColumnKind>(['previous', 'specimen', 'method', 'laboratory'])

/** Where a name and its result stand without a gap, each under its own column: `C-Reactive Protein 94.5` in text of equal widths. */
export function splitAtColumns(
  cells: readonly Cell[],
  columns: readonly Column[] | null,
  isNamed: (name: string) => boolean,
): readonly Cell[] {
  const [first, ...others] = cells
  const last = first?.words.at(-1)
  if (!columns || !first || !last || first.words.length < 2 || numberOf(partFlag(last.text).value) === undefined) return cells
  const kindOf = ({ box }: { box: Box }) => nearestColumn(box, columns)?.kind
  const count = Math.max(1, wordsOfLastNumber(first.words))
  const name = cellOf(first.words.slice(0, -count))
  // `Vitamin B 12` without a result.
  if (isNamed(first.text) && !isNamed(name.text)) return cells
  if (kindOf(last) !== 'value' || kindOf(first.words[0]!) !== 'name' || others.some((cell) => kindOf(cell) === 'value'))
    return cells
  return [name, cellOf(first.words.slice(-count)), ...others]
}

/** Units and flags go to their own column where there is one near; all else to the nearest. */
function columnFor(cell: TypedCell, columns: readonly Column[]): Column | undefined {
  const nearest = nearestColumn(cell.box, columns)
  if (!nearest) return undefined
  const kindOfColumn: Partial<Record<TypedCell['kind'], ColumnKind>> = {
    unit: 'unit',
    // Flags may be in a column of remarks.
    flag: columns.some((column) => column.kind === 'flag') ? 'flag' : 'comment',
  }
  const kind = kindOfColumn[cell.kind]
  if (kind && nearest.kind !== kind && !KEEPS_CELLS.has(nearest.kind)) {
    const own = columns.find((column) => column.kind === kind)
    if (own && Math.abs(centerX(own.box) - centerX(cell.box)) < tolerances.OWN_COLUMN) return own
  }
  return nearest
}

/** The column above a box: the one that overlaps most, else the nearest by an edge or the middle. */
export function nearestColumn(box: Box, columns: readonly Column[]): Column | undefined {
  const x = centerX(box)
  const containing = columns.filter(({ band }) => band && band.left <= x && x < band.right)
  const ranked = (containing.length ? containing : columns).map((column) => {
    const overlap = overlapX(column.box, box)
    const distance = Math.min(
      Math.abs(column.box.left - box.left),
      Math.abs(centerX(column.box) - centerX(box)),
      Math.abs(column.box.right - box.right),
    )
    return {
      column,
      score:
        (overlap > 0 ? overlap / Math.min(column.box.right - column.box.left, box.right - box.left) : 0) *
          tolerances.OVERLAP_BONUS -
        distance,
    }
  })
  return ranked.toSorted((a, b) => b.score - a.score)[0]?.column
}

/** Whether a box is in a column of former results, or of the results of one of several days. */
export function isInColumnOfOtherDay(box: Box, columns: readonly Column[] | null): boolean {
  const kind = columns && nearestColumn(box, columns)?.kind
  return kind === 'previous' || kind === 'dated_value'
}

const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value', 'dated_value'])

/** Whether a box stands as the results of a table do. */
export const isUnderResults = (box: Box, columns: readonly Column[]): boolean =>
  columns.some(
    (column) =>
      RESULTS.has(column.kind) &&
      (Math.abs(column.box.left - box.left) < tolerances.ALIGNED ||
        Math.abs(centerX(column.box) - centerX(box)) < tolerances.ALIGNED),
  )
