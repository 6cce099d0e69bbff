// Which column of a table a cell stands in.
import { centerX, heightOf, overlapX, type Box } from '../pages/page.ts'
import type { TypedCell } from './cells.ts'
import type { Column, ColumnKind } from './headers.ts'
import { CELL_GAP, cellOf, type Cell } from './lines.ts'
import { flagOf, numberOf, partFlag } from '../../lab-values/values.ts'

/** What a cell of a column is that holds one thing alone. */
const HOLDS: Partial<Record<ColumnKind, (cell: TypedCell) => boolean>> = {
  name: ({ kind, text }) => kind === 'text' && /\p{L}/u.test(text),
  value: ({ kind, value }) => kind === 'value' && value === 'number',
  unit: ({ kind }) => kind === 'unit',
  range: ({ kind, value, text }) => kind === 'range' || value === 'comparator' || (value === 'interval' && /\d/u.test(text)),
  flag: ({ kind, text }) => kind === 'flag' || flagOf(text) !== undefined,
}
/** Points: what begins so close to the left edge of a column stands in it. */
const COLUMN_EDGE = 3
/** A name, its result and one thing more. */
const IN_ORDER_MIN = 3

/**
 * Where cells stand beside their columns, as in lines that are written with spaces, what they are tells: each of another column, from left to
 * right. Undefined if columns hold anything else, as former results, and for texts that go on without gaps.
 */
function assignInOrder(cells: readonly TypedCell[], columns: readonly Column[]): Map<Column, TypedCell[]> | undefined {
  const kinds = new Set(columns.map(({ kind }) => kind))
  if (cells.length < IN_ORDER_MIN || kinds.size < columns.length || columns.some(({ kind }) => !HOLDS[kind])) return undefined
  const isApart = ({ box }: TypedCell, index: number) =>
    index === 0 || box.left - cells[index - 1]!.box.right >= heightOf(box) * CELL_GAP
  // A number that stands where the ranges begin is a bound of one.
  const isBound = ({ value, box }: TypedCell) =>
    value === 'number' && columns.some((item) => item.kind === 'range' && Math.abs(item.box.left - box.left) < COLUMN_EDGE)
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
  return assigned
}

/** What stands in them is no unit and no flag of the result: `U` is a specimen there. */
const KEEPS_CELLS = new Set<ColumnKind>(['previous', 'specimen', 'method'])

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
  const name = cellOf(first.words.slice(0, -1))
  // `Vitamin B 12` without a result.
  if (isNamed(first.text) && !isNamed(name.text)) return cells
  if (kindOf(last) !== 'value' || kindOf(first.words[0]!) !== 'name' || others.some((cell) => kindOf(cell) === 'value'))
    return cells
  return [name, cellOf([last]), ...others]
}

/** Units and flags go to their own column where there is one near; all else to the nearest. */
function columnFor(cell: TypedCell, columns: readonly Column[]): Column | undefined {
  const nearest = nearestColumn(cell.box, columns)
  if (!nearest) return undefined
  const kindOfColumn: Partial<Record<TypedCell['kind'], ColumnKind>> = {
    unit: 'unit',
    // Flags may stand in a column of remarks.
    flag: columns.some((column) => column.kind === 'flag') ? 'flag' : 'comment',
  }
  const kind = kindOfColumn[cell.kind]
  if (kind && nearest.kind !== kind && !KEEPS_CELLS.has(nearest.kind)) {
    const own = columns.find((column) => column.kind === kind)
    if (own && Math.abs(centerX(own.box) - centerX(cell.box)) < 120) return own
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
      score: (overlap > 0 ? overlap / Math.min(column.box.right - column.box.left, box.right - box.left) : 0) * 40 - distance,
    }
  })
  return ranked.toSorted((a, b) => b.score - a.score)[0]?.column
}

/** Whether a box stands in a column of former results, or of the results of one of several days. */
export function isInColumnOfOtherDay(box: Box, columns: readonly Column[] | null): boolean {
  const kind = columns && nearestColumn(box, columns)?.kind
  return kind === 'previous' || kind === 'dated_value'
}

/** Points by which a free text may stand aside of the name of its column. */
const ALIGNED = 16
const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value', 'dated_value'])

/** Whether a box stands as the results of a table do. */
export const isUnderResults = (box: Box, columns: readonly Column[]): boolean =>
  columns.some(
    (column) =>
      RESULTS.has(column.kind) &&
      (Math.abs(column.box.left - box.left) < ALIGNED || Math.abs(centerX(column.box) - centerX(box)) < ALIGNED),
  )
