// Notifications of vendors: who is believed, what they lead to, and polling when they stop.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import { assembleProcess, cells, client, settings, url, type TestTeam } from '../../../test/support/server.ts'
import { CLIENT } from '../../../test/support/vendors/vendor-server.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer, ouraActivity, ouraNight, ouraWorkout } from '../../../test/support/vendors/oura.ts'
import { WhoopPeer, whoopRecovery, whoopSleep, whoopWorkout } from '../../../test/support/vendors/whoop.ts'

const oura = await new OuraPeer().start()
const whoop = await new WhoopPeer().start()
oura.now_ms = whoop.now_ms = Date.now()
before(() => useVendorServer('oura', oura))
before(() => useVendorServer('whoop_v2', whoop))

let accounts = 0
async function createConnectedUser(days = 2) {
  const team = await teamAt('oura')
  const user_id = await team.user()
  const account = `notified-${++accounts}`
  await agree(team, 'oura', oura, user_id, account, days)
  await run(team, 10)
  return { team, user_id, account }
}
const anyone = client(undefined)
const webhookPath = (team: string, provider: string) => `/v2/link/webhook/sandbox-us/${team}/${provider}`
const send = (
  { team }: { team: string },
  provider: string,
  { headers, body }: { headers: Record<string, string>; body: string },
) => anyone.call('POST', webhookPath(team, provider), body, headers)
const workouts = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/summary/workouts/${user_id}?start_date=${daysAgo(9)}`)).body.workouts
const nights = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/summary/sleep/${user_id}?start_date=${daysAgo(9)}`)).body.sleep
const jobs = async (team: TestTeam) => (await team.jobs()).filter((name) => name === 'pulls.pull_resource').length

