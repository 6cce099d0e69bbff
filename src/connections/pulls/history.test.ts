// Histories from the cloud of a vendor: what is asked for when a user connects, and again; late and corrected data; outages.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer, ouraActivity, ouraNight, ouraScore, ouraWorkout } from '../../../test/support/vendors/oura.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import type { PullPayload } from './pull-jobs.ts'
import { createWindows } from './pull-resource.ts'
import { oura } from '../connectors/oura/oura.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))

let accounts = 0
/** A user who has connected an account of their own. */
async function createConnectedUser(days = 5, fill: (account: string) => void = () => {}) {
  const team = await teamAt('oura')
  const user_id = await team.user()
  const account = `oura-${++accounts}`
  fill(account)
  await agree(team, 'oura', peer, user_id, account, days)
  return { team, user_id, account }
}
const countPulls = async ({ api }: TestTeam) =>
  (await api.get('/v2/introspect/historical_pull?provider=oura')).body.data[0].provider.oura.pulled
const activity = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/summary/activity/${user_id}?start_date=${daysAgo(30)}`)).body.activity
const listAskedWindows = (account: string, path: string) => {
  const token = peer.grants.tokenOf(account)
  return peer.requestsTo(`/v2/usercollection/${path}`).filter(({ headers }) => headers.authorization === `Bearer ${token}`)
}

describe('the history of a newly connected user', () => {
  test('is scheduled, pulled with today, stored and reported as complete', async () => {
    const { team, user_id } = await createConnectedUser(5, (account) => {
      for (const day of [0, 1, 2]) peer.put(account, 'daily_activity', ouraActivity(daysAgo(day), 5000 + day))
      peer.put(account, 'sleep', ouraNight(daysAgo(1)))
      peer.put(account, 'daily_sleep', ouraScore(daysAgo(1), 88))
      peer.put(account, 'workout', ouraWorkout(daysAgo(2)))
    })
    const scheduled = await countPulls(team)
    assert.deepEqual([scheduled.activity.status, scheduled.sleep_cycle.status], ['scheduled', 'scheduled'])
    await run(team, 0)
    const done = await countPulls(team)
    assert.deepEqual(new Set(Object.values(done).map((outcome) => (outcome as { status: string }).status)), new Set(['success']))
    assert.deepEqual(Object.keys(done).toSorted(), oura.resources.toSorted())
    // Rule 18: Oura leaves the last day of a range out.
    assert.deepEqual(
      (await activity(team, user_id)).map(({ calendar_date, steps }: Record<string, unknown>) => [calendar_date, steps]),
      [2, 1, 0].map((day) => [daysAgo(day), 5000 + day]),
    )
    const { sleep } = (await team.api.get(`/v2/summary/sleep/${user_id}?start_date=${daysAgo(5)}`)).body
    assert.deepEqual(
      sleep.map((night: Record<string, unknown>) => [night.calendar_date, night.score, night.duration, night.total]),
      [[daysAgo(1), 88, 30_600, 28_800]],
    )
    const types = await team.events()
    for (const resource of oura.resources) assert(types.includes(`historical.data.${resource}.created`), resource)
  })

  test('rule 16: only gaps are asked for when the user connects again, and the same data emits nothing', async () => {
    const { team, user_id, account } = await createConnectedUser(5, (peerAccount) =>
      peer.put(peerAccount, 'daily_activity', ouraActivity(daysAgo(1), 7000)),
    )
    await run(team, 0)
    await team.db.pool.query(`update connection set status = 'paused' where team_id = $1`, [team.team])
    const before = await team.events()
    await agree(team, 'oura', peer, user_id, account, 8)
    await run(team, 0)
    const ranges = listAskedWindows(account, 'daily_activity').map(({ query }) => [
      query.get('start_date'),
      query.get('end_date'),
    ])
    // Three days more than before, with a day of overlap; what was asked for is not asked for again.
    const isGap = ([from, to]: (string | null)[]) => from === daysAgo(9) && to === daysAgo(3)
    assert.equal(ranges.filter(isGap).length, 1, JSON.stringify(ranges))
    // Polling asks for the last days at the same time.
    assert(
      ranges.every((range) => isGap(range) || range[0]! >= daysAgo(1)),
      JSON.stringify(ranges),
    )
    const later = (await team.events()).slice(before.length)
    assert.deepEqual(
      later.filter((type) => type.startsWith('daily.')),
      [],
    )
  })

  test('is reported again when a connected user consents again, and the vendor is asked for the last days alone', async () => {
    const { team, user_id, account } = await createConnectedUser(5, (peerAccount) =>
      peer.put(peerAccount, 'daily_activity', ouraActivity(daysAgo(1), 7000)),
    )
    await run(team, 0)
    const before = await team.events()
    await agree(team, 'oura', peer, user_id, account, 5)
    assert.equal((await countPulls(team)).sleep_cycle.status, 'scheduled')
    await run(team, 0)
    assert(listAskedWindows(account, 'daily_activity').every(({ query }) => query.get('start_date')! >= daysAgo(1)))
    const later = (await team.events()).slice(before.length).toSorted()
    const notices = oura.resources.map((resource) => `historical.data.${resource}.created`)
    assert.deepEqual(later, [...notices, 'provider.connection.created'].toSorted())
    assert.equal((await countPulls(team)).sleep_cycle.status, 'success')
  })

  test('is clipped to the bounds of ingestion of the user', async () => {
    const team = await teamAt('oura')
    const user_id = await team.user()
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: daysAgo(2) })
    peer.put('clipped', 'daily_activity', ouraActivity(daysAgo(6), 1), ouraActivity(daysAgo(1), 2))
    await agree(team, 'oura', peer, user_id, 'clipped', 10)
    await run(team, 0)
    assert.deepEqual(
      (await activity(team, user_id)).map(({ steps }: Record<string, unknown>) => steps),
      [2],
    )
    assert.equal((await countPulls(team)).activity.range_start.slice(0, 10), daysAgo(3))
  })

  test('rule 18: is cut into requests that the vendor allows, newest first, half-open with a day of overlap', () => {
    const [from, to] = [Date.parse('2026-01-01'), Date.parse('2026-03-01')]
    const windows = createWindows([{ from_ms: from, to_ms: to }], { ...oura, days_per_request: 30 }, to)
    const shown = windows.map(({ requestRange: range }) =>
      [range.from_ms, range.to_ms].map((ms) => new Date(ms).toISOString().slice(0, 10)),
    )
    assert.deepEqual(shown, [
      ['2026-01-31', '2026-03-02'],
      ['2026-01-01', '2026-01-31'],
      ['2025-12-31', '2026-01-01'],
    ])
    const covered = windows.map((window) => window.recordedRange).filter((range) => range.from_ms < range.to_ms)
    assert.deepEqual([covered.at(-1)!.from_ms, covered[0]!.to_ms], [from, to])
  })
})

describe('late and corrected data', () => {
  test('a poll finds a day that came late and emits one update for a corrected one', async () => {
    const { team, user_id, account } = await createConnectedUser(5, (peerAccount) =>
      peer.put(peerAccount, 'daily_activity', ouraActivity(daysAgo(1), 100)),
    )
    await run(team, 0)
    const before = await team.events()
    peer.put(account, 'daily_activity', ouraActivity(daysAgo(1), 150), ouraActivity(daysAgo(2), 90))
    // Rule 17: nobody has notified for hours, so the connection is polled.
    await run(team, 6 * 3600 + 60)
    assert.deepEqual(
      (await activity(team, user_id)).map(({ steps }: Record<string, unknown>) => steps),
      [90, 150],
    )
    const later = (await team.events()).slice(before.length)
    assert.deepEqual(later.toSorted(), ['daily.data.activity.created', 'daily.data.activity.updated'])
  })
})

describe('a piece of a night and the whole night under another id', () => {
  const night = (id: string, start: string, end: string, overrides: object = {}) =>
    ouraNight(daysAgo(1), {
      id,
      bedtime_start: `${daysAgo(1)}T${start}:00.000+00:00`,
      bedtime_end: `${daysAgo(1)}T${end}:00.000+00:00`,
      ...overrides,
    })
  const nights = async ({ api }: TestTeam, user_id: string) => {
    const of = async (kind: string) => (await api.get(`/v2/summary/${kind}/${user_id}?start_date=${daysAgo(5)}`)).body[kind]
    const [sleep, stages] = [await of('sleep'), await of('sleep_cycle')]
    assert.deepEqual(
      stages.map(({ sleep_id }: { sleep_id: string }) => sleep_id).toSorted(),
      sleep.map(({ id }: { id: string }) => id).toSorted(),
    )
    return sleep.map(({ bedtime_start, bedtime_stop }: Record<string, string>) =>
      [bedtime_start, bedtime_stop].map((text) => text!.slice(11, 16)).join('-'),
    )
  }

  test('are one night, the longer one, whichever comes first', async () => {
    const { team, user_id, account } = await createConnectedUser(5, (peerAccount) =>
      peer.put(peerAccount, 'sleep', night('piece', '01:00', '03:00'), night('nap', '14:00', '14:40', { type: 'late_nap' })),
    )
    await run(team, 0)
    assert.deepEqual((await nights(team, user_id)).toSorted(), ['01:00-03:00', '14:00-14:40'])
    peer.put(account, 'sleep', night('whole', '01:00', '07:00'), night('other', '02:00', '05:00'))
    await run(team, 6 * 3600 + 60)
    assert.deepEqual((await nights(team, user_id)).toSorted(), ['01:00-07:00', '14:00-14:40'])
    const before = await team.events()
    await run(team, 6 * 3600 + 60)
    assert.deepEqual((await nights(team, user_id)).toSorted(), ['01:00-07:00', '14:00-14:40'])
    assert.deepEqual(await team.events(), before)
  })

  test('that overlap without one being in the other stay two', async () => {
    const { team, user_id } = await createConnectedUser(5, (peerAccount) =>
      peer.put(peerAccount, 'sleep', night('first', '01:00', '04:00'), night('second', '03:00', '07:00')),
    )
    await run(team, 0)
    assert.deepEqual((await nights(team, user_id)).toSorted(), ['01:00-04:00', '03:00-07:00'])
  })
})

describe('an outage of the vendor', () => {
  test('is retried, shown meanwhile, and fails after its last attempt; another team is not affected', async () => {
    const { team } = await createConnectedUser(2)
    peer.fail(...Array<'outage'>(60).fill('outage'))
    await run(team, 0)
    const { activity: first } = await countPulls(team)
    assert.deepEqual([first.status, first.error_details], ['retrying', 'provider_unavailable'])
    await team.db.pool.query(
      `update job set payload = jsonb_set(payload::jsonb, '{attempt}', '11')::text where team_id = $1 and name = 'pulls.pull_resource'`,
      [team.team],
    )
    peer.fail(...Array<'outage'>(60).fill('outage'))
    await run(team, 3600)
    const { activity: last } = await countPulls(team)
    assert.deepEqual([last.status, last.error_details], ['failure', 'retry_quota_exhausted'])
    peer.recover()
    const other = await createConnectedUser(2)
    await run(other.team, 0)
    assert.equal((await countPulls(other.team)).activity.status, 'success')
  })

  test('that ends is followed by the rest of the history', async () => {
    const { team, user_id } = await createConnectedUser(2, (peerAccount) =>
      peer.put(peerAccount, 'daily_activity', ouraActivity(daysAgo(1), 42)),
    )
    peer.fail('outage', 'garbage', 'lost')
    await run(team, 0)
    await run(team, 3600)
    peer.recover()
    assert.equal((await countPulls(team)).activity.status, 'success')
    assert.equal((await activity(team, user_id))[0].steps, 42)
  })
})

test('a job of a connection that has ended asks for nothing', async () => {
  const { team, user_id, account } = await createConnectedUser(2)
  const { rows } = await team.db.pool.query<{ payload: string }>(
    `select payload from job where team_id = $1 and name = 'pulls.pull_resource' limit 1`,
    [team.team],
  )
  assert.equal((JSON.parse(rows[0]!.payload) as PullPayload).user_id, user_id)
  await team.api.delete(`/v2/user/${user_id}/oura`)
  const before = peer.requests.length
  await run(team, 0)
  assert.deepEqual(
    peer.requests.slice(before).map(({ path }) => path),
    ['/oauth/revoke'],
  )
  assert.equal(peer.grants.isGranted(account), false)
})

test('the weight of an account belongs to the day on which it was first seen, and a changed one is a further record', async () => {
  const { team, user_id } = await createConnectedUser(70)
  const weights = async () => {
    const { body } = (await team.api.get(`/v2/summary/body/${user_id}?start_date=${daysAgo(5)}&end_date=${daysAgo(-5)}`)).body
    return (body as { calendar_date: string; weight: number }[]).map(({ calendar_date, weight }) => [calendar_date, weight])
  }
  const refreshed = async () => {
    const answer = team.api.post(`/v2/user/refresh/${user_id}?timeout=60`)
    await eventually(async () => (await team.jobs()).includes('pulls.pull_resource'), 'the pulls are queued')
    await run(team)
    assert.equal((await answer).status, 200)
  }
  // Asked for once for each part of the history.
  await run(team)
  const [first] = await weights()
  assert.deepEqual(await weights(), [[first![0], 70.5]])
  await advanceClock(team, 86_400)
  await refreshed()
  assert.deepEqual(await weights(), [first])
  peer.weight = 71
  await refreshed()
  const [before, second, ...none] = await weights()
  assert.deepEqual([before, second![1], none], [first, 71, []])
  assert(second![0]! > first![0]!, String(second))
  assert.equal((await team.events()).filter((type) => type.startsWith('daily.data.body.')).length, 2)
})
