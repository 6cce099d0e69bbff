// A continuous query computes only what changed: whatever arrives in whatever order, its result is that of the same query over everything,
// and a receiver that keeps the latest row of each key has the same rows.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { storeSamples } from '../../../test/support/wearable-data.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const sources = [
  { provider: 'oura', source_type: 'ring' },
  { provider: 'garmin', source_type: 'watch' },
  { provider: 'apple_health_kit', source_type: 'phone' },
] as const

const batch = fc.record({
  source: fc.constantFrom(...sources),
  /** Each post is of some hours around the turn of the year, in some zone: buckets get data several times. */
  from_h: fc.integer({ min: -700, max: 700 }),
  zone_h: fc.integer({ min: -11, max: 13 }),
  samples: fc.array(fc.record({ minute: fc.integer({ min: 0, max: 6000 }), value: fc.integer({ min: 40, max: 200 }) }), {
    minLength: 1,
    maxLength: 12,
  }),
})
const unit = fc.constantFrom('day', 'week', 'month', 'month', 'year')

type Table = Record<string, (string | number)[]>
const rowsOf = (table: Table): [string, number][] =>
  table['group_key.0']!.map((key, i) => [key as string, Number((table['sum.value']![i] as number).toPrecision(10))])

test('the result of a continuous query is that of the query over all data, and events rebuild it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 4, maxLength: 6 }), unit, async (batches, period) => {
      const team = await createTestTeam()
      const user_id = await team.user()
      const query = {
        select: [{ group_key: '*' }, { func: 'sum', arg: { timeseries: 'steps', field: 'value' } }],
        group_by: [{ date_trunc: { value: 1, unit: period }, arg: { index: 'timeseries' } }],
      }
      const body = { slug: `query-${randomUUID()}`, title: 'A fictional query', query }
      const made = await team.manage.post(`/team/${team.team}/sandbox/continuous_query`, body)
      assert.equal(made.status, 200)
      for (const { source, from_h, zone_h, samples } of batches) {
        const rows = samples.map(({ minute, value }) => ({ at_ms: NOON + from_h * HOUR_MS + minute * 60_000, value }))
        const zoned = rows.map((row) => ({ ...row, zone_s: zone_h * 3600, second: null, length_ms: 60_000, type: null }))
        await storeSamples(team, user_id, 'steps', zoned, source)
        await advanceClock(team, 1801)
      }
      const path = `/aggregate/v1/user/${user_id}`
      const { table } = (await team.api.get(`${path}/continuous_query/${body.slug}/result_table`)).body
      const whole = { timeframe: { type: 'relative', anchor: '2027-12-31', past: { value: 5, unit: 'year' } }, queries: [query] }
      const [all] = (await team.api.post(`${path}/query`, whole)).body.results
      assert.deepEqual(rowsOf(table), rowsOf(all.table), period)
      const kept = new Map<string, number>()
      const { data } = (await team.api.get('/v1/events?limit=50')).body as {
        data: { body: { event_type: string; data: { data: Table }[] } }[]
      }
      for (const event of data.toReversed())
        if (event.body.event_type === 'continuous_query.result_table.changed')
          for (const [key, value] of rowsOf(event.body.data[0]!.data)) kept.set(key, value)
      assert.deepEqual([...kept].toSorted(), rowsOf(table).toSorted(), period)
    }),
    { numRuns: 4, endOnFailure: true },
  )
})
