// Places a written report on pages.
import type { Page, TextMark } from '../compose/canvas.ts'
import { measureText } from '../compose/measure.ts'
import type { Interpretation, TrueResult, Truth } from '../truth.ts'
import type { Command, Written, WrittenColumn } from './parse.ts'

const SIZES = { letter: [612, 792], a4: [595, 842], 'letter-landscape': [792, 612], 'a4-landscape': [842, 595] } as const
const MARGIN = 36

interface Look {
  size: number
  bold: boolean
  italic: boolean
  color: string
  x: number | undefined
  align: 'left' | 'center' | 'right' | undefined
}

/** Pages and truth of a written report. */
export function composeWritten(report: Written): { width: number; height: number; pages: Page[]; truth: Truth } {
  const [width, height] = SIZES[report.page]
  const pages: Page[] = [{ texts: [], shapes: [] }]
  const results: TrueResult[] = []
  let columns: WrittenColumn[] = [{ role: 'name', x: MARGIN, align: 'left' }]
  let [y, leading, panel] = [MARGIN, report.size * 1.35, null as string | null]

  for (const command of report.commands) run(command)
  return { width, height, pages, truth: { results, metadata: report.metadata, ambiguousDates: report.ambiguousDates } }

  function run(command: Command): void {
    switch (command.kind) {
      case 'columns':
        columns = command.columns
        return
      case 'space':
        y += command.height
        return
      case 'at':
        y = command.y
        return
      case 'leading':
        leading = command.height
        return
      case 'rule':
        pages
          .at(-1)!
          .shapes.push({ kind: 'line', x1: MARGIN, y1: y + 2, x2: width - MARGIN, y2: y + 2, width: 0.6, color: '#000000' })
        y += 5
        return
      case 'page':
        pages.push({ texts: [], shapes: [] })
        y = MARGIN
        return
      case 'panel':
        panel = command.panel
        return
      case 'heading':
        print([command.text.startsWith('<') ? command.text : `<b>${command.text}`])
        panel = command.panel
        return
      case 'turned':
        for (const mark of marksOf(command.text, { role: 'other', x: command.x, align: 'left' }, command.y))
          pages.at(-1)!.texts.push({ ...mark, angle: command.angle })
        return
      case 'truth':
        results.push(trueResult(command.truth, [], columns, panel))
        return
      case 'line':
        print(command.cells)
        if (command.isResult) results.push(trueResult(command.truth, command.cells, columns, panel))
    }
  }

  function print(cells: readonly string[]): void {
    let tallest = report.size
    for (const [at, cell] of cells.entries()) {
      if (!cell.trim()) continue
      const marks = marksOf(cell, columns[at] ?? columns.at(-1)!, y)
      tallest = Math.max(tallest, ...marks.map((mark) => mark.size))
      pages.at(-1)!.texts.push(...marks)
    }
    y += leading + (tallest - report.size) * 1.3
  }

  function marksOf(cell: string, column: WrittenColumn, top: number): TextMark[] {
    const { look, text } = cellLook(cell, report.size)
    const raised = text.split(/\^\{([^}]*)\}/u)
    const parts = raised.map((part, index) => ({
      text: part,
      size: index % 2 ? look.size * 0.6 : look.size,
      isRaised: index % 2 === 1,
    }))
    const widths = parts.map((part) => measureText(part.text, report.font, { ...look, size: part.size }))
    const total = widths.reduce((sum, width) => sum + width, 0)
    const align = look.align ?? (look.x === undefined ? column.align : 'left')
    const place = look.x ?? (look.align === 'center' ? width / 2 : look.align === 'right' ? width - MARGIN : column.x)
    let x = place - total * { left: 0, center: 0.5, right: 1 }[align]
    return parts.flatMap((part, index) => {
      const mark: TextMark = {
        text: part.text,
        x,
        y: top + look.size - (part.isRaised ? look.size * 0.35 : 0),
        width: widths[index]!,
        font: report.font,
        size: part.size,
        bold: look.bold,
        italic: look.italic,
        color: look.color,
        token: undefined,
      }
      x += widths[index]!
      return part.text.trim() ? [mark] : []
    })
  }
}

