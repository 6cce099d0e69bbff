// Values that cannot be are not stored, whatever their source. Unsourced: the bounds.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY, events, read } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { list } from '../../../test/support/summaries.ts'
import { sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { timeseriesNames } from '../resources/timeseries.ts'
import { summaryKinds } from '../summaries/schema.ts'
import { fieldBounds, sampleBounds } from './bounds.ts'
import { sampleFault } from './plausible.ts'

const now_ms = Date.parse(`${DAY}T12:00:00Z`)

describe('a sample', () => {
  test('of any timeseries and any number is within finite bounds or has a fault', () => {
    const numbers = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, 1e308, -1e308, -0))
    fc.assert(
      fc.property(fc.constantFrom(...timeseriesNames), numbers, (name, value) => {
        const fault = sampleFault(name, { value, second: null, at_ms: now_ms }, now_ms)
        if (name === 'note') return
        const [min, max] = sampleBounds[name]
        assert(Number.isFinite(min) && Number.isFinite(max) && min < max)
        assert.equal(fault === undefined, value >= min && value <= max, `${name} ${value}`)
      }),
      { numRuns: 2000 },
    )
  })

  test('of a cloud or a file that cannot be is left out, and the day shows that a part of it failed', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = [60, -5, 1e308, 401].map((value, i) => sampleAt(`${DAY}T09:0${i}:00`, value))
    const far = sampleAt('9999-01-31T09:00:00', 60)
    const counts = await storeSamples(team, user_id, 'heartrate', [...sent, far])
    assert.deepEqual([counts.accepted, counts.created, counts.dropped, counts.rejected], [1, 1, 0, 4])
    const [{ data }] = (await read(team, user_id, 'heartrate')).groups.oura
    assert.deepEqual(
      data.map(({ value }: { value: number }) => value),
      [60],
    )
    assert.equal((await events(team)).length, 1)
    const { body } = await team.api.get(`/v2/introspect/days?user_id=${user_id}&start_date=${DAY}&end_date=${DAY}`)
    const [{ days, last_error }] = body.data[0].resources
    assert.deepEqual([days[0].status, days[0].failed], ['stored', true])
    assert.equal(last_error.error_message, 'value must be between 1 and 400 bpm')
  })
})

test('a summary of a cloud or a file has only possible fields, and no field in the year 9999', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  for (const kind of summaryKinds)
    for (const [field, [min, max]] of Object.entries(fieldBounds[kind])) {
      assert(Number.isFinite(min) && Number.isFinite(max) && min < max, field)
      if (field.includes('.')) continue
      const of = (key: string, value: number) => ({
        key,
        calendar_date: kind === 'profile' ? null : DAY,
        document: { [field]: value },
      })
      const { accepted, rejected } = await storeSummaries(team, user_id, kind, [of('high', max + 1e6), of('low', min - 1e6)])
      assert.deepEqual([accepted, rejected], [2, 2], `${kind} ${field}`)
    }
  const activity = { key: 'far', calendar_date: '9999-01-31', document: { steps: 5 } }
  assert.equal((await storeSummaries(team, user_id, 'activity', [activity])).accepted, 0)
  const { rows } = await team.db.pool.query<{ day: string; document: object }>(
    `select calendar_date::text as day, document from summary where team_id = $1 and user_id = $2`,
    [team.team, user_id],
  )
  assert(rows.length > 8)
  for (const { day, document } of rows) {
    assert(day === null || day === DAY)
    assert(!Object.values(document).some((value) => typeof value === 'number'), JSON.stringify(document))
  }
})

test('stages outside of a session are cut off for every source', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const document = {
    sleep_id: '01890000-0000-7000-8000-000000000001',
    session_start: `${DAY}T00:00:00+00:00`,
    session_end: `${DAY}T01:00:00+00:00`,
    stage_start_offset_second: [-600, 1000, 4000],
    stage_end_offset_second: [1000, 7200, 5000],
    stage_type: [1, 2, 3],
  }
  await storeSummaries(team, user_id, 'sleep_cycle', [{ key: 'n', calendar_date: DAY, document }])
  const [cycle] = (await list(team, 'sleep_cycle', user_id)).sleep_cycle
  assert.deepEqual(
    [cycle.stage_start_offset_second, cycle.stage_end_offset_second, cycle.stage_type],
    [
      [0, 1000],
      [1000, 3600],
      [1, 2],
    ],
  )
})
