import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../schema/schema.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { hookPoint, Hooks, defineHook } from './hooks.ts'
import { sql } from './sql.ts'

const Shown = T.Object({ name: T.Unknown() })

test('hooks run in the order of their list, within the transaction that notifies them', async () => {
  const { tenant } = await createTestTeam()
  const happened = hookPoint<[what: string]>('test.happened')
  const other = hookPoint<[what: string]>('test.happened')
  const ran: string[] = []
  const hooks = new Hooks([
    defineHook(happened, async (tx, payload) => {
      await tx.run(sql`update team set settings = jsonb_build_object('name', ${payload}::text) where id = ${tx.team}`)
      ran.push(`first ${payload}`)
    }),
    defineHook(other, () => void ran.push('a hook of another point')),
    defineHook(happened, async (tx, payload) => {
      const { name } = await tx.one(Shown, sql`select settings ->> 'name' as name from team where id = ${tx.team}`)
      ran.push(`second ${payload}, name ${String(name)}`)
    }),
  ])
  const db = cells.db(tenant.cell)
  await db.tx(tenant, (tx) => hooks.notify(tx, happened, 'one'))
  assert.deepEqual(ran, ['first one', 'second one, name one'])
})

test('an error of a hook rolls the whole transaction back, and later hooks do not run', async () => {
  const { tenant } = await createTestTeam()
  const happened = hookPoint<[]>('test.happened')
  const ran: string[] = []
  const hooks = new Hooks([
    defineHook(
      happened,
      async (tx) => void (await tx.run(sql`update team set settings = '{"name": "changed"}' where id = ${tx.team}`)),
    ),
    defineHook(happened, () => {
      throw new Error('a hook fails')
    }),
    defineHook(happened, () => void ran.push('behind')),
  ])
  const db = cells.db(tenant.cell)
  await assert.rejects(
    db.tx(tenant, (tx) => hooks.notify(tx, happened)),
    /a hook fails/,
  )
  const { name } = await db.read(tenant, (tx) =>
    tx.one(Shown, sql`select settings ->> 'name' as name from team where id = ${tx.team}`),
  )
  assert.notEqual(name, 'changed')
  assert.deepEqual(ran, [])
})
