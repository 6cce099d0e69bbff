// Apps and devices of one type that count the same hours. Source: events.md 5: a sample is known by resource, provider, type and instant.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY, events, post, read, type Sent } from '../../../test/support/samples.ts'
import { type TestTeam } from '../../../test/support/server.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const DAY_MS = Date.parse(`${DAY}T00:00:00Z`)
const instant = (minute: number) => new Date(DAY_MS + minute * MINUTE_MS).toISOString()
const countedSample = (source: object, start: number, end: number, value: number): Sent => ({
  value,
  unit: '',
  start_date: instant(start),
  end_date: instant(end),
  ...source,
})
const appOf = (name: string) => ({ source_bundle: `com.example.${name}` })
const phoneOf = (model: string) => ({
  source_bundle: 'com.apple.health.0000',
  product_type: 'iPhone14,2',
  metadata: { _DMA: 'Fictional', _DMO: model },
})

/** What a reader sees, by what a sample is known by; each is there once, and a source has one group, oldest first. */
async function readSums(team: TestTeam, user_id: string, resource: string): Promise<Map<string, number>> {
  const { groups } = await read(team, user_id, resource)
  const found = new Map<string, number>()
  const sources = new Set<string>()
  for (const { source, data } of groups.apple_health_kit ?? []) {
    assert(!sources.has(JSON.stringify(source)), 'a source has one group')
    sources.add(JSON.stringify(source))
    assert.equal(source.app_id, null)
    const times = data.map(({ timestamp }: { timestamp: string }) => timestamp)
    assert.deepEqual(times, times.toSorted())
    for (const { timestamp, value } of data) {
      const key = `${source.type} ${timestamp}`
      assert(!found.has(key), `${key} is there once`)
      found.set(key, value)
    }
  }
  return found
}

/** What a receiver of events has, who replaces what is known by the same. */
async function readReceived(team: TestTeam): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { data } of await events(team))
    for (const { timestamp, value } of data.data) found.set(`${String(data.source.type)} ${timestamp}`, value)
  return found
}

const sortByKey = (map: Map<string, number>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1))
const readAllSums = async (team: TestTeam, user_id: string, resource: string): Promise<number[]> => {
  const arg = { timeseries: resource, field: 'value' }
  const select = [{ func: 'sum', arg }]
  const day = [{ date_trunc: { value: 1, unit: 'day' }, arg: { index: 'timeseries' } }]
  const timeframe = { type: 'relative', anchor: '2026-02-01', past: { value: 1, unit: 'week' } }
  const queries = [{ select }, { select: [{ group_key: '*' }, ...select], group_by: day }]
  const { status, body } = await team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries })
  assert.equal(status, 200, JSON.stringify(body))
  return body.results.map(({ table }: { table: Record<string, number[]> }) =>
    table['sum.value']!.reduce((sum, value) => sum + (value ?? 0), 0),
  )
}

describe('sums of a day', () => {
  for (const [what, first, second] of [
    ['two apps', appOf('one'), appOf('two')],
    ['two phones', phoneOf('One'), phoneOf('Two')],
  ] as const)
    for (const inOnePost of [true, false])
      test(`do not add the steps of ${what} of the same hours, sent in ${inOnePost ? 'one post' : 'two posts'}`, async () => {
        const { team, user_id } = await createTeamWithUser()
        const hours = [15, 16, 17].map((hour) => hour * 60)
        const [ofFirst, ofSecond] = [first, second].map((source) =>
          hours.map((start) => countedSample(source, start, start + 60, 1000)),
        )
        const parts = inOnePost ? [[...ofFirst!, ...ofSecond!]] : [ofFirst!, ofSecond!]
        for (const data of parts) assert.equal((await post(team, user_id, 'steps', data)).status, 200)
        assert.deepEqual(await readAllSums(team, user_id, 'steps'), [3000, 3000])
        assert.equal((await readSums(team, user_id, 'steps')).size, 3)
        assert.deepEqual(sortByKey(await readReceived(team)), sortByKey(await readSums(team, user_id, 'steps')))
        // A repetition changes nothing, and an hour that grows is that of the one to whom it belongs.
        const before = (await events(team)).length
        for (const data of parts) await post(team, user_id, 'steps', data)
        assert.equal((await events(team)).length, before)
        await post(team, user_id, 'steps', [
          countedSample(first, 17 * 60, 18 * 60, 1200),
          countedSample(second, 17 * 60, 18 * 60, 1100),
        ])
        assert.deepEqual(await readAllSums(team, user_id, 'steps'), [3200, 3200])
      })

  test('have the hours that only one of two phones has counted, and other instants of an hour are not added either', async () => {
    const { team, user_id } = await createTeamWithUser()
    await post(team, user_id, 'steps', [
      countedSample(phoneOf('Old'), 900, 960, 500),
      countedSample(phoneOf('Old'), 960, 1020, 0),
    ])
    const ofNew = [
      countedSample(phoneOf('New'), 910, 920, 70),
      countedSample(phoneOf('New'), 930, 1000, 80),
      countedSample(phoneOf('New'), 961, 980, 90),
    ]
    await post(team, user_id, 'steps', ofNew)
    // Of the new one: neither within the first hour nor reaching into it; an hour of nothing belongs to none.
    assert.deepEqual([...(await readSums(team, user_id, 'steps')).values()].toSorted(), [0, 500, 90])
    assert.deepEqual(await readAllSums(team, user_id, 'steps'), [590, 590])
    assert.deepEqual(sortByKey(await readReceived(team)), sortByKey(await readSums(team, user_id, 'steps')))
  })

  test('the counts of a phone and a watch, or of two providers, are added only if a query asks for it', async () => {
    const { team, user_id } = await createTeamWithUser()
    const watch = { source_bundle: 'com.apple.health.0000', product_type: 'Watch6,1' }
    await post(team, user_id, 'steps', [countedSample(watch, 900, 960, 300), countedSample(phoneOf('One'), 900, 960, 500)])
    assert.deepEqual(await readAllSums(team, user_id, 'steps'), [800, 300])
  })
})

