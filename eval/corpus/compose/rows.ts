// Rows of results on the page: their tokens, their styles, and what is true about what was printed.
import type { Content, PrintedPanel } from '../content.ts'
import type { Body, Column, TextStyle } from '../language.ts'
import type { Row } from '../rows.ts'
import { fill, tokensOf } from '../template.ts'
import type { Interpretation, TrueResult } from '../truth.ts'
import type { Canvas, StyledSegment, TextMark } from './canvas.ts'

/** Tokens that the rows of a body print, and those of its headings. */
export function printedTokens(body: Body): Set<string> {
  const rows =
    body.kind === 'table'
      ? body.columns.map(({ cell }) => cell)
      : body.kind === 'cards'
        ? body.parts.map(({ text }) => text)
        : [body.text]
  return new Set([...rows, body.panel.heading ?? '', body.panel.subheading ?? ''].flatMap(tokensOf))
}

/** Days whose results are rows of their own in the truth: all columns of a cumulative report, else the latest. */
export function printedDays(body: Body): number[] {
  if (body.kind !== 'table') return [0]
  const days = body.columns.flatMap(({ cell }) => [...cell.matchAll(/\{value@(\d)\}/g)].map(([, day]) => Number(day)))
  return days.length ? days : [0]
}

const DAY = /^(\w+)@(\d)$/

export function rowToken(token: string, row: Row, panel: PrintedPanel, content: Content): string {
  const [, name = token, day = '0'] = DAY.exec(token) ?? []
  const printed = row.values[Number(day)]!
  switch (name) {
    case 'name':
      return row.name
    case 'value':
      return printed.value
    case 'in':
      return printed.isOutside ? '' : printed.value
    case 'out':
      return printed.isOutside ? printed.value : ''
    case 'flag':
      return printed.flag
    case 'word':
      return printed.word
    case 'previous':
      return row.values[1]!.value
    case 'units':
      return row.unit
    case 'range':
      return row.range
    case 'method':
      return row.method
    case 'code':
      return row.code
    case 'number':
      return row.number
    case 'panel':
      return panel.title
    case 'sample':
      return panel.sample
  }
  const text = content.textOf(token)
  if (text === undefined) throw new Error(`${content.layout.name}: rows have no token {${token}}`)
  return text
}

const isResult = (token: string | undefined): boolean => /^(value|flag|in|out|word)(@|$)/.test(token ?? '')

/** The text of a cell. Values out of range have the bold face or the color that the column asks for. */
export function cellSegments(
  canvas: Canvas,
  template: string,
  look: TextStyle & Pick<Column, 'abnormalColor'> & { boldIfAbnormal?: boolean },
  { row, panel, content }: { row: Row; panel: PrintedPanel; content: Content },
): StyledSegment[] {
  const plain = canvas.style(look)
  return fill(template, (token) => rowToken(token, row, panel, content)).map((segment) => {
    const day = Number(/@(\d)/.exec(segment.token ?? '')?.[1] ?? 0)
    const isOutside = row.values[day]!.isOutside && (isResult(segment.token) || segment.token === 'name')
    const isStrong = isOutside && look.boldIfAbnormal
    const color = isOutside && isResult(segment.token) ? look.abnormalColor : undefined
    return {
      ...segment,
      style: isStrong || color ? { ...plain, bold: plain.bold || !!isStrong, color: color ?? plain.color } : plain,
    }
  })
}

/** The truth about a row whose marks have just been drawn on the last page. */
export function trueResults(
  row: Row,
  panel: PrintedPanel,
  body: Body,
  { pages, height }: Canvas,
  marks: readonly TextMark[],
): TrueResult[] {
  const tokens = printedTokens(body)
  return printedDays(body).map((day) => {
    const value = row.values[day]!
    const [mark, ...others] = marks.filter(({ token, text }) => isRowValue(day, token) && text.trim())
    return {
      test_name: row.name,
      value: value.value,
      units: tokens.has('units') ? row.unit || null : null,
      range: tokens.has('range') ? row.trueRange : { min: null, max: null },
      interpretations: expectedInterpretations(row, day, tokens),
      source_panel_name: tokens.has('panel') ? panel.title : null,
      loinc: row.codes,
      comments: printedDays(body).length > 1 ? undefined : row.remark ? [row.remark] : [],
      box:
        mark && !others.length
          ? { page: pages.length, x: mark.x, y: Math.min(height, mark.y - mark.size * 0.8), width: mark.width, height: mark.size }
          : undefined,
    }
  })
}

function isRowValue(day: number, token: string | undefined): boolean {
  if (token === `value@${day}`) return true
  return day === 0 && (token === 'value' || token === 'in' || token === 'out')
}

export function expectedInterpretations(row: Row, day: number, tokens: Set<string>): Interpretation[] | undefined {
  const { byFlag, byRange, flag, isOutside, word } = row.values[day]!
  // Whether two signs mean more than one, not every laboratory says.
  if (tokens.has('flag') && byFlag) return byFlag === 'critical' && !/[a-z]/i.test(flag) ? ['critical', 'abnormal'] : [byFlag]
  if (tokens.has('word')) return [word === 'Normal' ? 'normal' : 'abnormal']
  if (tokens.has('out') && isOutside) return ['abnormal']
  if (!tokens.has('range')) return ['unknown']
  return row.trueRange ? byRange : undefined
}
