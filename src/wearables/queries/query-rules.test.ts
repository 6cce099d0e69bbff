// The rules of the query language, each by its number, over stored data. Source: users-wearables.md 15.2, Q1-Q9.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type TestTeam } from '../../../test/support/server.ts'
import { night, sampleAt, storeDocument, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const DAY = '2026-01-31'
const key = { group_key: '*' }
const byDay = (index = 'timeseries', value = 1, unit = 'day') => ({ date_trunc: { value, unit }, arg: { index } })
const beats = { timeseries: 'heartrate', field: 'value' }
const mean = (arg: object) => ({ func: 'mean', arg })
const month = { type: 'relative', anchor: DAY, past: { value: 31, unit: 'day' } }

const ask = ({ api }: TestTeam, user_id: string, queries: object[], overrides: object = {}) =>
  api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe: month, queries, ...overrides })
async function tables(team: TestTeam, user_id: string, queries: object[], overrides: object = {}) {
  const { status, body } = await ask(team, user_id, queries, overrides)
  assert.equal(status, 200, JSON.stringify(body))
  return body.results.map(({ table }: { table: unknown }) => table)
}
const table = async (team: TestTeam, user_id: string, query: object, overrides: object = {}) =>
  (await tables(team, user_id, [query], overrides))[0]
const fault = async (team: TestTeam, user_id: string, query: object): Promise<string> => {
  const { status, body } = await ask(team, user_id, [query])
  assert.equal(status, 400, JSON.stringify(body))
  return body.detail
}

