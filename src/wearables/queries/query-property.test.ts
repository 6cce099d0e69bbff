// Compiled queries against a naive evaluation in JavaScript, over the same samples: functions, truncation across daylight saving, parts of
// dates, conditions, priorities. The evaluation here shares no code with the compilation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestTeam } from '../../../test/support/server.ts'
import { storeSamples } from '../../../test/support/wearable-data.ts'
import { DAY_MS, HOUR_MS } from '../../platform/runtime/durations.ts'

interface Stored {
  /** Local wall time. */
  wall_ms: number
  at_ms: number
  value: number
  provider: string
  source_type: string
}

const providers = ['oura', 'garmin', 'apple_health_kit'] as const
const types = ['watch', 'phone', 'ring', 'earphone', 'unknown'] as const
const typesBestFirst = ['watch', 'ring', 'phone', 'unknown']
const units = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
const parts = ['minute', 'hour', 'day', 'month', 'year', 'weekday', 'week_of_year', 'day_of_year'] as const
const functions = ['mean', 'min', 'max', 'sum', 'count', 'median', 'stddev', 'oldest', 'newest'] as const

/** New York, whose clocks change on 8 March and 1 November 2026 at 2:00, at 07:00 and 06:00 UTC. */
const offsetOf = (at_ms: number): number => (at_ms >= Date.UTC(2026, 2, 8, 7) && at_ms < Date.UTC(2026, 10, 1, 6) ? -4 : -5)
/** Instants around the changes of the clocks and of the year, where buckets go wrong first. */
const places = [Date.UTC(2026, 2, 8, 7), Date.UTC(2026, 10, 1, 6), Date.UTC(2026, 0, 1, 5), Date.UTC(2026, 6, 1)]

const samples = fc.array(
  fc.record({
    place: fc.constantFrom(...places),
    second: fc.integer({ min: -2 * 86_400, max: 2 * 86_400 }),
    value: fc.integer({ min: 40, max: 60 }),
    provider: fc.constantFrom(...providers),
    source_type: fc.constantFrom(...types),
  }),
  { minLength: 5, maxLength: 120 },
)

const period = fc.record({ value: fc.constantFrom(1, 1, 1, 2, 3, 5, 15), unit: fc.constantFrom(...units) })
const query = fc.record({
  func: fc.constantFrom(...functions),
  period: fc.option(period, { nil: undefined }),
  part: fc.option(fc.constantFrom(...parts), { nil: undefined }),
  sources: fc.subarray(['source_provider', 'source_type'] as const),
  above: fc.option(fc.integer({ min: 40, max: 60 }), { nil: undefined }),
})
type Asked = typeof query extends fc.Arbitrary<infer Q> ? Q : never

const dayNumber = (ms: number) => Math.floor((ms - Date.UTC(2000, 0, 3)) / DAY_MS)
const years = (ms: number) => new Date(ms).getUTCFullYear() - 1

/** The beginning of a bucket: the Mondays and days are counted from 0001-01-01, 104,303 whole weeks before 3 January 2000. */
function bucket(ms: number, value: number, unit: (typeof units)[number]): number {
  const date = new Date(ms)
  const firstOf = (count: number, months: number) => {
    const from = Math.floor(count / value) * value * months
    return Date.UTC(1 + Math.floor(from / 12), from % 12, 1)
  }
  if (unit === 'year') return firstOf(years(ms), 12)
  if (unit === 'month') return firstOf(years(ms) * 12 + date.getUTCMonth(), 1)
  const minutes = { minute: 1, hour: 60, day: 1440, week: 10_080 }[unit] * value
  const since = (dayNumber(ms) + 104_303 * 7) * 1440 + date.getUTCHours() * 60 + date.getUTCMinutes()
  return Math.floor(ms / 60_000) * 60_000 - (since % minutes) * 60_000
}

