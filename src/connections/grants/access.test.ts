// Refreshing of tokens: one at a time, stored before they are used, and the grant ends only when the vendor refuses the same tokens twice.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { cells, newCells, settings, targets, vault, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { agree, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { WhoopPeer } from '../../../test/support/vendors/whoop.ts'
import { VendorClient } from '../connectors/vendor-http.ts'
import { VendorError } from '../connectors/connector.ts'
import { freshGrant, findVendor, vendorUrls, type VendorAccess } from './access.ts'
import { claimRefresh, currentGrant, saveGrant, type StoredGrant } from './grants.ts'
import { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { whoop } from '../connectors/whoop/whoop.ts'

const peer = await new WhoopPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('whoop_v2', peer))
const client = new VendorClient({ targets, product: 'Drawbridge/test' })
const urls = {
  get: (provider: string) => settings.provider_urls.find((url) => url.startsWith(`${provider}=`))?.slice(provider.length + 1),
}
const access: VendorAccess = { cells, vault, client, urls }

let accounts = 20_000
/** A user whose access token is about to expire. */
async function expiring() {
  const team = await teamAt('whoop_v2')
  const user_id = await team.user()
  const account = String(++accounts)
  await agree(team, 'whoop_v2', peer, user_id, account, 1)
  await team.db.pool.query(`delete from job where team_id = $1`, [team.team])
  await team.db.pool.query(`update provider_grant set expires_at = now() + interval '10 seconds' where team_id = $1`, [team.team])
  return { team, key: { user_id, provider: 'whoop_v2' }, account }
}
async function fresh(team: TestTeam, key: { user_id: string; provider: string }, accessor = access, rejectedVersion?: number) {
  const vendor = await team.db.tx(team.tenant, (tx) => findVendor(tx, accessor, key.provider))
  return freshGrant(team.tenant, accessor, vendor!, key, rejectedVersion)
}
const refreshes = () =>
  peer.requestsTo('/oauth/oauth2/token').filter(({ form }) => form.get('grant_type') === 'refresh_token').length
/** Stores tokens as a new consent does; returns the access token. */
async function saveAnother({ db, tenant }: TestTeam, user_id: string, external_user_id: string) {
  const access_token = 'fictional-new'
  const expires_at_ms = Date.now() + 3_600_000
  const grant = { access_token, refresh_token: 'fictional-refresh', expires_at_ms, scopes: null, external_user_id }
  await db.tx(tenant, (tx) => saveGrant(tx, vault, user_id, 'whoop_v2', grant))
  return access_token
}
const refusedLongAgo = ({ db, team }: TestTeam) =>
  db.pool.query(`update provider_grant set refused_at = now() - interval '31 seconds' where team_id = $1`, [team])
const status = async ({ api }: TestTeam, user_id: string) => (await api.get(`/v2/user/providers/${user_id}`)).body.providers[0]
const failsWith = (call: Promise<unknown>, failure: string) =>
  assert.rejects(call, (error) => error instanceof VendorError && error.failure === failure)

