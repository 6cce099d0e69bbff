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
import { slantByInk, slantOf } from './slant.ts'
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
  const slant = slantByInk(picture, turned, { width, height }, slantOf(boxes, turned))
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

/**
 * By how many quarters the page has to be turned clockwise to be upright. The direction in which most texts are long is tried first: in a
 * table that is turned, the short texts of a column are long boxes across it, which cannot be read either way.
 */
async function quartersOf(ocr: Engine, picture: Picture, boxes: readonly TextBox[]): Promise<0 | 1 | 2 | 3> {
  const isLevel = (box: TextBox) => Math.abs(box.angle) < Math.PI / 4
  const lengthOf = (some: readonly TextBox[]) => some.reduce((sum, box) => sum + box.length, 0)
  const level = { boxes: boxes.filter(isLevel), turns: [0, 2] as const }
  // Lines that run down the page, whichever way their boxes were measured.
  const down = (box: TextBox) => ({ ...box, angle: box.angle < 0 ? box.angle + Math.PI : box.angle })
  const steep = { boxes: boxes.filter((box) => !isLevel(box)).map(down), turns: [3, 1] as const }
  const directions = lengthOf(level.boxes) >= lengthOf(steep.boxes) ? [level, steep] : [steep, level]
  let best: { turn: 0 | 1 | 2 | 3; confidence: number } | undefined
  for (const { boxes: lines, turns } of directions) {
    const probes = lines
      .filter((box) => box.length < box.thickness * PROBE_ASPECT_MAX)
      .toSorted((one, other) => other.length - one.length)
      .slice(0, PROBES)
    for (const [index, turn] of turns.entries()) {
      const turned = probes.map((box) => ({ ...box, angle: box.angle + index * Math.PI }))
      const confidence = await confidenceOf(ocr, picture, turned)
      if (!best || confidence > best.confidence) best = { turn, confidence }
      if (best.confidence >= UPRIGHT_MIN) return best.turn
    }
  }
  return best!.turn
}

/** How sure the letters of these lines are; a line without letters is not sure at all. */
async function confidenceOf(ocr: Engine, picture: Picture, boxes: readonly TextBox[]): Promise<number> {
  let sum = 0
  for (const box of boxes) {
    const letters = lettersOf(await ocr.recognize(lineOf(picture, box).picture), ocr.alphabet)
    sum += letters.reduce((total, { confidence }) => total + confidence, 0) / (letters.length || 1)
  }
  return boxes.length ? sum / boxes.length : 0
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
