/**
 * Renders an advance beneficiary notice as PDF. Its fields, A to J, are those of CMS-R-131; the sentences are our own.
 * Pure.
 */
import { drawLines, headedText, plainTable, sectionHeading } from '../../platform/pdf/blocks.ts'
import { colors, contentWidth, pageSize, styles, type Paper, type PdfCanvas, type Style } from '../../platform/pdf/canvas.ts'
import type { Block } from '../../platform/pdf/page-layout.ts'
import { toPrintable } from '../../platform/pdf/text.ts'
import { signatureFields, renderForm } from './form-layout.ts'
import type { PrintableLab } from './order-data.ts'

export interface Abn {
  lab: PrintableLab
  patient: string
  /** The notifier's number for the patient's work. */
  identification: string
  items: { test: string; reason: string; cost: string }[]
  printedAt: string
  sandbox: boolean
  paper: Paper
}

const tableColumns = [
  { x: pageSize.left + 6, width: 208, title: 'D. TESTS' },
  { x: pageSize.left + 226, width: 196, title: 'E. REASON MEDICARE MAY NOT PAY' },
  { x: pageSize.left + 434, width: contentWidth - 440, title: 'F. ESTIMATED COST' },
]

const options = [
  'I want the tests listed under D, and I want Medicare to be billed for an official decision. I may be asked to pay now. If Medicare does not pay, I am responsible for payment, and I can appeal by following the directions of the notice that Medicare sends me. If Medicare does pay, what I paid is given back to me, less co-payments and deductibles.',
  'I want the tests listed under D, but Medicare is not to be billed. I may be asked to pay now and am responsible for payment. As Medicare is not billed, I cannot appeal.',
  'I do not want the tests listed under D. I am not responsible for payment, and I cannot appeal to see whether Medicare would pay.',
]

/** Renders a notice on pages of its paper; the same notice gives the same bytes. */
export function renderAbn(notice: Abn, how: { compress?: boolean } = {}): Promise<Uint8Array> {
  const head = {
    title: 'ADVANCE BENEFICIARY NOTICE OF NON-COVERAGE (ABN)',
    name: notice.patient,
    lines: [
      `A. Notifier: ${notice.lab.name}, ${notice.lab.address}`,
      `B. Patient name: ${notice.patient}`,
      `C. Identification number: ${notice.identification}`,
    ],
    barcode: null,
    badge: null,
    foot: `Fields as in form CMS-R-131   ·   ${notice.identification}`,
    runningHeader: `${notice.patient}   ·   ${notice.identification}`,
    sandbox: notice.sandbox,
    paper: notice.paper,
    printedAt: notice.printedAt,
  }
  return renderForm(head, (canvas) => createBlocks(canvas, notice), how)
}

function createBlocks(canvas: PdfCanvas, { items }: Abn): Block[] {
  const instructions =
    'If Medicare does not pay for the tests listed under D, you may have to pay. Medicare does not pay for everything, not even for some care that you or your health care provider have good reason to think you need. We expect that Medicare may not pay for these tests.'
  const todo =
    'Read this notice, so that you can make an informed decision about your care. Ask us any questions that you may have after reading it. Choose one of the options below. If you choose option 1 or 2, we may help you to use other insurance that you have, but Medicare cannot require us to do so.'
  const remarks =
    'This notice gives our opinion; it is not an official decision of Medicare. With other questions about this notice or about billing call 1-800-MEDICARE (1-800-633-4227, TTY 1-877-486-2048). Signing means that you have received and understand this notice. You also receive a copy.'
  return [
    ...headedText(canvas, 'Why you get this notice', instructions),
    ...plainTable(
      canvas,
      'What Medicare may not pay for',
      tableColumns,
      items.map(({ test, reason, cost }) => ({ cells: [test, reason, cost] })),
    ),
    ...headedText(canvas, 'What you need to do now', todo),
    sectionHeading(canvas, 'G. Options: check one box. We cannot choose for you.'),
    ...options.map((text, index) => drawOption(canvas, index + 1, text)),
    ...headedText(canvas, 'H. Additional information', remarks),
    signature(canvas),
  ]
}

const textStyle: Style = { ...styles.long, size: 9 }

function drawOption(canvas: PdfCanvas, number: number, words: string): Block {
  const lines = canvas.wrap(toPrintable(words, 1000), textStyle, contentWidth - 36, 8)
  return {
    height: 16 + lines.length * 11.5,
    draw(y) {
      canvas.strokeBox(pageSize.left + 6, y + 4, 11, 11, colors.text, 1)
      canvas.tag('P', () => {
        canvas.drawText(`OPTION ${number}.`, pageSize.left + 28, y + 13, { ...styles.bold, size: 9.5 })
        drawLines(canvas, lines, pageSize.left + 28, y + 25, textStyle)
      })
    },
  }
}

const signature = (canvas: PdfCanvas): Block => ({
  height: 52,
  draw(y) {
    const fields = [
      { name: 'I. Signature', width: contentWidth * 0.65 },
      { name: 'J. Date', width: contentWidth * 0.35 },
    ]
    signatureFields(canvas, fields).draw(y + 14)
  },
})