describe('a notice of Oura', () => {
  test('leads to a pull of the record that it names, and to one event', async () => {
    const { team, user_id, account } = await createConnectedUser()
    const workout = ouraWorkout(daysAgo(1))
    oura.put(account, 'workout', workout)
    const notice = oura.notice({ event_type: 'create', data_type: 'workout', object_id: workout.id, user_id: account })
    for (let i = 0; i < 3; i++) assert.equal((await send(team, 'oura', notice)).status, 200)
    assert.equal(await jobs(team), 1)
    await run(team)
    assert.deepEqual(
      (await workouts(team, user_id)).map(({ provider_id }: Record<string, string>) => provider_id),
      [workout.id],
    )
    assert.equal((await team.events()).filter((type) => type === 'daily.data.workouts.created').length, 1)
  })

  test('Oura 404 just after a notice: the record is asked for again until it can be read', async () => {
    const { team, user_id, account } = await createConnectedUser()
    const workout = ouraWorkout(daysAgo(1), { id: `late-${account}` })
    oura.put(account, 'workout', workout)
    oura.unreadable.add(workout.id)
    await send(team, 'oura', oura.notice({ event_type: 'create', data_type: 'workout', object_id: workout.id, user_id: account }))
    await run(team)
    assert.deepEqual(await workouts(team, user_id), [])
    assert.equal(await jobs(team), 1)
    oura.unreadable.delete(workout.id)
    await run(team, 60)
    assert.equal((await workouts(team, user_id)).length, 1)
  })

  test('of a record that never becomes readable leads to a pull of its days', async () => {
    const { team, user_id, account } = await createConnectedUser()
    oura.put(account, 'workout', ouraWorkout(daysAgo(1), { id: `other-${account}` }))
    await send(team, 'oura', oura.notice({ event_type: 'create', data_type: 'workout', object_id: 'never', user_id: account }))
    await run(team, 3600)
    assert.equal((await workouts(team, user_id)).length, 1)
    assert.equal(await jobs(team), 0)
  })

  test('of a deleted record deletes it, and a night that its user rejects is not stored', async () => {
    const { team, user_id, account } = await createConnectedUser()
    const [workout, night] = [
      ouraWorkout(daysAgo(1), { id: `gone-${account}` }),
      ouraNight(daysAgo(1), { id: `night-${account}` }),
    ]
    oura.put(account, 'workout', workout)
    oura.put(account, 'sleep', night)
    const tell = async (data_type: string, event_type: string, object_id: string) => {
      await send(team, 'oura', oura.notice({ event_type, data_type, object_id, user_id: account }))
      await run(team)
    }
    await tell('workout', 'create', workout.id)
    await tell('sleep', 'create', night.id)
    assert.deepEqual([(await workouts(team, user_id)).length, (await nights(team, user_id)).length], [1, 1])
    await tell('workout', 'delete', workout.id)
    oura.put(account, 'sleep', { ...night, type: 'deleted' })
    await tell('sleep', 'update', night.id)
    assert.deepEqual([await workouts(team, user_id), await nights(team, user_id)], [[], []])
  })

  test('Oura secret case: the signature may be in upper or lower case, the secret may not; an unsigned notice is refused', async () => {
    const { team, account } = await createConnectedUser()
    const of = { event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account }
    const good = oura.notice(of)
    const signature = good.headers['x-oura-signature']
    const lower = { ...good, headers: { ...good.headers, 'x-oura-signature': signature.toLowerCase() } }
    assert.equal((await send(team, 'oura', lower)).status, 200)
    const { 'x-oura-signature': _, ...unsigned } = good.headers
    const { 'x-oura-timestamp': __, ...untimed } = good.headers
    const refused = [
      oura.notice(of, CLIENT.client_secret.toUpperCase()),
      oura.notice(of, ''),
      { ...good, headers: unsigned as Record<string, string> },
      { ...good, headers: untimed as Record<string, string> },
      { ...good, headers: { ...good.headers, 'x-oura-signature': '' } },
      { ...good, body: good.body.replace(account, 'another') },
    ]
    for (const notice of refused) assert.equal((await send(team, 'oura', notice)).status, 401, JSON.stringify(notice.headers))
  })

  test('is refused for a team without a secret, another provider, another cell and an unknown team, and changes nothing', async () => {
    const { team, account } = await createConnectedUser()
    const notice = oura.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account })
    const bare = await teamAt('whoop_v2')
    assert.equal((await send(bare, 'oura', notice)).status, 404)
    assert.equal((await send(team, 'strava', notice)).status, 404)
    assert.equal((await send({ team: randomUUID() }, 'oura', notice)).status, 404)
    for (const cell of ['sandbox-xx', '__proto__', 'production-eu'])
      assert.equal(
        (await anyone.call('POST', `/v2/link/webhook/${cell}/${team.team}/oura`, notice.body, notice.headers)).status,
        404,
      )
    assert.equal(await jobs(team), 0)
  })

  test('with objects where texts are expected is taken, and leads to nothing', async () => {
    const { team, account } = await createConnectedUser()
    const odd = { toString: 1 }
    for (const field of ['event_type', 'data_type', 'object_id', 'user_id', 'event_time']) {
      const of = { event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account, [field]: odd }
      assert.equal((await send(team, 'oura', oura.notice(of))).status, 200, field)
    }
    const other = await teamAt('whoop_v2')
    assert.equal((await send(other, 'whoop_v2', whoop.notice(odd as never, 'x'))).status, 200)
    assert.equal((await send(other, 'whoop_v2', whoop.notice('sleep.updated', odd))).status, 200)
  })

  test('about a user of another team changes nothing', async () => {
    const [one, two] = [await createConnectedUser(), await createConnectedUser()]
    await send(
      one.team,
      'oura',
      oura.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: two.account }),
    )
    assert.deepEqual([await jobs(one.team), await jobs(two.team)], [0, 0])
  })

  test('is ignored if it is not JSON, and may name anything', async () => {
    const { team, account } = await createConnectedUser()
    const signed = (body: string) => {
      const { headers } = oura.notice({})
      return { headers, body }
    }
    assert.equal((await send(team, 'oura', signed('{}'))).status, 401)
    for (const data_type of ['__proto__', 'constructor', 'tag', 7])
      assert.equal(
        (await send(team, 'oura', oura.notice({ event_type: 'create', data_type, object_id: 'x', user_id: account }))).status,
        200,
      )
    assert.equal(await jobs(team), 0)
  })
})

