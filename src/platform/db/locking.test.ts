import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import type { Tx } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { raw, sql } from './sql.ts'

const Id = T.Object({ id: T.String() })
const ofTeam = (tx: Tx) => sql`select id from team where id = ${tx.team}`

for (const strength of ['for update', 'for no key update', 'for share', 'for key share'])
  test(`a row that a transaction has locked ${strength} stays locked until the transaction ends`, async () => {
    const { db, tenant, team } = await createTestTeam()
    const lockedElsewhere = () =>
      db.plainTx((otherTx) =>
        otherTx.locking
          .many(Id, sql`select id from team where id = ${team} for update skip locked`)
          .then((rows) => rows.length === 0),
      )
    await db.tx(tenant, async (tx) => {
      const rows = await tx.locking.many(Id, sql`${ofTeam(tx)} ${raw(strength)}`)
      assert.deepEqual(rows, [{ id: team }])
      assert.equal(await lockedElsewhere(), true)
    })
    assert.equal(await lockedElsewhere(), false)
  })

test('an advisory lock of a transaction is held until the transaction ends', async () => {
  const { db, tenant, team } = await createTestTeam()
  const Free = T.Object({ free: T.Boolean() })
  const free = () =>
    db.plainTx((otherTx) =>
      otherTx.locking.one(Free, sql`select pg_try_advisory_xact_lock(hashtextextended(${team}, 0)) as free`),
    )
  await db.tx(tenant, async (tx) => {
    await tx.locking.run(sql`select pg_advisory_xact_lock(hashtextextended(${team}, 0))`)
    assert.deepEqual(await free(), { free: false })
  })
  assert.deepEqual(await free(), { free: true })
})

test('a select that locks or writes without declaring it fails if rows are checked', async () => {
  const { db, tenant } = await createTestTeam()
  const refused = (select: (tx: Tx) => Promise<unknown>) =>
    assert.rejects(db.tx(tenant, select), /read-only|must be sent through/)
  await refused((tx) => tx.run(sql`${ofTeam(tx)} for key share`))
  await refused((tx) => tx.maybe(Id, sql`${ofTeam(tx)} for no key update`))
  await refused((tx) => tx.run(sql`select nextval('order_event_id')`))
  await refused((tx) => tx.run(sql`select pg_advisory_xact_lock(1)`))
})

const Began = T.Object({ at: T.String() })

test('after the first write a select is part of the transaction', async () => {
  const { db, tenant } = await createTestTeam()
  await db.tx(tenant, async (tx) => {
    await tx.locking.run(sql`${ofTeam(tx)} for no key update`)
    // The instant at which the transaction began.
    assert.deepEqual(await tx.one(Began, sql`select now() as at`), await tx.one(Began, sql`select now() as at`))
  })
})

test('a read cannot lock', async () => {
  const { db, tenant } = await createTestTeam()
  await assert.rejects(
    db.read(tenant, (tx) => tx.locking.run(sql`${ofTeam(tx)} for share`)),
    /cannot write or lock/,
  )
})
