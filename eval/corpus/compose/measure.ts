// Widths of text in the fonts of the corpus.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import PDFDocument from 'pdfkit'
import type { Font } from '../language.ts'

/** pdfjs-dist ships Liberation Sans (SIL Open Font License). */
export const standardFonts = join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), 'standard_fonts/')

const STANDARD: Record<Exclude<Font, 'embedded'>, [plain: string, bold: string, italic: string]> = {
  helvetica: ['Helvetica', 'Helvetica-Bold', 'Helvetica-Oblique'],
  times: ['Times-Roman', 'Times-Bold', 'Times-Italic'],
  courier: ['Courier', 'Courier-Bold', 'Courier-Oblique'],
}

/** The name or file of a font for pdfkit. */
export function fontFile(font: Font, { bold, italic }: { bold: boolean; italic: boolean }): string {
  if (font === 'embedded') return join(standardFonts, `LiberationSans-${bold ? 'Bold' : italic ? 'Italic' : 'Regular'}.ttf`)
  return STANDARD[font][bold ? 1 : italic ? 2 : 0]
}

const scratch = new PDFDocument({ autoFirstPage: false })

export function measureText(text: string, font: Font, style: { size: number; bold: boolean; italic: boolean }): number {
  return scratch.font(fontFile(font, style)).fontSize(style.size).widthOfString(text)
}
