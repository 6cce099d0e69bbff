// Writes documents as PDF files: pages of text, or pictures of pages.
import PDFDocument from 'pdfkit'
import type { Page, TextMark } from './compose/canvas.ts'
import { fontFile, measureText } from './compose/measure.ts'
import type { Document } from './compose/document.ts'
import type { Emission } from './language.ts'
import { createRandom, type Random } from './random.ts'

/** A page as a picture; `hiddenMarks`: text under it that readers find. */
export interface PicturePage {
  picture: Uint8Array
  /** The sides of the page are exchanged: it was scanned after a turn by 90 or 270 degrees. */
  isTurned?: boolean
  hiddenMarks?: TextMark[]
}

export type PdfPage = Page | PicturePage

/** The same document gives the same bytes. */
export async function writePdf(
  { layout, seed, width, height }: Omit<Document, 'pages' | 'truth'>,
  pages: readonly PdfPage[],
): Promise<Uint8Array> {
  const doc = new PDFDocument({
    autoFirstPage: false,
    margin: 0,
    info: { Title: 'Laboratory report', Producer: 'evaluation corpus', CreationDate: new Date(0), ModDate: new Date(0) },
  })
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => doc.once('end', resolve).once('error', reject))
  const random = createRandom(`${layout.name}/${seed}/pdf`)
  for (const page of pages) {
    if ('picture' in page) {
      const size: [number, number] = page.isTurned ? [height, width] : [width, height]
      doc.addPage({ size, margin: 0 })
      drawTexts(doc, page.hiddenMarks ?? [], {}, random)
      doc.image(Buffer.from(page.picture), 0, 0, { width: size[0], height: size[1] })
    } else {
      doc.addPage({ size: [width, height], margin: 0 })
      if (layout.watermark !== undefined) drawWatermark(doc, layout.watermark, width, height)
      drawShapes(doc, page)
      drawTexts(doc, page.texts, layout.emission ?? {}, random)
    }
  }
  doc.end()
  await ended
  return Buffer.concat(chunks)
}

function drawWatermark(doc: PDFKit.PDFDocument, text: string, width: number, height: number): void {
  doc.save()
  doc.rotate(-45, { origin: [width / 2, height / 2] })
  doc.font('Helvetica-Bold').fontSize(72).fillColor('#e8e8e8')
  doc.text(text, 0, height / 2 - 36, { width, align: 'center', lineBreak: false })
  doc.restore()
}

function drawShapes(doc: PDFKit.PDFDocument, { shapes }: Page): void {
  for (const shape of shapes) {
    if (shape.kind === 'line')
      doc.lineWidth(shape.width).strokeColor(shape.color).moveTo(shape.x1, shape.y1).lineTo(shape.x2, shape.y2).stroke()
    else {
      if (shape.fill) doc.rect(shape.x, shape.y, shape.width, shape.height).fill(shape.fill)
      if (shape.stroke) doc.lineWidth(0.7).strokeColor(shape.stroke).rect(shape.x, shape.y, shape.width, shape.height).stroke()
    }
  }
}

function drawTexts(
  doc: PDFKit.PDFDocument,
  marks: readonly TextMark[],
  { pieces = 'runs', order = 'reading' }: Emission,
  random: Random,
): void {
  const split = { runs: (mark: TextMark) => [mark], words: wordsOf, glyphs: glyphsOf, line: (mark: TextMark) => [mark] }[pieces]
  const parts = pieces === 'line' ? joinLines(marks) : marks.flatMap(split)
  for (const { text, x, y, size, color, font, bold, italic, angle } of inOrder(parts, order, random)) {
    if (font !== 'embedded' && !STANDARD.test(text)) throw new Error(`A standard font cannot write ${JSON.stringify(text)}`)
    doc.font(fontFile(font, { bold, italic })).fontSize(size).fillColor(color)
    if (angle !== undefined) doc.save().rotate(angle, { origin: [x, y] })
    doc.text(text, x, y, { lineBreak: false, baseline: 'alphabetic' })
    if (angle !== undefined) doc.restore()
  }
}

/** What the encoding of the standard fonts has. */
const STANDARD = /^[ -~\u00a1-\u00ff–—‘’“”•…™]*$/

function wordsOf(mark: TextMark): TextMark[] {
  return [...mark.text.matchAll(/\S+/g)].map((match) => part(mark, match[0], match.index))
}

function glyphsOf(mark: TextMark): TextMark[] {
  return [...mark.text.matchAll(/\S/gu)].map((match) => part(mark, match[0], match.index))
}

const part = (mark: TextMark, text: string, start: number): TextMark => ({
  ...mark,
  text,
  x: mark.x + measureText(mark.text.slice(0, start), mark.font, mark),
  width: measureText(text, mark.font, mark),
})

/** Marks of one baseline as one text with spaces between, as line printers write. */
function joinLines(marks: readonly TextMark[]): TextMark[] {
  const lines = new Map<string, TextMark[]>()
  for (const mark of marks) {
    const key = `${Math.round(mark.y)}/${mark.size}/${mark.bold}`
    lines.set(key, [...(lines.get(key) ?? []), mark])
  }
  return [...lines.values()].map((line) => {
    const sorted = line.toSorted((a, b) => a.x - b.x)
    const [first] = sorted
    const space = measureText(' ', first!.font, first!)
    let text = ''
    let end = first!.x
    for (const mark of sorted) {
      const isApart = mark.x - end > space * 0.4
      text = text.padEnd(isApart ? Math.max(text.length + 1, Math.round((mark.x - first!.x) / space)) : text.length) + mark.text
      end = mark.x + mark.width
    }
    return { ...first!, text }
  })
}

function inOrder(marks: TextMark[], order: NonNullable<Emission['order']>, random: Random): TextMark[] {
  if (order === 'columns') return marks.toSorted((a, b) => Math.round(a.x / 20) - Math.round(b.x / 20) || a.y - b.y)
  if (order === 'shuffled') return random.shuffle(marks)
  if (order === 'values-last')
    return [...marks.filter(({ token }) => token === undefined), ...marks.filter(({ token }) => token !== undefined)]
  return marks
}
