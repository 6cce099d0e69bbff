// The columns of a table: what its header names, as wide as the cells below reach, parted by rivers of whitespace over all lines.
import { isUnit } from '../../lab-values/units.ts'
import { boundOf, flagOf, intervalOf, valueKind } from '../../lab-values/values.ts'
import { type Box, heightOf, overlapX, widthOf } from '../pages/page.ts'
import type { Band, CellKind, Line } from './table-cells.ts'
import { columnKind, type ColumnKind, spanningRuns } from './headers.ts'
import { type Run, runOf, type Spaces, splitAtGaps, textOf } from './runs.ts'
import { isDay } from '../texts/dates.ts'
import { looksLikeSentence } from '../texts/names.ts'
import * as tolerances from './tolerances.ts'

export interface TableColumn {
  /** How far its texts reach. */
  left: number
  right: number
  band: Band
  /** What names it, line by line. */
  names: Run[]
  /** The widest text, in points. */
  width: number
  /** It holds what is printed below the texts of other columns: units, ranges and flags of results, or notes on names. */
  detailsOf?: 'result' | 'note'
}

/** A line whose runs are each in one column. */
interface LineOfTable {
  line: Line
  parts: { run: Run; column: TableColumn }[]
}

export interface TableOfRuns {
  columns: TableColumn[]
  /** Lines of the page in their order; those without parts cross columns. */
  lines: (LineOfTable | { line: Line; parts: null })[]
}

/** What stands below a name, or will. */
interface Group {
  left: number
  right: number
  names: Run[]
  runs: Run[]
}

/** Lines in sequence that cross columns end a table. */
const CROSSING_MAX = 2

/**
 * The columns under a header and the lines that keep to them; undefined if its first lines do not.
 * @param header the runs of each line that names columns
 * @param body the runs of each line below
 * @param separators places at which columns are parted by what is drawn
 */
export function readTable(
  header: readonly (readonly Run[])[],
  body: { line: Line; runs: Run[] }[],
  separators: readonly number[],
  spaces: Spaces,
): TableOfRuns | undefined {
  const names = header.map((line) => line.flatMap((run) => splitName(run, body, spaces)))
  const spanningNames = spanningRuns(names)
  let groups: Group[] = []
  for (const run of names.flat()) if (!spanningNames.some((item) => item.run === run)) groups = withName(groups, run)
  splitNumbersOff(groups, body)
  const linesOfTable = new Set<Line>()
  let [crossingCount, sequence] = [0, 0]
  let last = -1
  for (const [index, one] of body.entries()) {
    const { line } = one
    const lineAbove = body[index - 1]?.line
    // The foot of a page.
    if (linesOfTable.size && lineAbove && line.box.top - lineAbove.box.bottom > heightOf(one.runs[0]!.box) * tolerances.FOOT_GAP)
      break
    const parts = withFlagsJoined(one.runs, groups).flatMap((run) => splitText(run, groups, spaces))
    // A heading reaches over columns without a gap.
    const runs = one.runs.length === 1 && parts.every(isText) ? one.runs : parts
    if (runs.length === 1) continue
    const next = withRuns(groups, runs, separators)
    if (next) {
      groups = next
      one.runs = runs
      linesOfTable.add(line)
      sequence = 0
      last = index
    } else {
      crossingCount++
      if (++sequence >= CROSSING_MAX) break
    }
  }
  if (linesOfTable.size < crossingCount * tolerances.CROSSING_SHARE) return undefined
  const columns = columnsOfGroups(withNames(groups, separators), separators)
  for (const { run, isOfBounds } of spanningNames)
    for (const column of columns) if (!isOfBounds && column.names.length && isIn(run.box, column)) column.names.unshift(run)
  const lines = linesOfColumns(body, columns, linesOfTable, last)
  measureWidths(columns, lines)
  nameByTexts(columns, lines)
  return { columns, lines }
}

/** What names columns that the page does not name, by the kinds of their cells. */
export const NAMES_OF_KINDS = { text: 'Test', value: 'Result', unit: 'Units', range: 'Range', flag: 'Flag' } satisfies Partial<
  Record<CellKind, string>
>

/** What names a column of which nothing is in the results. */
const NAME_OF_OTHERS = 'Code'

/** What names the days of former results. */
const NAME_OF_FORMER_DAYS = 'Previous date'

