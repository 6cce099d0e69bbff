// Whether a report writes decimals with a comma and thousands with a point: `13,5` and `251.000`. Judged from all of its results.
import type { Row } from '../layout/row.ts'

const COMMA = /(?<![\d.,])\d+,\d{1,2}(?![\d.,])/gu
const POINT = /(?<![\d.,])\d+\.\d{1,2}(?![\d.,])/gu
const THOUSANDS = /(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])/gu

export function hasDecimalCommas(rows: readonly Row[]): boolean {
  const texts = rows.flatMap((row) => [row.value, ...row.range_lines])
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  return count(COMMA) > 0 && count(POINT) === 0
}

/** Without the points between thousands. */
export const withoutThousands = (text: string): string => text.replaceAll(THOUSANDS, (digits) => digits.replaceAll('.', ''))

/** A row whose numbers can be compared; the value as the page says it is kept by the result. */
export const withPlainNumbers = (row: Row): Row => ({
  ...row,
  value: withoutThousands(row.value),
  range_lines: row.range_lines.map((line) => withoutThousands(line)),
})
