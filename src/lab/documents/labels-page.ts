/** Renders specimen labels as PDF: one label a page, in the size of laboratories' label printers. Pure. */
import { encodeCode128 } from '../../platform/pdf/barcode.ts'
import { createPdfCanvas, styles, type Paper, type PdfCanvas, type Style } from '../../platform/pdf/canvas.ts'
import { parseEpochMs, truncate, toPrintable } from '../../platform/pdf/text.ts'
import { zonedParts } from '../../platform/runtime/zoned-time.ts'
import { printedDate } from './printable-patient.ts'

export interface Label {
  sample_id: string
  last_name: string
  first_name: string
  dob: string | null
  gender: string
  account: string
  lab: string
  /** An instant, or a day at the collection site. */
  collectionTime: string
  /** Time zone of the collection site. */
  time_zone: string
  /** Paper of the other documents of the cell: labels have one size, but dates have the same format. */
  paper: Paper
}

/** 2.25 by 1.25 inches. */
const label = { width: 162, height: 90, margin: 8 }
/** A printer with 203 dots an inch cannot print narrower bars readably: 0.5 points are 7 thousandths of an inch. */
const module_min = 0.5
/** White space next to the bars, in modules. */
const quietZone = 10

/** The rest of its line is for the initials of the collector and the number of the label. */
const COLLECTED_WIDTH = 92

const ink = '#000000'
const bold: Style = { ...styles.bold, size: 9, color: ink }
const plainStyle: Style = { ...styles.body, size: 7, color: ink }

/** Renders a number of identical labels, each with its number. The same label gives the same bytes. */
export function renderLabels(
  { label: given, count }: { label: Label; count: number },
  { compress = true }: { compress?: boolean } = {},
): Promise<Uint8Array> {
  const info = {
    Title: 'Specimen labels',
    Author: toPrintable(given.lab, 120),
    CreationDate: new Date(parseEpochMs(given.collectionTime)),
  }
  const canvas = createPdfCanvas(info, { compress, size: [label.width, label.height] })
  for (let number = 1; number <= count; number++) drawLabel(canvas, given, `${number}/${count}`)
  return canvas.end()
}

function drawLabel(canvas: PdfCanvas, specimenLabel: Label, number: string): void {
  const { margin } = label
  const [right, width] = [label.width - margin, label.width - 2 * margin]
  canvas.page()
  drawName(canvas, specimenLabel, width)
  const born = specimenLabel.dob ? `DOB ${printedDate(specimenLabel.dob, specimenLabel.paper)}` : 'DOB'
  canvas.drawTextFitted(`${born}   ${toPrintable(specimenLabel.gender, 20)}`.trimEnd(), margin, 24.5, plainStyle, 90)
  canvas.drawTextFitted(`Acct ${toPrintable(specimenLabel.account, 40)}`, right, 24.5, plainStyle, 72, 'right')
  drawBars(canvas, specimenLabel.sample_id)
  canvas.drawText(
    truncate(toPrintable(specimenLabel.sample_id, 100), width, canvas.measure(bold)),
    label.width / 2,
    68,
    bold,
    'center',
  )
  const collected = `Coll ${stampLabel(specimenLabel)}`
  canvas.drawText(collected, margin, 80, fitStyle(canvas, collected, plainStyle, COLLECTED_WIDTH))
  canvas.drawText('Init', margin + COLLECTED_WIDTH + 3, 80, plainStyle)
  canvas.drawRule(81, ink, 0.5, margin + COLLECTED_WIDTH + 16, right - 19)
  canvas.drawText(number, right, 80, plainStyle, 'right')
}

/** Draws the barcode in the middle; omits it if the bars would be too narrow to read. */
function drawBars(canvas: PdfCanvas, text: string): void {
  const code = encodeCode128(text)
  if (!code) return
  const module = Math.min(1, label.width / (code.modules + 2 * quietZone))
  if (module < module_min) return
  canvas.drawBarcode(code.widths, (label.width - code.modules * module) / 2, 29, 29, module, `Barcode ${text}`)
}

/** Draws both names in full: on one line, else each on its own in the largest size that fits. Leaves blanks to fill in if the patient is unknown. */
function drawName(canvas: PdfCanvas, { last_name, first_name }: Label, width: number): void {
  const [last, first] = [toPrintable(last_name, 100), toPrintable(first_name, 100)]
  const filed = [last, first].filter(Boolean).join(', ') || 'Name:'
  if (canvas.measure(bold)(filed) <= width || !last || !first)
    return canvas.drawText(filed, label.margin, 15, fitStyle(canvas, filed, bold, width))
  const smaller = { ...bold, size: 7.5 }
  canvas.drawText(`${last},`, label.margin, 9.5, fitStyle(canvas, `${last},`, smaller, width))
  canvas.drawText(first, label.margin, 17, fitStyle(canvas, first, smaller, width))
}

/** The style in the largest size, at most its own, in which the text fits. */
function fitStyle(canvas: PdfCanvas, text: string, style: Style, width: number): Style {
  return { ...style, size: Math.min(style.size, (style.size * width) / canvas.measure(style)(text)) }
}

/** `01/02/2030 09:30 MST`; a day alone as `01/02/2030`. */
function stampLabel({ collectionTime, time_zone, paper }: Label): string {
  if (!collectionTime.includes('T')) return printedDate(collectionTime, paper)
  const { date, time, zone } = zonedParts(new Date(collectionTime), time_zone)
  return `${printedDate(date, paper)} ${time} ${zone}`
}
