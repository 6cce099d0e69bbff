// What forms the cells of a table: words that stand together, and edges of drawn lines and filled areas.
import { type Box, boxAround, centerX, type Drawings, heightOf, type Word } from '../pages/page.ts'
import { isNegation, type Line } from './table-cells.ts'
import * as tolerances from './tolerances.ts'

/** Words with nothing but spaces between them. */
export interface Run {
  words: Word[]
  box: Box
}

export const runOf = (words: Word[]): Run => ({ words, box: boxAround(words.map(({ box }) => box)) })

export const textOf = ({ words }: { words: readonly Word[] }): string => words.map(({ text }) => text).join(' ')

/** Spaces as multiples of the height of letters. */
export interface Spaces {
  /** The gap between most words of a page. */
  usual: number
  /** The widest one that is surely between words of one cell. */
  widest: number
}

export function spacesOf(lines: readonly Line[]): Spaces {
  const gaps = lines.flatMap(({ cells }) =>
    cells.flatMap(({ words }) =>
      words.slice(1).flatMap((word, index) => {
        const gap = (word.box.left - words[index]!.box.right) / heightOf(word.box)
        return gap > 0.1 && gap < tolerances.WORD_GAP_MAX ? [gap] : []
      }),
    ),
  )
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? tolerances.SPACE_DEFAULT
  return { usual, widest: Math.min(tolerances.SPACE_MAX, Math.max(tolerances.SPACE_MIN, usual * tolerances.SPACE_FACTOR)) }
}

/** The runs of a line; places at which columns are parted by what is drawn part them too. */
export function runsOfLine(line: Line, { widest }: Spaces, separators: readonly number[] = []): Run[] {
  const runs: Word[][] = []
  const words = line.cells.flatMap((cell) => cell.words).toSorted((a, b) => a.box.left - b.box.left)
  for (const word of words) {
    const last = runs.at(-1)?.at(-1)
    const height = last ? Math.min(heightOf(last.box), heightOf(word.box)) * letterScale(last, word) : 0
    const goesOn = last && (isOpenRange(last, word) || isNegation(last, word) || last.text === ':')
    const space = goesOn ? tolerances.DASH_GAP : last && isOpenName(last, word) ? widest * tolerances.BEHIND_COMMA : widest
    if (last && word.box.left - last.box.right < height * space && !separators.some((x) => isBetween(x, last, word)))
      runs.at(-1)!.push(word)
    else runs.push([word])
  }
  return separateRuns(runs.map(runOf), separators)
}

/** In a picture letters are as high as they are drawn: capitals alone have no room for strokes below the line. */
const letterScale = (a: Word, b: Word): number =>
  isSeen(a) && CAPITALS.test(a.text) && CAPITALS.test(b.text) ? tolerances.SIZE_OF_CAPITALS : 1
/** `CREATININE,`, `(W/CREATININE)`, `B12` */
const CAPITALS = /^[([]?(?=.?\p{Lu})[\p{Lu}\d/-]{2,}[)\]]?[,.]?$/u

/** Boxes of words in a picture reach over each other; two runs of a line are next to each other. */
function separateRuns(runs: Run[], separators: readonly number[]): Run[] {
  for (const [index, run] of runs.entries()) {
    const next = runs[index + 1]
    if (!next || run.box.right <= next.box.left || run.box.left >= next.box.left) continue
    const [last, first] = [run.words.at(-1)!, next.words[0]!]
    const edge = separators.find((x) => isBetween(x, last, first)) ?? (run.box.right + next.box.left) / 2
    run.box.right = edge
    next.box.left = Math.max(edge, next.box.left)
  }
  return runs
}

const isSeen = ({ font }: Word): boolean => font === undefined

/** `135 -` and `145` in a picture */
const isOpenRange = (a: Word, b: Word): boolean => isSeen(a) && /^[-–—]$|\d[-–—]$/u.test(a.text) && /^\d/u.test(b.text)

/** `RATIO,` and `RANDOM` in a picture */
const isOpenName = (a: Word, b: Word): boolean => isSeen(a) && /\p{L},$/u.test(a.text) && /^\p{L}{2}/u.test(b.text)

/** Whether what is drawn at a place is between two words; those of a picture may reach over it. */
function isBetween(x: number, a: Word, b: Word): boolean {
  const [left, right] = [a.box.right, b.box.left]
  if (!isSeen(a)) return x > left - 1 && x < right + 1
  const reach = heightOf(a.box) * tolerances.PICTURE_EDGE
  return x > centerX(a.box) && x < centerX(b.box) && x > Math.min(left, right) - reach && x < Math.max(left, right) + reach
}

/** A run parted at the gaps between its words for which `isGap` is true. */
export function splitAtGaps({ words }: Run, isGap: (left: number, right: number) => boolean): Run[] {
  const runs: Word[][] = [[]]
  for (const [index, word] of words.entries()) {
    const last = words[index - 1]
    if (last && isGap(last.box.right, word.box.left)) runs.push([])
    runs.at(-1)!.push(word)
  }
  return runs.map(runOf)
}

/** A column is drawn next to as many rows; fewer edges may be those of one marked cell. */
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
    ...[...areas, ...level].flatMap(({ left, right, top, bottom }) =>
      [left, right].map((position) => ({ position, start: top, end: bottom })),
    ),
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
    if (group && edge.position - group.at(-1)!.position < tolerances.DRAWN_EDGE) group.push(edge)
    else groups.push([edge])
  }
  return groups
}

const middleOf = (edges: readonly Edge[]): number => (edges[0]!.position + edges.at(-1)!.position) / 2

/** Heights at which something is drawn between the rows of a table that is as wide as this box, from top to bottom. */
export function rowSeparators(drawings: Drawings | undefined, { left, right, top, bottom }: Box): number[] {
  if (!drawings) return []
  const nearEdges = rowEdges(drawings).filter(
    ({ position, start, end }) => position > top && position < bottom && end > left && start < right,
  )
  return groupEdges(nearEdges)
    .filter((edges) => coveredLength(edges, left, right) >= (right - left) * tolerances.DRAWN_SHARE)
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
  const nearEdges = columnEdges(drawings).filter(
    ({ position, start, end }) => position > left && position < right && end > top && start < bottom,
  )
  return groupEdges(nearEdges)
    .filter(
      (edges) =>
        coveredLength(edges, top, bottom) >= (bottom - top) * tolerances.DRAWN_SHARE ||
        new Set(edges.map(({ start }) => Math.round(start))).size >= COLUMN_EDGES_MIN,
    )
    .map((edges) => ({ position: middleOf(edges), spans: edges }))
}
