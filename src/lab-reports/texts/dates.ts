// Dates as reports print them, and in which order their parts stand.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|[o0]ct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const WRITTEN_DMY = new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?[\s./-]*(${MONTH})[.,]?[\s./-]*(\d{4}|\d{2})\b`, 'iu')
const WRITTEN_MDY = new RegExp(String.raw`\b(${MONTH})[.,]?\s*(\d{1,2})(?:st|nd|rd|th)?(?:,\s*|\s+)(\d{4})\b`, 'iu')
const ISO = /\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/u
const DIGITS = /\b(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})\b(?!\.\d)/u
/** A year of two digits that is further in the future than this belongs to the last century. */
const PIVOT_YEAR = 40

/** `unknown`: `03/04/2024` can be in March or in April. */
export type DateOrder = 'day first' | 'month first' | 'unknown'

export interface PrintedDate {
  text: string
  index: number
  /** By the parts that are not ambiguous; undefined where the order decides. */
  iso?: string
  parts?: { first: number; second: number; year: number }
}

/** Text recognition parts digits next to a 1: `1 1/05/2021`, `09/1 0/2025`, `04/09/1 965`. The rest would be another date. */
const withoutGaps = (text: string): string =>
  text
    .replaceAll(/\b([0-3]) (?=\d[/.-]\d{1,2}[/.-](?:\d ?){2,4}\b)/gu, '$1')
    .replaceAll(/(?<=\b\d{1,2}[/.-][01]) (?=\d[/.-])/gu, '')
    .replaceAll(/(?<=\d[/.-]\d{1,2}[/.-]\d{1,3}) (?=\d{1,3}\b)/gu, (gap, index: number, text: string) => {
      const [digitsBefore = ''] = /\d+$/u.exec(text.slice(0, index)) ?? []
      const [digitsBehind = ''] = /^\d+/u.exec(text.slice(index + 1)) ?? []
      return digitsBefore.length !== 2 && digitsBefore.length + digitsBehind.length === 4 ? '' : gap
    })

/** The first date in a text. */
export function dateIn(original: string): PrintedDate | undefined {
  const text = withoutGaps(original)
  const matches: PrintedDate[] = []
  const iso = ISO.exec(text)
  if (iso) push(matches, iso, isoDate(Number(iso[1]), Number(iso[2]), Number(iso[3])))
  const dmy = WRITTEN_DMY.exec(text)
  if (dmy) push(matches, dmy, isoDate(yearOf(dmy[3]!), monthOf(dmy[2]!), Number(dmy[1])))
  const mdy = WRITTEN_MDY.exec(text)
  if (mdy) push(matches, mdy, isoDate(Number(mdy[3]), monthOf(mdy[1]!), Number(mdy[2])))
  const digits = DIGITS.exec(text)
  if (digits) {
    const [first, second, year] = [Number(digits[1]), Number(digits[3]), yearOf(digits[4]!)]
    const [asDay, asMonth] = [isoDate(year, second, first), isoDate(year, first, second)]
    if (asDay ?? asMonth) {
      const only = asDay && asMonth && asDay !== asMonth ? undefined : (asDay ?? asMonth)
      matches.push({ text: digits[0], index: digits.index, parts: { first, second, year }, ...(only && { iso: only }) })
    }
  }
  return matches.toSorted((a, b) => a.index - b.index || b.text.length - a.text.length)[0]
}

/** Whether a text is a date, with or without a time of day, and nothing else. */
export function isDay(text: string): boolean {
  const date = dateIn(text)
  return date?.index === 0 && TIME_BEHIND.test(text.slice(date.text.length))
}

/** `Lipid Panel Collected 2024-08-20` without when its specimen was taken. */
export function withoutDay(text: string): string {
  const date = dateIn(text)
  const index = date ? text.indexOf(date.text) : -1
  if (index < 0 || !TIME_BEHIND.test(text.slice(index + date!.text.length).replace(/[)\]]$/u, ''))) return text
  const before = text.slice(0, index)
  return OF_SPECIMEN.test(before) ? before.replace(OF_SPECIMEN, '') : text
}

/** `04 Mar 2024 08:10 Sodium` as its day and what stands behind it. */
export function dayInFront(text: string): { day: string | null; rest: string } {
  const date = dateIn(text)
  if (date?.index !== 0 || !text.startsWith(date.text)) return { day: null, rest: text }
  const behind = text.slice(date.text.length)
  const rest = behind.replace(TIME_IN_FRONT, '')
  const day = date.text + behind.slice(0, behind.length - rest.length)
  return /\p{L}/u.test(rest) ? { day, rest: rest.trim() } : { day: null, rest: text }
}

const TIME_IN_FRONT = /^[\s,T]*\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?(?=\s|$)/iu

