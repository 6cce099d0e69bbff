// The tasks of the child processes that open uploaded files for requests. They import no reader of reports, so that a process starts fast.
import type { Canvas } from '@napi-rs/canvas'
import { UnreadableDocument, withDocument } from '../pages/pdf.ts'
import { decodePicture, drawPage, UnreadablePicture } from '../pages/pictures.ts'
import type { ReportFile } from './read-report.ts'

export type Inspection = { pages: number } | { problem: 'corrupt' | 'encrypted' | 'no_pages' | 'too_many_pages' | 'picture' }

/** Opens each file, and the first page of a document. */
export async function inspectFiles(files: readonly ReportFile[]): Promise<Inspection> {
  let pages = 0
  for (const { bytes, type } of files) {
    try {
      if (type === 'application/pdf')
        pages += await withDocument(bytes, async (document) => {
          await document.getPage(1).catch(() => {
            throw new UnreadableDocument('corrupt')
          })
          return document.numPages
        })
      else {
        await decodePicture(bytes)
        pages++
      }
    } catch (error) {
      if (error instanceof UnreadableDocument) return { problem: error.reason }
      if (error instanceof UnreadablePicture) return { problem: 'picture' }
      throw error
    }
  }
  return { pages }
}

/** Draws a page of a document, or decodes an image. Errors: `UnreadableDocument`, `UnreadablePicture`, `TooManyLayers`. */
export async function pageCanvas({ bytes, type }: ReportFile, number: number): Promise<Canvas> {
  if (type !== 'application/pdf') return decodePicture(bytes)
  return withDocument(bytes, async (document) => (await drawPage(await document.getPage(number))).canvas)
}

/** The picture of a page as PNG. */
export const drawPageAsPng = async ({ file, page }: { file: ReportFile; page: number }): Promise<Uint8Array> =>
  (await pageCanvas(file, page)).encode('png')
