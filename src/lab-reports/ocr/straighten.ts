// Pages of pictures made upright, level and flat: corners of the paper, quarter turns, slant.
import type { Engine } from './engine.ts'
import { decodeLetters, type Letter } from './letters.ts'
import { type Picture, shrink, thresholdOf, warp } from './picture.ts'
import {
  compose,
  type Corners,
  IDENTITY,
  inverse,
  type Point,
  project,
  type Projection,
  quarterTurn,
  rotation,
  toCorners,
} from './projection.ts'
import { detect, hullOf, cutLine, type TextBox } from './text-boxes.ts'

export interface StraightPage {
  picture: Picture
  /** From its pixels to those of the page as it was. */
  toDrawn: Projection
}

/** Pixels on the longer side of what the direction of lines is taken from. */
const SEEN_SIDE = 736
/** Boxes that are longer than thick by this much have a direction. */
const ASPECT_MIN = 3
/** Lines that are read to know which way is up, and how long they are at most, in heights. */
const [PROBES, PROBE_ASPECT_MAX] = [4, 14]
/** Confidence of letters that are read the right way up; upside down it is 0.5 and less. */
const UPRIGHT_MIN = 0.85
/** A page that is turned by less is straight: half a millimeter over the width of the paper. */
const SLANT_MIN = 0.0025
/** Pixels on a side after a page was straightened. */
const SIDE_MAX = 3_400

/** How a page lies: seen small, before anything of it is read. */
interface Look {
  boxes: TextBox[]
  corners: Corners | undefined
  /** The quarters by which the page may have to be turned clockwise, the likeliest first and its reverse next; each with its lines. */
  turns: { quarters: Quarters; lines: TextBox[] }[]
}

type Quarters = 0 | 1 | 2 | 3

/**
 * The page upright and straight; as it is if it has no lines to go by.
 * @param openPage finds the lines of a page; called again if the page is not upright the first time, which few are not
 * @param sureness how sure the letters of some of these lines are, from 0 to 1; `isReversed`: read as if the page stood on its head. What
 *   it reads of an upright page need not be read again: lines that were read beforehand took 14 % of the time of a page
 */
export async function straighten<Page extends StraightPage>(
  ocr: Engine,
  picture: Picture,
  openPage: (page: StraightPage) => Promise<Page>,
  sureness: (page: Page, isReversed: boolean) => Promise<number>,
): Promise<Page> {
  const look = await lookAt(ocr, picture)
  const [likeliest] = look.turns
  if (!likeliest) return openPage({ picture, toDrawn: IDENTITY })
  const page = await openPage(turnPage(picture, look, likeliest.quarters))
  const quarters = await findQuarters(ocr, picture, look, (isReversed) => sureness(page, isReversed))
  return quarters === likeliest.quarters ? page : openPage(turnPage(picture, look, quarters))
}

async function lookAt(ocr: Engine, picture: Picture): Promise<Look> {
  const boxes = (await detect(ocr, picture, SEEN_SIDE)).filter((box) => box.length > box.thickness * ASPECT_MIN)
  return { boxes, corners: boxes.length ? cornersOfPaper(picture) : undefined, turns: turnsOf(boxes) }
}

/** The page of a picture, turned by these quarters and made straight. */
function turnPage(picture: Picture, { boxes, corners }: Look, quarters: Quarters): StraightPage {
  const flat = corners ? flatten(corners) : { projection: IDENTITY, width: picture.width, height: picture.height }
  const upright = compose(flat.projection, quarterTurn(quarters, flat.width, flat.height))
  const [width, height] = quarters % 2 ? [flat.height, flat.width] : [flat.width, flat.height]
  const { slant, convergence } = slopeByInk(picture, upright, { width, height }, medianSlant(boxes, upright))
  if (!corners && !quarters && Math.abs(slant) < SLANT_MIN && !convergence) return { picture, toDrawn: IDENTITY }
  const level = compose(upright, rotation(-slant, [width / 2, height / 2]))
  const straight = convergence ? compose(level, parallel(convergence, width, height)) : level
  return cropToCorners(picture, straight, corners ?? cornersOf(picture))
}

/** Makes lines of a page of this size parallel that are slanted by `convergence` more at its bottom than at its top. */
export function parallel(convergence: number, width: number, height: number): Projection {
  const by = (Math.tan(convergence / 2) * width) / 2
  const sides: Corners = [
    [0, by],
    [width, -by],
    [width, height + by],
    [0, height - by],
  ]
  return inverse(toCorners(sides, width, height))
}

const cornersOf = ({ width, height }: Picture): Corners => [
  [0, 0],
  [width, 0],
  [width, height],
  [0, height],
]

/** Maps the paper to a rectangle with sides of its mean lengths. */
function flatten(corners: Corners): { projection: Projection; width: number; height: number } {
  const side = (startCorner: number, endCorner: number) =>
    Math.hypot(corners[endCorner]![0] - corners[startCorner]![0], corners[endCorner]![1] - corners[startCorner]![1])
  const width = Math.round((side(0, 1) + side(3, 2)) / 2)
  const height = Math.round((side(0, 3) + side(1, 2)) / 2)
  return { projection: inverse(toCorners(corners, width, height)), width, height }
}