describe('the query language', () => {
  test('Q1: a query reads one table', async () => {
    const { team, user_id } = await createTeamWithUser()
    assert.match(await fault(team, user_id, { select: [{ sleep: 'score' }, { activity: 'steps' }] }), /only one table/)
  })

  test('Q2: a selected expression of a grouped query is a group key or an aggregate; without groups all or none are aggregates', async () => {
    const { team, user_id } = await createTeamWithUser()
    const grouped = { select: [key, { sleep: 'score' }], group_by: [byDay('sleep')] }
    assert.match(await fault(team, user_id, grouped), /neither a group key nor an aggregate/)
    const mixed = { select: [{ sleep: 'score' }, mean({ sleep: 'score' })] }
    assert.match(await fault(team, user_id, mixed), /either aggregates or columns/)
  })

  test('Q3: a query truncates at most once, and may do without', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60), sampleAt(`${DAY}T10:00:00`, 70)])
    const twice = { select: [key, mean(beats)], group_by: [byDay(), byDay('timeseries', 1, 'hour')] }
    assert.match(await fault(team, user_id, twice), /only one truncated datetime/)
    const hours = { select: [key, mean(beats)], group_by: [{ date_part: 'hour', arg: { index: 'timeseries' } }] }
    const [all, rows, byHour] = await tables(team, user_id, [
      { select: [mean(beats)] },
      { select: [{ index: 'timeseries' }, beats] },
      hours,
    ])
    assert.deepEqual(all, { 'mean.value': [65] })
    assert.deepEqual(rows, { timestamp: [`${DAY}T09:00:00`, `${DAY}T10:00:00`], value: [60, 70] })
    assert.deepEqual(byHour, { 'group_key.0': [9, 10], 'mean.value': [60, 70] })
  })

  test('Q4: buckets are of the local wall time of each record, across zones and daylight saving', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSamples(team, user_id, 'steps', [
      sampleAt('2026-01-30T23:30:00', 1, { hours: 13 }),
      sampleAt('2026-01-31T00:30:00', 2, { hours: 13 }),
      sampleAt('2026-01-31T23:30:00', 4, { hours: -11 }),
    ])
    const days = { select: [key, { func: 'sum', arg: { timeseries: 'steps', field: 'value' } }], group_by: [byDay()] }
    assert.deepEqual(await table(team, user_id, days), {
      'group_key.0': ['2026-01-30T00:00:00', '2026-01-31T00:00:00'],
      'sum.value': [1, 6],
    })
    await storeSummaries(team, user_id, 'sleep', [night(DAY, { total: 25_200 })])
    const nights = { select: [{ index: 'sleep' }, { sleep: 'session_start' }, { sleep: 'stage_asleep_second' }] }
    assert.deepEqual(await table(team, user_id, nights), {
      timestamp: [`${DAY}T06:00:00`],
      session_start: ['2026-01-30T22:00:00'],
      stage_asleep_second: [25_200],
    })
  })

  test('Q5: where filters rows before they are grouped, and its text never reaches the database', async () => {
    const { team, user_id } = await createTeamWithUser()
    const source = { provider: 'withings', source_type: 'scale' } as const
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60), sampleAt(`${DAY}T10:00:00`, 90)])
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T11:00:00`, 120)], source)
    const counted = async (where: string) =>
      (await table(team, user_id, { select: [{ func: 'count', arg: beats }], where }))['count.value'][0]
    assert.equal(await counted('value > 60 AND NOT (value = 120)'), 1)
    assert.equal(await counted("source_provider = 'withings' OR value <= 60"), 2)
    assert.equal(await counted("source_provider != 'x'' or 1=1; drop table chunk --'"), 3)
    assert.equal(await counted("type = 'automatic' OR NOT type = 'automatic'"), 0)
    const grouped = { select: [key, mean(beats)], group_by: [byDay()], where: "source_type = 'scale'" }
    assert.deepEqual((await table(team, user_id, grouped))['mean.value'], [120])
    for (const where of ['value > 1; select 1', 'value in (1)', 'pg_sleep(1) = 1', 'user_id = 1', '"value" = 1'])
      await fault(team, user_id, { select: [mean(beats)], where })
  })

  test('Q6: of each group only the best source is kept, unless provider and source type are group keys', async () => {
    const { team, user_id } = await createTeamWithUser()
    const add = (provider: string, source_type: 'watch' | 'phone', ...samples: [string, number][]) =>
      storeSamples(
        team,
        user_id,
        'steps',
        samples.map(([wall, value]) => sampleAt(wall, value)),
        { provider, source_type },
      )
    await add('apple_health_kit', 'phone', [`${DAY}T09:00:00`, 2506], ['2026-01-30T09:00:00', 5])
    await add('garmin', 'watch', [`${DAY}T09:00:00`, 1919])
    await add('fitbit', 'watch', [`${DAY}T09:00:00`, 2560])
    const steps = { func: 'sum', arg: { timeseries: 'steps', field: 'value' } }
    const sums = async (overrides: object = {}, ...keys: object[]) =>
      (await table(team, user_id, { select: [steps], group_by: [byDay(), ...keys] }, overrides))['sum.value']
    assert.deepEqual(await sums(), [5, 2560], 'fitbit comes before garmin by name')
    const config = { provider_priority_overrides: ['apple_health_kit', 'garmin'] }
    assert.deepEqual(await sums({ config }), [5, 1919], 'the source type comes first, then the overrides')
    const priorities = [
      { source_slug: 'garmin', data_type: 'timeseries', priority: 9 },
      { source_slug: 'fitbit', data_type: 'timeseries', priority: 2 },
      { source_slug: 'fitbit', data_type: 'sleep', priority: 99 },
      { note: 'without a source' },
    ]
    await team.api.patch('/v2/team/source/priorities', priorities)
    assert.deepEqual(await sums(), [5, 1919], 'a larger number is a higher priority')
    assert.deepEqual(await sums({ config: { provider_priority_overrides: ['fitbit'] } }), [5, 2560])
    assert.deepEqual((await sums({}, { source: 'source_provider' })).length, 4)
    const both = [{ source: 'source_provider' }, { timeseries: 'steps', field: 'source_type' }]
    assert.deepEqual((await sums({}, ...both)).toSorted(), [1919, 2506, 2560, 5])
    assert.deepEqual(await table(team, user_id, { select: [steps] }), { 'sum.value': [5 + 2506 + 1919 + 2560] })
  })

  test('Q7: types that are not listed rank as unknown, after all others', async () => {
    const { team, user_id } = await createTeamWithUser()
    const types = [
      'earphone',
      'multiple_sources',
      'app',
      'phone',
      'manual_scan',
      'fingerprick',
      'cuff',
      'scale',
      'chest_strap',
    ] as const
    const query = { select: [mean(beats)], group_by: [byDay()] }
    for (const [i, source_type] of [...types, 'ring', 'watch', 'automatic', 'lab'].entries()) {
      await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60 + i)], { source_type: source_type as 'lab' })
      assert.deepEqual((await table(team, user_id, query))['mean.value'], [60 + i], source_type)
    }
  })

  test('Q9: lists are counted and aggregated row by row, and not selected themselves', async () => {
    const { team, user_id } = await createTeamWithUser()
    const flow = (date: string, level: string) => ({ date, flow: level })
    const document = {
      period_start: '2026-01-10',
      is_predicted: false,
      menstrual_flow: [flow('2026-01-10', 'heavy'), flow('2026-01-11', 'light'), flow('2026-01-12', 'heavy')],
      basal_body_temperature: [
        { date: '2026-01-10', value: 36.5 },
        { date: '2026-01-11', value: 36.7 },
      ],
    }
    await storeDocument(team, user_id, 'menstrual_cycle', 'cycle-1', '2026-01-10', document)
    const unnest = (list: string) => ({ unnest: { menstrual_cycle: list } })
    const heavy = { select: { func: 'count' }, from: unnest('menstrual_flow'), where: "flow = 'heavy'" }
    const warm = { select: { func: 'max', arg: { basal_body_temperature: 'value' } }, from: unnest('basal_body_temperature') }
    const [rows, grouped] = await tables(team, user_id, [
      { select: [{ index: 'menstrual_cycle' }, heavy, warm] },
      { select: [key, { func: 'max', arg: heavy }], group_by: [byDay('menstrual_cycle', 1, 'month')] },
    ])
    assert.deepEqual(rows, { timestamp: ['2026-01-10'], 'count.menstrual_flow': [2], 'max.basal_body_temperature.value': [36.7] })
    assert.deepEqual(grouped, { 'group_key.0': ['2026-01-01T00:00:00'], 'max.count.menstrual_flow': [2] })
    assert.match(await fault(team, user_id, { select: [{ menstrual_cycle: 'menstrual_flow' }] }), /it is a list/)
    const oldest = { select: { func: 'oldest', arg: { menstrual_flow: 'flow' } }, from: unnest('menstrual_flow') }
    assert.match(await fault(team, user_id, { select: [oldest] }), /cannot be applied to list elements/)
  })
})

describe('Q8: align', () => {
  const carry = (mode: string, overrides: object = {}) => ({ carry: { mode, ...overrides } })
  const aligned = async (align: object | undefined, overrides: object = {}) => {
    const { team, user_id } = await createTeamWithUser()
    for (const [wall, value] of [
      ['2026-01-10T09:00:00', 60],
      ['2026-01-13T09:00:00', 90],
    ] as const)
      await storeSamples(team, user_id, 'heartrate', [sampleAt(wall, value)])
    const found = await table(team, user_id, { select: [key, mean(beats)], group_by: [byDay()], align, ...overrides })
    return found['group_key.0'].map((day: string, i: number) => [Number(day.slice(8, 10)), found['mean.value'][i]])
  }

  test('without a gap option there are no rows for gaps', async () => {
    assert.deepEqual(await aligned(undefined), [
      [10, 60],
      [13, 90],
    ])
  })

  test('fills the observed range forward, backward or from the nearest, where the past wins a tie', async () => {
    const days = (...values: (number | null)[]) => values.map((value, i) => [10 + i, value])
    assert.deepEqual(await aligned(carry('carry_forward')), days(60, 60, 60, 90))
    assert.deepEqual(await aligned(carry('carry_backward')), days(60, 90, 90, 90))
    assert.deepEqual(await aligned(carry('carry_nearest')), days(60, 60, 90, 90))
  })

  test('reaches as far beyond the observed range as it is capped, and no farther between', async () => {
    const max_age = { value: 1, unit: 'day' }
    assert.deepEqual(await aligned(carry('carry_forward', { max_age })), [
      [10, 60],
      [11, 60],
      [12, null],
      [13, 90],
      [14, 90],
    ])
    assert.deepEqual(await aligned(carry('carry_backward', { max_age })), [
      [9, 60],
      [10, 60],
      [11, null],
      [12, 90],
      [13, 90],
    ])
    assert.deepEqual(await aligned(carry('carry_nearest', { span: max_age })), [
      [9, 60],
      [10, 60],
      [11, 60],
      [12, 90],
      [13, 90],
      [14, 90],
    ])
  })

  test('does not carry beyond now', async () => {
    const { team, user_id } = await createTeamWithUser()
    const today = new Date().toISOString().slice(0, 10)
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${today}T00:00:00`, 60)])
    const align = carry('carry_forward', { max_age: { value: 5, unit: 'day' } })
    const timeframe = { type: 'relative', anchor: today, past: { value: 2, unit: 'day' } }
    const found = await table(team, user_id, { select: [key, mean(beats)], group_by: [byDay()], align }, { timeframe })
    assert(found['group_key.0'].length <= 2, JSON.stringify(found))
  })

  test('needs one truncation, all group keys and a cap of a bucket, and no date_part', async () => {
    const { team, user_id } = await createTeamWithUser()
    const align = carry('carry_forward')
    const invalid = (query: object) => fault(team, user_id, { select: [key, mean(beats)], align, ...query })
    assert.match(await invalid({ group_by: [{ timeseries: 'heartrate', field: 'source_type' }] }), /one truncated datetime/)
    assert.match(await invalid({ select: [mean(beats)], group_by: [byDay()] }), /all group keys/)
    const part = { date_part: 'hour', arg: { index: 'timeseries' } }
    assert.match(await invalid({ group_by: [byDay(), part] }), /date_part/)
    const short = carry('carry_forward', { max_age: { value: 1, unit: 'hour' } })
    assert.match(await invalid({ group_by: [byDay()], align: short }), /at least one bucket/)
  })
})
