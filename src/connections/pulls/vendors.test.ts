// Each vendor through the whole server: a user agrees, the history comes, a notification brings what is new, tokens are refreshed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OAuthProvider } from '../../people/users/sources.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { url, type TestTeam } from '../../../test/support/server.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { DexcomPeer } from '../../../test/support/vendors/dexcom.ts'
import { GoogleHealthPeer } from '../../../test/support/vendors/google-health.ts'
import { PolarPeer } from '../../../test/support/vendors/polar.ts'
import { StravaPeer } from '../../../test/support/vendors/strava.ts'
import { WithingsPeer } from '../../../test/support/vendors/withings.ts'

const noon = (days: number) => `${daysAgo(days)}T12:00:00Z`
const seconds = (text: string) => Date.parse(text) / 1000
/** A vendor sends to an address. */
const notify = async (address: string, body: string, headers: Record<string, string>) => {
  const { pathname, search } = new URL(address, 'http://here')
  return (await fetch(url + pathname + search, { method: 'POST', body, headers })).status
}
const summaries = async ({ api }: TestTeam, user_id: string, kind: string) =>
  (await api.get(`/v2/summary/${kind}/${user_id}?start_date=${daysAgo(30)}`)).body[kind] as Record<string, unknown>[]
const values = async ({ api }: TestTeam, user_id: string, name: string, provider: string) => {
  const { groups } = (await api.get(`/v2/timeseries/${user_id}/${name}/grouped?start_date=${daysAgo(30)}`)).body
  return ((groups[provider] ?? []) as { data: { value: number }[] }[]).flatMap(({ data }) => data.map(({ value }) => value))
}
/** Asks for the last day again, as with an expired access token. */
async function refreshGrant(team: TestTeam, provider: OAuthProvider, user_id: string, token_requests: () => number) {
  await team.db.pool.query('update provider_grant set expires_at = now() where team_id = $1', [team.team])
  const before = token_requests()
  const answer = team.api.post(`/v2/user/refresh/${user_id}?timeout=60`)
  await eventually(async () => (await team.jobs()).includes('pulls.pull_resource'), 'the pulls are queued')
  await run(team)
  const { status, body } = await answer
  assert.equal(status, 200)
  assert(token_requests() > before, 'the tokens were refreshed')
  const { providers } = (await team.api.get(`/v2/user/providers/${user_id}`)).body
  assert.deepEqual(
    providers.map(({ slug, status }: Record<string, string>) => [slug, status]),
    [[provider, 'connected']],
  )
  return body.refreshed_sources as string[]
}

