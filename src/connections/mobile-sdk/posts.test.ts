// Samples that phones post, as they are read and reported. Source: users-wearables.md 4, 6, 10, 16.5-16.7; events.md 4.2, 4.11, 5.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sentSample, counts, DAY, events, post, read, types, watch } from '../../../test/support/samples.ts'
import { asOwner, createTestTeam, url } from '../../../test/support/server.ts'

describe('samples that a phone posts', () => {
  test('are read by provider and source, and reported once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = [
      sentSample('09:30:01.250', 71, watch),
      sentSample('09:30:00', 70, watch),
      sentSample('10:00:00', 80, { source_bundle: 'com.example.app' }),
    ]
    const { status, body } = await post(team, user_id, 'heartrate', sent)
    assert.deepEqual([status, body.success, ...counts(body)], [200, true, 3, 3, 0, 0])
    const { groups, next, next_cursor } = await read(team, user_id, 'heartrate')
    assert.deepEqual([Object.keys(groups), next, next_cursor], [['apple_health_kit'], null, null])
    const sample = { id: null, timezone_offset: -25_200, type: null, unit: 'bpm' }
    const source = {
      name: 'Apple HealthKit',
      slug: 'apple_health_kit',
      logo: '',
      provider: 'apple_health_kit',
      app_id: null,
      device_id: null,
      sport: null,
      workout_id: null,
    }
    const bySource = Object.fromEntries(
      groups.apple_health_kit.map((group: { source: { type: string } }) => [group.source.type, group]),
    )
    assert.deepEqual(bySource, {
      watch: {
        source: { ...source, type: 'watch' },
        data: [
          { ...sample, timestamp: `${DAY}T09:30:00+00:00`, value: 70 },
          { ...sample, timestamp: `${DAY}T09:30:01+00:00`, value: 71 },
        ],
      },
      unknown: { source: { ...source, type: 'unknown' }, data: [{ ...sample, timestamp: `${DAY}T10:00:00+00:00`, value: 80 }] },
    })
    const emitted = await events(team)
    assert.deepEqual(types(emitted), ['daily.data.heartrate.created', 'daily.data.heartrate.created'])
    const ofWatch = emitted.find(({ data }) => data.source.type === 'watch')!
    assert.deepEqual(new Set(ofWatch.data.data.map(({ value }) => value)), new Set([70, 71]))
    assert.equal(typeof ofWatch.data.source_id, 'number')
    const again = await post(team, user_id, 'heartrate', sent)
    assert.deepEqual(counts(again.body), [3, 0, 0, 0])
    assert.equal((await events(team)).length, 2)
  })

  test('replace the value at their instant, as the growing count of an hour does, and emit one updated event', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const hour = (value: number) =>
      sentSample('09:00:00', value, { end_date: `${DAY}T10:00:00Z`, unit: 'count', type: 'multiple_sources' })
    for (const value of [100, 250, 250]) await post(team, user_id, 'steps', [hour(value)])
    const { groups } = await read(team, user_id, 'steps')
    assert.deepEqual(groups.apple_health_kit[0].data, [
      {
        id: null,
        timestamp: `${DAY}T09:00:00+00:00`,
        timezone_offset: -25_200,
        type: null,
        unit: 'count',
        value: 250,
        start: `${DAY}T09:00:00+00:00`,
        end: `${DAY}T10:00:00+00:00`,
      },
    ])
    assert.deepEqual(types(await events(team)), ['daily.data.steps.created', 'daily.data.steps.updated'])
  })

  test('connect a user without a connection, and are dropped while the connection is paused', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)])
    const connections = async () => (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers
    assert.deepEqual(
      (await connections()).map(({ slug }: { slug: string }) => slug),
      ['apple_health_kit'],
    )
    await asOwner(`update sandbox_us.connection set status = 'paused' where team_id = $1`, [team.team])
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', [sentSample('09:31:00', 71)])).body), [0, 0, 0, 1])
    assert.equal((await read(team, user_id, 'heartrate')).groups.apple_health_kit[0].data.length, 1)
  })

  test('outside of the bounds of the user are dropped, with a day more at either end', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: '2026-01-10', ingestion_end: '2026-01-20' })
    const days = ['08', '09', '10', '20', '21', '22']
    const data = days.map((day) => ({
      ...sentSample('12:00:00', 70),
      start_date: `2026-01-${day}T12:00:00Z`,
      end_date: `2026-01-${day}T12:00:00Z`,
    }))
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', data)).body), [4, 4, 0, 2])
    const { groups } = await read(team, user_id, 'heartrate', 'start_date=2026-01-01')
    const kept = groups.apple_health_kit[0].data.map(({ timestamp }: { timestamp: string }) => timestamp.slice(8, 10))
    assert.deepEqual(kept, ['09', '10', '20', '21'])
  })

  test('of one second are one sample, the last one, since they are shown with one timestamp', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const { body } = await post(team, user_id, 'heartrate', [sentSample('09:30:00.200', 70), sentSample('09:30:00.700', 72)])
    assert.deepEqual(counts(body), [2, 1, 0, 0])
    const [{ data }] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    assert.deepEqual(
      data.map(({ value }: { value: number }) => value),
      [72],
    )
  })

  test('of more than 200 sources in one post are rejected', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const data = Array.from({ length: 201 }, (_, i) => sentSample('09:30:00', 70, { source_bundle: `com.example.app${i}` }))
    const { status, body } = await post(team, user_id, 'heartrate', data)
    assert.deepEqual([status, body.detail[0].msg], [422, 'Value error, has samples of more than 200 sources'])
    assert.equal((await post(team, user_id, 'heartrate', data.slice(1))).status, 200)
  })

  test('with texts that the database cannot store are stored without them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const resource = 'sleep_breathing_disturbance'
    for (const category of ['\u0000', '\ud800'])
      assert.equal((await post(team, user_id, resource, [sentSample('09:30:00', 1, { metadata: { category } })])).status, 200)
    const [{ data }] = (await read(team, user_id, resource)).groups.apple_health_kit
    assert.deepEqual([data.length, data[0].type], [1, null])
  })

  test('with names of zones in any spelling, and too many of them, are stored', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const data = Array.from({ length: 300 }, (_, i) =>
      sentSample(`09:${String(i % 60).padStart(2, '0')}:0${Math.floor(i / 60)}`, 70, {
        metadata: { HKTimeZone: i ? `No/Where${i}` : 'ASIA/kolkata' },
      }),
    )
    assert.equal((await post(team, user_id, 'heartrate', data)).status, 200)
    const [group] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    const offsets = new Set(group.data.map(({ timezone_offset }: { timezone_offset: number }) => timezone_offset))
    assert.deepEqual(offsets, new Set([19_800, -25_200]))
  })

  test('may be compressed', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const body = gzipSync(JSON.stringify({ stage: 'daily', provider: 'apple_health_kit', data: [sentSample('09:30:00', 70)] }))
    const headers = { 'x-service-api-key': team.key, 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const response = await fetch(`${url}/v2/timeseries/${user_id}/heartrate`, { method: 'POST', headers, body })
    assert.deepEqual([response.status, counts((await response.json()) as Record<string, unknown>)], [200, [1, 1, 0, 0]])
  })

  test('leave the same data in any order, with any splits and repetitions, and events lead to the same series', async () => {
    const sample = fc.record({ second: fc.integer({ min: 0, max: 30 }), hour: fc.integer({ min: 8, max: 10 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(sample, { minLength: 1, maxLength: 20, selector: (entry) => `${entry.hour} ${entry.second}` }),
        fc.nat(),
        async (samples, seed) => {
          const team = await createTestTeam()
          const user_id = await team.user()
          const two = (n: number) => String(n).padStart(2, '0')
          const data = samples.map(({ hour, second }, i) =>
            sentSample(`${two(hour)}:00:${two(second)}`, 50 + i, i % 2 ? watch : {}),
          )
          const posts = [data.slice(0, seed % data.length), data.slice(seed % data.length), data.toReversed(), data.slice(0, 1)]
          const replies = await Promise.all(posts.map((part) => post(team, user_id, 'heartrate', part)))
          assert(replies.every(({ status }) => status === 200))
          const values = (list: { timestamp: string; value: number }[]) =>
            list.map(({ timestamp, value }) => `${timestamp} ${value}`).toSorted()
          const { groups } = await read(team, user_id, 'heartrate')
          const stored = groups.apple_health_kit.flatMap(({ data }: { data: [] }) => values(data)).toSorted()
          assert.deepEqual(
            stored,
            values(data.map(({ start_date, value }) => ({ timestamp: start_date.replace('Z', '+00:00'), value }))),
          )
          const emitted = await events(team)
          assert(emitted.every(({ event_type }) => event_type === 'daily.data.heartrate.created'))
          assert.deepEqual(values(emitted.flatMap((event) => event.data.data)), stored)
        },
      ),
      { numRuns: 8 },
    )
  })
})

