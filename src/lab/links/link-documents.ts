// Documents of a laboratory's message as bytes. Pure.
import { isBase64, PDF_BYTES_MAX, pdfError } from '../../platform/pdf/pdf-file.ts'
import type { LinkDocument, LinkMessage } from './link-message.ts'

/** The documents of a message, and what is wrong with some; without patient data. */
interface ReadDocuments {
  /** Each at its place in the message; null for one that is no PDF. */
  pdfs: (Buffer | null)[]
  faults: string[]
}

/** Reads the documents of a message. Only PDFs are supported. */
export function readDocuments({ documents = [] }: LinkMessage): ReadDocuments {
  const items = documents.map(readPdf)
  return {
    pdfs: items.map((item) => (typeof item === 'string' ? null : item)),
    faults: items.flatMap((item, i) => (typeof item === 'string' ? [`documents.${i}: ${item}`] : [])),
  }
}

/** The file, or what is wrong with it. */
function readPdf({ content }: LinkDocument): Buffer | string {
  // Buffer.from ignores what is not Base64, and the rest would be another file.
  if (!isBase64(content)) return 'The document is not Base64'
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length > PDF_BYTES_MAX) return 'The document has more than 10 MB'
  return pdfError(bytes) ?? bytes
}
