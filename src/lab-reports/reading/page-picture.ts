// The picture of a page of an uploaded file.
import type { Canvas } from '@napi-rs/canvas'
import { drawPage, decodePicture } from '../pages/pictures.ts'
import { withDocument } from '../pages/pdf.ts'
import type { ReportFile } from './read-report.ts'

/** Draws a page of a document, or decodes an image. Errors: `UnreadableDocument`, `UnreadablePicture`, `TooManyLayers`. */
export async function pageCanvas({ bytes, type }: ReportFile, number: number): Promise<Canvas> {
  if (type !== 'application/pdf') return decodePicture(bytes)
  return withDocument(bytes, async (document) => (await drawPage(await document.getPage(number))).canvas)
}

/** The same as PNG. */
export const pagePicture = async (file: ReportFile, number: number): Promise<Uint8Array> =>
  (await pageCanvas(file, number)).encode('png')