/** Names the columns of units and ranges that have no name, or whose name was not read. Without one their texts would go to other columns. */
function nameByTexts(columns: readonly TableColumn[], lines: TableOfRuns['lines']): void {
  const named = columns.find(({ names }) => names.length)
  if (!named) return
  const runsIn = (column: TableColumn) =>
    lines.flatMap(({ parts }) => parts ?? []).flatMap((part) => (part.column === column ? [part.run] : []))
  const name = (column: TableColumn, text: string) => {
    const box = { ...named.names[0]!.box, left: column.left, right: column.right }
    column.names.push(runOf([{ text, box, confidence: 1 }]))
  }
  for (const [index, column] of columns.entries()) {
    const isBehindFormer = index > 0 && kindOfColumn(columns[index - 1]!) === 'previous'
    if (isBehindFormer && !column.names.length && runsIn(column).some((run) => isDay(textOf(run))))
      name(column, NAME_OF_FORMER_DAYS)
  }
  for (const kind of ['unit', 'range'] as const) {
    if (columns.some((column) => kindOfColumn(column) === kind)) continue
    const column = columns.find((item) => !item.names.length && isMostly(kind, runsIn(item)))
    if (column) name(column, NAMES_OF_KINDS[kind])
  }
  nameColumnBeforeNames(columns, lines)
}

/** Names the first column if it has no name and its texts stand in the rows of names: a status, or a number. They are not parts of names. */
function nameColumnBeforeNames([first, second]: readonly TableColumn[], lines: TableOfRuns['lines']): void {
  if (!first || first.names.length || !second || kindOfColumn(second) !== 'name') return
  const own = lines.filter(({ parts }) => parts?.some(({ column }) => column === first))
  const besideNames = own.filter(({ parts }) => parts!.some(({ column }) => column === second))
  if (besideNames.length < TEXTS_MIN || besideNames.length < own.length * tolerances.KIND_SHARE) return
  const box = { ...second.names[0]!.box, left: first.left, right: first.right }
  first.names.push(runOf([{ text: NAME_OF_OTHERS, box, confidence: 1 }]))
}

/** The widest text of each column. Headings and notes between rows, which have other letters, may be wider than its cells. */
function measureWidths(columns: readonly TableColumn[], lines: TableOfRuns['lines']): void {
  const parts = lines.flatMap((line) => line.parts ?? [])
  const ofRows = lines.flatMap((line) => (line.parts && line.parts.length >= ROW_TEXTS_MIN ? line.parts : []))
  for (const column of columns) {
    const lettersInRows = new Set(ofRows.flatMap((part) => (part.column === column ? lettersOf(part.run) : [])))
    const isCell = ({ run }: { run: Run }) => !lettersInRows.size || lettersInRows.has(lettersOf(run))
    const widths = parts.filter((part) => part.column === column && isCell(part)).map(({ run }) => widthOf(run.box))
    column.width = Math.max(0, ...column.names.map(({ box }) => widthOf(box)), ...widths)
  }
}

/** A name, its result and one thing more. */
const ROW_TEXTS_MIN = 3

/** The font of a text, and how high its letters are, which in a picture says nothing. */
export function lettersOf({ words: [word] }: Run): string {
  const { font, box } = word!
  return font === undefined ? '' : `${font} ${Math.round(heightOf(box))}`
}

const isIn = (box: Box, { left, right }: Band): boolean =>
  Math.min(box.right, right) - Math.max(box.left, left) > tolerances.COLUMN_OVERLAP

/** What a text is in. A name may reach a little over the next column, if it is wider than its own. */
function findOwners<Item extends Band>(box: Box, items: readonly Item[]): Item[] {
  const own = items.filter((item) => isIn(box, item))
  const overlapOf = ({ left, right }: Band) => Math.min(box.right, right) - Math.max(box.left, left)
  const most = Math.max(0, ...own.map(overlapOf))
  return own.filter((item) => overlapOf(item) > Math.min(tolerances.OVERHANG, most * tolerances.OVERHANG_SHARE))
}

/** The names of columns that stand close, parted where most lines below have a gap between two of their texts. */
function splitName(run: Run, body: readonly { runs: readonly Run[] }[], { usual }: Spaces): Run[] {
  const runsBelow = body.map(({ runs }) => runs.filter(({ box }) => isIn(run.box, box))).filter((runs) => runs.length > 1)
  if (runsBelow.length < 2) return [run]
  const least = usual * tolerances.COLUMN_GAP * heightOf(run.box)
  return splitAtGaps(run, (left, right) => {
    if (right - left < least && !isBetweenNames(run, right)) return false
    const gaps = runsBelow.filter((runs) =>
      runs.some(({ box }, index) => runs[index + 1] && box.right < right && runs[index + 1]!.box.left > left),
    )
    return gaps.length >= runsBelow.length * tolerances.GAPS_SHARE
  })
}