describe('the history that a phone posts', () => {
  test('is read and emits one notice when it is complete, also if the last post is repeated or has no samples', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)], { ...range, is_final_chunk: false })
    assert.deepEqual(types((await events(team)).filter(({ event_type }) => event_type.startsWith('historical'))), [])
    for (let i = 0; i < 2; i++) await post(team, user_id, 'heartrate', [], range)
    assert.equal((await read(team, user_id, 'heartrate')).groups.apple_health_kit[0].data.length, 1)
    const notices = (await events(team)).filter(({ event_type }) => event_type.startsWith('historical'))
    assert.deepEqual(
      notices.map(({ event_type, data }) => [event_type, data]),
      [
        [
          'historical.data.heartrate.created',
          {
            user_id,
            start_date: '2026-01-01T00:00:00+00:00',
            end_date: '2026-01-31T23:59:59+00:00',
            provider: 'apple_health_kit',
            is_final: true,
          },
        ],
      ],
    )
  })
})

test('the history of heart rates does not end with a pulse of the history of blood pressures', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
  const one = (value: number) => sentSample('09:30:00', value)
  await post(team, user_id, 'blood_pressure', [{ systolic: one(118), diastolic: one(76), pulse: one(61) }], range)
  const notices = async () => types(await events(team)).filter((type) => type.startsWith('historical'))
  assert.deepEqual(await notices(), ['historical.data.blood_pressure.created'])
  await post(team, user_id, 'heartrate', [one(62)], range)
  assert.deepEqual(await notices(), ['historical.data.blood_pressure.created', 'historical.data.heartrate.created'])
})

