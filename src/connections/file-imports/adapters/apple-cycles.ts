// Menstrual cycles from the records of an Apple Health export, drawn as the public client of phones draws them: records of flow that begin a
// cycle, of one source, say where it begins; what the same source has recorded from there on belongs to it.
import { cycleOf } from '../../mobile-sdk/records.ts'
import type { SentCycle } from '../../mobile-sdk/record-schema.ts'
import type { CycleList } from '../../../wearables/summaries/cycle-lists.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'
import type { ReadSummary, SkipReason } from '../reading.ts'
import { exportKey } from './apple-sleep.ts'
import { localDayAt, type AppleSource, type AppleTime } from './apple-values.ts'

const RECORDS_MAX = 100_000
/** Entries of one kind in a cycle, as in posts of phones. */
const ENTRIES_MAX = 400
/** The longest record of flow: one may stand for a whole period. */
const FLOW_MS_MAX = 31 * DAY_MS

interface Kind {
  list: CycleList
  /** The field of an entry, if it has one in addition to its day, and its values by what is left of those in the file without `prefix`. */
  field?: string
  prefix?: RegExp
  values?: Record<string, string>
  /** The value, if the type of the record says it. */
  value?: string
}

const results = { Negative: 'negative', Positive: 'positive', Indeterminate: 'indeterminate' }
const deviation = (value: string): Kind => ({ list: 'detected_deviations', field: 'deviation', value })

/** By the part of the type after `HKCategoryTypeIdentifier`. */
const kinds: Record<string, Kind> = {
  MenstrualFlow: {
    list: 'menstrual_flow',
    field: 'flow',
    // Newer phones name the values otherwise.
    prefix: /^HKCategoryValue(MenstrualFlow|VaginalBleeding)/,
    values: { Unspecified: 'unspecified', None: 'none', Light: 'light', Medium: 'medium', Heavy: 'heavy' },
  },
  CervicalMucusQuality: {
    list: 'cervical_mucus',
    field: 'quality',
    prefix: /^HKCategoryValueCervicalMucusQuality/,
    values: { Dry: 'dry', Sticky: 'sticky', Creamy: 'creamy', Watery: 'watery', EggWhite: 'egg_white' },
  },
  IntermenstrualBleeding: { list: 'intermenstrual_bleeding' },
  Contraceptive: {
    list: 'contraceptive',
    field: 'type',
    prefix: /^HKCategoryValueContraceptive/,
    values: {
      Unspecified: 'unspecified',
      Implant: 'implant',
      Injection: 'injection',
      IntrauterineDevice: 'iud',
      IntravaginalRing: 'intravaginal_ring',
      Oral: 'oral',
      Patch: 'patch',
    },
  },
  PersistentIntermenstrualBleeding: deviation('persistent_intermenstrual_bleeding'),
  ProlongedMenstrualPeriods: deviation('prolonged_menstrual_periods'),
  IrregularMenstrualCycles: deviation('irregular_menstrual_cycles'),
  InfrequentMenstrualCycles: deviation('infrequent_menstrual_cycles'),
  OvulationTestResult: {
    list: 'ovulation_test',
    field: 'test_result',
    prefix: /^HKCategoryValueOvulationTestResult/,
    values: { ...results, LuteinizingHormoneSurge: 'luteinizing_hormone_surge', EstrogenSurge: 'estrogen_surge' },
  },
  PregnancyTestResult: {
    list: 'home_pregnancy_test',
    field: 'test_result',
    prefix: /^HKCategoryValuePregnancyTestResult/,
    values: results,
  },
  ProgesteroneTestResult: {
    list: 'home_progesterone_test',
    field: 'test_result',
    prefix: /^HKCategoryValueProgesteroneTestResult/,
    values: results,
  },
  SexualActivity: { list: 'sexual_activity', field: 'protection_used' },
}

/** Whether records of this type are part of cycles alone. */
export const isOfCycle = (type: string): boolean => Object.hasOwn(kinds, type)

/** Metadata of records of cycles. */
export const cycleKeys = ['HKMenstrualCycleStart', 'HKSexualActivityProtectionUsed'] as const

interface CycleRecord {
  type: string
  value: string | undefined
  metadata: Record<string, string>
  start: AppleTime
  end: AppleTime
}

interface Entry {
  list: CycleList
  day: string
  /** The entry as it is shown. */
  entry: object
  /** It counts only as a part of a cycle, and is skipped without one. */
  isOfCycle: boolean
}
interface Flow {
  day: string
  last_day: string
  begins: boolean
  isBleeding: boolean
}
interface Recorded {
  flows: Flow[]
  entries: Entry[]
}
interface Cycle {
  first: string
  /** The last day with flow. */
  period_end: string
  /** The day before the next one; null for the last one. */
  last: string | null
}

const isYes = (text: string | undefined): boolean => text === '1' || text === 'true'
const addDays = (day: string, days: number): string => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The value of an entry; undefined for one that is not known, null if the kind has none. */
function readValue({ field, prefix, values, value }: Kind, record: CycleRecord): string | boolean | null | undefined {
  if (value !== undefined) return value
  if (field === 'protection_used') {
    const used = record.metadata.HKSexualActivityProtectionUsed
    return used === undefined ? null : isYes(used)
  }
  if (!prefix || !values) return null
  const name = (record.value ?? '').replace(prefix, '')
  return Object.hasOwn(values, name) ? values[name] : undefined
}