/** Whether the name of tests ends and that of another column begins at a place: `Investigation Unit of`. */
function isBetweenNames({ words }: Run, place: number): boolean {
  const [name, other] = [words.filter(({ box }) => box.left < place), words.filter(({ box }) => box.left >= place)].map((part) =>
    part.length ? columnKind(textOf({ words: part })) : undefined,
  )
  return name === 'name' && other !== undefined && other !== 'name'
}

const RESULT_KINDS: ReadonlySet<ColumnKind | undefined> = new Set(['value', 'normal_value', 'abnormal_value', 'dated_value'])

/**
 * The runs of a line, in which a flag is one with the result in front of it if both are below the name of results: `1.41   H`, and the day of an
 * earlier result with it: `7.1  04/16/2026`.
 */
function withFlagsJoined(runs: readonly Run[], groups: readonly Group[]): readonly Run[] {
  const areOne = (last: Run, run: Run) => {
    const isFlag = flagOf(textOf(run)) !== undefined && isNumber(textOf(last))
    return groups.some((group) => {
      const kind = group.names.length ? kindOfColumn(group) : undefined
      const isPart = (isFlag && RESULT_KINDS.has(kind)) || (kind === 'previous' && isDay(textOf(run)))
      return isPart && isIn(run.box, group) && isIn(last.box, group)
    })
  }
  const joined: Run[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (last && areOne(last, run)) joined[joined.length - 1] = runOf([...last.words, ...run.words])
    else joined.push(run)
  }
  return joined
}

/** Texts of two columns that stand so close that they seem one. */
function splitText(run: Run, groups: readonly Group[], { usual }: Spaces): Run[] {
  const own = groups.filter((group) => group.names.length && isIn(run.box, group)).toSorted((a, b) => a.left - b.left)
  if (own.length < 2 || looksLikeSentence(textOf(run))) return [run]
  const least = usual * tolerances.COLUMN_GAP * heightOf(run.box)
  const parts = splitAtGaps(
    run,
    (left, right) =>
      beginsColumn(right, own.slice(1)) ||
      (right - left > least &&
        own.some(
          (group, index) => own[index + 1] && left < own[index + 1]!.left && right > group.right - tolerances.COLUMN_OVERLAP * 4,
        )),
  ).map((part, index, runs) => clippedAt(part, runs[index + 1]))
  return parts.every((part) => own.filter((group) => isIn(part.box, group)).length < 2) ? parts : [run]
}

/** Whether a word begins where all texts of a column do: one of the column before may reach up to it, or over it. */
const beginsColumn = (left: number, columns: readonly Group[]): boolean =>
  columns.some(({ names, runs }) => {
    const lefts = [...names, ...runs].map(({ box }) => box.left)
    return lefts.length >= TEXTS_MIN && lefts.every((edge) => Math.abs(edge - left) < tolerances.COLUMN_OVERLAP)
  })

/** A text that ends where the next one begins. */
const clippedAt = (run: Run, next: Run | undefined): Run =>
  next && run.box.right > next.box.left ? { ...run, box: { ...run.box, right: next.box.left } } : run

function withName(groups: readonly Group[], run: Run): Group[] {
  const own = groups.filter((group) => isIn(run.box, group))
  const rest = groups.filter((group) => !own.includes(group))
  return [...rest, joinGroups([...own, { left: run.box.left, right: run.box.right, names: [run], runs: [] }])]
}

const joinGroups = (groups: readonly Group[]): Group => ({
  left: Math.min(...groups.map(({ left }) => left)),
  right: Math.max(...groups.map(({ right }) => right)),
  names: groups.flatMap(({ names }) => names),
  runs: groups.flatMap(({ runs }) => runs),
})

/** The groups with the runs of a line; undefined if one of them reaches over two columns. */
function withRuns(groups: readonly Group[], runs: readonly Run[], separators: readonly number[]): Group[] | undefined {
  let next = [...groups]
  for (const run of runs) {
    const own = findOwners(run.box, next)
    if (own.filter(({ names }) => names.length).length > 1) return undefined
    const joinedGroup = joinGroups([...own, { left: run.box.left, right: run.box.right, names: [], runs: [run] }])
    if (
      own.length > 1 &&
      separators.some(
        (x) => x > joinedGroup.left + tolerances.COLUMN_OVERLAP && x < joinedGroup.right - tolerances.COLUMN_OVERLAP,
      )
    )
      return undefined
    next = [...next.filter((group) => !own.includes(group)), joinedGroup]
  }
  // Two runs of a line are two cells.
  const isShared = next.some(({ runs: all }) => runs.filter((run) => all.includes(run)).length > 1)
  return isShared ? undefined : next
}