test('a connection that begins again receives its history again', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
  await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)], range)
  await asOwner(
    `update sandbox_us.connection
     set status = 'error', error_type = 'unknown', error_message = 'Test', errored_at = '2026-01-01' where team_id = $1`,
    [team.team],
  )
  await team.api.post('/v2/link/provider/manual/apple_health_kit', { user_id })
  await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)], range)
  const notices = types(await events(team)).filter((type) => type.startsWith('historical'))
  assert.equal(notices.length, 2)
})

describe('a post of which everything is wrong changes nothing, and of others the good part is stored', () => {
  const wrong: [string, string, unknown, object?][] = [
    ['an end before the start', 'steps', sentSample('09:30:00', 1, { end_date: `${DAY}T09:00:00Z` })],
    ['an interval of months', 'steps', sentSample('09:30:00', 1, { start_date: '2025-01-01T00:00:00Z' })],
    [
      'an instant in the year 9999',
      'heartrate',
      sentSample('09:30:00', 1, { start_date: '9999-01-01T00:00:00Z', end_date: '9999-01-01T00:00:00Z' }),
    ],
    ['an instant before 1900', 'heartrate', sentSample('09:30:00', 1, { start_date: '1001-01-01T00:00:00Z' })],
    ['a value that is no number', 'heartrate', sentSample('09:30:00', 'NaN' as never)],
    ['no unit', 'heartrate', { ...sentSample('09:30:00', 1), unit: undefined }],
    ['a provider in the cloud', 'heartrate', sentSample('09:30:00', 1), { provider: 'oura' }],
    ['an unknown stage', 'heartrate', sentSample('09:30:00', 1), { stage: 'later' }],
  ]
  for (const [name, resource, sample, more] of wrong)
    test(`with ${name}`, async () => {
      const team = await createTestTeam()
      const user_id = await team.user()
      const { status } = await post(team, user_id, resource, [sample], more)
      assert.equal(status, 422)
      assert.deepEqual((await read(team, user_id, resource)).groups, {})
      assert.deepEqual((await team.api.get(`/v2/user/providers/${user_id}`)).body.providers, [])
      const both = await post(team, user_id, resource, [sentSample('08:00:00', 60), sample], more)
      assert.deepEqual([both.status, both.body.accepted, both.body.rejected], more ? [422, undefined, undefined] : [200, 1, 1])
    })

  test('for an unknown user', async () => {
    const team = await createTestTeam()
    assert.equal((await post(team, randomUUID(), 'heartrate', [sentSample('08:00:00', 60)])).status, 404)
  })
})
