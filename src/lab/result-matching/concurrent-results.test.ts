// Results that arrive over a link at the same time: different ones with one message id, and repetitions. Each result is stored once, and
// none is in two teams. Source: lab-testing.md 13.1, 14.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { countLockWaiters, getOrder } from '../../../test/support/orders.ts'
import { acceptedOrder, deliveryFor, receiveOverLink } from '../../../test/support/results.ts'
import { asOwner, cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import type { Order } from '../orders/schema.ts'
import type { IncomingResult } from './incoming-result.ts'
import { assignToTeam } from './operator-reviews.ts'
import type { Receipt } from './receive.ts'

const ROUNDS = 20

const db = cells.db('sandbox-us')
const receive = (delivery: IncomingResult): Promise<Receipt> => receiveOverLink(delivery)

/** A team with an order that awaits its result, and a result that certainly belongs to that order. */
interface Side {
  team: TestTeam
  order: Order
  delivery: IncomingResult
}

/** Two teams; their results have one message id, and each names the lab account of its own team. */
async function sidesByAccount(message_id: string): Promise<[Side, Side]> {
  const side = async (): Promise<Side> => {
    const team = await createTestTeam()
    const account_number = `FICTIONAL-${randomUUID()}`
    await labAccount(team, { lab: 'quest', provider_account_id: account_number })
    const order = await acceptedOrder(team)
    return { team, order, delivery: await deliveryFor(team, order, { message_id, account_number }) }
  }
  return [await side(), await side()]
}

/** Two teams; their results have one message id and one sample id, and each is of a patient whom only one of the teams knows. */
async function sidesByPatient(message_id: string): Promise<[Side, Side]> {
  const sample_id = `SHARED-${randomUUID()}`
  const side = async (dob: string): Promise<Side> => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await team.db.queries.run(sql`
      update lab_order
      set sample_id = ${sample_id}, document = replace(replace(document, ${order.sample_id}, ${sample_id}), '1990-01-31', ${dob})
      where id = ${order.id} and team_id = ${team.team}`)
    const delivery = await deliveryFor(team, order, { message_id, sample_id })
    return { team, order, delivery: { ...delivery, patient: { ...delivery.patient!, dob } } }
  }
  return [await side('1990-01-31'), await side('1991-02-28')]
}

const Stored = T.Object({ id: T.String(), team_id: Nullable(T.String()), status: T.String(), order_id: Nullable(T.String()) })
/** The stored results with a message id, of all teams and of none. */
const storedResults = (message_id: string) =>
  db.queries.many(
    Stored,
    sql`select id, team_id, status, resolved_order_id as order_id from raw_result where message_id = ${message_id}`,
  )

/** Locks an order, so that a transaction that has stored a result for it waits. */
async function lockOrderRow({ order }: Side): Promise<{ release: () => Promise<void> }> {
  const client = await db.pool.connect()
  await client.query('begin')
  await client.query('select from lab_order where id = $1 for update', [order.id])
  let isHeld = true
  return {
    async release() {
      if (!isHeld) return
      isHeld = false
      await client.query('rollback')
      client.release()
    },
  }
}

