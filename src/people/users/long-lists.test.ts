// Long lists of users: pages equal those of a plain query, and totals are exact.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createUser } from './users.ts'
import type { User } from './schema.ts'

/** Creates users in transactions of 100. */
async function createUsers({ db, tenant }: TestTeam, count: number): Promise<void> {
  for (let created = 0; created < count; created += 100)
    await db.tx(tenant, async (tx) => {
      for (let i = created; i < Math.min(count, created + 100); i++) await createUser(tx, { client_user_id: `user ${i}` })
    })
}

const Id = T.Object({ id: T.String() })
/** The team's users, newest first, by a plain query. */
const plain = async ({ db, team }: TestTeam): Promise<string[]> =>
  (
    await db.queries.many(
      Id,
      sql`select id from "user" where team_id = ${team} and deleted_at is null order by created_on desc, id desc`,
    )
  ).map((row) => row.id)

const totalOf = async (team: TestTeam): Promise<number> => (await team.api.get('/v2/user')).body.total as number

/** Asserts that every total, and pages everywhere in the list, equal those of the plain query. */
async function assertExact(team: TestTeam): Promise<void> {
  const expected = await plain(team)
  const total = expected.length
  for (const offset of [0, 99, 250, total - 101, total - 1, total, total + 1])
    for (const limit of [1, 100]) {
      const { body } = await team.api.get(`/v2/user?offset=${offset}&limit=${limit}`)
      assert.deepEqual([body.total, body.offset, body.limit], [total, offset, limit])
      assert.deepEqual(
        body.users.map((user: User) => user.user_id),
        expected.slice(offset, offset + limit),
        `${limit} from ${offset} on`,
      )
    }
  assert.equal((await team.api.get('/v2/user/metrics')).body.number_of_users, total)
}

/** A team without the limit of sandbox teams. */
const unlimited = () => createTestTeam('production-us')

test('pages and totals are exact after users anywhere in the list were deleted, restored and erased', async () => {
  const team = await unlimited()
  await createUsers(team, 350)
  await assertExact(team)
  const ids = await plain(team)
  const chosen = [0, 1, 99, 100, 250, 349].map((place) => ids[place]!)
  for (const id of chosen) assert.equal((await team.api.delete(`/v2/user/${id}`)).status, 200)
  assert.equal(await totalOf(team), 344)
  await assertExact(team)
  for (const id of chosen.slice(0, 3)) assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${id}`)).status, 200)
  assert.equal(await totalOf(team), 347)
  await advanceClock(team, 7 * SECONDS_PER_DAY)
  assert.equal((await team.db.pool.query('select 1 from "user" where id = any ($1)', [chosen])).rowCount, 3)
  assert.equal(await totalOf(team), 347)
  await assertExact(team)
})

test('the total is exact after concurrent creations of which some are rejected, and counts only the users of its team', async () => {
  const [team, other] = [await unlimited(), await unlimited()]
  await other.user()
  // One in three has the client user id of another one.
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, i) => team.api.post('/v2/user', { client_user_id: i % 3 === 0 ? 'same' : `other ${i}` })),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 21)
  assert.equal(await totalOf(team), 21)
  assert.equal(await totalOf(other), 1)
  await assert.rejects(
    team.db.tx(team.tenant, async (tx) => {
      await createUser(tx, { client_user_id: 'rolled back' })
      throw new Error('rolled back')
    }),
    /rolled back/,
  )
  assert.equal(await totalOf(team), 21)
})
