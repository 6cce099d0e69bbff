// Records as their providers sent them, as events. Source: events.md 3.1.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestPipelines, pipe } from '../../../test/support/brokers.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'

/** No broker listens there. */
const dead = { rabbitmq: { uri: 'amqp://events:swordfish@127.0.0.1:1/tunafish', exchange: 'marlin' } }
const pipelines = createTestPipelines()
const day = (steps_sum: number) => [{ day_summary: { calendar_date: '2026-01-31', steps_sum } }]
const run = {
  id: 'run-1',
  sport: 'Running',
  start_date: '2026-01-31T15:00:00Z',
  end_date: '2026-01-31T16:00:00Z',
  ascent_elevation: 12,
}

interface RawEvent {
  event_type: string
  user_id: string
  data: unknown
}

async function rawEvents({ db, team }: TestTeam): Promise<RawEvent[]> {
  const { rows } = await db.pool.query<{ body: Buffer | string }>(
    "select b.body from event e join event_body b on b.event_id = e.id where e.team_id = $1 and e.type like 'raw.%' order by e.id",
    [team],
  )
  return rows.map(({ body }) => JSON.parse(body.toString()) as RawEvent)
}

async function listQueued({ db, team }: TestTeam): Promise<string[]> {
  const { rows } = await db.pool.query<{ type: string }>(
    "select e.type from delivery d join event e on e.id = d.message_id where d.team_id = $1 and d.state = 'pending' order by e.type",
    [team],
  )
  return rows.map(({ type }) => type)
}

describe('raw events', () => {
  test('have a record as its provider sent it, once for each change, for a pipeline that asks for them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await pipe(team, dead, { provider_raw_data: true, event_type_prefixes: ['raw.', 'daily.data.activity.'] })
    await postSummary(team, 'activity', user_id, day(900))
    await postSummary(team, 'activity', user_id, day(900))
    await postSummary(team, 'activity', user_id, day(1200))
    await postSummary(team, 'workouts', user_id, [run])
    const sent = await rawEvents(team)
    assert.deepEqual(
      sent.map(({ event_type, data }) => [event_type, data]),
      [
        ['raw.apple_health_kit.activity', { calendar_date: '2026-01-31', steps_sum: 900 }],
        ['raw.apple_health_kit.activity', { calendar_date: '2026-01-31', steps_sum: 1200 }],
        ['raw.apple_health_kit.workouts', run],
      ].map(([type, data]) => [type, type === 'raw.apple_health_kit.workouts' ? iso(data as typeof run) : data]),
    )
    assert(sent.every((event) => event.user_id === user_id))
    await pipelines.drain()
    assert.deepEqual(await listQueued(team), [
      'daily.data.activity.created',
      'daily.data.activity.updated',
      'raw.apple_health_kit.activity',
      'raw.apple_health_kit.activity',
      'raw.apple_health_kit.workouts',
    ])
  })

  test('of a history go to a pipeline only if it also asks for histories', async () => {
    for (const [push_historical_data, expected] of [
      [false, []],
      [true, ['raw.apple_health_kit.activity']],
    ] as const) {
      const team = await createTestTeam()
      const user_id = await team.user()
      await pipe(team, dead, { provider_raw_data: true, push_historical_data, event_type_prefixes: ['raw.'] })
      await postSummary(team, 'activity', user_id, day(900), { stage: 'historical' })
      await pipelines.drain()
      assert.deepEqual(await listQueued(team), expected)
    }
  })

  test('are not sent without a pipeline that requests them', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await pipe(team, dead)
    for (const one of [team, other]) {
      const user_id = await one.user()
      await postSummary(one, 'activity', user_id, day(900))
      assert.equal((await list(one, 'activity', user_id)).activity.length, 1)
      assert.deepEqual(await rawEvents(one), [])
    }
  })

  test('are deleted with the data of their provider', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await pipe(team, dead, { provider_raw_data: true })
    await postSummary(team, 'activity', user_id, day(900))
    await postSummary(team, 'activity', user_id, day(700), { provider: 'health_connect' })
    assert.equal((await team.api.delete(`/v2/user/${user_id}/apple_health_kit?delete_data=true`)).status, 200)
    assert.deepEqual(
      (await rawEvents(team)).map(({ event_type }) => event_type),
      ['raw.health_connect.activity'],
    )
  })
})

/** Instants are stored as they are read. */
const iso = (activity: typeof run) => ({
  ...activity,
  start_date: new Date(activity.start_date).toISOString(),
  end_date: new Date(activity.end_date).toISOString(),
})
