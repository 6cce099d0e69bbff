// Lab reports as scanners and cameras make them: pictures, and PDFs of pictures.
import { createCanvas, type Canvas } from '@napi-rs/canvas'
import PDFDocument from 'pdfkit'
import { withDocument } from '../../src/lab-reports/pages/pdf.ts'
import { drawPage } from '../../src/lab-reports/pages/pictures.ts'
import { pdfOf, reportPage, tableRow, type DrawnText } from './uploaded-reports.ts'

/** Pixels of a page. */
const WIDTH = 1224

/** The upper part of a page of a report with these results, which is all that is printed on, 144 dots an inch. */
export const pictureOfReport = (...rows: string[][]): Promise<Canvas> => drawTop(reportPage(...rows), 400)

/** A strip of a report with these rows and nothing else: each text takes the recognition a tenth of a second. */
export const pictureOfRows = (...rows: string[][]): Promise<Canvas> =>
  drawTop(
    rows.flatMap((texts, index) => tableRow(14 + 16 * index, ...texts)),
    32 + 32 * rows.length,
  )

/** The upper part of a page with these texts, so many pixels high. */
async function drawTop(texts: DrawnText[], height: number): Promise<Canvas> {
  const page = await withDocument(await pdfOf(texts), async (document) => drawPage(await document.getPage(1)))
  const canvas = createCanvas(WIDTH, height)
  const scale = 2 / page.pixels_per_point
  canvas.getContext('2d').drawImage(page.canvas, 0, 0, page.canvas.width * scale, page.canvas.height * scale)
  return canvas
}

/** Turned clockwise, with paper in the corners. */
export function turnedPicture(picture: Canvas, degrees: number): Canvas {
  const isRight = degrees % 180 !== 0 && degrees % 90 === 0
  const turned = createCanvas(isRight ? picture.height : picture.width, isRight ? picture.width : picture.height)
  const context = turned.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, turned.width, turned.height)
  context.translate(turned.width / 2, turned.height / 2)
  context.rotate((degrees * Math.PI) / 180)
  context.drawImage(picture, -picture.width / 2, -picture.height / 2)
  return turned
}

export interface ScannedPage {
  picture?: Canvas
  /** Below the picture, or alone. */
  texts?: DrawnText[]
}

/** A PDF of pages of pictures, 144 dots an inch, and of text. */
export function scannedPdf(...pages: ScannedPage[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const document = new PDFDocument({ margin: 0, autoFirstPage: false })
    const parts: Buffer[] = []
    document.on('data', (part: Buffer) => parts.push(part))
    document.on('end', () => resolve(Buffer.concat(parts)))
    for (const { picture, texts = [] } of pages) {
      const [width, height] = picture ? [picture.width / 2, picture.height / 2] : [612, 792]
      document.addPage({ size: [width, height], margin: 0 })
      for (const { x, y, text, size = 9 } of texts) document.fontSize(size).text(text, x, y, { lineBreak: false })
      if (picture) document.image(picture.toBuffer('image/jpeg', 80), 0, 0, { width, height })
    }
    document.end()
  })
}
