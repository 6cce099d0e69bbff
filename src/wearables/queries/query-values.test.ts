// Columns, functions and derived values of queries, over stored data. Source: users-wearables.md 15.2-15.4, 18.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asOwner, type TestTeam } from '../../../test/support/server.ts'
import { night, sampleAt, storeDocument, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { sampleSource } from '../resources/sample-source.ts'
import { sampleSummary } from '../resources/sample-summaries.ts'
import { limitTime, queryRows } from './run-query.ts'
import { spanOf } from './timeframe.ts'
import { fieldsOf, macros, sampleGroups, tableNames, tables, type Columns } from './columns.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const DAY = '2026-01-31'
const key = { group_key: '*' }
const timeframe = { type: 'relative', anchor: DAY, past: { value: 60, unit: 'day' } }
const byDay = (index: string) => ({ date_trunc: { value: 1, unit: 'day' }, arg: { index } })

async function results({ api }: TestTeam, user_id: string, queries: object[], overrides: object = {}) {
  const { status, body } = await api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries, ...overrides })
  assert.equal(status, 200, JSON.stringify(body))
  return body.results.map(({ table }: { table: unknown }) => table)
}
const onlyResult = async (team: TestTeam, user_id: string, query: object, overrides: object = {}) =>
  (await results(team, user_id, [query], overrides))[0]

const isPlain = (columns: Columns) =>
  Object.entries(columns).flatMap(([name, kind]) => (typeof kind === 'object' ? [] : [[name, kind]]))

describe('columns', () => {
  test('of each table are read, have their type and can be grouped, compared and aggregated', async () => {
    const { team, user_id } = await createTeamWithUser()
    const kinds = { workout: 'workouts', derived_readiness: 'sleep' } as Record<string, string>
    for (const table of new Set(tableNames.map((name) => kinds[name] ?? name))) {
      const document = sampleSummary(table, `${DAY}T12:00:00+00:00`, { user_id, source: sampleSource })
      await storeDocument(team, user_id, table, `${DAY}T12:00:00.000Z app`, DAY, document)
    }
    const today = new Date().toISOString().slice(0, 10)
    const types = { int: 'number', double: 'number', text: 'string', bool: 'boolean', date: 'string', time: 'string' }
    for (const table of tableNames) {
      const columns = isPlain(tables[table]) as [string, keyof typeof types][]
      const select = columns.map(([name]) => ({ [table]: name }))
      const grouped = {
        select: [
          key,
          ...columns.flatMap(([name]) => ['newest', 'count'].map((func) => ({ func, arg: { [table]: name } }))).slice(0, 99),
        ],
        group_by: [byDay(table), ...columns.slice(0, 10).map(([name]) => ({ [table]: name }))],
      }
      const more = { timeframe: { type: 'relative', anchor: today, past: { value: 2, unit: 'year' } } }
      const [rows, groups] = await results(team, user_id, [{ select }, grouped], more)
      for (const [name, kind] of columns) {
        assert.equal(rows[name].length, 1, `${table}.${name}`)
        const [value] = rows[name]
        if (value !== null) assert.equal(typeof value, types[kind], `${table}.${name}`)
        if (groups[`newest.${name}`]) assert.deepEqual(groups[`newest.${name}`], rows[name], `newest ${table}.${name}`)
      }
    }
  })

  test('of each timeseries are read', async () => {
    const { team, user_id } = await createTeamWithUser()
    const queries = sampleGroups.flatMap(({ resources }) =>
      resources.map((timeseries) => ({
        select: isPlain(fieldsOf(timeseries)!).map(([field]) => ({ timeseries, field })),
      })),
    )
    for (let at = 0; at < queries.length; at += 20) {
      for (const found of await results(team, user_id, queries.slice(at, at + 20)))
        for (const column of Object.values(found)) assert.deepEqual(column, [])
    }
  })

  test('have other names and units than the fields that are read', async () => {
    const { team, user_id } = await createTeamWithUser()
    const activity = {
      calendar_date: DAY,
      low: 30,
      medium: 2,
      high: 1,
      distance: 5,
      heart_rate: { avg_bpm: 70, resting_bpm: 50 },
    }
    await storeDocument(team, user_id, 'activity', DAY, DAY, activity)
    const names = [
      'intensity_low_second',
      'duration_active_second',
      'distance_meter',
      'heart_rate_mean',
      'heart_rate_resting',
      'date',
    ]
    assert.deepEqual(await onlyResult(team, user_id, { select: names.map((name) => ({ activity: name })) }), {
      intensity_low_second: [1800],
      duration_active_second: [1980],
      distance_meter: [5],
      heart_rate_mean: [70],
      heart_rate_resting: [50],
      date: [DAY],
    })
    const meal = {
      timestamp: `${DAY}T03:00:00+00:00`,
      calendar_date: '2026-01-30',
      energy: { unit: 'kcal', value: 500 },
      macros: { carbs: 60, fats: { omega3: 1.5 } },
      micros: { vitamins: { vitamin_a: 900, vitamin_c: 30 }, minerals: { iron: 4 }, trace_elements: { iodine: 70 } },
    }
    await storeDocument(team, user_id, 'meal', 'lunch', '2026-01-30', meal)
    const columns = [
      'calories',
      'carbohydrate_gram',
      'omega3_fat_gram',
      'vitamin_a_milligram',
      'vitamin_c_milligram',
      'iron_milligram',
    ]
    const select = [{ index: 'meal' }, ...[...columns, 'iodine_microgram'].map((name) => ({ meal: name }))]
    const found = await onlyResult(team, user_id, { select })
    assert.equal(found.timestamp[0].slice(0, 10), '2026-01-30', 'a meal stays in its local day')
    assert.deepEqual(Object.values(found).slice(1).flat(), [500, 60, 1.5, 0.9, 30, 4, 70])
  })
})

