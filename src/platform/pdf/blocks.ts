/**
 * Owns the pieces that printed pages have in common: boxes of facts, tables, headed texts, the foot of a page. They are given words and
 * decide nothing about them.
 */
import { colors, full, sheet, styles, type Block, type Pen, type Style } from './page.ts'
import { notation, printable } from './text.ts'

const { body, bold, label, capital, heading, comment, long } = styles
const lead = 11.5

/** Names and what they are, in a box; what is missing is a dash. */
export interface Facts {
  title: string
  rows: readonly (readonly [name: string, value: string | null])[]
}

/** Two boxes of facts side by side; the first row of each stands out. A value is cut at 160 characters and 3 lines. */
export function factBoxes(pen: Pen, left: Facts, right: Facts): Block {
  const half = full / 2
  const set = ({ rows }: Facts) =>
    rows.map(([name, value], index) => {
      const style = index === 0 ? { ...bold, size: 10 } : body
      return { name, style, lines: pen.wrap(printable(value?.trim() || '-', 160), style, half - 86, 3) }
    })
  const sides = [
    { title: left.title, x: sheet.left, rows: set(left) },
    { title: right.title, x: sheet.left + half + 4, rows: set(right) },
  ]
  const tallest = Math.max(...sides.map(({ rows }) => rows.reduce((sum, { lines }) => sum + lines.length * 11 + 3, 0)))
  const height = 24 + tallest
  return {
    height: height + 8,
    draw(top) {
      for (const { title, x, rows } of sides) {
        pen.box(x, top, half - 4, height, '#f4f6f8', 3)
        pen.put(title, x + 8, top + 13, { ...capital, color: colors.navy })
        let y = top + 28
        for (const { name, style, lines } of rows) {
          pen.put(name, x + 8, y, label)
          for (const [index, line] of lines.entries()) pen.put(line, x + 72, y + index * 11, style)
          y += lines.length * 11 + 3
        }
      }
    },
  }
}

export interface Column {
  x: number
  width: number
  title: string
}

/** The name of a table and of its columns. `note` stands at the right end. */
export function tableHead(pen: Pen, name: string, head: readonly Column[], gap: number, note = ''): Block {
  const height = gap + 34
  return {
    height,
    draw(y) {
      pen.fit(name, sheet.left, y + gap + 10, heading, full - 60)
      if (note) pen.put(note, sheet.right, y + gap + 10, comment, 'right')
      pen.box(sheet.left, y + gap + 17, full, 15, '#e8edf2')
      for (const { x, title } of head) pen.put(title, x, y + gap + 27, capital)
    },
  }
}

export interface Row {
  cells: readonly string[]
  style?: Style
}

/** Rows of plain words, never split; the head comes again on the next page. A cell is cut at 600 characters and 8 lines. */
export function plainTable(pen: Pen, title: string, columns: readonly Column[], rows: readonly Row[]): Block[] {
  if (rows.length === 0) return []
  const repeat = tableHead(pen, title, columns, 4, 'continued')
  const drawn = rows.map(({ cells, style = body }): Block => {
    const texts = columns.map(({ width }, index) => pen.wrap(notation(printable(cells[index] ?? '', 600)), style, width, 8))
    const height = Math.max(...texts.map((lines) => lines.length)) * lead + 6.5
    return {
      height,
      repeat,
      draw(y) {
        for (const [index, lines] of texts.entries()) stack(pen, lines, columns[index]!.x, y + 11.5, style)
        pen.rule(y + height, colors.hair, 0.5)
      },
    }
  })
  return [{ ...tableHead(pen, title, columns, 12), holds_next: true }, ...drawn]
}

/** A headed text, line by line, so that it may go on over a page; nothing where there is no text. Cut at 4,000 characters. */
export function headedText(pen: Pen, title: string, text: string | null, lines_max = 60): Block[] {
  if (!text?.trim()) return []
  const lines = pen.wrap(printable(text, 4000), long, full - 12, lines_max)
  return [
    section(pen, title),
    ...lines.map((line) => ({ height: 11, draw: (y: number) => pen.put(line, sheet.left + 6, y + 10, long) })),
  ]
}

/** A heading with a rule, which never stands last on a page. */
export const section = (pen: Pen, title: string): Block => ({
  height: 30,
  holds_next: true,
  draw(y) {
    pen.put(title, sheet.left, y + 20, heading)
    pen.rule(y + 25, colors.navy, 0.8)
  },
})

/** Lines under each other. */
export function stack(pen: Pen, lines: readonly string[], x: number, y: number, style: Style, step = lead): void {
  for (const [index, line] of lines.entries()) if (line) pen.put(line, x, y + index * step, style)
}
