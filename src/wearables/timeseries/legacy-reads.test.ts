// Reads that the reference has ended and that this server still has: plain lists, sleep stages as samples, old fields of sources.
// Source: users-wearables.md 10, 19 D1; field-2026.md 0 no. 1.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { exportXml, importFile, record } from '../../../test/support/file-imports.ts'
import { sentSample, DAY, events, post, read, watch } from '../../../test/support/samples.ts'
import { createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { sampleAt, storeSamples } from '../../../test/support/wearable-data.ts'

const RANGE = `start_date=${DAY}&end_date=${DAY}`
const ANDROID = { 'x-vital-android-sdk-version': '5.0.2' }
const ENDED = '@1789344000'

const readNight = (team: TestTeam, user_id: string) =>
  postSummary(team, 'sleep', user_id, [
    {
      id: 'night',
      start_date: `${DAY}T06:00:00Z`,
      end_date: `${DAY}T14:00:00Z`,
      ...watch,
      sleep_stages: {
        deep_sleep_samples: [{ value: 1, unit: '', start_date: `${DAY}T07:00:00Z`, end_date: `${DAY}T08:00:00Z` }],
      },
    },
  ])

describe('deprecated reads', () => {
  test('have a Deprecation header and name the path that takes their place; other reads have neither', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61, watch)])
    await readNight(team, user_id)
    const headers = async (path: string) => {
      const { status, headers } = await team.api.get(`${path}?${RANGE}`)
      return [status, headers.get('deprecation'), headers.get('link')]
    }
    const series = `/v2/timeseries/${user_id}`
    const stages = `</v2/summary/sleep_cycle/${user_id}>; rel="successor-version"`
    assert.deepEqual(await headers(`${series}/heartrate`), [200, ENDED, `<${series}/heartrate/grouped>; rel="successor-version"`])
    assert.deepEqual(await headers(`${series}/cholesterol/ldl`), [
      200,
      ENDED,
      `<${series}/cholesterol/grouped>; rel="successor-version"`,
    ])
    const ofPressures = `<${series}/blood_pressure/grouped>; rel="successor-version"`
    assert.deepEqual(await headers(`${series}/blood_pressure`), [200, ENDED, ofPressures])
    assert.deepEqual(await headers(`${series}/hypnogram`), [200, ENDED, stages])
    assert.deepEqual(await headers(`${series}/hypnogram/grouped`), [200, ENDED, stages])
    assert.deepEqual(await headers(`${series}/heartrate/grouped`), [200, null, null])
    assert.deepEqual(await headers(`/v2/summary/sleep/${user_id}`), [200, null, null])
  })

  test('answer the published Android client with groups and pages, and everyone else with a list', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const many = Array.from({ length: 10_001 }, (_, i) => sampleAt(`${DAY}T00:00:00`, 60 + (i % 9))).map((sample, i) => ({
      ...sample,
      at_ms: sample.at_ms + i * 1000,
    }))
    await storeSamples(team, user_id, 'heartrate', many)
    const path = `/v2/timeseries/${user_id}/heartrate?${RANGE}`
    const [plain, android] = [await team.api.get(path), await team.api.get(path, ANDROID)]
    assert.equal(plain.body.length, 10_001)
    assert.deepEqual([android.status, android.body.groups.oura[0].data.length], [200, 10_000])
    assert.deepEqual(android.body, await read(team, user_id, 'heartrate'))
    const next = await team.api.get(`${path}&next_cursor=${android.body.next_cursor}`, ANDROID)
    assert.deepEqual([next.body.groups.oura[0].data.length, next.body.next_cursor], [1, null])
  })

  test('show the stages of a night of a file with the offset of the night', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const stage = record(
      'HKCategoryTypeIdentifierSleepAnalysis',
      'HKCategoryValueSleepAnalysisAsleepDeep',
      '',
      `${DAY} 01:00:00 +0530`,
      {
        end: `${DAY} 02:00:00 +0530`,
      },
    )
    await importFile(team, user_id, exportXml(stage))
    const { sleep_cycle } = await list(team, 'sleep_cycle', user_id)
    assert.deepEqual(
      sleep_cycle.map(({ time_zone }: { time_zone: unknown }) => time_zone),
      [null],
    )
    const { body } = await team.api.get(`/v2/timeseries/${user_id}/hypnogram?start_date=2026-01-30&end_date=${DAY}`)
    assert.deepEqual(
      body.map(({ timestamp, timezone_offset, value }: Record<string, unknown>) => [timestamp, timezone_offset, value]),
      [['2026-01-30T19:30:00+00:00', 19_800, 1]],
    )
  })

  test('list blood pressures, although phones post them to the same path', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const value = (number: number) => sentSample('09:30:00', number, watch)
    await post(team, user_id, 'blood_pressure', [{ systolic: value(118), diastolic: value(76) }])
    const { body } = await team.api.get(`/v2/timeseries/${user_id}/blood_pressure?${RANGE}`)
    assert.deepEqual([body.length, body[0].systolic, body[0].diastolic], [1, 118, 76])
  })

  test('list the cholesterol of one kind', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const kinds = ['ldl', 'hdl', 'total', 'triglycerides']
    await storeSamples(
      team,
      user_id,
      'cholesterol',
      kinds.map((kind, i) => sampleAt(`${DAY}T09:0${i}:00`, i + 1, { type: `cholesterol/${kind}` })),
      { provider: 'manual', source_type: 'lab' },
    )
    for (const [i, kind] of kinds.entries()) {
      const path = `/v2/timeseries/${user_id}/cholesterol/${kind}?${RANGE}`
      const { status, body } = await team.api.get(path)
      assert.deepEqual([status, body.length, body[0].value, body[0].type], [200, 1, i + 1, `cholesterol/${kind}`])
      const { groups } = (await team.api.get(path, ANDROID)).body
      assert.deepEqual(
        groups.manual[0].data.map(({ value }: { value: number }) => value),
        [i + 1],
      )
    }
    assert.equal((await team.api.get(`/v2/timeseries/${user_id}/cholesterol?${RANGE}`)).body.length, 4)
    const { groups } = (await team.api.get(`/v2/timeseries/${user_id}/cholesterol/grouped?${RANGE}`)).body
    assert.equal(groups.manual[0].data.length, 4)
    assert.equal((await team.api.get(`/v2/timeseries/${user_id}/cholesterol/vldl?${RANGE}`)).status, 404)
  })

  test('find the cholesterol of one kind behind a page of others', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const many = Array.from({ length: 10_001 }, (_, i) =>
      sampleAt(`${DAY}T00:00:00`, 2, { type: i < 10_000 ? 'cholesterol/hdl' : 'cholesterol/ldl' }),
    ).map((sample, i) => ({ ...sample, at_ms: sample.at_ms + i * 1000 }))
    await storeSamples(team, user_id, 'cholesterol', many)
    const path = `/v2/timeseries/${user_id}/cholesterol/ldl?${RANGE}`
    const { groups, next_cursor } = (await team.api.get(path, ANDROID)).body
    assert.deepEqual(groups, {})
    const next = (await team.api.get(`${path}&next_cursor=${next_cursor}`, ANDROID)).body
    assert.deepEqual([next.groups.oura[0].data.length, next.next_cursor], [1, null])
  })
})

