// The numbers of connections by purpose, and the role that readiness checks use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOwner, cells, connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { T } from '../schema/schema.ts'
import { Db } from './database.ts'
import { notReady } from './readiness.ts'
import { sql } from './sql.ts'

const Count = T.Object({ n: T.Integer() })
const one = sql`select 1 as n`

for (const connections_max of [1, 2, 3])
  test(`${connections_max} connections for teams run a transaction of no team, one of a team on the whole cell and a statement at once`, async () => {
    const { tenant } = await createTestTeam()
    const deadlines = { wait_ms: 5000 }
    const db = new Db({ connection, schema: 'sandbox_us', connections_max, checkRows: true, installation, deadlines })
    try {
      await db.plainTx(async (outer) => {
        assert.equal((await outer.one(Count, one)).n, 1)
        await db.txOnWholeCell(tenant, async (inner) => {
          assert.equal((await inner.one(Count, one)).n, 1)
          assert.equal((await db.queries.one(Count, one)).n, 1)
        })
      })
    } finally {
      await db.close()
    }
  })

test('a process is not ready while the role of teams lacks a right that readiness needs, even if the role of the cell has it', async () => {
  /** Long enough for a machine that is busy with other tests. */
  const within_ms = 60_000
  const role = `drawbridge_${installation}_sandbox_us_team`
  assert.equal(await notReady(cells, within_ms), undefined)
  await asOwner(`revoke update on sandbox_us.readiness from ${role}`)
  try {
    assert.equal(await notReady(cells, within_ms), 'The database does not answer')
  } finally {
    await asOwner(`grant update on sandbox_us.readiness to ${role}`)
  }
  assert.equal(await notReady(cells, within_ms), undefined)
})
