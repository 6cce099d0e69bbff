// Ages of patients as reports print them, and the ages for which a range holds: `6 Days`, `2-5 years`, `18 years and above`.

export type AgeUnit = 'years' | 'months' | 'weeks' | 'days'

const DAYS: Record<AgeUnit, number> = { years: 365.25, months: 30.4375, weeks: 7, days: 1 }
const YEARS_MAX = 120
/** Longer texts are neither an age nor a condition on it. */
const TEXT_MAX = 120

/** An age in completed units, each by itself: 400 days are 1 year, 13 months, 57 weeks and 400 days. */
export type Age = Readonly<Record<AgeUnit, number>>

/** An age as it is printed, with the smallest of its units. */
export interface StatedAge {
  days: number
  unit: AgeUnit
}

/** A year of 365 days is one, although the average year is longer. */
const SHORTEST_YEAR_DAYS = 0.8

/** An age of which only the number of days is known: months and years have their average length. */
export function ageOfDays(days: number): Age {
  const completed = (unit: AgeUnit): number => Math.floor((days + SHORTEST_YEAR_DAYS) / DAYS[unit])
  return { years: completed('years'), months: completed('months'), weeks: completed('weeks'), days: completed('days') }
}

export const toDays = (count: number, unit: AgeUnit): number => count * DAYS[unit]

const YEARS = String.raw`years?|yrs?|y\/o|y\.?o|y`
const MONTHS = 'months?|mths?|mons?|mos?'
const WEEKS = 'weeks?|wks?|w'
const DAY = 'days?|d'
const unitOf = (text: string): AgeUnit => {
  const letter = text[0]!.toLowerCase()
  return letter === 'y' ? 'years' : letter === 'm' ? 'months' : letter === 'w' ? 'weeks' : 'days'
}

const PART = new RegExp(String.raw`(?<![\d.,/\p{L}-])(\d{1,3})\s{0,2}(${YEARS}|${MONTHS}|m|${WEEKS}|${DAY})(?!\p{L})`, 'giu')

/** The age that a text states with its units: `3 Months`, `52 Y 3 M 4 D/M`. The month of `34 M` is a man. */
export function statedAge(text: string): StatedAge | undefined {
  const parts = [...text.slice(0, TEXT_MAX).matchAll(PART)].map(({ 1: count, 2: unit, 0: whole, index }) => ({
    days: toDays(Number(count), unitOf(unit!)),
    unit: unitOf(unit!),
    isLetter: /^m$/iu.test(unit!),
    index,
    end: index + whole.length,
  }))
  let age: number | undefined
  let last: (typeof parts)[number] | undefined
  for (const [index, part] of parts.entries()) {
    if (!last && part.isLetter && parts[index + 1]?.unit !== 'days') continue
    // Behind years months may stand, and so on.
    if (last && (DAYS[part.unit] >= DAYS[last.unit] || part.index - last.end > 6)) break
    age = (age ?? 0) + part.days
    last = part
  }
  return last && age !== undefined && age <= toDays(YEARS_MAX, 'years') + 366 ? { days: age, unit: last.unit } : undefined
}

/** The age on a date, by the calendar; dates in ISO form. Undefined if no person can have it. */
export function ageBetween(birthDate: string | undefined, end: string | undefined): Age | undefined {
  if (!birthDate || !end) return undefined
  const [birthDay, endDay] = [new Date(birthDate), new Date(end)]
  const days = Math.round((endDay.getTime() - birthDay.getTime()) / 86_400_000)
  if (!(days >= 0 && days <= toDays(YEARS_MAX, 'years'))) return undefined
  const monthOf = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth()
  const months = monthOf(endDay) - monthOf(birthDay) - Number(endDay.getUTCDate() < birthDay.getUTCDate())
  return { years: Math.floor(months / 12), months, weeks: Math.floor(days / 7), days }
}

/** The age as it is printed, or as it was counted from dates where that is the same in the printed unit, or none is printed. */
export function agreedAge(printedAge: StatedAge | undefined, ageFromDates: Age | undefined): Age | null {
  if (!printedAge) return ageFromDates ?? null
  const stated = ageOfDays(printedAge.days)
  return ageFromDates?.[printedAge.unit] === stated[printedAge.unit] ? ageFromDates : stated
}

interface Bound {
  count: number
  unit: AgeUnit
  /** Whether a patient of exactly this age is meant, too. */
  isIncluded: boolean
}

export interface AgeCondition {
  lower?: Bound
  upper?: Bound
}

