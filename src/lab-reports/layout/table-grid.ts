// What drawn lines and filled areas tell of a table: where its rows end, and where its columns.
import type { Box, Drawings } from '../pages/page.ts'

/** Points: edges that differ less are one. */
const DRAWN_EDGE = 1.6
/** Of the width of a table: what is drawn between two rows covers as much. Cells over several rows interrupt it. */
const DRAWN_SHARE = 0.5
/** A column is drawn beside as many rows; fewer edges may be those of one marked cell. */
const COLUMN_EDGES_MIN = 3

interface Edge {
  position: number
  start: number
  end: number
}

/** Horizontal edges of lines and areas; a thin line is one edge, an area has two. */
function rowEdges({ lines, areas }: Drawings): Edge[] {
  return [
    ...lines
      .filter(({ left, right, top, bottom }) => right - left >= bottom - top)
      .map(({ left, right, top, bottom }) => ({ position: (top + bottom) / 2, start: left, end: right })),
    ...areas.flatMap(({ left, right, top, bottom }) => [top, bottom].map((position) => ({ position, start: left, end: right }))),
  ]
}

function columnEdges({ lines, areas }: Drawings): Edge[] {
  const upright = lines.filter(({ left, right, top, bottom }) => bottom - top > right - left)
  const level = lines.filter(({ left, right, top, bottom }) => right - left >= bottom - top)
  return [
    ...upright.map(({ left, right, top, bottom }) => ({ position: (left + right) / 2, start: top, end: bottom })),
    // A line below each cell ends where the cell does.
    ...[...areas, ...level].flatMap(({ left, right, top, bottom }) => [left, right].map((position) => ({ position, start: top, end: bottom }))),
  ]
}

/** How much of a stretch edges cover, in points. */
function coveredLength(edges: readonly Edge[], lower: number, upper: number): number {
  let sum = 0
  let reached = lower
  for (const edge of edges.toSorted((a, b) => a.start - b.start)) {
    const [start, end] = [Math.max(edge.start, reached), Math.min(edge.end, upper)]
    if (end > start) {
      sum += end - start
      reached = end
    }
  }
  return sum
}

function groupEdges(edges: readonly Edge[]): Edge[][] {
  const groups: Edge[][] = []
  for (const edge of edges.toSorted((a, b) => a.position - b.position)) {
    const group = groups.at(-1)
    if (group && edge.position - group.at(-1)!.position < DRAWN_EDGE) group.push(edge)
    else groups.push([edge])
  }
  return groups
}

const middleOf = (edges: readonly Edge[]): number => (edges[0]!.position + edges.at(-1)!.position) / 2

/** Heights at which something is drawn between the rows of a table that is as wide as this box, from top to bottom. */
export function rowSeparators(drawings: Drawings | undefined, { left, right, top, bottom }: Box): number[] {
  if (!drawings) return []
  const nearEdges = rowEdges(drawings).filter(({ position, start, end }) => position > top && position < bottom && end > left && start < right)
  return groupEdges(nearEdges)
    .filter((edges) => coveredLength(edges, left, right) >= (right - left) * DRAWN_SHARE)
    .map(middleOf)
}

/** A place at which columns are parted by what is drawn, and the heights between which it is. */
export interface Separator {
  position: number
  spans: { start: number; end: number }[]
}

/** Those at the height of a line of text. */
export const separatorsAt = (separators: readonly Separator[], y: number): number[] =>
  separators.filter(({ spans }) => spans.some(({ start, end }) => start <= y && y <= end)).map(({ position }) => position)

/** Where columns of a table in this box are parted by what is drawn, from left to right. */
export function columnSeparators(drawings: Drawings | undefined, { left, right, top, bottom }: Box): Separator[] {
  if (!drawings) return []
  const nearEdges = columnEdges(drawings).filter(({ position, start, end }) => position > left && position < right && end > top && start < bottom)
  return groupEdges(nearEdges)
    .filter(
      (edges) =>
        coveredLength(edges, top, bottom) >= (bottom - top) * DRAWN_SHARE ||
        new Set(edges.map(({ start }) => Math.round(start))).size >= COLUMN_EDGES_MIN,
    )
    .map((edges) => ({ position: middleOf(edges), spans: edges }))
}
