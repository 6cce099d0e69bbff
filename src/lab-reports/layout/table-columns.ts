// The columns of a table: what its header names, as wide as the cells below reach, parted by rivers of whitespace over all lines.
import { heightOf, overlapX, widthOf, type Box } from '../pages/page.ts'
import type { Band, Line } from './lines.ts'
import { spanningRuns } from './table-header.ts'
import { partedAt, textOf, type Run, type Spaces } from './table-runs.ts'
import { isNumber, isUnits, partNumbersFromUnits } from './table-units.ts'

export interface TableColumn {
  /** How far its texts reach. */
  left: number
  right: number
  band: Band
  /** What names it, line by line. */
  names: Run[]
  /** The widest text, in points. */
  width: number
}

/** A line whose runs each stand in one column. */
export interface LineOfTable {
  line: Line
  parts: { run: Run; column: TableColumn }[]
}

export interface TableOfRuns {
  columns: TableColumn[]
  /** Lines of the page in their order; those without parts cross columns. */
  lines: (LineOfTable | { line: Line; parts: null })[]
}

/** What stands below a name, or will. */
export interface Group {
  left: number
  right: number
  names: Run[]
  runs: Run[]
}

/** Points: texts that overlap less stand beside each other. */
const BESIDE = 0.5
/** Lines in sequence that cross columns end a table. */
const CROSSING_MAX = 2
/** As many lines keep to the columns of a table as cross them, times this. */
const CROSSING_SHARE = 2.5

/**
 * The columns under a header and the lines that keep to them; undefined if its first lines do not.
 * @param header the runs of each line that names columns
 * @param body the runs of each line below
 * @param separators places at which columns are parted by what is drawn
 */
export function tableOf(
  header: readonly (readonly Run[])[],
  body: { line: Line; runs: Run[] }[],
  separators: readonly number[],
  spaces: Spaces,
): TableOfRuns | undefined {
  const names = header.map((line) => line.flatMap((run) => partedBy(run, body, spaces)))
  const spanning = spanningRuns(names)
  let groups: Group[] = []
  for (const run of names.flat()) if (!spanning.some((one) => one.run === run)) groups = withName(groups, run)
  partNumbersFromUnits(groups, body)
  const fitting = new Set<Line>()
  let [crossing, sequence] = [0, 0]
  let last = -1
  for (const [index, one] of body.entries()) {
    const { line } = one
    const runs = one.runs.flatMap((run) => partedBetween(run, groups, spaces))
    if (runs.length === 1) continue
    const next = withRuns(groups, runs, separators)
    if (next) {
      groups = next
      one.runs = runs
      fitting.add(line)
      sequence = 0
      last = index
    } else {
      crossing++
      if (!fitting.size || ++sequence >= CROSSING_MAX) break
    }
  }
  if (fitting.size < crossing * CROSSING_SHARE) return undefined
  const columns = columnsOfGroups(named(groups, separators), separators)
  for (const { run, isOfBounds } of spanning)
    for (const column of columns) if (!isOfBounds && column.names.length && isIn(run.box, column)) column.names.unshift(run)
  const lines = linesWithin(body, columns, fitting, last)
  for (const { parts } of lines)
    for (const { run, column } of parts ?? []) column.width = Math.max(column.width, widthOf(run.box))
  return { columns, lines }
}

const isIn = (box: Box, { left, right }: Band): boolean => Math.min(box.right, right) - Math.max(box.left, left) > BESIDE

/** Of a usual space: a gap between two columns is wider. */
const WIDER = 1.08
/** Of the lines with two texts below a name that may be two: so many have a gap where it has one. */
const GAPS_BELOW = 0.8

/** The names of columns that stand close, parted where most lines below have a gap between two of their texts. */
function partedBy(run: Run, body: readonly { runs: readonly Run[] }[], { usual }: Spaces): Run[] {
  const below = body.map(({ runs }) => runs.filter(({ box }) => isIn(run.box, box))).filter((runs) => runs.length > 1)
  if (below.length < 2) return [run]
  const least = usual * WIDER * heightOf(run.box)
  return partedAt(run, (from, to) => {
    if (to - from < least) return false
    const gaps = below.filter((runs) =>
      runs.some(({ box }, at) => runs[at + 1] && box.right < to && runs[at + 1]!.box.left > from),
    )
    return gaps.length >= below.length * GAPS_BELOW
  })
}

