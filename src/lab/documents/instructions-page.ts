/** Renders collection instructions as PDF: large type and numbered steps, for patients. Pure. */
import { sectionHeading } from '../../platform/pdf/blocks.ts'
import { colors, contentWidth, pageSize, styles, type Block, type PdfCanvas, type Style } from '../../platform/pdf/canvas.ts'
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
  at: string
  sandbox: boolean
}

const step: Style = { ...styles.body, size: 11 }
const number: Style = { ...styles.bold, size: 11, color: colors.navy }
const lineHeight = 15

/** Renders instructions on US Letter pages; the same instructions give the same bytes. */
export function renderInstructions(given: Instructions, options: { compress?: boolean } = {}): Promise<Uint8Array> {
  const head = {
    title: 'COLLECTION INSTRUCTIONS',
    name: given.test_name,
    lines: [`${given.sample}   ·   ${given.collection}`, given.lab.name],
    barcode: given.sample_id,
    badge: null,
    foot: `${given.lab.name}, ${given.lab.address}`,
    running: given.test_name,
    sandbox: given.sandbox,
    at: given.at,
  }
  return renderForm(head, (canvas) => [...given.parts.flatMap((part) => sectionBlocks(canvas, part)), drawHelp(canvas)], options)
}

const sectionBlocks = (canvas: PdfCanvas, { title, steps }: InstructionSection): Block[] => [
  sectionHeading(canvas, title),
  ...steps.map((text, index): Block => {
    const lines = canvas.wrap(toPrintable(text, 600), step, contentWidth - 34, 8)
    return {
      height: lines.length * lineHeight + 6,
      draw(y) {
        canvas.drawText(`${index + 1}.`, pageSize.left + 22, y + 16, number, 'right')
        for (const [at, line] of lines.entries()) canvas.drawText(line, pageSize.left + 30, y + 16 + at * lineHeight, step)
      },
    }
  }),
]

const drawHelp = (canvas: PdfCanvas): Block => ({
  height: 40,
  draw(y) {
    canvas.drawRule(y + 16, colors.hairline, 0.5)
    const text = 'Something went wrong, or a part is missing? Do not send the sample; contact the provider who ordered the test.'
    canvas.drawText(text, pageSize.left, y + 32, styles.comment)
  },
})
