// Operations on the connections of many users: import, histories, export, pause.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { vault, type TestTeam } from '../../../test/support/server.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer, ouraActivity } from '../../../test/support/vendors/oura.ts'
import { REDIRECT } from '../../../test/support/vendors/vendor-server.ts'
import { oura } from '../connectors/oura/oura.ts'
import { exportConnections } from './export.ts'
import { HISTORIES_AT_ONCE } from './run-operation.ts'
import type { BulkExport } from './schema.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))

/** Tokens that a user has granted to the same application elsewhere. */
function grant(user_id: string, account = `bulk-${randomUUID()}`) {
  const code = peer.grants.agree(account, [...oura.scopes], REDIRECT)
  const { access_token, refresh_token, expires_at_ms } = peer.grants.exchange(code, REDIRECT, peer.now_ms)!
  const expires_at = Math.floor(expires_at_ms / 1000)
  return { user_id, access_token, refresh_token, provider_id: account, expires_at, oauth_scopes: [...oura.scopes] }
}
const importConnections = (team: TestTeam, connections: object[], overrides: object = {}) =>
  team.api.post('/v2/link/bulk_import', { provider: 'oura', connections, ...overrides })
const readStatus = async (team: TestTeam, user_id: string): Promise<string | undefined> =>
  (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers[0]?.status
const operations = async (team: TestTeam, query = '') => (await team.api.get(`/v2/link/bulk_op${query}`)).body
const countEvents = async (team: TestTeam, type: string) => (await team.events()).filter((eventType) => eventType === type).length
const activity = async (team: TestTeam, user_id: string) =>
  (await team.api.get(`/v2/summary/activity/${user_id}?start_date=${daysAgo(30)}`)).body.activity as { steps: number }[]
const users = (team: TestTeam, count: number) => Promise.all(Array.from({ length: count }, () => team.user()))

describe('an import of connections', () => {
  test('connects its users in the background, without their histories, and tells how far it is', async () => {
    const team = await teamAt('oura')
    const [first, second] = (await users(team, 2)) as [string, string]
    const nobody = randomUUID()
    const tokens = [grant(first), grant(nobody), grant(second)]
    const queued = await importConnections(team, tokens)
    assert.deepEqual([queued.status, queued.body], [202, { user_ids_imported: [], user_ids_failed: [] }])
    const [begun] = (await operations(team)).data
    assert.deepEqual(
      [begun.type, begun.status, begun.provider, begun.pending, begun.processed, begun.ended_at],
      ['link_bulk_import', 'in_progress', 'oura', 3, 0, null],
    )
    await run(team, 0)
    const [ended] = (await operations(team)).data
    assert.deepEqual([ended.status, ended.pending, ended.processed], ['success', 0, 3])
    assert.notEqual(ended.ended_at, null)
    assert.deepEqual([await readStatus(team, first), await readStatus(team, second)], ['connected', 'connected'])
    assert.equal(await countEvents(team, 'provider.connection.created'), 2)
    assert(!(await team.jobs()).includes('pulls.pull_resource'))
    assert((await team.jobs()).includes('pulls.poll'))
  })

  test('that is waited for answers 200 with who was imported and who was not', async () => {
    const team = await teamAt('oura')
    const [user_id, demo] = (await users(team, 2)) as [string, string]
    await team.api.post('/v2/link/connect/demo', { user_id: demo, provider: 'fitbit' })
    const tokens = [grant(demo), grant(user_id)]
    const waiting = importConnections(team, tokens, { wait_for_completion: true })
    await eventually(async () => (await team.jobs()).includes('bulk.run'))
    await run(team, 0)
    const { status, body } = await waiting
    assert.deepEqual([status, body], [200, { user_ids_imported: [user_id], user_ids_failed: [demo] }])
  })

  test('stores no token as it is, and forgets the stored ones when it has used them', async () => {
    const team = await teamAt('oura')
    const [user_id] = (await users(team, 1)) as [string]
    const tokens = grant(user_id)
    await importConnections(team, [tokens])
    const rows = async () =>
      (await team.db.pool.query('select * from bulk_operation_user where team_id = $1', [team.team])).rows as { recipe: string }[]
    const [stored] = await rows()
    assert.notEqual(stored!.recipe, null)
    for (const secret of [tokens.access_token, tokens.refresh_token]) assert(!JSON.stringify(stored).includes(secret))
    await run(team, 0)
    assert.equal((await rows())[0]!.recipe, null)
  })

  test('rejects users of other teams, and another account of a team that allows one user for an account', async () => {
    const team = await teamAt('oura')
    const [first, second] = (await users(team, 2)) as [string, string]
    await importConnections(team, [grant(randomUUID())])
    await run(team, 0)
    assert.equal((await operations(team)).data[0].status, 'failure')
    await team.manage.patch(`/team/${team.team}`, { sandbox: { reject_duplicate_connection: true } })
    const again = { ...grant(first, 'shared-account') }
    await importConnections(team, [again, { ...again, user_id: second }])
    await run(team, 0)
    assert.deepEqual([await readStatus(team, first), await readStatus(team, second)], ['connected', undefined])
  })

  test('needs an application of the team at the provider, and ends without it', async () => {
    const team = await teamAt('oura')
    const [user_id] = (await users(team, 1)) as [string]
    assert.equal((await team.api.post('/v2/link/bulk_import', { provider: 'strava', connections: [] })).status, 400)
    assert.equal((await team.api.post('/v2/link/bulk_import', { provider: 'garmin', connections: [] })).status, 400)
    await importConnections(team, [grant(user_id)])
    await team.db.pool.query('delete from custom_credential where team_id = $1', [team.team])
    await run(team, 0)
    const [{ status, pending, processed }] = (await operations(team)).data
    assert.deepEqual([status, pending, processed], ['aborted', 1, 0])
    const { rows } = await team.db.pool.query('select recipe from bulk_operation_user where team_id = $1', [team.team])
    assert.deepEqual(rows, [{ recipe: null }])
  })

  test('is polled from then on, although nothing was asked for before', async () => {
    const team = await teamAt('oura')
    const [user_id] = (await users(team, 1)) as [string]
    const tokens = grant(user_id)
    peer.put(tokens.provider_id, 'daily_activity', ouraActivity(daysAgo(1), 4321))
    await importConnections(team, [tokens])
    await run(team, 0)
    await run(team, 3 * 86_400)
    assert.deepEqual(
      (await activity(team, user_id)).map(({ steps }) => steps),
      [4321],
    )
  })
})

describe('a paused connection', () => {
  test('is asked for nothing, and resumes when it is imported again', async () => {
    const team = await teamAt('oura')
    const [user_id, other] = (await users(team, 2)) as [string, string]
    const account = `bulk-${randomUUID()}`
    await agree(team, 'oura', peer, user_id, account)
    await run(team, 0)
    const stranger = randomUUID()
    const paused = await team.api.post('/v2/link/bulk_pause', { provider: 'oura', user_ids: [user_id, other, stranger] })
    assert.deepEqual([paused.status, paused.body], [200, { user_ids_paused: [user_id] }])
    assert.equal(await readStatus(team, user_id), 'paused')
    const asked = () => peer.requests.filter(({ path }) => path.startsWith('/v2/usercollection')).length
    const before = asked()
    await run(team, 2 * 86_400)
    assert.equal(asked(), before)
    peer.put(account, 'daily_activity', ouraActivity(daysAgo(1), 7777))
    await importConnections(team, [grant(user_id, account)])
    await run(team, 0)
    assert.equal(await readStatus(team, user_id), 'connected')
    await run(team, 3 * 86_400)
    assert((await activity(team, user_id)).some(({ steps }) => steps === 7777))
  })
})

describe('histories of many users', () => {
  test('are asked for, and users who are not connected fail', async () => {
    const team = await teamAt('oura')
    const [user_id, paused, other] = (await users(team, 3)) as [string, string, string]
    const tokens = grant(user_id)
    peer.put(tokens.provider_id, 'daily_activity', ouraActivity(daysAgo(3), 2468))
    await importConnections(team, [tokens, grant(paused)])
    await run(team, 0)
    await team.api.post('/v2/link/bulk_pause', { provider: 'oura', user_ids: [paused] })
    const body = { provider: 'oura', user_ids: [user_id, paused, other], wait_for_completion: true }
    const waiting = team.api.post('/v2/link/bulk_trigger_historical_pull', body)
    await eventually(async () => (await team.jobs()).includes('bulk.run'))
    await run(team, 10)
    const reply = await waiting
    assert.deepEqual([reply.status, reply.body.user_ids_triggered, reply.body.user_ids_failed], [200, [user_id], [paused, other]])
    assert.deepEqual(
      (await activity(team, user_id)).map(({ steps }) => steps),
      [2468],
    )
    assert.equal(await countEvents(team, 'historical.data.activity.created'), 1)
    const [{ type, status }] = (await operations(team)).data
    assert.deepEqual([type, status], ['link_bulk_historical_trigger', 'success'])
  })

  test('are requested for a few users at a time: the next ones wait until the earlier ones are done', async () => {
    const team = await teamAt('oura')
    const all = await users(team, HISTORIES_AT_ONCE + 1)
    await importConnections(
      team,
      all.map((user_id) => ({ ...grant(user_id), oauth_scopes: ['workout'] })),
    )
    await run(team, 0)
    await team.api.post('/v2/link/bulk_trigger_historical_pull', { provider: 'oura', user_ids: all })
    // The vendor answers nobody: no history is done.
    peer.fail(...Array.from({ length: 200 }, () => 'outage' as const))
    await run(team, 20)
    const [during] = (await operations(team)).data
    assert.deepEqual([during.status, during.processed, during.pending], ['in_progress', HISTORIES_AT_ONCE, 1])
    peer.recover()
    await run(team, 600)
    assert.deepEqual(
      [(await operations(team)).data[0].status, (await operations(team)).data[0].processed],
      ['success', HISTORIES_AT_ONCE + 1],
    )
  })
})

describe('an export', () => {
  test('shows live tokens page by page, can be imported, and is in the audit log', async () => {
    const [team, there] = [await teamAt('oura'), await teamAt('oura')]
    const mine = await users(team, 3)
    await importConnections(
      team,
      mine.map((user_id) => grant(user_id)),
    )
    await run(team, 0)
    const { status, body } = await team.api.post('/v2/link/bulk_export', { provider: 'oura' })
    assert.deepEqual([status, body.data.length, body.next_token], [200, 3, null])
    assert.deepEqual(
      body.data.map(({ user_id }: { user_id: string }) => user_id),
      mine.toSorted(),
    )
    const one = await team.api.post('/v2/link/bulk_export', { provider: 'oura', user_ids: [mine[1], randomUUID()] })
    assert.deepEqual(
      one.body.data.map(({ user_id }: { user_id: string }) => user_id),
      [mine[1]],
    )
    assert.deepEqual((await there.api.post('/v2/link/bulk_export', { provider: 'oura', user_ids: mine })).body.data, [])
    const user_id = await there.user()
    await importConnections(there, [{ ...one.body.data[0], user_id }])
    await run(there, 0)
    const again = (await there.api.post('/v2/link/bulk_export', { provider: 'oura' })).body.data[0]
    assert.deepEqual({ ...again, user_id: mine[1] }, one.body.data[0])
    const entries = (await team.manage.get('/audit/sandbox/us?operation=bulk_export_connections')).body.data
    assert.deepEqual(
      entries.map(({ team_id, object }: Record<string, string>) => [team_id, object]),
      [
        [team.team, 'oura'],
        [team.team, 'oura'],
      ],
    )
    assert.equal((await team.api.post('/v2/link/bulk_export', { provider: 'oura', next_token: 'nonsense' })).status, 400)
  })

  test('of more connections than a page has continue after the last connection of the page, in the same list only', async () => {
    const team = await teamAt('oura')
    const mine = await users(team, 3)
    await importConnections(
      team,
      mine.map((user_id) => grant(user_id)),
    )
    await run(team, 0)
    const page = (body: BulkExport) => team.db.tx(team.tenant, (tx) => exportConnections(tx, vault, body, 2))
    const first = await page({ provider: 'oura' })
    const second = await page({ provider: 'oura', next_token: first.next_token })
    assert.deepEqual(
      [...first.data, ...second.data].map(({ user_id }) => user_id),
      mine.toSorted(),
    )
    assert.equal(second.next_token, null)
    await assert.rejects(page({ provider: 'oura', user_ids: mine, next_token: first.next_token }), { status: 400 })
    await assert.rejects(page({ provider: 'polar', next_token: first.next_token }), { status: 400 })
  })
})

describe('the list of operations', () => {
  test('has pages, newest first, and none with a page size of 0', async () => {
    const team = await teamAt('oura')
    for (let n = 0; n < 3; n++) await importConnections(team, [])
    await run(team, 0)
    const first = await operations(team, '?page_size=2')
    assert.equal(first.data.length, 2)
    const second = await operations(team, `?page_size=2&next_cursor=${first.next_cursor}`)
    assert.deepEqual([second.data.length, second.next_cursor], [1, null])
    assert(first.data.every(({ status }: { status: string }) => status === 'success'))
    assert.deepEqual((await operations(team, '?page_size=0')).data, [])
    assert.equal((await team.api.get('/v2/link/bulk_op?page_size=51')).status, 422)
    assert.equal((await team.api.get('/v2/link/bulk_op?next_cursor=nonsense')).status, 400)
  })

  test('is of the team alone, and a team has a limited number that have not ended', async () => {
    const [team, other] = [await teamAt('oura'), await teamAt('oura')]
    await importConnections(team, [])
    assert.deepEqual((await operations(other)).data, [])
    await team.db.pool.query(
      `insert into bulk_operation (team_id, id, type, provider, status, total, started_at)
       select $1, gen_random_uuid(), 'link_bulk_import', 'oura', 'in_progress', 0, now() from generate_series(1, 49)`,
      [team.team],
    )
    assert.equal((await importConnections(team, [])).status, 400)
  })
})