const COUNT = String.raw`(\d{1,3})`
const UNIT = String.raw`(?:(${YEARS}|${MONTHS}|m|${WEEKS}|${DAY})(?!\p{L})(?:\.|\s?\(s\))?(?:\s(?:old|of age))?)`
const ABOVE = String.raw`(>=|=>|≥|>|＞|from|over|above|older than|more than|greater than|at least)`
const BELOW = String.raw`(<=|=<|≤|<|＜|under|below|up ?to|younger than|less than|until|till|at most)`
const OR = String.raw`(?:and|or|&|\/)\s?`

const pattern = (text: string) => new RegExp(String.raw`(?<![\d.])${text}`, 'iu')
const BETWEEN = pattern(
  String.raw`(?:${ABOVE}\s?|between\s)?${COUNT}\s?${UNIT}?\s?(?:-|–|—|to|and|through)\s?${BELOW}?\s?${COUNT}\s?${UNIT}?(?!\d)`,
)
const FROM = pattern(String.raw`${ABOVE}\s?(?:or equal to\s)?${COUNT}\s?${UNIT}?(?!\d)`)
const FROM_BEHIND = pattern(
  String.raw`${COUNT}\s?${UNIT}?\s?(?:\+|plus\b|onwards?\b|${OR}(?:above|over|older|up|upwards|more|greater)\b)\s?${UNIT}?`,
)
const UP_TO = pattern(String.raw`${BELOW}\s?(?:or equal to\s)?${COUNT}\s?${UNIT}?(?!\d)`)
const UP_TO_BEHIND = pattern(String.raw`${COUNT}\s?${UNIT}?\s?${OR}(?:below|under|younger|less)\b`)
const EXACTLY = pattern(String.raw`${COUNT}\s?${UNIT}`)
const INCLUDED = /^(?:>=|=>|≥|from|at least|<=|=<|≤|up ?to|until|till|at most)$/iu

/** What a text says about the age, and the text without it. Numbers without a unit are years where nothing else is said. */
export function ageConditionIn(original: string): { condition: AgeCondition; rest: string; hasUnit: boolean } | undefined {
  const text = original.slice(0, TEXT_MAX).replaceAll(/\s+/gu, ' ')
  const found = (match: RegExpExecArray, condition: AgeCondition, ...units: (string | undefined)[]) => ({
    condition,
    rest: `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`,
    hasUnit: units.some(Boolean),
  })
  const bound = (count: string, unit: string | undefined, isIncluded: boolean): Bound => ({
    count: Number(count),
    unit: unit ? unitOf(unit) : 'years',
    isIncluded,
  })
  const isIncluded = (sign: string | undefined) => sign === undefined || INCLUDED.test(sign)
  const between = BETWEEN.exec(text)
  if (between) {
    const [, above, from, fromUnit, below, to, toUnit] = between
    const condition = {
      lower: bound(from!, fromUnit ?? toUnit, isIncluded(above)),
      upper: bound(to!, toUnit ?? fromUnit, isIncluded(below)),
    }
    return found(between, condition, fromUnit, toUnit)
  }
  const behind = FROM_BEHIND.exec(text)
  if (behind) return found(behind, { lower: bound(behind[1]!, behind[2] ?? behind[3], true) }, behind[2], behind[3])
  const underBehind = UP_TO_BEHIND.exec(text)
  if (underBehind) return found(underBehind, { upper: bound(underBehind[1]!, underBehind[2], true) }, underBehind[2])
  const from = FROM.exec(text)
  if (from) return found(from, { lower: bound(from[2]!, from[3], isIncluded(from[1])) }, from[3])
  const upTo = UP_TO.exec(text)
  if (upTo) return found(upTo, { upper: bound(upTo[2]!, upTo[3], isIncluded(upTo[1])) }, upTo[3])
  const exactly = EXACTLY.exec(text)
  if (!exactly) return undefined
  const only = bound(exactly[1]!, exactly[2], true)
  return found(exactly, { lower: only, upper: only }, exactly[2])
}

/**
 * How well an age fits: `inside`; `at the end`, where the next row may begin (`1-5 years`, `5-10 years`); `at a bound` that is left out,
 * where no other row may fit (`>18 years`, with 18). Undefined if it does not. Ages count in completed units of the condition.
 */
export function ageFit(age: Age, { lower, upper }: AgeCondition): 'inside' | 'at the end' | 'at a bound' | undefined {
  const [above, below] = [lower, upper].map((bound) => bound && age[bound.unit] - bound.count)
  if (above !== undefined && above < 0) return undefined
  if (below !== undefined && (below > 0 || (below === 0 && !upper!.isIncluded))) return undefined
  if (above === 0 && !lower!.isIncluded) return 'at a bound'
  return below === 0 && lower !== upper ? 'at the end' : 'inside'
}
