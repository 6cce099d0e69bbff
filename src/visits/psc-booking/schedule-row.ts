// Parses and formats a schedule in an operator's file: reports every error of a row, and none of its values. Pure.
import { weekdays, type Schedule, type Span } from './schedule.ts'
import type { SiteSchedule } from './schedules.ts'

/** Columns of a CSV file, or fields of a JSON file. */
export const scheduleColumns = ['site_code', ...weekdays, 'closed', 'slot_minutes', 'places', 'price', 'confirms'] as const
export type RawSchedule = Partial<Record<(typeof scheduleColumns)[number], unknown>>

const SPANS_MAX = 10
const CLOSED_MAX = 400
const CODE_MAX = 50

const TIME = '([01]\\d|2[0-3]):([0-5]\\d)'
const SPAN = new RegExp(`^${TIME}-(?:${TIME}|24:00)$`)

/** The words of a cell, or the items of a list. */
const splitList = (value: unknown): string[] =>
  (Array.isArray(value) ? value : String(value ?? '').split(/[\s;]+/)).map(String).filter((word) => word !== '')

/** Parses spans in order without overlap; undefined if they are not. */
function parseSpans(words: string[]): Span[] | undefined {
  const spans: Span[] = []
  for (const word of words) {
    const found = SPAN.exec(word)
    if (!found) return undefined
    const [, h, m, h2, m2] = found
    const from = Number(h) * 60 + Number(m)
    const to = h2 === undefined ? 1440 : Number(h2) * 60 + Number(m2)
    if (from >= to || from < (spans.at(-1)?.[1] ?? 0)) return undefined
    spans.push([from, to])
  }
  return spans.length > SPANS_MAX ? undefined : spans
}

/** Whether the text is a calendar date. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** Returns the schedule of a row, or its errors. Defaults: twenty minutes, capacity one, free, automatic confirmation. */
export function readSchedule(raw: RawSchedule): SiteSchedule | string[] {
  const faults: string[] = []
  const parseInteger = (name: 'slot_minutes' | 'places' | 'price', defaults: number, min: number, max: number): number => {
    const text = String(raw[name] ?? '').trim()
    if (text === '') return defaults
    const value = Number(text)
    if (Number.isInteger(value) && value >= min && value <= max) return value
    faults.push(`${name} must be a whole number from ${min} to ${max}`)
    return defaults
  }
  const site_code = String(raw.site_code ?? '').trim()
  if (!site_code || site_code.length > CODE_MAX) faults.push(`site_code must have 1 to ${CODE_MAX} characters`)
  const hours = weekdays.map((name) => {
    const spans = parseSpans(splitList(raw[name]))
    if (!spans) faults.push(`${name} must be times in order such as 07:00-12:00 13:00-15:30, at most ${SPANS_MAX}`)
    return spans ?? []
  })
  const closed = splitList(raw.closed)
  if (closed.length > CLOSED_MAX || !closed.every(isDay))
    faults.push(`closed must be days such as 2030-12-25, at most ${CLOSED_MAX}`)
  const confirms = String(raw.confirms ?? '').trim() || 'at_once'
  if (confirms !== 'at_once' && confirms !== 'by_hand') faults.push('confirms must be at_once or by_hand')
  const schedule: Schedule = {
    hours,
    closed: [...new Set(closed)].sort(),
    slot_minutes: parseInteger('slot_minutes', 20, 10, 240),
    places: parseInteger('places', 1, 1, 100),
    price: parseInteger('price', 0, 0, 1_000_000),
    confirms: confirms === 'by_hand' ? 'by_hand' : 'at_once',
  }
  return faults.length ? faults : { site_code, schedule }
}

const formatMinute = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** Returns a schedule as a JSON file has it. */
export const formatSchedule = ({ site_code, schedule: { hours, ...rest } }: SiteSchedule): RawSchedule => ({
  site_code,
  ...Object.fromEntries(
    weekdays.map((name, i) => [name, hours[i]!.map(([from, to]) => `${formatMinute(from)}-${formatMinute(to)}`)]),
  ),
  ...rest,
})