/**
 * Texts that stand aside of the name above them, as numbers on the right, belong to it if it has none and nothing is drawn between; numbers
 * never to that of units, and ranges never to that of comments, methods, or the like.
 */
function withNames(groups: readonly Group[], separators: readonly number[]): Group[] {
  const sorted = groups.toSorted((a, b) => a.left - b.left)
  // A note between rows is a text alone; the results of a column are many.
  const unnamed = sorted.filter(({ names }) => !names.length).toSorted((a, b) => b.runs.length - a.runs.length)
  for (const group of unnamed) {
    const index = sorted.indexOf(group)
    const neighbors = [sorted[index - 1], sorted[index + 1]].filter(
      (neighbor): neighbor is Group => neighbor !== undefined && neighbor.names.length > 0,
    )
    const isApart = (neighbor: Group) => {
      const [from, to] = neighbor.left < group.left ? [neighbor.right, group.left] : [group.right, neighbor.left]
      return separators.some((item) => item > from - tolerances.COLUMN_OVERLAP && item < to + tolerances.COLUMN_OVERLAP)
    }
    const distance = (neighbor: Group) => Math.max(neighbor.left - group.right, group.left - neighbor.right)
    const isNone = (neighbor: Group) =>
      (isUnits(neighbor) && group.runs.some((run) => isNumber(textOf(run)))) ||
      (KINDS_WITHOUT_RANGES.has(kindOfColumn(neighbor)) && isMostly('range', group.runs))
    const free = neighbors.filter(
      (neighbor) => !isApart(neighbor) && !isNone(neighbor) && (!neighbor.runs.length || separators.length > 0),
    )
    const owner = free.toSorted((a, b) => Number(a.runs.length > 0) - Number(b.runs.length > 0) || distance(a) - distance(b))[0]
    if (!owner) continue
    sorted.splice(Math.min(index, sorted.indexOf(owner)), 2, joinGroups([owner, group]))
  }
  return sorted
}

function columnsOfGroups(groups: readonly Group[], separators: readonly number[]): TableColumn[] {
  const edges = groups.slice(1).map((group, index) => {
    const [from, to] = [groups[index]!.right, group.left]
    return separators.find((x) => x > from - 1 && x < to + 1) ?? (from + to) / 2
  })
  return groups.map(({ left, right, names, runs }, index) => ({
    left,
    right,
    band: { left: edges[index - 1] ?? left - 1_000, right: edges[index] ?? right + 1_000 },
    names,
    width: Math.max(...[...names, ...runs].map(({ box }) => widthOf(box))),
  }))
}

/** Lines up to the last one that keeps to the columns, and those below that have a text in one column alone. */
function linesOfColumns(
  body: readonly { line: Line; runs: Run[] }[],
  columns: readonly TableColumn[],
  fittingLines: ReadonlySet<Line>,
  last: number,
): TableOfRuns['lines'] {
  const lines: TableOfRuns['lines'] = []
  for (const [index, { line, runs }] of body.entries()) {
    if (index > last && runs.length > 1) break
    const parts = runs.map((run) => ({ run, own: findOwners(run.box, columns) }))
    const isFit =
      (runs.length === 1 || fittingLines.has(line)) &&
      parts.every(
        ({ run, own }) =>
          own.length === 1 ||
          (!own.length &&
            columns.some(
              ({ band }) => overlapX(run.box, { ...run.box, ...band }) >= widthOf(run.box) - tolerances.COLUMN_OVERLAP,
            )),
      )
    lines.push(
      isFit
        ? {
            line,
            parts: parts.map(({ run, own }) => ({
              run,
              column:
                own[0] ??
                columns.find(
                  ({ band }) =>
                    run.box.left >= band.left - tolerances.COLUMN_OVERLAP &&
                    run.box.right <= band.right + tolerances.COLUMN_OVERLAP,
                )!,
            })),
          }
        : { line, parts: null },
    )
  }
  return lines
}

/** The name of a column, and how far it reaches. */
interface NamedColumn extends Band {
  names: readonly Run[]
}

/** Fewer texts do not show where a column begins. */
const TEXTS_MIN = 2

const isNumber = (text: string): boolean => {
  const kind = valueKind(text)
  return kind !== undefined && kind !== 'word' && !isUnit(text)
}

