// Rows with what is known to be misread or written differently: letters in pictures, decimal commas.
import { isUnit } from '../../lab-values/units.ts'
import { numberOf } from '../../lab-values/values.ts'
import { unitOfRange } from '../tables/misread-units.ts'
import type { Row } from '../tables/row-parts.ts'
import { isSusceptibility } from '../texts/antibiotics.ts'

/** `0-1 d: 1.0-8.0: 2-5 d: 1.0-12.0`: a semicolon before the next age. */
const BEFORE_AGE = /(?<=\d)[:.,](?= \d+\s?[-–]\s?\d+ (?:d|days?|w|wks?|weeks?|m|mo|months?|y|yrs?|years?):)/gu
/** `O to 149`: a letter that was read for a zero. */
const ZERO = /(?<![\p{L}\d.,])[Oo](?=\s?(?:to|-|–)\s?\d|[.,]\d|\s\d)/gu
/** `14--46`, `0.12 -. 0.38`, `0.26... 2.17`: a long dash whose ink has gaps. */
const DASHES = /(?<=\d)\s?(?:[-–—][-–—.]+|\.[-–—]|\.{2,})\s?(?=\d)/gu
/** `Oto99`, `0to 65` */
const RUN_TOGETHER = /(?<=\d)\s?to\s?(?=\d)/gu
/** `0.82 1.77`, `(135 145)`: a dash that was not seen. */
const TWO_NUMBERS = /^(\(?)(\d+(?:[.,]\d+)?)\s(\d+(?:[.,]\d+)?)(\)?)$/u

/** `2.15 - 2.57 01`: the number of a laboratory behind a range whose bounds are written alike. In `1.5 - 2 09` a decimal point is lost. */
const SITE_BEHIND = /^(\d+(?:[.,](\d+))?\s?(?:-|–|—|to)\s?\d+(?:[.,](\d+))?)\s[0oO][1-9]$/u

/** A row of a picture with its range, unit and name as the report must print them. */
export const mendedRow = (row: Row, isNamed: (name: string) => boolean): Row => ({
  ...row,
  name: mendedName(withoutArrow(row, isNamed), isNamed),
  value: mendedValue(row),
  unit: row.unit === null ? null : (unitOfRange(row.unit, row.range_lines.join(' ')) ?? mendedUnit(row.unit)),
  range_lines: row.range_lines.map(mendedRange),
})

/** `A Hemoglobin A1c` with a flag: the arrow in front of the name of an unusual result was read as a letter. */
function withoutArrow({ name, flag }: Row, isNamed: (name: string) => boolean): string {
  const rest = name.replace(/^[A4^] /u, '')
  return rest !== name && flag !== null && !isNamed(name) && isNamed(rest) ? rest : name
}

/** `o` next to a unit or a range of numbers as zero, `1` for an antibiotic as `I`: intermediate. */
function mendedValue({ name, value, unit, range_lines: ranges, comments }: Row): string {
  if (/^[oO]$/u.test(value) && (unit !== null || ranges.some((range) => /\d/u.test(range)))) return '0'
  return /^[1l|]$/u.test(value) && unit === null && !ranges.length && isSusceptibility(name, 'I', comments) ? 'I' : value
}

/** `[Absent`: the other bracket was not seen. Of a number a digit may be lost with it. */
const OPEN_WORD = /^[[(]([^\d()[\]]+)$|^([^\d()[\]]+)[\])]$/u

export function mendedRange(text: string): string {
  const plain = withoutSite(
    text
      .replace(OPEN_WORD, '$1$2')
      .replaceAll(BEFORE_AGE, ';')
      .replaceAll(ZERO, '0')
      .replaceAll(DASHES, ' - ')
      .replaceAll(RUN_TOGETHER, ' to '),
  )
  const [, open = '', low, high, close = ''] = TWO_NUMBERS.exec(plain) ?? []
  if (low === undefined || high === undefined || open.length !== close.length) return plain
  const [min, max] = [low, high].map((item) => numberOf(item.replace(',', '.')))
  // `2 50` may be `≥ 50`.
  const isSign = low === '2' && max !== undefined && max >= 20
  return min !== undefined && max !== undefined && min < max && !isSign ? `${open}${low} - ${high}${close}` : plain
}

/** `<40 o1`: with a letter it is no lost decimal. */
const SITE_WITH_LETTER = /^([<>≤≥]=?\s?\d+(?:[.,]\d+)?)\s[oO][1-9]$/u

function withoutSite(text: string): string {
  const [, range, decimalsOfLow = '', decimalsOfHigh = ''] = SITE_BEHIND.exec(text) ?? []
  if (range !== undefined && decimalsOfLow.length === decimalsOfHigh.length) return range
  return SITE_WITH_LETTER.exec(text)?.[1] ?? text
}

