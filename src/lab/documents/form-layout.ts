/**
 * The common parts of an order's printed documents: the header with laboratory and barcode, the running header, the footer, signature
 * fields. A pure function of its input.
 */
import { encodeCode128 } from '../../platform/pdf/barcode.ts'
import { colors, createPdfCanvas, pageSize, styles, type Paper, type PdfCanvas, type Style } from '../../platform/pdf/canvas.ts'
import { renderPages, type Block } from '../../platform/pdf/page-layout.ts'
import { drawLines } from '../../platform/pdf/blocks.ts'
import { parseEpochMs, toPrintable } from '../../platform/pdf/text.ts'

const { bold, small, label, capital, comment } = styles

export interface FormHeader {
  /** `LABORATORY REQUISITION`. */
  title: string
  name: string
  /** Printed under the name. */
  lines: readonly string[]
  /** The content of the barcode; null if there is no sample id yet. */
  barcode: string | null
  /** A highlighted word, `STAT`. */
  badge: string | null
  /** The footer of each page, next to the page number. */
  foot: string
  /** The header of the pages after the first. */
  runningHeader: string
  sandbox: boolean
  paper: Paper
  /** The time of the document. */
  printedAt: string
}

const sandboxLine = 'Sandbox: not for clinical use'
/** Width of the patient at the top of later pages: the longest names need more than one line. */
const RUNNING_WIDTH = 380
const RUNNING_LINE = 11
const BARS = { height: 34, module: 0.95, width_max: 200 }

/** Renders a form on pages of its paper. The same input gives the same bytes. */
export function renderForm(
  head: FormHeader,
  blocks: (canvas: PdfCanvas) => Block[],
  { compress = true }: { compress?: boolean | undefined },
): Promise<Uint8Array> {
  const info = {
    Title: toSentenceCase(head.title),
    Author: toPrintable(head.name, 120),
    CreationDate: new Date(parseEpochMs(head.printedAt)),
  }
  const canvas = createPdfCanvas(info, { compress, paper: head.paper })
  const running = canvas.wrap(toPrintable(head.runningHeader, 200), bold, RUNNING_WIDTH, 3)
  const header = { height: 30 + (running.length - 1) * RUNNING_LINE, draw: () => drawRunningHeader(canvas, head.title, running) }
  return renderPages(canvas, [drawLetterhead(canvas, head), ...blocks(canvas)], header, (page) => drawFooter(canvas, head, page))
}

const toSentenceCase = (title: string): string => title.charAt(0) + title.slice(1).toLowerCase()

function drawLetterhead(canvas: PdfCanvas, { title, name, lines, barcode, badge }: FormHeader): Block {
  const big: Style = { font: 'bold', size: 15, color: colors.navy }
  const names = canvas.wrap(toPrintable(name, 120), big, 300, 2)
  const under = lines.flatMap((line) => canvas.wrap(toPrintable(line, 300), small, 300, 3))
  const height = Math.max(names.length * 18 + under.length * 10.5 + 16, 70) + 12
  return {
    height,
    draw(y) {
      canvas.tag('H1', () => canvas.drawText(title, pageSize.left, y + 8, { ...capital, size: 8 }))
      canvas.tag('P', () => drawLines(canvas, names, pageSize.left, y + 26, big, 18))
      for (const [index, line] of under.entries())
        canvas.drawText(line, pageSize.left, y + names.length * 18 + 20 + index * 10.5, small)
      if (badge) drawBadge(canvas, badge, y)
      if (barcode) drawBarcode(canvas, barcode, y + 20)
      canvas.drawRule(y + height - 7, colors.navy, 1.2)
    },
  }
}

function drawBadge(canvas: PdfCanvas, text: string, y: number): void {
  const white: Style = { font: 'bold', size: 9, color: '#ffffff' }
  const width = canvas.measure(white)(text) + 16
  canvas.fillBox(pageSize.right - width, y - 1, width, 15, colors.red, 3)
  canvas.drawText(text, pageSize.right - width / 2, y + 9.5, white, 'center')
}

/** At the right margin, with its text below; a text that cannot be encoded as a barcode is printed alone. */
function drawBarcode(canvas: PdfCanvas, text: string, y: number): void {
  const code = encodeCode128(text)
  const width = code ? Math.min(BARS.width_max, code.modules * BARS.module) : 0
  if (code) canvas.drawBarcode(code.widths, pageSize.right - width, y, BARS.height, width / code.modules, `Barcode ${text}`)
  canvas.drawTextFitted(
    toPrintable(text, 100),
    pageSize.right,
    y + (code ? BARS.height + 12 : 14),
    { ...bold, size: 10 },
    BARS.width_max,
    'right',
  )
}

function drawRunningHeader(canvas: PdfCanvas, title: string, texts: readonly string[]): void {
  drawLines(canvas, texts, pageSize.left, pageSize.top + 8, bold, RUNNING_LINE)
  canvas.drawTextFitted(title, pageSize.right, pageSize.top + 8, { ...small, font: bold.font }, 140, 'right')
  canvas.drawRule(pageSize.top + 15 + (texts.length - 1) * RUNNING_LINE, colors.navy, 0.8)
}

function drawFooter(canvas: PdfCanvas, { foot, sandbox }: FormHeader, page: string): void {
  const y = canvas.bottom + 10
  canvas.drawRule(y, colors.hairline, 0.5)
  canvas.drawTextFitted(toPrintable(foot, 200), pageSize.left, y + 12, label, 400)
  canvas.drawText(page, pageSize.right, y + 12, { ...label, font: bold.font }, 'right')
  if (sandbox) canvas.drawText(sandboxLine, pageSize.right, y + 22, { ...comment, size: 7 }, 'right')
}

/** Signature fields side by side, with their labels. */
export function signatureFields(canvas: PdfCanvas, fields: readonly { name: string; width: number }[]): Block {
  return {
    height: 34,
    draw(y) {
      let x = pageSize.left
      for (const { name, width } of fields) {
        canvas.drawRule(y + 22, colors.text, 0.6, x, x + width - 14)
        canvas.drawText(name, x, y + 31, label)
        x += width
      }
    },
  }
}
