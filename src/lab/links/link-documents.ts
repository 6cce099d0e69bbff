// Documents of a laboratory's message as bytes. Pure.
import { isBase64, PDF_BYTES_MAX, pdfError } from '../../platform/pdf/pdf-file.ts'
import type { LinkDocument, LinkMessage } from './link-message.ts'

/** A document of the message, and what is wrong with others; without patient data. */
interface ReadDocuments {
  /** The last one. */
  pdf: Buffer | null
  faults: string[]
}

/** Reads the documents of a message. Only PDFs are supported, and one of each order. */
export function readDocuments({ documents = [] }: LinkMessage): ReadDocuments {
  const read = documents.map(readPdf)
  const files = read.flatMap((item) => (typeof item === 'string' ? [] : [item]))
  const faults = read.flatMap((item, i) => (typeof item === 'string' ? [`documents.${i}: ${item}`] : []))
  if (files.length > 1) faults.push(`documents: the message has ${files.length} for an order, and the last one is shown`)
  return { pdf: files.at(-1) ?? null, faults }
}

/** The file, or what is wrong with it. */
function readPdf({ content }: LinkDocument): Buffer | string {
  // Buffer.from ignores what is not Base64, and the rest would be another file.
  if (!isBase64(content)) return 'The document is not Base64'
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length > PDF_BYTES_MAX) return 'The document has more than 10 MB'
  return pdfError(bytes) ?? bytes
}
