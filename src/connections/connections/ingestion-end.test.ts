// The connections of a user whose time of ingestion is over. Source: users-wearables.md 4 C5, 6 I3.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { pauseConnections } from './connections.ts'
import { grant } from '../../../test/support/grants.ts'
import { counts, post } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
const connect = ({ api }: TestTeam, user_id: string, provider = 'apple_health_kit') =>
  api.post(`/v2/link/provider/manual/${provider}`, { user_id })
const advance = async ({ api }: TestTeam, days: number) => {
  const { status } = await api.post('/v1/sandbox/clock/advance', { seconds: days * 86_400 })
  assert.equal(status, 200)
}
const statuses = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/user/providers/${user_id}`)).body.providers.map(({ status }: { status: string }) => status)
const patch = async ({ api }: TestTeam, user_id: string, body: object) =>
  assert.equal((await api.patch(`/v2/user/${user_id}`, body)).status, 204)
const countCreatedEvents = async ({ api }: TestTeam) =>
  (await api.get('/v1/events?type=provider.connection.created')).body.data.length

describe('after the end of ingestion', () => {
  test('late data is accepted for 7 days; then the connections are paused, and nothing connects them again', async () => {
    const team = await createTestTeam()
    const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ingestion_end: day(1) })).body
    await connect(team, user_id)
    await connect(team, user_id, 'omron_ble')
    const late = async (value: number) => {
      const at = `${day(0)}T00:00:00Z`
      return counts((await post(team, user_id, 'heartrate', [{ value, unit: 'bpm', start_date: at, end_date: at }])).body)
    }
    await advance(team, 7)
    assert.deepEqual(await statuses(team, user_id), ['connected', 'connected'])
    assert.deepEqual(await late(61), [1, 1, 0, 0])
    await advance(team, 3)
    assert.deepEqual(await statuses(team, user_id), ['paused', 'paused'])
    assert.deepEqual(await late(62), [0, 0, 0, 1])
    const state = await team.api.post(`/v2/user/${user_id}/sdk_sync_state/apple_health_kit`, { tzinfo: 'UTC' })
    assert.equal(state.body.status, 'paused')
    assert.deepEqual((await connect(team, user_id)).body, { success: true })
    await connect(team, user_id, 'manual')
    assert.deepEqual(await statuses(team, user_id), ['paused', 'paused', 'paused'])
    assert.equal(await countCreatedEvents(team), 2)
    assert.equal((await team.api.get(`/v2/timeseries/${user_id}/heartrate/grouped?start_date=${day(0)}`)).status, 200)
  })

  test('a later end of ingestion or no end keeps the connections', async () => {
    const team = await createTestTeam()
    const [moved, cleared] = [await team.user(), await team.user()]
    for (const user_id of [moved, cleared]) {
      await connect(team, user_id)
      await patch(team, user_id, { ingestion_end: day(0) })
    }
    await patch(team, moved, { ingestion_end: day(20) })
    await patch(team, cleared, { ingestion_end: null })
    await advance(team, 15)
    assert.deepEqual([await statuses(team, moved), await statuses(team, cleared)], [['connected'], ['connected']])
    await advance(team, 15)
    assert.deepEqual([await statuses(team, moved), await statuses(team, cleared)], [['paused'], ['connected']])
  })

  test('an end that is long past pauses at once, and a user without an end is connected again by the phone', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id)
    await patch(team, user_id, { ingestion_end: '2020-01-31' })
    await team.settle()
    assert.deepEqual(await statuses(team, user_id), ['paused'])
    await patch(team, user_id, { ingestion_end: null })
    await connect(team, user_id)
    assert.deepEqual(await statuses(team, user_id), ['connected'])
    assert.equal(await countCreatedEvents(team), 2)
  })

  test('is planned once, however often the user is connected and changed', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await patch(team, user_id, { ingestion_end: day(20) })
    for (let i = 0; i < 3; i++) {
      await connect(team, user_id)
      await connect(team, user_id, 'manual')
      await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
      await patch(team, user_id, { ingestion_end: day(20) })
    }
    assert.deepEqual(await team.jobs(), ['users.end_ingestion'])
  })

  test('grants end at the providers, even of a user whose connections are paused already', async () => {
    const team = await createTestTeam()
    const [paused, again] = [await team.user(), await team.user()]
    const current = async () =>
      (
        await team.db.pool.query('select user_id from provider_grant where team_id = $1 and ended_at is null', [team.team])
      ).rows.map(({ user_id }: { user_id: string }) => user_id)
    await grant(team, paused)
    await team.db.tx(team.tenant, (tx) => pauseConnections(tx, [paused], 'oura'))
    assert.deepEqual([await current(), await statuses(team, paused)], [[paused], ['paused']])
    await patch(team, paused, { ingestion_end: '2020-01-31' })
    await team.settle()
    assert.deepEqual(await current(), [])
    await patch(team, again, { ingestion_end: '2020-01-31' })
    await team.settle()
    await grant(team, again, 'oura', { external_user_id: 'another-account' })
    await team.settle()
    assert.deepEqual([await current(), await statuses(team, again)], [[], ['paused']])
  })

  test('an end of ingestion in the year 9999 is valid', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await patch(team, user_id, { ingestion_end: '9999-12-31' })
    await connect(team, user_id)
    assert.deepEqual([await statuses(team, user_id), await team.jobs()], [['connected'], []])
  })
})
