// Results as a table.
import type { Content, PrintedPanel } from '../content.ts'
import type { Column, Table } from '../language.ts'
import type { Row } from '../rows.ts'
import type { TrueResult } from '../truth.ts'
import { drawParagraph } from './blocks.ts'
import { wrap, type Canvas, type StyledSegment } from './canvas.ts'
import { drawHeading, drawNotes } from './panels.ts'
import { cellSegments, trueResults } from './rows.ts'
import { formatDate } from '../dates.ts'

const GAP = 5
const RULE = '#888888'

interface PlacedColumn {
  column: Column
  x: number
  width: number
}

export function drawTable(canvas: Canvas, body: Table, content: Content): TrueResult[] {
  const results: TrueResult[] = []
  const { header = 'page' } = body
  const rowHeight = canvas.lineHeight(canvas.base.size) + (body.spacing ?? 2)
  const { sideBySide } = body
  if (sideBySide) canvas.splitColumns(sideBySide)
  const perColumn = sideBySide ? Math.ceil(content.panels.length / sideBySide) : Infinity
  let isHeaderDue = header !== 'none'
  let count = 0
  for (const [i, panel] of content.panels.entries()) {
    const isNewRegion = (i > 0 && body.panel.breaks) || (i > 0 && i % perColumn === 0)
    if (isNewRegion) canvas.nextColumn()
    if (isNewRegion && header === 'page') isHeaderDue = true
    if (header === 'panel') isHeaderDue = true
    // A header of each page stands above the first heading, one of each panel below its heading.
    if (isHeaderDue && header !== 'panel') drawDueHeader()
    drawHeading(canvas, body, panel, content, rowHeight * 2)
    if (isHeaderDue) drawDueHeader()
    for (const row of panel.rows) {
      const cells = layoutCells(canvas, body, row, panel, content)
      const height = layoutRowHeight(canvas, cells) + (body.spacing ?? 2)
      const remarkHeight = row.remark ? canvas.lineHeight(canvas.base.size) : 0
      if (canvas.reserve(height + remarkHeight) && (header === 'page' || header === 'panel')) drawHeader(canvas, body, content)
      const { texts } = canvas.pages.at(-1)!
      const before = texts.length
      drawRow(cells, height, count++)
      results.push(...trueResults(row, panel, body, canvas, texts.slice(before)))
      if (row.remark) drawRemark(canvas, row.remark, body.remarkIndent ?? 0)
    }
    drawNotes(canvas, body, panel)
  }
  canvas.leaveColumns()
  return results

  function drawDueHeader(): void {
    drawHeader(canvas, body, content)
    isHeaderDue = false
  }

  function drawRow(cells: Cell[], height: number, index: number): void {
    const { left, right, y } = canvas
    if (body.zebra && index % 2) canvas.drawShape({ kind: 'box', x: left, y, width: right - left, height, fill: body.zebra })
    drawCells(canvas, cells, y + (body.spacing ?? 2) / 2)
    if (body.rules === 'rows' || body.rules === 'grid') canvas.drawRule(y + height, RULE, 0.4)
    if (body.rules === 'grid') drawVerticals(canvas, cells, y, height)
    canvas.y = y + height
  }
}

function place(canvas: Canvas, { columns, panel }: Table): PlacedColumn[] {
  const indent = panel.indent ?? 0
  const total = columns.reduce((sum, { width }) => sum + width, 0)
  let x = canvas.left
  return columns.map((column, i) => {
    const full = ((canvas.right - canvas.left) * column.width) / total
    const inset = i === 0 ? indent : 0
    const placed = { column, x: x + inset, width: full - GAP - inset }
    x += full
    return placed
  })
}

interface Cell extends PlacedColumn {
  lines: StyledSegment[][]
}