export class AppleCycles {
  readonly #of = new Map<string | null, Recorded>()
  #size = 0

  #recordedBy({ app_id }: AppleSource): Recorded {
    const recorded = this.#of.get(app_id) ?? { flows: [], entries: [] }
    this.#of.set(app_id, recorded)
    return recorded
  }

  /** Adds a record of a type that `isOfCycle`. @returns why it is left out, if it is */
  add(source: AppleSource, record: CycleRecord): SkipReason | undefined {
    const { type, start, end, metadata } = record
    const kind = kinds[type]!
    const value = readValue(kind, record)
    if (value === undefined) return 'invalid_value'
    const isFlow = kind.list === 'menstrual_flow'
    if (isFlow && end.at_ms - start.at_ms > FLOW_MS_MAX) return 'invalid_time'
    if (this.#size === RECORDS_MAX) return 'too_many'
    this.#size++
    const { flows, entries } = this.#recordedBy(source)
    const day = localDayAt(start, metadata)
    entries.push({ list: kind.list, day, entry: { date: day, ...(kind.field && { [kind.field]: value }) }, isOfCycle: true })
    if (!isFlow) return undefined
    // An end at midnight is that of the day before.
    const last = { ...end, at_ms: Math.max(start.at_ms, end.at_ms - 1000) }
    const begins = value !== 'none' && isYes(metadata.HKMenstrualCycleStart)
    flows.push({ day, last_day: localDayAt(last, metadata), begins, isBleeding: value !== 'none' })
    return undefined
  }

  /** Adds a temperature, which is a sample as well. @returns false if no more fit into memory */
  addTemperature(source: AppleSource, value: number, start: AppleTime, metadata: Record<string, string>): boolean {
    if (this.#size === RECORDS_MAX) return false
    this.#size++
    const day = localDayAt(start, metadata)
    const shown = { date: day, value }
    this.#recordedBy(source).entries.push({ list: 'basal_body_temperature', day, entry: shown, isOfCycle: false })
    return true
  }

  /**
   * The cycles of all sources.
   * @param leftOut called for each record that belongs to no cycle, or that its cycle has no room for
   */
  *cycles(leftOut: (reason: 'no_value' | 'too_many') => void): Generator<ReadSummary<'menstrual_cycle'>> {
    for (const [app_id, { flows, entries }] of this.#of) {
      const cycles = cyclesOf(flows)
      const sorted = entries.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
      let at = 0
      for (const cycle of [{ first: '', period_end: '', last: cycles[0] ? addDays(cycles[0].first, -1) : null }, ...cycles]) {
        const from = at
        while (at < sorted.length && (cycle.last === null || sorted[at]!.day <= cycle.last)) at++
        const own = sorted.slice(from, at)
        if (cycle.first !== '') yield buildSummary(app_id, cycle, buildLists(own, leftOut))
        else for (const entry of own) if (entry.isOfCycle) leftOut('no_value')
      }
    }
  }
}

/** Cycles begin with a record that says so; of such records on days in a row only the first one counts. */
function cyclesOf(flows: Flow[]): Cycle[] {
  const cycles: Cycle[] = []
  let before: Flow | undefined
  for (const flow of flows.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))) {
    const isNext = flow.begins && !(before?.begins && addDays(before.day, 1) >= flow.day)
    const open = cycles.at(-1)
    if (isNext) {
      if (open) open.last = addDays(flow.day, -1)
      cycles.push({ first: flow.day, period_end: flow.last_day, last: null })
    } else if (open && flow.isBleeding && flow.last_day > open.period_end) open.period_end = flow.last_day
    before = flow
  }
  return cycles
}

/** The lists of a cycle. What a source has recorded twice counts once. */
function buildLists(entries: Entry[], leftOut: (reason: 'too_many') => void): Partial<Record<CycleList, object[]>> {
  const lists: Partial<Record<CycleList, Map<string, object>>> = {}
  for (const { list, entry: shown } of entries) {
    const own = (lists[list] ??= new Map())
    const text = JSON.stringify(shown)
    if (own.size < ENTRIES_MAX || own.has(text)) own.set(text, shown)
    else leftOut('too_many')
  }
  return Object.fromEntries(Object.entries(lists).map(([list, own]) => [list, [...own.values()]]))
}

function buildSummary(
  app_id: string | null,
  { first, period_end, last }: Cycle,
  lists: Partial<Record<CycleList, object[]>>,
): ReadSummary<'menstrual_cycle'> {
  const cycle = { period_start: first, period_end, cycle_end: last, ...lists } as SentCycle['cycle']
  const { document } = cycleOf({ cycle })
  // What a phone knows of cycles was entered in an app.
  const source = { source_type: 'app' as const, app_id, device: null }
  const key = exportKey('menstrual_cycle', app_id, first)
  return { kind: 'menstrual_cycle', record: { key, ...source, calendar_date: first, document } }
}
