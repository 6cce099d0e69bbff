// The end of deleted users: after their grace nothing of them is left in their cell, whatever tables there are and whatever module wrote
// them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { advanceClock, createOrder, SECONDS_PER_DAY } from '../support/orders.ts'
import { acceptedOrder, deliveryFor, receiveResult } from '../support/results.ts'
import { createTestTeam, type TestTeam } from '../support/server.ts'
import { busyTeam } from './operations/busy-team.ts'
import { rowsOf } from './operations/rows.ts'

const GRACE_S = 7 * SECONDS_PER_DAY

/** Tables whose rows may name a user after the erasure, and why. */
const KEPT: Record<string, string> = {
  audit_log: 'who did what stays recorded',
  job: 'a job of a later day has ids; it finds nothing then',
  feed: 'the order of events, by their ids; an event that is gone is left out',
  event_outbox: 'ids of events that are about to be sent; one that is gone is not',
}

/** What texts about test people have, in whatever form a column has them. */
const PEOPLE = /Testa|1990-01-31/i
/** The order of samples of events, which test messages to endpoints hold. */
const SAMPLE = '00000000-0000-4000-8000-000000000002'

const idsOf = async (
  { db, team }: TestTeam,
  table: 'user' | 'lab_order' | 'appointment' | 'parsing_job' | 'event',
): Promise<string[]> => {
  const only = table === 'event' ? 'and user_id is not null' : ''
  const { rows } = await db.pool.query<{ id: string }>(`select id::text from "${table}" where team_id = $1 ${only}`, [team])
  return rows.map(({ id }) => id)
}

/** Deletes users, and lets their grace pass. */
async function erase(team: TestTeam, users: string[]): Promise<void> {
  for (const id of users) {
    const { status } = await team.api.delete(`/v2/user/${id}`)
    assert(status === 200 || status === 404, `HTTP ${status}`)
  }
  await advanceClock(team, GRACE_S + 60)
}

/** Rows of the team that have one of these texts: `table: row`. */
async function rowsWith(team: TestTeam, texts: readonly string[], pattern?: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const [name, rows] of Object.entries(await rowsOf(team)))
    for (const row of rows)
      if (!(name in KEPT) && (texts.some((text) => row.includes(text)) || (pattern?.test(row) && !row.includes(SAMPLE))))
        found.push(`${name}: ${row.slice(0, 400)}`)
  return found
}

test('the erasure of all users of a team that has used every operation leaves nothing of them in any table', async () => {
  const team = await busyTeam()
  const ids: Record<string, string[]> = {}
  for (const table of ['user', 'lab_order', 'appointment', 'parsing_job', 'event'] as const) {
    ids[table] = await idsOf(team, table)
    assert(ids[table].length > 0, table)
  }
  await erase(team, ids.user!)
  assert.deepEqual(await idsOf(team, 'user'), [])
  assert.deepEqual(await rowsWith(team, Object.values(ids).flat(), PEOPLE), [])
})

test('a result that can be of two users names the other one alone when one is erased, and is gone with the second', async () => {
  const team = await createTestTeam()
  const order = await acceptedOrder(team)
  const other = await createOrder(team, { lab_test_id: order.lab_test.id })
  const receipt = await receiveResult(team, await deliveryFor(team, order, { sample_id: 'NOBODYS', message_id: randomUUID() }))
  assert.equal(receipt.decision_code, 'multiple_demo_match')
  const review = async () => team.api.get(`/v3/unmatched_result/${receipt.raw_result_id}`)
  const candidates = async () => (await review()).body.candidate_groups.map(({ user_id }: { user_id: string }) => user_id)
  assert.deepEqual((await candidates()).toSorted(), [order.user_id, other.user_id].toSorted())
  await erase(team, [order.user_id])
  assert.deepEqual(await candidates(), [other.user_id])
  assert.deepEqual(await rowsWith(team, [order.user_id, order.id]), [])
  await erase(team, [other.user_id])
  assert.equal((await review()).status, 404)
  assert.deepEqual(await rowsWith(team, [other.user_id, other.id, receipt.raw_result_id]), [])
})

test('the total of a list stays right when the rows of its checkpoints are erased', async () => {
  const team = await createTestTeam()
  const users: string[] = []
  for (let i = 0; i < 12; i++) users.push(await team.user())
  // A checkpoint at every third user, where lists of users have one at every 500th.
  await team.db.pool.query(
    `insert into user_checkpoint (team_id, created_on, id, shown)
     select team_id, created_on, id, 3 from (
       select team_id, created_on, id, row_number() over (order by created_on, id) as place from "user" where team_id = $1) u
     where place > 1 and place % 3 = 1`,
    [team.team],
  )
  const { rows } = await team.db.pool.query<{ id: string }>(
    'select id::text from user_checkpoint where team_id = $1 order by created_on, id',
    [team.team],
  )
  const places = rows.map(({ id }) => id)
  assert.equal(places.length, 3)
  const total = async () => (await team.api.get('/v2/user')).body.total
  assert.equal(await total(), 12)
  // One with a checkpoint after it, then the last of them.
  for (const [n, id] of [places[0]!, places[2]!].entries()) {
    await erase(team, [id])
    assert.equal(await total(), 11 - n)
    assert.deepEqual(await rowsWith(team, [id]), [])
  }
  await erase(team, users)
  assert.equal(await total(), 0)
})
