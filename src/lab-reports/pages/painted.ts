// What a page paints: pictures, lines, filled areas, curves.
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { type Box, boxAround, centerY, type Drawings, heightOf, overlapX, widthOf, type Word } from './page.ts'

export interface Painted extends Drawings {
  /** Boxes of the pictures, in points from the upper left corner of the page. */
  pictures: Box[]
  /** Curves of the outlines that are filled or stroked: a round letter has about ten. */
  curves: number
}

/** A form within a form, and what is saved, no deeper than this. */
const DEPTH_MAX = 200
/** A scan in strips has some hundreds. */
const PICTURES_MAX = 2_000
/** Lines and areas, each; a table of a full page has some hundreds. */
const DRAWINGS_MAX = 5_000
/** Points: what is thinner is a line. */
const LINE_WIDTH = 2.6
/** Points: dots and dashes of one line are shorter, and closer to each other. */
const [DASH_LENGTH, DASH_GAP] = [7, 4]

const PICTURES = new Set([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject])
/** Several pictures at once, as pdf.js puts them together. */
const REPEATED = new Set([OPS.paintImageXObjectRepeat, OPS.paintImageMaskXObjectRepeat])
const FILLS = new Set([OPS.fill, OPS.eoFill, OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke, OPS.closeEOFillStroke])
const STROKES = new Set([
  OPS.stroke,
  OPS.closeStroke,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
])
const GROUPS = new Set([OPS.paintInlineImageXObjectGroup, OPS.paintImageMaskXObjectGroup])

/** What these operations of pdf.js paint: a picture is the unit square under the current transform. @param view from the page to the boxes */
export function readPaintedParts(operations: readonly number[], parameters: readonly unknown[], view: Matrix): Painted {
  let current = view
  let curves = 0
  const pictures: Box[] = []
  const [lines, areas]: [Box[], Box[]] = [[], []]
  const saved: Matrix[] = []
  const save = () => void (saved.length < DEPTH_MAX && saved.push(current))
  const restore = () => void (current = saved.pop() ?? current)
  const paint = (matrix: unknown) => void (pictures.length < PICTURES_MAX && pictures.push(unitSquare(multiply(current, matrix))))
  for (const [index, operation] of operations.entries()) {
    const parameter = parameters[index]
    if (operation === OPS.save) save()
    else if (operation === OPS.restore || operation === OPS.paintFormXObjectEnd) restore()
    else if (operation === OPS.transform) current = multiply(current, parameter)
    else if (operation === OPS.paintFormXObjectBegin) {
      save()
      current = multiply(current, (parameter as unknown[])[0])
    } else if (operation === OPS.constructPath) {
      curves += curvesOf(parameter)
      addDrawings({ lines, areas }, parameter, current)
    } else if (PICTURES.has(operation)) paint(null)
    else if (GROUPS.has(operation)) for (const { transform } of groupOf(parameter)) paint(transform)
    else if (REPEATED.has(operation)) for (const matrix of repeatedOf(parameter)) paint(matrix)
  }
  return { pictures, curves, lines, areas }
}

/** The lines and areas of a path: rectangles that are filled, and what is stroked along the edges of the page. */
function addDrawings({ lines, areas }: Drawings, parameter: unknown, current: Matrix): void {
  if (lines.length >= DRAWINGS_MAX || areas.length >= DRAWINGS_MAX) return
  const [operation, path] = isList(parameter) && isList(parameter[1]) ? [parameter[0] as number, parameter[1][0]] : []
  if (operation === undefined || path === null || typeof path !== 'object') return
  const numbers = path as ArrayLike<number>
  if (FILLS.has(operation))
    for (const box of findRectangles(numbers, current))
      if (Math.min(widthOf(box), heightOf(box)) <= LINE_WIDTH) addLine(lines, box)
      else areas.push(box)
  if (STROKES.has(operation)) for (const box of findSegments(numbers, current)) addLine(lines, box)
}