/** `<b 12 #c00000 x300 C>text`: bold or italic, size, color, place, C for the middle of the page, R for its right edge. */
function cellLook(cell: string, size: number): { look: Look; text: string } {
  const look: Look = { size, bold: false, italic: false, color: '#000000', x: undefined, align: undefined }
  const [, signs = '', text = cell] = /^\s*<([bi\dxCR#][^<>=]*)>(.*)$/su.exec(cell) ?? []
  for (const sign of signs.split(' ')) {
    if (sign === 'b') look.bold = true
    else if (sign === 'i') look.italic = true
    else if (sign === 'C') look.align = 'center'
    else if (sign === 'R') look.align = 'right'
    else if (sign.startsWith('#')) look.color = sign
    else if (sign.startsWith('x')) look.x = Number(sign.slice(1))
    else if (sign) look.size = Number(sign)
  }
  return { look, text: text.trim() }
}

/** As text is read: without looks, raised digits as powers. */
const plain = (cell: string | undefined): string =>
  cellLook(cell ?? '', 9).text.replaceAll(/\^\{([^}]*)\}/gu, (_, exponent: string) =>
    /^\d+$/u.test(exponent) ? `^${exponent}` : '',
  )

function trueResult(
  truth: Record<string, string>,
  cells: readonly string[],
  columns: readonly WrittenColumn[],
  panel: string | null,
): TrueResult {
  const of = (role: WrittenColumn['role']) =>
    columns.flatMap((column, index) => (column.role === role && cells[index] ? [plain(cells[index])] : [])).find(Boolean)
  const value = truth.value ?? of('value') ?? ''
  const printed = of('range')
  const range = truth.range === '?' ? undefined : boundsOf(truth.range ?? printed ?? '')
  const unit = truth.unit ?? of('unit') ?? null
  if (!value || !(truth.name ?? of('name'))) throw new Error(`a result without name or value: ${cells.join('|')}`)
  return {
    test_name: truth.name ?? of('name')!,
    value,
    units: unit === '-' ? null : unit,
    range,
    interpretations:
      truth.interpretation === '?' ? undefined : trueInterpretations(truth.interpretation ?? of('flag'), value, range, printed),
    source_panel_name: panel,
    loinc: truth.loinc ? truth.loinc.split(',') : [],
    comments: truth.comment === undefined ? undefined : [truth.comment],
    box: undefined,
  }
}

/** `70-99`, `3,5 - 5,1`, `<5.7`, `>= 60`, `70..99`; anything else has no bounds. */
function boundsOf(text: string): { min: number | null; max: number | null } {
  const number = (digits: string) =>
    Number(/^\d{1,3}(?:,\d{3})+$/u.test(digits) ? digits.replaceAll(',', '') : digits.replace(',', '.'))
  const open = /^([\d.,]*\d)?\.\.([\d.,]*\d)?$/u.exec(text)
  if (open) return { min: open[1] ? number(open[1]) : null, max: open[2] ? number(open[2]) : null }
  const both = /^[([]?\s*(-?[\d.,]*\d)\s*(?:-|–|to|\.\.)\s*(-?[\d.,]*\d)(?:\s*[^\d\s].*)?$/u.exec(text)
  if (both) return { min: number(both[1]!), max: number(both[2]!) }
  const one = /^[([]?(<|>|≤|≥|<=|>=|up to)\s*([\d.,]*\d)(?:\s*[^\d\s].*)?$/iu.exec(text)
  if (!one) return { min: null, max: null }
  const bound = number(one[2]!)
  return /^[>≥]/u.test(one[1]!) ? { min: bound, max: null } : { min: null, max: bound }
}

const WORDS: Record<string, Interpretation[]> = {
  normal: ['normal'],
  abnormal: ['abnormal'],
  critical: ['critical'],
  unknown: ['unknown'],
}

function trueInterpretations(
  flag: string | undefined,
  value: string,
  range: TrueResult['range'],
  printedText: string | undefined,
): Interpretation[] | undefined {
  const named = WORDS[(flag ?? '').toLowerCase()]
  if (named) return named
  if (flag) return ['abnormal', 'critical']
  if (!range) return undefined
  const number = Number(value.replaceAll(/(?<=\d),(?=\d{3}\b)/gu, '').replace(',', '.'))
  const isBounded = range.min !== null || range.max !== null
  if (Number.isNaN(number) || !isBounded) return printedText ? ['normal', 'unknown', 'abnormal'] : ['unknown']
  return [number < (range.min ?? -Infinity) || number > (range.max ?? Infinity) ? 'abnormal' : 'normal']
}
