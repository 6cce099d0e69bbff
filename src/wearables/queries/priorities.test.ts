// Priorities of sources, as a team sets them: which queries they decide, and what they leave alone. Source: users-wearables.md 14, Q6.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { create, daily, result } from '../../../test/support/continuous-queries.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { read } from '../../../test/support/samples.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { list } from '../../../test/support/summaries.ts'
import { night, sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const DAY = '2026-01-31'
const PATH = '/v2/team/source/priorities'
const timeframe = { type: 'relative', anchor: DAY, past: { value: 7, unit: 'day' } }
/** By name alone fitbit comes before garmin. */
const providers = ['fitbit', 'garmin'] as const

const dated = { date: `${DAY}T00:00:00+00:00`, calendar_date: DAY }
/** By kind of data: how a record of it with a number is stored, and what a query reads of it. */
const kinds = {
  sleep: { kind: 'sleep', table: 'sleep', column: 'score', document: (value: number) => night(DAY, { score: value }).document },
  activity: { kind: 'activity', table: 'activity', column: 'steps', document: (value: number) => ({ ...dated, steps: value }) },
  workouts: {
    kind: 'workouts',
    table: 'workout',
    column: 'heart_rate_mean',
    document: (value: number) => ({ time_start: `${DAY}T12:00:00+00:00`, average_hr: value }),
  },
  body: { kind: 'body', table: 'body', column: 'weight_kilogram', document: (value: number) => ({ ...dated, weight: value }) },
} as const

async function store(team: TestTeam, user_id: string) {
  for (const [i, provider] of providers.entries()) {
    const source = { provider, source_type: 'watch' as const }
    for (const { kind, document } of Object.values(kinds))
      await storeSummaries(team, user_id, kind, [{ key: DAY, calendar_date: DAY, document: document(i + 1) }], source)
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, i + 1)], source)
  }
}

const greatest = (table: string, arg: object) => ({
  select: [{ func: 'max', arg }],
  group_by: [{ date_trunc: { value: 1, unit: 'day' }, arg: { index: table } }],
})
const queries = {
  ...Object.fromEntries(Object.entries(kinds).map(([name, { table, column }]) => [name, greatest(table, { [table]: column })])),
  timeseries: greatest('timeseries', { timeseries: 'heartrate', field: 'value' }),
}

/** The provider whose value each kind of data shows. */
async function readPriorities({ api }: TestTeam, user_id: string): Promise<Record<string, string>> {
  const { status, body } = await api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: Object.values(queries) })
  assert.equal(status, 200, JSON.stringify(body))
  const values = body.results.map(({ table }: { table: Record<string, number[]> }) => Object.values(table)[0])
  for (const value of values) assert.equal(value.length, 1)
  return Object.fromEntries(Object.keys(queries).map((name, i) => [name, providers[values[i][0] - 1]!]))
}
const sameForAll = (provider: string) => Object.fromEntries(Object.keys(queries).map((name) => [name, provider]))

describe('priorities of sources', () => {
  test('decide the queries of their kind of data, and of no other', async () => {
    const { team, user_id } = await createTeamWithUser()
    await store(team, user_id)
    assert.deepEqual(await readPriorities(team, user_id), sameForAll('fitbit'))
    for (const data_type of Object.keys(queries)) {
      const { status } = await team.api.patch(PATH, [{ source_slug: 'garmin', data_type, priority: 1 }])
      assert.equal(status, 200)
      assert.deepEqual(await readPriorities(team, user_id), { ...sameForAll('fitbit'), [data_type]: 'garmin' })
    }
    await team.api.patch(PATH, [])
    assert.deepEqual(await readPriorities(team, user_id), sameForAll('fitbit'))
  })

  test('are accepted in the form that the list shows, and a larger number comes first', async () => {
    const { team, user_id } = await createTeamWithUser()
    await store(team, user_id)
    const item = { data_type: 'timeseries', priority: 1, note: 'kept' }
    for (const name of ['source_slug', 'provider', 'slug', 'id']) {
      const { body } = await team.api.patch(PATH, [
        { ...item, [name]: 'fitbit' },
        { ...item, [name]: 'garmin', priority: 2 },
      ])
      assert.deepEqual((await team.api.get(`${PATH}?data_type=timeseries`)).body, body)
      assert.equal((await readPriorities(team, user_id)).timeseries, 'garmin')
      await team.api.patch(
        PATH,
        body.map((entry: { priority: number }) => ({ ...entry, priority: -entry.priority })),
      )
      assert.equal((await readPriorities(team, user_id)).timeseries, 'fitbit')
    }
  })

  test('leave lists and groups of samples alone', async () => {
    const { team, user_id } = await createTeamWithUser()
    await store(team, user_id)
    await team.api.patch(
      PATH,
      Object.keys(queries).map((data_type) => ({ source_slug: 'garmin', data_type, priority: 1 })),
    )
    assert.deepEqual(Object.keys((await read(team, user_id, 'heartrate')).groups).toSorted(), [...providers])
    for (const kind of ['activity', 'body']) assert.equal((await list(team, kind, user_id))[kind].length, 2, kind)
  })

  test('that change have continuous queries evaluated again; the same list does not', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { slug } = await create(team, daily)
    await store(team, user_id)
    await advanceClock(team, 3600)
    const means = async () => (await result(team, user_id, slug))['mean.value']
    assert.deepEqual(await means(), [1])
    const priorities = [{ source_slug: 'garmin', data_type: 'timeseries', priority: 1 }]
    await team.api.patch(PATH, priorities)
    await advanceClock(team, 3600)
    assert.deepEqual(await means(), [2])
    await team.api.patch(PATH, priorities)
    assert.deepEqual(
      (await team.jobs()).filter((name) => name.startsWith('queries.')),
      [],
    )
  })
})
