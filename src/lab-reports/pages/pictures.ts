// Pictures of pages: decoded uploads, and pages of PDFs drawn.
import { createCanvas, loadImage, type Canvas } from '@napi-rs/canvas'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'

/** Pixels on the longer side of a picture that is read: letters of 6 points are 15 pixels high then. */
const SIDE_MAX = 2400
/** Pixels of an upload that is decoded; a photo of a phone has 12 to 50 million. */
const PIXELS_MAX = 60_000_000
const DPI_MAX = 200

/** A picture that cannot be decoded, or is too large. */
export class UnreadablePicture extends Error {
  override name = 'UnreadablePicture'
}

/** Width and height as the head of a PNG or JPEG says them, before any pixel is decoded. */
export function pictureSize(bytes: Uint8Array): { width: number; height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes[0] === 0x89) return bytes.length < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) }
  let at = 2
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1]!
    if (marker === 0xff) {
      at++
      continue
    }
    // The frame headers, which are not C4 (tables), C8 (reserved) and CC (conditioning).
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    if (marker === 0xd8 || (marker >= 0xd0 && marker <= 0xd7)) at += 2
    else at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** A picture, at most 2,400 pixels long and high. Errors: `UnreadablePicture`. */
export async function decodePicture(bytes: Uint8Array): Promise<Canvas> {
  const size = pictureSize(bytes)
  if (!size || size.width < 1 || size.height < 1 || size.width * size.height > PIXELS_MAX)
    throw new UnreadablePicture('the picture has no size, or too many pixels')
  const image = await loadImage(Buffer.from(bytes)).catch(() => {
    throw new UnreadablePicture('the picture cannot be decoded')
  })
  if (!image.width || !image.height) throw new UnreadablePicture('the picture has no pixels')
  const scale = Math.min(1, SIDE_MAX / Math.max(image.width, image.height))
  const canvas = createCanvas(Math.max(1, Math.round(image.width * scale)), Math.max(1, Math.round(image.height * scale)))
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas
}

/** A page of a PDF at 200 dots an inch, or fewer so that it has no more than 2,400 pixels on a side. */
export async function drawPage(page: PDFPageProxy): Promise<{ canvas: Canvas; pixels_per_point: number }> {
  const { width, height } = page.getViewport({ scale: 1 })
  const scale = Math.min(DPI_MAX / 72, SIDE_MAX / Math.max(width, height))
  const viewport = page.getViewport({ scale })
  const canvas = createCanvas(Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height)))
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  await page.render({ canvas: null, canvasContext: context, viewport } as unknown as Parameters<PDFPageProxy['render']>[0])
    .promise
  return { canvas, pixels_per_point: scale }
}
