// A picture of a page to its words: made upright and straight, its texts detected, each recognized.
import { engine, type Engine, LINE_HEIGHT } from './engine.ts'
import { type Ink, inkOfPage } from './ink.ts'
import { decodeLetters, type Letter } from './letters.ts'
import { isBlank, type Picture } from './picture.ts'
import { IDENTITY, project, type Projection } from './projection.ts'
import { type LineReading, readLine } from './read-line.ts'
import { probesOf, straighten, type StraightPage, surenessOf } from './straighten.ts'
import { detect, cutLine, type TextBox } from './text-boxes.ts'
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
  /** Width of the straight page. */
  width: number
  height: number
  words: PictureWord[]
  /** Where there is a text of which no letter was recognized. */
  unread: Omit<PictureWord, 'text' | 'confidence'>[]
  /** What is seen without text recognition. */
  ink: Ink
  /** From pixels of the straight page to those of the picture. */
  back: Projection
}

/** Pixels on the longer side of what the detector sees: letters of 6 points are 10 high in a page of paper. */
const DETECTED_SIDE = 1280
/** Share of the height of a line's picture that is the font size. */
const FONT_SHARE = 0.62
/** A single digit is higher than wide; what is longer runs up or down the page. */
const SIGN_ASPECT_MAX = 3.2
/** Words of weak letters only are dirt. */
const CONFIDENCE_MIN = 0.3

export interface OcrOptions {
  /** Folder of the operator with other networks. */
  models?: string | undefined
}

/** A line of a page; what it says is read when it is asked for, and once. */
interface LineOfPage extends TextBox {
  read(): Promise<LineReading>
}

interface OpenedPage extends StraightPage {
  lines: LineOfPage[]
}

/** Reads a page of at most some 3,400 pixels on a side. Errors: `OcrUnavailable`. */
export async function readPicture(page: Picture, { models }: OcrOptions): Promise<PicturePage> {
  const ocr = await engine(models)
  if (isBlank(page))
    return { width: page.width, height: page.height, words: [], unread: [], ink: { texts: [], rules: [] }, back: IDENTITY }
  const { picture, toDrawn: back, lines } = await uprightPage(ocr, page)
  const words: PictureWord[] = []
  const unread: PicturePage['unread'] = []
  for (const { x, y, length, thickness, read } of lines) {
    const own = placeWords(await read())
    if (!own.length) {
      const half = (thickness * FONT_SHARE) / 2
      unread.push({ left: x - length / 2, right: x + length / 2, top: y - half, bottom: y + half })
    }
    words.push(...own)
  }
  return {
    width: picture.width,
    height: picture.height,
    words: withoutRepeatedLetters(withoutSpecks(words)),
    unread,
    ink: inkOfPage(picture),
    back,
  }
}

/** The page upright and straight, with its lines; few of them have been read. */
export const uprightPage = (ocr: Engine, page: Picture): Promise<OpenedPage> =>
  straighten(
    ocr,
    page,
    (straight) => openPage(ocr, straight),
    (read, isReversed) => surenessOfPage(ocr, read, isReversed),
  )

/** Share of the usual height of words below which a sign is a speck, and the maximum confidence of its letter. */
const [SPECK_HEIGHT_MAX, SPECK_CONFIDENCE_MAX] = [0.7, 0.6]

/** Specks and small signs next to a result are read as an unsure letter or digit, which would be taken for the result. */
export function withoutSpecks<Word extends Pick<PictureWord, 'text' | 'confidence' | 'top' | 'bottom'>>(
  words: readonly Word[],
): Word[] {
  const heights = words.map(({ top, bottom }) => bottom - top).toSorted((a, b) => a - b)
  const small = (heights[heights.length >> 1] ?? 0) * SPECK_HEIGHT_MAX
  return words.filter(
    ({ text, confidence, top, bottom }) =>
      !(text.length === 1 && /[\p{L}\d]/u.test(text) && confidence < SPECK_CONFIDENCE_MAX && bottom - top < small),
  )
}

/** Share of the width of a word that lies within another one. */
const WITHIN_SHARE = 0.6

/** Boxes of texts may overlap, so that letters at the edge of one are read again in the other: as a word of one or two letters within a longer word. */
export function withoutRepeatedLetters<Word extends Omit<PictureWord, 'confidence'>>(words: readonly Word[]): Word[] {
  const isWithin = (letters: Word, word: Word) => {
    const [height, width] = [letters.bottom - letters.top, letters.right - letters.left]
    return (
      word.text.length > letters.text.length &&
      Math.min(word.bottom, letters.bottom) - Math.max(word.top, letters.top) > height / 2 &&
      Math.min(word.right, letters.right) - Math.max(word.left, letters.left) > width * WITHIN_SHARE
    )
  }
  return words.filter((item) => item.text.length > 2 || !words.some((word) => isWithin(item, word)))
}

async function openPage(ocr: Engine, page: StraightPage): Promise<OpenedPage> {
  const boxes = (await detect(ocr, page.picture, DETECTED_SIDE)).flatMap((box) => levelBox(box) ?? [])
  const lines = boxes.map((box) => {
    let known: ReturnType<LineOfPage['read']> | undefined
    return { ...box, read: () => (known ??= readLine(ocr, page.picture, box)) }
  })
  return { ...page, lines }
}

/** How sure the letters of some lines of the page are. @param isReversed read as if the page stood on its head */
async function surenessOfPage(ocr: Engine, { lines, picture }: OpenedPage, isReversed: boolean): Promise<number> {
  const read: Letter[][] = []
  for (const probe of probesOf(lines))
    read.push(
      isReversed
        ? decodeLetters(await ocr.recognize(cutLine(picture, { ...probe, angle: probe.angle + Math.PI }).picture), ocr.alphabet)
        : (await probe.read()).letters,
    )
  return surenessOf(read)
}

/** A box of a straight page with its length from left to right; undefined if its text runs up or down. */
export function levelBox(box: TextBox): TextBox | undefined {
  if (Math.abs(box.angle) < Math.PI / 4) return box
  if (box.length > box.thickness * SIGN_ASPECT_MAX) return undefined
  return { ...box, length: box.thickness, thickness: box.length, angle: box.angle - Math.sign(box.angle) * (Math.PI / 2) }
}

/** `IU` is often taken for `lU`, the `L` at the end of `mg/dL` for `l.`, and that of `10^12/L` for a 1: none is a part of a unit. */
const correctUnit = (text: string): string =>
  text
    .replace(/^([mµunk]?)lU(?=\/|$)/u, '$1IU')
    .replace(/\/([dcmuµ]?)l\.$/u, '/$1L')
    .replace(/(10\^?(?:9|12))\/[1lI|]$/u, '$1/L')

/** The words of a line at their places on the page. */
export function placeWords({ letters, line: { picture, place, stretch } }: LineReading): PictureWord[] {
  const [top, bottom] = [(LINE_HEIGHT * (1 - FONT_SHARE)) / 2, (LINE_HEIGHT * (1 + FONT_SHARE)) / 2]
  return wordsOfLine(letters, inkOf(picture), LINE_HEIGHT * stretch)
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
        text: correctUnit(text),
        confidence,
        left: Math.min(...xs),
        right: Math.max(...xs),
        top: middle[1] - half,
        bottom: middle[1] + half,
      }
    })
}
