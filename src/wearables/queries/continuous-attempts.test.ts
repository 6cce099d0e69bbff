// Evaluations of continuous queries that fail, overlap or change hands.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  DAY,
  MINUTE_S,
  add,
  beats,
  create,
  daily,
  history,
  key,
  queryPath,
  result,
  statuses,
} from '../../../test/support/continuous-queries.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

describe('an evaluation of a continuous query', () => {
  test('keeps rows that another evaluation stores meanwhile', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, daily)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    await add(team, user_id, [`${DAY}T10:00:00`, 80])
    const client = await team.db.pool.connect()
    let advancing: Promise<unknown>
    try {
      await client.query('begin')
      const other = [['2025-12-24T00:00:00', 42]]
      await client.query(
        `update query_result set computed = ($2::jsonb || computed::jsonb)::text, shown = ($2::jsonb || shown::jsonb)::text
         where query_id = $1`,
        [id, JSON.stringify(other)],
      )
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      advancing = advanceClock(team, 31 * MINUTE_S)
      const blocked = 'select 1 from pg_locks where not granted and $1::int = any (pg_blocking_pids(pid))'
      await eventually(async () => (await team.db.pool.query(blocked, [rows[0]!.pid])).rowCount === 1, 'the evaluation waits')
      await client.query('commit')
    } finally {
      client.release()
    }
    await advancing
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [42, 70])
  })

  test('ends with an error after its last attempt, and the next one computes its days too', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, daily)
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    const store = (value: string) => team.db.pool.query('update query_result set computed = $2 where query_id = $1', [id, value])
    const { rows } = await team.db.pool.query('select computed from query_result where query_id = $1', [id])
    await store('as if it were damaged')
    await add(team, user_id, ['2026-01-20T09:00:00', 50])
    await advanceClock(team, 31 * MINUTE_S)
    for (let i = 1; i < 8; i++) {
      assert.deepEqual(await statuses(team, user_id, id), ['started', 'completed'])
      await team.settle().catch(() => {})
    }
    const { data } = await history(team, user_id, id)
    assert.equal(data[0].status, 'error')
    assert.match(data[0].error_details, /failed 8 times/)
    await team.settle()
    assert.deepEqual(await team.jobs(), [])
    await store(rows[0].computed)
    await add(team, user_id, ['2026-01-25T09:00:00', 55])
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual((await result(team, user_id, id))['mean.value'], [50, 55, 60])
    await add(team, user_id, ['2026-01-26T09:00:00', 56])
    await advanceClock(team, 31 * MINUTE_S)
    const days = 'select to_day - from_day as days from query_task where query_id = $1 order by started_at desc limit 1'
    assert.equal((await team.db.pool.query(days, [id])).rows[0].days, 2, 'days that were computed are not taken up again')
  })

  test('of the organization applies again when that of the team with its slug is archived', async () => {
    const { team, user_id } = await createTeamWithUser()
    const slug = `query-${randomUUID()}`
    const ofAll = await team.manage.post(queryPath(team, '?query_type=platform'), { slug, title: 'For all', query: daily })
    assert.equal(ofAll.status, 200)
    const own = await create(team, { ...daily, select: [key, { func: 'count', arg: beats }] }, { slug })
    await add(team, user_id, [`${DAY}T09:00:00`, 60])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, slug))['count.value'], [1])
    await team.manage.delete(queryPath(team, `/${own.id}`))
    await team.settle()
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, slug))['mean.value'], [60])
    assert.deepEqual((await result(team, user_id, own.id))['count.value'], [1])
    await add(team, user_id, [`${DAY}T10:00:00`, 80])
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual((await result(team, user_id, slug))['mean.value'], [70])
  })
})
