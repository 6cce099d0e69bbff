// Which column of a table a cell stands in.
import { centerX, overlapX, type Box } from '../pages/page.ts'
import type { TypedCell } from './cells.ts'
import type { Column, ColumnKind } from './headers.ts'

/** Each cell to the column above it. */
export function assign(cells: readonly TypedCell[], columns: readonly Column[]): Map<Column, TypedCell[]> {
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
const KEPT = new Set<ColumnKind>(['previous', 'specimen', 'method'])

/** Units and flags go to their own column where there is one near; all else to the nearest. */
function columnFor(cell: TypedCell, columns: readonly Column[]): Column | undefined {
  const nearest = nearestColumn(cell.box, columns)
  if (!nearest) return undefined
  const wanted: Partial<Record<TypedCell['kind'], ColumnKind>> = {
    unit: 'unit',
    // Flags may stand in a column of remarks.
    flag: columns.some((column) => column.kind === 'flag') ? 'flag' : 'comment',
  }
  const kind = wanted[cell.kind]
  if (kind && nearest.kind !== kind && !KEPT.has(nearest.kind)) {
    const own = columns.find((column) => column.kind === kind)
    if (own && Math.abs(centerX(own.box) - centerX(cell.box)) < 120) return own
  }
  return nearest
}

/** The column above a box: the one that overlaps most, else the nearest by an edge or the middle. */
export function nearestColumn(box: Box, columns: readonly Column[]): Column | undefined {
  const ranked = columns.map((column) => {
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
  return ranked.toSorted((one, other) => other.score - one.score)[0]?.column
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
