// Tables of results of a printed report, and what is true about their rows.
import { expectedInterpretations } from '../compose/rows.ts'
import type { Content, PrintedPanel } from '../content.ts'
import type { Random } from '../random.ts'
import type { Row } from '../rows.ts'
import type { TrueResult } from '../truth.ts'
import type { Align, Cell, Grid, PrintedBlock } from './model.ts'
import { columnTitle } from './titles.ts'
import type { ColumnKind, PrintedStyle } from './style.ts'

/** Relative widths of the columns. */
const WIDTHS: Record<ColumnKind, number> = {
  name: 26,
  value: 11,
  'value and units': 18,
  'value and flag': 13,
  flag: 8,
  word: 10,
  units: 13,
  range: 17,
  low: 8,
  high: 8,
  previous: 11,
  laboratory: 6,
  method: 15,
  sample: 11,
  collected: 15,
  panel: 15,
}
/** Of the page, where columns are narrow. */
const NARROW_SHARE = 62

export function createTables(
  style: PrintedStyle,
  content: Content,
  random: Random,
): { blocks: PrintedBlock[]; results: TrueResult[] } {
  const blocks: PrintedBlock[] = []
  const results: TrueResult[] = []
  const panels = content.panels.map((panel) => shownPanel(panel, style)).filter(({ rows }) => rows.length > 0)
  const isOneTable = style.panels === 'rows' || style.panels === 'column'
  for (const [at, panel] of panels.entries()) {
    if (isOneTable && at > 0 && !style.unitInTitle) break
    const shown = isOneTable && !style.unitInTitle ? panels : [panel]
    if (style.panels === 'headings') blocks.push({ kind: 'heading', text: panel.title })
    const columns = chooseColumns(style, at)
    blocks.push(createTable(style, columns, shown, content, random))
    for (const one of shown) results.push(...one.rows.map((row) => trueResult(row, one, columns, style)))
    if (style.hasRemarks) blocks.push({ kind: 'small', text: REMARK })
  }
  return { blocks: style.isSideBySide ? [besideEachOther(blocks)] : blocks, results }
}

/** Headings with their tables, two by two. */
const besideEachOther = (blocks: PrintedBlock[]): PrintedBlock => ({
  kind: 'columns',
  blocks: blocks.flatMap((printedBlock, index) => (printedBlock.kind === 'heading' ? [[printedBlock, blocks[index + 1]!]] : [])),
})

const REMARK = 'Results relate to the specimen as received. Please discuss them with your physician.'

function chooseColumns(style: PrintedStyle, tableIndex: number): ColumnKind[] {
  const columns = tableIndex === 0 ? style.columns : style.laterColumns
  const shown = style.unitInTitle
    ? columns.filter((kind) => kind !== 'units').map((kind) => (kind === 'value and units' ? 'value' : kind))
    : columns
  return style.panels === 'column' ? ['panel', ...shown] : shown
}

/** A panel as it is printed: with long names, decimal commas, and rows of one unit if its table names it once. */
function shownPanel(panel: PrintedPanel, style: PrintedStyle): PrintedPanel {
  const units = panel.rows.map(({ unit }) => unit)
  const most = units.toSorted((a, b) => countText(units, b) - countText(units, a))[0]
  const rows = style.unitInTitle ? panel.rows.filter(({ unit }) => unit === most) : panel.rows
  return { ...panel, rows: style.hasDecimalCommas ? rows.map(withCommas) : rows }
}

const countText = (texts: readonly string[], text: string): number => (text ? texts.filter((item) => item === text).length : 0)

const comma = (text: string): string => text.replaceAll(/(?<=\d)\.(?=\d)/gu, ',')

const withCommas = (row: Row): Row => ({
  ...row,
  range: comma(row.range),
  values: row.values.map((printedValue) => ({ ...printedValue, value: comma(printedValue.value) })),
})

function createTable(style: PrintedStyle, columns: ColumnKind[], panels: PrintedPanel[], content: Content, random: Random): Grid {
  const unit = style.unitInTitle ? panels[0]!.rows[0]!.unit : ''
  const rows = panels.flatMap((panel) => [
    ...(style.panels === 'rows' ? [[{ lines: [panel.title], columns: columns.length, isBold: true } satisfies Cell]] : []),
    ...panel.rows.map((row, index) => columns.flatMap((kind) => rowCells(kind, row, index, panel, style, content))),
  ])
  return {
    kind: 'grid',
    widths: columnWidths(columns, style),
    header: style.hasNoTitles ? [] : headerCells(style, columns, unit, content, random),
    rows,
    isOfResults: true,
  }
}

