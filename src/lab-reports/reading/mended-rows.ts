// Rows of pictures: what text recognition is known to misread in ranges, units and names, where one reading alone makes sense. Pure.
import type { Row } from '../layout/row.ts'
import { numberOf } from '../../lab-values/values.ts'

/** `O to 149`: a letter that was read for a zero. */
const ZERO = /(?<![\p{L}\d.,])[Oo](?=\s?(?:to|-|–)\s?\d|[.,]\d|\s\d)/gu
/** `14--46`, `0.12 -. 0.38`, `0.26... 2.17`: a long dash whose ink has gaps. */
const DASHES = /(?<=\d)\s?(?:[-–—][-–—.]+|\.[-–—]|\.{2,})\s?(?=\d)/gu
/** `Oto99` */
const RUN_TOGETHER = /(?<=\d)to(?=\d)/gu
/** `0.82 1.77`: a dash that was not seen. */
const TWO_NUMBERS = /^(\d+(?:[.,]\d+)?)\s(\d+(?:[.,]\d+)?)$/u

/** A row of a picture with its range, unit and name as the report must print them. */
export const mendedRow = (row: Row, isNamed: (name: string) => boolean): Row => ({
  ...row,
  name: mendedName(row.name, isNamed),
  unit: row.unit === null ? null : mendedUnit(row.unit),
  range_lines: row.range_lines.map(mendedRange),
})

export function mendedRange(text: string): string {
  const plain = text.replaceAll(ZERO, '0').replaceAll(DASHES, ' - ').replaceAll(RUN_TOGETHER, ' to ')
  const [, low, high] = TWO_NUMBERS.exec(plain) ?? []
  if (low === undefined || high === undefined) return plain
  const [min, max] = [low, high].map((item) => numberOf(item.replace(',', '.')))
  return min !== undefined && max !== undefined && min < max ? `${low} - ${high}` : plain
}

/** `S.`, `±mL/min/1.73m2`, `I U/L`, `TU/L`, `HU/L`, `[ug/L`, `mg/LFEU`, `mL/min/1.73m2 2`, `f` */
export const mendedUnit = (unit: string): string =>
  unit
    .replace(/^[[|±](?=\p{L})/u, '')
    .replace(/^S\.?$/u, 's')
    .replace(/^([mµuk]?)I U(?=\/)/u, '$1IU')
    .replace(/^([mµuk]?)[T1l|H]U(?=\/)/u, '$1IU')
    .replace(/(?<=\/m?L)(?=(?:FEU|DDU)$)/u, ' ')
    .replace(/(?<=m[2²]) ?2$/u, '')
    .replace(/^f$/u, 'fL')

/** What one letter is taken for, each in both letters' places: `TSII`, `Free 13`, `Blooct`. */
const CONFUSED: readonly [read: RegExp, meant: string][] = [
  [/II|ll|Il|lI/gu, 'H'],
  [/(?<![\p{L}\d])[1Il](?=[34](?!\d))/gu, 'T'],
  [/ct|cl/gu, 'd'],
  [/rn|nn/gu, 'm'],
  [/(?<![\p{L}\d])[l1|](?=[a-z]{2}|g[ADEGM]\b)/gu, 'I'],
  [/^(?=g[ADEGM](?!\p{L}))/gu, 'I'],
]

/** A name of nothing, as the one name of something that laboratories measure and that it was confused with. */
export function mendedName(name: string, isNamed: (name: string) => boolean): string {
  // `iron`: the capital letter of a name is no higher than a small one.
  if (/^i\p{Ll}{2,}/u.test(name) && isNamed(name)) return `I${name.slice(1)}`
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
