// Results without a table: as cards, or as lines of running text.
import type { Content } from '../content.ts'
import type { Cards, Sentences } from '../language.ts'
import type { TrueResult } from '../truth.ts'
import { drawParagraph } from './blocks.ts'
import type { Canvas } from './canvas.ts'
import { drawHeading, drawNotes } from './panels.ts'
import { cellSegments, trueResults } from './rows.ts'
import { drawRemark } from './table.ts'

const GAP = 8
const LIGHT = '#c9d2dc'

export function drawCards(canvas: Canvas, body: Cards, content: Content): TrueResult[] {
  const results: TrueResult[] = []
  for (const [i, panel] of content.panels.entries()) {
    if (i > 0 && body.panel.breaks) canvas.nextColumn()
    drawHeading(canvas, body, panel, content, body.height)
    const width = (canvas.right - canvas.left - GAP * (body.columns - 1)) / body.columns
    for (const [index, row] of panel.rows.entries()) {
      const position = index % body.columns
      if (position === 0 && index > 0) canvas.y += body.height + GAP
      if (position === 0) canvas.reserve(body.height)
      const x = canvas.left + position * (width + GAP)
      const { y } = canvas
      if (body.frame) canvas.drawShape({ kind: 'box', x, y, width, height: body.height, stroke: LIGHT })
      const { texts } = canvas.pages.at(-1)!
      const before = texts.length
      for (const { text, x: dx, y: dy, align = 'left', ...look } of body.parts) {
        const segments = cellSegments(canvas, text, look, { row, panel, content })
        const wide = canvas.widthOf(segments)
        canvas.drawLine(segments, x + { left: dx, center: (width - wide) / 2 + dx, right: width - wide - dx }[align], y + dy)
      }
      if (body.bar) drawBar(canvas, x + body.bar.x, y + body.bar.y, body.bar.width, row.fraction)
      results.push(...trueResults(row, panel, body, canvas, texts.slice(before)))
    }
    canvas.y += body.height + GAP
    drawNotes(canvas, body, panel)
  }
  return results
}

/** Red, green and red, with a mark at the value. */
function drawBar(canvas: Canvas, x: number, y: number, width: number, fraction: number): void {
  const [low, high] = [width * 0.22, width * 0.78]
  const box = (left: number, right: number, fill: string) =>
    canvas.drawShape({ kind: 'box', x: x + left, y, width: right - left, height: 4, fill })
  box(0, low, '#e9b7b0')
  box(low, high, '#a9d3b2')
  box(high, width, '#e9b7b0')
  box(width * fraction - 1.5, width * fraction + 1.5, '#20262d')
}

export function drawSentences(canvas: Canvas, body: Sentences, content: Content): TrueResult[] {
  const results: TrueResult[] = []
  const lineHeight = canvas.lineHeight(canvas.base.size)
  for (const [i, panel] of content.panels.entries()) {
    if (i > 0 && body.panel.breaks) canvas.nextColumn()
    drawHeading(canvas, body, panel, content, lineHeight)
    for (const row of panel.rows) {
      canvas.reserve(lineHeight * 2)
      const { texts } = canvas.pages.at(-1)!
      const before = texts.length
      const { left } = canvas
      canvas.left = left + (body.indent ?? 0)
      drawParagraph(canvas, cellSegments(canvas, body.text, {}, { row, panel, content }))
      canvas.left = left
      results.push(...trueResults(row, panel, body, canvas, texts.slice(before)))
      if (row.remark) drawRemark(canvas, row.remark, body.indent ?? 0)
    }
    drawNotes(canvas, body, panel)
  }
  return results
}
