/** Shared blocks of printed pages: boxes of facts, tables, sections with a heading, the footer. Callers provide the texts. */
import { colors, contentWidth, pageSize, styles, type Container, type PdfCanvas, type Style } from './canvas.ts'
import type { Block } from './page-layout.ts'
import { formatNotation, toPrintable } from './text.ts'

const { body, bold, label, capital, heading, comment, long } = styles
const lineHeight = 11.5

/** Labels and values in a box; a missing value is a dash. */
export interface FactList {
  title: string
  rows: readonly (readonly [name: string, value: string | null])[]
}

/** Two boxes of facts side by side; the first row of each is emphasized. A value is cut at 300 characters and 7 lines, so that a long address keeps its city and ZIP code. */
export function factBoxes(canvas: PdfCanvas, left: FactList, right: FactList): Block {
  const half = contentWidth / 2
  const set = ({ rows }: FactList) =>
    rows.map(([name, value], index) => {
      const style = index === 0 ? { ...bold, size: 10 } : body
      return { name, style, lines: canvas.wrap(toPrintable(value?.trim() || '-', 300), style, half - 86, 7) }
    })
  const sides = [
    { title: left.title, x: pageSize.left, rows: set(left) },
    { title: right.title, x: pageSize.left + half + 4, rows: set(right) },
  ]
  const tallest = Math.max(...sides.map(({ rows }) => rows.reduce((sum, { lines }) => sum + lines.length * 11 + 3, 0)))
  const height = 24 + tallest
  return {
    height: height + 8,
    draw(top) {
      for (const { title, x, rows } of sides) {
        canvas.fillBox(x, top, half - 4, height, '#f4f6f8', 3)
        canvas.tag('H2', () => canvas.drawText(title, x + 8, top + 13, { ...capital, color: colors.navy }))
        canvas.tag('L', () => {
          let y = top + 28
          for (const { name, style, lines } of rows) {
            canvas.tag('LI', () => {
              canvas.tag('Lbl', () => canvas.drawText(name, x + 8, y, label))
              canvas.tag('LBody', () => drawLines(canvas, lines, x + 72, y, style, 11))
            })
            y += lines.length * 11 + 3
          }
        })
      }
    },
  }
}

export interface Column {
  x: number
  width: number
  title: string
}

/** What the head of a table is drawn with. `note` is at the right end. */
export interface TableHead {
  table: Container
  name: string
  columns: readonly Column[]
  gap: number
  note?: string
}

/** The name of a table and of its columns. */
export function tableHead(canvas: PdfCanvas, { table, name, columns, gap, note }: TableHead): Block {
  const height = gap + 34
  return {
    height,
    draw(y) {
      canvas.tag('H2', () => canvas.drawTextFitted(name, pageSize.left, y + gap + 10, heading, contentWidth - 60))
      if (note) canvas.drawText(note, pageSize.right, y + gap + 10, comment, 'right')
      canvas.fillBox(pageSize.left, y + gap + 17, contentWidth, 15, '#e8edf2')
      canvas.fill(table, () =>
        canvas.tag('TR', () => {
          for (const { x, title } of columns) canvas.tag('TH', () => canvas.drawText(title, x, y + gap + 27, capital))
        }),
      )
    },
  }
}

export interface Row {
  cells: readonly string[]
  style?: Style
}

/** Rows of plain text, never split; the header is repeated on the next page. A cell is cut at 600 characters and 8 lines. */
export function plainTable(canvas: PdfCanvas, title: string, columns: readonly Column[], rows: readonly Row[]): Block[] {
  if (rows.length === 0) return []
  const table: Container = { tag: 'Table' }
  const repeat = tableHead(canvas, { table, name: title, columns, gap: 4, note: 'continued' })
  const drawn = rows.map(({ cells, style = body }): Block => {
    const texts = columns.map(({ width }, index) =>
      canvas.wrap(formatNotation(toPrintable(cells[index] ?? '', 600)), style, width, 8),
    )
    const height = Math.max(...texts.map((lines) => lines.length)) * lineHeight + 6.5
    return {
      height,
      repeat,
      container: table,
      draw(y) {
        canvas.tag('TR', () => {
          for (const [index, lines] of texts.entries())
            canvas.tag('TD', () => drawLines(canvas, lines, columns[index]!.x, y + 11.5, style))
        })
        canvas.drawRule(y + height, colors.hairline, 0.5)
      },
    }
  })
  return [{ ...tableHead(canvas, { table, name: title, columns, gap: 12 }), holds_next: true }, ...drawn]
}

/** A section with a heading; lines may continue on the next page; nothing if there is no text. Cut at 4,000 characters. */
export function headedText(canvas: PdfCanvas, title: string, text: string | null): Block[] {
  if (!text?.trim()) return []
  const lines = canvas.wrap(toPrintable(text, 4000), long, contentWidth - 12, 60)
  const container: Container = { tag: 'P' }
  return [
    sectionHeading(canvas, title),
    ...lines.map((line) => ({
      height: 11,
      container,
      draw: (y: number) => canvas.drawText(line, pageSize.left + 6, y + 10, long),
    })),
  ]
}

/** A heading with a hairline, which is never last on a page. */
export const sectionHeading = (canvas: PdfCanvas, title: string): Block => ({
  height: 30,
  holds_next: true,
  draw(y) {
    canvas.tag('H2', () => canvas.drawText(title, pageSize.left, y + 20, heading))
    canvas.drawRule(y + 25, colors.navy, 0.8)
  },
})

/** Lines of text, one below the other. */
export function drawLines(
  canvas: PdfCanvas,
  lines: readonly string[],
  x: number,
  y: number,
  style: Style,
  step = lineHeight,
): void {
  for (const [index, line] of lines.entries()) if (line) canvas.drawText(line, x, y + index * step, style)
}
