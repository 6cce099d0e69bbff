// Blocks of a layout: letterheads, fields of the patient, rules, paragraphs and tables without results.
import type { Block, Fields } from '../language.ts'
import { fill } from '../template.ts'
import { wrap, type Canvas, type Style, type StyledSegment } from './canvas.ts'

export type ValueOf = (token: string) => string

const styledSegments = (template: string, valueOf: ValueOf, style: Style): StyledSegment[] =>
  fill(template, valueOf).map((segment) => ({ ...segment, style }))

/** Draws blocks below each other from `canvas.y` on. */
export function drawBlocks(canvas: Canvas, blocks: readonly Block[], valueOf: ValueOf): void {
  for (const block of blocks) drawBlock(canvas, block, valueOf)
}

function drawBlock(canvas: Canvas, block: Block, valueOf: ValueOf): void {
  switch (block.kind) {
    case 'space':
      canvas.y += block.height
      return
    case 'rule':
      canvas.drawRule(canvas.y + 3, block.color, block.weight)
      canvas.y += 7
      return
    case 'text':
      return drawParagraph(canvas, styledSegments(block.text, valueOf, canvas.style(block)), block.align)
    case 'band': {
      const style = canvas.style(block)
      const height = canvas.lineHeight(style.size) + 6
      canvas.drawShape({ kind: 'box', x: canvas.left, y: canvas.y, width: canvas.right - canvas.left, height, fill: block.fill })
      canvas.y += 3
      const { left, right } = canvas
      Object.assign(canvas, { left: left + 5, right: right - 5 })
      drawParagraph(canvas, styledSegments(block.text, valueOf, style), block.align)
      Object.assign(canvas, { left, right, y: canvas.y + 3 })
      return
    }
    case 'fields':
      return drawFields(canvas, block, valueOf)
    case 'columns':
      return drawColumns(
        canvas,
        block.shares,
        block.columns.map((column) => () => drawBlocks(canvas, column, valueOf)),
      )
    case 'grid':
      return drawGrid(canvas, block, valueOf)
  }
}

export function drawParagraph(canvas: Canvas, segments: StyledSegment[], align: 'left' | 'center' | 'right' = 'left'): void {
  const width = canvas.right - canvas.left
  for (const line of wrap(canvas, segments, width)) {
    const height = canvas.lineHeight(Math.max(...line.map(({ style }) => style.size), canvas.base.size * 0.5))
    const free = width - canvas.widthOf(line)
    canvas.drawLine(line, canvas.left + free * { left: 0, center: 0.5, right: 1 }[align], canvas.y)
    canvas.y += height
  }
}

/** Runs each function with its share of the width, all from the same height, and goes on below the longest. */
function drawColumns(canvas: Canvas, shares: readonly number[], draw: (() => void)[]): void {
  const { left, right, y } = canvas
  const total = shares.reduce((sum, share) => sum + share, 0)
  const gap = 10
  let [x, lowest] = [left, y]
  for (const [i, drawColumn] of draw.entries()) {
    const width = ((right - left) * shares[i]!) / total
    Object.assign(canvas, { left: x, right: x + width - (i < draw.length - 1 ? gap : 0), y })
    drawColumn()
    lowest = Math.max(lowest, canvas.y)
    x += width
  }
  Object.assign(canvas, { left, right, y: lowest })
}

function drawFields(canvas: Canvas, fields: Fields, valueOf: ValueOf): void {
  const base = { size: fields.size ?? canvas.base.size }
  const label = canvas.style({ ...base, bold: fields.boldLabels ?? false })
  const value = canvas.style({ ...base, bold: fields.boldValues ?? false })
  const top = canvas.y
  const isFramed = fields.frame !== undefined
  if (isFramed) canvas.y += 4
  const starts: number[] = [top]
  const { left, right } = canvas
  if (isFramed) Object.assign(canvas, { left: left + 5, right: right - 5 })
  for (const row of fields.rows) {
    const shares = fields.shares?.slice(0, row.length) ?? row.map(() => 1)
    drawColumns(
      canvas,
      shares,
      row.map(
        ([name, template]) =>
          () =>
            drawField(name, template),
      ),
    )
    if (fields.frame === 'grid') canvas.y += 3
    starts.push(canvas.y)
  }
  Object.assign(canvas, { left, right })
  if (isFramed) {
    if (fields.frame === 'grid') for (const y of starts.slice(1, -1)) canvas.drawRule(y - 1, '#555555')
    canvas.drawShape({ kind: 'box', x: left, y: top, width: right - left, height: canvas.y + 1 - top, stroke: '#333333' })
    canvas.y += 5
  }

  function drawField(name: string, template: string): void {
    const segments = styledSegments(template, valueOf, value)
    const separator = fields.separator ?? ': '
    if (fields.stacked) {
      drawParagraph(canvas, styledSegments(name, valueOf, label))
      drawParagraph(canvas, segments)
      canvas.y += 2
    } else if (fields.labelWidth === undefined) {
      drawParagraph(canvas, [
        ...(name ? [...styledSegments(name, valueOf, label), { text: separator, style: label }] : []),
        ...segments,
      ])
    } else {
      const start = canvas.left
      if (name) canvas.drawLine(styledSegments(name, valueOf, label), start, canvas.y)
      canvas.left = start + fields.labelWidth
      drawParagraph(canvas, [...(name ? [{ text: separator.trimStart(), style: label }] : []), ...segments])
      canvas.left = start
    }
  }
}

function drawGrid(canvas: Canvas, block: Extract<Block, { kind: 'grid' }>, valueOf: ValueOf): void {
  const size = block.size ?? canvas.base.size * 0.9
  const top = canvas.y
  for (const [i, cells] of block.rows.entries()) {
    const style = canvas.style({ size, bold: i === 0 })
    if (block.ruled) canvas.drawRule(canvas.y)
    canvas.y += 2
    const shares = block.shares.slice(0, cells.length)
    drawColumns(
      canvas,
      shares,
      cells.map((cell) => () => drawParagraph(canvas, [{ text: ' ', style }, ...styledSegments(cell, valueOf, style)])),
    )
    canvas.y += 1
  }
  if (block.ruled)
    canvas.drawShape({
      kind: 'box',
      x: canvas.left,
      y: top,
      width: canvas.right - canvas.left,
      height: canvas.y - top,
      stroke: '#000000',
    })
  canvas.y += 4
}
