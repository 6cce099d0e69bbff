// Whether files can be opened at all: what is asked before a job is created.
import { UnreadableDocument, withDocument } from '../pages/pdf.ts'
import { decodePicture, UnreadablePicture } from '../pages/pictures.ts'
import type { ReportFile } from './read-report.ts'

export type Inspection = { pages: number } | { problem: 'corrupt' | 'encrypted' | 'no_pages' | 'too_many_pages' | 'picture' }

/** Opens each file, and the first page of a document. */
export async function inspect(files: readonly ReportFile[]): Promise<Inspection> {
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