describe('wrongly signed notices', () => {
  test('of one team keep out neither signed notices, nor notices of other teams, nor consents from the same address', async () => {
    const { app, operations } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 3 }, publicUrl: () => url })
    after(() => app.close())
    const { run: receive } = operations.find(({ id }) => id === 'receive_provider_notification')!
    const { run: exchange } = operations.find(({ id }) => id === 'exchange_token')!
    const address = '192.0.2.9'
    const status = async (call: () => unknown): Promise<number> => {
      try {
        return ((await call()) as { status?: number }).status ?? 200
      } catch (error) {
        if (error instanceof Problem) return error.status
        throw error
      }
    }
    const send = (team_id: string, { headers, body }: { headers: Record<string, string>; body: string }) =>
      status(() =>
        receive(
          { tenant: undefined as never, cells, address, headers, query: {}, body: Buffer.from(body) } as never,
          { params: { cell: 'sandbox-us', team_id, provider: 'oura' } } as never,
        ),
      )
    const [one, two] = [await createConnectedUser(), await createConnectedUser()]
    const notice = ({ account }: { account: string }, secret?: string) =>
      oura.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account }, secret)
    const wrong: number[] = []
    for (let i = 0; i < 40; i++) wrong.push(await send(one.team.team, notice(one, 'another')))
    assert.deepEqual([...new Set(wrong)], [401, 429])
    for (let i = 0; i < 40; i++) assert.equal(await send(randomUUID(), notice(one)), 404)
    assert.equal(await send(one.team.team, notice(one)), 200)
    assert.equal(await send(two.team.team, notice(two)), 200)
    assert.equal(await send(two.team.team, notice(two, 'another')), 401)
    const form = { body: { grant_type: 'refresh_token', refresh_token: 'rt_x' } }
    assert.equal(await status(() => exchange({ tenant: undefined as never, cells, address } as never, form as never)), 401)
  })

  test('that are longer than 256 kB are not read', async () => {
    const { team, account } = await createConnectedUser()
    const long = oura.notice({
      event_type: 'update',
      data_type: 'daily_activity',
      object_id: 'x'.repeat(300_000),
      user_id: account,
    })
    assert.equal((await send(team, 'oura', long)).status, 413)
  })
})

describe('subscriptions at Oura', () => {
  test('are made once for the application, with a handshake that only this server can answer', async () => {
    const { team, user_id } = await createConnectedUser()
    const own = oura.subscriptions.filter(({ callback_url }) => callback_url?.endsWith(`${team.team}/oura`))
    assert.equal(own.length, 16)
    assert.equal(own[0]!.callback_url, url + webhookPath(team.team, 'oura'))
    const { verification_token = '' } = own[0]!
    const ask = (token: string) =>
      anyone.get(`${webhookPath(team.team, 'oura')}?verification_token=${encodeURIComponent(token)}&challenge=abc`)
    assert.deepEqual((await ask(verification_token)).body, { challenge: 'abc' })
    for (const wrong of ['', 'wrong', verification_token.toUpperCase()]) assert.equal((await ask(wrong)).status, 401)
    await agree(team, 'oura', oura, await team.user(), `second of ${user_id}`)
    await run(team)
    assert.equal(oura.subscriptions.filter(({ callback_url }) => callback_url?.endsWith(`${team.team}/oura`)).length, 16)
  })
})

describe('rule 17: a connection', () => {
  test('that was notified of is not polled, and one that was not is', async () => {
    const { team, account } = await createConnectedUser()
    const polled = async () =>
      (await team.db.pool.query('select notified_at, polled_at from provider_watermark where team_id = $1', [team.team])).rows[0]
    oura.put(account, 'daily_activity', ouraActivity(daysAgo(1), 987))
    await send(team, 'oura', oura.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account }))
    await run(team)
    assert.notEqual((await polled()).notified_at, null)
    await team.db.pool.query(`update provider_watermark set notified_at = notified_at + interval '3 hours' where team_id = $1`, [
      team.team,
    ])
    await run(team, 6 * 3600 + 60)
    assert.equal((await polled()).polled_at, null)
    oura.put(account, 'daily_activity', ouraActivity(daysAgo(0), 1234))
    await run(team, 12 * 3600 + 120)
    assert.notEqual((await polled()).polled_at, null)
  })
})

