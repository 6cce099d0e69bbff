// Limits of applications at vendors, and refreshes on request.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer, ouraActivity } from '../../../test/support/vendors/oura.ts'
import { VendorError, type VendorHttp } from '../connectors/connector.ts'
import { oura } from '../connectors/oura/oura.ts'
import { whoop } from '../connectors/whoop/whoop.ts'
import { limitedHttp, pauseAfter } from './limits.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))
let accounts = 0

const answerEmpty: VendorHttp = async () => ({ status: 200, headers: new Headers(), text: '{}' })
/** How many requests may be sent at once, and how long to wait for the next one. */
async function burst({ tenant }: TestTeam, connector: typeof whoop, isHistory = false, max = 200) {
  const http = limitedHttp(cells, tenant, connector, answerEmpty, { isHistory, patience_ms: 0 })
  for (let sent = 0; sent < max; sent++)
    try {
      await http({ method: 'GET', url: 'https://vendor.example' })
    } catch (error) {
      assert(error instanceof VendorError && error.failure === 'rate_limited')
      return { sent, wait_ms: error.retry_after_ms! }
    }
  return { sent: max, wait_ms: 0 }
}

describe('rule 19: the limit of an application', () => {
  test('allows a fifth at once and the rest evenly; history leaves half of it to notices; each team has its own', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const slow = { ...whoop, limits: [{ requests: 100, window_ms: 6_000_000 }] }
    const history = await burst(team, slow, true)
    assert.equal(history.sent, 10)
    const rest = await burst(team, slow)
    assert.equal(rest.sent, 10)
    assert(rest.wait_ms > 60_000 && rest.wait_ms <= 75_000, String(rest.wait_ms))
    assert.equal((await burst(other, slow)).sent, 20)
  })

  test('is that of several windows together', async () => {
    const team = await createTestTeam()
    const two = { ...whoop, limits: [...whoop.limits, { requests: 15, window_ms: 86_400_000 }] }
    assert.equal((await burst(team, two)).sent, 3)
  })

  test('counts for concurrent requests', async () => {
    const team = await createTestTeam()
    const slow = { ...whoop, limits: [{ requests: 50, window_ms: 6_000_000 }] }
    const found = await Promise.all([1, 2, 3, 4].map(() => burst(team, slow)))
    assert.equal(
      found.reduce((sum, { sent }) => sum + sent, 0),
      10,
    )
  })

  test('that the vendor declares used up stops all requests of the application until it says, and no other team', async () => {
    const [team, other] = [await teamAt('oura'), await teamAt('oura')]
    const [user_id, another] = [await team.user(), await other.user()]
    const account = `limited-${++accounts}`
    peer.put(account, 'daily_activity', ouraActivity(daysAgo(1), 5))
    await agree(team, 'oura', peer, user_id, account, 2)
    peer.left = 0
    await run(team, 0)
    const statuses = async ({ api }: TestTeam) =>
      Object.values((await api.get('/v2/introspect/historical_pull?provider=oura')).body.data[0].provider.oura.pulled).map(
        (pull) => pull as { status: string; error_details: string | null },
      )
    assert(
      (await statuses(team)).every(
        ({ status, error_details }) => status === 'retrying' && error_details === 'provider_rate_limit_exceeded',
      ),
    )
    peer.left = Infinity
    const asked = peer.requests.length
    assert.equal((await burst(team, oura)).sent, 0)
    assert.equal(peer.requests.length, asked)
    await agree(other, 'oura', peer, another, `${account} of another`, 2)
    await run(other, 0)
    assert((await statuses(other)).every(({ status }) => status === 'success'))
    await team.db.pool.query(`update provider_limit set blocked_until = clock_timestamp() where team_id = $1`, [team.team])
    await run(team, 3600)
    assert((await statuses(team)).every(({ status }) => status === 'success'))
  })
})

