// A page of a file: its text where that can be what it shows, else what its picture shows.
import type { Canvas } from '@napi-rs/canvas'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'
import { pictureOf } from '../ocr/picture.ts'
import { compose, IDENTITY, project, scaling, type Projection } from '../ocr/projection.ts'
import { readPicture, type OcrOptions } from '../ocr/read-picture.ts'
import { boxAround, type Box, type PageText } from '../pages/page.ts'
import { pageText } from '../pages/pdf-text.ts'
import { pictureShare } from '../pages/picture-share.ts'
import { decodePicture, drawPage } from '../pages/pictures.ts'
import { textQuality } from '../pages/text-quality.ts'

export type PageOptions = OcrOptions

/** Fewer letters beside a large picture are a stamp or the line of a fax machine; a page of a report has a thousand. */
const LETTERS_MIN = 200
/** Of the page. */
const LARGE_PICTURE = 0.4
/** The longer side of a page that is an image, in points. */
const IMAGE_POINTS = 792

/** Errors: `OcrUnavailable`. */
export async function pageOf(page: PDFPageProxy, options: PageOptions): Promise<PageText> {
  const text = await pageText(page)
  if (!(await needsPicture(page, text))) return text
  const { canvas, pixels_per_point } = await drawPage(page)
  return { ...(await pageOfPicture(canvas, pixels_per_point, options)), number: page.pageNumber }
}

/** Errors: `OcrUnavailable`, `UnreadablePicture`. */
export async function pageOfImage(bytes: Uint8Array, options: PageOptions): Promise<PageText> {
  const canvas = await decodePicture(bytes)
  return pageOfPicture(canvas, Math.max(canvas.width, canvas.height) / IMAGE_POINTS, options)
}

async function needsPicture(page: PDFPageProxy, text: PageText): Promise<boolean> {
  const quality = textQuality(text)
  if (quality === 'garbage' || !text.words.length) return true
  const letters = text.words.reduce((sum, word) => sum + word.text.length, 0)
  return letters < LETTERS_MIN && (await pictureShare(page)) > LARGE_PICTURE
}

async function pageOfPicture(canvas: Canvas, scale: number, options: PageOptions): Promise<PageText> {
  const { words, width, height, back } = await readPicture(pictureOf(canvas), options)
  const page = { number: 1, width: width / scale, height: height / scale, source: 'ocr' as const }
  const placed = words.map(({ text, confidence, left, top, right, bottom }) => ({
    text,
    confidence,
    box: { left: left / scale, top: top / scale, right: right / scale, bottom: bottom / scale },
  }))
  if (back === IDENTITY) return { ...page, words: placed }
  const toDrawn = compose(compose(scaling(scale), back), scaling(1 / scale))
  const drawn = { width: canvas.width / scale, height: canvas.height / scale, place: (box: Box) => projectedBox(toDrawn, box) }
  return { ...page, words: placed, drawn }
}

/** The smallest box around a projected one. */
function projectedBox(to: Projection, { left, top, right, bottom }: Box): Box {
  const corners = [project(to, [left, top]), project(to, [right, top]), project(to, [right, bottom]), project(to, [left, bottom])]
  return boxAround(corners.map(([x, y]) => ({ left: x, right: x, top: y, bottom: y })))
}
