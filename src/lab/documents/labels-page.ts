/** Owns what a specimen label looks like: one label a page, in the size that label printers of laboratories take. Pure. */
import { barcodeOf } from '../../platform/pdf/barcode.ts'
import { openPen, styles, type Pen, type Style } from '../../platform/pdf/page.ts'
import { epoch_ms, fitted, printable } from '../../platform/pdf/text.ts'
import { usDate } from './person-text.ts'

export interface Label {
  sample_id: string
  last_name: string
  first_name: string
  dob: string | null
  gender: string
  account: string
  lab: string
  collected: string
  /** Of the place where the sample is taken. */
  time_zone: string
}

/** 2.25 by 1.25 inches. */
const label = { width: 162, height: 90, margin: 8 }
/** Finer bars are not read from a printer of 203 dots an inch: 0.5 points are 7 thousandths of an inch. */
const module_min = 0.5
/** White beside the bars, in modules. */
const quiet = 10

const ink = '#000000'
const strong: Style = { ...styles.bold, size: 9, color: ink }
const plain: Style = { ...styles.body, size: 7, color: ink }

/** So many of the same label as the bytes of a PDF, each numbered. The same label gives the same bytes. */
export function renderLabels(
  { label: given, count }: { label: Label; count: number },
  { compress = true }: { compress?: boolean } = {},
): Promise<Uint8Array> {
  const info = { Title: 'Specimen labels', Author: printable(given.lab, 120), CreationDate: new Date(epoch_ms(given.collected)) }
  const pen = openPen(info, { compress, size: [label.width, label.height] })
  for (let number = 1; number <= count; number++) drawLabel(pen, given, `${number}/${count}`)
  return pen.end()
}

function drawLabel(pen: Pen, given: Label, number: string): void {
  const { margin } = label
  const [right, width] = [label.width - margin, label.width - 2 * margin]
  pen.page()
  drawName(pen, given, width)
  const born = given.dob ? `DOB ${usDate(given.dob)}` : 'DOB'
  pen.fit(`${born}   ${printable(given.gender, 20)}`.trimEnd(), margin, 24.5, plain, 90)
  pen.fit(`Acct ${printable(given.account, 40)}`, right, 24.5, plain, 72, 'right')
  drawBars(pen, given.sample_id)
  pen.put(fitted(printable(given.sample_id, 100), width, pen.measure(strong)), label.width / 2, 68, strong, 'center')
  pen.fit(`Coll ${stamp(given)}`, margin, 80, plain, 115)
  pen.put(number, right, 80, plain, 'right')
}

/** In the middle; left out where the bars would be too fine to be read. */
function drawBars(pen: Pen, text: string): void {
  const code = barcodeOf(text)
  if (!code) return
  const module = Math.min(1, label.width / (code.modules + 2 * quiet))
  if (module < module_min) return
  pen.bars(code.widths, (label.width - code.modules * module) / 2, 29, 29, module)
}

/** Both names, whole: on one line, else each on its own and as small as it needs. Blank to be filled by hand where nobody is known. */
function drawName(pen: Pen, { last_name, first_name }: Label, width: number): void {
  const [last, first] = [printable(last_name, 100), printable(first_name, 100)]
  const filed = [last, first].filter(Boolean).join(', ') || 'Name:'
  if (pen.measure(strong)(filed) <= width || !last || !first) return pen.put(filed, label.margin, 15, sized(pen, filed, 9, width))
  pen.put(`${last},`, label.margin, 9.5, sized(pen, `${last},`, 7.5, width))
  pen.put(first, label.margin, 17, sized(pen, first, 7.5, width))
}

/** In the largest size, at most `size`, in which the text fits. */
function sized(pen: Pen, text: string, size: number, width: number): Style {
  return { ...strong, size: Math.min(size, (size * width) / pen.measure({ ...strong, size })(text)) }
}

/** `01/02/2030 09:30 MST`. */
function stamp({ collected, time_zone }: Label): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: time_zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).formatToParts(new Date(collected))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)!.value
  return `${part('month')}/${part('day')}/${part('year')} ${part('hour')}:${part('minute')} ${part('timeZoneName')}`
}