test('measured values of all apps are present, and at one instant the later one', async () => {
  const { team, user_id } = await createTeamWithUser()
  const beat = (source: object, time: number, value: number) => countedSample(source, time, time, value)
  await post(team, user_id, 'heartrate', [beat(appOf('one'), 900, 60), beat(appOf('one'), 902, 61)])
  await post(team, user_id, 'heartrate', [beat(appOf('two'), 901, 70), beat(appOf('two'), 902, 71)])
  assert.deepEqual([...(await readSums(team, user_id, 'heartrate')).values()], [60, 70, 71])
  assert.deepEqual(sortByKey(await readReceived(team)), sortByKey(await readSums(team, user_id, 'heartrate')))
  await post(team, user_id, 'water', [countedSample(appOf('one'), 900, 900, 200), countedSample(appOf('two'), 905, 905, 250)])
  assert.deepEqual(await readAllSums(team, user_id, 'water'), [450, 450])
})

test('blood pressures of two cuffs at one instant are two, and one without a device is that of its cuff', async () => {
  const { team, user_id } = await createTeamWithUser()
  const cuff = (model: string | null) => ({ type: 'cuff', ...(model && { metadata: { _DMA: 'Fictional', _DMO: model } }) })
  const pressure = (model: string | null, value: number) => ({
    systolic: countedSample(cuff(model), 900, 900, value),
    diastolic: countedSample(cuff(model), 900, 900, 80),
  })
  const send = (...pressures: object[]) => post(team, user_id, 'blood_pressure', pressures)
  await send(pressure(null, 119))
  await send(pressure('One', 120), pressure('Two', 130))
  await send(pressure(null, 140))
  const groups = (await read(team, user_id, 'blood_pressure')).groups.apple_health_kit
  assert.deepEqual(groups.map(({ data }: { data: { systolic: number }[] }) => data.map(({ systolic }) => systolic)).toSorted(), [
    [120],
    [130],
  ])
})

test('a sample that is sent again from another time zone keeps its offset, unless it names a zone', async () => {
  const { team, user_id } = await createTeamWithUser()
  const offsets = async () =>
    (await read(team, user_id, 'steps')).groups.apple_health_kit.flatMap(({ data }: { data: object[] }) =>
      data.map((sample) => (sample as { timezone_offset: number }).timezone_offset / 3600),
    )
  const data = [countedSample(appOf('one'), 900, 960, 500), countedSample(appOf('one'), 960, 1020, 100)]
  await post(team, user_id, 'steps', data)
  const before = (await events(team)).length
  await post(team, user_id, 'steps', data, { time_zone: 'Asia/Tokyo' })
  assert.deepEqual([await offsets(), (await events(team)).length], [[-7, -7], before])
  await post(team, user_id, 'steps', [countedSample(appOf('one'), 960, 1020, 200)], { time_zone: 'Asia/Tokyo' })
  assert.deepEqual(await offsets(), [-7, -7])
  const named = { ...appOf('one'), metadata: { HKTimeZone: 'Asia/Tokyo' } }
  await post(team, user_id, 'steps', [countedSample(named, 960, 1020, 200)])
  assert.deepEqual(await offsets(), [-7, 9])
})

// What each app counts tells it apart: its values are multiples of its own number.
const apps = [appOf('one'), appOf('two'), phoneOf('One'), phoneOf('Two')]
const sample = fc.record({
  app: fc.nat({ max: apps.length - 1 }),
  from: fc.integer({ min: 0, max: 15 }).map((n) => 900 + n * 15),
  length: fc.constantFrom(5, 15, 60, 90),
  times: fc.integer({ min: 0, max: 9 }),
})
const valueOf = ({ app, times }: { app: number; times: number }) => times * 10 ** app * 7

test('for any counts of apps and phones, an hour has the steps of one app of each type, and events report the read values', async () => {
  const posts = fc.array(fc.array(sample, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(posts, async (clientPosts) => {
      const { team, user_id } = await createTeamWithUser()
      for (const one of clientPosts) {
        const data = one.map(({ app, from, length, times }) =>
          countedSample(apps[app]!, from, from + length, valueOf({ app, times })),
        )
        assert.equal((await post(team, user_id, 'steps', data)).status, 200)
      }
      const found = await readSums(team, user_id, 'steps')
      assert.deepEqual(sortByKey(await readReceived(team)), sortByKey(found))
      const { groups } = await read(team, user_id, 'steps')
      const owners = new Map<string, Set<number>>()
      for (const { source, data } of groups.apple_health_kit ?? [])
        for (const { value, start, end } of data as { value: number; start: string; end: string }[]) {
          if (value === 0) continue
          const app = apps.findIndex((_, i) => value % (7 * 10 ** i) === 0 && value / (7 * 10 ** i) <= 9)
          for (let at = Math.floor(Date.parse(start) / HOUR_MS); at * HOUR_MS < Date.parse(end); at++) {
            const key = `${source.type} ${at}`
            owners.set(key, (owners.get(key) ?? new Set()).add(app))
          }
        }
      for (const [hour, ofHour] of owners) assert.equal(ofHour.size, 1, hour)
      const total = [...found.values()].reduce((sum, value) => sum + value, 0)
      assert.equal((await readAllSums(team, user_id, 'steps'))[0], total)
    }),
    { numRuns: 25 },
  )
})
