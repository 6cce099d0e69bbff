// Regions of a page: lines under the same columns.
import { boxAround, heightOf, overlapX, type PageText } from '../pages/page.ts'
import { splitCell } from './cells.ts'
import { dateIn } from './dates.ts'
import { columnKind, columnsOf, isRowBelow, type Column } from './headers.ts'
import { lineOf, type Line } from './lines.ts'

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
    for (const region of splitRegions(ownLines, columnsBefore)) {
      yield { page, region }
      columnsBefore = region.columns ?? columnsBefore
    }
  }
}

/** Heads and feet of pages: the same text at the same height on most pages. */
function repeatedLines(pages: readonly ReadPage[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { lines } of pages)
    // The names of columns repeat as well, and are needed.
    for (const key of new Set(lines.filter((line) => !columnsOf(line)).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Set(
    [...counts].filter(([key, count]) => count > 1 && count >= pages.length * 0.6 && !/result/iu.test(key)).map(([key]) => key),
  )
}

const keyOf = (line: Line): string =>
  `${Math.round(line.box.top / 4)} ${line.cells.map((cell) => cell.text.replaceAll(/\d/gu, '0')).join('|')}`

/** Cuts lines at the lines that name columns. Tables side by side are read one after the other, each with headers of its own. */
function splitRegions(lines: readonly Line[], columnsBefore: Column[] | null): Region[] {
  const regions: Region[] = []
  let region: Region = { columns: columnsBefore, lines: [] }
  const end = () => {
    if (region.lines.length) regions.push(...(region.columns ? [region] : splitAtGutter(region)))
  }
  for (let index = 0; index < lines.length; index++) {
    // Above the names of the columns of the table that was read last: it begins the one beside it.
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
    const starts = groups.map((group) => Math.min(...group.map((column) => column.box.left)) - 6)
    const across = lines.findIndex((line, position) => position > index && isAcross(columnsOf(line), starts[1]!))
    const until = across < 0 ? lines.length : across
    for (const [position, group] of groups.entries())
      regions.push(
        ...splitRegions(
          linesBetween([...headings, ...lines.slice(index + 1, until)], position ? starts[position]! : -Infinity, starts[position + 1] ?? Infinity),
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
  if (!line || header.box.top - line.box.bottom > heightOf(line.box) * 2 || line.cells.length !== groups.length) return []
  const isAbove = line.cells.every(({ text, box }, index) => {
    const [left, right] = [groups[index]![0]!.box.left - 6, groups[index + 1]?.[0]!.box.left ?? Infinity]
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
function splitTables(columns: readonly Column[]): Column[][] {
  const groups: Column[][] = [[]]
  for (const column of columns) {
    const group = groups.at(-1)!
    const isNext =
      column.kind === 'name' && group.some((other) => other.kind === 'name') && group.some((other) => other.kind === 'value')
    if (isNext) groups.push([column])
    else group.push(column)
  }
  return groups
}

/** `Reference` above `Range`: the words of both lines by their places. */
function headerOfTwoLines(line: Line, lines: readonly Line[]): Column[] | undefined {
  const next = lines[lines.indexOf(line) + 1]
  if (!next || next.box.top - line.box.bottom > heightOf(line.box) || line.cells.length + next.cells.length < 3) return undefined
  if (line.cells.some((cell) => /\d/u.test(cell.text)) || next.cells.some((cell) => /\d/u.test(cell.text))) return undefined
  // A title above names no column.
  if (line.cells.length === 1 && columnsOf(next)) return undefined
  if (!line.cells.every((cell) => columnKind(cell.text))) return undefined
  const cells = next.cells.map((cell) => {
    const cellsAbove = line.cells.filter((other) => overlapX(other.box, cell.box) > 0)
    return cellsAbove.length
      ? {
          text: [...cellsAbove, cell].map((part) => part.text).join(' '),
          box: boxAround([...cellsAbove, cell].map((part) => part.box)),
          words: [...cellsAbove.flatMap((part) => part.words), ...cell.words],
        }
      : cell
  })
  const cellsAlone = line.cells.filter((cell) => next.cells.every((other) => overlapX(other.box, cell.box) <= 0))
  const columns = columnsOf(
    lineOf(
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
  line.box.top - header.box.bottom < heightOf(header.box) &&
  line.cells.every(
    ({ text, box }) =>
      REST_OF_NAME.test(text) &&
      header.cells.slice(1).some((cellAbove) => overlapX(cellAbove.box, box) > 0 && !REST_OF_NAME.test(cellAbove.words.at(-1)!.text)),
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
const linesBetween = (lines: readonly Line[], from: number, to: number): Line[] =>
  lines.flatMap((line) => {
    const cells = line.cells.filter((cell) => cell.box.left >= from && cell.box.left < to)
    return cells.length ? [lineOf(line.page, cells)] : []
  })

/** Two tables without column names: in several lines a second name begins at the same place behind a result. */
function splitAtGutter(region: Region): Region[] {
  const starts = new Map<number, number>()
  for (const line of region.lines) {
    const kinds = line.cells.flatMap((cell) => splitCell(cell))
    const value = kinds.findIndex(
      (cell, index) => cell.kind === 'value' && cell.value !== 'word' && kinds[index - 1]?.kind === 'text',
    )
    const second = kinds.findIndex((cell, index) => index > value && value > 0 && cell.kind === 'text')
    if (second > 0 && kinds.slice(second + 1).some((cell) => cell.kind === 'value')) {
      const left = Math.round(kinds[second]!.box.left / 6)
      starts.set(left, (starts.get(left) ?? 0) + 1)
    }
  }
  const [best] = [...starts].toSorted(([, one], [, other]) => other - one)
  if (!best || best[1] < 3) return [region]
  const edge = best[0] * 6 - 6
  return [
    { columns: null, lines: linesBetween(region.lines, -Infinity, edge) },
    { columns: null, lines: linesBetween(region.lines, edge, Infinity) },
  ]
}
