// The slant of the lines of a page: roughly by the boxes of its texts, exactly by its ink, which shows as well whether they converge.
import { shrunk, type Picture } from './picture.ts'
import { project, type Point, type Projection } from './projection.ts'
import type { TextBox } from './text-boxes.ts'

/** The angle of most lines after a projection, in radians: the median, weighted by their lengths. */
export function slantOf(boxes: readonly TextBox[], to: Projection): number {
  const slants = boxes
    .flatMap(({ x, y, length, angle }) => {
      const [dx, dy] = [(Math.cos(angle) * length) / 2, (Math.sin(angle) * length) / 2]
      const [from, until] = [project(to, [x - dx, y - dy]), project(to, [x + dx, y + dy])]
      const slant = Math.atan2(until[1] - from[1], until[0] - from[0])
      const normal = slant - Math.PI * Math.round(slant / Math.PI)
      return Math.abs(normal) < Math.PI / 6 ? [{ slant: normal, length }] : []
    })
    .toSorted((a, b) => a.slant - b.slant)
  const half = slants.reduce((sum, { length }) => sum + length, 0) / 2
  let sum = 0
  for (const { slant, length } of slants) {
    sum += length
    if (sum >= half) return slant
  }
  return 0
}

/** Pixels on the longer side of the picture in which the ink is looked at. */
const INK_SIDE = 1000
/** By how much a pixel is darker than the one above it at the upper edge of a letter. */
const EDGE_MIN = 40
/** Fewer edges are no lines. */
const EDGES_MIN = 500
/** How far the boxes can be wrong, and how exactly the slant is measured, in radians: a pixel over the width of the page. */
const [REACH, STEP] = [0.02, 0.001]
/** The angle between the boxes and the ink counts if the ink is sharper there by this factor. */
const SHARPER_MIN = 1.03
/** How much the slant of the lines at the bottom of a photo can differ from that at the top, how exactly it is looked for, and how exactly measured. */
const [CONVERGENCE_MAX, COARSE, FINE] = [0.12, 0.004, 0.001]
/** Lines that converge count if the ink is sharper so by this factor: photos have 1.3 and more, flat pages 1.2 and less. */
const CONVERGENCE_SHARPER_MIN = 1.25
/** As many edges tell it. */
const EDGES_SEEN = 12_000

/** How the lines of a page run: by how much they are slanted in its middle, and by how much more at its bottom than at its top. */
export interface Slope {
  slant: number
  convergence: number
}

/**
 * The angle near to `rough` at which the upper edges of the letters fall on the fewest lines, after a projection to a page of this size, and
 * how it changes from top to bottom. Short texts have boxes without a slant, so that their median is too small.
 */
export function slopeByInk(picture: Picture, to: Projection, size: { width: number; height: number }, rough: number): Slope {
  const scale = Math.max(1, Math.max(picture.width, picture.height) / INK_SIDE)
  const small = shrunk(picture, Math.round(picture.width / scale), Math.round(picture.height / scale))
  const edges = edgesOf(small, picture, to)
  if (edges.length < EDGES_MIN) return { slant: rough, convergence: 0 }
  const every = Math.ceil(edges.length / EDGES_SEEN)
  const ofAll = sharpnessOf(edges, size, scale)
  const ofSome = sharpnessOf(
    edges.filter((_, index) => index % every === 0),
    size,
    scale,
  )
  let [slant, most] = [rough, ofAll(rough, 0) * SHARPER_MIN]
  for (let angle = rough - REACH; angle <= rough + REACH; angle += STEP) {
    const one = ofAll(angle, 0)
    if (one > most) [slant, most] = [angle, one]
  }
  // Lines that only seem to converge, since the boxes are too wrong, are sharper at one angle further away.
  let level = 0
  for (let angle = rough - 2 * REACH; angle <= rough + 2 * REACH; angle += STEP) level = Math.max(level, ofSome(angle, 0))
  let best = { slant, convergence: 0, sharpness: level * CONVERGENCE_SHARPER_MIN }
  const look = (near: Slope, reach: Slope, step: number) => {
    for (let angle = near.slant - reach.slant; angle <= near.slant + reach.slant; angle += step)
      for (let change = near.convergence - reach.convergence; change <= near.convergence + reach.convergence; change += step) {
        const one = ofSome(angle, change)
        if (one > best.sharpness) best = { slant: angle, convergence: change, sharpness: one }
      }
  }
  look(best, { slant: REACH, convergence: CONVERGENCE_MAX }, COARSE)
  if (best.convergence) look(best, { slant: COARSE, convergence: COARSE }, FINE)
  return { slant: best.slant, convergence: best.convergence }
}

/**
 * How sharp the lines of these edges are, at a slant in the middle of the page and with a difference of it between bottom and top: the sum of
 * the squares of the edges on each line. It is asked for hundreds of times, so that the tangent of a difference is taken to be the difference.
 */
function sharpnessOf(points: readonly Point[], size: { width: number; height: number }, scale: number) {
  const lines = Math.ceil((size.width + size.height) / scale)
  const across = Float64Array.from(points, ([x]) => (x - size.width / 2) / scale)
  const down = Float64Array.from(points, ([, y]) => y / scale + (lines - size.height / scale) / 2 + 0.5)
  const fromMiddle = Float64Array.from(points, ([, y]) => y / size.height - 0.5)
  const counts = new Int32Array(lines)
  return (slant: number, convergence: number): number => {
    counts.fill(0)
    const slope = Math.tan(slant)
    for (let i = 0; i < across.length; i++) {
      const line = Math.floor(down[i]! - across[i]! * (slope + convergence * fromMiddle[i]!))
      if (line >= 0 && line < lines) counts[line]!++
    }
    let sum = 0
    for (let line = 0; line < lines; line++) sum += counts[line]! * counts[line]!
    return sum
  }
}

/** Where the picture becomes darker from top to bottom of the projected page, in its pixels. */
function edgesOf(small: Picture, picture: Picture, to: Projection): Point[] {
  const [right, down] = [picture.width / small.width, picture.height / small.height]
  const index = (x: number, y: number): Point => project(to, [(x + 0.5) * right, (y + 0.5) * down])
  // Which neighbor is the one above, once the page is upright.
  const [middleX, middleY] = [small.width / 2, small.height / 2]
  const center = index(middleX, middleY)
  const above = [
    [0, -1],
    [0, 1],
    [-1, 0],
    [1, 0],
  ].reduce((best, step) =>
    index(middleX + step[0]!, middleY + step[1]!)[1] < index(middleX + best[0]!, middleY + best[1]!)[1] ? step : best,
  )
  const points: Point[] = []
  if (center.some(Number.isNaN)) return points
  for (let y = 1; y < small.height - 1; y++)
    for (let x = 1; x < small.width - 1; x++) {
      const here = small.pixels[y * small.width + x]!
      const higher = small.pixels[(y + above[1]!) * small.width + x + above[0]!]!
      if (higher - here >= EDGE_MIN) points.push(index(x, y))
    }
  return points
}