const OLD = ['name', 'slug', 'logo']

/** The old fields of the sources in reads and events of a new team, and whether the event about a history says that it is final. */
async function oldFields() {
  const team = await createTestTeam()
  const user_id = await team.user()
  await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61, watch)], {
    stage: 'historical',
    start_date: `${DAY}T00:00:00Z`,
    end_date: `${DAY}T23:00:00Z`,
  })
  await post(team, user_id, 'heartrate', [sentSample('10:30:00', 61, watch)])
  await readNight(team, user_id)
  const emitted = await events(team)
  const of = (type: string) => emitted.find(({ event_type }) => event_type === type)!.data
  const sources = [
    (await read(team, user_id, 'heartrate')).groups.apple_health_kit[0].source,
    (await list(team, 'sleep', user_id)).sleep[0].source,
    of('daily.data.heartrate.created').source,
    of('daily.data.sleep.created').source,
  ]
  const fields = sources.map((source) => [source.provider, ...OLD.filter((name) => name in source)])
  return [...fields, 'is_final' in of('historical.data.heartrate.created')]
}

test('sources have their old fields, and the end of a history is final', async () => {
  assert.deepEqual(await oldFields(), [...Array(4).fill(['apple_health_kit', ...OLD]), true])
})

describe('with LEGACY_TIMESERIES=off', () => {
  before(() => void (settings.legacy_timeseries = false))
  after(() => void (settings.legacy_timeseries = true))

  test('deprecated lists answer 404 without a Deprecation header, and all others go on', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 61, watch)])
    const answer = async (path: string, headers = {}) => {
      const { status, headers: answered } = await team.api.get(`${path}?${RANGE}`, headers)
      return [status, answered.get('deprecation')]
    }
    const series = `/v2/timeseries/${user_id}`
    for (const path of ['heartrate', 'hypnogram', 'hypnogram/grouped', 'cholesterol/ldl'])
      assert.deepEqual(await answer(`${series}/${path}`), [404, null], path)
    assert.deepEqual(await answer(`${series}/heartrate`, ANDROID), [404, null])
    assert.deepEqual(await answer(`${series}/heartrate/grouped`), [200, null])
    assert.deepEqual(await answer(`/v2/summary/sleep_cycle/${user_id}`), [200, null])
  })

  test('sources have no old fields, in reads and in events, nor has the end of a history', async () => {
    assert.deepEqual(await oldFields(), [...Array(4).fill(['apple_health_kit']), false])
  })
})
