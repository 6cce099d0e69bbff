// PDFs through pdf.js: opened without scripts, fonts of the system or requests.
import { fileURLToPath } from 'node:url'
import { getDocument, PasswordException, VerbosityLevel, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { Layers } from './layers.ts'

/** The most pages of a document that is read. Source: lab-testing.md 25.1. */
const PAGES_MAX = 30

/** Maximum pixels of a picture within a document, which is decoded as a whole: a page at 600 dots an inch has 35 million. */
const IMAGE_PIXELS_MAX = 40_000_000

/** A document that cannot be read. The reason goes into the answer; nothing of the document does. */
export class UnreadableDocument extends Error {
  override name = 'UnreadableDocument'
  readonly reason: 'corrupt' | 'encrypted' | 'no_pages' | 'too_many_pages'
  constructor(reason: UnreadableDocument['reason']) {
    super(`the document cannot be read: ${reason}`)
    this.reason = reason
  }
}

const folder = (name: string) => fileURLToPath(new URL(`${name}/`, import.meta.resolve('pdfjs-dist/package.json')))

/**
 * Opens a PDF of 1 to 30 pages and runs `use` on it; it is closed afterwards. Only child processes with limits of time and memory call it.
 * Errors: `UnreadableDocument`.
 */
export async function withDocument<T>(bytes: Uint8Array, use: (document: PDFDocumentProxy) => Promise<T>): Promise<T> {
  const task = getDocument({
    // pdf.js takes the bytes away from its caller.
    data: new Uint8Array(bytes),
    enableXfa: false,
    useSystemFonts: false,
    stopAtErrors: false,
    disableFontFace: true,
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: folder('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts'),
    wasmUrl: folder('wasm'),
    iccUrl: folder('iccs'),
    maxImageSize: IMAGE_PIXELS_MAX,
    CanvasFactory: Layers,
  })
  try {
    const document = await task.promise.catch((error: unknown) => {
      throw new UnreadableDocument(error instanceof PasswordException ? 'encrypted' : 'corrupt')
    })
    if (document.numPages === 0) throw new UnreadableDocument('no_pages')
    if (document.numPages > PAGES_MAX) throw new UnreadableDocument('too_many_pages')
    return await use(document)
  } finally {
    await task.destroy()
  }
}