describe('a user who connects', () => {
  test('Withings has a history, is subscribed for by the server, and a notification brings the next measurement', async () => {
    const peer = await new WithingsPeer().start()
    peer.now_ms = Date.now()
    useVendorServer('withings', peer)
    const weigh = (grpid: number, date: string, value: number) =>
      peer.store('363').measuregrps.push({
        grpid,
        attrib: 0,
        date: seconds(date),
        created: seconds(date),
        modified: seconds(date),
        category: 1,
        measures: [{ type: 1, value, unit: -1 }],
      })
    weigh(1, noon(2), 701)
    const [start, end] = [seconds(`${daysAgo(2)}T22:00:00Z`), seconds(`${daysAgo(1)}T05:00:00Z`)]
    peer.store('363').nights.push({
      id: 21,
      timezone: 'UTC',
      model: 16,
      startdate: start,
      enddate: end,
      date: daysAgo(1),
      data: { lightsleepduration: 20_000, remsleepduration: 0, deepsleepduration: 0 },
    })
    peer.store('363').stages.push({ startdate: start, enddate: end, state: 1 })
    const team = await teamAt('withings')
    const user_id = await team.user()
    await agree(team, 'withings', peer, user_id, '363')
    await run(team)
    assert.deepEqual(await values(team, user_id, 'body_weight', 'withings'), [70.1])
    const [night] = await summaries(team, user_id, 'sleep')
    const [stages] = await summaries(team, user_id, 'sleep_cycle')
    assert.equal(stages!.sleep_id, night!.id)
    const { callbackurl } = peer.subscriptions.find(({ appli }) => appli === 1)!
    weigh(2, noon(1), 702)
    const form = new URLSearchParams({
      userid: '363',
      appli: '1',
      startdate: String(seconds(noon(1))),
      enddate: String(seconds(noon(1))),
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    assert.equal(await notify(callbackurl.split('?')[0]!, form.toString(), headers), 401)
    const { pathname, search } = new URL(callbackurl)
    assert.equal((await fetch(url + pathname + search, { method: 'HEAD' })).status, 200)
    assert.equal(await notify(callbackurl, form.toString(), headers), 200)
    await run(team)
    assert.deepEqual(await values(team, user_id, 'body_weight', 'withings'), [70.1, 70.2])
    const sources = await refreshGrant(team, 'withings', user_id, () => peer.requestsTo('/v2/oauth2').length)
    for (const name of ['body', 'sleep', 'vitals/blood_pressure', 'vitals/weight', 'vitals/hrv'])
      assert(sources.includes(`withings/${name}`), `${name} of ${sources.join()}`)
  })

  test('Strava has a history, is subscribed for by the server, and a notification brings the next activity', async () => {
    const peer = await new StravaPeer().start()
    peer.now_ms = Date.now()
    useVendorServer('strava', peer)
    const run_of = (id: number, days: number) =>
      peer.activities.push({
        id,
        athlete: { id: 134_815 },
        name: 'A fictional run',
        sport_type: 'Run',
        start_date: noon(days),
        start_date_local: noon(days),
        timezone: '(GMT+00:00) UTC',
        elapsed_time: 1800,
        calories: 410,
      })
    run_of(1, 2)
    const team = await teamAt('strava')
    const user_id = await team.user()
    await agree(team, 'strava', peer, user_id, '134815')
    await run(team)
    assert.deepEqual(
      (await summaries(team, user_id, 'workouts')).map(({ provider_id }) => provider_id),
      ['1'],
    )
    const [subscription] = peer.subscriptions
    run_of(2, 1)
    const { body, headers } = peer.event({ object_type: 'activity', object_id: 2, owner_id: 134_815 })
    assert.equal(await notify(subscription!.callback_url.split('?')[0]!, body, headers), 401)
    assert.equal(await notify(subscription!.callback_url, body, headers), 200)
    await run(team)
    assert.deepEqual(
      (await summaries(team, user_id, 'workouts')).map(({ provider_id }) => provider_id),
      ['1', '2'],
    )
    await refreshGrant(team, 'strava', user_id, () => peer.requestsTo('/oauth/token').length)
  })

  test('Google Health has a history, and a signed notification brings the next steps', async () => {
    const peer = await new GoogleHealthPeer().start()
    peer.now_ms = Date.now()
    peer.left = 10_000
    useVendorServer('google_health', peer)
    const walk = (days: number, count: string) => {
      const interval = {
        startTime: noon(days),
        startUtcOffset: '0s',
        endTime: noon(days).replace(':00Z', ':30Z'),
        endUtcOffset: '0s',
      }
      peer.points.set('steps', [...(peer.points.get('steps') ?? []), { steps: { count, interval } }])
    }
    walk(2, '44')
    const team = await teamAt('google_health')
    const user_id = await team.user()
    await agree(team, 'google_health', peer, user_id, peer.health_user_id)
    await run(team)
    assert.deepEqual(await values(team, user_id, 'steps', 'google_health'), [44])
    walk(1, '55')
    const about = { team_id: team.team, provider: 'google_health' }
    const { preparation_steps } = (await team.manage.post('/prepare_team_custom_credentials/sandbox/us', about)).body
    const step = preparation_steps.find(({ type }: Record<string, string>) => type === 'webhook_uri')
    const address: string = step.value
    const secret: string = step.description.split(': ').at(-1)
    const json = { 'content-type': 'application/json' }
    const probe = '{"type":"verification"}'
    assert.equal(await notify(address, probe, { ...json, authorization: secret }), 201)
    assert.equal(await notify(address, probe, json), 401)
    const forged = peer.notification('steps', noon(1), noon(1), secret)
    assert.equal(await notify(address, forged.body.replace('steps', 'sleep'), forged.headers), 401)
    const { body, headers } = peer.notification('steps', noon(1), noon(1), secret)
    assert.equal(await notify(address, body, headers), 200)
    await run(team)
    assert.deepEqual(await values(team, user_id, 'steps', 'google_health'), [44, 55])
    await refreshGrant(team, 'google_health', user_id, () => peer.requestsTo('/token').length)

    // The vendor has other keys and does not answer: it is asked once, and the sender tries again.
    peer.rotate()
    await advanceClock(team, 120)
    peer.fail('lost', 'lost')
    const later = peer.notification('steps', noon(1), noon(1), secret)
    const asked = peer.requests.length
    for (let i = 0; i < 3; i++) assert.equal(await notify(address, later.body, later.headers), 503)
    assert.equal(peer.requests.length, asked + 1)
    peer.recover()
    await advanceClock(team, 120)
    assert.equal(await notify(address, later.body, later.headers), 200)
  })

  test('Polar has a history, a webhook that the server makes, and its signed events bring the next session', async () => {
    const peer = await new PolarPeer().start()
    peer.now_ms = Date.now()
    useVendorServer('polar', peer)
    const sessions: Record<string, unknown>[] = []
    peer.storedValues.set('training-sessions/list', sessions)
    const train = (id: string, days: number) =>
      sessions.push({
        identifier: { id },
        startTime: `${daysAgo(days)}T12:00:00`,
        timezoneOffsetMinutes: 0,
        durationMillis: 1_800_000,
      })
    train('first', 2)
    const team = await teamAt('polar')
    const user_id = await team.user()
    await agree(team, 'polar', peer, user_id, peer.user)
    await run(team)
    assert.deepEqual(
      (await summaries(team, user_id, 'workouts')).map(({ provider_id }) => provider_id),
      ['first'],
    )
    const address = `/v2/link/webhook/${team.cell}/${team.team}/polar`
    const { info, secret } = peer.createdWebhook!
    assert.deepEqual([new URL(info.url).pathname, info.events.includes('EXERCISE')], [address, true])
    const { credentials } = (await team.manage.get('/team_custom_credentials/sandbox/us')).body
    assert.deepEqual(credentials[0].details, { webhook_secret: '********' })
    train('second', 1)
    const event = { event: 'EXERCISE', user_id: Number(peer.user), timestamp: noon(1) }
    const forged = peer.webhook(event, 'another-key')
    assert.equal(await notify(address, forged.body, forged.headers), 401)
    const sent = peer.webhook(event, secret)
    assert.equal(await notify(address, sent.body, sent.headers), 200)
    await run(team)
    assert.deepEqual(
      (await summaries(team, user_id, 'workouts')).map(({ provider_id }) => provider_id),
      ['first', 'second'],
    )
    await refreshGrant(team, 'polar', user_id, () => peer.requestsTo('/oauth/token').length)
  })

  test('Dexcom has a history, and is asked again without notifications', async () => {
    const peer = await new DexcomPeer().start()
    peer.now_ms = Date.now()
    useVendorServer('dexcom_v3', peer)
    const measure = (time: string, value: number) =>
      peer.values.push({ recordId: time, systemTime: time, displayTime: time, value })
    measure(noon(2), 180.182)
    const team = await teamAt('dexcom_v3')
    const user_id = await team.user()
    await agree(team, 'dexcom_v3', peer, user_id, peer.user)
    await run(team)
    assert.deepEqual(await values(team, user_id, 'glucose', 'dexcom_v3'), [10])
    measure(noon(1), 90.091)
    await refreshGrant(team, 'dexcom_v3', user_id, () => peer.requestsTo('/v3/oauth2/token').length)
    assert.deepEqual(await values(team, user_id, 'glucose', 'dexcom_v3'), [10, 5])
  })
})
