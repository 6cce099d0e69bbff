// Pages as a reader holds them: upright, straight, without perspective.
import type { Engine } from './engine.ts'
import { lettersOf, type Letter } from './letters.ts'
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
import { slantOf, slopeByInk } from './slant.ts'
import type { TextBox } from './text-boxes.ts'

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
/** Of letters that are read the right way up; of those upside down it is 0.5 and less. */
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
export async function straightened<Page extends StraightPage>(
  ocr: Engine,
  picture: Picture,
  openPage: (page: StraightPage) => Promise<Page>,
  sureness: (page: Page, isReversed: boolean) => Promise<number>,
): Promise<Page> {
  const look = await lookAt(ocr, picture)
  const [likeliest] = look.turns
  if (!likeliest) return openPage({ picture, toDrawn: IDENTITY })
  const page = await openPage(turnPage(picture, look, likeliest.quarters))
  const quarters = await quartersOf(ocr, picture, look, (isReversed) => sureness(page, isReversed))
  return quarters === likeliest.quarters ? page : openPage(turnPage(picture, look, quarters))
}

async function lookAt(ocr: Engine, picture: Picture): Promise<Look> {
  const boxes = (await detect(ocr, picture, SEEN_SIDE)).filter((box) => box.length > box.thickness * ASPECT_MIN)
  return { boxes, corners: boxes.length ? cornersOfPaper(picture) : undefined, turns: turnsOf(boxes) }
}

/** The page of a picture, turned by these quarters and made straight. */
function turnPage(picture: Picture, { boxes, corners }: Look, quarters: Quarters): StraightPage {
  const flat = corners ? flattened(corners) : { projection: IDENTITY, width: picture.width, height: picture.height }
  const upright = compose(flat.projection, quarterTurn(quarters, flat.width, flat.height))
  const [width, height] = quarters % 2 ? [flat.height, flat.width] : [flat.width, flat.height]
  const { slant, convergence } = slopeByInk(picture, upright, { width, height }, slantOf(boxes, upright))
  if (!corners && !quarters && Math.abs(slant) < SLANT_MIN && !convergence) return { picture, toDrawn: IDENTITY }
  const level = compose(upright, rotation(-slant, [width / 2, height / 2]))
  const straight = convergence ? compose(level, parallel(convergence, width, height)) : level
  return fitted(picture, straight, corners ?? cornersOf(picture))
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
function flattened(corners: Corners): { projection: Projection; width: number; height: number } {
  const side = (from: number, to: number) => Math.hypot(corners[to]![0] - corners[from]![0], corners[to]![1] - corners[from]![1])
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
  const lengthOf = (some: readonly TextBox[]) => some.reduce((sum, box) => sum + box.length, 0)
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
async function quartersOf(
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
  for (const box of probesOf(lines)) read.push(lettersOf(await ocr.recognize(lineOf(picture, box).picture), ocr.alphabet))
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

/** What is within `corners`, under the projection `to`, moved to the origin. */
function fitted(picture: Picture, projection: Projection, corners: Corners): StraightPage {
  const points = corners.map((corner): Point => project(projection, corner))
  const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))]
  const size = (from: number, until: number) => Math.max(1, Math.min(SIDE_MAX, Math.ceil(until - from)))
  const width = size(left, Math.max(...points.map(([x]) => x)))
  const height = size(top, Math.max(...points.map(([, y]) => y)))
  const back = inverse(compose(projection, [1, 0, -left, 0, 1, -top, 0, 0, 1]))
  return { picture: warped(picture, back, width, height), toDrawn: back }
}
