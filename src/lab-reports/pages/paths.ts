// Rectangles and lines along the edges of the page in the paths of pdf.js: for each operation a number, then its coordinates.
import type { Box } from './page.ts'

/** [a b c d e f] of PDF: x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [number, number, number, number, number, number]

/** Numbers after each operation of a path: to move, a line, a curve, a quadratic one, to close. */
export const PATH_NUMBERS = [2, 2, 6, 4, 0]
const [MOVE, LINE, , , CLOSE] = [0, 1, 2, 3, 4]
/** Points: edges differ no more from straight ones. */
const STRAIGHT = 0.5
/** Of one path; a grid of a page has hundreds. */
const PARTS_MAX = 4_000

type Point = readonly [x: number, y: number]

/** The parts of a path that consist of lines alone, in the places of the page. */
function partsOf(path: ArrayLike<number>, [a, b, c, d, e, f]: Matrix): Point[][] {
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
export const rectanglesOf = (path: ArrayLike<number>, matrix: Matrix): Box[] =>
  partsOf(path, matrix).flatMap((points) => {
    if (points.length < 4 || points.length > 6) return []
    const box = boxOf(points)
    const isCorner = ([x, y]: Point) =>
      Math.min(Math.abs(x - box.left), Math.abs(x - box.right)) < STRAIGHT &&
      Math.min(Math.abs(y - box.top), Math.abs(y - box.bottom)) < STRAIGHT
    return points.every(isCorner) ? [box] : []
  })

/** The lines of a path that is stroked, those along the edges of the page alone. */
export const segmentsOf = (path: ArrayLike<number>, matrix: Matrix): Box[] =>
  partsOf(path, matrix).flatMap((points) =>
    points.slice(1).flatMap((point, index) => {
      const box = boxOf([points[index]!, point])
      return Math.min(box.right - box.left, box.bottom - box.top) < STRAIGHT ? [box] : []
    }),
  )
