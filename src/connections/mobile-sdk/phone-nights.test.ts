// Sessions of sleep as nights: pieces, halves, naps, and the order in which they come. Source: users-wearables.md 7; events.md 5.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { watch } from '../../../test/support/samples.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

/** Local times in Phoenix, seven hours behind, of the night to 2026-01-31. */
const timeAt = (time: string): string =>
  new Date(Date.parse(`2026-01-${time >= '18:00' ? '30' : '31'}T${time}:00-07:00`)).toISOString().replace('.000', '')
type Stage = [name: 'deep' | 'light' | 'rem' | 'awake', from: string, to: string]
const session = (start: string, end: string, stages: Stage[] = [['light', start, end]], overrides: object = {}) => ({
  id: randomUUID(),
  start_date: timeAt(start),
  end_date: timeAt(end),
  ...watch,
  sleep_stages: Object.fromEntries(
    ['deep', 'light', 'rem', 'awake'].map((name) => [
      `${name}_sleep_samples`,
      stages
        .filter(([stage]) => stage === name)
        .map(([, start, end]) => ({ value: 1, unit: 'stage', start_date: timeAt(start), end_date: timeAt(end), ...watch })),
    ]),
  ),
  ...overrides,
})
type Session = ReturnType<typeof session>
const send = async (team: TestTeam, user_id: string, ...sessions: Session[]) => {
  const { status, body } = await postSummary(team, 'sleep', user_id, sessions)
  assert.equal(status, 200, JSON.stringify(body))
}
const shownNight = (night: Record<string, unknown>) => [night.bedtime_start, night.bedtime_stop, night.total, night.awake]
const nights = async (team: TestTeam, user_id: string) => (await list(team, 'sleep', user_id)).sleep as Record<string, unknown>[]
const cycles = async (team: TestTeam, user_id: string) =>
  (await list(team, 'sleep_cycle', user_id)).sleep_cycle as { sleep_id: string; stage_type: number[] }[]
const utc = (time: string): string => timeAt(time).replace('Z', '+00:00')
const HOUR_S = 3600

