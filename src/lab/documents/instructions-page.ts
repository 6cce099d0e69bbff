/** Renders collection instructions as PDF: large type and numbered steps, for patients. Pure. */
import { drawLines, sectionHeading } from '../../platform/pdf/blocks.ts'
import {
  colors,
  contentWidth,
  pageSize,
  styles,
  type Container,
  type Paper,
  type PdfCanvas,
  type Style,
} from '../../platform/pdf/canvas.ts'
import type { Block } from '../../platform/pdf/page-layout.ts'
import { toPrintable } from '../../platform/pdf/text.ts'
import { renderForm } from './form-layout.ts'
import type { InstructionSection } from './instruction-texts.ts'
import type { PrintableLab } from './order-data.ts'

export interface Instructions {
  lab: PrintableLab
  test_name: string
  collection: string
  sample: string
  sample_id: string | null
  parts: InstructionSection[]
  printedAt: string
  sandbox: boolean
  paper: Paper
}

const step: Style = { ...styles.body, size: 11 }
const numberStyle: Style = { ...styles.bold, size: 11, color: colors.navy }
const lineHeight = 15

/** Renders instructions on pages of their paper; the same instructions give the same bytes. */
export function renderInstructions(instructions: Instructions, options: { compress?: boolean } = {}): Promise<Uint8Array> {
  const head = {
    title: 'COLLECTION INSTRUCTIONS',
    name: instructions.test_name,
    lines: [`${instructions.sample}   ·   ${instructions.collection}`, instructions.lab.name],
    barcode: instructions.sample_id,
    badge: null,
    foot: `${instructions.lab.name}, ${instructions.lab.address}`,
    runningHeader: instructions.test_name,
    sandbox: instructions.sandbox,
    paper: instructions.paper,
    printedAt: instructions.printedAt,
  }
  return renderForm(
    head,
    (canvas) => [...instructions.parts.flatMap((part) => sectionBlocks(canvas, part)), drawHelp(canvas)],
    options,
  )
}

function sectionBlocks(canvas: PdfCanvas, { title, steps }: InstructionSection): Block[] {
  const within: Container = { tag: 'L' }
  const blocks = steps.map((text, index): Block => {
    const lines = canvas.wrap(toPrintable(text, 600), step, contentWidth - 34, 8)
    return {
      height: lines.length * lineHeight + 6,
      container: within,
      draw(y) {
        canvas.tag('LI', () => {
          canvas.tag('Lbl', () => canvas.drawText(`${index + 1}.`, pageSize.left + 22, y + 16, numberStyle, 'right'))
          canvas.tag('LBody', () => drawLines(canvas, lines, pageSize.left + 30, y + 16, step, lineHeight))
        })
      },
    }
  })
  return [sectionHeading(canvas, title), ...blocks]
}

const drawHelp = (canvas: PdfCanvas): Block => ({
  height: 40,
  draw(y) {
    canvas.drawRule(y + 16, colors.hairline, 0.5)
    const text = 'Something went wrong, or a part is missing? Do not send the sample; contact the provider who ordered the test.'
    canvas.drawText(text, pageSize.left, y + 32, styles.comment)
  },
})