describe('rule 14: refreshing', () => {
  test('WHOOP double refresh: of many concurrent refreshes in several processes, one asks the vendor and all get the new token', async () => {
    const { team, key } = await expiring()
    const other = newCells()
    const before = refreshes()
    const second = { ...access, cells: other }
    const found = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => fresh(team, key, n % 2 ? access : second)))
    await other.close()
    assert.equal(refreshes() - before, 1)
    assert.equal(new Set(found.map((access) => access!.grant.access_token)).size, 1)
    assert.deepEqual(new Set(found.map((access) => access!.version)), new Set([2]))
    assert.equal((await status(team, key.user_id)).status, 'connected')
  })

  test('a token that the vendor refuses once does not end the connection; refused twice it does, with one event', async () => {
    const { team, key, account } = await expiring()
    peer.grants.end(account)
    await failsWith(fresh(team, key), 'unavailable')
    assert.equal((await status(team, key.user_id)).status, 'connected')
    await refusedLongAgo(team)
    await failsWith(fresh(team, key), 'invalid_grant')
    const { status: now, error_details } = await status(team, key.user_id)
    assert.deepEqual([now, error_details.error_type], ['error', 'token_refresh_failed'])
    await failsWith(fresh(team, key), 'invalid_grant')
    const events = (
      await team.db.pool.query(
        `select b.body from event e join event_body b on b.event_id = e.id where e.team_id = $1 and e.type = 'provider.connection.error'`,
        [team.team],
      )
    ).rows
    assert.equal(events.length, 1)
    const { data } = JSON.parse(events[0].body)
    assert.deepEqual([data.user_id, data.provider, data.error_type], [key.user_id, 'whoop_v2', 'token_refresh_failed'])
  })

  test('a refusal counts once for all refreshes within 30 s: the vendor is not asked again, and the connection stays', async () => {
    const { team, key, account } = await expiring()
    peer.grants.end(account)
    const before = refreshes()
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => fresh(team, key)))
    assert.deepEqual(
      outcomes.map(
        (outcome) => outcome.status === 'rejected' && [outcome.reason.failure, outcome.reason.retry_after_ms > 20_000],
      ),
      Array(3).fill(['unavailable', true]),
    )
    assert.equal(refreshes() - before, 1)
    assert.equal((await status(team, key.user_id)).status, 'connected')
  })

  test('a refusal that is recorded after another process has read the grant keeps that process from asking the vendor', async () => {
    const { team, key, account } = await expiring()
    peer.grants.end(account)
    const read = await team.db.tx(team.tenant, (tx) => currentGrant(tx, vault, key))
    await failsWith(fresh(team, key), 'unavailable')
    const claims = (grant: StoredGrant) => team.db.tx(team.tenant, (tx) => claimRefresh(tx, grant, randomUUID(), 30))
    assert.equal(await claims(read!), false)
    assert.equal(await claims((await team.db.tx(team.tenant, (tx) => currentGrant(tx, vault, key)))!), true)
  })

  test('a refusal of tokens that were replaced in between does not count', async () => {
    const { team, key, account } = await expiring()
    peer.grants.end(account)
    await failsWith(fresh(team, key), 'unavailable')
    await agree(team, 'whoop_v2', peer, key.user_id, account, 1)
    await team.db.pool.query(`update provider_grant set expires_at = now() + interval '10 seconds' where team_id = $1`, [
      team.team,
    ])
    peer.grants.end(account)
    await failsWith(fresh(team, key), 'unavailable')
    assert.equal((await status(team, key.user_id)).status, 'connected')
  })

  test('an outage, or an answer that is lost before the token was exchanged, changes nothing', async () => {
    const { team, key } = await expiring()
    peer.fail('outage', 'garbage')
    await failsWith(fresh(team, key), 'unavailable')
    await failsWith(fresh(team, key), 'unexpected')
    assert.equal((await fresh(team, key))!.version, 2)
  })

  test('the wrong secret of an application does not end the connections of its users', async () => {
    const { team, key } = await expiring()
    await team.manage.post('/team_custom_credentials/sandbox/us', {
      team_id: team.team,
      provider: 'whoop_v2',
      client_secret: 'wrong',
    })
    for (let i = 0; i < 3; i++) await failsWith(fresh(team, key), 'unexpected')
    assert.equal((await status(team, key.user_id)).status, 'connected')
  })

  test('a token that the vendor ends before its time is refreshed once; when the next is not accepted either the connection ends', async () => {
    const team = await teamAt('whoop_v2')
    const user_id = await team.user()
    await agree(team, 'whoop_v2', peer, user_id, '30001', 1)
    peer.grants.expireAccess('30001')
    await run(team)
    assert.equal((await status(team, user_id)).status, 'connected')
    peer.deaf = true
    await agree(team, 'whoop_v2', peer, await team.user(), '30002', 1)
    await run(team)
    peer.deaf = false
    const { rows } = await team.db.pool.query(`select error_type from connection where team_id = $1 and status = 'error'`, [
      team.team,
    ])
    assert.deepEqual(rows, [{ error_type: 'provider_credential_error' }])
  })

  test('tokens that were refreshed are stored before they are used', async () => {
    const { team, key } = await expiring()
    const { grant } = (await fresh(team, key))!
    const again = (await fresh(team, key))!
    assert.deepEqual([again.grant.refresh_token, again.version], [grant.refresh_token, 2])
  })
})

