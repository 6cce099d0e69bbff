/**
 * Renders a laboratory report as PDF. A pure function of its input: no clock, no files, no network.
 * Makes no decisions about results: flags, interpretations and missing tests are printed as given.
 */
import { drawLines, factBoxes, headedText } from '../../platform/pdf/blocks.ts'
import {
  colors,
  contentWidth,
  createPdfCanvas,
  pageSize,
  styles,
  type Paper,
  type PdfCanvas,
  type Style,
} from '../../platform/pdf/canvas.ts'
import { renderPages, type Block } from '../../platform/pdf/page-layout.ts'
import { missingTable, panelTable, type Result } from './report-table.ts'
import { parseEpochMs, formatInstant, formatTimestamp, toPrintable } from '../../platform/pdf/text.ts'

const { bold, small, label, capital, comment } = styles

export interface Report {
  lab: { name: string; address: string; accreditation: string; medical_director: string | null }
  patient: { name: string; dob: string; age: string; gender: string; patient_id: string | null }
  order: {
    specimen_number: string
    order_id: string
    collectedAt: string | null
    receivedAt: string | null
    reportedAt: string
    /** Time zone of the collection site, in which instants are printed. */
    time_zone: string
    status: 'final' | 'partial' | 'corrected'
    /** As the patient answered. */
    fasting: boolean | null
    physician: string | null
    test_name: string
    notes: string | null
    /** The laboratory's. */
    comments: string | null
    sandbox: boolean
  }
  paper: Paper
  panels: { name: string; results: Result[] }[]
  missingResults: { name: string; reason: string }[]
}

const results_max = 2000
const panels_max = 2000
const missing_max = 500
const text_total = 400_000

const badges = {
  final: { text: 'FINAL REPORT', color: '#1f6b45', says: '' },
  partial: { text: 'PARTIAL REPORT', color: '#a25a00', says: 'Further results are pending.' },
  corrected: { text: 'CORRECTED REPORT', color: '#6a2c8a', says: 'Replaces earlier reports of this order.' },
}

const meanings: Record<string, string> = {
  H: 'above the reference interval',
  L: 'below the reference interval',
  A: 'abnormal',
  HH: 'critically high',
  LL: 'critically low',
  AA: 'critically abnormal',
  C: 'critical',
  CRIT: 'critical',
  PANIC: 'critical',
  POS: 'positive',
  N: 'normal',
}

const sandboxLine = 'Sandbox: generated data, not for clinical use'

/**
 * Renders a report on pages of its paper; the same report gives the same bytes. Strings are cut at lengths far above those of real reports,
 * long texts with a truncation notice. ISO timestamps are written out, other forms printed as given.
 * Throws `RangeError` for more than 2,000 results, 2,000 panels or 500 missing tests, so that an incomplete report is never printed.
 * `compress: false` leaves the content streams readable.
 */
export async function renderReport(report: Report, { compress = true } = {}): Promise<Uint8Array> {
  const results = report.panels.slice(0, panels_max + 1).reduce((sum, panel) => sum + panel.results.length, 0)
  if (results > results_max) throw new RangeError(`a report holds at most ${results_max} results`)
  if (report.panels.length > panels_max) throw new RangeError(`a report holds at most ${panels_max} panels`)
  if (report.missingResults.length > missing_max) throw new RangeError(`a report holds at most ${missing_max} missing tests`)

  const specimen = toPrintable(report.order.specimen_number, 60)
  const info = {
    Title: `Laboratory report ${specimen}`,
    Author: toPrintable(report.lab.name, 120),
    CreationDate: new Date(parseEpochMs(report.order.reportedAt)),
  }
  const canvas = createPdfCanvas(info, { compress, paper: report.paper })
  // The more results, the shorter their texts, so that the longest report renders within seconds.
  const text_max = Math.min(Math.max(Math.floor(text_total / results), 400), 4000)
  const blocks = [
    drawLetterhead(canvas, report),
    drawFacts(canvas, report),
    drawSummary(canvas, report, results),
    ...report.panels.flatMap((panel) => panelTable(canvas, panel, text_max)),
    ...missingTable(canvas, report.missingResults),
    ...headedText(canvas, 'Comments of the laboratory', report.order.comments),
    ...headedText(canvas, 'Notes', report.order.notes),
    flagKey(canvas, report),
  ]
  // The longest names need two lines.
  const name = canvas.wrap(toPrintable(report.patient.name, 160), bold, 300, 2)
  const header = { height: 31 + name.length * 11, draw: () => drawRunningHeader(canvas, report, name) }
  return renderPages(canvas, blocks, header, (page) => drawFooter(canvas, report, page))
}

function drawLetterhead(canvas: PdfCanvas, { lab, order }: Report): Block {
  const badge = badges[order.status]
  const name: Style = { font: 'bold', size: 16, color: colors.navy }
  const names = canvas.wrap(toPrintable(lab.name, 120), name, 350, 2)
  const director = lab.medical_director && `Medical director: ${toPrintable(lab.medical_director, 120)}`
  const under = [
    ...canvas.wrap(toPrintable(lab.address, 300), small, 350, 4),
    ...canvas.wrap([toPrintable(lab.accreditation, 200), director].filter(Boolean).join('   |   '), small, 350, 3),
  ]
  const height = Math.max(names.length * 19 + under.length * 10.5, 46) + 14
  return {
    height,
    draw(y) {
      for (const [index, line] of names.entries()) canvas.drawText(line, pageSize.left, y + 14 + index * 19, name)
      for (const [index, line] of under.entries())
        canvas.drawText(line, pageSize.left, y + names.length * 19 + 9 + index * 10.5, small)
      canvas.tag('H1', () => canvas.drawText('LABORATORY REPORT', pageSize.right, y + 8, capital, 'right'))
      const white: Style = { font: 'bold', size: 10, color: '#ffffff' }
      const width = canvas.measure(white)(badge.text) + 20
      canvas.fillBox(pageSize.right - width, y + 15, width, 20, badge.color, 3)
      canvas.drawText(badge.text, pageSize.right - width / 2, y + 28.5, white, 'center')
      if (badge.says) canvas.drawText(badge.says, pageSize.right, y + 45, { ...small, size: 7.5 }, 'right')
      canvas.drawRule(y + height - 7, colors.navy, 1.2)
    },
  }
}

