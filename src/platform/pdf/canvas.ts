/** The PDF canvas: sizes, colors, fonts, measuring, drawing, and which block is on which page. It knows nothing of orders and results. */
import PDFDocument from 'pdfkit'
import { truncate, wrap, type Measure } from './text.ts'

/** US Letter in points; the body of a page ends at `bottom`, the footer is below. */
export const pageSize = { width: 612, height: 792, left: 42, right: 570, top: 40, bottom: 738 }
export const contentWidth = pageSize.right - pageSize.left

export interface Style {
  font: 'Helvetica' | 'Helvetica-Bold' | 'Helvetica-Oblique'
  size: number
  color: string
}

export const colors = { text: '#16202b', gray: '#5c6773', hairline: '#d5dae0', navy: '#1d3a5c', red: '#a8121f' }

const body: Style = { font: 'Helvetica', size: 9, color: colors.text }
export const styles = {
  body,
  bold: { ...body, font: 'Helvetica-Bold' },
  small: { ...body, size: 8, color: colors.gray },
  tiny: { ...body, size: 6.5, color: colors.gray },
  label: { ...body, size: 7.5, color: colors.gray },
  capital: { font: 'Helvetica-Bold', size: 7, color: colors.gray },
  heading: { font: 'Helvetica-Bold', size: 10.5, color: colors.navy },
  comment: { font: 'Helvetica-Oblique', size: 8, color: '#3b4652' },
  long: { ...body, size: 8.5 },
} satisfies Record<string, Style>

export interface PdfCanvas {
  measure(style: Style): Measure
  wrap(text: string, style: Style, width: number, lines_max: number): string[]
  /** One line on the baseline `y`; `x` is its left end, its middle or its right end. No wrapping. */
  drawText(text: string, x: number, y: number, style: Style, align?: 'left' | 'center' | 'right'): void
  /** As `drawText`, but text wider than `width` ends with an ellipsis. */
  drawTextFitted(text: string, x: number, y: number, style: Style, width: number, align?: 'left' | 'right'): void
  drawRule(y: number, color: string, weight: number, left?: number, right?: number): void
  fillBox(x: number, y: number, width: number, height: number, color: string, radius?: number): void
  /** Bars and gaps, alternating; `widths` in modules that are `module` wide each. The caller adds the quiet zone. */
  drawBarcode(widths: readonly number[], x: number, y: number, height: number, module: number): void
  /** The outline of a box. */
  strokeBox(x: number, y: number, width: number, height: number, color: string, weight?: number): void
  page(): void
  end(): Promise<Uint8Array>
}

/** Pages in points; default: US Letter. */
export interface CanvasOptions {
  compress: boolean
  size?: [width: number, height: number]
}

/** A canvas on a new document. The same calls give the same bytes: nothing depends on the clock or on random values. */
export function createPdfCanvas(
  info: { Title: string; Author: string; CreationDate: Date },
  { compress, size }: CanvasOptions,
): PdfCanvas {
  const doc = new PDFDocument({
    size: size ?? 'LETTER',
    margin: 0,
    autoFirstPage: false,
    compress,
    pdfVersion: '1.7',
    lang: 'en-US',
    displayTitle: true,
    info: { ...info, Creator: 'Drawbridge', Producer: 'PDFKit' },
  })
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const finished = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject))
  const widths: Record<string, number[]> = {}

  const measure = ({ font, size }: Style): Measure => {
    const known = (widths[font] ??= [])
    return (text) => {
      let width = 0
      for (let index = 0; index < text.length; index++)
        width += known[text.charCodeAt(index)] ??= doc.font(font).fontSize(1000).widthOfString(text[index]!)
      return (width * size) / 1000
    }
  }

  const canvas: PdfCanvas = {
    measure,
    wrap: (text, style, width, lines_max) => wrap(text, width, measure(style), lines_max),
    drawText(text, x, y, style, align = 'left') {
      doc.font(style.font).fontSize(style.size).fillColor(style.color)
      const back = align === 'left' ? 0 : doc.widthOfString(text) / (align === 'center' ? 2 : 1)
      doc.text(text, x - back, y, { lineBreak: false, baseline: 'alphabetic' })
    },
    drawTextFitted: (text, x, y, style, width, align) =>
      canvas.drawText(truncate(text, width, measure(style)), x, y, style, align),
    drawRule(y, color, weight, left = pageSize.left, right = pageSize.right) {
      doc.lineWidth(weight).strokeColor(color).moveTo(left, y).lineTo(right, y).stroke()
    },
    fillBox(x, y, width, height, color, radius = 0) {
      doc.fillColor(color).roundedRect(x, y, width, height, radius).fill()
    },
    drawBarcode(widths, x, y, height, module) {
      let at = x
      doc.fillColor('#000000')
      for (const [index, modules] of widths.entries()) {
        if (index % 2 === 0) doc.rect(at, y, modules * module, height)
        at += modules * module
      }
      doc.fill()
    },
    strokeBox(x, y, width, height, color, weight = 0.7) {
      doc.lineWidth(weight).strokeColor(color).rect(x, y, width, height).stroke()
    },
    page: () => void doc.addPage(),
    async end() {
      doc.end()
      await finished
      return new Uint8Array(Buffer.concat(chunks))
    },
  }
  return canvas
}

/** Blocks that stay together on one page. `repeat` is drawn above it if it opens a page; `holds_next`: never last on a page. */
export interface Block {
  height: number
  draw(y: number): void
  repeat?: Block
  holds_next?: boolean
}

/** Each page as blocks with their heights. A block taller than a whole page gets one for itself. */
function paginate(blocks: Block[], first: number, top: number, bottom: number): { block: Block; y: number }[][] {
  let page: { block: Block; y: number }[] = []
  const pages = [page]
  let y = first
  for (const [index, block] of blocks.entries()) {
    let needed = block.height
    for (let next = index; blocks[next]!.holds_next && blocks[next + 1]; next++) needed += blocks[next + 1]!.height
    if (y + needed > bottom && page.length > 0) {
      pages.push((page = []))
      y = top
      if (block.repeat) {
        page.push({ block: block.repeat, y })
        y += block.repeat.height
      }
    }
    page.push({ block, y })
    y += block.height
  }
  return pages
}

/** Draws blocks on as many pages as they need, with a footer on each and a header on those after the first, and ends the document. */
export function renderPages(
  canvas: PdfCanvas,
  blocks: Block[],
  header: { height: number; draw: () => void },
  drawFooter: (page: string) => void,
): Promise<Uint8Array> {
  const pages = paginate(blocks, pageSize.top, pageSize.top + header.height, pageSize.bottom)
  for (const [index, page] of pages.entries()) {
    canvas.page()
    if (index > 0) header.draw()
    for (const { block, y } of page) block.draw(y)
    drawFooter(`Page ${index + 1} of ${pages.length}`)
  }
  return canvas.end()
}
