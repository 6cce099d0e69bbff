// Pages as a reader holds them: upright, straight, without perspective.
import type { Engine } from './engine.ts'
import { lettersOf } from './letters.ts'
import { detect, lineOf } from './lines.ts'
import { cornersOfPaper } from './paper.ts'
import { warped, type Picture } from './picture.ts'
import {
  compose,
  IDENTITY,
  inverse,
  project,
  quarterTurn,
  rotation,
  toCorners,
  type Corners,
  type Point,
  type Projection,
} from './projection.ts'
import type { TextBox } from './text-boxes.ts'

export interface StraightPage {
  picture: Picture
  /** From its pixels to those of the page as it was. */
  back: Projection
}

/** Pixels on the longer side of what the direction of lines is taken from. */
const SEEN_SIDE = 736
/** Boxes that are longer than thick by this much have a direction. */
const ASPECT_MIN = 3
/** Lines that are read to know which way is up, and how long they are at most, in heights. */
const [PROBES, PROBE_ASPECT_MAX] = [4, 14]
/** Of letters that are read the right way up; of those upside down it is 0.5 and less. */
const UPRIGHT_MIN = 0.85
/** A page that is turned by less is straight: half a millimeter over the width of the paper. */
const SLANT_MIN = 0.0025
/** Pixels on a side after a page was straightened. */
const SIDE_MAX = 3_400

/** The page upright and straight; as it is if it has no lines to go by. */
export async function straightened(ocr: Engine, picture: Picture): Promise<StraightPage> {
  const boxes = (await detect(ocr, picture, SEEN_SIDE)).filter((box) => box.length > box.thickness * ASPECT_MIN)
  if (!boxes.length) return { picture, back: IDENTITY }
  const corners = cornersOfPaper(picture)
  const flat = corners ? flattened(corners) : { to: IDENTITY, width: picture.width, height: picture.height }
  const quarters = await quartersOf(ocr, picture, boxes)
  const turned = compose(flat.to, quarterTurn(quarters, flat.width, flat.height))
  const [width, height] = quarters % 2 ? [flat.height, flat.width] : [flat.width, flat.height]
  const slant = slantOf(boxes, turned)
  if (!corners && !quarters && Math.abs(slant) < SLANT_MIN) return { picture, back: IDENTITY }
  const straight = compose(turned, rotation(-slant, [width / 2, height / 2]))
  return fitted(picture, straight, corners ?? cornersOf(picture))
}

const cornersOf = ({ width, height }: Picture): Corners => [
  [0, 0],
  [width, 0],
  [width, height],
  [0, height],
]

/** Maps the paper to a rectangle with sides of its mean lengths. */
function flattened(corners: Corners): { to: Projection; width: number; height: number } {
  const side = (from: number, to: number) => Math.hypot(corners[to]![0] - corners[from]![0], corners[to]![1] - corners[from]![1])
  const width = Math.round((side(0, 1) + side(3, 2)) / 2)
  const height = Math.round((side(0, 3) + side(1, 2)) / 2)
  return { to: inverse(toCorners(corners, width, height)), width, height }
}

/** By how many quarters the page has to be turned clockwise to be upright. */
async function quartersOf(ocr: Engine, picture: Picture, boxes: readonly TextBox[]): Promise<0 | 1 | 2 | 3> {
  const isLevel = (box: TextBox) => Math.abs(box.angle) < Math.PI / 4
  const lengthOf = (some: readonly TextBox[]) => some.reduce((sum, box) => sum + box.length, 0)
  const level = boxes.filter(isLevel)
  const steep = boxes.filter((box) => !isLevel(box))
  const areLevel = lengthOf(level) >= lengthOf(steep)
  // Lines that run down the page, whichever way their boxes were measured.
  const lines = areLevel ? level : steep.map((box) => ({ ...box, angle: box.angle < 0 ? box.angle + Math.PI : box.angle }))
  const probes = lines
    .filter((box) => box.length < box.thickness * PROBE_ASPECT_MAX)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, PROBES)
  const along = await confidenceOf(ocr, picture, probes)
  const isReversed =
    along < UPRIGHT_MIN &&
    (await confidenceOf(
      ocr,
      picture,
      probes.map((box) => ({ ...box, angle: box.angle + Math.PI })),
    )) > along
  if (areLevel) return isReversed ? 2 : 0
  return isReversed ? 1 : 3
}

async function confidenceOf(ocr: Engine, picture: Picture, boxes: readonly TextBox[]): Promise<number> {
  let [sum, count] = [0, 0]
  for (const box of boxes)
    for (const { confidence } of lettersOf(await ocr.recognize(lineOf(picture, box).picture), ocr.alphabet)) {
      sum += confidence
      count++
    }
  return count ? sum / count : 1
}

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
    .toSorted((one, other) => one.slant - other.slant)
  const half = slants.reduce((sum, { length }) => sum + length, 0) / 2
  let sum = 0
  for (const { slant, length } of slants) {
    sum += length
    if (sum >= half) return slant
  }
  return 0
}

/** What is within `corners`, under the projection `to`, moved to the origin. */
function fitted(picture: Picture, to: Projection, corners: Corners): StraightPage {
  const points = corners.map((corner): Point => project(to, corner))
  const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))]
  const size = (from: number, until: number) => Math.max(1, Math.min(SIDE_MAX, Math.ceil(until - from)))
  const width = size(left, Math.max(...points.map(([x]) => x)))
  const height = size(top, Math.max(...points.map(([, y]) => y)))
  const back = inverse(compose(to, [1, 0, -left, 0, 1, -top, 0, 0, 1]))
  return { picture: warped(picture, back, width, height), back }
}
