// Values of TCX and GPX files in the spellings of the programs that write them.

/** Date and time, with `T` or a blank between them, and a zone: `Z`, `UTC`, or an offset of hours and perhaps minutes. */
const INSTANT =
  /^(\d{4})[-/]?(\d\d?)[-/]?(\d\d?)(?:T|\s)\s*(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+\-\u2212]\d\d?(?::?\d\d)?)?$/i
const OFFSET = /^([+\-\u2212])(\d\d?):?(\d\d)?$/
const OFFSET_MINUTES_MAX = 15 * 60

/** An instant. A text without a zone is meant in UTC; undefined for what is no date and time. */
export function instantOf(text: string | undefined): number | undefined {
  const [, year, month, day, hour, minute, second = '0', fraction = '0', zone = 'Z'] = INSTANT.exec((text ?? '').trim()) ?? []
  if (year === undefined) return undefined
  const [h, m, s] = [Number(hour), Number(minute), Number(second)]
  // 24:00 is the end of a day, and a leap second its last one.
  if (h > 24 || (h === 24 && m + s > 0) || m > 59 || s > 60) return undefined
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (midnight.getUTCMonth() !== Number(month) - 1 || midnight.getUTCDate() !== Number(day)) return undefined
  const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(zone) ?? []
  const offset = Number(hours) * 60 + Number(minutes)
  if (offset > OFFSET_MINUTES_MAX || Number(minutes) > 59) return undefined
  const east_s = (sign === '+' ? offset : -offset) * 60
  return midnight.getTime() + (h * 3600 + m * 60 + s - east_s) * 1000 + Math.floor(Number(`0.${fraction}`) * 1000)
}

export function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** A heart rate, which some programs write with its unit. */
export function rateOf(text: string | undefined): number | undefined {
  const bpm = numberOf(text?.trim().replace(/\s*bpm$/i, ''))
  return bpm !== undefined && bpm > 0 && bpm < 300 ? bpm : undefined
}
