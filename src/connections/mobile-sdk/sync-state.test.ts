// What phones ask before they synchronize, announce and report. Source: users-wearables.md 4 C4, 16.3, 16.7.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sentSample, DAY, post } from '../../../test/support/samples.ts'
import { postSummary } from '../../../test/support/summaries.ts'
import { asOwner, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'

const APPLE = 'apple_health_kit'
const ask = ({ api }: TestTeam, user_id: string, body: object = {}, provider = APPLE) =>
  api.post(`/v2/user/${user_id}/sdk_sync_state/${provider}`, { tzinfo: 'America/Phoenix', ...body })
const connect = ({ api }: TestTeam, user_id: string, provider = APPLE) =>
  api.post(`/v2/link/provider/manual/${provider}`, { user_id })
const announce = ({ api }: TestTeam, user_id: string, body: object, provider = APPLE) =>
  api.post(`/v2/user/${user_id}/sdk_start_historical_stage/${provider}`, body)
const pulls = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/introspect/historical_pull?user_id=${user_id}`)).body.data[0]?.provider[APPLE].pulled
const report = ({ api }: TestTeam, user_id: string, body: unknown, headers: Record<string, string> = {}) =>
  api.post(`/v2/user/${user_id}/sdk_sync_progress/${APPLE}`, body, headers)
const reports = async ({ api }: TestTeam, query = '') => (await api.get(`/v2/introspect/sync_progress${query}`)).body

describe('the state that a phone asks for', () => {
  test('is an error until the user is connected and after the connection ended, and is active between', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await ask(team, user_id)).body.status, 'error')
    await connect(team, user_id)
    const { status, body } = await ask(team, user_id)
    assert.deepEqual(
      [status, body],
      [
        200,
        {
          status: 'active',
          ingestion_start: null,
          request_start_date: null,
          request_end_date: null,
          per_device_activity_ts: false,
          expires_in: 14_400,
          pull_preferences: { historical_days_to_pull: 30, backfill_type_overrides: {} },
        },
      ],
    )
    await team.api.delete(`/v2/user/${user_id}/${APPLE}`)
    assert.equal((await ask(team, user_id)).body.status, 'error')
    // A client that connects by itself is back with its next post.
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61)])
    assert.equal((await ask(team, user_id)).body.status, 'active')
  })

  test('shows a pause and an error of the connection', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id)
    const set = (columns: string) =>
      asOwner(`update sandbox_us.connection set ${columns} where team_id = $1 and user_id = $2`, [team.team, user_id])
    await set(`status = 'paused'`)
    assert.equal((await ask(team, user_id)).body.status, 'paused')
    await set(`status = 'error', error_type = 'unknown', error_message = 'Test', errored_at = now()`)
    assert.equal((await ask(team, user_id)).body.status, 'error')
  })

  test("gives the bounds of the user's ingestion as instants, with a day more at either end, and not the range that a phone proposes", async () => {
    const team = await createTestTeam()
    const proposed = { request_start_date: '2026-01-01T00:00:00.123Z', request_end_date: '2026-02-01T00:00:00Z' }
    const bounds = async (requestBody: object) => {
      const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ...requestBody })).body
      const { body } = await ask(team, user_id, proposed)
      return [body.ingestion_start, body.request_start_date, body.request_end_date]
    }
    assert.deepEqual(await bounds({}), [null, null, null])
    assert.deepEqual(await bounds({ ingestion_start: '2026-01-10', ingestion_end: '2026-01-20' }), [
      '2026-01-09T00:00:00+00:00',
      null,
      '2026-01-22T00:00:00+00:00',
    ])
    assert.deepEqual(await bounds({ ingestion_start: '0001-01-01', ingestion_end: '9999-12-31' }), [null, null, null])
  })

  test('pauses a phone before the start of ingestion, and lets it ask again when that comes', async () => {
    const team = await createTestTeam()
    const start = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10)
    const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ingestion_start: start(200) })).body
    assert.equal((await ask(team, user_id)).body.status, 'error')
    await connect(team, user_id)
    const { body } = await ask(team, user_id)
    assert.deepEqual([body.status, body.ingestion_start, body.expires_in], ['paused', null, 14_400])
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: start(24) })
    assert.equal((await ask(team, user_id)).body.status, 'active')
  })

  test("gives the team's preferences, and asks for the data of each device if the team wants it", async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const wish = { default: { historical_days_to_pull: 60 }, resource_overrides: { sleep: { historical_days_to_pull: 90 } } }
    await team.manage.post('/team_data_pull_preferences/sandbox/us', { team_ids: [team.team], providers: { [APPLE]: wish } })
    await team.manage.patch(`/team/${team.team}`, { sandbox: { sdk_per_device_activity_timeseries: true } })
    guard.invalidate(team.team)
    const { body } = await ask(team, user_id)
    assert.deepEqual(body.pull_preferences, {
      historical_days_to_pull: 60,
      backfill_type_overrides: { sleep: { historical_days_to_pull: 90 } },
    })
    assert.equal(body.per_device_activity_ts, true)
    assert.equal((await ask(team, user_id, {}, 'health_connect')).body.pull_preferences.historical_days_to_pull, 30)
    assert.equal((await ask(team, user_id, {}, 'omron_ble')).body.pull_preferences, null)
  })

  test('stores the permissions that the phone names, and creates no connection', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const providers = async () => (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers
    await ask(team, user_id, { granted_permissions: ['sleep'] })
    assert.deepEqual(await providers(), [])
    await connect(team, user_id)
    await ask(team, user_id, { granted_permissions: ['sleep'] })
    const [{ resource_availability }] = await providers()
    assert.deepEqual([resource_availability.sleep.status, resource_availability.steps.status], ['available', 'unavailable'])
  })
})

describe('the beginning of a history', () => {
  const range = { range_start: '2026-01-01T00:00:00Z', range_end: '2026-01-31T00:00:00Z' }

  test('is shown as a pull in progress, for every name that phones have for the kind of data', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id)
    for (const backfill_type of ['heartrate_variability', 'weight', 'sleep', 'unknown kind'])
      assert.deepEqual((await announce(team, user_id, { ...range, backfill_type })).body, { success: true })
    const shown = await pulls(team, user_id)
    assert.deepEqual(Object.keys(shown).toSorted(), ['hrv', 'sleep', 'weight'])
    assert.deepEqual(
      [shown.sleep.status, shown.sleep.range_start, shown.sleep.range_end],
      ['in_progress', '2026-01-01T00:00:00+00:00', '2026-01-31T00:00:00+00:00'],
    )
  })

  test('changes nothing of a history that is complete, nor without an active connection', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await announce(team, user_id, { ...range, backfill_type: 'heartrate' })).status, 200)
    const history = { stage: 'historical', start_date: range.range_start, end_date: range.range_end }
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61)], history)
    await announce(team, user_id, { ...range, backfill_type: 'heartrate' })
    assert.equal((await pulls(team, user_id)).heartrate.status, 'success')
    await asOwner(`update sandbox_us.connection set status = 'paused' where team_id = $1`, [team.team])
    await announce(team, user_id, { ...range, backfill_type: 'steps' })
    assert.deepEqual(Object.keys(await pulls(team, user_id)), ['heartrate'])
  })

  test('and its end mark at most the last ten years of a long range day by day, and keep the range', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id)
    const long = { range_start: '1900-01-02T00:00:00Z', range_end: '2026-01-31T00:00:00Z' }
    const months = async (outcome: string) => {
      const { rows } = await team.db.pool.query(
        `select count(*)::int as count, min(month)::text as first from day_record
         where team_id = $1 and resource = 'sleep' and ${outcome} <> 0`,
        [team.team],
      )
      return [rows[0].count, rows[0].first]
    }
    await announce(team, user_id, { ...long, backfill_type: 'sleep' })
    assert.deepEqual(await months('asked'), [121, '2016-01-01'])
    const history = { stage: 'historical', start_date: long.range_start, end_date: long.range_end }
    await postSummary(team, 'sleep', user_id, [], { ...history, is_final_chunk: false })
    assert.deepEqual(await months('asked'), [121, '2016-01-01'])
    await postSummary(team, 'sleep', user_id, [], history)
    assert.deepEqual(await months('answered'), [121, '2016-01-01'])
    const { sleep } = await pulls(team, user_id)
    assert.deepEqual([sleep.status, sleep.range_start], ['success', '1900-01-02T00:00:00+00:00'])
  })

  test("ends now if it ends with the user's ingestion, which is ahead", async () => {
    const team = await createTestTeam()
    const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ingestion_end: '2098-12-30' })).body
    await connect(team, user_id)
    const ahead = { range_start: range.range_start, range_end: '2099-01-01T00:00:00Z' }
    assert.equal((await announce(team, user_id, { ...ahead, backfill_type: 'heartrate' })).status, 200)
    const history = { stage: 'historical', start_date: ahead.range_start, end_date: ahead.range_end }
    for (const more of [{ is_final_chunk: false }, {}]) {
      await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61)], { ...history, ...more })
      const { heartrate } = await pulls(team, user_id)
      assert(Date.parse(heartrate.range_end) <= Date.now() + 60_000, heartrate.range_end)
    }
    const beyond = { ...ahead, range_end: '2099-01-02T00:00:00Z', backfill_type: 'steps' }
    assert.equal((await announce(team, user_id, beyond)).status, 422)
  })

  test('is rejected with a range that ends before it starts, or lies in another age', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    for (const [range_start, range_end] of [
      ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'],
      ['1700-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
      ['2026-01-01T00:00:00Z', '9999-12-31T23:59:59-14:00'],
    ])
      assert.equal((await announce(team, user_id, { range_start, range_end, backfill_type: 'sleep' })).status, 422)
  })
})

describe('the report of a phone about its synchronization', () => {
  const status = { timestamp: '2026-01-31T09:30:02.5Z', type: 7, count: 2, error_details: 'fictional failure' }
  const sync = { start: '2026-01-31T09:30:00Z', end: null, tags: ['background', 3], statuses: [status], data_count: 12 }
  const body = {
    sync_progress: {
      backfill_types: {
        heartrate: {
          syncs: [sync],
          system_events: [{ timestamp: 'never', type: 1 }],
          data_count: 12,
          first_asked: `${DAY}T00:00:00Z`,
        },
      },
    },
    device_info: { os_version: '26.1', model: 'iPhone17,1', app_bundle: 'com.example.fictional', app_version: '1', app_build: 7 },
  }

  test('is shown with its known fields, and the next one replaces it', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual((await report(team, user_id, { sync_progress: { backfill_types: {} } })).body, { success: true })
    const packed = gzipSync(JSON.stringify(body))
    const { status: code } = await report(team, user_id, packed, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    })
    assert.equal(code, 200)
    const { data, next_cursor } = await reports(team)
    assert.equal(next_cursor, null)
    const [{ received_at, ...one }, ...others] = data
    assert.match(received_at, /\+00:00$/)
    assert.deepEqual(others, [])
    assert.deepEqual(one, {
      user_id,
      provider: APPLE,
      report: {
        device_info: {
          os_version: '26.1',
          model: 'iPhone17,1',
          app_bundle: 'com.example.fictional',
          app_version: '1',
          app_build: null,
        },
        backfill_types: {
          heartrate: {
            first_asked: `${DAY}T00:00:00+00:00`,
            data_count: 12,
            syncs: [
              {
                start: '2026-01-31T09:30:00+00:00',
                end: null,
                tags: ['background', '3'],
                statuses: [{ ...status, timestamp: '2026-01-31T09:30:02+00:00' }],
                data_count: 12,
              },
            ],
            system_events: [{ timestamp: null, type: 1, count: null, error_details: null }],
          },
        },
      },
    })
  })

  test('of any size keeps at most 128 kB, the newest attempts first, and values of other types change nothing else', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const long = { ...status, error_details: 'x'.repeat(400) }
    const syncs = Array.from({ length: 20 }, (_, i) => ({ ...sync, data_count: i, statuses: Array(12).fill(long) }))
    const types = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`type_${i}`, { syncs, data_count: i }]))
    const invalid = {
      a: null,
      b: 'text',
      'c d': {},
      e: { syncs: 'none', system_events: [null, 1], first_asked: '\u0000', data_count: 'x' },
    }
    const { status: code } = await report(team, user_id, {
      sync_progress: { backfill_types: JSON.parse(`{ "__proto__": {}, ${JSON.stringify({ ...types, ...invalid }).slice(1)}`) },
      device_info: { model: '\u0000' },
    })
    assert.equal(code, 200)
    const [{ report: kept }] = (await reports(team)).data
    assert(Buffer.byteLength(JSON.stringify(kept)) <= 131_072)
    assert.equal(kept.backfill_types.type_3.syncs.at(-1).data_count, 19)
    assert.deepEqual(
      Object.keys(kept.backfill_types)
        .filter((name) => name.length < 5)
        .toSorted(),
      ['a', 'b', 'e'],
    )
    assert.equal(kept.device_info.model, null)
  })

  test('of an unknown user is rejected; lists have pages, of one user or provider, and hide a deleted user', async () => {
    const team = await createTestTeam()
    assert.equal((await report(team, randomUUID(), body)).status, 404)
    const users = [await team.user(), await team.user()].toSorted()
    for (const user_id of users) await report(team, user_id, body)
    const first = await reports(team, '?limit=1')
    const second = await reports(team, `?limit=1&next_cursor=${first.next_cursor}`)
    assert.deepEqual(
      [first, second].map(({ data }) => data[0].user_id),
      users,
    )
    assert.equal(second.next_cursor, null)
    assert.equal((await reports(team, `?user_id=${users[1]}`)).data.length, 1)
    assert.deepEqual((await reports(team, '?provider=health_connect')).data, [])
    await team.api.delete(`/v2/user/${users[0]}`)
    assert.deepEqual(
      (await reports(team)).data.map(({ user_id }: { user_id: string }) => user_id),
      [users[1]],
    )
    await team.api.post(`/v2/user/undo_delete?user_id=${users[0]}`)
    assert.equal((await reports(team)).data.length, 2)
  })
})
