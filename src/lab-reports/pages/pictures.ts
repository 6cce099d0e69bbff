// Pictures of pages: decoded uploads, and pages of PDFs drawn.
import { createCanvas, loadImage, type Canvas, type Image } from '@napi-rs/canvas'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'
import { collectPixels, layersOf } from './layers.ts'
import { pictureHead, type PictureHead } from './picture-head.ts'

/** Pixels on the longer side of a picture that is read: letters of 6 points are 15 pixels high then. */
const SIDE_MAX = 2400
/** Pixels of an upload that is decoded; a photo of a phone has 12 to 50 million. */
const PIXELS_MAX = 60_000_000
/** What decoding may take: a picture of 60 million pixels row by row, or one of 50 million in several passes. */
const DECODED_BYTES_MAX = 360_000_000
const DPI_MAX = 200

/** A picture that cannot be decoded, or is too large. */
export class UnreadablePicture extends Error {
  override name = 'UnreadablePicture'
}

/** A picture, at most 2,400 pixels long and high. Errors: `UnreadablePicture`. */
export async function decodePicture(bytes: Uint8Array): Promise<Canvas> {
  const head = pictureHead(bytes)
  if (!head || head.width * head.height > PIXELS_MAX || head.decoded_bytes > DECODED_BYTES_MAX)
    throw new UnreadablePicture('the picture has no size, or too many pixels')
  const canvas = drawnSmall(await decode(bytes, head))
  collectPixels()
  return canvas
}

/** The decoder takes memory for the size that it reads itself, which has to be the one that was checked. */
async function decode(bytes: Uint8Array, { width, height }: PictureHead): Promise<Image> {
  const image = await loadImage(Buffer.from(bytes)).catch(() => {
    throw new UnreadablePicture('the picture cannot be decoded')
  })
  const isUpright = image.width === width && image.height === height
  // A camera that was held sideways says so in its picture, which is turned.
  const isTurned = image.width === height && image.height === width
  if (!isUpright && !isTurned) throw new UnreadablePicture('the picture has another size than it says')
  return image
}

function drawnSmall(image: Image): Canvas {
  const scale = Math.min(1, SIDE_MAX / Math.max(image.width, image.height))
  const canvas = createCanvas(Math.max(1, Math.round(image.width * scale)), Math.max(1, Math.round(image.height * scale)))
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  // A canvas remembers what is drawn, with all pixels of the picture, until one of its own is asked for.
  context.getImageData(0, 0, 1, 1)
  return canvas
}

/**
 * A page of a PDF at 200 dots an inch, or fewer so that it has no more than 2,400 pixels on a side.
 * Errors: `TooManyLayers`.
 */
export async function drawPage(page: PDFPageProxy): Promise<{ canvas: Canvas; pixels_per_point: number }> {
  const { width, height } = page.getViewport({ scale: 1 })
  const scale = Math.min(DPI_MAX / 72, SIDE_MAX / Math.max(width, height))
  const viewport = page.getViewport({ scale })
  const canvas = createCanvas(Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height)))
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  const parameters = { canvas: null, canvasContext: context, viewport } as unknown as Parameters<PDFPageProxy['render']>[0]
  await layersOf(page).draw(() => page.render(parameters).promise)
  context.getImageData(0, 0, 1, 1)
  collectPixels()
  return { canvas, pixels_per_point: scale }
}
