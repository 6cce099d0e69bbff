import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { countHeartRates, samplesBody } from '../../../test/support/heavy-posts.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { LONG_BODY_BYTES_MIN } from './request.ts'

test('long posts and queries of a team run one at a time, while its small requests and those of another team are answered', async () => {
  const [busy, other] = [await createTestTeam(), await createTestTeam()]
  const [locked, free, person] = [await busy.user(), await busy.user(), await other.user()]
  const long = samplesBody(2000)
  assert.ok(JSON.stringify(long).length >= LONG_BODY_BYTES_MIN)
  const answered: string[] = []
  const post = async (name: string, team: TestTeam, user_id: string, body: unknown) => {
    const { status } = await team.api.post(`/v2/timeseries/${user_id}/heartrate`, body)
    assert.equal(status, 200, name)
    answered.push(name)
  }
  const ask = async (name: string, team: TestTeam, user_id: string) => {
    assert.equal((await countHeartRates(team, user_id)).status, 200, name)
    answered.push(name)
  }
  const holder = await busy.db.pool.connect()
  let waiting: Promise<unknown>[] = []
  try {
    await holder.query('begin')
    // What is stored of a user refers to the row of the user.
    await holder.query('select from "user" where id = $1 for update', [locked])
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
    waiting = [post('first', busy, locked, long)]
    await eventually(async () => {
      const blocked = await busy.db.pool.query('select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))', [
        rows[0]!.pid,
      ])
      return blocked.rowCount === 1
    }, 'the first post waits for the row')
    waiting.push(ask('waiting', busy, free), ...[1, 2, 3].map(() => post('waiting', busy, free, long)))
    await post('other team', other, person, long)
    await ask('query of the other team', other, person)
    await post('small', busy, free, samplesBody(1))
    assert.equal((await busy.api.get(`/v2/user/${free}`)).status, 200)
    assert.deepEqual(answered, ['other team', 'query of the other team', 'small'])
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  await Promise.all(waiting)
  assert.deepEqual(answered.slice(3), ['first', 'waiting', 'waiting', 'waiting', 'waiting'])
})
