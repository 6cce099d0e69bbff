// Why a day is empty: what is known of each day of a user's resources.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sentSample, post, type Sent } from '../../../test/support/samples.ts'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { dayOf, recordDays } from '../../wearables/ingestion/day-records.ts'

const APPLE = 'apple_health_kit'
const RANGE = 'start_date=2026-01-28&end_date=2026-02-02'
const days = async ({ api }: TestTeam, user_id: string, query = RANGE) => {
  const { status, body } = await api.get(`/v2/introspect/days?user_id=${user_id}&${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
interface Shown {
  resource: string
  days: { date: string; status: string; asked: boolean; failed: boolean }[]
  last_error: unknown
}
/** The statuses of a resource by day of the month. */
async function statuses(team: TestTeam, user_id: string, resource: string, query = RANGE) {
  const [{ resources }] = (await days(team, user_id, `${query}&resource=${resource}`)).data
  const [{ days: shown }] = resources as [Shown]
  return Object.fromEntries(shown.map(({ date, status }) => [date.slice(8), status]))
}
const sampleOnDay = (date: string, value: number, overrides: Partial<Sent> = {}) =>
  sentSample('09:30:00', value, { start_date: `${date}T09:30:00Z`, end_date: `${date}T09:30:00Z`, ...overrides })
const history = { stage: 'historical', start_date: '2026-01-29T00:00:00Z', end_date: '2026-02-02T00:00:00Z' }

describe('the days of a resource', () => {
  test('are asked for by the beginning of a history, and stored or empty after its end', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.post(`/v2/link/provider/manual/${APPLE}`, { user_id })
    const nothing = await statuses(team, user_id, 'heartrate')
    assert.deepEqual(new Set(Object.values(nothing)), new Set(['not_asked']))
    await team.api.post(`/v2/user/${user_id}/sdk_start_historical_stage/${APPLE}`, {
      range_start: history.start_date,
      range_end: history.end_date,
      backfill_type: 'heartrate',
    })
    const asked = { 28: 'not_asked', 29: 'asked', 30: 'asked', 31: 'asked', '01': 'asked', '02': 'not_asked' }
    assert.deepEqual(await statuses(team, user_id, 'heartrate'), asked)
    await post(team, user_id, 'heartrate', [sampleOnDay('2026-01-30', 61)], { ...history, is_final_chunk: false })
    assert.deepEqual(await statuses(team, user_id, 'heartrate'), { ...asked, 30: 'stored' })
    await post(team, user_id, 'heartrate', [sampleOnDay('2026-01-31', 62)], history)
    const done = { ...asked, 29: 'empty', 30: 'stored', 31: 'stored', '01': 'empty' }
    assert.deepEqual(await statuses(team, user_id, 'heartrate'), done)
    // Data that comes late is data.
    await post(team, user_id, 'heartrate', [sampleOnDay('2026-01-29', 63)])
    assert.deepEqual(await statuses(team, user_id, 'heartrate'), { ...done, 29: 'stored' })
  })

  test('are local days of samples and summaries', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    // 21:30 on the day before in Phoenix.
    const late = { start_date: '2026-01-31T04:30:00Z', end_date: '2026-01-31T04:30:00Z' }
    await post(team, user_id, 'steps', [sampleOnDay('2026-01-30', 5, late)])
    assert.equal((await statuses(team, user_id, 'steps'))['30'], 'stored')
    assert.equal((await statuses(team, user_id, 'steps'))['31'], 'not_asked')
    await team.api.post(`/v2/summary/activity/${user_id}`, {
      stage: 'daily',
      provider: APPLE,
      data: [{ day_summary: { calendar_date: '2026-02-01', steps_sum: 10 } }],
    })
    assert.equal((await statuses(team, user_id, 'activity'))['01'], 'stored')
  })

  test("are received if the data was outside of the user's bounds or the connection was paused", async () => {
    const team = await createTestTeam()
    const body = { client_user_id: randomUUID(), ingestion_start: '2026-01-31' }
    const { user_id } = (await team.api.post('/v2/user', body)).body
    await post(team, user_id, 'heartrate', [sampleOnDay('2026-01-28', 61), sampleOnDay('2026-01-31', 62)])
    assert.deepEqual(await statuses(team, user_id, 'heartrate', 'start_date=2026-01-28&end_date=2026-01-31'), {
      28: 'received',
      29: 'not_asked',
      30: 'not_asked',
      31: 'stored',
    })
    await asOwner(`update sandbox_us.connection set status = 'paused' where team_id = $1`, [team.team])
    await post(team, user_id, 'heartrate', [sampleOnDay('2026-02-01', 61)])
    assert.equal((await statuses(team, user_id, 'heartrate'))['01'], 'received')
  })

  test('show the last error of a pull, until data or an answer comes', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const record = (outcome: 'failed' | 'answered', start: string, end: string) =>
      team.db.tx(team.tenant, async (tx) =>
        recordDays(tx, {
          user_id,
          provider: 'oura',
          resource: 'sleep',
          outcome,
          days: { first: dayOf(Date.parse(start)), last: dayOf(Date.parse(end)) },
          ...(outcome === 'failed' && { error: { type: 'provider_unavailable', message: 'HTTP 503' } }),
        }),
      )
    await record('failed', '2026-01-31', '2026-02-01')
    const [{ provider, contact_days, resources }] = (await days(team, user_id)).data
    const [{ last_error, days: shown, resource }] = resources
    assert.deepEqual([provider, contact_days, resource], ['oura', [], 'sleep'])
    assert.deepEqual(shown[3], { date: '2026-01-31', status: 'failed', asked: true, failed: true })
    const { errored_at, ...error } = last_error
    assert.match(errored_at, /\+00:00$/)
    assert.deepEqual(error, { error_type: 'provider_unavailable', error_message: 'HTTP 503' })
    await record('answered', '2026-02-01', '2026-02-01')
    const after = await statuses(team, user_id, 'sleep')
    assert.deepEqual([after['31'], after['01']], ['failed', 'empty'])
  })

  test('show when the phone was in contact, though it sent nothing of the resource', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.post(`/v2/link/provider/manual/${APPLE}`, { user_id, granted_permissions: ['sleep'] })
    await team.api.post(`/v2/user/${user_id}/sdk_sync_state/${APPLE}`, { tzinfo: 'UTC' })
    const today = new Date().toISOString().slice(0, 10)
    const { data, start_date, end_date } = await days(team, user_id, '')
    assert.equal(Date.parse(end_date) - Date.parse(start_date), 30 * 86_400_000)
    assert(data[0].contact_days.includes(today) || end_date !== today)
    assert.deepEqual(
      data[0].resources.map(({ resource }: Shown) => resource),
      ['sleep'],
    )
    assert.deepEqual((await days(team, user_id, `${RANGE}&provider=oura`)).data, [])
  })

  test('of an unknown or deleted user, of a range that is reversed or longer than 92 days, are rejected', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const ask = async (query: string) => (await team.api.get(`/v2/introspect/days?${query}`)).status
    assert.equal(await ask(`user_id=${randomUUID()}`), 404)
    assert.equal(await ask(`user_id=${user_id}&start_date=2026-02-01&end_date=2026-01-01`), 422)
    assert.equal(await ask(`user_id=${user_id}&start_date=2026-01-01&end_date=2026-04-03`), 422)
    assert.equal(await ask(`user_id=${user_id}&start_date=2026-01-01&end_date=2026-04-02`), 200)
    assert.equal(await ask(`user_id=${user_id}&end_date=0001-01-01`), 422)
    assert.equal(await ask(`user_id=${user_id}&start_date=1899-12-31&end_date=1900-01-05`), 422)
    assert.equal(await ask(`user_id=${user_id}&end_date=1900-01-05`), 200)
    assert.equal(await ask(`user_id=${user_id}&start_date=9999-12-31&end_date=9999-12-31`), 200)
    assert.equal(await ask(''), 422)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal(await ask(`user_id=${user_id}`), 404)
  })
})
