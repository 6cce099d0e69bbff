// What a team sees of the clouds of its users: the last attempt to ask for each resource, what the user has granted, when a cloud has
// notified. Source: users-wearables.md 4 C3, 13; events.md 4.4.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { client, type TestTeam } from '../../../test/support/server.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer, ouraActivity } from '../../../test/support/vendors/oura.ts'
import { grant } from '../../../test/support/grants.ts'
import { connectorOf } from '../connectors/connectors.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))
let accounts = 0

async function createConnectedUser() {
  const team = await teamAt('oura')
  const [user_id, account] = [await team.user(), `seen-${++accounts}`]
  peer.put(account, 'daily_activity', ouraActivity(daysAgo(1), 4321))
  await agree(team, 'oura', peer, user_id, account, 2)
  return { team, user_id, account }
}
const resources = async ({ api }: TestTeam) => (await api.get('/v2/introspect/resources')).body.data[0].provider.oura
const statuses = async (team: TestTeam, ...names: string[]) => {
  const shown = await resources(team)
  return names.map((name) => shown[name].last_attempt?.status ?? null)
}
const days = async ({ api }: TestTeam, user_id: string) => (await api.get(`/v2/introspect/days?user_id=${user_id}`)).body.data[0]
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

test('an attempt that finds nothing in a cloud is shown as a success, also for the data that comes with it', async () => {
  const { team } = await createConnectedUser()
  assert.deepEqual(await statuses(team, 'activity', 'sleep', 'hrv'), [null, null, null])
  await run(team, 0)
  assert.deepEqual(await statuses(team, 'activity', 'sleep', 'sleep_cycle', 'hrv'), ['success', 'success', 'success', 'success'])
  const { activity, sleep } = await resources(team)
  assert.deepEqual([activity.sent_count, sleep.sent_count, sleep.newest_data], [1, 0, null])
  assert.match(sleep.last_attempt.timestamp, INSTANT)
})

test('an attempt that has failed is shown as a failure until a later one succeeds', async () => {
  const { team, account } = await createConnectedUser()
  peer.grants.narrow(account, 'heartrate')
  await run(team, 0)
  assert.deepEqual(await statuses(team, 'activity', 'heartrate'), ['success', 'failure'])
  peer.fail(...Array<'outage'>(60).fill('outage'))
  await run(team, 6 * 3600 + 60)
  assert.deepEqual(await statuses(team, 'activity', 'sleep', 'sleep_cycle'), ['failure', 'failure', 'failure'])
  const { activity } = await resources(team)
  assert.equal(activity.sent_count, 1)
  peer.recover()
  await run(team, 7 * 3600)
  assert.deepEqual(await statuses(team, 'activity', 'sleep', 'sleep_cycle'), ['success', 'success', 'success'])
})

test('rule 17: it is shown when a cloud has notified and when it was polled because it had not', async () => {
  const { team, user_id, account } = await createConnectedUser()
  await run(team, 0)
  const none = await days(team, user_id)
  assert.deepEqual([none.provider, none.notified_at, none.polled_at], ['oura', null, null])
  peer.put(account, 'daily_activity', ouraActivity(daysAgo(1), 4322))
  const { headers, body } = peer.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account })
  const { status } = await client(undefined).call('POST', `/v2/link/webhook/${team.cell}/${team.team}/oura`, body, headers)
  assert.equal(status, 200)
  await run(team)
  const notified = await days(team, user_id)
  assert.match(notified.notified_at, INSTANT)
  assert.equal(notified.polled_at, null)
  await run(team, 12 * 3600 + 120)
  assert.match((await days(team, user_id)).polled_at, INSTANT)
})

const availability = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/user/providers/${user_id}`)).body.providers[0].resource_availability
const scopes = (requiredScopes: string[], optional: string[] = []) => ({ required: requiredScopes, optional })

test('each resource of a cloud shows the scopes that it needs, granted and denied, in the event of the connection too', async () => {
  const team = await teamAt('whoop_v2')
  const user_id = await team.user()
  await grant(team, user_id, 'whoop_v2', { scopes: ['offline', 'read:sleep', 'read:workout'] })
  const shown = await availability(team, user_id)
  assert.deepEqual(shown.sleep, {
    status: 'available',
    scope_requirements: { user_granted: scopes(['read:sleep']), user_denied: scopes([], ['read:recovery']) },
  })
  assert.deepEqual(shown.activity, {
    status: 'unavailable',
    scope_requirements: { user_granted: scopes([]), user_denied: scopes(['read:cycles']) },
  })
  const { data } = (await team.api.get('/v1/events?type=provider.connection.created')).body
  assert.deepEqual(data[0].body.data.resource_availability, shown)
  assert.deepEqual(Object.keys(shown).toSorted(), connectorOf('whoop_v2')!.resources.toSorted())
})

test('a cloud that does not report the granted scopes shows no scopes, and every resource as available', async () => {
  const team = await teamAt('oura')
  const user_id = await team.user()
  await grant(team, user_id)
  for (const one of Object.values(await availability(team, user_id)))
    assert.deepEqual(one, { status: 'available', scope_requirements: null })
})

test('scopes that a refresh names are the scopes of the connection from then on', async () => {
  const { team, user_id, account } = await createConnectedUser()
  assert.equal((await availability(team, user_id)).heartrate.status, 'available')
  peer.grants.narrow(account, 'heartrate')
  await team.db.pool.query(`update provider_grant set expires_at = now() - interval '1 hour' where team_id = $1`, [team.team])
  await run(team, 0)
  assert.deepEqual((await availability(team, user_id)).heartrate, {
    status: 'unavailable',
    scope_requirements: { user_granted: scopes([]), user_denied: scopes(['heartrate']) },
  })
  assert.equal((await availability(team, user_id)).activity.status, 'available')
})
