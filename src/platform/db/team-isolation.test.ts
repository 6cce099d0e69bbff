// A statement without a team condition sees only the rows of its team, whatever its connection ran before.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'
import { eventually } from '../../../test/support/eventually.ts'

const Team = T.Object({ team_id: T.String() })
const Count = T.Object({ n: T.Integer() })

/** A table with rows of two teams, whatever else there is. */
const users = sql`select distinct team_id from "user"`

async function withUser(): Promise<TestTeam> {
  const team = await createTestTeam()
  await team.user()
  return team
}

describe('statements without a team condition see one team', () => {
  const seen = (rows: { team_id: string }[]) => rows.map(({ team_id }) => team_id)

  test('in every kind of transaction', async () => {
    const [one, other] = [await withUser(), await withUser()]
    for (const { db, tenant, team } of [one, other, one]) {
      assert.deepEqual(seen(await db.read(tenant, (tx) => tx.many(Team, users))), [team])
      assert.equal((await db.read(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team)
      assert.deepEqual(seen(await db.tx(tenant, (tx) => tx.many(Team, users))), [team])
      assert.equal((await db.tx(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team)
      await db.tx(tenant, async (tx) => {
        await tx.run(sql`update "user" set client_user_id = 'renamed'`)
        assert.deepEqual(seen(await tx.many(Team, users)), [team])
        tx.defer(sql`update "user" set client_user_id = 'deferred'`)
      })
      await db.tx(tenant, async (tx) => tx.defer(sql`update "user" set client_user_id = ${team}`))
    }
    const Named = T.Object({ client_user_id: T.String() })
    for (const { db, team } of [one, other])
      assert.deepEqual(await db.queries.many(Named, sql`select client_user_id from "user" where team_id = ${team}`), [
        { client_user_id: team },
      ])
  })

  test('and the whole cell if the transaction declares it', async () => {
    const [one, other] = [await withUser(), await withUser()]
    const both = (rows: { team_id: string }[]) => [one, other].every(({ team }) => seen(rows).includes(team))
    assert(both(await one.db.queries.many(Team, users)))
    assert(both(await one.db.asyncCommit.many(Team, users)))
    assert(both(await one.db.plainTx((tx) => tx.many(Team, users))))
    assert(both(await one.db.asyncCommitTx((tx) => tx.many(Team, users))))
    assert(both(await one.db.txOnWholeCell(one.tenant, (tx) => tx.many(Team, users))))
    const lookUp = sql`select team_id from "user" where team_id = ${other.team}`
    assert.equal((await one.db.txOnWholeCell(one.tenant, (tx) => tx.lookup(Team, lookUp)))!.team_id, other.team)
  })

  test('and cannot assign a row to another one', async () => {
    const [{ db, tenant }, other] = [await withUser(), await withUser()]
    const refused = { code: '42501' }
    const adding = sql`insert into event_subscribed_team (team_id) values (${other.team})`
    await assert.rejects(
      db.tx(tenant, (tx) => tx.run(adding)),
      refused,
    )
    await assert.rejects(
      db.tx(tenant, async (tx) => tx.defer(adding)),
      refused,
    )
    await assert.rejects(
      db.tx(tenant, (tx) => tx.run(sql`update "user" set team_id = ${other.team}`)),
      refused,
    )
  })

  test('however many teams share the connections, and whatever fails at the same time', async () => {
    const teams = await Promise.all(Array.from({ length: 6 }, withUser))
    const failing = sql`select 1 / 0 as n`
    const kinds: ((team: TestTeam) => Promise<unknown>)[] = [
      async ({ db, tenant, team }) => assert.deepEqual(seen(await db.read(tenant, (tx) => tx.many(Team, users))), [team]),
      async ({ db, tenant, team }) => assert.equal((await db.read(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team),
      async ({ db, tenant, team }) =>
        assert.deepEqual(
          await db.tx(tenant, async (tx) => {
            const before = await tx.many(Team, users)
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            return [...seen(before), ...seen(await tx.many(Team, users))]
          }),
          [team, team],
        ),
      ({ db, tenant }) => db.tx(tenant, async (tx) => tx.defer(sql`update "user" set client_user_id = ${randomUUID()}`)),
      ({ db, tenant }) => assert.rejects(db.tx(tenant, (tx) => tx.lookup(Count, failing))),
      ({ db, tenant }) => assert.rejects(db.read(tenant, (tx) => tx.one(Count, failing))),
      ({ db, tenant }) => assert.rejects(db.tx(tenant, async (tx) => tx.defer(failing))),
      ({ db, tenant }) =>
        assert.rejects(
          db.tx(tenant, async (tx) => {
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            await tx.one(Count, failing)
          }),
        ),
      ({ db, tenant }) =>
        assert.rejects(
          db.tx(tenant, async (tx) => {
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            throw new Error('abandoned')
          }),
        ),
    ]
    const before = new Map(teams.map((team) => [team, team.db]))
    assert.equal(new Set(before.values()).size, 1)
    for (let round = 0; round < 5; round++) await Promise.all(kinds.flatMap((kind) => teams.map((team) => kind(team))))
    // Connections that are cut off take their teams along.
    await asOwner(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'drawbridge process %'`,
    )
    for (let round = 0; round < 3; round++)
      await Promise.all(
        teams.map(async ({ db, tenant, team }) => {
          for (const read of [
            () => db.read(tenant, (tx) => tx.many(Team, users)),
            () => db.tx(tenant, async (tx) => [(await tx.lookup(Team, users))!]),
          ])
            // Those that were cut off fail once; what is read is of the own team from the first time on.
            assert.deepEqual(seen(await eventually(() => read().catch(() => undefined), 'the database is asked again')), [team])
        }),
      )
  })
})
