// A page of a file: its text where that can be what it shows, else what its picture shows.
import type { Canvas } from '@napi-rs/canvas'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'
import { pictureOf, type Picture } from '../ocr/picture.ts'
import { compose, IDENTITY, project, scaling, type Projection } from '../ocr/projection.ts'
import { readPicture, type OcrOptions } from '../ocr/read-picture.ts'
import { isUnit } from '../../lab-values/units.ts'
import { collectPixels } from '../pages/layers.ts'
import { boxAround, centerX, centerY, type Box, type PageText } from '../pages/page.ts'
import { coveredShare, withoutFolds } from '../pages/painted.ts'
import { operationsOf, pageText, readPaintedPartsOfPage, type Operations } from '../pages/pdf-text.ts'
import { decodePicture, drawPage } from '../pages/pictures.ts'
import { textQuality, type TextQuality } from '../pages/text-quality.ts'
import { isUsualWord } from './language.ts'
import { isReportWord } from './spelling.ts'

export type PageOptions = OcrOptions

/** Fewer letters on a large picture are a stamp or the line of a fax machine; a page of a report has a thousand. */
const LETTERS_MIN = 200
/** A page with as many has no room for a large picture of a report. */
const FULL_PAGE_LETTERS = 1_000
/** Share of the page. */
const LARGE_PICTURE = 0.4
/** More curves are letters that are drawn as outlines: a logo has some hundreds. */
const OUTLINES = 1_500
/** The longer side of a page that is an image, in points. */
const IMAGE_POINTS = 792

/** Quality of the text of a page. */
export const qualityOf = (page: PageText): TextQuality =>
  textQuality(page, { isKnown: (word) => isReportWord(word) || isUsualWord(word), isUnit })

/** Errors: `OcrUnavailable`. */
export async function readPdfPage(page: PDFPageProxy, options: PageOptions): Promise<PageText> {
  const operations = await operationsOf(page)
  const text = await pageText(page, operations)
  const pictures = unreadParts(page, text, operations)
  if (pictures === 'none') return text
  const { canvas, pixels_per_point } = await drawPage(page)
  const read = { ...(await pageOfPicture(canvas, pixels_per_point, options)), number: page.pageNumber }
  return pictures === 'page' ? read : joinPages(text, read, pictures)
}

/** Errors: `OcrUnavailable`, `UnreadablePicture`. */
export async function pageOfImage(bytes: Uint8Array, options: PageOptions): Promise<PageText> {
  const canvas = await decodePicture(bytes)
  return pageOfPicture(canvas, Math.max(canvas.width, canvas.height) / IMAGE_POINTS, options)
}

/** What of a page its text does not tell: nothing, the page, or what the pictures in these boxes show. */
function unreadParts(page: PDFPageProxy, text: PageText, operations: Operations): 'none' | 'page' | Box[] {
  const quality = qualityOf(text)
  if (quality === 'garbage' || !text.words.length) return 'page'
  const letters = lettersOf(text.words)
  if (letters >= FULL_PAGE_LETTERS) return 'none'
  const { pictures, curves } = readPaintedPartsOfPage(page, operations)
  const size = text.drawnPage ?? text
  const words = text.words.map(({ text: letters, box }) => ({ text: letters, box: text.drawnPage?.place(box) ?? box }))
  if (
    coveredShare(pictures, size) > LARGE_PICTURE &&
    lettersOf(words.filter((word) => isInside(word.box, pictures))) < LETTERS_MIN
  )
    return letters < LETTERS_MIN || text.drawnPage ? 'page' : pictures
  return letters < LETTERS_MIN && curves > OUTLINES ? 'page' : 'none'
}

const lettersOf = (words: readonly { text: string }[]): number => words.reduce((sum, { text }) => sum + text.length, 0)

const isInside = (box: Box, boxes: readonly Box[]): boolean => {
  const [x, y] = [centerX(box), centerY(box)]
  return boxes.some(({ left, top, right, bottom }) => left <= x && x <= right && top <= y && y <= bottom)
}

/** The text of a page outside its pictures, and what was read in them. */
function joinPages(text: PageText, { words, unread = [], ink = [], drawnPage }: PageText, pictures: readonly Box[]): PageText {
  const placed = (box: Box) => drawnPage?.place(box) ?? box
  const inPictures = (boxes: readonly Box[]) => boxes.map(placed).filter((box) => isInside(box, pictures))
  const read = words.map((word) => ({ ...word, box: placed(word.box) }))
  return {
    ...text,
    source: 'ocr',
    unread: inPictures(unread),
    ink: inPictures(ink),
    words: [...text.words.filter(({ box }) => !isInside(box, pictures)), ...read.filter(({ box }) => isInside(box, pictures))],
  }
}

/** @param canvas is empty afterwards */
async function pageOfPicture(canvas: Canvas, scale: number, options: PageOptions): Promise<PageText> {
  const [drawnWidth, drawnHeight] = [canvas.width / scale, canvas.height / scale]
  const { words, unread, ink, width, height, back } = await readPicture(takenFrom(canvas), options)
  const inPoints = ({ left, top, right, bottom }: Box): Box => ({
    left: left / scale,
    top: top / scale,
    right: right / scale,
    bottom: bottom / scale,
  })
  const placed = words.map(({ text, confidence, ...box }) => ({ text, confidence, box: inPoints(box) }))
  const page = {
    number: 1,
    width: width / scale,
    height: height / scale,
    source: 'ocr' as const,
    unread: unread.map(inPoints),
    ink: ink.texts.map(inPoints),
    drawings: { lines: withoutFolds(ink.rules.map(inPoints), placed), areas: [] },
  }
  if (back === IDENTITY) return { ...page, words: placed }
  const toDrawn = compose(compose(scaling(scale), back), scaling(1 / scale))
  const drawnPage = { width: drawnWidth, height: drawnHeight, place: (box: Box) => projectedBox(toDrawn, box) }
  return { ...page, words: placed, drawnPage }
}

/** The picture of a canvas, which is empty afterwards: its pixels would stay in memory while the picture is read. */
function takenFrom(canvas: Canvas): Picture {
  const picture = pictureOf(canvas)
  canvas.width = canvas.height = 0
  collectPixels()
  return picture
}

/** The smallest box around a projected one. */
function projectedBox(projection: Projection, { left, top, right, bottom }: Box): Box {
  const corners = [
    project(projection, [left, top]),
    project(projection, [right, top]),
    project(projection, [right, bottom]),
    project(projection, [left, bottom]),
  ]
  return boxAround(corners.map(([x, y]) => ({ left: x, right: x, top: y, bottom: y })))
}
