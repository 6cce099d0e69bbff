// The forms in which a document reaches the parser.
import type { TextMark } from './compose/canvas.ts'
import type { Document } from './compose/document.ts'
import { measureText } from './compose/measure.ts'
import { writePdf, type PdfPage } from './pdf.ts'
import { PHOTO_DPI, photographPage } from './pictures/photo.ts'
import { renderPages } from './pictures/render.ts'
import { createScanSettings, scanPage, type Scan } from './pictures/scan.ts'
import type { Printed } from './printed/all.ts'
import { createRandom, type Random } from './random.ts'

/**
 * `text`: a PDF with text. `scan`: a PDF of scanned or faxed pages. `photo`: a photo of each page. `mixed`: a PDF with text and scanned
 * pages. `garbage`: a PDF of pictures above text in a wrong encoding, of signs or of other letters.
 */
export const kinds = ['text', 'scan', 'photo', 'mixed', 'garbage'] as const
export type Kind = (typeof kinds)[number]

export interface InputFile {
  bytes: Uint8Array
  type: 'application/pdf' | 'image/jpeg' | 'image/png'
}

/** Of printed reports, whose text has the encoding of the program that printed it. */
export const kindsOfPrinted: readonly Kind[] = ['text', 'scan', 'photo', 'mixed']

/** The files of a printed report; the same arguments give the same files. */
export async function createFilesOfPrinted({ name, width, height, pdf: text }: Printed, kind: Kind): Promise<InputFile[]> {
  const random = createRandom(`${name}/${kind}`)
  const pdf = async (pages: PdfPage[]): Promise<InputFile[]> => [
    { bytes: await writePdf({ layout: { name }, seed: 1, width, height }, pages), type: 'application/pdf' },
  ]
  switch (kind) {
    case 'text':
      return [{ bytes: text, type: 'application/pdf' }]
    case 'scan':
      return pdf(await scan(text, random))
    case 'photo':
      return photograph(text, random)
    case 'mixed':
      return pdf([coverPage, ...(await scan(text, random))])
    case 'garbage':
      throw new Error('a printed report is never garbage')
  }
}

/** The files of a document; the same arguments give the same files. */
export async function createFiles(document: Document, kind: Kind): Promise<InputFile[]> {
  const random = createRandom(`${document.layout.name}/${document.seed}/${kind}`)
  const text = await writePdf(document, document.pages)
  const pdf = async (pages: PdfPage[]): Promise<InputFile[]> => [
    { bytes: await writePdf(document, pages), type: 'application/pdf' },
  ]
  switch (kind) {
    case 'text':
      return [{ bytes: text, type: 'application/pdf' }]
    case 'scan':
      return pdf(await scan(text, random))
    case 'photo':
      return photograph(text, random)
    case 'mixed': {
      const scans = await scan(text, random)
      const pages = document.pages.map((page, i): PdfPage => (i % 2 ? page : scans[i]!))
      return pdf(pages.length > 1 ? pages : [coverPage, ...pages])
    }
    case 'garbage': {
      const pictures = (await renderPages(text, GARBAGE_DPI)).map((page) => page.toBuffer('image/jpeg', 85))
      const encoding = random.chance(0.5) ? scramble : shift
      return pdf(pictures.map((picture, i) => ({ picture, hiddenMarks: document.pages[i]!.texts.map(encoding) })))
    }
  }
}

const GARBAGE_DPI = 200

async function scan(text: Uint8Array, random: Random): Promise<Scan[]> {
  const settings = createScanSettings(random)
  return (await renderPages(text, settings.dpi)).map((page) => scanPage(page, settings, random))
}

const photograph = async (text: Uint8Array, random: Random): Promise<InputFile[]> =>
  (await renderPages(text, PHOTO_DPI)).map((page) => ({ bytes: photographPage(page, random), type: 'image/jpeg' }))

const COVER = ['Facsimile', 'To: Medical records', 'Enclosed: one page', 'If you are not the addressee, destroy this message.']
/** A page of text before the scan of a single page. */
const coverPage: PdfPage = {
  shapes: [],
  texts: COVER.map((text, i) => ({
    text,
    x: 72,
    y: 96 + i * 24,
    width: measureText(text, 'helvetica', { size: 12, bold: false, italic: false }),
    font: 'helvetica',
    size: 12,
    bold: false,
    italic: false,
    color: '#000000',
    token: undefined,
  })),
}

/** As if the font had an encoding of its own that the file does not state: most letters and digits become signs. */
function scramble(mark: TextMark): TextMark {
  const text = [...mark.text].map((char) => (char === ' ' ? ' ' : SIGNS[(char.codePointAt(0)! * 7) % SIGNS.length]!)).join('')
  return { ...mark, font: 'helvetica', text }
}

/** As if each letter and digit had the place of the one before it. */
function shift(mark: TextMark): TextMark {
  const text = mark.text
    .replaceAll(/[a-y0-8]/giu, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 1))
    .replaceAll(/[^ -~]/gu, '?')
  return { ...mark, font: 'helvetica', text }
}

const SIGNS = [..."!#$%&'()*+,-./:;<=>?@^_{|}~¡¢£¤¥¦§¨©«¬®¯°±´¶·¸»¿×÷aeZq"]