/** Texts of two columns that stand so close that they seem one. */
function partedBetween(run: Run, groups: readonly Group[], { usual }: Spaces): Run[] {
  const own = groups.filter((group) => group.names.length && isIn(run.box, group)).toSorted((one, other) => one.left - other.left)
  if (own.length < 2) return [run]
  const least = usual * WIDER * heightOf(run.box)
  const parts = partedAt(
    run,
    (from, to) =>
      to - from > least && own.some((group, at) => own[at + 1] && from < own[at + 1]!.left && to > group.right - BESIDE * 4),
  )
  return parts.every((part) => own.filter((group) => isIn(part.box, group)).length < 2) ? parts : [run]
}

function withName(groups: readonly Group[], run: Run): Group[] {
  const own = groups.filter((group) => isIn(run.box, group))
  const rest = groups.filter((group) => !own.includes(group))
  return [...rest, joined([...own, { left: run.box.left, right: run.box.right, names: [run], runs: [] }])]
}

const joined = (groups: readonly Group[]): Group => ({
  left: Math.min(...groups.map(({ left }) => left)),
  right: Math.max(...groups.map(({ right }) => right)),
  names: groups.flatMap(({ names }) => names),
  runs: groups.flatMap(({ runs }) => runs),
})

/** The groups with the runs of a line; undefined if one of them reaches over two columns. */
function withRuns(groups: readonly Group[], runs: readonly Run[], separators: readonly number[]): Group[] | undefined {
  let next = [...groups]
  for (const run of runs) {
    const own = next.filter((group) => isIn(run.box, group))
    if (own.filter(({ names }) => names.length).length > 1) return undefined
    const whole = joined([...own, { left: run.box.left, right: run.box.right, names: [], runs: [run] }])
    if (own.length > 1 && separators.some((at) => at > whole.left + BESIDE && at < whole.right - BESIDE)) return undefined
    next = [...next.filter((group) => !own.includes(group)), whole]
  }
  // Two runs of a line are two cells.
  const isShared = next.some(({ runs: all }) => runs.filter((run) => all.includes(run)).length > 1)
  return isShared ? undefined : next
}

/**
 * Texts that stand aside of the name above them, as numbers on the right, belong to it if it has none and nothing is drawn between; numbers
 * never to that of units.
 */
function named(groups: readonly Group[], separators: readonly number[]): Group[] {
  const sorted = groups.toSorted((one, other) => one.left - other.left)
  for (let at = 0; at < sorted.length; at++) {
    const group = sorted[at]!
    if (group.names.length) continue
    const near = [sorted[at - 1], sorted[at + 1]].filter((other): other is Group => other !== undefined && other.names.length > 0)
    const isApart = (other: Group) => {
      const [from, to] = other.left < group.left ? [other.right, group.left] : [group.right, other.left]
      return separators.some((one) => one > from - BESIDE && one < to + BESIDE)
    }
    const distance = (other: Group) => Math.max(other.left - group.right, group.left - other.right)
    const isNone = (other: Group) => isUnits(other) && group.runs.some((run) => isNumber(textOf(run)))
    const free = near.filter((other) => !isApart(other) && !isNone(other) && (!other.runs.length || separators.length > 0))
    const owner = free.toSorted(
      (one, other) => Number(one.runs.length > 0) - Number(other.runs.length > 0) || distance(one) - distance(other),
    )[0]
    if (!owner) continue
    sorted.splice(Math.min(at, sorted.indexOf(owner)), 2, joined([owner, group]))
    at--
  }
  return sorted
}

function columnsOfGroups(groups: readonly Group[], separators: readonly number[]): TableColumn[] {
  const edges = groups.slice(1).map((group, index) => {
    const [from, to] = [groups[index]!.right, group.left]
    return separators.find((at) => at > from - 1 && at < to + 1) ?? (from + to) / 2
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
function linesWithin(
  body: readonly { line: Line; runs: Run[] }[],
  columns: readonly TableColumn[],
  fitting: ReadonlySet<Line>,
  last: number,
): TableOfRuns['lines'] {
  const lines: TableOfRuns['lines'] = []
  for (const [index, { line, runs }] of body.entries()) {
    if (index > last && runs.length > 1) break
    const parts = runs.map((run) => ({ run, own: columns.filter((column) => isIn(run.box, column)) }))
    const isFit =
      (runs.length === 1 || fitting.has(line)) &&
      parts.every(
        ({ run, own }) =>
          own.length === 1 ||
          (!own.length && columns.some(({ band }) => overlapX(run.box, { ...run.box, ...band }) >= widthOf(run.box) - BESIDE)),
      )
    lines.push(
      isFit
        ? {
            line,
            parts: parts.map(({ run, own }) => ({
              run,
              column:
                own[0] ?? columns.find(({ band }) => run.box.left >= band.left - BESIDE && run.box.right <= band.right + BESIDE)!,
            })),
          }
        : { line, parts: null },
    )
  }
  return lines
}
