// Continuous queries as they run: when they are evaluated, what they store and report, and what is left of them.
// Source: users-wearables.md 15.1; events.md 4.9, 5.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { asOwner } from '../../../test/support/server.ts'
import {
  DAY,
  MINUTE_S,
  add,
  beats,
  byDay,
  create,
  daily,
  history,
  key,
  queryPath,
  result,
  statuses,
  queryUrl,
} from '../../../test/support/continuous-queries.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { beginTask } from './query-tasks.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

/** The changes of results that were reported, oldest first. */
async function listReported({ api }: TestTeam) {
  const { data } = (await api.get('/v1/events?limit=50')).body
  return (
    data as { body: { event_type: string; user_id: string; data: { query_id: string; query_slug: string; data: object }[] } }[]
  )
    .map(({ body }) => body)
    .filter(({ event_type }) => event_type === 'continuous_query.result_table.changed')
    .toReversed()
}
describe('a continuous query', () => {
  test('is evaluated after data of a user arrived, and reports new and changed values', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id, slug } = await create(team, daily)
    assert.deepEqual(await result(team, user_id, slug), { 'group_key.0': [], 'mean.value': [] })
    await add(team, user_id, [`${DAY}T09:00:00`, 60], ['2026-01-30T09:00:00', 50])
    await add(team, user_id, [`${DAY}T10:00:00`, 70])
    assert.deepEqual(await statuses(team, user_id, id), ['scheduled'])
    await advanceClock(team, MINUTE_S)
    const days = ['2026-01-30T00:00:00', `${DAY}T00:00:00`]
    for (const name of [id, id.toUpperCase(), slug])
      assert.deepEqual(await result(team, user_id, name), { 'group_key.0': days, 'mean.value': [50, 65] })
    const [first, ...none] = await listReported(team)
    assert.deepEqual(none, [])
    assert.equal(first!.user_id, user_id)
    assert.deepEqual(first!.data, [{ query_id: id, query_slug: slug, data: { 'group_key.0': days, 'mean.value': [50, 65] } }])

    await add(team, user_id, [`${DAY}T11:00:00`, 95])
    await advanceClock(team, 29 * MINUTE_S)
    assert.deepEqual(await statuses(team, user_id, id), ['scheduled', 'completed'], 'at most every 30 minutes')
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await listReported(team)).at(-1)!.data, [
      { query_id: id, query_slug: slug, data: { 'group_key.0': [`${DAY}T00:00:00`], 'mean.value': [75] } },
    ])
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [50, 75])
    const { data, next_cursor } = await history(team, user_id, id, '?limit=1')
    assert.deepEqual(Object.keys(data[0]), [
      'query_id',
      'user_id',
      'status',
      'scheduled_at',
      'started_at',
      'ended_at',
      'error_details',
    ])
    const rest = await history(team, user_id, id, `?limit=1&next_cursor=${next_cursor}`)
    assert.deepEqual([data.length, rest.data.length, rest.next_cursor], [1, 1, null])
    assert(data[0].scheduled_at > rest.data[0].scheduled_at)
  })

  test('is evaluated no more often than its own gap, and not for other data or repeated data', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, daily, { scheduling_preferences: { minimum_gap_duration_second: 7200 } })
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await storeSamples(team, user_id, 'steps', [sampleAt(`${DAY}T09:00:00`, 5)])
    assert.deepEqual(await statuses(team, user_id, id), ['completed'])
    await add(team, user_id, [`${DAY}T09:00:00`, 61])
    await advanceClock(team, 119 * MINUTE_S)
    assert.deepEqual(await statuses(team, user_id, id), ['scheduled', 'completed'])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual(await statuses(team, user_id, id), ['completed', 'completed'])
    assert.equal((await listReported(team)).length, 2)
  })

  test('that is new is evaluated for all users who have its data', async () => {
    const { team, user_id } = await createTeamWithUser()
    const other = await team.user()
    await add(team, user_id, [`${DAY}T09:00:00`, 60], ['2020-02-29T09:00:00', 40])
    await add(team, other, [`${DAY}T09:00:00`, 80])
    const { id } = await create(team, daily)
    await team.settle()
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [40, 60])
    assert.deepEqual((await result(team, other, id))['mean.value'], [80])
  })

  test('computes only the buckets of the days that changed, whole, and fills gaps of the whole result', async () => {
    const { team, user_id } = await createTeamWithUser()
    const align = { carry: { mode: 'carry_forward' } }
    const { id } = await create(team, { ...daily, group_by: [byDay('timeseries', 'month')], align })
    await add(team, user_id, ['2025-10-05T09:00:00', 40], ['2025-10-20T09:00:00', 60])
    await advanceClock(team, MINUTE_S)
    // What is not in a month that changes is not read again.
    await team.db.pool.query(`update query_result set computed = replace(computed, '50', '51') where query_id = $1`, [id])
    await add(team, user_id, ['2026-01-31T23:00:00', 80], ['2026-01-01T00:00:00', 60])
    await advanceClock(team, 30 * MINUTE_S)
    const months = ['2025-10', '2025-11', '2025-12', '2026-01'].map((month) => `${month}-01T00:00:00`)
    assert.deepEqual(await result(team, user_id, id), { 'group_key.0': months, 'mean.value': [51, 51, 51, 70] })
    await add(team, user_id, ['2025-10-31T09:00:00', 110])
    await advanceClock(team, 30 * MINUTE_S)
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [70, 70, 70, 70])
  })

  test('over summaries follows their changes, also of a profile', async () => {
    const { team, user_id } = await createTeamWithUser()
    const steps = await create(team, {
      select: [key, { func: 'sum', arg: { activity: 'steps' } }],
      group_by: [byDay('activity')],
    })
    const newest = { func: 'newest', arg: { profile: 'height_centimeter' } }
    const height = await create(team, { select: [key, newest], group_by: [byDay('profile', 'year')] })
    const day = (count: number) => ({ key: DAY, calendar_date: DAY, document: { calendar_date: DAY, steps: count } })
    for (const [count, cm] of [
      [5, 170],
      [7, 171],
    ] as const) {
      await storeSummaries(team, user_id, 'activity', [day(count)])
      await storeSummaries(team, user_id, 'profile', [{ key: '', calendar_date: null, document: { height: cm } }])
      await advanceClock(team, 31 * MINUTE_S)
      assert.deepEqual((await result(team, user_id, steps.id))['sum.steps'], [count])
      assert.deepEqual((await result(team, user_id, height.id))['newest.height_centimeter'], [cm])
    }
  })

  test('keeps the newest 10,000 rows, and reports them in events that receivers accept', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, { ...daily, group_by: [byDay('timeseries', 'minute')] })
    const start = Date.parse('2026-01-01T00:00:00Z')
    const minutes = Array.from({ length: 11_000 }, (_, i) => ({
      at_ms: start + i * 60_000,
      value: 1 + i / 100,
      second: null,
      length_ms: null,
      zone_s: 0,
      type: null,
    }))
    await storeSamples(team, user_id, 'heartrate', minutes)
    await advanceClock(team, MINUTE_S)
    const { 'mean.value': values } = await result(team, user_id, id)
    assert.deepEqual([values.length, values[0], values.at(-1)], [10_000, 11, 110.99])
    const sent = await listReported(team)
    for (const event of sent) assert(JSON.stringify(event).length < 1024 * 1024)
    const rows = sent.flatMap(({ data }) => (data[0]!.data as { 'mean.value': number[] })['mean.value'])
    assert.equal(rows.length, 10_000)
  })

  test('reports nothing if its events are off, and is not evaluated any more when it is archived', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, daily, { export_preferences: { data_events: { enabled: false } } })
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    await add(team, user_id, [`${DAY}T09:00:00`, 90])
    await team.manage.delete(queryPath(team, `/${id}`))
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual(await statuses(team, user_id, id), ['skipped', 'completed'])
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [60])
    await add(team, user_id, [`${DAY}T10:00:00`, 90])
    assert.equal((await statuses(team, user_id, id)).length, 2)
    assert.deepEqual(await listReported(team), [])
  })

  test('that exceeds a limit ends with an error, and is not tried again', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, { select: [key, { func: 'sum', arg: beats }], group_by: [byDay('timeseries')] })
    await add(team, user_id, [`${DAY}T09:00:00`, 60], [`${DAY}T10:00:00`, 60])
    // No source can bring such values.
    await asOwner(`update sandbox_us.chunk set values = array[1e308] where team_id = $1`, [team.team])
    await advanceClock(team, MINUTE_S)
    const { data } = await history(team, user_id, id)
    assert.deepEqual([data[0].status, data[0].error_details], ['error', 'The query computes a value that is out of range'])
    assert.deepEqual(await team.jobs(), [])
  })

  test('of the organization gives way to one of the team with its slug', async () => {
    const { team, user_id } = await createTeamWithUser()
    const slug = `query-${randomUUID()}`
    const ofAll = await team.manage.post(queryPath(team, '?query_type=platform'), { slug, title: 'For all', query: daily })
    assert.equal(ofAll.status, 200)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, slug))['mean.value'], [60])
    const own = await create(team, { ...daily, select: [key, { func: 'count', arg: beats }] }, { slug })
    await add(team, user_id, [`${DAY}T10:00:00`, 60])
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual((await result(team, user_id, slug))['count.value'], [2])
    assert.deepEqual(await statuses(team, user_id, own.id), ['completed'])
    assert.deepEqual(await statuses(team, user_id, ofAll.body.id), ['completed'])
  })

  test('belongs to its team, and its result to its user', async () => {
    const [{ team, user_id }, stranger] = [await createTeamWithUser(), await createTeamWithUser()]
    const { id, slug } = await create(team, daily)
    for (const what of ['result_table', 'task_history']) {
      assert.equal((await stranger.team.api.get(queryUrl(stranger.user_id, id, what))).status, 404)
      assert.equal((await stranger.team.api.get(queryUrl(stranger.user_id, slug, what))).status, 404)
      assert.equal((await team.api.get(queryUrl(stranger.user_id, id, what))).status, 404)
      assert.equal((await team.api.get(queryUrl(user_id, 'unknown', what))).status, 404)
      assert.equal((await team.api.get(queryUrl(user_id, 'not_a_slug', what))).status, 422)
    }
  })

  test('waits for a post that has not committed, so that it misses nothing', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, daily)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    const [task] = (await team.db.pool.query('select id from query_task where query_id = $1', [id])).rows as { id: string }[]
    let begun = false
    const client = await team.db.pool.connect()
    try {
      await client.query('begin')
      // What a post does to a task that waits.
      await client.query('update query_task set from_day = from_day where id = $1', [task!.id])
      const beginning = team.db
        .tx(team.tenant, (tx) => beginTask(tx, { user_id, task_id: task!.id, query_id: id }))
        .then(() => (begun = true))
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      const waiting = 'select 1 from pg_locks where not granted and $1::int = any (pg_blocking_pids(pid))'
      while ((await team.db.pool.query(waiting, [rows[0]!.pid])).rowCount === 0) assert(!begun)
      await client.query('commit')
      await beginning
    } finally {
      client.release()
    }
    assert.deepEqual(await statuses(team, user_id, id), ['started'])
  })

  test('leaves nothing of an erased user', async () => {
    const { team, user_id } = await createTeamWithUser()
    await create(team, daily)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    await add(team, user_id, [`${DAY}T09:00:00`, 61])
    await team.api.delete(`/v2/user/${user_id}`)
    await advanceClock(team, 8 * 86_400)
    for (const table of ['query_task', 'query_result'])
      assert.equal((await team.db.pool.query(`select 1 from ${table} where user_id = $1`, [user_id])).rowCount, 0, table)
  })
})