const isText = (run: Run): boolean => valueKind(textOf(run)) === undefined && !isUnit(textOf(run))

const kindOfColumn = ({ names }: Pick<NamedColumn, 'names'>): ColumnKind | undefined =>
  columnKind(
    names
      .toSorted((a, b) => a.box.top - b.box.top)
      .map(textOf)
      .join(' '),
  )

const isUnits = (column: Pick<NamedColumn, 'names'>): boolean => kindOfColumn(column) === 'unit'

/** `6.0 to 8.5`, `<5.7` */
export const isRange = (text: string): boolean =>
  /\d/u.test(text) && (intervalOf(text) !== undefined || boundOf(text) !== undefined)

/** What a text is that stands behind the numbers of the column before it. */
const BEHIND_NUMBERS: Partial<Record<ColumnKind, (text: string) => boolean>> = {
  unit: isUnit,
  flag: (text) => flagOf(text) !== undefined,
  range: isRange,
}

/** Columns that a range is in only if the name of its own column was not read. */
export const KINDS_WITHOUT_RANGES: ReadonlySet<ColumnKind | undefined> = new Set([
  'unit',
  'flag',
  'comment',
  'previous',
  'specimen',
  'method',
  'date',
  'laboratory',
])

/** Whether most texts of a column without a name are units, or ranges. */
function isMostly(kind: 'unit' | 'range', runs: readonly Run[]): boolean {
  const count = runs.filter((run) => BEHIND_NUMBERS[kind]!(textOf(run))).length
  return count >= TEXTS_MIN && count > runs.length * tolerances.KIND_SHARE
}

/**
 * Parts texts of a number and its unit, range or flag, below the name of these and that of the column before it, where all these numbers end
 * before all units, ranges or flags begin and nothing else is in the column of the numbers.
 * @param columns the columns by their names alone
 */
function splitNumbersOff(columns: readonly NamedColumn[], body: readonly { line: Line; runs: Run[] }[]): void {
  const sorted = columns.toSorted((a, b) => a.left - b.left)
  for (const [index, column] of sorted.entries()) {
    const numbers = sorted[index - 1]
    const isBehind = BEHIND_NUMBERS[kindOfColumn(column) ?? 'other']
    if (numbers && isBehind) splitBetween(numbers, { ...column, isBehind }, sorted[index + 1], body)
  }
}

function splitBetween(
  numbers: NamedColumn,
  { isBehind }: NamedColumn & { isBehind: (text: string) => boolean },
  nextColumn: NamedColumn | undefined,
  body: readonly { line: Line; runs: Run[] }[],
): void {
  const splitRuns = new Map<Run, [Run, Run]>()
  for (const { runs } of body)
    for (const [position, run] of runs.entries()) {
      const { left, right } = run.box
      const isBetween = left > numbers.left && right > numbers.right && (!nextColumn || right < nextColumn.left)
      const isAlone = runs.every(
        (neighbor, index) => index === position || neighbor.box.right < numbers.left || neighbor.box.left > right,
      )
      const parts = runs.length > 1 && isBetween && isAlone ? splitNumber(run, isBehind) : undefined
      if (parts) splitRuns.set(run, parts)
    }
  const pairs = [...splitRuns.values(), ...body.flatMap(({ runs }) => apartAlready(runs, numbers, isBehind))]
  const [ends, begins] = [0, 1].map((side) => pairs.map((parts) => (side ? parts[1]!.box.left : parts[0]!.box.right)))
  if (!splitRuns.size || pairs.length < TEXTS_MIN || Math.max(...ends!) > Math.min(...begins!) + tolerances.NUMBER_OVER_UNIT)
    return
  for (const one of body) one.runs = one.runs.flatMap((run) => splitRuns.get(run) ?? [run])
}

/** A number and what belongs behind it, in a line in which they are apart. */
function apartAlready(runs: readonly Run[], { left }: Band, isBehind: (text: string) => boolean): [Run, Run][] {
  return runs.flatMap((run, index): [Run, Run][] => {
    const next = runs[index + 1]
    return next && run.box.left > left && isNumber(textOf(run)) && isBehind(textOf(next)) ? [[run, next]] : []
  })
}

function splitNumber({ words }: Run, isBehind: (text: string) => boolean): [Run, Run] | undefined {
  for (let index = 1; index < words.length; index++) {
    const [number, rest] = [runOf(words.slice(0, index)), runOf(words.slice(index))]
    if (isNumber(textOf(number)) && isBehind(textOf(rest))) return [number, rest]
  }
  return undefined
}
