// Reading samples page by page. Source: users-wearables.md 10.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, DAY, events, post, read, watch, type Sent } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'

describe('reading samples', () => {
  const many = (count: number): Sent[] =>
    Array.from({ length: count }, (_, i) => {
      const instant = new Date(Date.UTC(2026, 0, 31) + i * 1000).toISOString()
      return { ...sentSample('00:00:00', 50 + (i % 50), watch), start_date: instant, end_date: instant }
    })

  test('continues from page to page without a gap or a repetition, and events have at most 10,000 samples and 1 MiB', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await post(team, user_id, 'heartrate', many(25_000))).status, 200)
    await post(
      team,
      user_id,
      'heartrate',
      many(30).map((sample) => ({ ...sample, source_bundle: 'com.example.other' })),
    )
    const stamps: string[] = []
    let pages = 0
    for (let next: string | null = ''; next !== null; pages++) {
      const query = `start_date=${DAY}&end_date=${DAY}&provider=apple_health_kit`
      const page = await read(team, user_id, 'heartrate', `${query}${next && `&next_cursor=${next}`}`)
      assert.equal(page.next, page.next_cursor)
      for (const group of page.groups.apple_health_kit)
        stamps.push(...group.data.map(({ timestamp }: { timestamp: string }) => `${group.source.type} ${timestamp}`))
      next = page.next_cursor
    }
    assert.deepEqual([pages, stamps.length, new Set(stamps).size], [3, 25_030, 25_030])
    const emitted = await events(team)
    assert.equal(
      emitted.reduce((sum, { data }) => sum + data.data.length, 0),
      25_030,
    )
    for (const event of emitted) {
      assert(event.data.data.length <= 10_000)
      assert(JSON.stringify(event).length <= 1024 * 1024)
    }
  })

  test('keeps to the range, the provider and the user', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70), sentSample('11:00:00', 71), sentSample('23:59:59', 72)])
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 80)], { provider: 'health_connect' })
    const values = async (query: string) => {
      const { groups } = await read(team, user_id, 'heartrate', query)
      return Object.values(groups as Record<string, { data: { value: number }[] }[]>)
        .flatMap((list) => list.flatMap(({ data }) => data.map(({ value }) => value)))
        .toSorted()
    }
    assert.deepEqual(await values(`start_date=${DAY}T10:00:00Z&end_date=${DAY}`), [71, 72])
    assert.deepEqual(await values(`start_date=2026/01/31&end_date=2026/01/31`), [70, 71, 72, 80])
    assert.deepEqual(await values(`start_date=${DAY}T11:00:00Z&end_date=${DAY}T11:00:00Z`), [71])
    assert.deepEqual(await values(`start_date=2026-02-01`), [])
    assert.deepEqual(await values(`start_date=${DAY}&provider=health_connect`), [80])
    assert.equal((await other.api.get(`/v2/timeseries/${user_id}/heartrate/grouped?start_date=${DAY}`)).status, 404)
    assert.deepEqual((await read(team, user_id, 'weight_of_nothing', `start_date=${DAY}`)).detail[0].loc, ['path', 'resource'])
    const plain = (await team.api.get(`/v2/timeseries/${user_id}/heartrate?start_date=${DAY}&end_date=${DAY}`)).body
    assert.deepEqual(plain.map(({ value }: { value: number }) => value).toSorted(), [70, 71, 72, 80])
  })

  test('ends with the instant that is named, also with milliseconds, and includes the second of an instant without them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [
      sentSample('23:59:59', 72),
      { ...sentSample('00:00:00', 73), start_date: '2026-02-01T00:00:00Z', end_date: '2026-02-01T00:00:00Z' },
    ])
    const values = async (end_date: string) =>
      (await team.api.get(`/v2/timeseries/${user_id}/heartrate?start_date=${DAY}&end_date=${end_date}`)).body.map(
        ({ value }: { value: number }) => value,
      )
    for (const end of ['T23:59:59.999Z', 'T23:59:59.001Z', 'T23:59:59.999999Z', 'T23:59:59Z', 'T16:59:59.999-07:00', ''])
      assert.deepEqual(await values(`${DAY}${end}`), [72], end)
    assert.deepEqual(await values(`${DAY}T23:59:58.999Z`), [])
    assert.deepEqual(await values('2026-02-01T00:00:00.000Z'), [72, 73])
    const session = { session_start: `${DAY}T09:30:00Z`, session_end: `${DAY}T09:30:02Z` }
    const electrocardiogram = { id: 'ecg', ...session, voltage_sample_count: 3 }
    const voltage_data = { session_start_offset_millisecond: [0, 400, 800], lead1: [1, 2, 3] }
    const data = [{ electrocardiogram, voltage_data }]
    await team.api.post(`/v2/summary/electrocardiogram/${user_id}`, { stage: 'daily', provider: 'apple_health_kit', data })
    const voltages = async (end: string) =>
      (await team.api.get(`/v2/timeseries/${user_id}/electrocardiogram_voltage?start_date=${DAY}&end_date=${DAY}T09:30:00${end}`))
        .body.length
    assert.deepEqual([await voltages('.400Z'), await voltages('.399Z'), await voltages('Z')], [2, 1, 3])
  })

  test('of an unknown provider is rejected, wherever a provider filters', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const range = `start_date=${DAY}`
    const summaries = ['activity', 'sleep', 'body', 'workouts', 'meal', 'menstrual_cycle', 'sleep_cycle', 'electrocardiogram']
    const paths = [
      ...summaries.map((kind) => `/v2/summary/${kind}/${user_id}?${range}`),
      ...['activity', 'sleep', 'body', 'workouts'].map((kind) => `/v2/summary/${kind}/${user_id}/raw?${range}`),
      `/v2/summary/sleep/${user_id}/stream?${range}`,
      `/v2/summary/devices/${user_id}/raw?`,
      `/v2/timeseries/${user_id}/heartrate/grouped?${range}`,
      `/v2/timeseries/${user_id}/heartrate?${range}`,
      `/v2/timeseries/${user_id}/blood_pressure?${range}`,
      `/v2/timeseries/${user_id}/cholesterol/ldl?${range}`,
      `/v2/introspect/resources?`,
      `/v2/introspect/historical_pull?`,
      `/v2/introspect/days?user_id=${user_id}`,
      `/v2/introspect/repeated_posts?`,
    ]
    for (const path of paths) {
      const { status, body } = await team.api.get(`${path}&provider=ouraa`)
      assert.deepEqual([status, body.detail?.[0].loc], [422, ['query', 'provider']], path)
      for (const known of ['oura', 'OURA', ...(path.includes('introspect') ? [] : [''])])
        assert.equal((await team.api.get(`${path}&provider=${known}`)).status, 200, path)
    }
    for (const path of [`/v2/summary/profile/${user_id}?`, `/v2/summary/profile/${user_id}/raw?`])
      assert.deepEqual(
        [(await team.api.get(`${path}provider=ouraa`)).status, (await team.api.get(`${path}provider=Oura`)).status],
        [422, 404],
      )
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)])
    const { groups } = await read(team, user_id, 'heartrate', `${range}&provider=Apple_Health_Kit`)
    assert.deepEqual(Object.keys(groups), ['apple_health_kit'])
  })

  test('rejects invalid dates, and cursors of another list', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await read(team, user_id, 'heartrate', 'start_date=tomorrow')).detail[0].loc[1], 'start_date')
    const answer = await team.api.get(`/v2/timeseries/${user_id}/heartrate/grouped?start_date=${DAY}&next_cursor=abc`)
    assert.equal(answer.status, 400)
  })
})