/**
 * The direction in which most texts are long comes first: in a table that is turned, the short texts of a column are long boxes across it,
 * which cannot be read either way.
 */
function turnsOf(boxes: readonly TextBox[]): Look['turns'] {
  if (!boxes.length) return []
  const isLevel = (box: TextBox) => Math.abs(box.angle) < Math.PI / 4
  const lengthOf = (lines: readonly TextBox[]) => lines.reduce((sum, box) => sum + box.length, 0)
  const level = boxes.filter(isLevel)
  // Lines that run down the page, whichever way their boxes were measured.
  const down = boxes
    .filter((box) => !isLevel(box))
    .map((box) => ({ ...box, angle: box.angle < 0 ? box.angle + Math.PI : box.angle }))
  const reversed = (lines: readonly TextBox[]) => lines.map((box) => ({ ...box, angle: box.angle + Math.PI }))
  const across: Look['turns'] = [
    { quarters: 0, lines: level },
    { quarters: 2, lines: reversed(level) },
  ]
  const upAndDown: Look['turns'] = [
    { quarters: 3, lines: down },
    { quarters: 1, lines: reversed(down) },
  ]
  return lengthOf(level) >= lengthOf(down) ? [...across, ...upAndDown] : [...upAndDown, ...across]
}

/**
 * By how many quarters the page has to be turned. The page of the likeliest turn is read either way: its lines are apart, where those of a
 * page that is seen small may be one box. The others are read as they are seen small.
 */
async function findQuarters(
  ocr: Engine,
  picture: Picture,
  { turns }: Look,
  ofLikeliest: (isReversed: boolean) => Promise<number>,
): Promise<Quarters> {
  let best = { quarters: turns[0]!.quarters, sureness: 0 }
  for (const [index, { quarters, lines }] of turns.entries()) {
    const sureness = index < 2 ? await ofLikeliest(index === 1) : await surenessSmall(ocr, picture, lines)
    if (sureness > best.sureness) best = { quarters, sureness }
    if (best.sureness >= UPRIGHT_MIN) break
  }
  return best.quarters
}

async function surenessSmall(ocr: Engine, picture: Picture, lines: readonly TextBox[]): Promise<number> {
  const read: Letter[][] = []
  for (const box of probesOf(lines)) read.push(decodeLetters(await ocr.recognize(cutLine(picture, box).picture), ocr.alphabet))
  return surenessOf(read)
}

/** The lines that are read to know whether a page is upright. */
export const probesOf = <Box extends TextBox>(boxes: readonly Box[]): Box[] =>
  boxes
    .filter((box) => box.length < box.thickness * PROBE_ASPECT_MAX)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, PROBES)

/** How sure the letters of lines are; a line without letters is not sure at all. */
export function surenessOf(lines: readonly (readonly Letter[])[]): number {
  const sum = (letters: readonly Letter[]) => letters.reduce((total, { confidence }) => total + confidence, 0)
  return lines.length ? lines.reduce((total, letters) => total + sum(letters) / (letters.length || 1), 0) / lines.length : 0
}

/** What is within `corners`, under a projection, moved to the origin. */
function cropToCorners(picture: Picture, projection: Projection, corners: Corners): StraightPage {
  const points = corners.map((corner): Point => project(projection, corner))
  const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))]
  const size = (start: number, end: number) => Math.max(1, Math.min(SIDE_MAX, Math.ceil(end - start)))
  const width = size(left, Math.max(...points.map(([x]) => x)))
  const height = size(top, Math.max(...points.map(([, y]) => y)))
  const back = inverse(compose(projection, [1, 0, -left, 0, 1, -top, 0, 0, 1]))
  return { picture: warp(picture, back, width, height), toDrawn: back }
}

