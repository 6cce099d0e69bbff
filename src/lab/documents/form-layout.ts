/**
 * Owns what the documents of an order have in common on paper: the head with laboratory and barcode, the running head, the foot, lines
 * to sign on. A pure function of its input.
 */
import { barcodeOf } from '../../platform/pdf/barcode.ts'
import { colors, openPen, paginate, sheet, styles, type Block, type Pen, type Style } from '../../platform/pdf/page.ts'
import { epoch_ms, printable } from '../../platform/pdf/text.ts'

const { bold, small, label, capital, comment } = styles

export interface FormHead {
  /** `LABORATORY REQUISITION`. */
  title: string
  name: string
  /** Under the name. */
  lines: readonly string[]
  /** What is scanned; null: there is no number yet. */
  barcode: string | null
  /** Stands out, `STAT`. */
  badge: string | null
  /** Stands at the foot of each page, besides the number of the page. */
  foot: string
  /** On the pages after the first. */
  running: string
  sandbox: boolean
  /** The instant that the document is of. */
  at: string
}

const sandboxLine = 'Sandbox: not for clinical use'
const BARS = { height: 34, module: 0.95, width_max: 200 }

/** A form on US Letter, as many pages as its blocks need. The same input gives the same bytes. */
export function renderForm(
  head: FormHead,
  blocks: (pen: Pen) => Block[],
  { compress = true }: { compress?: boolean | undefined },
): Promise<Uint8Array> {
  const info = { Title: words(head.title), Author: printable(head.name, 120), CreationDate: new Date(epoch_ms(head.at)) }
  const pen = openPen(info, { compress })
  const pages = paginate([letterhead(pen, head), ...blocks(pen)], sheet.top, sheet.top + 30, sheet.bottom)
  for (const [index, page] of pages.entries()) {
    pen.page()
    if (index > 0) runningHead(pen, head)
    for (const { block, y } of page) block.draw(y)
    foot(pen, head, `Page ${index + 1} of ${pages.length}`)
  }
  return pen.end()
}

const words = (title: string): string => title.charAt(0) + title.slice(1).toLowerCase()

function letterhead(pen: Pen, { title, name, lines, barcode, badge }: FormHead): Block {
  const big: Style = { font: 'Helvetica-Bold', size: 15, color: colors.navy }
  const names = pen.wrap(printable(name, 120), big, 300, 2)
  const under = lines.flatMap((line) => pen.wrap(printable(line, 300), small, 300, 3))
  const height = Math.max(names.length * 18 + under.length * 10.5 + 16, 78) + 12
  return {
    height,
    draw(y) {
      pen.put(title, sheet.left, y + 8, { ...capital, size: 8 })
      for (const [index, line] of names.entries()) pen.put(line, sheet.left, y + 26 + index * 18, big)
      for (const [index, line] of under.entries()) pen.put(line, sheet.left, y + names.length * 18 + 20 + index * 10.5, small)
      if (badge) drawBadge(pen, badge, y)
      if (barcode) drawBarcode(pen, barcode, y + 20)
      pen.rule(y + height - 7, colors.navy, 1.2)
    },
  }
}

function drawBadge(pen: Pen, text: string, y: number): void {
  const white: Style = { font: 'Helvetica-Bold', size: 9, color: '#ffffff' }
  const width = pen.measure(white)(text) + 16
  pen.box(sheet.right - width, y - 1, width, 15, colors.red, 3)
  pen.put(text, sheet.right - width / 2, y + 9.5, white, 'center')
}

/** At the right margin, its number below; a number that cannot be a barcode stands alone. */
function drawBarcode(pen: Pen, text: string, y: number): void {
  const code = barcodeOf(text)
  const width = code ? Math.min(BARS.width_max, code.modules * BARS.module) : 0
  if (code) pen.bars(code.widths, sheet.right - width, y, BARS.height, width / code.modules)
  pen.fit(printable(text, 100), sheet.right, y + (code ? BARS.height + 12 : 14), { ...bold, size: 10 }, BARS.width_max, 'right')
}

function runningHead(pen: Pen, { running, title }: FormHead): void {
  pen.fit(printable(running, 200), sheet.left, sheet.top + 8, bold, 380)
  pen.fit(title, sheet.right, sheet.top + 8, { ...small, font: bold.font }, 140, 'right')
  pen.rule(sheet.top + 15, colors.navy, 0.8)
}

function foot(pen: Pen, { foot, sandbox }: FormHead, page: string): void {
  const y = sheet.bottom + 10
  pen.rule(y, colors.hair, 0.5)
  pen.fit(printable(foot, 200), sheet.left, y + 12, label, 400)
  pen.put(page, sheet.right, y + 12, { ...label, font: bold.font }, 'right')
  if (sandbox) pen.put(sandboxLine, sheet.right, y + 22, { ...comment, size: 7 }, 'right')
}

/** Lines to be filled in by hand, side by side, with what belongs on them. */
export function blanks(pen: Pen, fields: readonly { name: string; width: number }[]): Block {
  return {
    height: 34,
    draw(y) {
      let x = sheet.left
      for (const { name, width } of fields) {
        pen.rule(y + 22, colors.ink, 0.6, x, x + width - 14)
        pen.put(name, x, y + 31, label)
        x += width
      }
    },
  }
}
