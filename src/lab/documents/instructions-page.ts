/** Owns what collection instructions look like on paper: large type and numbered steps, for patients. Pure. */
import { section } from '../../platform/pdf/blocks.ts'
import { colors, full, sheet, styles, type Block, type Pen, type Style } from '../../platform/pdf/page.ts'
import { printable } from '../../platform/pdf/text.ts'
import { renderForm } from './form-layout.ts'
import type { Part } from './instruction-texts.ts'
import type { PrintedLab } from './order-data.ts'

export interface Instructions {
  lab: PrintedLab
  test_name: string
  collection: string
  sample: string
  sample_id: string | null
  parts: Part[]
  at: string
  sandbox: boolean
}

const step: Style = { ...styles.body, size: 11 }
const number: Style = { ...styles.bold, size: 11, color: colors.navy }
const lead = 15

/** Instructions on US Letter as the bytes of a PDF; the same instructions give the same bytes. */
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
  return renderForm(head, (pen) => [...given.parts.flatMap((part) => partBlocks(pen, part)), help(pen)], options)
}

const partBlocks = (pen: Pen, { title, steps }: Part): Block[] => [
  section(pen, title),
  ...steps.map((text, index): Block => {
    const lines = pen.wrap(printable(text, 600), step, full - 34, 8)
    return {
      height: lines.length * lead + 6,
      draw(y) {
        pen.put(`${index + 1}.`, sheet.left + 22, y + 16, number, 'right')
        for (const [at, line] of lines.entries()) pen.put(line, sheet.left + 30, y + 16 + at * lead, step)
      },
    }
  }),
]

const help = (pen: Pen): Block => ({
  height: 40,
  draw(y) {
    pen.rule(y + 16, colors.hair, 0.5)
    const text = 'Something went wrong, or a part is missing? Do not send the sample; ask whoever ordered the test.'
    pen.put(text, sheet.left, y + 32, styles.comment)
  },
})
