// The picture of a page of an uploaded file, as PNG.
import { drawPage, decodePicture } from '../pages/pictures.ts'
import { withDocument } from '../pages/pdf.ts'
import type { ReportFile } from './read-report.ts'

/** Draws a page of a document, or decodes an image. Errors: `UnreadableDocument`, `UnreadablePicture`. */
export async function pagePicture({ bytes, type }: ReportFile, number: number): Promise<Uint8Array> {
  if (type !== 'application/pdf') return (await decodePicture(bytes)).encode('png')
  return withDocument(bytes, async (document) => {
    const page = await document.getPage(number)
    const { canvas } = await drawPage(page)
    return canvas.encode('png')
  })
}
