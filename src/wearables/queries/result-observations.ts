// Results of continuous queries as FHIR R4 Observations: which columns are vital signs, and what is said of them. Pure.
// Source: openapi-management.json, fhir_observation_mappers; https://hl7.org/fhir/R4/observation-vitalsigns.html. Unsourced: identifiers.
import { createHash } from 'node:crypto'
import { patientReference } from '../../people/users/fhir-patient.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import { periodOf, type Row } from './align.ts'
import { addPeriods, floatingMs } from './buckets.ts'
import type { CompiledQuery } from './compile.ts'
import type { Func, Period, Query, SelectExpr } from './query-language.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const RESULT_SYSTEM = 'urn:drawbridge:query-result'
const LOINC = 'http://loinc.org'
const UCUM = 'http://unitsofmeasure.org'
const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category'
const STATISTICS = 'http://terminology.hl7.org/CodeSystem/observation-statistics'
const NO_USER = '00000000-0000-0000-0000-000000000000'

interface VitalSign {
  loinc: string
  display: string
  unit: string
  /** The code of the unit in UCUM. */
  ucum: string
  example: number
  /** The expressions whose values it is. */
  expressions: readonly string[]
}

/** A key names the category, the LOINC code and the version of the mapping. */
const vitalSigns: Readonly<Record<string, VitalSign>> = {
  'vital-signs#29463-7#junction-body-weight-1': {
    loinc: '29463-7',
    display: 'Body weight',
    unit: 'kg',
    ucum: 'kg',
    example: 68.4,
    expressions: ['body.weight_kilogram', 'weight.value'],
  },
  'vital-signs#8867-4#junction-heart-rate-1': {
    loinc: '8867-4',
    display: 'Heart rate',
    unit: 'beats/minute',
    ucum: '/min',
    example: 61,
    expressions: ['heartrate.value'],
  },
  'vital-signs#9279-1#junction-respiration-rate-1': {
    loinc: '9279-1',
    display: 'Respiratory rate',
    unit: 'breaths/minute',
    ucum: '/min',
    example: 14,
    expressions: ['respiratory_rate.value'],
  },
}
/** The names of the mappings, as pipelines and queries list them. */
export const observationMappers: readonly string[] = Object.keys(vitalSigns)

/** Functions whose result is a measured value; those without a code of a statistic select a single measurement. */
const statistics: Partial<Record<Func, string | null>> = {
  mean: 'average',
  median: 'median',
  min: 'minimum',
  max: 'maximum',
  oldest: null,
  newest: null,
}

interface MappedColumn {
  mapper: string
  func: Func
  /** The name of the column in the result. */
  column: string
}

const DATED: readonly Period['unit'][] = ['day', 'week', 'month', 'year']

/**
 * The columns of a continuous query that are vital signs. There are none if its groups are shorter than a day, because results have local
 * times and FHIR knows no time without an offset; nor if it groups by anything but time and source, which an Observation could not show.
 */
function mappedColumns(query: Query): MappedColumn[] {
  const keys = query.group_by ?? []
  const period = periodOf(keys)
  if (!period || !DATED.includes(period.unit) || !keys.every((key) => 'date_trunc' in key || 'source' in key)) return []
  return query.select.flatMap((item) => mappedColumn(item) ?? [])
}

function mappedColumn(item: SelectExpr): MappedColumn | undefined {
  if (!('func' in item) || statistics[item.func] === undefined || 'index' in item.arg || 'select' in item.arg) return undefined
  const { func, arg } = item
  if ('value_macro' in arg) return undefined
  const [table, field] = 'timeseries' in arg ? [arg.timeseries, arg.field] : Object.entries(arg)[0]!
  const found = Object.entries(vitalSigns).find(([, { expressions: of }]) => of.includes(`${table}.${field}`))
  return found && { mapper: found[0], func, column: `${func}.${field}` }
}

/** The mappings that apply to a query, in the order of their names. */
export const mappersOf = (query: Query): string[] => {
  const applied = new Set(mappedColumns(query).map(({ mapper }) => mapper))
  return observationMappers.filter((mapper) => applied.has(mapper))
}

