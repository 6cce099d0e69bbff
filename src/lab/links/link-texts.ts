// Numbers and times in the messages of a laboratory, read and written by the profile of its link. Pure.
import { instantIn } from '../../platform/runtime/zoned-time.ts'
import type { ResultType } from './diagnostic-report.ts'
import type { LinkProfile } from './profile/link-profile.ts'
import type { DecimalMark } from './profile/text-options.ts'

type TextOptions = LinkProfile['text']

/** Longer texts are prose, in which numbers stay as they are: the patterns take time by the square of the length. */
const TEXT_LENGTH_MAX = 4000
/** Of a text that is one number or two. */
const NUMBERS_LENGTH_MAX = 100

/** Digits with signs between them. */
const NUMERAL = /(?<![\d.,])\d+(?:[.,]\d+)*(?![\d.,]*\d)/gu
const NUMERALS: Record<DecimalMark, RegExp> = {
  '.': /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/u,
  ',': /^(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$/u,
}

/**
 * A text with its numbers written with a decimal point and without signs between thousands: with the mark `,` `1.234,5 - 2.000` becomes
 * `1234.5 - 2000`. Digits that are no number with this mark stay, such as those of a date.
 */
export const withDecimalPoints = (text: string, mark: DecimalMark): string =>
  text.length > TEXT_LENGTH_MAX
    ? text
    : text.replaceAll(NUMERAL, (numeral) =>
        NUMERALS[mark].test(numeral) ? numeral.replaceAll(mark === '.' ? ',' : '.', '').replace(mark, '.') : numeral,
      )

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?$/u
const RANGE = /^(?:[<>]=?(?:\d+(?:\.\d+)?|\.\d+)|\d+(?:\.\d+)?-\d+(?:\.\d+)?)$/u
/** `.5` and `<,05`: with nothing before the decimal mark. */
const WITHOUT_ZERO = /^((?:[<>]=?)?\s*[+-]?)([.,])(\d+)$/u

/** A value in the form of the neutral record. A value that is no number with the decimal mark is a comment, and stays as it is with its blanks. */
export function readValue(text: string, mark: DecimalMark): { type: ResultType; result: string } {
  const comment = { type: 'comment', result: text } as const
  const trimmed = text.trim()
  if (trimmed.length > TEXT_LENGTH_MAX) return comment
  const numerals = trimmed.match(NUMERAL) ?? []
  if (!numerals.every((numeral) => NUMERALS[mark].test(numeral))) return comment
  const ascii = trimmed.replaceAll('≤', '<=').replaceAll('≥', '>=')
  const [, sign = '', leadingMark, decimals = ''] = WITHOUT_ZERO.exec(ascii) ?? []
  if (leadingMark !== undefined && leadingMark !== mark) return comment
  const plain = leadingMark === undefined ? withDecimalPoints(ascii, mark) : `${sign}.${decimals}`
  if (NUMBER.test(plain)) return { type: 'numeric', result: plain }
  const compact = plain.replace(/\s*([<>=-])\s*/gu, '$1')
  return RANGE.test(compact) ? { type: 'range', result: compact } : comment
}

const NUMBERS_ONLY = /^[<>≤≥]?=?\s*[+-]?[\d.,]+(?:\s*-\s*[\d.,]+)?$/u
const OTHER_MARKS: Record<DecimalMark, DecimalMark> = { '.': ',', ',': '.' }

/**
 * Whether a value or a range is written with the other decimal mark than that of the profile: `5,1` with the mark `.`. Then other numbers of the
 * laboratory may be read wrongly, such as `1,234`.
 */
export function hasOtherMark(text: string, mark: DecimalMark): boolean {
  const trimmed = text.trim()
  if (trimmed.length > NUMBERS_LENGTH_MAX || !NUMBERS_ONLY.test(trimmed)) return false
  const leadingMark = WITHOUT_ZERO.exec(trimmed)?.[2]
  if (leadingMark !== undefined) return leadingMark !== mark
  const numerals = trimmed.match(NUMERAL) ?? []
  const fitsAll = (candidate: DecimalMark) => numerals.every((numeral) => NUMERALS[candidate].test(numeral))
  return !fitsAll(mark) && fitsAll(OTHER_MARKS[mark])
}

const TIME = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:\.\d{1,4})?)?)?)?([+-]\d{4})?$/u

export interface LinkTime {
  /** ISO 8601 with an offset, in whole seconds; `YYYY-MM-DD` if the laboratory gives no time of day. */
  time: string
  /** The offset that the text has. */
  offset: string | undefined
}

/**
 * Reads a time as HL7 version 2 writes it: `20300102081500+0100`, `203001020815`, `20300102`. Without an offset the time is of `offset`, the
 * one of the whole message, else of the zone. Of a time that the clocks of the zone show twice, the first is meant.
 * @returns undefined if the text is no time
 */
export function readLinkTime(text: string, zone: string, messageOffset?: string): LinkTime | undefined {
  const parts = TIME.exec(text.trim())
  if (!parts) return undefined
  const [, year, month, date, hour, minute = '00', second = '00', ownOffset] = parts
  const day = `${year}-${month}-${date}`
  const local = Date.parse(`${day}T${hour ?? '00'}:${minute}:${second}Z`)
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== day) return undefined
  if (hour === undefined) return { time: day, offset: undefined }
  const offset = ownOffset ?? messageOffset
  const wall = `${day}T${hour}:${minute}:${second}`
  if (offset !== undefined) {
    const time = `${wall}${offset.slice(0, 3)}:${offset.slice(3)}`
    return Number.isNaN(Date.parse(time)) ? undefined : { time, offset: ownOffset }
  }
  return { time: instantIn(instantOfWall(local, zone), zone), offset: undefined }
}

/** An instant in whole seconds as HL7 version 2 writes it, in the zone of the laboratory: `20300102081500+0100`. */
export function writeLinkTime(
  instant: Date,
  { time_zone, sends_offsets }: Pick<TextOptions, 'time_zone' | 'sends_offsets'>,
): string {
  const time = instantIn(instant, time_zone)
  const wall = time.slice(0, 19).replaceAll(/[-:T]/gu, '')
  return sends_offsets ? wall + time.slice(19).replace(':', '') : wall
}

const HOUR_MS = 3_600_000
/** Farther than any offset, and than any change of the clocks. */
const PROBE_MS = 30 * HOUR_MS

/** The instant at which the clocks of a zone show a time. In a gap, clocks that were not changed would show it. */
function instantOfWall(local_ms: number, zone: string): Date {
  const offsets = [-PROBE_MS, PROBE_MS].map((distance) => offsetMs(new Date(local_ms + distance), zone))
  const candidates = offsets.map((offset) => new Date(local_ms - offset))
  return candidates.find((instant) => instant.getTime() + offsetMs(instant, zone) === local_ms) ?? candidates[0]!
}

function offsetMs(instant: Date, zone: string): number {
  const wall = instantIn(instant, zone).slice(0, 19)
  return Date.parse(`${wall}Z`) - Math.floor(instant.getTime() / 1000) * 1000
}