function layoutCells(canvas: Canvas, body: Table, row: Row, panel: PrintedPanel, content: Content): Cell[] {
  return place(canvas, body).map((cell) => {
    const { column } = cell
    const size = column.size ?? canvas.base.size
    const look = { size, bold: column.bold === true, boldIfAbnormal: column.bold === 'abnormal', ...pickColors(column) }
    const segments = cellSegments(canvas, column.cell, look, { row, panel, content })
    const lines = wrap(canvas, segments, cell.width)
    const { smallLines } = column
    return { ...cell, lines: smallLines === undefined ? lines : lines.map((line, i) => (i ? shrink(line, smallLines) : line)) }
  })
}

const pickColors = ({ color, abnormalColor }: Column) => ({ ...(color && { color }), ...(abnormalColor && { abnormalColor }) })

const shrink = (line: StyledSegment[], size: number): StyledSegment[] =>
  line.map((segment) => ({ ...segment, style: { ...segment.style, size, color: '#555555' } }))

const layoutRowHeight = (canvas: Canvas, cells: Cell[]): number =>
  Math.max(...cells.map(({ lines }) => lines.reduce((sum, line) => sum + lineHeight(canvas, line), 0)))

const lineHeight = (canvas: Canvas, line: StyledSegment[]): number =>
  canvas.lineHeight(Math.max(...line.map(({ style }) => style.size), line.length ? 0 : canvas.base.size))

function drawCells(canvas: Canvas, cells: Cell[], top: number): void {
  for (const { column, lines, x, width } of cells) {
    let y = top
    for (const line of lines) {
      const free = width - canvas.widthOf(line)
      canvas.drawLine(line, x + free * { left: 0, center: 0.5, right: 1 }[column.align ?? 'left'], y)
      if (column.leader && line === lines[0]) drawLeader(canvas, column.leader, line, x, width, y)
      y += lineHeight(canvas, line)
    }
  }
}

function drawLeader(canvas: Canvas, leader: string, line: StyledSegment[], x: number, width: number, y: number): void {
  const { style } = line[0]!
  const start = canvas.widthOf(line) + 4
  const count = Math.floor((width - start) / canvas.measure(leader, style))
  if (count > 1) canvas.drawLine([{ text: leader.repeat(count), style }], x + start, y)
}

function drawVerticals(canvas: Canvas, cells: Cell[], y: number, height: number): void {
  for (const x of [canvas.left, ...cells.slice(1).map((cell) => cell.x - GAP / 2), canvas.right])
    canvas.drawShape({ kind: 'line', x1: x, y1: y, x2: x, y2: y + height, width: 0.4, color: RULE })
}

function drawHeader(canvas: Canvas, body: Table, content: Content): void {
  const { bold = true, fill, color, size = canvas.base.size } = body.headerStyle ?? {}
  const style = canvas.style({ size, bold, ...(color && { color }) })
  const cells = place(canvas, body).map((cell) => {
    const text = cell.column.title.replace(/\{date@(\d)\}/g, (_, day) =>
      formatDate(content.history[Number(day)]!, content.layout.dates.day),
    )
    return { ...cell, lines: wrap(canvas, text ? [{ text, style }] : [], cell.width) }
  })
  const height = layoutRowHeight(canvas, cells) + 5
  const { left, right, y } = canvas
  if (fill) canvas.drawShape({ kind: 'box', x: left, y, width: right - left, height, fill })
  const isRuled = body.rules !== undefined && body.rules !== 'none'
  if (isRuled) canvas.drawRule(y)
  drawCells(canvas, cells, y + 2)
  if (isRuled) canvas.drawRule(y + height)
  if (body.rules === 'grid') drawVerticals(canvas, cells, y, height)
  canvas.y = y + height + 2
}

export function drawRemark(canvas: Canvas, text: string, indent: number): void {
  const { left } = canvas
  canvas.left = left + indent
  drawParagraph(canvas, [{ text, style: canvas.style({ size: canvas.base.size * 0.9, italic: true }) }])
  Object.assign(canvas, { left, y: canvas.y + 2 })
}