function drawFacts(canvas: PdfCanvas, { patient, order }: Report): Block {
  const age = patient.age.trim() && ` (age ${toPrintable(patient.age, 20)})`
  const fasting = order.fasting === null ? null : order.fasting ? 'Yes' : 'No'
  const left = [
    ['Name', patient.name],
    ['Date of birth', `${toPrintable(formatTimestamp(patient.dob), 40)}${age}`],
    ['Gender', patient.gender],
    ['Patient ID', patient.patient_id],
    ['Ordered by', order.physician],
    ['Test ordered', order.test_name],
  ] as const
  const right = [
    ['Specimen', order.specimen_number],
    ['Order', order.order_id],
    ['Collected', order.collectedAt && formatInstant(order.collectedAt, order.time_zone)],
    ['Received', order.receivedAt && formatInstant(order.receivedAt, order.time_zone)],
    ['Reported', formatInstant(order.reportedAt, order.time_zone)],
    ['Fasting', fasting],
  ] as const
  return factBoxes(canvas, { title: 'PATIENT', rows: left }, { title: 'SPECIMEN', rows: right })
}

function drawSummary(canvas: PdfCanvas, { panels, missingResults, order }: Report, results: number): Block {
  const count = { normal: 0, abnormal: 0, critical: 0, unknown: 0 }
  for (const panel of panels) for (const { interpretation } of panel.results) count[interpretation]++
  const parts = [
    { text: results === 1 ? '1 result' : `${results} results`, style: small },
    ...(count.critical ? [{ text: `${count.critical} critical`, style: { ...small, font: bold.font, color: colors.red } }] : []),
    ...(count.abnormal ? [{ text: `${count.abnormal} abnormal`, style: { ...small, font: bold.font, color: colors.text } }] : []),
    ...(missingResults.length ? [{ text: `${missingResults.length} not performed`, style: small }] : []),
  ]
  return {
    height: 16,
    draw(y) {
      let x = pageSize.left
      for (const [index, { text, style }] of parts.entries()) {
        if (index > 0) canvas.drawText('·', x - 6, y + 11, small, 'center')
        canvas.drawText(text, x, y + 11, style)
        x += canvas.measure(style)(text) + 12
      }
      if (order.sandbox) canvas.drawText(sandboxLine, pageSize.right, y + 11, { ...comment, color: '#8a5a00' }, 'right')
    },
  }
}

/** Explains the common flags and the known ones of this report. */
function flagKey(canvas: PdfCanvas, { panels }: Report): Block {
  const used = panels.flatMap(({ results }) => results.map(({ flag }) => flag.trim().toUpperCase()))
  const flags = [...new Set(['H', 'L', 'A', 'HH', 'LL', ...used])].filter((flag) => Object.hasOwn(meanings, flag))
  const text = flags.map((flag) => `${flag} = ${meanings[flag]}`).join('   ·   ')
  const lines = canvas.wrap(`${text}. Results in bold are abnormal; a shaded row is a critical result.`, small, contentWidth, 4)
  return {
    height: 30 + lines.length * 10.5,
    draw(y) {
      canvas.drawRule(y + 12, colors.hairline, 0.5)
      for (const [index, line] of lines.entries()) canvas.drawText(line, pageSize.left, y + 24 + index * 10.5, small)
      canvas.drawText('End of report', pageSize.right, y + 24 + lines.length * 10.5, capital, 'right')
    },
  }
}

/** The running header of all pages but the first: names the patient. */
function drawRunningHeader(canvas: PdfCanvas, { lab, patient, order }: Report, name: readonly string[]): void {
  const y = pageSize.top
  const last = y + 8 + name.length * 11
  drawLines(canvas, name, pageSize.left, y + 8, bold, 11)
  canvas.drawTextFitted(
    `Born ${toPrintable(formatTimestamp(patient.dob), 40)}   ·   ${toPrintable(patient.gender, 40)}`,
    pageSize.left,
    last,
    small,
    300,
  )
  canvas.drawTextFitted(toPrintable(lab.name, 120), pageSize.right, y + 8, { ...small, font: bold.font }, 210, 'right')
  const what = `${badges[order.status].text}   ·   Specimen ${toPrintable(order.specimen_number, 60)}`
  canvas.drawTextFitted(what, pageSize.right, y + 19, small, 210, 'right')
  canvas.drawRule(last + 8, colors.navy, 0.8)
}

function drawFooter(canvas: PdfCanvas, { patient, order }: Report, page: string): void {
  const y = canvas.bottom + 10
  canvas.drawRule(y, colors.hairline, 0.5)
  canvas.drawTextFitted(toPrintable(patient.name, 160), pageSize.left, y + 12, { ...label, font: bold.font }, 440)
  canvas.drawText(page, pageSize.right, y + 12, { ...label, font: bold.font }, 'right')
  const reported = toPrintable(formatInstant(order.reportedAt, order.time_zone), 60)
  const what = `Specimen ${toPrintable(order.specimen_number, 60)}   ·   Reported ${reported}`
  canvas.drawTextFitted(what, pageSize.left, y + 22, label, 340)
  if (order.sandbox) canvas.drawText(sandboxLine, pageSize.right, y + 22, label, 'right')
}
