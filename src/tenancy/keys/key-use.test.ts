import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemNow } from '../../platform/runtime/clock.ts'
import { guards, cells, client, createTestTeam } from '../../../test/support/server.ts'
import { KeyUsageTracker } from './key-use.ts'
import { command } from '../../../test/support/commands.ts'

const { use } = guards
const listKeys = (...words: string[]): Promise<string> => command(cells, ['key', 'list', ...words])
const USED = /used \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 from 127\.0\.0\.1/

test('the last use of a key is shown by command, with its address, after it was written', async () => {
  const team = await createTestTeam()
  assert.match(await listKeys('--team', team.team), /  not used  test\n$/)
  assert.match(await listKeys('--org', team.org_id), /^[0-9a-f-]{36}  org_admin .*  not used  test\n$/)
  await team.api.get('/v2/user')
  await team.manage.get('/team')
  assert.match(await listKeys('--team', team.team), /  not used  test\n$/)
  await use.flush()
  assert.match(await listKeys('--team', team.team), USED)
  assert.match(await listKeys('--org', team.org_id), USED)
})

test('a use of a cached key counts like a look-up, and an access token does not count as a use of a key', async () => {
  const team = await createTestTeam()
  await team.api.get('/v2/user')
  await use.flush()
  const forgotten = async (countForgotten: string) =>
    cells.control.pool.query(
      `update ${countForgotten} set last_used_at = null, last_used_ip = null where ${countForgotten === 'api_key' ? 'team_id' : 'org_id'} = $1`,
      [countForgotten === 'api_key' ? team.team : team.org_id],
    )
  await forgotten('api_key')
  const { body } = await team.manage.post(`/team/${team.team}/create_api_access_token`, { env: 'sandbox' })
  assert.equal((await client(undefined).get('/v2/user', { authorization: `Bearer ${body.access_token}` })).status, 200)
  await use.flush()
  assert.match(await listKeys('--team', team.team), /  not used  test\n$/)
  await team.api.get('/v2/user')
  await use.flush()
  assert.match(await listKeys('--team', team.team), USED)
})

test('keeps the latest use across processes and ignores deleted keys', async () => {
  const team = await createTestTeam()
  const { rows } = await cells.control.pool.query<{ id: string }>('select id from api_key where team_id = $1', [team.team])
  const [late, early] = [new KeyUsageTracker(cells.control, systemNow), new KeyUsageTracker(cells.control, systemNow)]
  early.recordUse('api_key', rows[0]!.id, '192.0.2.1')
  await cells.control.pool.query("update api_key set last_used_at = '2999-01-01Z', last_used_ip = '192.0.2.2' where id = $1", [
    rows[0]!.id,
  ])
  await early.flush()
  assert.match(await listKeys('--team', team.team), /used 2999-01-01T00:00:00\+00:00 from 192\.0\.2\.2/)
  late.recordUse('api_key', '01890000-0000-7000-8000-00000000dead', '192.0.2.1')
  await late.stop()
})

test('retries failed writes without affecting requests', async () => {
  const team = await createTestTeam()
  const { rows } = await cells.control.pool.query<{ id: string }>('select id from api_key where team_id = $1', [team.team])
  const errors: unknown[] = []
  const own = new KeyUsageTracker(cells.control, systemNow)
  own.start((error) => errors.push(error))
  const lock = await cells.control.pool.connect()
  try {
    await lock.query('begin')
    await lock.query('select id from api_key where id = $1 for update', [rows[0]!.id])
    own.recordUse('api_key', rows[0]!.id, '192.0.2.3')
    // The statement fails after the database's lock timeout.
    await own.flush()
    assert.equal(errors.length, 1)
    assert.equal((await team.api.get('/v2/user')).status, 200)
  } finally {
    await lock.query('rollback')
    lock.release()
  }
  await own.stop()
  assert.match(await listKeys('--team', team.team), /from 192\.0\.2\.3/)
})
