// Long lists of users: with checkpoints, pages and totals equal those of a plain query, at a cost that does not grow with the number of
// users.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHECKPOINT_STRIDE } from '../../platform/db/checkpoints.ts'
import { systemNow, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Problem } from '../../platform/runtime/problem.ts'
import { SECONDS_PER_DAY, advanceClock, tenantOf, countLockWaiters } from '../../../test/support/orders.ts'
import { rowsRead } from '../../../test/support/rows-read.ts'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import type { User } from './schema.ts'
import { countUsers, createUserCheckpoints, userList } from './list-checkpoints.ts'
import { createUser, deleteUser, listUsers, undoDelete } from './users.ts'

const HOUR_S = 3600

/** Inserts users, five in each second or so many a day, the last one `age_s` seconds ago; their ids are as old as they are. */
const users = ({ db, team }: TestTeam, count: number, age_s: number, per_day = 5 * SECONDS_PER_DAY) =>
  db.queries.run(sql`
    with fresh as (
      select date_trunc('second', ${addSeconds(systemNow(), -age_s)}::timestamptz - make_interval(secs => floor((${count}::integer - n) * ${SECONDS_PER_DAY / per_day}::float8))) as at, n
      from generate_series(1, ${count}::integer) n)
    insert into "user" (id, team_id, client_user_id, created_on)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex((n * 7919) % 5), 4, '0')
            || right(${team}, 4) || lpad(to_hex(n), 4, '0'))::uuid, ${team}, gen_random_uuid(), at
    from fresh`)

