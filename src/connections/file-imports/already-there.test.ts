// What a file has and a phone has sent already, beside many stored records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { newSummaries } from './already-there.ts'
import type { ReadSummary } from './reading.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

const BEGIN_MS = Date.UTC(2026, 0, 1)
const iso = (minute: number): string => new Date(BEGIN_MS + minute * MINUTE_MS).toISOString()

const names = { workout: ['time_start', 'time_end'], sleep: ['bedtime_start', 'bedtime_stop'] } as const
const summary = (kind: 'workout' | 'sleep', start_minute: number, end_minute: number): ReadSummary => {
  const [start, end] = names[kind]
  const record = {
    key: `export:${start_minute}-${end_minute}`,
    app_id: 'Fictional Watch',
    calendar_date: '2026-01-02',
    document: { [start]: iso(start_minute), [end]: iso(end_minute) },
  }
  return { kind, record } as unknown as ReadSummary
}

/** Stored by a phone: so many workouts or nights, one a minute apart from the next, each of `minutes`. */
async function storeSummaries(kind: 'workout' | 'sleep', count: number, minutes: number) {
  const team = await createTestTeam()
  const user_id = await team.user()
  const [start, end] = names[kind]
  const instant = (offset: number) =>
    sql`to_char(timestamp '2026-01-01' + make_interval(mins => i + ${offset}::int), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  await team.db.queries.run(sql`
    insert into summary (team_id, id, user_id, kind, provider, key, app_id, calendar_date, source_type, document, created_at, updated_at)
    select ${team.team}, gen_random_uuid(), ${user_id}, ${kind}, 'apple_health_kit', 'phone ' || i, 'com.fictional.app', date '2026-01-02', 'watch',
           jsonb_build_object(${start}::text, ${instant(0)}, ${end}::text, ${instant(minutes)}), ${new Date(0)}, ${new Date(0)}
    from generate_series(0, ${(count - 1) * (minutes + 1)}::int, ${minutes + 1}::int) i`)
  return (summaries: ReadSummary[]) =>
    team.db.tx(team.tenant, (tx) => newSummaries(tx, { user_id, provider: 'apple_health_kit' }, kind as SummaryKind, summaries))
}
const keys = (summaries: ReadSummary[]): string[] => summaries.map(({ record }) => record.key)

test('each time of 20,000 stored workouts is parsed once for a batch of 200', async (t) => {
  const newOnes = await storeSummaries('workout', 20_000, 1)
  const parse = Date.parse
  let calls = 0
  Date.parse = (text) => {
    calls++
    return parse(text)
  }
  t.after(() => void (Date.parse = parse))
  const batch = Array.from({ length: 200 }, (_, i) => summary('workout', i, i + 1))
  const found = await newOnes(batch)
  // Every second one is there.
  assert.equal(found.length, 100)
  assert(calls < 2 * 20_000 + 10 * 200, `${calls} calls`)
})

test('a workout of a phone is known by both its ends', async () => {
  const newOnes = await storeSummaries('workout', 3, 10)
  const batch = [summary('workout', 0, 10), summary('workout', 11, 21), summary('workout', 0, 9), summary('workout', 1, 10)]
  assert.deepEqual(keys(await newOnes(batch)), ['export:0-9', 'export:1-10'])
})

test('a night that overlaps one of a phone is left out, and one that only touches it is not', async () => {
  const newOnes = await storeSummaries('sleep', 3, 10)
  const batch = [
    summary('sleep', 9, 11),
    summary('sleep', 10, 11),
    summary('sleep', -5, 100),
    summary('sleep', -5, 0),
    summary('sleep', 32, 40),
  ]
  assert.deepEqual(keys(await newOnes(batch)), ['export:10-11', 'export:-5-0', 'export:32-40'])
})
