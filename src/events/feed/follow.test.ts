// Reading a team's events without an endpoint. Events enter the feed by fan-out, which these tests run explicitly.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cells, client, expire, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { feedCleanup } from './feed.ts'

const delivery = delivering()
const WAITING_OF_A_TEAM = 20

const follow = async (team: TestTeam, query = '') => {
  const { status, body } = await team.api.get(`/v1/events/follow${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as {
    data: { id: string; type: string; object_id: string; created_at: string; body: string }[]
    next_cursor: string
    epoch: number
  }
}
const types = ({ data }: { data: { type: string }[] }) => data.map(({ type }) => type)
const [CREATED, UPDATED, CRITICAL] = ['labtest.order.created', 'labtest.order.updated', 'labtest.result.critical']

/** A team that has read its feed before, so that its events are numbered. */
const createFollower = async (): Promise<TestTeam> => {
  const team = await createTestTeam()
  await follow(team)
  return team
}

describe('the event feed', () => {
  test('a reader receives the same ids and bytes as an endpoint, in the same order', async () => {
    const team = await createFollower()
    const target = await receiver()
    await endpoint(team, { url: target.url })
    await emitEvents(team, [CREATED, UPDATED, UPDATED])
    await delivery.drain()
    const { data } = await follow(team)
    assert.deepEqual(
      data.map(({ id, body }) => ({ id, body })),
      target.received.map(({ headers, body }) => ({ id: headers['webhook-id'], body })),
    )
    const [first] = (await team.api.get('/v1/events?type=labtest.order.created')).body.data
    assert.deepEqual([data[0]!.object_id, data[0]!.created_at], [first.object_id, first.created_at])
  })

  test('a reader and the list of events get the same as an endpoint: the end of a history without its parts', async () => {
    const team = await createFollower()
    const target = await receiver()
    await endpoint(team, { url: target.url })
    const user_id = await team.user()
    const post = (stage: string, time: string) => {
      const data = [{ value: 61, unit: 'bpm', start_date: time, end_date: time }]
      const range = stage === 'historical' ? { start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T00:00:00Z' } : {}
      return team.api.post(`/v2/timeseries/${user_id}/heartrate`, { stage, ...range, provider: 'apple_health_kit', data })
    }
    for (const [stage, at] of [
      ['historical', '2026-01-30T09:30:00Z'],
      ['daily', '2026-01-31T09:30:00Z'],
    ] as const)
      assert.equal((await post(stage, at)).status, 200)
    await delivery.drain()
    const expected = ['provider.connection.created', 'historical.data.heartrate.created', 'daily.data.heartrate.created']
    assert.deepEqual(types(await follow(team)), expected)
    assert.deepEqual(
      (await team.api.get('/v1/events')).body.data.map(({ type }: { type: string }) => type).toReversed(),
      expected,
    )
    assert.deepEqual(
      target.received.map(({ body }) => (JSON.parse(body) as { event_type: string }).event_type).toSorted(),
      expected.toSorted(),
    )
  })

  test('a reader receives each event once, page by page, and a cursor when there are no more events', async () => {
    const team = await createFollower()
    await emitEvents(team, [CREATED, UPDATED, UPDATED, UPDATED, CRITICAL])
    await delivery.drain()
    const seen: string[] = []
    let page = await follow(team, '?limit=2')
    for (; page.data.length; page = await follow(team, `?limit=2&next_cursor=${page.next_cursor}`)) seen.push(...types(page))
    assert.deepEqual(seen, [CREATED, UPDATED, UPDATED, UPDATED, CRITICAL])
    await emitEvents(team, [UPDATED])
    await delivery.drain()
    assert.deepEqual(types(await follow(team, `?next_cursor=${page.next_cursor}`)), [UPDATED])
  })

  test('a reader misses no event that began before another and was committed after it', async () => {
    const team = await createFollower()
    const user_id = await team.user()
    const slow = await team.db.pool.connect()
    await slow.query('begin')
    const { rows } = await slow.query<{ id: string }>(
      `with inserted as (
         insert into event (id, team_id, type, object_id, user_id, created_at, body)
         values ('00000000-0000-7000-8000-000000000001', $1, $3, $2, $2, clock_timestamp(), '{}') returning id)
       insert into event_outbox (team_id, event_ids) select $1, array_agg(id) from inserted returning event_ids[1] as id`,
      [team.team, user_id, CRITICAL],
    )
    await emitEvents(team, [CREATED], { user: user_id })
    await delivery.drain()
    const before = await follow(team)
    assert.deepEqual(types(before), [CREATED])
    await slow.query('commit')
    slow.release()
    await delivery.drain()
    const after = await follow(team, `?next_cursor=${before.next_cursor}`)
    assert.deepEqual(
      after.data.map(({ id, type }) => [id, type]),
      [[`msg_${rows[0]!.id.replaceAll('-', '')}`, CRITICAL]],
    )
  })

  test('a reader misses no event after the database has lost its last numbers, and learns of it', async () => {
    const team = await createFollower()
    await emitEvents(team, [CREATED])
    await emitEvents(team, [UPDATED])
    await delivery.drain()
    const before = await follow(team)
    assert.deepEqual(types(before), [CREATED, UPDATED])
    // A standby that became the primary without the last fan-out: its timeline is another one, and the event waits again.
    await team.db.pool.query(
      `with lost as (delete from feed where team_id = $1 and seq = (select max(seq) from feed where team_id = $1) returning event_id)
       insert into event_outbox (team_id, event_ids) select $1, array_agg(event_id) from lost`,
      [team.team],
    )
    await team.db.pool.query(`update feed_epoch set server_state = ''`)
    await emitEvents(team, [CRITICAL])
    await delivery.drain()
    const after = await follow(team, `?next_cursor=${before.next_cursor}`)
    assert.deepEqual(types(after), [UPDATED, CRITICAL])
    assert.equal(after.data[0]!.id, before.data[1]!.id)
    assert(after.epoch > before.epoch)
    const { rows } = await team.db.pool.query<{ low: string; high: string }>(
      'select min(seq) as low, max(seq) as high from feed where team_id = $1',
      [team.team],
    )
    assert(
      Number(rows[0]!.high) - Number(rows[0]!.low) > 1e10,
      'numbers of the sequence that are given again are no numbers again',
    )
  })

  test('a reader can start at the present', async () => {
    const team = await createFollower()
    await emitEvents(team, [CREATED])
    await delivery.drain()
    const now = await follow(team, '?start=newest')
    assert.deepEqual(now.data, [])
    await emitEvents(team, [UPDATED])
    await delivery.drain()
    assert.deepEqual(types(await follow(team, `?next_cursor=${now.next_cursor}`)), [UPDATED])
  })

  test('a reader receives only the requested types, on whichever page they are', async () => {
    const team = await createFollower()
    await emitEvents(team, [...Array<string>(1100).fill(UPDATED), CRITICAL, CREATED, CRITICAL])
    await delivery.drain()
    const page = await follow(team, `?type=${CRITICAL}&limit=1`)
    assert.deepEqual(types(page), [CRITICAL])
    assert.deepEqual(types(await follow(team, `?type=${CRITICAL},${CREATED}&next_cursor=${page.next_cursor}`)), [
      CREATED,
      CRITICAL,
    ])
    assert.deepEqual(types(await follow(team, '?type=daily.data.activity.created')), [])
  })

  test('a reader receives no events of deleted or erased users, nor of other teams', async () => {
    const [team, other] = [await createFollower(), await createFollower()]
    const deleted = await emitEvents(team, [CREATED])
    await emitEvents(team, [UPDATED])
    await emitEvents(other, [CRITICAL])
    await delivery.drain()
    assert.deepEqual(types(await follow(team)), [CREATED, UPDATED])
    assert.equal((await team.api.delete(`/v2/user/${deleted}`)).status, 200)
    assert.deepEqual(types(await follow(team)), [UPDATED])
    await team.api.post('/v1/sandbox/clock/advance', { seconds: 8 * 86_400 })
    assert.deepEqual(types(await follow(team)), [UPDATED])
    const { next_cursor } = await follow(other)
    assert.equal((await team.api.get(`/v1/events/follow?next_cursor=${next_cursor}`)).status, 400)
    assert.equal((await team.api.get('/v1/events/follow?next_cursor=x')).status, 400)
  })
})

describe('a waiting request', () => {
  test('a waiting request returns when there is an event', async () => {
    const team = await createFollower()
    const waiting = follow(team, '?wait_s=25')
    await emitEvents(team, [CREATED])
    await delivery.drain()
    assert.deepEqual(types(await waiting), [CREATED])
  })

  test('a waiting request returns an empty page after the timeout without losing events', async () => {
    const team = await createFollower()
    const { data, next_cursor } = await follow(team, '?wait_s=1')
    assert.deepEqual(data, [])
    await emitEvents(team, [CREATED])
    await delivery.drain()
    assert.deepEqual(types(await follow(team, `?next_cursor=${next_cursor}`)), [CREATED])
  })

  test('a request keeps waiting for the requested type', async () => {
    const team = await createFollower()
    const waiting = follow(team, `?wait_s=25&type=${CRITICAL}`)
    await emitEvents(team, [CREATED])
    await delivery.drain()
    await emitEvents(team, [CRITICAL])
    await delivery.drain()
    assert.deepEqual(types(await waiting), [CRITICAL])
  })

  test('waiting requests do not hold database connections', async () => {
    const team = await createFollower()
    const asked = Array.from({ length: WAITING_OF_A_TEAM + 1 }, () => team.api.get('/v1/events/follow?wait_s=25'))
    const refused = await Promise.race(asked)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5'])
    assert.equal(cells.db(team.cell).pool.waitingCount, 0)
    const other = await createFollower()
    assert.equal((await client(other.key).get('/v1/events/follow?wait_s=0')).status, 200)
    await emitEvents(team, [CREATED])
    await delivery.drain()
    const answered = (await Promise.all(asked)).filter((reply) => reply !== refused)
    for (const { body } of answered) assert.deepEqual(types(body), [CREATED])
    assert.equal((await team.api.get('/v1/events/follow?wait_s=1')).status, 200)
  })
})

test('the feed keeps events for thirty days', async () => {
  const team = await createFollower()
  await emitEvents(team, [CREATED])
  await delivery.drain()
  const age = (days: number) =>
    team.db.pool.query('update feed set created_at = created_at - make_interval(days => $1) where team_id = $2', [
      days,
      team.team,
    ])
  await age(29)
  await expire(team.db, feedCleanup)
  assert.deepEqual(types(await follow(team)), [CREATED])
  await age(2)
  await expire(team.db, feedCleanup)
  assert.deepEqual(types(await follow(team)), [])
})
