/** Owns the tables of a laboratory report: one per panel, and the tests that were not performed. Never splits a row. */
import { plainTable, stack, tableHead } from '../../platform/pdf/blocks.ts'
import { colors, full, sheet, styles, type Block, type Pen, type Style } from '../../platform/pdf/page.ts'
import { notation, printable, unit } from '../../platform/pdf/text.ts'

export interface Result {
  name: string
  result: string
  unit: string | null
  reference_range: string | null
  /** As the laboratory sent it: `''`, `H`, `L`, `A`, `HH`, `LL`, … */
  flag: string
  interpretation: 'normal' | 'abnormal' | 'critical' | 'unknown'
  notes: string | null
  loinc: string | null
}

const { body, bold, tiny, comment, long } = styles

const columns = {
  test: { x: sheet.left + 6, width: 178, title: 'TEST' },
  result: { x: sheet.left + 192, width: 102, title: 'RESULT' },
  flag: { x: sheet.left + 302, width: 58, title: 'FLAG' },
  units: { x: sheet.left + 366, width: 64, title: 'UNITS' },
  range: { x: sheet.left + 436, width: full - 440, title: 'REFERENCE INTERVAL' },
}
const missing_columns = [columns.test, { x: columns.result.x, width: sheet.right - columns.result.x, title: 'REASON' }]
const lead = 11.5

/**
 * Rows under a heading with the names of the columns; both come again where the table goes on over a page. A result or a
 * remark is cut after `text_max` characters.
 */
export function panelTable(pen: Pen, panel: { name: string; results: Result[] }, text_max: number): Block[] {
  const name = printable(panel.name, 160)
  const head = Object.values(columns)
  const repeat = tableHead(pen, name, head, 4, 'continued')
  const rows = panel.results.map((result) => ({ ...resultRow(pen, result, text_max), repeat }))
  return rows.length > 0 ? [{ ...tableHead(pen, name, head, 12), holds_next: true }, ...rows] : []
}

export const missingTable = (pen: Pen, missing: { name: string; reason: string }[]): Block[] =>
  plainTable(
    pen,
    'Tests not performed',
    missing_columns,
    missing.map(({ name, reason }) => ({ cells: [name, reason] })),
  )

function resultRow(pen: Pen, result: Result, text_max: number): Block {
  const critical = result.interpretation === 'critical'
  const value: Style = critical ? { ...bold, color: colors.red } : result.interpretation === 'abnormal' ? bold : body
  const flag =
    printable(result.flag, 12) || { critical: 'CRITICAL', abnormal: 'A', normal: '', unknown: '' }[result.interpretation]
  const units = unit(printable(result.unit ?? '', 80))
  const range = notation(printable(result.reference_range ?? '', 240))
  const text = notation(printable(result.result, text_max))

  const names = pen.wrap(notation(printable(result.name, 300)), value === body ? body : bold, columns.test.width, 8)
  const loinc = loincPlace(pen, result.loinc, names, value)
  // A worded result with nothing beside it may use the whole width to the right.
  const alone = !flag && !units && !range
  const inCell = pen.wrap(text, value, alone ? sheet.right - columns.result.x - 4 : columns.result.width, 28)
  const below = !alone && inCell.length > 3 ? pen.wrap(text, { ...long, font: value.font }, full - 24, 28) : []
  const cells = [
    { at: columns.test, lines: names, style: value === body ? body : bold },
    {
      at: columns.result,
      lines: below.length > 0 ? ['see below'] : inCell,
      style: below.length > 0 ? { ...value, size: 8 } : value,
    },
    { at: columns.units, lines: pen.wrap(units, body, columns.units.width, 6), style: body },
    { at: columns.range, lines: pen.wrap(range, body, columns.range.width, 8), style: body },
  ]
  const repeated = result.notes?.trim() === result.result.trim()
  const remark = repeated ? '' : printable(result.notes ?? '', text_max)
  const remarks = remark ? pen.wrap(remark, comment, full - 24, 18) : []

  const cellsHeight = Math.max(loinc?.height ?? 0, ...cells.map(({ lines }) => lines.length * lead))
  const height = cellsHeight + 6.5 + (below.length && below.length * 11 + 2) + (remarks.length && remarks.length * 10 + 2)
  return {
    height,
    draw(top) {
      if (critical) {
        pen.box(sheet.left, top + 0.5, full, height - 0.5, '#fdeaec')
        pen.box(sheet.left, top + 0.5, 2.5, height - 0.5, colors.red)
      }
      for (const { at, lines, style } of cells) stack(pen, lines, at.x, top + 11.5, style)
      if (loinc) pen.put(loinc.text, loinc.x, top + loinc.y, tiny)
      if (flag) drawFlag(pen, flag, critical, top + 11.5)
      let y = top + cellsHeight + 12
      stack(pen, below, sheet.left + 14, y, { ...long, font: value.font, color: value.color }, 11)
      y += below.length && below.length * 11 + 2
      stack(pen, remarks, sheet.left + 14, y - 0.5, comment, 10)
      pen.rule(top + height, colors.hair, 0.5)
    },
  }
}

/** Small, behind the last line of the name, or under it where it does not fit. */
function loincPlace(pen: Pen, code: string | null, names: string[], style: Style) {
  if (!code?.trim()) return undefined
  const text = `LOINC ${printable(code, 20)}`
  const used = pen.measure(style)(names.at(-1)!) + 6
  const fits = used + pen.measure(tiny)(text) <= columns.test.width
  const lines = names.length + (fits ? 0 : 1)
  return { text, x: columns.test.x + (fits ? used : 0), y: lines * lead - (fits ? 0 : 1.5), height: lines * lead }
}

function drawFlag(pen: Pen, flag: string, critical: boolean, y: number): void {
  const { x, width } = columns.flag
  if (!critical) return pen.fit(flag, x, y, bold, width)
  const white: Style = { font: 'Helvetica-Bold', size: 6.5, color: '#ffffff' }
  const measure = pen.measure(white)
  const both = flag === 'CRITICAL' ? flag : `${flag} CRITICAL`
  const text = measure(both) + 7 <= width ? both : flag
  pen.box(x - 2, y - 8, Math.min(measure(text), width - 7) + 7, 10.5, colors.red, 2)
  pen.fit(text, x + 1.5, y - 0.5, white, width - 7)
}
