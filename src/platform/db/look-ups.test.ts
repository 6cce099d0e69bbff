// Rows that several requests look up by id at the same moment.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'
import type { RowById } from './transaction.ts'

const Row = T.Object({ id: T.String(), ids_of_statement: T.Integer() })

/** A user, and the number of ids of the statement that read it. */
const UserById: RowById<typeof Row> = {
  row: Row,
  select: (tx, ids) => sql`
    select id, cardinality(${ids}) as ids_of_statement from "user" where id = any (${ids}) and team_id = ${tx.team}`,
}

const read = ({ db, tenant }: TestTeam, id: string) => db.read(tenant, (tx) => tx.lookupById(UserById, id))

async function withUsers(count: number): Promise<{ team: TestTeam; ids: string[] }> {
  const team = await createTestTeam()
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await team.user())
  return { team, ids }
}

test('ids that requests of a team look up at the same moment are one statement of at most eight ids', async () => {
  const { team, ids } = await withUsers(9)
  const unknown = randomUUID()
  await read(team, unknown)
  const rows = await Promise.all([...ids, unknown, ids[8]!].map((id) => read(team, id)))
  assert.deepEqual(
    rows.map((row) => row?.id),
    [...ids, undefined, ids[8]],
  )
  assert.deepEqual(
    rows.map((row) => row?.ids_of_statement),
    [8, 8, 8, 8, 8, 8, 8, 8, 2, undefined, 2],
  )
  assert.equal((await read(team, ids[0]!))!.ids_of_statement, 1)
})

test('a transaction that writes looks rows up with the others, and on the whole cell by itself', async () => {
  const { team, ids } = await withUsers(2)
  const { db, tenant } = team
  await read(team, ids[0]!)
  const rows = await Promise.all([read(team, ids[0]!), db.tx(tenant, (tx) => tx.lookupById(UserById, ids[1]!))])
  assert.deepEqual(rows, [
    { id: ids[0], ids_of_statement: 2 },
    { id: ids[1], ids_of_statement: 2 },
  ])
  const alone = await Promise.all(ids.map((id) => db.txOnWholeCell(tenant, (tx) => tx.lookupById(UserById, id))))
  assert.deepEqual(
    alone.map((row) => row!.ids_of_statement),
    [1, 1],
  )
})

test('teams that look up the same ids at the same moment each see their own rows', async () => {
  const [one, other] = [await withUsers(2), await withUsers(2)]
  const all = [...one.ids, ...other.ids]
  for (let round = 0; round < 3; round++) {
    const seen = await Promise.all([one, other].map(({ team }) => Promise.all(all.map((id) => read(team, id)))))
    assert.deepEqual(
      seen.map((rows) => rows.map((row) => row?.id)),
      [
        [...one.ids, undefined, undefined],
        [undefined, undefined, ...other.ids],
      ],
    )
  }
})

test('a text that is no UUID finds nothing and changes nothing for other requests', async () => {
  const { team, ids } = await withUsers(1)
  const texts = ['', '}', `${randomUUID()},${ids[0]}`, `${ids[0]}}'::uuid[]) or true --`, 'NULL', ids[0]!.slice(1)]
  const [row, ...others] = await Promise.all([ids[0]!.toUpperCase(), ...texts].map((id) => read(team, id)))
  assert.deepEqual(row, { id: ids[0], ids_of_statement: 1 })
  assert.deepEqual(
    others,
    texts.map(() => undefined),
  )
})

test('a statement that fails rejects the requests whose ids it has, and no later one', async () => {
  const { team, ids } = await withUsers(2)
  const Failing: RowById<typeof Row> = {
    row: Row,
    select: (
      tx,
      array,
    ) => sql`select id, 1 / (cardinality(${array}) - 2) as ids_of_statement from "user" where id = any (${array})
      and team_id = ${tx.team}`,
  }
  const failing = (id: string) => team.db.read(team.tenant, (tx) => tx.lookupById(Failing, id))
  await read(team, ids[0]!)
  const [first, second, fine] = await Promise.allSettled([failing(ids[0]!), failing(ids[1]!), read(team, ids[0]!)])
  assert.deepEqual([first!.status, second!.status, fine!.status], ['rejected', 'rejected', 'fulfilled'])
  assert.equal((await failing(ids[0]!))!.ids_of_statement, -1)
})

const Planned = T.Object({ id: T.String(), generic_plans: T.Integer() })

/** A user, and how often its statement ran with the plan that was kept on its connection. */
const PlannedUser: RowById<typeof Planned> = {
  row: Planned,
  select: (tx, ids) => sql`
    select id, (select coalesce(max(generic_plans), 0)::int from pg_prepared_statements where statement like '%counts its plans%') as generic_plans
    from "user" where id = any (${ids}) and team_id = ${tx.team}`,
}

test('the statement of a look-up is not planned at each execution, also once its table has statistics', async () => {
  const { team, ids } = await withUsers(1)
  const { db, tenant } = team
  await db.pool.query(
    `insert into "user" (id, team_id, client_user_id, created_on)
     select gen_random_uuid(), $1, 'fictional ' || i, now() from generate_series(1, 5000) i`,
    [team.team],
  )
  await db.pool.query('analyze "user"')
  await eventually(
    async () => (await db.read(tenant, (tx) => tx.lookupById(PlannedUser, ids[0]!)))!.generic_plans > 0,
    'the plan is kept',
  )
})
