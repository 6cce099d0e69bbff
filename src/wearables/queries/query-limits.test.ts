// Limits of requests for queries: how much one request returns, how many of a team run at once; and what scheduling costs.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { storeSamples } from '../../../test/support/wearable-data.ts'

const beats = { timeseries: 'heartrate', field: 'value' }
const functions = ['mean', 'min', 'max', 'sum', 'count', 'median', 'stddev', 'oldest', 'newest']
const byMinute = {
  select: [{ group_key: '*' }, ...functions.map((func) => ({ func, arg: beats }))],
  group_by: [{ date_trunc: { value: 1, unit: 'minute' }, arg: { index: 'timeseries' } }],
}
const one = { select: [{ func: 'count', arg: beats }] }
const timeframe = { type: 'relative', anchor: '2026-01-31', past: { value: 1, unit: 'month' } }

async function person() {
  const team = await createTestTeam()
  const user_id = await team.user()
  const ask = (queries: object[], period = timeframe) =>
    team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe: period, queries })
  return { team, user_id, ask }
}

describe('a request for queries', () => {
  test('returns a limited number of values over all of its queries', async () => {
    const { team, user_id, ask } = await person()
    const start_ms = Date.parse('2026-01-10T00:00:00Z')
    const samples = Array.from({ length: 10_000 }, (_, i) => ({
      at_ms: start_ms + i * 60_000,
      value: 60,
      second: null,
      length_ms: null,
      zone_s: 0,
      type: null,
    }))
    await storeSamples(team, user_id, 'heartrate', samples)
    const most = await ask([byMinute, byMinute, byMinute, byMinute])
    assert.equal(most.status, 200)
    assert.equal(most.body.results[3].table['mean.value'].length, 10_000)
    const { status, body } = await ask([byMinute, byMinute, byMinute, byMinute, one])
    assert.deepEqual(
      [status, body.detail],
      [400, 'The results have more than 400000 values: use fewer queries, a shorter timeframe or larger groups'],
    )
  })

  test('waits for another one of its team for up to two seconds, and is then rejected with times to retry that differ', async () => {
    const [{ team, ask }, other] = [await person(), await person()]
    const client = await team.db.pool.connect()
    try {
      await client.query('begin')
      await client.query('lock table chunk in access exclusive mode')
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      const blocked = async (count: number) =>
        (await team.db.pool.query('select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))', [rows[0]!.pid]))
          .rowCount === count
      const running = [ask([one])]
      await eventually(() => blocked(1), 'it waits for the table')
      const sent_ms = performance.now()
      const late = Promise.all([ask([one]), ask([one]), ask([one])])
      running.push(other.ask([one]))
      await eventually(() => blocked(2), 'that of another team runs')
      const rejected = await late
      assert(performance.now() - sent_ms >= 1900, 'they waited')
      assert(await blocked(2), 'none of them runs')
      assert.deepEqual(
        rejected.map(({ status }) => status),
        [429, 429, 429],
      )
      const retry = rejected.map(({ headers }) => Number(headers.get('retry-after')))
      assert.equal(new Set(retry).size, 3, String(retry))
      assert(retry.every((seconds) => Number.isInteger(seconds) && seconds >= 1 && seconds <= 5))
      const many = Array.from({ length: 12 }, () => ask([one]))
      assert.equal((await Promise.race(many)).status, 429, 'more than ten do not wait')
      await client.query('commit')
      const statuses = (await Promise.all(many)).map(({ status }) => status)
      assert(statuses.filter((status) => status === 200).length >= 8, `they run once a slot is free: ${statuses.join()}`)
      for (const reply of await Promise.all(running)) assert.equal(reply.status, 200)
      assert.equal((await ask([one])).status, 200)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

test('when a query was last evaluated for a user is read from an index', async () => {
  const team = await createTestTeam()
  const client = await team.db.pool.connect()
  try {
    await client.query('begin')
    await client.query('set local enable_seqscan = off')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select max(started_at) from query_task where team_id = $1 and user_id = $2 and query_id = $3`,
      [team.team, randomUUID(), randomUUID()],
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(plan, /query_task__started/)
    assert.match(plan, /Limit/)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
