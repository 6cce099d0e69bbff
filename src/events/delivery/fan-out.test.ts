// The backlog of one team does not keep events of another team from being fanned out.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { subscribeTeam, takeOutboxEntries } from '../../platform/queue/outbox.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { endpoint } from '../../../test/support/webhook-receiver.ts'
import { EVENTS_MAX, fanOut } from './fan-out.ts'
import { DestinationLeases } from './leases.ts'
import { DestinationQueues } from './limits.ts'

const ENDPOINTS = 20
const BACKLOG = 5000
const EVENTS_EACH = 2

const db = cells.db('sandbox-us')

/** Inserts outbox entries with a number of events each. @returns the ids of the events, in order */
async function announce(team_id: string, count: number, events: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ event_ids: string[] }>(
    `insert into event_outbox (team_id, event_ids)
     select $1, array(select gen_random_uuid() from generate_series(1, $3::int) where n > 0) from generate_series(1, $2::int) n
     returning event_ids`,
    [team_id, count, events],
  )
  return rows.flatMap(({ event_ids }) => event_ids)
}

async function subscribedTeam(): Promise<string> {
  const { team } = await createTestTeam()
  await subscribeTeam(db.queries, team)
  return team
}

/** One round with a limit of outbox entries. @returns the entries taken, and whether there are more */
const take = (entries: number) =>
  db.asyncCommitTx((tx) =>
    takeOutboxEntries(tx, { entries, events: 2000, deliveries: 2000 }, async (teams) => new Map(teams.map((team) => [team, 1]))),
  )

describe('the fan-out of a cell', () => {
  beforeEach(() => db.pool.query('delete from event_outbox'))

  test('the next round takes an event regardless of how many outbox entries another team has before it', async () => {
    const [busy, quiet] = await Promise.all([createTestTeam(), createTestTeam()])
    for (let i = 0; i < ENDPOINTS; i++) await endpoint(busy, { url: `http://localhost:1/${i}` })
    const backlog = await announce(busy.team, BACKLOG, EVENTS_EACH)
    await subscribeTeam(db.queries, quiet.team)
    const [single] = await announce(quiet.team, 1, 1)
    const options = {
      leases: new DestinationLeases(db),
      queues: new DestinationQueues(),
      findDeletedUsers: () => Promise.resolve(new Set<string>()),
      faults: undefined,
      now_ms: () => performance.now(),
    }
    const { rows: before } = await db.pool.query<{ seq: string }>('select coalesce(max(seq), 0) as seq from feed')
    const readEmitted = async () => {
      const { rows } = await db.pool.query<{ team_id: string; event_id: string }>(
        'select team_id, event_id from feed where seq > $1 order by seq',
        [before[0]!.seq],
      )
      return rows
    }
    assert.equal((await fanOut(db, options, EVENTS_MAX)).hasMore, true, 'more is waiting')
    assert.ok(
      (await readEmitted()).some(({ event_id }) => event_id === single),
      'the first round fans out the event of the quiet team',
    )
    for (let i = 0; i < 3; i++) await fanOut(db, options, EVENTS_MAX)
    const ofBusy = (await readEmitted()).filter(({ team_id }) => team_id === busy.team).map(({ event_id }) => event_id)
    assert.ok(ofBusy.length >= 300, `${ofBusy.length} events of the busy team in four rounds`)
    assert.deepEqual(ofBusy, backlog.slice(0, ofBusy.length), 'in the order in which they were announced')
  })

  test('a round takes as much of one team as of several', async () => {
    await announce(await subscribedTeam(), 700, 1)
    const first = await take(500)
    assert.deepEqual([first.entries.length, first.isMore], [500, true])
    const second = await take(500)
    assert.deepEqual([second.entries.length, second.isMore], [200, false])
  })

  test('fan-out takes everything, in order for each team, also with more teams than one round reads', async () => {
    const teams = await Promise.all(Array.from({ length: 40 }, subscribedTeam))
    const announced = new Map<string, string[]>()
    for (const [i, team] of teams.entries()) announced.set(team, await announce(team, i === 0 ? 60 : 1 + (i % 4), 1 + (i % 3)))
    const taken = new Map<string, string[]>()
    const firsts: string[] = []
    let isMore = true
    for (let rounds = 1; isMore; rounds++) {
      assert.ok(rounds <= 100, 'it comes to an end')
      const round = await take(10)
      isMore = round.isMore
      for (const { team_id, event_ids } of round.entries) {
        if (!taken.has(team_id)) firsts.push(team_id)
        taken.set(team_id, [...(taken.get(team_id) ?? []), ...event_ids])
      }
    }
    assert.deepEqual(taken, announced)
    assert.deepEqual(firsts, teams, 'the team that has waited longest comes first')
  })
})
