/** The tables of a laboratory report: one per panel, and the tests not performed. Never splits a row. */
import { plainTable, drawLines, tableHead, type Column } from '../../platform/pdf/blocks.ts'
import { colors, contentWidth, pageSize, styles, type Container, type PdfCanvas, type Style } from '../../platform/pdf/canvas.ts'
import type { Block } from '../../platform/pdf/page-layout.ts'
import { formatNotation, toPrintable, formatUnit } from '../../platform/pdf/text.ts'

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

const tableColumns = {
  test: { x: pageSize.left + 6, width: 178, title: 'TEST' },
  result: { x: pageSize.left + 192, width: 102, title: 'RESULT' },
  flag: { x: pageSize.left + 302, width: 58, title: 'FLAG' },
  units: { x: pageSize.left + 366, width: 64, title: 'UNITS' },
  range: { x: pageSize.left + 436, width: contentWidth - 440, title: 'REFERENCE INTERVAL' },
}
const missing_columns = [
  tableColumns.test,
  { x: tableColumns.result.x, width: pageSize.right - tableColumns.result.x, title: 'REASON' },
]
const lineHeight = 11.5

/**
 * Rows under a heading and the column names; both are repeated if the table continues on the next page. A result or comment is cut after
 * `text_max` characters.
 */
export function panelTable(canvas: PdfCanvas, panel: { name: string; results: Result[] }, text_max: number): Block[] {
  const name = toPrintable(panel.name, 160)
  const table: Container = { tag: 'Table' }
  const head = { table, name, columns: Object.values(tableColumns), gap: 12 }
  const repeat = tableHead(canvas, { ...head, gap: 4, note: 'continued' })
  const rows = panel.results.map((result) => ({ ...resultRow(canvas, result, text_max), repeat, container: table }))
  return rows.length > 0 ? [{ ...tableHead(canvas, head), holds_next: true }, ...rows] : []
}

export const missingTable = (canvas: PdfCanvas, missingResults: { name: string; reason: string }[]): Block[] =>
  plainTable(
    canvas,
    'Tests not performed',
    missing_columns,
    missingResults.map(({ name, reason }) => ({ cells: [name, reason] })),
  )

interface Cell {
  column: Column
  lines: readonly string[]
  style: Style
}

function resultRow(canvas: PdfCanvas, result: Result, text_max: number): Block {
  const critical = result.interpretation === 'critical'
  const value: Style = critical ? { ...bold, color: colors.red } : result.interpretation === 'abnormal' ? bold : body
  const flag =
    toPrintable(result.flag, 12) || { critical: 'CRITICAL', abnormal: 'A', normal: '', unknown: '' }[result.interpretation]
  const units = formatUnit(toPrintable(result.unit ?? '', 80))
  const range = formatNotation(toPrintable(result.reference_range ?? '', 240))
  const text = formatNotation(toPrintable(result.result, text_max))

  const names = canvas.wrap(
    formatNotation(toPrintable(result.name, 300)),
    value === body ? body : bold,
    tableColumns.test.width,
    8,
  )
  const loinc = loincPosition(canvas, result.loinc, names, value)
  // A text result without flag, unit and range may use the whole width to its right.
  const alone = !flag && !units && !range
  const inCell = canvas.wrap(text, value, alone ? pageSize.right - tableColumns.result.x - 4 : tableColumns.result.width, 28)
  const below = !alone && inCell.length > 3 ? canvas.wrap(text, { ...long, font: value.font }, contentWidth - 24, 28) : []
  const cells = {
    test: { column: tableColumns.test, lines: names, style: value === body ? body : bold },
    result: {
      column: tableColumns.result,
      lines: below.length > 0 ? ['see below'] : inCell,
      style: below.length > 0 ? { ...value, size: 8 } : value,
    },
    units: { column: tableColumns.units, lines: canvas.wrap(units, body, tableColumns.units.width, 6), style: body },
    range: { column: tableColumns.range, lines: canvas.wrap(range, body, tableColumns.range.width, 8), style: body },
  } satisfies Record<string, Cell>
  const repeated = result.notes?.trim() === result.result.trim()
  const noteLine = repeated ? '' : toPrintable(result.notes ?? '', text_max)
  const noteLines = noteLine ? canvas.wrap(noteLine, comment, contentWidth - 24, 18) : []

  const cellsHeight = Math.max(loinc?.height ?? 0, ...Object.values(cells).map(({ lines }) => lines.length * lineHeight))
  const height = cellsHeight + 6.5 + (below.length && below.length * 11 + 2) + (noteLines.length && noteLines.length * 10 + 2)
  return {
    height,
    draw(top) {
      if (critical) {
        canvas.fillBox(pageSize.left, top + 0.5, contentWidth, height - 0.5, '#fdeaec')
        canvas.fillBox(pageSize.left, top + 0.5, 2.5, height - 0.5, colors.red)
      }
      const drawCell = ({ column, lines, style }: Cell) => drawLines(canvas, lines, column.x, top + 11.5, style)
      canvas.tag('TR', () => {
        canvas.tag('TD', () => {
          drawCell(cells.test)
          if (loinc) canvas.drawText(loinc.text, loinc.x, top + loinc.y, tiny)
        })
        canvas.tag('TD', () => {
          drawCell(cells.result)
          let y = top + cellsHeight + 12
          drawLines(canvas, below, pageSize.left + 14, y, { ...long, font: value.font, color: value.color }, 11)
          y += below.length && below.length * 11 + 2
          drawLines(canvas, noteLines, pageSize.left + 14, y - 0.5, comment, 10)
        })
        canvas.tag('TD', () => flag && drawFlag(canvas, flag, critical, top + 11.5))
        canvas.tag('TD', () => drawCell(cells.units))
        canvas.tag('TD', () => drawCell(cells.range))
      })
      canvas.drawRule(top + height, colors.hairline, 0.5)
    },
  }
}

/** Places the code in small print after the last line of the name, or below it if it does not fit. */
function loincPosition(canvas: PdfCanvas, code: string | null, names: string[], style: Style) {
  if (!code?.trim()) return undefined
  const text = `LOINC ${toPrintable(code, 20)}`
  const used = canvas.measure(style)(names.at(-1)!) + 6
  const fits = used + canvas.measure(tiny)(text) <= tableColumns.test.width
  const lines = names.length + (fits ? 0 : 1)
  return {
    text,
    x: tableColumns.test.x + (fits ? used : 0),
    y: lines * lineHeight - (fits ? 0 : 1.5),
    height: lines * lineHeight,
  }
}

function drawFlag(canvas: PdfCanvas, flag: string, critical: boolean, y: number): void {
  const { x, width } = tableColumns.flag
  if (!critical) return canvas.drawTextFitted(flag, x, y, bold, width)
  const white: Style = { font: 'bold', size: 6.5, color: '#ffffff' }
  const measure = canvas.measure(white)
  const both = flag === 'CRITICAL' ? flag : `${flag} CRITICAL`
  const text = measure(both) + 7 <= width ? both : flag
  canvas.fillBox(x - 2, y - 8, Math.min(measure(text), width - 7) + 7, 10.5, colors.red, 2)
  canvas.drawTextFitted(text, x + 1.5, y - 0.5, white, width - 7)
}