const setCheckpoints = async (team: TestTeam) => {
  await team.db.tx(await tenantOf(team), async (tx) => enqueue(tx, createUserCheckpoints, {}))
  await team.settle()
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

const Shown = T.Object({ shown: T.Integer() })
const checkpoints = async ({ db, team }: TestTeam): Promise<number[]> =>
  (await db.queries.many(Shown, sql`select shown from user_checkpoint where team_id = ${team} order by created_on, id`)).map(
    ({ shown }) => shown,
  )

const Week = T.Object({ week: T.String(), shown: T.Integer() })
const weeks = ({ db }: TestTeam, counted: Sql) =>
  db.queries.many(Week, sql`select week, shown from (${counted}) counted order by week`)

/** Asserts that every total, the sums of each week, and pages everywhere in the list, equal those of the plain query. */
async function assertExact(team: TestTeam): Promise<void> {
  const expected = await plain(team)
  const total = expected.length
  const offsets = [0, 99, 499, 500, 501, 777, 1000, 1250, total - 500, total - 101, total - 1, total, total + 1]
  for (const offset of offsets.filter((offset) => offset >= 0))
    for (const limit of [1, 100, 500]) {
      const { body } = await team.api.get(`/v2/user?offset=${offset}&limit=${limit}`)
      assert.deepEqual([body.total, body.offset, body.limit], [total, offset, limit])
      assert.deepEqual(
        body.users.map((user: User) => user.user_id),
        expected.slice(offset, offset + limit),
        `${limit} from ${offset} on`,
      )
    }
  assert.equal((await team.api.get('/v2/user/metrics')).body.number_of_users, total)
  const counts = await checkpoints(team)
  assert.deepEqual(
    await weeks(
      team,
      sql`
      select date_trunc('week', created_on, 'UTC') as week, sum(shown)::bigint as shown from user_checkpoint
      where team_id = ${team.team} group by 1 having sum(shown) > 0`,
    ),
    await weeks(team, sql`select week, shown from user_checkpoint_week where team_id = ${team.team} and shown <> 0`),
  )
  assert.deepEqual(
    await team.db.queries.many(Shown, sql`select shown from user_checkpoint_total where team_id = ${team.team}`),
    counts.length ? [{ shown: counts.reduce((sum, shown) => sum + shown) }] : [],
  )
}

/** Asserts that pages equal those of the plain query in the other direction, which no operation lists. */
async function assertExactFromOldest(team: TestTeam, offsets: number[]): Promise<void> {
  const expected = (await plain(team)).toReversed()
  for (const offset of [...offsets, expected.length - 1, expected.length]) {
    const query = { offset, limit: 40, direction: 'asc' } as const
    const { total, rows } = await team.db.read(await tenantOf(team), (tx) => userList.page(tx, query))
    assert.deepEqual([total, rows.map((row) => row.user_id)], [expected.length, expected.slice(offset, offset + 40)])
  }
}

/** A team without the limit of sandbox teams. */
const unlimited = () => createTestTeam('production-us')

describe('a long list of users', () => {
  test('is the same with checkpoints as without, and as it grows', async () => {
    const team = await unlimited()
    await users(team, 3 * CHECKPOINT_STRIDE + 3, HOUR_S)
    await assertExact(team)
    await setCheckpoints(team)
    assert.deepEqual(await checkpoints(team), [500, 500, 500])
    await assertExact(team)
    for (let n = 0; n < 3; n++) await team.user()
    await assertExact(team)
    await users(team, 600, HOUR_S / 2)
    await Promise.all([setCheckpoints(team), setCheckpoints(team), setCheckpoints(team)])
    assert.deepEqual(await checkpoints(team), [500, 500, 500, 500])
    await assertExact(team)
  })

  test('is exact after users anywhere in it were deleted, restored and erased', async () => {
    const team = await unlimited()
    await users(team, 3 * CHECKPOINT_STRIDE + 50, HOUR_S)
    await setCheckpoints(team)
    const ids = (await plain(team)).toReversed()
    // The first, the last before a checkpoint, the one at it, and one after the last.
    const chosen = [0, 499, 500, 501, 1499, 1500, 1540].map((place) => ids[place]!)
    for (const id of chosen) assert.equal((await team.api.delete(`/v2/user/${id}`)).status, 200)
    assert.deepEqual(await checkpoints(team), [498, 498, 499])
    await assertExact(team)
    await users(team, 500, HOUR_S / 2)
    await setCheckpoints(team)
    assert.deepEqual(await checkpoints(team), [498, 498, 499, 500])
    await assertExact(team)
    for (const id of chosen.slice(0, 3)) assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${id}`)).status, 200)
    assert.deepEqual(await checkpoints(team), [500, 499, 499, 500])
    await assertExact(team)
    await advanceClock(team, 7 * SECONDS_PER_DAY)
    assert.equal((await team.db.pool.query('select 1 from "user" where id = any ($1)', [chosen])).rowCount, 3)
    await assertExact(team)
    await setCheckpoints(team)
    await assertExact(team)
  })

  test('is exact over many weeks, also when all checkpoints of some weeks are erased', async () => {
    const team = await unlimited()
    // A checkpoint in most weeks, and in some weeks two.
    await users(team, 8 * CHECKPOINT_STRIDE + 50, HOUR_S, 80)
    await setCheckpoints(team)
    assert.deepEqual(await checkpoints(team), Array(8).fill(500))
    await assertExact(team)
    const ids = (await plain(team)).toReversed()
    const gone = [500, 1500, 1501, 2000, 4000].map((place) => ids[place]!)
    for (const id of gone) assert.equal((await team.api.delete(`/v2/user/${id}`)).status, 200)
    await assertExact(team)
    await advanceClock(team, 7 * SECONDS_PER_DAY)
    assert.equal((await team.db.pool.query('select 1 from "user" where id = any ($1)', [gone])).rowCount, 0)
    assert.deepEqual(await checkpoints(team), [999, 1497, 500, 500])
    await assertExact(team)
    await users(team, 20, 0)
    await setCheckpoints(team)
    await assertExact(team)
    await assertExactFromOldest(team, [0, 480, 998, 999, 1000, 1700, 2494, 2495, 2600, 4000])
  })

  test('is exact beside checkpoints at the last second of a week and at the first second of the next', async () => {
    const team = await unlimited()
    const monday = '2026-03-09T00:00:00Z'
    // Of the users from 0 on, 500 to 999 are of the last second of the week, and 1,000 is the first one of the next.
    await team.db.queries.run(sql`
      with fresh as (
        select ${monday}::timestamptz + make_interval(secs => case when n < 1000 then least(n - 501, -1) else n - 1000 end) as at, n
        from generate_series(0, 1099) n)
      insert into "user" (id, team_id, client_user_id, created_on)
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '700080000000'
              || right(${team.team}, 4) || lpad(to_hex(n), 4, '0'))::uuid, ${team.team}, gen_random_uuid(), at
      from fresh`)
    await setCheckpoints(team)
    assert.deepEqual(
      await weeks(team, sql`select week, shown from user_checkpoint_week where team_id = ${team.team}`),
      ['2026-03-02T00:00:00+00:00', '2026-03-09T00:00:00+00:00'].map((week) => ({ week, shown: 500 })),
    )
    await assertExact(team)
    await assertExactFromOldest(team, [499, 500, 501, 999, 1000, 1001])
  })

  test('has no checkpoint at a user younger than two minutes', async () => {
    const team = await unlimited()
    await users(team, CHECKPOINT_STRIDE + 20, 0)
    await setCheckpoints(team)
    assert.deepEqual(await checkpoints(team), [])
    await assertExact(team)
  })

  test('is exact when a user is deleted while checkpoints are set', async () => {
    const team = await unlimited()
    await users(team, CHECKPOINT_STRIDE + 1, HOUR_S)
    const tenant = await tenantOf(team)
    const gone = (await plain(team)).at(-1)!
    let setting: Promise<void> | undefined
    await team.db.tx(tenant, async (tx) => {
      await deleteUser(tx, gone)
      setting = setCheckpoints(team)
      await Promise.race([setting, countLockWaiters(1)])
    })
    await setting
    await assertExact(team)
    const back = (by: Tx) => undoDelete(by, { user_id: gone })
    await Promise.all([team.db.tx(tenant, back), setCheckpoints(team)])
    await assertExact(team)
  })

  test('has checkpoints of its own team only', async () => {
    const [team, other] = [await unlimited(), await unlimited()]
    await users(team, CHECKPOINT_STRIDE + 1, HOUR_S)
    await other.user()
    await setCheckpoints(team)
    await setCheckpoints(other)
    assert.deepEqual([await checkpoints(team), await checkpoints(other)], [[500], []])
    assert.equal((await other.api.get('/v2/user')).body.total, 1)
  })

  test('queues the job that sets checkpoints for about one in 500 new users', async () => {
    const team = await unlimited()
    const tenant = await tenantOf(team)
    for (let n = 0; n < 20; n++)
      await team.db.tx(tenant, async (tx) => {
        for (let i = 0; i < 250; i++) await createUser(tx, { client_user_id: `${n} ${i}` })
      })
    const jobs = (await team.checkpointJobs()).length
    assert(jobs > 0 && jobs < 40, `${jobs} jobs for 5,000 users`)
  })
})

/** With the team's role, so that the row security policies apply. */
const rowsReadBy = async (
  team: TestTeam,
  work: (tx: Tx) => Promise<unknown>,
  how: 'read' | 'tx' = 'read',
  tables = ['user', 'user_checkpoint', 'user_checkpoint_total', 'user_checkpoint_week'],
): Promise<number> => team.db[how](await tenantOf(team), (tx) => rowsRead(tx, tables, work))

test('any page, and the total, read a few hundred rows of 50,000 users', async () => {
  const team = await unlimited()
  const count = 100 * CHECKPOINT_STRIDE
  await users(team, count + 100, HOUR_S)
  await setCheckpoints(team)
  await asOwner('analyze production_us."user", production_us.user_checkpoint')
  for (const offset of [0, 400, count / 2, count - 1]) {
    const read = await rowsReadBy(team, (tx) => listUsers(tx, { offset, limit: 100 }))
    // The part after the last checkpoint, the page with the part before it, and for far pages the checkpoints of the week, one for 500 users.
    const checkpoints = offset < CHECKPOINT_STRIDE ? 0 : 2 * 100
    assert(read <= 2 * CHECKPOINT_STRIDE + 100 + checkpoints, `${read} rows for a page from ${offset} on`)
  }
  assert((await rowsReadBy(team, countUsers)) <= 100 + 3)
})

test('a page reads the checkpoints of one week, and a row for each week', async () => {
  const team = await unlimited()
  // 200 checkpoints in 50 weeks.
  const count = 200 * CHECKPOINT_STRIDE
  await users(team, count + 100, HOUR_S, (2 * count) / 700)
  await setCheckpoints(team)
  await asOwner('analyze production_us."user", production_us.user_checkpoint, production_us.user_checkpoint_week')
  for (const offset of [CHECKPOINT_STRIDE, count / 2, count - 1]) {
    const page = (tx: Tx) => listUsers(tx, { offset, limit: 100 })
    const read = await rowsReadBy(team, page, 'read', ['user_checkpoint', 'user_checkpoint_week'])
    // Some are weeks of other teams: of a small table PostgreSQL reads all rows.
    assert(read >= 50 && read <= 120, `${read} rows for a page from ${offset} on`)
  }
})

test('the limit of a sandbox team is checked by reading a few hundred rows of 5,000 users', async () => {
  const team = await createTestTeam()
  await users(team, 10 * CHECKPOINT_STRIDE + 100, HOUR_S)
  await setCheckpoints(team)
  await asOwner('analyze sandbox_us."user", sandbox_us.user_checkpoint')
  const isFull = ({ body }: Problem) => JSON.stringify(body).includes('the maximum of 50 Sandbox users')
  const create = (tx: Tx) => assert.rejects(createUser(tx, { client_user_id: 'one too many' }), isFull)
  const read = await rowsReadBy(team, create, 'tx')
  assert(read > 0 && read <= CHECKPOINT_STRIDE, `${read} rows`)
})
