// The queue of stored messages: what is processed when, and what one message or link may cost others.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { erase } from '../../../test/contract/operations/erased-users.ts'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { labLink, messageFor, observation, observedTest, storeMessage, toBytes } from '../../../test/support/link-messages.ts'
import { acceptedOrder } from '../../../test/support/results.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { ordersErased } from '../orders/order-hooks.ts'
import { createProcessing, MessageProcessor } from './message-processing.ts'
import { queueOutgoing, saveOutcome } from './message-store.ts'

const log = createLog('silent')

/** A team with a link, and a way to store messages about new orders. */
async function linkedTeam() {
  const team = await createTestTeam()
  const account = await labLink(team)
  return {
    team,
    account,
    order: () => acceptedOrder(team, 'walk_in_test', { lab_account_id: account }),
    store: async (message: unknown) =>
      (await storeMessage(team, { bytes: toBytes(message), link_account_id: account, source: 'command' })).message_id,
  }
}

const messageAbout = (order: Parameters<typeof messageFor>[0], value: string) =>
  messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', value)] })])

const States = T.Object({ id: T.String(), state: T.String(), attempts: T.Integer() })
async function readStates({ db }: TestTeam, ids: string[]): Promise<string[]> {
  const rows = await db.queries.many(States, sql`select id, state, attempts from lab_message where id = any (${ids}::uuid[])`)
  return ids.map((id) => rows.find((row) => row.id === id)!.state)
}

/** Runs a worker of messages while `work` runs. */
async function whileWorking(
  work: () => Promise<void>,
  findTenant: typeof guard.tenant = (cell, team) => guard.tenant(cell, team),
): Promise<void> {
  const processor = new MessageProcessor({ cells, findTenant, log })
  processor.start()
  await work().finally(() => processor.stop())
}

describe('a stored message', () => {
  test('is processed by the worker of its process', async () => {
    const { team, order, store } = await linkedTeam()
    const first = await order()
    await whileWorking(async () => {
      const id = await store(messageAbout(first, '5'))
      await eventuallyHolds(async () => assert.deepEqual(await readStates(team, [id]), ['applied']))
    })
  })

  test('that cannot be read, or that fails for another reason, does not stop those that follow', async () => {
    const { team, order, store } = await linkedTeam()
    const other = await linkedTeam()
    const ids = [
      await store('not a message'),
      await other.store(messageAbout(await other.order(), '5')),
      await store(messageAbout(await order(), '5')),
    ]
    const findTenant: typeof guard.tenant = (cell, id) =>
      id === other.team.team ? Promise.reject(new Error('unexpected')) : guard.tenant(cell, id)
    await whileWorking(
      () => eventuallyHolds(async () => assert.deepEqual(await readStates(team, ids), ['failed', 'received', 'applied'])),
      findTenant,
    )
  })

  test('waits for an earlier message about its order, and only for that', async () => {
    const { team, order, store } = await linkedTeam()
    const [one, two] = [await order(), await order()]
    const first = await store(messageAbout(one, '5'))
    const [second, unrelated] = [await store(messageAbout(one, '6')), await store(messageAbout(two, '5'))]
    const { runner } = createProcessing({ cell: 'sandbox-us', db: team.db, findTenant: guard.tenant })
    const claim = async () =>
      (await runner.queue.claim(1000, sql`id = any (${[first, second, unrelated]}::uuid[])`)).map(({ id }) => id)
    const claimed = await claim()
    assert.deepEqual(claimed.sort(), [first, unrelated].sort())
    assert.deepEqual(await claim(), [])
    // Its attempt failed and is repeated later: that does not stop the next.
    await team.db.queries.run(sql`
      update lab_message set due_at = now() + interval '1 minute', owner = null, leased_until = null where id = ${first}`)
    assert.deepEqual(await claim(), [second])
  })

  test('is processed once by several workers, and its last value counts', async () => {
    const { team, order, store } = await linkedTeam()
    const one = await order()
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await store(messageAbout(one, `${i}`)))
    const processors = [1, 2, 3].map(() => new MessageProcessor({ cells, findTenant: guard.tenant, log }))
    for (const processor of processors) processor.start()
    await eventuallyHolds(async () =>
      assert.deepEqual(
        (await readStates(team, ids)).filter((state) => state !== 'applied'),
        [],
      ),
    )
    await Promise.all(processors.map((processor) => processor.stop()))
    const rows = await team.db.queries.many(
      States,
      sql`select id, state, attempts from lab_message where id = any (${ids}::uuid[]) and attempts <> 1`,
    )
    assert.deepEqual(rows, [])
    assert.equal((await team.api.get(`/v3/order/${one.id}/result`)).body.results[0].result, '19')
  })

  test('of one link is processed while those of another link wait for something', async () => {
    const slow = await linkedTeam()
    const quick = await linkedTeam()
    const orders = await Promise.all(Array.from({ length: 12 }, () => slow.order()))
    const slowIds = await Promise.all(orders.map((order) => slow.store(messageAbout(order, '5'))))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const findTenant: typeof guard.tenant = async (cell, id) => {
      if (id === slow.team.team) await released
      return guard.tenant(cell, id)
    }
    await whileWorking(async () => {
      for (let i = 0; i < 3; i++) {
        const id = await quick.store(messageAbout(await quick.order(), '5'))
        await eventuallyHolds(async () => assert.deepEqual(await readStates(quick.team, [id]), ['applied']))
      }
      assert((await readStates(slow.team, slowIds)).every((state) => state === 'received'))
      release()
      await eventuallyHolds(async () => assert((await readStates(slow.team, slowIds)).every((state) => state === 'applied')))
    }, findTenant)
  })

  test('of one link waits for no more than as many of a link with older messages', async () => {
    const [flooding, other] = await Promise.all([linkedTeam(), linkedTeam()])
    const storeMany = async ({ order, store }: typeof flooding) => {
      const orders = await Promise.all(Array.from({ length: 10 }, order))
      return Promise.all(orders.map((linkedOrder) => store(messageAbout(linkedOrder, '5'))))
    }
    const ids = { flooding: await storeMany(flooding), other: await storeMany(other) }
    /** Messages in work, oldest first. */
    const inWork: { team_id: string; release: () => void }[] = []
    let isOver = false
    const findTenant: typeof guard.tenant = async (cell, team_id) => {
      if (!isOver && [flooding, other].some(({ team }) => team.team === team_id))
        await new Promise<void>((release) => inWork.push({ team_id, release }))
      return guard.tenant(cell, team_id)
    }
    const turns: string[] = []
    await whileWorking(async () => {
      try {
        for (let n = 0; n < 12; n++) {
          await eventuallyHolds(() => assert.equal(inWork.length, 3))
          const { team_id, release } = inWork.shift()!
          turns.push(team_id === other.team.team ? 'other' : 'flooding')
          release()
        }
      } finally {
        isOver = true
        for (const { release } of inWork) release()
      }
      await eventuallyHolds(async () => {
        const states = [...(await readStates(flooding.team, ids.flooding)), ...(await readStates(other.team, ids.other))]
        assert(states.every((state) => state === 'applied'))
      })
    }, findTenant)
    assert(turns.filter((turn) => turn === 'other').length >= 5, turns.join(' '))
  })
})