describe('a vendor that rejects every request', () => {
  for (const retry_after of ['0', '-1', 'NaN', '1e300', '9'.repeat(400), 'Wed, 31 Dec 2025 00:00:00 GMT'])
    test(`is not asked in a loop with Retry-After ${retry_after.slice(0, 30)}`, async () => {
      const team = await teamAt('oura')
      await agree(team, 'oura', peer, await team.user(), `rejected-${++accounts}`, 2)
      Object.assign(peer, { left: 0, retry_after })
      const before = peer.requests.length
      await run(team, 5)
      const asked = peer.requests.slice(before).filter(({ path }) => path.startsWith('/v2/usercollection')).length
      Object.assign(peer, { left: Infinity, retry_after: 30 })
      assert(asked > 0 && asked < 30, `${asked} requests`)
      const { rows } = await team.db.pool.query(
        `select blocked_until - clock_timestamp() <= interval '1 hour' as is_short from provider_limit where team_id = $1`,
        [team.team],
      )
      assert.deepEqual(rows, [{ is_short: true }])
    })

  test('fails after 20 rejections in a row', async () => {
    const team = await teamAt('oura')
    await agree(team, 'oura', peer, await team.user(), `rejected-${++accounts}`, 2)
    const pulls = `team_id = $1 and name = 'pulls.pull_resource'`
    await team.db.pool.query(`delete from job where ${pulls} and payload::jsonb->>'resource' <> 'heartrate'`, [team.team])
    Object.assign(peer, { left: 0, retry_after: '0' })
    const before = peer.requests.length
    for (let i = 0; i < 40 && (await team.jobs()).includes('pulls.pull_resource'); i++) {
      await team.db.pool.query(`update provider_limit set blocked_until = null where team_id = $1`, [team.team])
      await team.db.pool.query(`update job set run_at = date_trunc('second', now()), due_at = now() where ${pulls}`, [team.team])
      await run(team, 0)
    }
    const asked = peer.requests.slice(before).filter(({ path }) => path.endsWith('/heartrate')).length
    Object.assign(peer, { left: Infinity, retry_after: 30 })
    assert.equal(asked, 20)
    const { pulled } = (await team.api.get('/v2/introspect/historical_pull?provider=oura')).body.data[0].provider.oura
    const { status, error_details } = pulled.heartrate
    assert.deepEqual([status, error_details], ['failure', 'retry_quota_exhausted'])
  })

  test('is asked again after a second that doubles to an hour, or when it says, and not after 20 rejections or seven days', () => {
    const rejected = (retry_after_ms: number | null) => new VendorError('rate_limited', retry_after_ms)
    const pause = (rejections: number, retry_after_ms: number | null, now_ms = 0) =>
      pauseAfter({ rejections, rejected_ms: 0 }, rejected(retry_after_ms), now_ms)
    assert.deepEqual(
      [0, 1, 2, 11, 12, 18, 19].map((n) => pause(n, 1)),
      [1, 2, 4, 2048, 3600, 3600, undefined],
    )
    assert.deepEqual([pause(0, null), pause(0, 0), pause(0, -5), pause(0, NaN)], [60, 60, 60, 60])
    assert.deepEqual([pause(0, 90_000), pause(0, 1e300), pause(0, Infinity)], [90, 86_400, 86_400])
    assert.equal(pause(3, 1000, 7 * 86_400_000), undefined)
  })
})

describe('a refresh on request', () => {
  const refresh = ({ api }: TestTeam, user_id: string, timeout = 60) => api.post(`/v2/user/refresh/${user_id}?timeout=${timeout}`)

  test('waits for the clouds and lists refreshed and failed sources', async () => {
    const team = await teamAt('oura')
    const user_id = await team.user()
    const account = `refreshed-${++accounts}`
    await agree(team, 'oura', peer, user_id, account, 2)
    await run(team, 10)
    peer.put(account, 'daily_activity', ouraActivity(daysAgo(0), 777))
    peer.grants.narrow(account, 'heartrate')
    const answer = refresh(team, user_id)
    await eventually(async () => (await team.jobs()).includes('pulls.pull_resource'), 'the pulls are queued')
    await run(team, 0)
    const { status, body } = await answer
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      { ...body, refreshed_sources: body.refreshed_sources.toSorted() },
      {
        success: true,
        user_id,
        refreshed_sources: [
          'oura/activity',
          'oura/body',
          'oura/profile',
          'oura/sleep',
          'oura/sleep_cycle',
          'oura/vitals/blood_oxygen',
          'oura/vitals/body_temperature_delta',
          'oura/vitals/hrv',
          'oura/vitals/note',
          'oura/vitals/vo2_max',
          'oura/vitals/workout_duration',
          'oura/workout_stream',
          'oura/workouts',
        ],
        in_progress_sources: [],
        failed_sources: ['oura/vitals/heartrate'],
      },
    )
    const { activity } = (await team.api.get(`/v2/summary/activity/${user_id}?start_date=${daysAgo(1)}`)).body
    assert.deepEqual(
      activity.map(({ steps }: { steps: number }) => steps),
      [777],
    )
  })

  test('answers 202 when some have not answered in time, 400 without connections, 404 for an unknown user', async () => {
    const team = await teamAt('oura')
    const user_id = await team.user()
    const { status, body } = await refresh(team, user_id)
    assert.deepEqual([status, body.success, body.error, body.failed_sources], [400, false, 'user has no connected sources', []])
    assert.equal((await refresh(team, '01890000-0000-7000-8000-000000000001')).status, 404)
    await agree(team, 'oura', peer, user_id, `slow-${++accounts}`, 2)
    const late = await refresh(team, user_id, 5)
    assert.deepEqual([late.status, late.body.refreshed_sources, late.body.in_progress_sources.length], [202, [], 14])
    for (const timeout of [4, 61]) assert.equal((await refresh(team, user_id, timeout)).status, 422)
  })

  test('is refused with 429 the ninth time within an hour, for that user alone; phones are left out', async () => {
    const team = await createTestTeam()
    const [user_id, other] = [await team.user(), await team.user()]
    for (const id of [user_id, other]) await team.api.post('/v2/link/provider/manual/apple_health_kit', { user_id: id })
    for (let i = 0; i < 8; i++) {
      const { status, body } = await refresh(team, user_id)
      assert.deepEqual([status, body.refreshed_sources, body.failed_sources], [200, [], []])
    }
    const refused = await refresh(team, user_id)
    assert.equal(refused.status, 429)
    assert(Number(refused.headers.get('retry-after')) > 3500)
    assert.equal((await refresh(team, other)).status, 200)
  })
})