describe('the lease of a refresh', () => {
  /** A call that the vendor has received and does not answer before `open`. */
  async function unanswered<V>(call: () => Promise<V>) {
    const { promise, resolve: open } = Promise.withResolvers<void>()
    const before = refreshes()
    peer.gate = promise
    const outcome = call()
    outcome.catch(() => {})
    await eventually(() => refreshes() > before, 'the vendor is asked')
    return { outcome, open: () => (open(), (peer.gate = undefined)) }
  }

  test('no row is locked while the vendor is asked: the user can disconnect, and the others wait for the new tokens', async () => {
    const { team, key } = await expiring()
    const before = refreshes()
    const { outcome, open } = await unanswered(() => fresh(team, key))
    const others = Promise.all([fresh(team, key), fresh(team, key)])
    try {
      await team.db.pool.query(`select from provider_grant where team_id = $1 for update nowait`, [team.team])
    } finally {
      open()
    }
    assert.deepEqual([(await outcome)!.version, ...(await others).map((access) => access!.version)], [2, 2, 2])
    assert.equal(refreshes() - before, 1)
    const second = await expiring()
    const held = await unanswered(() => fresh(second.team, second.key))
    try {
      assert.equal((await second.team.api.delete(`/v2/user/${second.key.user_id}/whoop_v2`)).status, 200)
    } finally {
      held.open()
    }
    assert.equal(await held.outcome, undefined)
  })

  test('tokens of a new consent stay when the answer to a refresh of the earlier ones comes after it', async () => {
    const { team, key, account } = await expiring()
    const { outcome, open } = await unanswered(() => fresh(team, key))
    let agreed
    try {
      agreed = await saveAnother(team, key.user_id, account)
    } finally {
      open()
    }
    const found = (await outcome)!
    assert.deepEqual([found.version, found.grant.access_token, found.refused_version], [2, agreed, null])
    assert.equal((await status(team, key.user_id)).status, 'connected')
  })

  test('the lease of a killed process ends by the clock of the database; a refresh that waits too long for another fails', async () => {
    const { team, key } = await expiring()
    const lease = (span: string) =>
      team.db.pool.query(
        `update provider_grant set refresh_owner = gen_random_uuid(), refreshing_until = clock_timestamp() + $2::interval where team_id = $1`,
        [team.team, span],
      )
    await lease('1 hour')
    const before = refreshes()
    await failsWith(fresh(team, key, { ...access, refresh_wait_ms: 1 }), 'unavailable')
    assert.equal(refreshes(), before)
    await lease('300 milliseconds')
    assert.equal((await fresh(team, key))!.version, 2)
  })

  test('the resolution of a name counts towards the deadline of a request', { timeout: 10_000 }, async () => {
    const never = new TargetPolicy({ resolve: () => new Promise<string[]>(() => {}) })
    const by = new VendorClient({ targets: never, product: '', request_ms_max: 50 })
    await failsWith(by.send(true, { method: 'GET', url: 'https://vendor.example/token' }), 'unavailable')
  })
})

describe('addresses of vendors', () => {
  test('an address of the settings replaces the origins and goes before the paths', () => {
    const one = { get: () => 'https://gateway.example.com/whoop' }
    assert.deepEqual(vendorUrls({ urls: one }, whoop), {
      authorize: 'https://gateway.example.com/whoop/oauth/oauth2/auth',
      token: 'https://gateway.example.com/whoop/oauth/oauth2/token',
      api: 'https://gateway.example.com/whoop/developer',
    })
    assert.equal(vendorUrls({ urls: { get: () => undefined } }, whoop), whoop.urls)
  })

  test('no request reaches an address that is not public, in production, or follows a redirect, or takes longer or more than it may', async () => {
    const send = (target: string, sandbox = true, sender = client) => sender.send(sandbox, { method: 'GET', url: target })
    await failsWith(send(`${peer.url}/oauth/oauth2/auth`, false), 'unavailable')
    await failsWith(send('https://169.254.169.254/latest'), 'unavailable')
    const page = `${peer.url}/oauth/oauth2/auth?redirect_uri=${encodeURIComponent('https://example.com/')}&scope=offline&state=1`
    assert.equal((await send(page)).status, 302)
    await failsWith(
      send(`${peer.url}/oauth/oauth2/token`, true, new VendorClient({ targets, product: '', answer_bytes_max: 10 })),
      'unexpected',
    )
    peer.stuck = true
    await failsWith(send(page, true, new VendorClient({ targets, product: '', request_ms_max: 50 })), 'unavailable')
    peer.stuck = false
  })
})

describe('the end of a grant', () => {
  const revocations = () => peer.requestsTo('/developer/v2/user/access').length

  test('a user who links the same account again before the revocation keeps the new grant; one who does not loses it', async () => {
    const { team, key, account } = await expiring()
    const before = revocations()
    await team.api.delete(`/v2/user/${key.user_id}/whoop_v2`)
    await agree(team, 'whoop_v2', peer, key.user_id, account, 1)
    await run(team)
    assert.equal(revocations() - before, 0)
    await team.api.delete(`/v2/user/${key.user_id}/whoop_v2`)
    await run(team)
    assert.equal(revocations() - before, 1)
    const { rows } = await team.db.pool.query(`select id from provider_grant where team_id = $1`, [team.team])
    assert.deepEqual(rows, [])
  })
})
