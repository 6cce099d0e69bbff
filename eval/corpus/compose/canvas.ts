// Pages as lists of marks, and the region of a page that is being filled. Coordinates are points from the top left corner.
import type { Font, Layout, TextStyle } from '../language.ts'
import type { Segment } from '../template.ts'
import { measureText } from './measure.ts'

export interface TextMark {
  text: string
  x: number
  /** Of the baseline. */
  y: number
  width: number
  font: Font
  size: number
  bold: boolean
  italic: boolean
  color: string
  /** Token that the text came from. */
  token: string | undefined
  /** Degrees by which it is turned around its beginning, as stamps are. */
  angle?: number
}

export type Shape =
  | { kind: 'line'; x1: number; y1: number; x2: number; y2: number; width: number; color: string }
  | { kind: 'box'; x: number; y: number; width: number; height: number; fill?: string; stroke?: string }

export interface Page {
  texts: TextMark[]
  shapes: Shape[]
}

export interface Style {
  size: number
  bold: boolean
  italic: boolean
  color: string
}

export interface StyledSegment extends Segment {
  style: Style
}

const SIZES = {
  letter: [612, 792],
  a4: [595.28, 841.89],
  'letter-landscape': [792, 612],
  'a4-landscape': [841.89, 595.28],
} as const

const LEADING = 1.28

export class Canvas {
  readonly pages: Page[] = []
  readonly width: number
  readonly height: number
  readonly font: Font
  readonly base: Style
  left: number
  right: number
  y = 0
  bottom: number
  private page: Page = { texts: [], shapes: [] }
  private columns: { left: number; right: number }[] = []
  private column = 0
  private columnTop = 0
  private readonly margin: number
  private headers: () => number = () => 0
  private footHeight = 0

  constructor(layout: Layout) {
    ;[this.width, this.height] = SIZES[layout.page ?? 'letter']
    this.margin = layout.margin ?? 40
    this.font = layout.font ?? 'helvetica'
    this.base = { size: layout.size ?? 9, bold: false, italic: false, color: '#000000' }
    this.left = this.margin
    this.right = this.width - this.margin
    this.bottom = this.height - this.margin
  }

  /** Starts the first page. `drawHead` draws the top of a page and returns where it ends; `footHeight` is kept free at the bottom. */
  begin(drawHead: () => number, footHeight: number): void {
    this.headers = drawHead
    this.footHeight = footHeight
    this.addPage()
  }

  addPage(): void {
    this.page = { texts: [], shapes: [] }
    this.pages.push(this.page)
    this.leaveColumns()
    this.y = this.margin
    this.bottom = this.height - this.margin - this.footHeight
    this.y = this.headers()
  }

  /** Continues on an earlier page, for what is drawn at the end. */
  goTo(index: number, y: number): void {
    this.page = this.pages[index]!
    this.y = y
    this.leaveColumns()
  }

  /** Splits the rest of the page, and of pages after it, into columns that are filled one after another. */
  splitColumns(count: number, gap = 18): void {
    const width = (this.right - this.left - gap * (count - 1)) / count
    this.columns = Array.from({ length: count }, (_, i) => {
      const left = this.left + i * (width + gap)
      return { left, right: left + width }
    })
    this.column = -1
    this.columnTop = this.y
    this.nextColumn()
  }

  leaveColumns(): void {
    if (!this.columns.length) return
    this.columns = []
    this.left = this.margin
    this.right = this.width - this.margin
  }

  /** The next column of the page, or the next page. */
  nextColumn(): void {
    const { length } = this.columns
    if (this.column + 1 >= length) {
      this.addPage()
      if (length) this.splitColumns(length)
      return
    }
    this.column++
    ;({ left: this.left, right: this.right } = this.columns[this.column]!)
    this.y = this.columnTop
  }

  hasRoom = (height: number): boolean => this.y + height <= this.bottom

  /** Whether a page or column was begun to have room for `height`. */
  reserve(height: number): boolean {
    if (this.hasRoom(height)) return false
    this.nextColumn()
    return true
  }

  style = ({ size, bold, italic, color }: TextStyle): Style => ({
    size: size ?? this.base.size,
    bold: bold ?? false,
    italic: italic ?? false,
    color: color ?? this.base.color,
  })

  lineHeight = (size: number): number => size * LEADING

  measure = (text: string, style: Style): number => measureText(text, this.font, style)

  widthOf = (segments: StyledSegment[]): number => segments.reduce((sum, { text, style }) => sum + this.measure(text, style), 0)

  /** Text on one line whose top is `y`. */
  drawLine(segments: StyledSegment[], x: number, y: number): void {
    const size = Math.max(0, ...segments.map(({ style }) => style.size))
    for (const { text, token, style } of segments) {
      const width = this.measure(text, style)
      if (text.trim()) this.page.texts.push({ text, x, y: y + size, width, font: this.font, ...style, token })
      x += width
    }
  }

  drawText(
    text: string,
    x: number,
    y: number,
    width: number,
    style: Style,
    align: TextStyle['align'] = 'left',
    token?: string,
  ): void {
    const free = width - this.measure(text, style)
    this.drawLine([{ text, style, ...(token && { token }) }], x + free * { left: 0, center: 0.5, right: 1 }[align], y)
  }

  drawShape(shape: Shape): void {
    this.page.shapes.push(shape)
  }

  drawRule(y: number, color = '#000000', width = 0.5, left = this.left, right = this.right): void {
    this.drawShape({ kind: 'line', x1: left, y1: y, x2: right, y2: y, width, color })
  }
}

/** Splits segments into lines: at line breaks, and between words where a line would be wider than `width`. */
export function wrap(canvas: Canvas, segments: StyledSegment[], width: number): StyledSegment[][] {
  const lines: StyledSegment[][] = [[]]
  let used = 0
  const newLine = () => {
    lines.push([])
    used = 0
  }
  for (const { text, ...rest } of segments)
    for (const piece of text.split(/(\n)|(?<= )/)) {
      if (piece === '\n') newLine()
      if (!piece || piece === '\n') continue
      const wide = canvas.measure(piece.trimEnd(), rest.style)
      const line = lines.at(-1)!
      if (used + wide > width + 0.01 && line.length && line.some(({ text: printed }) => printed.trim())) newLine()
      const current = lines.at(-1)!
      const last = current.at(-1)
      // Words of one segment stay in one piece.
      if (last && last.token === rest.token && last.style === rest.style) last.text += piece
      else current.push({ ...rest, text: piece })
      used += canvas.measure(piece, rest.style)
    }
  return lines
}
