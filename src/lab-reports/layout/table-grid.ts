// What drawn lines and filled areas tell of a table: where its rows end, and where its columns.
import type { Box, Drawings } from '../pages/page.ts'

/** Points: edges that differ less are one. */
const SAME_EDGE = 1.6
/** Of the width of a table: what is drawn between two rows covers as much. Cells over several rows interrupt it. */
const ROW_EDGE = 0.5
/** A column is drawn beside as many rows; fewer edges may be those of one marked cell. */
const COLUMN_EDGES_MIN = 3

interface Edge {
  at: number
  from: number
  to: number
}

/** Horizontal edges of lines and areas; a thin line is one edge, an area has two. */
function rowEdges({ lines, areas }: Drawings): Edge[] {
  return [
    ...lines
      .filter(({ left, right, top, bottom }) => right - left >= bottom - top)
      .map(({ left, right, top, bottom }) => ({ at: (top + bottom) / 2, from: left, to: right })),
    ...areas.flatMap(({ left, right, top, bottom }) => [top, bottom].map((at) => ({ at, from: left, to: right }))),
  ]
}

function columnEdges({ lines, areas }: Drawings): Edge[] {
  const upright = lines.filter(({ left, right, top, bottom }) => bottom - top > right - left)
  const level = lines.filter(({ left, right, top, bottom }) => right - left >= bottom - top)
  return [
    ...upright.map(({ left, right, top, bottom }) => ({ at: (left + right) / 2, from: top, to: bottom })),
    // A line below each cell ends where the cell does.
    ...[...areas, ...level].flatMap(({ left, right, top, bottom }) => [left, right].map((at) => ({ at, from: top, to: bottom }))),
  ]
}

/** How much of a stretch edges cover, in points. */
function covered(edges: readonly Edge[], from: number, to: number): number {
  let sum = 0
  let reached = from
  for (const edge of edges.toSorted((one, other) => one.from - other.from)) {
    const [start, end] = [Math.max(edge.from, reached), Math.min(edge.to, to)]
    if (end > start) {
      sum += end - start
      reached = end
    }
  }
  return sum
}

function grouped(edges: readonly Edge[]): Edge[][] {
  const groups: Edge[][] = []
  for (const edge of edges.toSorted((one, other) => one.at - other.at)) {
    const group = groups.at(-1)
    if (group && edge.at - group.at(-1)!.at < SAME_EDGE) group.push(edge)
    else groups.push([edge])
  }
  return groups
}

const middleOf = (edges: readonly Edge[]): number => (edges[0]!.at + edges.at(-1)!.at) / 2

/** Heights at which something is drawn between the rows of a table that is as wide as this box, from top to bottom. */
export function rowSeparators(drawings: Drawings | undefined, { left, right, top, bottom }: Box): number[] {
  if (!drawings) return []
  const near = rowEdges(drawings).filter(({ at, from, to }) => at > top && at < bottom && to > left && from < right)
  return grouped(near)
    .filter((edges) => covered(edges, left, right) >= (right - left) * ROW_EDGE)
    .map(middleOf)
}

/** A place at which columns are parted by what is drawn, and the heights between which it is. */
export interface Separator {
  at: number
  spans: { from: number; to: number }[]
}

/** Those at the height of a line of text. */
export const separatorsAt = (separators: readonly Separator[], y: number): number[] =>
  separators.filter(({ spans }) => spans.some(({ from, to }) => from <= y && y <= to)).map(({ at }) => at)

/** Where columns of a table in this box are parted by what is drawn, from left to right. */
export function columnSeparators(drawings: Drawings | undefined, { left, right, top, bottom }: Box): Separator[] {
  if (!drawings) return []
  const near = columnEdges(drawings).filter(({ at, from, to }) => at > left && at < right && to > top && from < bottom)
  return grouped(near)
    .filter(
      (edges) =>
        covered(edges, top, bottom) >= (bottom - top) * ROW_EDGE ||
        new Set(edges.map(({ from }) => Math.round(from))).size >= COLUMN_EDGES_MIN,
    )
    .map((edges) => ({ at: middleOf(edges), spans: edges }))
}