/** `µmol/L.`, `S.`, `±mL/min/1.73m2`, `I U/L`, `TU/L`, `[ug/L`, `mg/LFEU`, `mL/min/1.73m2 2`, `f` */
export const mendedUnit = (unit: string): string =>
  (isUnit(unit) ? unit : unit.replace(/[.,·]+$/u, ''))
    .replace(/^[[|±](?=\p{L})/u, '')
    .replace(/^S\.?$/u, 's')
    .replace(/^([mµuk]?)I U(?=\/)/u, '$1IU')
    .replace(/^([mµuk]?)[T1l|H]U(?=\/)/u, '$1IU')
    .replace(/(?<=\/m?L)(?=(?:FEU|DDU)$)/u, ' ')
    .replace(/(?<=m[2²]) ?2$/u, '')
    .replace(/(?<=1[.,]73 ?)m[zZ?]$/u, 'm²')
    .replace(/^f$/u, 'fL')

/** What one letter is taken for, each in both letters' places: `TSII`, `Free 13`, `Blooct`. */
const CONFUSED: readonly [read: RegExp, meant: string][] = [
  [/II|ll|Il|lI/gu, 'H'],
  [/(?<![\p{L}\d])[1Il](?=[34](?!\d))/gu, 'T'],
  [/ct|cl/gu, 'd'],
  [/(?<=\p{Lu})I(?=\p{Ll})/gu, 'l'],
  [/rn|nn/gu, 'm'],
  [/(?<![\p{L}\d])[l1|](?=[a-z]{2}|g[ADEGM]\b)/gu, 'I'],
  [/(?<=^|\/)(?=g[ADEGM](?!\p{L}))/gu, 'I'],
]

/** A name of nothing, as the one name of something that laboratories measure and that it was confused with. */
export function mendedName(read: string, isNamed: (name: string) => boolean): string {
  const name = withSigns(read, isNamed)
  // `iron`: the capital letter of a name is no higher than a small one.
  if (/^i\p{Ll}{2,}/u.test(name) && isNamed(name)) return `I${name.slice(1)}`
  // `Sodium Lv`, `Sodium LV`
  const withLevel = name.replace(/(?<=\s)L[vV]$/u, 'Lvl')
  if (withLevel !== name && isNamed(withLevel)) return withLevel
  if (/\(g[ADEGM]\)/u.test(name)) return mendedName(name.replace(/\((?=g[ADEGM]\))/u, '(I'), isNamed)
  if (isNamed(name)) return name
  const others = new Set<string>()
  for (const [read, meant] of CONFUSED)
    for (const match of name.matchAll(read)) {
      const other = name.slice(0, match.index) + meant + name.slice(match.index + match[0].length)
      if (isNamed(other)) others.add(other)
    }
  return others.size === 1 ? [...others][0]! : name
}

/** `PROTEIN. TOTAL`, `Immunoglobulin A. Qn`: behind what is a name by itself, and no abbreviation (`R.A. Factor`), stands a comma. */
const DOT = /(?<!\.\p{Lu})\.(?=\s[\p{L}\d])/gu
/** `Immunoglobulin A(IgA)`: before an abbreviation in brackets stands a space. */
const ABBREVIATION = /(?<=\p{L}{3}|\s\p{Lu})\((?=(?:\p{Lu}{2}[\p{L}\d/-]{0,3}|Ig[ADEGM])\))/gu

/** A name with signs that are lost or misread in pictures, also `AG Ratio`, which is printed with a slash. */
const withSigns = (name: string, isNamed: (name: string) => boolean): string =>
  withoutDirt(name, isNamed)
    // `Typhi "O""`
    .replaceAll(/["'“”]{2,}/gu, '"')
    .replaceAll(DOT, (dot, index: number) => (isNamed(name.slice(0, index)) ? ',' : dot))
    .replaceAll(ABBREVIATION, ' (')
    .replace(/\s[°º]$/u, ' %')
    .replace(/^A[Il1|]?G(?=\sratio\b)/iu, 'A/G')

/** `Trichomonas vaginalis, NAA.`, `SGPT (ALT).`: nothing goes on behind them, so that the dot is dirt or leads to the result. */
const withoutDirt = (name: string, isNamed: (name: string) => boolean): string =>
  /(?:\b(?:NAA|PCR|Ig[AEGM])|\))\.$/u.test(name) && isNamed(name.slice(0, -1)) ? name.slice(0, -1) : name

const COMMA = /(?<![\d.,])\d+,\d{1,2}(?![\d.,])/gu
const POINT = /(?<![\d.,])\d+\.\d{1,2}(?![\d.,])/gu
const THOUSANDS = /(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])/gu

export function hasDecimalCommas(rows: readonly Row[]): boolean {
  const texts = rows.flatMap((row) => [row.value, ...row.range_lines])
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  return count(COMMA) > 0 && count(POINT) === 0
}

/** Share of the decimals of a report: if so many have one sign, the other one in a picture is misread. */
const COMMAS_SHARE = 0.8
/** Fewer decimals do not show it. */
const DECIMALS_MIN = 5

/**
 * Rows of pictures with commas in place of the points that nearly all other decimals of the report do not have, or with points in place of commas.
 */
export function withCommas(rows: readonly Row[], isPicture: (row: Row) => boolean): Row[] {
  const texts = rows.flatMap((row) => [row.value, ...row.range_lines])
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  const [commas, points] = [count(COMMA), count(POINT)]
  const most = (commas + points) * COMMAS_SHARE
  if (!points || !commas || commas + points < DECIMALS_MIN || Math.max(commas, points) < most) return [...rows]
  const [misread, sign] = commas > points ? [POINT, ','] : [COMMA, '.']
  const mended = (text: string) => text.replaceAll(misread, (number) => number.replace(/[.,]/u, sign))
  return rows.map((row) =>
    isPicture(row) ? { ...row, value: mended(row.value), range_lines: row.range_lines.map(mended) } : row,
  )
}

/** Without the points between thousands. */
const withoutThousands = (text: string): string => text.replaceAll(THOUSANDS, (digits) => digits.replaceAll('.', ''))

/** A comma that elsewhere groups the digits of thousands: `1,005` next to `13,5` is little more than 1. */
const THREE_DECIMALS = /(?<![\d.,])(\d),(\d{3})(?![\d.,])/gu

const plainNumber = (text: string): string => withoutThousands(text).replaceAll(THREE_DECIMALS, '$1.$2')

/** A row whose numbers can be compared, of a report with decimal commas; the result keeps the value as the page says it. */
export const withPlainNumbers = (row: Row): Row => ({
  ...row,
  value: plainNumber(row.value),
  range_lines: row.range_lines.map(plainNumber),
})
