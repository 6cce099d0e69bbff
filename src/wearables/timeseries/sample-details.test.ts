// Fields that samples of some timeseries have beside value and type: stored, read, sent in events, and columns of queries.
// Source: users-wearables.md 10, 15.2.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentSample, DAY, events, post, read } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sampleAt, storeSamples } from '../../../test/support/wearable-data.ts'
import { typeWithDetails, type Details } from '../resources/sample-details.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'

const all: [TimeseriesName, type: string | null, Details][] = [
  ['body_temperature', null, { sensor_location: 'temporal_artery' }],
  ['body_temperature_delta', null, { sensor_location: 'wrist' }],
  ['workout_duration', null, { intensity: 'medium' }],
  ['insulin_injection', 'rapid_acting', { delivery_mode: 'bolus', delivery_form: 'extended', bolus_purpose: 'meal' }],
  ['note', null, { content: 'A fictional "note"', tags: ['food', 'exercise'] }],
]

const query = async ({ api }: TestTeam, user_id: string, timeseries: string, fields: string[], overrides: object = {}) => {
  const timeframe = { type: 'relative', anchor: DAY, past: { value: 2, unit: 'day' } }
  const select = fields.map((field) => ({ timeseries, field }))
  const { status, body } = await api.post(`/aggregate/v1/user/${user_id}/query`, {
    timeframe,
    queries: [{ select, ...overrides }],
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.results[0].table
}

for (const [resource, type, details] of all)
  test(`${resource} has ${Object.keys(details).join(', ')}, with and without a value, in lists, events and queries`, async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const stored = typeWithDetails(resource, type, details)
    const [first, second] = resource === 'body_temperature' ? [36, 37] : [1, 2]
    const samples = [sampleAt(`${DAY}T09:00:00`, first!, { type: stored }), sampleAt(`${DAY}T10:00:00`, second!, { type })]
    await storeSamples(team, user_id, resource, samples)
    const { content, ...shown } = details
    const unknown = Object.fromEntries(Object.keys(shown).map((name) => [name, null]))
    const [{ data }] = (await read(team, user_id, resource)).groups.oura
    assert.deepEqual(
      data.map(({ value, type, timestamp, start, id, ...sample }: Record<string, unknown>) => [
        value,
        type,
        start === timestamp && id === null,
        Object.fromEntries(Object.keys(unknown).map((name) => [name, sample[name]])),
      ]),
      [
        [content ?? first, type, true, shown],
        [second, type, true, unknown],
      ],
    )
    const [event] = await events(team)
    assert.deepEqual(event!.data.data, data)
    const fields = ['type', ...Object.keys(details).filter((name) => name !== 'tags')]
    const table = await query(team, user_id, resource, fields)
    for (const name of fields) assert.deepEqual(table[name], name === 'type' ? [type, type] : [details[name], null])
    // The same sample again says nothing new; another detail is another value.
    await storeSamples(team, user_id, resource, samples)
    assert.equal((await events(team)).length, 1)
    await storeSamples(team, user_id, resource, [samples[0]!, { ...samples[1]!, type: stored }])
    assert.deepEqual(
      (await events(team)).map(({ event_type }) => event_type.split('.').at(-1)),
      ['created', 'updated'],
    )
  })

test('a temperature of Apple Health has the place that its metadata names by number', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const places = ['1', 6, '11', '0', '12', 'constructor', undefined]
  const data = places.map((number, i) =>
    sentSample(`09:0${i}:00`, 36.6, { unit: 'degC', metadata: { HKBodyTemperatureSensorLocation: number } }),
  )
  await post(team, user_id, 'temperature', [...data, sentSample('09:30:00', 36.6, { metadata: { sensor_location: 'wrist' } })])
  const [group] = (await read(team, user_id, 'body_temperature')).groups.apple_health_kit
  assert.deepEqual(
    group.data.map(({ sensor_location }: { sensor_location: string | null }) => sensor_location),
    ['armpit', 'mouth', 'forehead', null, null, null, null, 'wrist'],
  )
})

test('the tags of notes are counted, and details are compared and grouped', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const note = (tags: string[] | null) => typeWithDetails('note', null, { content: 'Fictional', tags })
  const noted = [note(['food', 'exercise']), note([]), note(null)].map((type, i) => sampleAt(`${DAY}T09:0${i}:00`, 0, { type }))
  await storeSamples(team, user_id, 'note', noted)
  const count = { select: { func: 'count' }, from: { unnest: { timeseries: 'note', field: 'tags' } } }
  assert.deepEqual(await query(team, user_id, 'note', [], { select: [count] }), { 'count.tags': [2, 0, 0] })
  const insulin = (delivery_mode: string) => typeWithDetails('insulin_injection', 'long_acting', { delivery_mode })
  const doses = ['basal', 'bolus', 'basal'].map((mode, i) => sampleAt(`${DAY}T10:0${i}:00`, i + 1, { type: insulin(mode) }))
  await storeSamples(team, user_id, 'insulin_injection', doses)
  const sum = { func: 'sum', arg: { timeseries: 'insulin_injection', field: 'value' } }
  const group_by = [{ timeseries: 'insulin_injection', field: 'delivery_mode' }]
  assert.deepEqual(
    await query(team, user_id, 'insulin_injection', [], {
      select: [{ group_key: '*' }, sum],
      group_by,
      where: "type = 'long_acting'",
    }),
    { 'group_key.0': ['basal', 'bolus'], 'sum.value': [4, 2] },
  )
})