for (const [what, makeSides] of [
  ['name accounts of different teams', sidesByAccount],
  ['are of patients of different teams', sidesByPatient],
] as const) {
  test(`two results with one message id that ${what} are both matched, each with the order of its own team`, async () => {
    const [first, second] = await makeSides(randomUUID())
    const receipts = await Promise.all([receive(first.delivery), receive(second.delivery)])
    assert.deepEqual(
      receipts.map(({ status, order_id, isDuplicate }) => [status, order_id, isDuplicate]),
      [
        ['matched', first.order.id, false],
        ['matched', second.order.id, false],
      ],
    )
    for (const { team, order } of [first, second])
      assert.equal((await getOrder(team, order.id)).last_event.status, 'completed.walk_in_test.completed')
  })

  test(`of results with one message id that ${what} and arrive together, each team's and no team's, each is stored once`, async () => {
    const [one, other] = await makeSides(randomUUID())
    const nobodys = { ...one.delivery, account_number: null, sample_id: `NOBODYS-${randomUUID()}` }
    for (let round = 0; round < ROUNDS; round++) {
      const message_id = randomUUID()
      const deliveries = [one.delivery, other.delivery, nobodys, one.delivery, other.delivery].map((delivery) => ({
        ...delivery,
        message_id,
      }))
      // Each of them is the first one to be sent in some rounds.
      const first = round % deliveries.length
      const receipts = await Promise.all([...deliveries.slice(first), ...deliveries.slice(0, first)].map(receive))
      const byDelivery = deliveries.map((_delivery, i) => receipts[(i - first + deliveries.length) % deliveries.length]!)
      const ids = byDelivery.map(({ raw_result_id }) => raw_result_id)
      assert.deepEqual([ids[3], ids[4]], [ids[0], ids[1]], `round ${round}`)
      const stored = await storedResults(message_id)
      assert.deepEqual(stored.map(({ id }) => id).sort(), [...new Set(ids)].sort(), `round ${round}`)
      assert.equal(receipts.filter(({ isDuplicate }) => !isDuplicate).length, 3, `round ${round}`)
      const teams = new Map(stored.map(({ id, team_id }) => [id, team_id]))
      assert.deepEqual(
        ids.slice(0, 3).map((id) => teams.get(id)),
        [one.team.team, other.team.team, null],
      )
      assert.deepEqual([await one.team.events(ids[1]), await other.team.events(ids[0])], [[], []])
    }
  })
}

test('a repetition that arrives while its message is matched waits and is a known duplicate', async () => {
  const [side] = await sidesByAccount(randomUUID())
  const lock = await lockOrderRow(side)
  try {
    const receiving = receive(side.delivery)
    await countLockWaiters(1)
    const duplicate = receive(side.delivery)
    await countLockWaiters(2)
    await lock.release()
    const receipt = await receiving
    assert.deepEqual([receipt.status, receipt.order_id, receipt.isDuplicate], ['matched', side.order.id, false])
    assert.deepEqual(await duplicate, { ...receipt, isDuplicate: true })
    assert.deepEqual(await storedResults(side.delivery.message_id), [
      { id: receipt.raw_result_id, team_id: side.team.team, status: 'matched', order_id: side.order.id },
    ])
  } finally {
    await lock.release()
  }
})

test('a repetition that waits for its message is matched if the message is not stored', async () => {
  const [side] = await sidesByAccount(randomUUID())
  const lock = await lockOrderRow(side)
  try {
    const failing = assert.rejects(receive(side.delivery))
    await countLockWaiters(1)
    const receiving = receive(side.delivery)
    await countLockWaiters(2)
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%for update%'`
    assert.equal((await asOwner(cancel)).rowCount, 1)
    await failing
    await lock.release()
    const receipt = await receiving
    assert.deepEqual([receipt.status, receipt.order_id, receipt.isDuplicate], ['matched', side.order.id, false])
  } finally {
    await lock.release()
  }
})

test('an unassigned result that is assigned to two teams at the same time goes to one of them', async () => {
  const [one, other] = await sidesByAccount(randomUUID())
  for (let round = 0; round < ROUNDS; round++) {
    const delivery = { ...one.delivery, message_id: randomUUID(), account_number: null, sample_id: `NOBODYS-${randomUUID()}` }
    const { raw_result_id } = await receive(delivery)
    const assign = ({ team }: Side) => db.txOnWholeCell(team.tenant, (tx) => assignToTeam(tx, raw_result_id))
    const sides = round % 2 ? [one, other] : [other, one]
    const receipts = await Promise.all(sides.map(assign))
    const [owner, ...more] = sides.filter((_side, i) => receipts[i] !== undefined)
    assert.equal(more.length, 0, `round ${round}`)
    const [stored] = await storedResults(delivery.message_id)
    assert.equal(stored!.team_id, owner!.team.team)
    const loser = sides.find((side) => side !== owner)!
    assert.deepEqual(await loser.team.events(raw_result_id), [])
  }
})