/** The angle of most lines after a projection, in radians: the median, weighted by their lengths. */
export function medianSlant(boxes: readonly TextBox[], projection: Projection): number {
  const slants = boxes
    .flatMap(({ x, y, length, angle }) => {
      const [dx, dy] = [(Math.cos(angle) * length) / 2, (Math.sin(angle) * length) / 2]
      const [start, end] = [project(projection, [x - dx, y - dy]), project(projection, [x + dx, y + dy])]
      const slant = Math.atan2(end[1] - start[1], end[0] - start[0])
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
/** Fewer edges are not lines. */
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
export function slopeByInk(
  picture: Picture,
  projection: Projection,
  size: { width: number; height: number },
  rough: number,
): Slope {
  const scale = Math.max(1, Math.max(picture.width, picture.height) / INK_SIDE)
  const small = shrink(picture, Math.round(picture.width / scale), Math.round(picture.height / scale))
  const edges = findEdges(small, picture, projection)
  if (edges.length < EDGES_MIN) return { slant: rough, convergence: 0 }
  const every = Math.ceil(edges.length / EDGES_SEEN)
  const ofAll = createSharpness(edges, size, scale)
  const ofSome = createSharpness(
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
  const look = (center: Slope, reach: Slope, step: number) => {
    for (let angle = center.slant - reach.slant; angle <= center.slant + reach.slant; angle += step)
      for (
        let change = center.convergence - reach.convergence;
        change <= center.convergence + reach.convergence;
        change += step
      ) {
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
function createSharpness(points: readonly Point[], size: { width: number; height: number }, scale: number) {
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
function findEdges(small: Picture, picture: Picture, projection: Projection): Point[] {
  const [right, down] = [picture.width / small.width, picture.height / small.height]
  const index = (x: number, y: number): Point => project(projection, [(x + 0.5) * right, (y + 0.5) * down])
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

/** Pixels on the longer side of what is looked at: a corner is found within a thousandth of the picture. */
const SIDE = 512
/** Shares of the picture: a smaller area is a card or a window on it, a larger one has no edges. */
const [AREA_MIN, AREA_MAX] = [0.3, 0.985]
/** Share of the paper's area that four corners must describe. */
const FIT_MIN = 0.96
/** Share of the area around the paper: if more is as bright, it is paper that a line of a scanner cuts off. */
const BRIGHT_AROUND_MAX = 0.5

/** The corners of the paper in a picture; undefined if there are no clear ones. */
export function cornersOfPaper(picture: Picture): Corners | undefined {
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height))
  const small = shrink(picture, Math.round(picture.width * scale), Math.round(picture.height * scale))
  const paper = largestArea(small)
  const hull = hullOf(outline(paper, small.width))
  if (hull.length < 4) return undefined
  const most = (weight: (point: Point) => number): Point =>
    hull.reduce((best, point) => (weight(point) > weight(best) ? point : best))
  const corners: Corners = [most(([x, y]) => -x - y), most(([x, y]) => x - y), most(([x, y]) => x + y), most(([x, y]) => y - x)]
  const [area, frame] = [areaOf(corners), small.width * small.height]
  if (area < frame * AREA_MIN || area > frame * AREA_MAX || area < areaOf(hull) * FIT_MIN) return undefined
  if (brightAround(small, corners) > BRIGHT_AROUND_MAX) return undefined
  const [right, down] = [picture.width / small.width, picture.height / small.height]
  return corners.map(([x, y]): Point => [x * right, y * down]) as unknown as Corners
}

/** Which share of the pixels outside these corners is bright. */
function brightAround({ width, height, pixels }: Picture, corners: Corners): number {
  const threshold = thresholdOf(pixels)
  let [bright, count] = [0, 0]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (isWithin([x + 0.5, y + 0.5], corners)) continue
      count++
      if (pixels[y * width + x]! >= threshold) bright++
    }
  return count ? bright / count : 0
}

const isWithin = ([x, y]: Point, corners: Corners): boolean =>
  corners.every(([fromX, fromY], index) => {
    const [toX, toY] = corners[(index + 1) % 4]!
    return (toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX) >= 0
  })

/** Which pixels belong to the largest connected bright area: 1 for those. */
function largestArea({ width, height, pixels }: Picture): Uint8Array {
  const threshold = thresholdOf(pixels)
  const marks = new Int32Array(pixels.length)
  // Each pixel is on it once at most.
  const stack = new Int32Array(pixels.length)
  let [best, bestCount, mark, depth] = [0, 0, 0, 0]
  for (let start = 0; start < pixels.length; start++) {
    if (marks[start] || pixels[start]! < threshold) continue
    marks[start] = ++mark
    stack[depth++] = start
    let count = 0
    const visit = (next: number) => {
      if (marks[next] || pixels[next]! < threshold) return
      marks[next] = mark
      stack[depth++] = next
    }
    while (depth) {
      const index = stack[--depth]!
      count++
      const x = index % width
      if (x > 0) visit(index - 1)
      if (x < width - 1) visit(index + 1)
      if (index >= width) visit(index - width)
      if (index < width * (height - 1)) visit(index + width)
    }
    if (count > bestCount) [best, bestCount] = [mark, count]
  }
  return Uint8Array.from(marks, (value) => Number(best > 0 && value === best))
}

/** The outermost corners of the pixels of each row. */
function outline(area: Uint8Array, width: number): Point[] {
  const points: Point[] = []
  for (let start = 0, y = 0; start < area.length; start += width, y++) {
    const row = area.subarray(start, start + width)
    const [left, right] = [row.indexOf(1), row.lastIndexOf(1) + 1]
    if (left >= 0) points.push([left, y], [right, y], [left, y + 1], [right, y + 1])
  }
  return points
}

/** Area of a polygon (the shoelace formula). */
const areaOf = (points: readonly Point[]): number =>
  Math.abs(
    points.reduce((sum, [x, y], index) => {
      const [nextX, nextY] = points[(index + 1) % points.length]!
      return sum + x * nextY - nextX * y
    }, 0),
  ) / 2