export interface ResultObservation {
  resourceType: 'Observation'
  identifier: [{ system: string; value: string }]
  [field: string]: unknown
}

export interface ResultRows {
  query_id: string
  query: Query
  layout: Pick<CompiledQuery, 'columns' | 'keys'>
  rows: readonly Row[]
}

export interface MappedObservation {
  mapper: string
  observation: ResultObservation
}

/** The Observations of rows of a result, in their order. Repeated, they have the same identifiers. */
export function toObservations(
  user: UserIdentity,
  { query_id, query, layout: { columns, keys }, rows }: ResultRows,
): MappedObservation[] {
  const period = periodOf(query.group_by ?? [])!
  const bucket = keys.find(({ isTruncated }) => isTruncated)!.position
  const sources = keys.filter(({ isTruncated }) => !isTruncated).map(({ position }) => position)
  const mapped = mappedColumns(query).map((column) => ({
    ...column,
    position: columns.findIndex(({ name }) => name === column.column),
  }))
  return rows.flatMap((row) =>
    mapped.flatMap(({ position, ...one }) => {
      const value = row[position]
      if (typeof value !== 'number' || typeof row[bucket] !== 'string') return []
      const source = sources.map((position) => row[position] ?? null)
      const parts = [query_id, user.user_id, one.column, row[bucket].slice(0, 10), ...(source.length ? [digest(source)] : [])]
      const observation = toObservation(user, one, { value, period, start: row[bucket], source, identifier: parts.join('/') })
      return [{ mapper: one.mapper, observation }]
    }),
  )
}

/** Tells the sources of a bucket apart, within a bounded length. */
const digest = (source: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 16)

interface MappedValue {
  value: number
  period: Period
  start: string
  source: readonly unknown[]
  identifier: string
}

function toObservation(
  user: UserIdentity,
  { mapper, func }: MappedColumn,
  { value, period, start, source, identifier }: MappedValue,
): ResultObservation {
  const { loinc, display, unit, ucum } = vitalSigns[mapper]!
  const code = statistics[func]
  const named = source.filter((name) => name !== null)
  return {
    resourceType: 'Observation',
    identifier: [{ system: RESULT_SYSTEM, value: identifier }],
    status: 'final',
    category: [{ coding: [{ system: CATEGORIES, code: 'vital-signs', display: 'Vital Signs' }] }],
    code: { coding: [{ system: LOINC, code: loinc, display }], text: display },
    subject: patientReference(user),
    ...effective(start, period),
    valueQuantity: { value, unit, system: UCUM, code: ucum },
    method: { ...(code && { coding: [{ system: STATISTICS, code }] }), text: func },
    ...(named.length && { device: { type: 'Device', display: named.join(' ') } }),
  }
}

/** The local days of a bucket. A period of FHIR includes its last day. */
function effective(start: string, period: Period): Record<string, unknown> {
  const first = start.slice(0, 10)
  const last = new Date(addPeriods(floatingMs(start), period, 1) - DAY_MS).toISOString().slice(0, 10)
  return first === last ? { effectiveDateTime: first } : { effectivePeriod: { start: first, end: last } }
}

/** An Observation of each mapping that applies to a query, with an invented value; null if none applies. */
export function observationPreviews(query: Query): Record<string, ResultObservation> | null {
  const applied = mappersOf(query)
  if (!applied.length) return null
  const period = periodOf(query.group_by ?? [])!
  const all = mappedColumns(query)
  const user = { user_id: NO_USER, client_user_id: 'a-fictional-user' }
  const preview = (mapper: string): ResultObservation => {
    const one = all.find((column) => column.mapper === mapper)!
    const { example: value } = vitalSigns[mapper]!
    const identifier = [NO_USER, NO_USER, one.column, '2024-01-01'].join('/')
    return toObservation(user, one, { value, period, start: '2024-01-01T00:00:00', source: [], identifier })
  }
  return Object.fromEntries(applied.map((mapper) => [mapper, preview(mapper)]))
}