describe('functions', () => {
  test('leave out nulls; the standard deviation is that of a sample', async () => {
    const { team, user_id } = await createTeamWithUser()
    const scores = [80, null, 90, 100]
    for (const [i, score] of scores.entries())
      await storeSummaries(team, user_id, 'sleep', [night(`2026-01-2${i}`, { score, state: i < 2 ? 'tentative' : 'confirmed' })])
    const functions = ['mean', 'min', 'max', 'sum', 'count', 'median', 'stddev', 'oldest', 'newest']
    const select = functions.map((func) => ({ func, arg: { sleep: 'score' } }))
    const states = ['min', 'max', 'oldest', 'newest', 'count'].map((func) => ({ func, arg: { sleep: 'state' } }))
    const instants = ['min', 'newest'].map((func) => ({ func, arg: { sleep: 'session_end' } }))
    const rows = { func: 'count', arg: { index: 'sleep' } }
    const found = await onlyResult(team, user_id, { select: [...select, ...states, ...instants, rows] })
    const expected = [
      [90, 80, 100, 270, 3, 90, 10, 80, 100],
      ['confirmed', 'tentative', 'tentative', 'confirmed', 4],
      ['2026-01-20T06:00:00', '2026-01-23T06:00:00'],
      [4],
    ]
    assert.deepEqual(Object.values(found).flat(), expected.flat())
    const none = await onlyResult(team, user_id, { select, where: 'score > 500' })
    assert.deepEqual(Object.values(none).flat(), [null, null, null, null, 0, null, null, null, null])
  })

  test('read blood pressures, durations and timeseries that are stored under another name', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSamples(team, user_id, 'blood_pressure', [sampleAt(`${DAY}T09:00:00`, 120, { second: 80 })])
    await storeSamples(team, user_id, 'body_weight', [sampleAt(`${DAY}T09:00:00`, 70)])
    await storeSamples(team, user_id, 'steps', [sampleAt(`${DAY}T09:00:00`, 5, { length_ms: 90_000 })])
    const pressure = ['systolic', 'diastolic'].map((field) => ({ timeseries: 'blood_pressure', field }))
    const found = await results(team, user_id, [
      { select: pressure },
      { select: [{ timeseries: 'weight', field: 'value' }] },
      { select: [{ timeseries: 'steps', field: 'duration' }] },
    ])
    assert.deepEqual(found, [{ systolic: [120], diastolic: [80] }, { value: [70] }, { duration: [90] }])
  })
})

