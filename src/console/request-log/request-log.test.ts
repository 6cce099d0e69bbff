// The requests of teams, as the console lists and counts them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assembleProcess, cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { contents } from '../../app/contents.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import type { Call } from '../../platform/http/call.ts'
import { RequestRecorder } from './recorder.ts'

const { operations } = assembleProcess()
const log = createLog('silent')

interface Listed {
  id: string
  operation: string
  status: number
  error: string | null
}

async function get(team: TestTeam, path: string) {
  const { status, body } = await team.api.get(`/console/v1/${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const list = async (team: TestTeam, query = ''): Promise<Listed[]> => (await get(team, `requests${query}`)).data

/** A request as the server hands it over when it has ended. */
const recordRequest = (recorder: RequestRecorder, team: TestTeam, status: number, id = 'request') =>
  recorder.record(
    {
      operation: operations.find((operation) => operation.id === 'get_user')!,
      id,
      tenant: team.tenant,
      manager: undefined,
      key_id: 'key',
      member_id: undefined,
      error: undefined,
    } as Call,
    { status, duration_ms: 2, ended_at: new Date('2026-01-31T09:31:00Z') },
  )

for (const cell of ['sandbox-us', 'production-us'] as const)
  describe(`requests of a team in ${cell}`, () => {
    test('are listed newest first, with operation, outcome, key and time, and nothing of a patient', async () => {
      const team = await createTestTeam(cell)
      const { headers } = await team.api.get('/v2/user/resolve/swordfish?secret=tunafish')
      await team.api.get('/v3/lab_tests')
      const [newest, first, ...more] = await get(team, 'requests').then(({ data }) => data)
      assert.deepEqual([newest.operation, newest.status, newest.method, more.length], ['get_lab_tests_for_team', 200, 'GET', 0])
      const { rows } = await cells.control.pool.query('select id from api_key where team_id = $1', [team.team])
      const { at, duration_ms, ...rest } = first
      assert.deepEqual(rest, {
        id: headers.get('x-request-id'),
        method: 'GET',
        path: '/v2/user/resolve/{client_user_id}',
        operation: 'get_user_by_client_user_id',
        status: 404,
        key_id: rows[0].id,
        member_id: null,
        error: 'User not found',
      })
      assert(Math.abs(Date.parse(at) - Date.now()) < 60_000 && duration_ms >= 0)
      assert.deepEqual(await get(team, `requests/${rest.id}`), first)
      const stored = await team.db.pool.query('select * from request_log where team_id = $1', [team.team])
      assert.doesNotMatch(JSON.stringify(stored.rows), /swordfish|tunafish/)
    })

    test('are in the order of time, whatever the ids of their responses', async () => {
      const team = await createTestTeam(cell)
      const recorder = new RequestRecorder(cells, log)
      for (const id of ['b', 'c', 'a', 'd']) recordRequest(recorder, team, 200, id)
      await recorder.flush()
      const first = await get(team, 'requests?limit=2')
      const second = await get(team, `requests?limit=2&next_cursor=${first.next_cursor}`)
      assert.equal([...first.data, ...second.data].map(({ id }: Listed) => id).join(''), 'dacb')
    })

    test('are filtered, paged, and those of another team are not found', async () => {
      const [team, other] = [await createTestTeam(cell), await createTestTeam(cell)]
      for (const path of ['/v3/lab_tests', '/v2/user/00000000-0000-7000-8000-000000000000', '/v3/lab_tests'])
        await team.api.get(path)
      await team.api.post('/v3/order', {})
      const operationsOf = async (query: string) => (await list(team, query)).map(({ operation }) => operation)
      assert.deepEqual(await operationsOf('?outcome=client_error'), ['create_order', 'get_user'])
      assert.deepEqual(await operationsOf('?status=404'), ['get_user'])
      assert.deepEqual(await operationsOf('?method=POST'), ['create_order'])
      assert.deepEqual(await operationsOf('?operation=get_user&operation=create_order'), ['create_order', 'get_user'])
      assert.deepEqual(await operationsOf('?key=nobody'), [])
      assert.deepEqual(await operationsOf('?member=nobody'), [])
      assert.deepEqual(await operationsOf('?since=2100-01-01T00:00:00Z'), [])
      assert.equal((await operationsOf('?until=2100-01-01T00:00:00Z&outcome=success')).length, 2)
      const first = await get(team, 'requests?limit=3')
      const second = await get(team, `requests?limit=3&next_cursor=${first.next_cursor}`)
      assert.deepEqual([...first.data, ...second.data], await list(team))
      assert.equal(second.next_cursor, null)
      assert.deepEqual(await list(other), [])
      assert.equal((await other.api.get(`/console/v1/requests/${first.data[0].id}`)).status, 404)
      assert.deepEqual(
        (await get(other, 'request_counts')).data.filter(({ success }: { success: number }) => success > 0),
        [],
      )
    })

    test('say where a value is invalid, in production without the words of the fault', async () => {
      const team = await createTestTeam(cell)
      await team.api.post('/v3/order', {})
      const [{ error }] = (await list(team)) as [Listed]
      if (cell === 'production-us') assert.match(error!, /(^|; )body\.user_id: missing(;|$)/)
      else assert.match(error!, /(^|; )body\.user_id: Field required(;|$)/)
    })
  })

test('requests of a deleted team are erased', async () => {
  const team = await createTestTeam()
  await team.api.get('/v3/lab_tests')
  await list(team)
  const count = async () => {
    const { rows } = await team.db.pool.query(
      'select (select count(*) from request_log where team_id = $1)::int + (select count(*) from request_count where team_id = $1)::int as n',
      [team.team],
    )
    return rows[0].n as number
  }
  assert.equal(await count(), 2)
  const { erasers } = contents.modules.find(({ name }) => name === 'console/request-log')!
  await team.db.plainTx((tx) => erasers!.team!(tx, team.team, 100))
  await team.db.plainTx((tx) => erasers!.team!(tx, team.team, 100))
  assert.equal(await count(), 0)
})

describe('the counts of requests', () => {
  test('have all requests of a span by outcome, in intervals without gaps', async () => {
    const team = await createTestTeam()
    await team.api.get('/v3/lab_tests')
    await team.api.get('/v2/user/00000000-0000-7000-8000-000000000000')
    const { step_s, data } = await get(team, 'request_counts')
    assert.equal(step_s, 900)
    const sum = (name: string) => data.reduce((total: number, interval: Record<string, number>) => total + interval[name]!, 0)
    assert.deepEqual([sum('success'), sum('client_error'), sum('server_error')], [1, 1, 0])
    for (const [i, { at }] of data.entries()) if (i) assert.equal(Date.parse(at) - Date.parse(data[i - 1].at), step_s * 1000)
    const hours = await get(team, 'request_counts?since=2026-01-01T00:00:00Z&until=2026-01-01T12:00:00Z')
    assert.deepEqual([hours.step_s, hours.data.length, hours.data[0].mean_duration_ms], [300, 145, null])
    const refused = await team.api.get('/console/v1/request_counts?since=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z')
    assert.equal(refused.status, 422)
  })

  test('have those that a busy team makes beyond what is listed, and errors are listed beside many successes', async () => {
    const team = await createTestTeam()
    const recorder = new RequestRecorder(cells, log)
    for (let i = 0; i < 700; i++) recordRequest(recorder, team, 200)
    recordRequest(recorder, team, 503, 'the failed one')
    await recorder.flush()
    const { rows } = await team.db.pool.query(
      'select count(*)::int as listed, count(*) filter (where status = 503)::int as failed from request_log where team_id = $1',
      [team.team],
    )
    assert.deepEqual(rows[0], { listed: 501, failed: 1 })
    recordRequest(recorder, team, 200)
    await recorder.stop()
    const { data } = await get(team, 'request_counts?since=2026-01-31T09:30:00Z&until=2026-01-31T09:31:00Z')
    assert.deepEqual(data, [
      { at: '2026-01-31T09:30:00+00:00', success: 701, client_error: 0, server_error: 1, mean_duration_ms: 2 },
    ])
  })
})