/** Adds a line; a dot or a dash makes the one before it longer. */
function addLine(lines: Box[], box: Box): void {
  const last = lines.at(-1)
  if (last && Math.max(widthOf(box), heightOf(box)) <= DASH_LENGTH && goesOn(last, box))
    lines[lines.length - 1] = boxAround([last, box])
  else lines.push(box)
}

const goesOn = (last: Box, next: Box): boolean =>
  isInLine([last.top, last.bottom], [next.top, next.bottom], next.left - last.right) ||
  isInLine([last.left, last.right], [next.left, next.right], next.top - last.bottom)

/** Whether two marks of one width are next to each other. @param gap in points */
const isInLine = (last: readonly [number, number], next: readonly [number, number], gap: number): boolean =>
  Math.abs(last[0] - next[0]) < STRAIGHT &&
  Math.abs(last[1] - next[1]) < STRAIGHT &&
  next[1] - next[0] <= LINE_WIDTH &&
  gap > -STRAIGHT &&
  gap < DASH_GAP

/** A matrix after another one; what is not a matrix changes nothing. */
export function multiply(outer: Matrix, inner: unknown): Matrix {
  if (inner === null || typeof inner !== 'object') return outer
  const [a, b, c, d, e, f] = outer
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = Array.from(inner as ArrayLike<number>)
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

function unitSquare([a, b, c, d, e, f]: Matrix): Box {
  const corners = [
    [e, f],
    [e + a, f + b],
    [e + c, f + d],
    [e + a + c, f + b + d],
  ] as const
  return boxAround(corners.map(([x, y]) => ({ left: x, right: x, top: y, bottom: y })))
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

function groupOf(parameter: unknown): { transform?: unknown }[] {
  const lists = isList(parameter) ? parameter.filter(isList) : []
  return (lists.at(-1) ?? []) as { transform?: unknown }[]
}

/** [picture, width, height, places] or, for masks, [picture, width, skew, skew, height, places]. */
function repeatedOf(parameter: unknown): Matrix[] {
  if (!isList(parameter)) return []
  const places = Array.from(parameter.at(-1) as ArrayLike<number>)
  const [width, , , height] = (parameter.length === 6 ? parameter.slice(1, 5) : [parameter[1], 0, 0, parameter[2]]) as number[]
  const matrices: Matrix[] = []
  for (let index = 0; index + 1 < places.length; index += 2)
    matrices.push([width!, 0, 0, height!, places[index]!, places[index + 1]!])
  return matrices
}

function curvesOf(parameter: unknown): number {
  const path = isList(parameter) && isList(parameter[1]) ? parameter[1][0] : undefined
  if (path === null || typeof path !== 'object') return 0
  const numbers = path as ArrayLike<number>
  let curves = 0
  for (let index = 0; index < numbers.length; index += 1 + (PATH_NUMBERS[numbers[index]!] ?? numbers.length))
    if (numbers[index] === 2 || numbers[index] === 3) curves++
  return curves
}

/** How much of a page boxes cover, from 0 to 1: overlaps count once, to the nearest sixtieth of a side. */
export function coveredShare(boxes: readonly Box[], { width, height }: { width: number; height: number }): number {
  const cells = new Set<number>()
  const cellsOf = (start: number, end: number, length: number): [number, number] => [
    Math.max(0, Math.round((start / length) * GRID)),
    Math.min(GRID, Math.round((end / length) * GRID)),
  ]
  for (const { left, top, right, bottom } of boxes) {
    const [first, last] = cellsOf(left, right, width)
    const [upper, lower] = cellsOf(top, bottom, height)
    for (let y = upper; y < lower; y++) for (let x = first; x < last; x++) cells.add(y * GRID + x)
  }
  return cells.size / GRID ** 2
}

const GRID = 60

/** [a b c d e f] of PDF: x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [number, number, number, number, number, number]

/** Numbers after each operation of a path: to move, a line, a curve, a quadratic one, to close. */
const PATH_NUMBERS = [2, 2, 6, 4, 0]
const [MOVE, LINE, , , CLOSE] = [0, 1, 2, 3, 4]
/** Points: edges differ no more from straight ones. */
const STRAIGHT = 0.5
/** Maximum parts of one path; a grid of a page has hundreds. */
const PARTS_MAX = 4_000

type Point = readonly [x: number, y: number]

/** The parts of a path that consist of lines alone, in the places of the page. */
function straightParts(path: ArrayLike<number>, [a, b, c, d, e, f]: Matrix): Point[][] {
  const parts: Point[][] = []
  for (let index = 0; index < path.length && parts.length < PARTS_MAX; index += 1 + (PATH_NUMBERS[path[index]!] ?? path.length)) {
    const operation = path[index]
    const part = parts.at(-1)
    const [x, y] = [path[index + 1]!, path[index + 2]!]
    const point: Point = [a * x + c * y + e, b * x + d * y + f]
    if (operation === MOVE) parts.push([point])
    else if (operation === LINE) part?.push(point)
    else if (operation === CLOSE) {
      if (part?.[0]) part.push(part[0])
    } else if (part) part.length = 0
  }
  return parts.filter((part) => part.length > 1)
}

const boxOf = (points: readonly Point[]): Box => ({
  left: Math.min(...points.map(([x]) => x)),
  right: Math.max(...points.map(([x]) => x)),
  top: Math.min(...points.map(([, y]) => y)),
  bottom: Math.max(...points.map(([, y]) => y)),
})

/** The rectangles of a path that is filled. */
const findRectangles = (path: ArrayLike<number>, matrix: Matrix): Box[] =>
  straightParts(path, matrix).flatMap((points) => {
    if (points.length < 4 || points.length > 6) return []
    const box = boxOf(points)
    const isCorner = ([x, y]: Point) =>
      Math.min(Math.abs(x - box.left), Math.abs(x - box.right)) < STRAIGHT &&
      Math.min(Math.abs(y - box.top), Math.abs(y - box.bottom)) < STRAIGHT
    return points.every(isCorner) ? [box] : []
  })

/** The lines of a path that is stroked, those along the edges of the page alone. */
const findSegments = (path: ArrayLike<number>, matrix: Matrix): Box[] =>
  straightParts(path, matrix).flatMap((points) =>
    points.slice(1).flatMap((point, index) => {
      const box = boxOf([points[index]!, point])
      return Math.min(box.right - box.left, box.bottom - box.top) < STRAIGHT ? [box] : []
    }),
  )

/** Share of the height of a word, above and below: a line that is nearer to its middle runs through it. */
const WORD_EDGE = 0.25
/** So many words in a line of the drawing are not struck out: the paper is folded there, or the scanner drew the line. */
const WORDS_IN_FOLD = 2

/** In points: pieces of one line are closer. */
const PIECES_APART_MAX = 2

/** Lines that are not drawn between texts but run through them, with the pieces that go on next to them. */
export function withoutFolds(lines: readonly Box[], words: readonly Word[]): Box[] {
  const isLevel = (line: Box) => widthOf(line) > heightOf(line)
  const crossedWords = (line: Box) => {
    const y = centerY(line)
    return words.filter(({ box }) => {
      const edge = heightOf(box) * WORD_EDGE
      return y > box.top + edge && y < box.bottom - edge && overlapX(box, line) > widthOf(box) / 2
    }).length
  }
  const crossed = new Map(lines.map((line) => [line, isLevel(line) ? crossedWords(line) : 0]))
  const isFold = (line: Box) =>
    lines
      .filter((piece) => Math.abs(centerY(piece) - centerY(line)) < PIECES_APART_MAX)
      .reduce((sum, piece) => sum + crossed.get(piece)!, 0) >= WORDS_IN_FOLD
  return lines.filter((line) => !isLevel(line) || !isFold(line))
}
