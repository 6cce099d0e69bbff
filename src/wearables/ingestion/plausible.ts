// Leaves out what cannot be: values outside of the bounds of their resource, and data of days that have not come. Whatever the source.
import { EARLIEST_DAY } from './day-records.ts'
import {
  basalBounds,
  fieldBounds,
  isWithin,
  nutrientBounds,
  sampleBounds,
  streamBounds,
  zoneBounds,
  type Bounds,
} from './bounds.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { IncomingStream, StreamList } from '../streams/workout-streams.ts'
import type { SummaryKind } from '../summaries/schema.ts'
import { isStorable, type IncomingSummary } from '../summaries/summaries.ts'
import type { Sample } from '../timeseries/chunks.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** How far ahead of the server the clock of a source may be. */
const AHEAD_MS = DAY_MS
const EARLIEST_MS = EARLIEST_DAY * DAY_MS
/** How far ahead a menstrual cycle may be predicted. */
const PREDICTED_MS = 366 * DAY_MS

export const FUTURE = 'must be after 1900 and not in the future'

const describeBounds = ([min, max]: Bounds): string => `between ${min} and ${max}`

/** A field that cannot be so, or the one that makes the whole record impossible. */
export interface PlausibilityFault {
  field: string
  text: string
}

/** Whether an instant of a sample, a night or a workout can be. */
export const isPastInstant = (at_ms: number, now_ms: number): boolean => at_ms >= EARLIEST_MS && at_ms <= now_ms + AHEAD_MS

/** Why a sample cannot be; undefined if it can. A note has no number. */
export function sampleFault(
  resource: TimeseriesName,
  { value, second, at_ms }: Pick<Sample, 'value' | 'second' | 'at_ms'>,
  now_ms: number,
): PlausibilityFault | undefined {
  if (!isPastInstant(at_ms, now_ms)) return { field: 'start_date', text: FUTURE }
  if (resource === 'note') return undefined
  const bounds = sampleBounds[resource]
  if (isWithin(value, bounds) && (second === null || isWithin(second, bounds))) return undefined
  return { field: 'value', text: `must be ${describeBounds(bounds)} ${timeseriesOf(resource).unit}` }
}

interface Checked {
  /** The record without the fields that cannot be; undefined for a record that cannot be itself. */
  record: IncomingSummary | undefined
  faults: PlausibilityFault[]
}

type Values = Record<string, unknown>
const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks a summary. Fields outside of their bounds are null; a record of a day before 1900 or after tomorrow is none. */
export function checkSummary(kind: SummaryKind, record: IncomingSummary, now_ms: number): Checked {
  const { calendar_date, document } = record
  if (calendar_date !== null) {
    const day_ms = Date.parse(calendar_date)
    const latest_ms = now_ms + AHEAD_MS + (kind === 'menstrual_cycle' ? PREDICTED_MS : DAY_MS)
    if (!(day_ms >= EARLIEST_MS && day_ms <= latest_ms))
      return { record: undefined, faults: [{ field: 'calendar_date', text: FUTURE }] }
  }
  if (!isStorable(record)) return { record: undefined, faults: [{ field: 'record', text: 'must come to at most 256 kB' }] }
  const faults: PlausibilityFault[] = []
  const checked = withoutImpossible(document as Values, '', fieldBounds[kind], faults)
  const more = record.query_values && withoutImpossible(record.query_values, '', fieldBounds[kind], faults, true)
  const rest = checkOthers(kind, checked, now_ms, faults)
  if (!faults.length && rest === document) return { record, faults }
  return { record: { ...record, document: rest, ...(more && { query_values: more }) } as IncomingSummary, faults }
}

/** A copy with null for each number outside of its bounds, if there is one. @param leavesOut such numbers are absent in place of null */
function withoutImpossible(
  values: Values,
  path: string,
  bounds: Readonly<Record<string, Bounds>>,
  faults: PlausibilityFault[],
  leavesOut = false,
): Values {
  let copy: Values | undefined
  for (const [name, value] of Object.entries(values)) {
    const field = path + name
    if (isObject(value)) {
      const inner = withoutImpossible(value, `${field}.`, bounds, faults)
      if (inner !== value) (copy ??= { ...values })[name] = inner
    } else if (typeof value === 'number' && Object.hasOwn(bounds, field) && !isWithin(value, bounds[field]!)) {
      faults.push({ field, text: `must be ${describeBounds(bounds[field]!)}` })
      copy ??= { ...values }
      if (leavesOut) delete copy[name]
      else copy[name] = null
    }
  }
  return copy ?? values
}

