// What stands around the rows of a panel: its heading, remarks, interpretations and guideline tables.
import type { Content, PrintedPanel } from '../content.ts'
import { guidelines, interpretations } from '../decision-limits.ts'
import type { Body } from '../language.ts'
import { drawBlocks, drawParagraph } from './blocks.ts'
import type { Canvas } from './canvas.ts'
import { fill, fillText } from '../template.ts'

const MUTED = '#444444'

/** `rowHeight`: at least so much stays together with the heading. */
export function drawHeading(canvas: Canvas, body: Body, panel: PrintedPanel, content: Content, rowHeight: number): void {
  const { heading, style = 'bold', subheading, size = canvas.base.size + 1 } = body.panel
  if (heading === undefined) return
  const valueOf = (token: string) =>
    token === 'panel' ? panel.title : token === 'sample' ? panel.sample : reportToken(content, token)
  const text = fillText(heading, valueOf)
  canvas.reserve(canvas.lineHeight(size) * 2 + rowHeight * 2)
  canvas.y += 5
  if (style === 'band') drawBlocks(canvas, [{ kind: 'band', text, fill: '#dfe6ee', bold: true, size }], valueOf)
  else {
    const look = canvas.style({ size, bold: style !== 'plain' })
    drawParagraph(
      canvas,
      fill(text, valueOf).map((segment) => ({ ...segment, style: look })),
      style === 'center' ? 'center' : 'left',
    )
    if (style === 'underlined') canvas.drawRule(canvas.y)
    canvas.y += 2
  }
  if (subheading !== undefined)
    drawBlocks(canvas, [{ kind: 'text', text: subheading, size: canvas.base.size * 0.88, color: MUTED }], valueOf)
}

export function reportToken(content: Content, token: string): string {
  const text = content.textOf(token)
  if (text === undefined) throw new Error(`${content.layout.name}: reports have no token {${token}}`)
  return text
}

export function drawNotes(canvas: Canvas, body: Body, panel: PrintedPanel): void {
  const size = canvas.base.size * 0.88
  for (const note of body.panel.notes ?? []) {
    const texts = note === 'interpretation' ? interpretations : guidelines
    const key = panel.keys.find((analyte) => texts[analyte])
    if (key === undefined) continue
    canvas.reserve(canvas.lineHeight(size) * 9)
    canvas.y += 4
    if (note === 'interpretation') {
      drawBlocks(canvas, [{ kind: 'text', text: `Interpretation: ${interpretations[key]}`, size, color: MUTED }], literal)
    } else {
      const { title, rows } = guidelines[key]!
      const shares = rows[0]!.map((_, i) => (i ? 3 : 2))
      drawBlocks(
        canvas,
        [
          { kind: 'text', text: title, size, bold: true },
          { kind: 'grid', shares, rows, size, ruled: true },
        ],
        literal,
      )
    }
    canvas.y += 3
  }
}

const literal = (token: string): string => `{${token}}`