describe('a night', () => {
  test('of which a piece came before, under another id, is the later, longer one', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await send(team, user_id, session('23:00', '23:50'))
    const [piece] = await nights(team, user_id)
    assert.equal(piece!.calendar_date, '2026-01-30')
    await send(
      team,
      user_id,
      session('23:00', '07:00', [
        ['deep', '23:00', '01:00'],
        ['light', '01:00', '07:00'],
      ]),
    )
    const [whole, ...others] = await nights(team, user_id)
    assert.deepEqual([shownNight(whole!), others], [[utc('23:00'), utc('07:00'), 8 * HOUR_S, 0], []])
    assert.notEqual(whole!.id, piece!.id)
    assert.deepEqual(
      (await cycles(team, user_id)).map(({ sleep_id }) => sleep_id),
      [whole!.id],
    )
    assert.deepEqual(
      (await ofKind(team, 'sleep')).map(({ event_type, data }) => [event_type, data.id]),
      [
        ['daily.data.sleep.created', piece!.id],
        ['daily.data.sleep.created', whole!.id],
      ],
    )
    // A piece that comes late, or again, is a part of it.
    await send(team, user_id, session('02:00', '04:00'))
    assert.deepEqual(await nights(team, user_id), [whole])
  })

  test('that is sent in halves is one night, also when parts are sent again, and has the values of both halves', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const rates = (mean: number, lowest: number) => ({ heart_rate_mean: mean, heart_rate_minimum: lowest, score: 70 })
    const first = session(
      '23:00',
      '03:00',
      [
        ['deep', '23:00', '00:00'],
        ['light', '00:00', '03:00'],
      ],
      rates(50, 44),
    )
    const second = session(
      '03:20',
      '05:20',
      [
        ['rem', '03:20', '04:20'],
        ['awake', '04:20', '05:20'],
      ],
      rates(62, 47),
    )
    await send(team, user_id, first)
    const [half] = await nights(team, user_id)
    for (const again of [[second], [first], [second], [first, second]]) {
      await send(team, user_id, ...again)
      const [night, ...others] = await nights(team, user_id)
      assert.deepEqual([night!.id, shownNight(night!)], [half!.id, [utc('23:00'), utc('05:20'), 5 * HOUR_S, HOUR_S]])
      assert.deepEqual([night!.deep, night!.light, night!.rem], [HOUR_S, 3 * HOUR_S, HOUR_S])
      assert.deepEqual([night!.hr_average, night!.hr_lowest, night!.score, night!.type], [54, 44, null, 'long_sleep'])
      assert.deepEqual(others, [])
      const [cycle, ...more] = await cycles(team, user_id)
      assert.deepEqual([cycle!.sleep_id, cycle!.stage_type, more], [half!.id, [1, 2, 3, 4], []])
    }
    assert.deepEqual(
      (await ofKind(team, 'sleep')).map(({ event_type }) => event_type),
      ['daily.data.sleep.created', 'daily.data.sleep.updated'],
    )
    // The night is corrected by one under a third id.
    await send(team, user_id, session('22:30', '06:00'))
    assert.deepEqual((await nights(team, user_id)).map(shownNight), [[utc('22:30'), utc('06:00'), 7.5 * HOUR_S, 0]])
  })

  test('of its own id is corrected as before, also to a shorter one', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const night = session('23:00', '07:00')
    await send(team, user_id, night)
    await send(team, user_id, { ...session('23:30', '06:00'), id: night.id })
    assert.deepEqual((await nights(team, user_id)).map(shownNight), [[utc('23:30'), utc('06:00'), 6.5 * HOUR_S, 0]])
  })

  test('stays apart from another night, a nap, another watch and another app', async () => {
    const cases: [first: Session, second: Session][] = [
      // More than two hours apart.
      [session('23:00', '02:00'), session('04:01', '07:00')],
      // A nap an hour and a half after the night.
      [session('23:00', '08:00'), session('09:30', '10:30')],
      [session('23:00', '07:00'), session('23:00', '07:30', undefined, { source_bundle: 'com.example.ring' })],
      [
        session('23:00', '07:00', undefined, { metadata: { _DMO: 'One', _DMA: 'Fictional' } }),
        session('23:00', '07:30', undefined, { metadata: { _DMO: 'Two', _DMA: 'Fictional' } }),
      ],
    ]
    for (const pair of cases)
      for (const together of [true, false]) {
        const team = await createTestTeam()
        const user_id = await team.user()
        if (together) await send(team, user_id, ...pair)
        else for (const one of pair) await send(team, user_id, one)
        assert.equal((await nights(team, user_id)).length, 2, JSON.stringify(pair))
      }
  })

  test('keeps a piece when the whole night lies outside of the bounds of ingestion', async () => {
    const team = await createTestTeam()
    const body = { client_user_id: randomUUID(), ingestion_end: '2026-01-29' }
    const { user_id } = (await team.api.post('/v2/user', body)).body
    await send(team, user_id as string, session('23:00', '23:50'))
    await send(team, user_id as string, session('23:00', '07:00'))
    assert.deepEqual((await nights(team, user_id as string)).map(shownNight), [[utc('23:00'), utc('23:50'), 50 * 60, 0]])
  })
})

test('any split of a night, in any order and any posts, is that night', async () => {
  const start = Date.parse(timeAt('22:00'))
  const time = (minute: number) => new Date(start + minute * 60_000).toISOString().replace('.000', '')
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      cuts,
      fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
      fc.integer({ min: 1, max: 3 }),
      async (at_minutes, order, size) => {
        const edges = [0, ...at_minutes.toSorted((a, b) => a - b), 501]
        const parts = edges.slice(1).map((end, i) => {
          const [start_date, end_date] = [time(edges[i]!), time(end)]
          const stage = { value: 1, unit: 'stage', start_date, end_date, ...watch }
          return {
            ...session('23:00', '23:01'),
            start_date,
            end_date,
            sleep_stages: { light_sleep_samples: [stage] },
          } as never as Session
        })
        const sent = parts.map((part, i) => [order[i]!, part] as const).toSorted(([a], [b]) => a - b)
        const team = await createTestTeam()
        const user_id = await team.user()
        const all = [...sent.map(([, part]) => part), ...sent.map(([, part]) => part)]
        for (let i = 0; i < all.length; i += size) await send(team, user_id, ...all.slice(i, i + size))
        assert.deepEqual((await nights(team, user_id)).map(shownNight), [
          [time(0).replace('Z', '+00:00'), time(501).replace('Z', '+00:00'), 501 * 60, 0],
        ])
      },
    ),
    { numRuns: 25 },
  )
})