describe('derived values', () => {
  test('of a night: when it began, how often and when it ended, and its chronotype', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSummaries(team, user_id, 'sleep', [night(DAY, { latency: 600, total: 25_000 })])
    const [id] = (await onlyResult(team, user_id, { select: [{ sleep: 'id' }] })).id
    const stages = [2, 4, 1, 4, 3, 4]
    const cycle = {
      sleep_id: id,
      stage_start_offset_second: stages.map((_, i) => i * 3600),
      stage_end_offset_second: stages.map((_, i) => (i + 1) * 3600),
      stage_type: stages,
    }
    await storeSummaries(team, user_id, 'sleep_cycle', [{ key: 'night', calendar_date: DAY, document: cycle }])
    await storeSummaries(team, user_id, 'sleep', [night('2026-01-30', {}, { from: '23:00', until: '09:00' })])
    const select = Object.keys(macros).map((value_macro) => ({ value_macro }))
    const found = await onlyResult(team, user_id, { select: [{ index: 'sleep' }, ...select] })
    assert.deepEqual(found, {
      timestamp: ['2026-01-30T09:00:00', `${DAY}T06:00:00`],
      sleep_score: [null, null],
      chronotype: ['third', 'lark'],
      asleep_at: [null, '2026-01-30T22:10:00'],
      awake_at: [null, `${DAY}T03:00:00`],
      awakenings: [null, 3],
    })
  })

  test('a chronotype follows the middle of the night', async () => {
    const { team, user_id } = await createTeamWithUser()
    const nights = [
      ['22:00', '06:00', 'lark'],
      ['23:30', '07:30', 'lark'],
      ['00:00', '07:02', 'third'],
      ['02:00', '10:00', 'third'],
      ['03:00', '10:00', 'owl'],
      ['12:00', '21:00', 'owl'],
      ['14:00', '20:00', 'lark'],
    ] as const
    for (const [i, [from, until]] of nights.entries())
      await storeSummaries(team, user_id, 'sleep', [night(`2026-01-1${i}`, {}, { from, until })])
    const { chronotype } = await onlyResult(team, user_id, { select: [{ value_macro: 'chronotype' }] })
    assert.deepEqual(
      chronotype,
      nights.map(([, , type]) => type),
    )
  })

  test('scores of readiness need a baseline of 7 days within 21, and follow the published formulas', async () => {
    const { team, user_id } = await createTeamWithUser()
    const days = Array.from({ length: 10 }, (_, i) => `2026-01-${String(i + 10)}`)
    for (const [i, day] of days.entries()) {
      const document = {
        total: 28_800,
        efficiency: 90,
        rem: 5760,
        deep: 5760,
        average_hrv: i === 9 ? 60 : 50,
        hr_lowest: i === 9 ? 48 : 50,
      }
      await storeSummaries(team, user_id, 'sleep', [night(day, document)])
    }
    const names = Object.keys(tables.derived_readiness)
    const found = await onlyResult(team, user_id, { select: names.map((name) => ({ derived_readiness: name })) })
    assert.deepEqual(found.date, days)
    assert.deepEqual(found.sleep_score, Array(10).fill(100))
    assert.deepEqual(found.recovery_score.slice(0, 7), Array(7).fill(null))
    // The deviation of equal values counts as 1, and no deviation as more than 4.
    const recovery = (hrv: number, rate: number) => Math.round(100 / (1 + Math.exp(-(0.5 + 0.8 * hrv + 0.6 * rate))))
    assert.deepEqual(found.recovery_score.slice(7), [recovery(0, 0), recovery(0, 0), recovery(4, 2)])
    assert.deepEqual(found.recovery_zone.slice(7), ['Amber', 'Amber', 'Green'])
    assert.deepEqual(found.stress_score.slice(7), [38, 38, 1])
    const strain = (load: number) => Math.round(210 * (1 - Math.exp(-1.5 * load))) / 10
    assert.deepEqual(found.strain_score.slice(7), [strain(0.38), strain(0.38), strain(0.01)])
    assert.deepEqual(found.strain_zone.slice(6), [null, 'Moderate', 'Moderate', 'Low'])
  })
})