/** What a table of fields cannot say: lists, nutrients, dates. */
function checkOthers(kind: SummaryKind, document: Values, now_ms: number, faults: PlausibilityFault[]): Values {
  const fault = (field: string, text: string) => void faults.push({ field, text })
  switch (kind) {
    case 'workouts': {
      const zones = document.hr_zones
      if (!Array.isArray(zones) || zones.every((seconds) => isWithin(seconds as number, zoneBounds))) return document
      fault('hr_zones', `must be ${describeBounds(zoneBounds)}`)
      return { ...document, hr_zones: null }
    }
    case 'sleep_cycle':
      return withinSession(document)
    case 'profile': {
      const { birth_date } = document
      const isPossible = typeof birth_date !== 'string' || isPastInstant(Date.parse(birth_date), now_ms)
      if (isPossible) return document
      fault('birth_date', FUTURE)
      return { ...document, birth_date: null }
    }
    case 'meal':
      return checkMeal(document, fault)
    case 'menstrual_cycle':
      return checkCycle(document, now_ms, fault)
    default:
      return document
  }
}

/** The stages of a night as far as they lie within it. */
function withinSession(document: Values): Values {
  const { session_start, session_end, stage_start_offset_second: from, stage_end_offset_second: to, stage_type } = document
  if (!Array.isArray(from) || !Array.isArray(to) || !Array.isArray(stage_type)) return document
  const duration_s = Math.round((Date.parse(String(session_end)) - Date.parse(String(session_start))) / 1000)
  if (!Number.isFinite(duration_s)) return document
  const stages = stage_type.map((type: unknown, i) => [
    Math.max(0, from[i] as number),
    Math.min(duration_s, to[i] as number),
    type,
  ])
  const within = stages.filter(([start, end]) => (end as number) > (start as number))
  return {
    ...document,
    stage_start_offset_second: within.map(([start]) => start),
    stage_end_offset_second: within.map(([, end]) => end),
    stage_type: within.map(([, , type]) => type),
  }
}

type Report = (field: string, text: string) => void

/** An energy outside of its bounds is none at all; of the lists of minerals and vitamins, which name what is known, a nutrient is left out. */
function checkMeal(document: Values, fault: Report): Values {
  let isChanged = false
  const isImpossible = (value: unknown, field: string): boolean => {
    if (typeof value !== 'number' || isWithin(value, nutrientBounds)) return false
    fault(field, `must be ${describeBounds(nutrientBounds)}`)
    return (isChanged = true)
  }
  const checked = (value: unknown, field: string, leavesOut: boolean): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, one]) => {
            if (!isImpossible(one, field)) return [[name, checked(one, field, leavesOut)]]
            return leavesOut ? [] : [[name, null]]
          }),
        )
      : value
  const food = (values: Values): Values => ({
    ...values,
    energy: isObject(values.energy) && isImpossible(values.energy.value, 'energy') ? null : values.energy,
    macros: checked(values.macros, 'macros', false),
    micros: checked(values.micros, 'micros', true),
  })
  const { data } = document
  const foods = isObject(data)
    ? Object.fromEntries(Object.entries(data).map(([name, one]) => [name, isObject(one) ? food(one) : one]))
    : data
  const whole = food(document)
  return isChanged ? { ...whole, data: foods } : document
}

/** Entries of days that have not come, and temperatures that cannot be, are left out; the ends of a cycle may be predicted. */
function checkCycle(document: Values, now_ms: number, fault: Report): Values {
  const copy: Values = { ...document }
  let isChanged = false
  for (const name of ['period_end', 'cycle_end'])
    if (typeof copy[name] === 'string' && Date.parse(copy[name]) > now_ms + AHEAD_MS + PREDICTED_MS) {
      fault(name, FUTURE)
      copy[name] = null
      isChanged = true
    }
  const latest_ms = now_ms + AHEAD_MS + (document.is_predicted === true ? PREDICTED_MS : DAY_MS)
  for (const [name, list] of Object.entries(document)) {
    if (!Array.isArray(list)) continue
    const possible = (list as { date: string; value?: unknown }[]).filter(({ date, value }) => {
      const day_ms = Date.parse(date)
      const text = !(day_ms >= EARLIEST_MS && day_ms <= latest_ms)
        ? FUTURE
        : typeof value === 'number' && !isWithin(value, basalBounds)
          ? `must be ${describeBounds(basalBounds)} °C`
          : undefined
      if (text !== undefined) fault(name, text)
      return text === undefined
    })
    if (possible.length === list.length) continue
    copy[name] = possible
    isChanged = true
  }
  return isChanged ? copy : document
}

/** A stream with null for each value that cannot be, and how many there were. */
export function checkStream(stream: IncomingStream): { stream: IncomingStream; rejected_count: number } {
  let rejected = 0
  const lists = Object.fromEntries(
    Object.entries(stream.lists).map(([name, list]) => {
      const bounds = streamBounds[name as StreamList]
      if (list.every((value) => value === null || isWithin(value, bounds))) return [name, list]
      const possible = list.map((value) => (value === null || isWithin(value, bounds) ? value : null))
      rejected += list.filter((value, i) => value !== null && possible[i] === null).length
      return [name, possible]
    }),
  )
  return rejected ? { stream: { ...stream, lists }, rejected_count: rejected } : { stream, rejected_count: rejected }
}
