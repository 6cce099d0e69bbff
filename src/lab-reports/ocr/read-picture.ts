// A picture of a page to its words: made upright and straight, its texts detected, each recognized.
import { engine, LINE_HEIGHT } from './engine.ts'
import { lettersOf, type Letter } from './letters.ts'
import { detect, lineOf, type Line } from './lines.ts'
import type { Picture } from './picture.ts'
import { project, type Projection } from './projection.ts'
import { straightened } from './straighten.ts'
import type { TextBox } from './text-boxes.ts'
import { inkOf, wordsOfLine } from './words.ts'

/** A word in pixels of the straight page. */
export interface PictureWord {
  text: string
  left: number
  top: number
  right: number
  bottom: number
  confidence: number
}

export interface PicturePage {
  /** Of the straight page. */
  width: number
  height: number
  words: PictureWord[]
  /** From pixels of the straight page to those of the picture. */
  back: Projection
}

/** Pixels on the longer side of what the detector sees: letters of 6 points are 10 high in a page of paper. */
const DETECTED_SIDE = 1280
/** Of the height of a line's picture: the letters, as a font's size counts them. */
const FONT_SHARE = 0.62
/** A single digit is higher than wide; what is longer runs up or down the page. */
const SIGN_ASPECT_MAX = 3.2
/** The recognizer was trained with longer lines: a shorter one has gray to its right. */
const LINE_WIDTH_MIN = 96
/** Words of weak letters only are dirt. */
const CONFIDENCE_MIN = 0.3

export interface OcrOptions {
  /** Folder of the operator with other networks. */
  models?: string | undefined
}

/** Reads a page of at most some 3,400 pixels on a side. Errors: `OcrUnavailable`. */
export async function readPicture(page: Picture, { models }: OcrOptions): Promise<PicturePage> {
  const ocr = await engine(models)
  const { picture, back } = await straightened(ocr, page)
  const words: PictureWord[] = []
  for (const box of await detect(ocr, picture, DETECTED_SIDE)) {
    const level = levelBox(box)
    if (!level) continue
    const line = lineOf(picture, level)
    words.push(...wordsOf(lettersOf(await ocr.recognize(widened(line.picture, LINE_WIDTH_MIN)), ocr.alphabet), line))
  }
  return { width: picture.width, height: picture.height, words, back }
}

/** A box of a straight page with its length from left to right; undefined if its text runs up or down. */
export function levelBox(box: TextBox): TextBox | undefined {
  if (Math.abs(box.angle) < Math.PI / 4) return box
  if (box.length > box.thickness * SIGN_ASPECT_MAX) return undefined
  return { ...box, length: box.thickness, thickness: box.length, angle: box.angle - Math.sign(box.angle) * (Math.PI / 2) }
}

/** `IU` is often taken for `lU`, and the `L` at the end of `mg/dL` for `l.`: neither is a part of a unit. */
const corrected = (text: string): string => text.replace(/^([mµunk]?)lU(?=\/|$)/u, '$1IU').replace(/\/([dcmuµ]?)l\.$/u, '/$1L')

function wordsOf(read: readonly Letter[], { picture, place }: Line): PictureWord[] {
  const share = Math.max(LINE_WIDTH_MIN, picture.width) / picture.width
  const letters = read.map((letter) => ({ ...letter, at: letter.at * share })).filter(({ at }) => at <= 1)
  const [top, bottom] = [(LINE_HEIGHT * (1 - FONT_SHARE)) / 2, (LINE_HEIGHT * (1 + FONT_SHARE)) / 2]
  return wordsOfLine(letters, inkOf(picture), LINE_HEIGHT)
    .filter(({ clearest }) => clearest > CONFIDENCE_MIN)
    .map(({ text, left, right, confidence }) => {
      const corners = [
        [left, top],
        [right, top],
        [right, bottom],
        [left, bottom],
      ].map(([x, y]) => project(place, [x!, y!]))
      const middle = project(place, [(left + right) / 2, LINE_HEIGHT / 2])
      const half = Math.hypot(corners[3]![0] - corners[0]![0], corners[3]![1] - corners[0]![1]) / 2
      const xs = corners.map(([x]) => x)
      return {
        text: corrected(text),
        confidence,
        left: Math.min(...xs),
        right: Math.max(...xs),
        top: middle[1] - half,
        bottom: middle[1] + half,
      }
    })
}

/** With gray to the right up to a width. */
function widened({ width, height, pixels }: Picture, target: number): Picture {
  if (width >= target) return { width, height, pixels }
  const wide = new Uint8Array(target * height).fill(128)
  for (let y = 0; y < height; y++) wide.set(pixels.subarray(y * width, (y + 1) * width), y * target)
  return { width: target, height, pixels: wide }
}