describe('a request', () => {
  const select = [{ func: 'count', arg: { timeseries: 'heartrate', field: 'value' } }]

  test('names a user of the team', async () => {
    const { team } = await createTeamWithUser()
    const { user_id } = await createTeamWithUser()
    const { status } = await team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: [{ select }] })
    assert.equal(status, 404)
  })

  test('with extreme timeframes, periods and values gets a documented error or a result', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60), sampleAt(`${DAY}T10:00:00`, 60)])
    // No source can bring such values.
    await asOwner(`update sandbox_us.chunk set values = array[1e308] where team_id = $1`, [team.team])
    const beats = { timeseries: 'heartrate', field: 'value' }
    const status = async (query: object, overrides: object = {}) =>
      (await team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: [query], ...overrides })).status
    assert.equal(await status({ select: [{ func: 'sum', arg: beats }] }), 400)
    for (const anchor of ['0001-01-01', '1900-01-01', '9999-12-31'])
      for (const unit of ['minute', 'day', 'month', 'year']) {
        const more = { timeframe: { type: 'relative', anchor, past: { value: 10_000, unit } } }
        const period = { date_trunc: { value: 10_000, unit }, arg: { index: 'timeseries' } }
        assert.equal(
          await status({ select: [key, { func: 'count', arg: beats }], group_by: [period] }, more),
          200,
          `${anchor} ${unit}`,
        )
      }
    assert.equal(await status({ select }, { timeframe: { type: 'absolute', anchor: DAY, past: { unit: 'day' } } }), 422)
    assert.equal(await status({ select: [] }), 422)
  })

  test('that reads more than 5,000,000 samples, or takes longer than it may, is rejected', async () => {
    const { team, user_id } = await createTeamWithUser()
    const start = Date.parse(`${DAY}T00:00:00Z`)
    const sampleOf = (i: number) => ({ at_ms: start + i * 1000, value: 60, second: null, length_ms: null, zone_s: 0, type: null })
    await storeSamples(
      team,
      user_id,
      'heartrate',
      Array.from({ length: 50_000 }, (_, i) => sampleOf(i)),
    )
    const span = spanOf({ type: 'relative', anchor: DAY, past: { value: 1, unit: 'day' } })
    const slow = team.db.tx(team.tenant, async (tx) => {
      await limitTime(tx, 1)
      return queryRows(
        tx,
        { select: [{ func: 'median', arg: { timeseries: 'heartrate', field: 'value' } }] },
        { user_id, span, providers: [], rows_max: 1 },
      )
    })
    await assert.rejects(slow, { status: 400, body: { detail: 'The query takes too long: use a shorter timeframe' } })
    await team.db.pool.query('update chunk set samples = 1000000 where user_id = $1', [user_id])
    const { status, body } = await team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: [{ select }] })
    assert.deepEqual([status, body.detail], [400, 'The query reads more than 5000000 samples: use a shorter timeframe'])
  })

  test('for more than 10,000 rows is rejected, and so are gaps of more', async () => {
    const { team, user_id } = await createTeamWithUser()
    const start = Date.parse(`${DAY}T00:00:00Z`)
    const sampleOf = (i: number) => ({ at_ms: start + i * 1000, value: 60, second: null, length_ms: null, zone_s: 0, type: null })
    await storeSamples(
      team,
      user_id,
      'heartrate',
      Array.from({ length: 10_001 }, (_, i) => sampleOf(i)),
    )
    const beats = { timeseries: 'heartrate', field: 'value' }
    const ask = async (query: object) => team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: [query] })
    const { status, body } = await ask({ select: [beats] })
    assert.deepEqual([status, body.detail.slice(0, 43)], [400, 'The result has more than 10000 rows: use a '])
    assert.equal((await ask({ select: [beats], where: `value < 1 OR timezone_offset = 0 AND source_type = 'x'` })).status, 200)
    await storeSamples(team, user_id, 'heartrate', [sampleAt('2026-01-01T00:00:00', 1)])
    const minutes = { date_trunc: { value: 1, unit: 'minute' }, arg: { index: 'timeseries' } }
    const gaps = { select: [key, { func: 'mean', arg: beats }], group_by: [minutes] }
    assert.equal((await ask(gaps)).status, 200)
    assert.equal((await ask({ ...gaps, align: { carry: { mode: 'carry_forward' } } })).status, 400)
  })
})