function columnWidths(columns: readonly ColumnKind[], { width }: PrintedStyle): number[] | undefined {
  if (width === 'contents') return undefined
  const sum = columns.reduce((total, kind) => total + WIDTHS[kind], 0)
  return columns.map((kind) => (WIDTHS[kind] / sum) * (width === 'page' ? 100 : NARROW_SHARE))
}

/** Two lines of names where a lower and an upper bound share one. */
function headerCells(
  style: PrintedStyle,
  columns: readonly ColumnKind[],
  unit: string,
  content: Content,
  random: Random,
): Cell[][] {
  const isSplit = columns.includes('low')
  const title = (kind: ColumnKind): Cell => ({
    lines: columnTitle(kind, style, unit, content, random.fork(kind)),
    isBold: true,
    ...alignment(kind, style),
  })
  if (!isSplit) return [columns.map(title)]
  const above = columns.flatMap((kind): Cell[] => {
    if (kind === 'high') return []
    return kind === 'low' ? [{ ...title('range'), columns: 2, align: 'center' }] : [{ ...title(kind), rows: 2 }]
  })
  return [above, [title('low'), title('high')]]
}

const NUMBERS = new Set<ColumnKind>(['value', 'value and flag', 'previous', 'low', 'high'])
const alignment = (kind: ColumnKind, { numberAlign }: PrintedStyle): { align?: Align } =>
  NUMBERS.has(kind) && numberAlign !== 'left' ? { align: numberAlign } : {}

/** No cell below a panel that covers its rows. */
function rowCells(kind: ColumnKind, row: Row, index: number, panel: PrintedPanel, style: PrintedStyle, content: Content): Cell[] {
  if (kind === 'panel') return index === 0 ? [{ lines: [panel.title], rows: panel.rows.length }] : []
  const { value, flag, isOutside } = row.values[0]!
  const isResult = kind.startsWith('value') || kind === 'flag' || kind === 'word'
  const look = { ...alignment(kind, style), ...(isResult && isOutside && style.isBoldOutside ? { isBold: true } : {}) }
  return [{ lines: [cellText(kind, row, { value, flag }, panel, content)], ...look }]
}

function cellText(
  kind: ColumnKind,
  row: Row,
  { value, flag }: { value: string; flag: string },
  panel: PrintedPanel,
  content: Content,
): string {
  switch (kind) {
    case 'name':
      return row.name
    case 'value':
      return value
    case 'value and units':
      return `${value} ${row.unit}`.trim()
    case 'value and flag':
      return `${value} ${flag}`.trim()
    case 'flag':
      return flag
    case 'word':
      return row.values[0]!.word
    case 'units':
      return row.unit
    case 'range':
      return row.range
    case 'low':
    case 'high':
      return boundText(kind, row)
    case 'previous':
      return row.values[1]!.value
    case 'laboratory':
      return '01'
    case 'method':
      return row.method
    case 'sample':
      return panel.sample
    case 'collected':
      return content.textOf('collected')!
    case 'panel':
      return panel.title
  }
}

/** The bound as it is printed in the range; of words the expected one. */
function boundText(kind: 'low' | 'high', { range, trueRange }: Row): string {
  const numbers = range.match(/\d[\d.,]*/gu) ?? []
  if (trueRange?.min == null && trueRange?.max == null) return kind === 'low' ? range : ''
  if (trueRange.min === null) return kind === 'high' ? (numbers[0] ?? '') : ''
  return (kind === 'low' ? numbers[0] : trueRange.max === null ? '' : numbers[1]) ?? ''
}

const TOKENS: Partial<Record<ColumnKind, string[]>> = { 'value and flag': ['flag'], low: ['range'], high: ['range'] }

function trueResult(row: Row, panel: PrintedPanel, columns: readonly ColumnKind[], style: PrintedStyle): TrueResult {
  const tokens = new Set(columns.flatMap((kind) => TOKENS[kind] ?? [kind]))
  const hasUnit = tokens.has('units') || tokens.has('value and units') || style.unitInTitle !== undefined
  return {
    test_name: row.name,
    value: row.values[0]!.value,
    units: hasUnit ? row.unit || null : null,
    range: tokens.has('range') ? row.trueRange : { min: null, max: null },
    interpretations: expectedInterpretations(row, 0, tokens),
    source_panel_name: style.panels === 'none' ? null : panel.title,
    loinc: row.codes,
    comments: undefined,
    box: undefined,
  }
}