describe('an outgoing message', () => {
  test('is queued with the transaction of its order, once for its control id, and is erased with the user', async () => {
    const { team, account, order } = await linkedTeam()
    const { id: order_id, user_id } = await order()
    const control_id = randomUUID()
    const bytes = toBytes('MSH|')
    const queue = (fails: boolean) =>
      team.db.tx(team.tenant, async (tx) => {
        queueOutgoing(tx, { link_account_id: account, order_id, control_id, message_type: 'OML^O21', bytes })
        if (fails) throw new Error('the order fails')
      })
    const count = async () => {
      const [row] = await team.db.queries.many(
        T.Object({ n: T.Integer() }),
        sql`select count(*)::int as n from lab_message where control_id = ${control_id} and state = 'queued' and due_at <= now()`,
      )
      return row!.n
    }
    await assert.rejects(queue(true), /the order fails/)
    assert.equal(await count(), 0)
    await queue(false)
    await assert.rejects(queue(false), /lab_message__sent_once/)
    assert.equal(await count(), 1)
    await erase(team, [user_id])
    assert.equal(await count(), 0)
  })
})

describe('a message about an order that is erased', () => {
  const Named = T.Object({ id: T.String(), order_id: Nullable(T.String()) })
  const named = (team: TestTeam, ids: string[]) =>
    team.db.queries.many(Named, sql`select id, order_id from lab_message where id = any (${ids}::uuid[]) order by id`)

  test('goes with the order, if it came after the messages of the user were erased', async () => {
    const { team, account, order } = await linkedTeam()
    const [erased, other] = [await order(), await order()]
    const queue = ({ id: order_id }: typeof erased) =>
      team.db.tx(team.tenant, async (tx) =>
        queueOutgoing(tx, {
          link_account_id: account,
          order_id,
          control_id: randomUUID(),
          message_type: 'OML^O21',
          bytes: toBytes('MSH|'),
        }),
      )
    const [gone, left] = [await queue(erased), await queue(other)]
    await team.db.tx(team.tenant, (tx) => tx.notify(ordersErased, [erased.id]))
    assert.deepEqual(await named(team, [gone, left]), [{ id: left, order_id: other.id }])
  })

  test('does not name it, if it was processed meanwhile', async () => {
    const { team, order, store } = await linkedTeam()
    const present = (await order()).id
    const [first, second] = [await store(`MSH|${randomUUID()}`), await store(`MSH|${randomUUID()}`)]
    const save = (id: string, order_id: string) =>
      saveOutcome(team.db, id, {
        state: 'shadow',
        reason: null,
        error: null,
        raw_result_ids: [],
        order_id,
        team_id: team.team,
      })
    await save(first, present)
    await save(second, randomUUID())
    const orders = new Map((await named(team, [first, second])).map((row) => [row.id, row.order_id]))
    assert.deepEqual([orders.get(first), orders.get(second)], [present, null])
  })
})

describe('a message without a link', () => {
  test('is stored once for the same bytes, and is not processed', async () => {
    const team = await createTestTeam()
    const source = `mllp 192.0.2.${1 + Math.floor(Math.random() * 250)}:40000`
    const bytes = Buffer.from(`MSH|^~\\&|${randomUUID()}\r`)
    const incoming = { bytes, link_account_id: null, source }
    const [first, again] = [await storeMessage(team, incoming), await storeMessage(team, incoming)]
    assert.deepEqual([first.isRepetition, again.isRepetition, again.message_id], [false, true, first.message_id])
    assert.deepEqual(await readStates(team, [first.message_id]), ['failed'])
  })

  test('is stored 1,000 times a day for one address, whatever the port', async () => {
    const team = await createTestTeam()
    const address = `mllp 2001:db8::${randomUUID().slice(0, 4)}`
    await team.db.queries.run(sql`
      insert into lab_message (id, direction, source, digest, bytes, state, created_at, updated_at)
      select gen_random_uuid(), 'in', ${address}, gen_random_uuid()::text, 'x', 'failed', now(), now() from generate_series(1, 999)`)
    const send = (port: number) =>
      storeMessage(team, { bytes: Buffer.from(randomUUID()), link_account_id: null, source: `${address}:${port}` })
    await send(1)
    await assert.rejects(send(2), { status: 429 })
  })
})