describe('a connection that waits for its next poll', () => {
  test('is not kept from it by a notification that is sent again and brings nothing new', async () => {
    const { team, account } = await createConnectedUser()
    oura.put(account, 'daily_activity', ouraActivity(daysAgo(1), 654))
    const notice = oura.notice({ event_type: 'update', data_type: 'daily_activity', object_id: 'x', user_id: account })
    await send(team, 'oura', notice)
    await run(team)
    const shift = `update provider_watermark set notified_at = notified_at - interval '3 hours' where team_id = $1 returning notified_at`
    const [{ notified_at }] = (await team.db.pool.query(shift, [team.team])).rows
    assert.notEqual(notified_at, null)
    await send(team, 'oura', notice)
    await run(team)
    const { rows } = await team.db.pool.query('select notified_at from provider_watermark where team_id = $1', [team.team])
    assert.deepEqual(rows, [{ notified_at }])
  })

  test('leaves the days of a history that is asked for to the history, for a day at most', async () => {
    const team = await teamAt('oura')
    await agree(team, 'oura', oura, await team.user(), `waiting-${++accounts}`, 2)
    // The history waits for the limits of the application, for example.
    await team.db.pool.query(`delete from job where team_id = $1 and name = 'pulls.pull_resource'`, [team.team])
    const poll = async () => {
      await team.db.pool.query(
        `update job set run_at = date_trunc('second', now()), due_at = now() where team_id = $1 and name = 'pulls.poll'`,
        [team.team],
      )
      const before = oura.requests.length
      await run(team)
      return oura.requests.slice(before).filter(({ path }) => path.startsWith('/v2/usercollection')).length
    }
    assert.equal(await poll(), 0)
    await team.db.pool.query(`update historical_pull set scheduled_at = scheduled_at - interval '25 hours' where team_id = $1`, [
      team.team,
    ])
    assert.notEqual(await poll(), 0)
  })
})

describe('a notice of WHOOP', () => {
  test('has ids alone: the night is pulled with its recovery, replaced when it is scored again, and deleted', async () => {
    const team = await teamAt('whoop_v2')
    const user_id = await team.user()
    await agree(team, 'whoop_v2', whoop, user_id, '10129', 2)
    await run(team)
    const [id, start, end] = [randomUUID(), `${daysAgo(1)}T04:00:00.000Z`, `${daysAgo(1)}T12:00:00.000Z`]
    whoop.put('activity/sleep', whoopSleep(id, 501, start, end))
    await send(team, 'whoop_v2', whoop.notice('sleep.updated', id))
    await run(team)
    // Rule 13: the recovery is of the session, and another one replaces it.
    for (const score of [44, 71]) {
      whoop.put('recovery', whoopRecovery(id, 501, start, score))
      await send(team, 'whoop_v2', whoop.notice('recovery.updated', id))
      await run(team)
      assert.deepEqual(
        (await nights(team, user_id)).map((night: Record<string, unknown>) => [night.recovery_readiness_score, night.score]),
        [[score, 92]],
      )
    }
    whoop.remove('activity/sleep', id)
    await send(team, 'whoop_v2', whoop.notice('sleep.deleted', id))
    await run(team)
    assert.deepEqual(await nights(team, user_id), [])
  })

  test('is refused with the signature of another secret', async () => {
    const team = await teamAt('whoop_v2')
    const id = randomUUID()
    whoop.put('activity/workout', whoopWorkout(id, `${daysAgo(1)}T04:00:00.000Z`, `${daysAgo(1)}T05:00:00.000Z`))
    assert.equal((await send(team, 'whoop_v2', whoop.notice('workout.updated', id, 'another'))).status, 401)
    assert.equal((await send(team, 'whoop_v2', whoop.notice('workout.updated', id, ''))).status, 401)
    assert.equal((await anyone.get(webhookPath(team.team, 'whoop_v2'))).status, 401)
  })
})
