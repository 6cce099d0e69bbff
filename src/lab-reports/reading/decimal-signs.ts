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

/** Of the decimals of a report: where so many have a comma, a point in a picture is a comma that was misread. */
const COMMAS_SHARE = 0.8
/** Fewer decimals do not show it. */
const DECIMALS_MIN = 5

/** Rows of pictures with commas in place of the points that nearly all other decimals of the report do not have. */
export function withCommas(rows: readonly Row[], isPicture: (row: Row) => boolean): Row[] {
  const texts = rows.flatMap((row) => [row.value, ...row.range_lines])
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  const [commas, points] = [count(COMMA), count(POINT)]
  if (!points || commas + points < DECIMALS_MIN || commas < (commas + points) * COMMAS_SHARE) return [...rows]
  const mended = (text: string) => text.replaceAll(POINT, (number) => number.replace('.', ','))
  return rows.map((row) =>
    isPicture(row) ? { ...row, value: mended(row.value), range_lines: row.range_lines.map(mended) } : row,
  )
}

/** Without the points between thousands. */
export const withoutThousands = (text: string): string => text.replaceAll(THOUSANDS, (digits) => digits.replaceAll('.', ''))

/** A comma that elsewhere groups the digits of thousands: `1,005` next to `13,5` is little more than 1. */
const THREE_DECIMALS = /(?<![\d.,])(\d),(\d{3})(?![\d.,])/gu

const plain = (text: string): string => withoutThousands(text).replaceAll(THREE_DECIMALS, '$1.$2')

/** A row whose numbers can be compared, of a report with decimal commas; the result keeps the value as the page says it. */
export const withPlainNumbers = (row: Row): Row => ({
  ...row,
  value: plain(row.value),
  range_lines: row.range_lines.map(plain),
})
