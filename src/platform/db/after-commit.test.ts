// A function that runs after the commit cannot undo it, nor release its connection twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'

const One = T.Object({ one: T.Integer() })

test('an error of a function that runs after the commit is reported and changes neither the commit nor the connection', async () => {
  const { db, team, tenant } = await createTestTeam()
  const reported: unknown[] = []
  const { onError } = db
  db.onError = (error) => reported.push(error)
  const broken = new Error('a call that throws')
  let called = 0
  const result = await db.tx(tenant, async (tx) => {
    await tx.run(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${team}`)
    tx.afterCommit(() => {
      throw broken
    })
    tx.afterCommit(() => void called++)
    return 'committed'
  })
  db.onError = onError
  assert.equal(result, 'committed')
  assert.deepEqual(reported, [broken])
  assert.equal(called, 1)
  const { one } = await db.queries.one(One, sql`select clock_offset_s as one from team where id = ${team}`)
  assert.equal(one, 1)
  // As many concurrent transactions as connections: none of the connections has been lost or leased twice.
  const at_once = cells.db('sandbox-us').connections_max
  const busy = await Promise.all(
    Array.from({ length: at_once }, (_, i) =>
      db.tx(tenant, async (tx) => {
        await tx.locking.run(sql`select pg_advisory_xact_lock(${i + 1000})`)
        return (await tx.locking.one(One, sql`select ${i}::int as one from team where id = ${team} for key share`)).one
      }),
    ),
  )
  assert.deepEqual(
    busy,
    busy.map((_, i) => i),
  )
})