const OF_SPECIMEN =
  /[\s([,;:–-]{0,4}\b(?:(?:specimen|sample|date|time)\s)?(?:collected|collection|drawn|sampled|received|reported|resulted)(?:\s(?:on|at|date))?:?\s*$/iu

const TIME_BEHIND = /^(?:[\s,T]*(?:at )?\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?)?$/iu

function push(matches: PrintedDate[], match: RegExpExecArray, iso: string | undefined): void {
  if (iso) matches.push({ text: match[0], index: match.index, iso })
}

const monthOf = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase().replace('0', 'o')) + 1
const yearOf = (digits: string): number =>
  digits.length === 4 ? Number(digits) : Number(digits) > PIVOT_YEAR ? 1900 + Number(digits) : 2000 + Number(digits)

function isoDate(year: number, month: number, day: number): string | undefined {
  if (year < 1880 || year > 2100 || month < 1 || month > 12 || day < 1 || day > 31) return undefined
  const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  const date = new Date(`${text}T00:00:00Z`)
  return date.getUTCDate() === day ? text : undefined
}

const COUNTRIES_MONTH_FIRST =
  /\b(?:CLIA|CAP accredited|USA|U\.S\.A|United States|[A-Z]{2} \d{5}(?:-\d{4})?|EST|PST|CST|MST|EDT|PDT|CDT)\b/u
const COUNTRIES_DAY_FIRST =
  /\b(?:NABL|UKAS|NHS|NATA|INAB|SANAS|India|United Kingdom|Ireland|Australia|New Zealand|Singapore|Malaysia|UAE|Dubai|Nigeria|Kenya|South Africa|Pakistan|Bangladesh|Sri Lanka|Hong Kong|Germany|Netherlands|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|IST|GMT|BST|AEST|GSTIN|UHID|Eircode|\+91|\+44|\+353|\+61|\+65|\+971|\+27|\+234|ISO 15189)\b|\+(?:91|44|353|61|65|971|27|234|49|31)\b/u

/** British spelling, with which the day stands first unless times of 12 hours say that the report is not British. */
const SPELLING_DAY_FIRST =
  /\b(?:[Hh]aem(?:oglobin|ogram|atology|atocrit)|HAEM(?:OGLOBIN|OGRAM|ATOLOGY)|[Oo]estradiol|[Ll]eucocyte|[Bb]asophils? count)\b/u
const TWELVE_HOURS = /\b\d{1,2}:\d{2}(?::\d{2})? ?[AP]M\b/iu

/** Towns, countries and degrees of physicians, in whatever case they are printed. */
const PLACES_DAY_FIRST =
  /\b(?:delhi|mumbai|bengaluru|bangalore|chennai|hyderabad|kolkata|pune|lahore|karachi|dhaka|colombo|riyadh|saudi|u\.a\.e|kuwait|qatar|bahrain|cairo|brazil|brasil|france|spain|italy|portugal|belgium|switzerland|austria|mexico city|thailand|indonesia|philippines|m\.?b\.?b\.?s|fcps|frcpath|frcpa|m\.?d\.? ?\(path\w*\)|\p{L}{4,} ?- ?\d{6})\b/iu

/**
 * In which order the dates of a document stand: by those whose parts allow one order alone, else by the age that it states, by dates that
 * would lie after others they cannot follow, and by the country that the laboratory names. `unknown` if nothing of it decides.
 */
export function dateOrder(
  texts: readonly string[],
  facts: {
    age_years: number | null
    birthDate: PrintedDate | undefined
    reportDate: PrintedDate | undefined
    collectionDate?: PrintedDate | undefined
  },
): DateOrder {
  let [day, month] = [0, 0]
  for (const text of texts)
    for (const match of text.matchAll(new RegExp(DIGITS, 'gu'))) {
      if (Number(match[1]) > 12 && Number(match[3]) <= 12) day++
      if (Number(match[3]) > 12 && Number(match[1]) <= 12) month++
    }
  if (day !== month) return day > month ? 'day first' : 'month first'
  const { age_years, birthDate, reportDate } = facts
  if (age_years !== null && birthDate?.parts && !birthDate.iso && reportDate) {
    const orders = (['day first', 'month first'] as const).filter((order) => {
      const [birthDay, reportDay] = [isoWith(birthDate, order), isoWith(reportDate, order)]
      return (
        birthDay &&
        reportDay &&
        Math.floor((Date.parse(reportDay) - Date.parse(birthDay)) / (365.2425 * 86_400_000)) === age_years
      )
    })
    if (orders.length === 1) return orders[0]!
  }
  // A report follows its specimen within days; in the wrong order they are months apart, or the wrong way round.
  const { collectionDate } = facts
  if (collectionDate?.parts && reportDate?.parts && collectionDate.text !== reportDate.text) {
    const days = (['day first', 'month first'] as const).map((order) => {
      const [collectionDay, reportDay] = [isoWith(collectionDate, order), isoWith(reportDate, order)]
      return collectionDay && reportDay ? (Date.parse(reportDay) - Date.parse(collectionDay)) / 86_400_000 : NaN
    })
    const [day, month] = days.map((span) => span >= 0 && span <= 15)
    if (day !== month) return day ? 'day first' : 'month first'
  }
  const all = texts.join('\n')
  const isSpelledDayFirst = SPELLING_DAY_FIRST.test(all) && !TWELVE_HOURS.test(all)
  const [firstMonth, firstDay] = [
    COUNTRIES_MONTH_FIRST.test(all),
    COUNTRIES_DAY_FIRST.test(all) || PLACES_DAY_FIRST.test(all) || isSpelledDayFirst,
  ]
  if (firstMonth !== firstDay) return firstDay ? 'day first' : 'month first'
  // Full stops part days from months in every country that uses them.
  return texts.some((text) => /\b\d{1,2}\.\d{1,2}\.\d{4}\b/u.test(text)) ? 'day first' : 'unknown'
}

/** The date as `2024-12-30`; undefined if its order is not known. */
export function isoWith(date: PrintedDate, order: DateOrder): string | undefined {
  if (date.iso) return date.iso
  if (!date.parts || order === 'unknown') return undefined
  const { first, second, year } = date.parts
  return order === 'day first'
    ? (isoDate(year, second, first) ?? isoDate(year, first, second))
    : (isoDate(year, first, second) ?? isoDate(year, second, first))
}