function part(ms: number, name: (typeof parts)[number]): number {
  const date = new Date(ms)
  const dayOfYear = Math.floor((ms - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1
  switch (name) {
    case 'minute':
      return date.getUTCMinutes()
    case 'hour':
      return date.getUTCHours()
    case 'day':
      return date.getUTCDate()
    case 'month':
      return date.getUTCMonth() + 1
    case 'year':
      return date.getUTCFullYear()
    case 'weekday':
      return date.getUTCDay() || 7
    case 'day_of_year':
      return dayOfYear
    case 'week_of_year': {
      const thursday = new Date(ms + (4 - (date.getUTCDay() || 7)) * DAY_MS)
      return Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (7 * DAY_MS)) + 1
    }
  }
}

function applyFunction(func: (typeof functions)[number], group: Stored[]): number | null {
  const values = group.map(({ value }) => value).toSorted((a, b) => a - b)
  const n = values.length
  const sum = values.reduce((a, b) => a + b, 0)
  const first = (order: 1 | -1) => group.toSorted((a, b) => order * (a.at_ms - b.at_ms || a.value - b.value))[0]!.value
  switch (func) {
    case 'count':
      return n
    case 'sum':
      return sum
    case 'mean':
      return sum / n
    case 'min':
      return values[0]!
    case 'max':
      return values[n - 1]!
    case 'median':
      return (values[Math.floor((n - 1) / 2)]! + values[Math.ceil((n - 1) / 2)]!) / 2
    case 'stddev':
      return n < 2 ? null : Math.sqrt(values.reduce((a, b) => a + (b - sum / n) ** 2, 0) / (n - 1))
    case 'oldest':
      return first(1)
    case 'newest':
      return first(-1)
  }
}

const rank = (list: readonly string[], name: string, otherwiseRank: number) =>
  list.includes(name) ? list.indexOf(name) : otherwiseRank

function naive(samples: Stored[], { func, period, part: name, sources, above }: Asked, preferredSources: readonly string[]) {
  const groups = new Map<string, Stored[]>()
  for (const sample of samples) {
    if (above !== undefined && !(sample.value > above)) continue
    const text = (ms: number) => new Date(ms).toISOString().slice(0, 19)
    const keys = [
      ...(period ? [text(bucket(sample.wall_ms, period.value, period.unit))] : []),
      ...(name ? [part(sample.wall_ms, name)] : []),
      ...sources.map((source) => (source === 'source_provider' ? sample.provider : sample.source_type)),
    ]
    groups.set(JSON.stringify(keys), [...(groups.get(JSON.stringify(keys)) ?? []), sample])
  }
  const isGrouped = period !== undefined || name !== undefined || sources.length > 0
  const rows = [...groups].map(([key, group]) => {
    const ranked = group.map((sample): [number, number, string, string] => [
      rank(typesBestFirst, sample.source_type, typesBestFirst.indexOf('unknown')),
      rank(preferredSources, sample.provider, 99),
      sample.source_type,
      sample.provider,
    ])
    const before = (a: (string | number)[], b: (string | number)[]) =>
      a.map((x, i) => (x < b[i]! ? -1 : x > b[i]! ? 1 : 0)).find(Boolean) ?? 0
    const [, , type, provider] = ranked.toSorted(before)[0]!
    const best =
      isGrouped && sources.length < 2
        ? group.filter((sample) => sample.source_type === type && sample.provider === provider)
        : group
    return [...(JSON.parse(key) as (string | number)[]), applyFunction(func, best)]
  })
  return isGrouped ? rows : [[rows.length ? rows[0]![0]! : func === 'count' ? 0 : null]]
}

const roundRows = (rows: unknown[][]) =>
  rows
    .map((row) => row.map((value) => (typeof value === 'number' ? Number(value.toPrecision(10)) : value)))
    .map((row) => JSON.stringify(row))
    .toSorted()

test('a compiled query returns the same as a naive evaluation of the same samples', async () => {
  await fc.assert(
    fc.asyncProperty(
      samples,
      fc.array(query, { minLength: 20, maxLength: 20 }),
      fc.subarray([...providers]),
      async (samples, question, preferredSources) => {
        const team = await createTestTeam()
        const user_id = await team.user()
        const stored = new Map<string, Stored>()
        for (const { place, second, value, provider, source_type } of samples) {
          const at_ms = place + second * 1000
          const wall_ms = at_ms + offsetOf(at_ms) * HOUR_MS
          stored.set(`${provider} ${source_type} ${at_ms}`, { at_ms, wall_ms, value, provider, source_type })
        }
        for (const provider of providers)
          for (const source_type of types) {
            const ofSource = [...stored.values()].filter(
              (sample) => sample.provider === provider && sample.source_type === source_type,
            )
            const rows = ofSource.map(({ at_ms, value }) => ({ at_ms, value, zone_s: offsetOf(at_ms) * 3600 }))
            const plain = { second: null, length_ms: null, type: null }
            if (rows.length)
              await storeSamples(
                team,
                user_id,
                'heartrate',
                rows.map((row) => ({ ...plain, ...row })),
                { provider, source_type },
              )
          }
        const index = { index: 'timeseries' }
        const queries = question.map(({ func, period, part, sources, above }) => {
          const group_by = [
            ...(period ? [{ date_trunc: period, arg: index }] : []),
            ...(part ? [{ date_part: part, arg: index }] : []),
            ...sources.map((source) => ({ source })),
          ]
          const value = { func, arg: { timeseries: 'heartrate', field: 'value' } }
          return {
            select: [...(group_by.length ? [{ group_key: '*' }] : []), value],
            group_by,
            ...(above && { where: `value > ${above}` }),
          }
        })
        const { status, body } = await team.api.post(`/aggregate/v1/user/${user_id}/query`, {
          timeframe: { type: 'relative', anchor: '2026-12-31', past: { value: 2, unit: 'year' } },
          queries,
          config: { provider_priority_overrides: preferredSources },
        })
        assert.equal(status, 200, JSON.stringify(body))
        for (const [i, { table }] of (body.results as { table: Record<string, unknown[]> }[]).entries()) {
          const columns = Object.values(table)
          const rows = columns[0]!.map((_, row) => columns.map((column) => column[row]))
          const expected = naive([...stored.values()], question[i]!, preferredSources)
          assert.deepEqual(roundRows(rows), roundRows(expected), JSON.stringify(queries[i]))
        }
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})
