// What is optional of a sample is kept for each by itself, whatever the others of its hour have.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, post, read, type Sent } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'

interface Shown {
  timestamp: string
  timezone_offset: number | null
  value: number
  type: string | null
  end?: string
}
const ofHour = (time: string, value: number, overrides: Partial<Sent> = {}) =>
  sentSample(time, value, { unit: 'mL', ...overrides })
const zone = { metadata: { HKTimeZone: 'America/Phoenix' } }

describe('samples of one hour', () => {
  test('keep their ends, offsets and order if some have no ends and posts overlap', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const send = async (data: Sent[]) => counts((await post(team, user_id, 'water', data, { time_zone: undefined })).body)
    const first = [
      ofHour('09:30:00', 3, { end_date: '2026-01-31T09:31:00Z' }),
      ofHour('10:00:00', 6),
      ofHour('09:10:00', 1, zone),
      ofHour('09:59:59', 5),
    ]
    assert.deepEqual(await send(first), [4, 4, 0, 0])
    const between = [
      ofHour('10:00:01', 7, { ...zone, end_date: '2026-01-31T10:00:02Z' }),
      ofHour('09:20:00', 2),
      ofHour('09:59:59', 50, zone),
      ofHour('09:40:00', 40),
      ofHour('09:40:00', 4),
    ]
    assert.deepEqual(await send(between), [5, 3, 1, 0])
    assert.deepEqual(await send([...first.slice(0, 3), ...between.slice(1, 2)]), [4, 0, 0, 0])
    const { groups } = await read(team, user_id, 'water')
    const [group, ...others] = groups.apple_health_kit as { data: Shown[] }[]
    assert.equal(others.length, 0)
    assert.deepEqual(
      group!.data.map(({ timestamp, timezone_offset, value, end }) => [timestamp.slice(11, 19), timezone_offset, value, end]),
      [
        ['09:10:00', -25_200, 1, undefined],
        ['09:20:00', null, 2, undefined],
        ['09:30:00', null, 3, '2026-01-31T09:31:00+00:00'],
        ['09:40:00', null, 4, undefined],
        ['09:59:59', -25_200, 50, undefined],
        ['10:00:00', null, 6, undefined],
        ['10:00:01', -25_200, 7, '2026-01-31T10:00:02+00:00'],
      ],
    )
  })

  test('keep their types if some have no type', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const send = (time: string, value: number, metadata: object) =>
      post(team, user_id, 'sleep_breathing_disturbance', [sentSample(time, value, { unit: 'count', metadata })])
    await send('02:00:00', 2, { category: 'elevated' })
    await send('01:00:00', 1, {})
    await send('02:30:00', 3, {})
    await send('02:10:00', 4, { category: 'it\'s "quoted", {or} \\ so' })
    const { groups } = await read(team, user_id, 'sleep_breathing_disturbance')
    assert.deepEqual(
      (groups.apple_health_kit as { data: Shown[] }[])[0]!.data.map(({ value, type }) => [value, type]),
      [
        [1, null],
        [2, 'elevated'],
        [4, 'it\'s "quoted", {or} \\ so'],
        [3, null],
      ],
    )
  })

  test('keep values that no short text has, and a minute before 1970', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const values = [0.1 + 0.2, 1e-300, 5e-324, 1234567.123456789]
    const data = values.map((value, i) => sentSample('00:00:00', value, { ...instantOf(`1969-12-31T23:5${i}:00Z`) }))
    assert.deepEqual(counts((await post(team, user_id, 'distance', data)).body), [4, 4, 0, 0])
    assert.deepEqual(counts((await post(team, user_id, 'distance', data)).body), [4, 0, 0, 0])
    const { groups } = await read(team, user_id, 'distance', 'start_date=1969-12-31&end_date=1969-12-31')
    const shown = (groups.apple_health_kit as { data: Shown[] }[])[0]!.data
    assert.deepEqual(
      shown.map(({ value }) => value),
      values,
    )
    assert.equal(shown[0]!.timestamp, '1969-12-31T23:50:00+00:00')
  })
})

const instantOf = (text: string) => ({ start_date: text, end_date: text })
