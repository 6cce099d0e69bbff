// The plans of statements that teams run over many rows: under the policies they use the indexes that they use without.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { findAccess } from '../../src/tenancy/audit/list-accesses.ts'
import { eraseRawResults } from '../../src/lab/result-matching/raw-results.ts'
import { countOrders, listOrders } from '../../src/lab/orders/list-orders.ts'
import { countOrdersByDay, listOrderRows } from '../../src/lab/orders/order-rows.ts'
import { findAndLockOrder } from '../../src/lab/orders/change-order.ts'
import { findKitBySample } from '../../src/lab/orders/orders.ts'
import type { OrderQuery } from '../../src/lab/orders/schema.ts'
import { Db } from '../../src/platform/db/database.ts'
import type { Queries, Tx } from '../../src/platform/db/transaction.ts'
import { eraseStoredResponses } from '../../src/platform/http/idempotency.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql, type Sql } from '../../src/platform/db/sql.ts'
import { countDuplicates, createOrder, tenantOf } from '../support/orders.ts'
import { access, asOwner, connection, createTestTeam, type TestTeam } from '../support/server.ts'
import { findDeletedUsers, listUsers, resolveUser, searchUsers, notDeleted } from '../../src/people/users/users.ts'
import { countAttention } from '../../src/console/overview/attention.ts'
import { listRequests } from '../../src/console/request-log/requests.ts'
import { search } from '../../src/console/search/search.ts'
import { groupFailures } from '../../src/events/delivery-log/delivery-health.ts'
import { listEventRows } from '../../src/events/delivery-log/event-rows.ts'
import { listEvents } from '../../src/events/feed/list-events.ts'
import { findSleep } from '../../src/wearables/summaries/summaries.ts'
import { readWorkoutStream } from '../../src/wearables/streams/workout-streams.ts'
import { listInbox } from '../../src/notifications/messages/inbox.ts'
import { listUserRows } from '../../src/people/users/user-rows.ts'
import { readFeed } from '../../src/events/feed/feed.ts'

const ROWS = 6000

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}
/** What a plan reads rows by: its indexes, and the tables and indexes that it reads whole. */
const ways = ({
  'Node Type': type,
  'Relation Name': table,
  'Index Name': index,
  'Index Cond': condition,
  Plans = [],
}: Plan): string[] => [
  ...(index ? [condition === undefined ? `all of ${index}` : index] : type === 'Seq Scan' ? [`all of ${table}`] : []),
  ...Plans.flatMap(ways),
]

const Explained = T.Object({ 'QUERY PLAN': T.Unknown() })

/** What each statement of `work` reads rows by. None of them is run as a write. */
async function listAccessPaths(db: Db, team: TestTeam, work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const found: string[] = []
  await db.read(await tenantOf(team), async (tx) => {
    const explain = async (q: Sql) => {
      const row = await tx.one(Explained, sql`explain (format json) ${q}`)
      found.push([...new Set(ways((row['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan))].sort().join())
    }
    const watched = <M extends 'many' | 'maybe' | 'one'>(method: M): Queries[M] =>
      (async (row: never, q: Sql) => {
        await explain(q)
        return (tx[method] as (row: never, q: Sql) => Promise<unknown>)(row, q)
      }) as Queries[M]
    const run = async (q: Sql) => {
      await explain(q)
      return 0
    }
    const lock = async (_row: never, q: Sql) => {
      await explain(q)
      return []
    }
    const locking = { many: lock } as unknown as Tx['locking']
    const concerns = () => {}
    await work({ ...tx, run, many: watched('many'), maybe: watched('maybe'), one: watched('one'), locking, concerns })
  })
  return found.sort()
}

test('locking an order reads its transaction by one index before PostgreSQL has statistics of the table', async () => {
  const team = await createTestTeam()
  const model = await createOrder(team)
  await countDuplicates(team, model, 1000, 60)
  const read = await listAccessPaths(team.db, team, (tx) => findAndLockOrder(tx, model.id))
  assert.match(read.join(), /^lab_order__transaction,lab_order_pkey,user_\w+$/)
})

test('the stream of a workout and a night are read by their id among many summaries and users, before there are statistics of the users', async () => {
  const team = await createTestTeam()
  const id = randomUUID()
  await asOwner(
    `with u as (
       insert into sandbox_us."user" (id, team_id, client_user_id, created_on)
       select gen_random_uuid(), $1, 'wearer ' || n, '2026-01-01' from generate_series(1, $2::integer) n returning id)
     insert into sandbox_us.summary (team_id, user_id, kind, provider, key, id, source_type, calendar_date, document, created_at, updated_at)
     select $1, u.id, 'activity', 'oura', n::text, gen_random_uuid(), 'ring', date '2025-01-01' + n, '{}', now(), now()
     from u, generate_series(1, 10) n`,
    [team.team, ROWS],
  )
  await asOwner('analyze sandbox_us.summary')
  for (const read of [readWorkoutStream, findSleep]) {
    const ways = await listAccessPaths(team.db, team, (tx) => read(tx, id).catch(() => undefined))
    assert.match(ways.join(), /summary__id/, read.name)
    assert.doesNotMatch(ways.join(), /all of|summary__date/, read.name)
  }
})

test('the total of a list reads the orders of deleted users by an index when the statistics expect many orders of a user', async () => {
  const team = await createTestTeam()
  const model = await createOrder(team)
  await countDuplicates(team, model, ROWS, 60)
  await asOwner(
    `insert into sandbox_us."user" (id, team_id, client_user_id, created_on, deleted_at)
     select gen_random_uuid(), $1, 'deleted ' || n, '2026-01-01', now() from generate_series(1, 300) n`,
    [team.team],
  )
  await asOwner('analyze sandbox_us.lab_order, sandbox_us."user"')
  const read = await listAccessPaths(team.db, team, countOrders)
  assert.match(read.join(), /lab_order__user/)
  assert.doesNotMatch(read.join(), /all of/)
})

describe('a team with many orders, users, events and answers', async () => {
  const team = await createTestTeam()
  const free = new Db({ connection, schema: 'sandbox_us', connections_max: 4, checkRows: true, row_security: 'off' })
  let user_id = ''
  let order_id = ''
  before(async () => {
    const model = await createOrder(team)
    ;({ id: order_id, user_id } = model)
    await countDuplicates(team, model, ROWS, 60)
    await asOwner(
      `insert into sandbox_us."user" (id, team_id, client_user_id, created_on)
       select gen_random_uuid(), $1, 'person ' || n, '2026-01-01' from generate_series(1, $2::integer) n`,
      [team.team, ROWS],
    )
    await asOwner(
      `update sandbox_us.lab_order set sample_id = 'DBK-' || md5(id::text), method = 'testkit' where team_id = $1 and id <> $2`,
      [team.team, order_id],
    )
    await asOwner(
      `insert into sandbox_us.idempotency_key (team_id, scope, key, expires_at, status, body, user_ids)
       select $1, 'test', n::text, '2100-01-01', 200, '{}', array[gen_random_uuid()] from generate_series(1, $2::integer) n`,
      [team.team, ROWS],
    )
    await asOwner(
      `insert into sandbox_us.feed (team_id, event_id, created_at) select team_id, id, created_at from sandbox_us.event where team_id = $1`,
      [team.team],
    )
    await asOwner(
      `insert into sandbox_us.request_log (team_id, id, request_id, at, method, path, operation, status, duration_ms, key_id)
       select $1, ('01890000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n::text, now(), 'GET', '/v3/orders', 'get_orders', case when n % 100 = 0 then 500 else 200 end, 1, ''
       from generate_series(1, $2::integer) n`,
      [team.team, ROWS],
    )
    await asOwner(
      `insert into sandbox_us.patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, state)
       select $3, ('01890000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'ordered', 'sms', '', '', now(), 'recorded'
       from generate_series(1, $2::integer) n`,
      [team.team, ROWS, order_id],
    )
    await access.flush()
    await asOwner(
      `insert into sandbox_us.access_log (day, seq, team_id, users, line, hash)
       select day, 1000000 + n, $1, array[gen_random_uuid()], '{}', ''
       from (select max(day) as day from sandbox_us.access_day) d, generate_series(1, $2::integer) n`,
      [team.team, ROWS],
    )
    await asOwner(
      `insert into sandbox_us.raw_result (id, team_id, lab_id, sender, message_id, digest, sample_id, search_text, payload, status, decision_code,
                                          candidates, candidate_user_ids, created_at, updated_at)
       select gen_random_uuid(), $1, (select min(id) from sandbox_us.lab), 'test', n::text, '', '', '', '{}', 'pending_ops_review', 'no_match',
              '[]', array[gen_random_uuid()], now(), now()
       from generate_series(1, $2::integer) n`,
      [team.team, ROWS],
    )
    await asOwner(
      'analyze sandbox_us.access_log, sandbox_us.request_log, sandbox_us.patient_message, sandbox_us.raw_result, sandbox_us.lab_order, sandbox_us."user", sandbox_us.event, sandbox_us.idempotency_key, sandbox_us.feed',
    )
  })
  after(() => free.close())

  /** The same statements under the policies and without. */
  async function same(work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
    const held = await listAccessPaths(team.db, team, work)
    assert.deepEqual(held, await listAccessPaths(free, team, work))
    return held
  }

  const queries: [string, () => OrderQuery, RegExp][] = [
    ['the newest', () => ({}), /lab_order__/],
    ['a page far back', () => ({ page: 100 }), /lab_order__/],
    ['the oldest', () => ({ order_direction: 'asc' }), /lab_order__/],
    ['a part of the patient name', () => ({ patient_name: 'nobody of that name' }), /lab_order__names/],
    ['a part of the recipient name', () => ({ shipping_recipient_name: 'nobody of that name' }), /lab_order__names/],
    ['words', () => ({ search_input: 'nobody of that name' }), /lab_order__names/],
    ['a user', () => ({ user_id: order_id }), /lab_order__/],
    ['some ids', () => ({ order_ids: [order_id] }), /lab_order_/],
    ['a transaction', () => ({ order_transaction_id: order_id }), /lab_order__/],
    ['a moment', () => ({ start_date: '2100-01-01' }), /lab_order__/],
    ['a status', () => ({ status: ['cancelled'] }), /lab_order/],
    ['an interpretation', () => ({ interpretation: 'critical' }), /lab_order/],
    ['the order of names', () => ({ order_key: 'patient_name' }), /lab_order/],
  ]
  for (const [name, query, index] of queries)
    test(`lists orders by ${name} as without policies`, async () => {
      assert.match((await same((tx) => listOrders(tx, query()))).join(), index)
    })

  const works: [string, (tx: Tx) => Promise<unknown>, RegExp][] = [
    [
      'finds a kit by its code',
      (tx) => findKitBySample(tx, 'DBK-000'),
      /^lab_order__kit_spelling,lab_order__sample_id(,user_\w+)?$/,
    ],
    ['lists rows of orders', (tx) => listOrderRows(tx, {}), /lab_order__newest/],
    ['lists rows of orders by name', (tx) => listOrderRows(tx, { patient_name: 'nobody of that name' }), /lab_order__names/],
    ['lists rows of orders by state', (tx) => listOrderRows(tx, { state: ['cancelled'] }), /lab_order__/],
    ['counts orders by day', (tx) => countOrdersByDay(tx), /lab_order__/],
    ['lists messages', (tx) => listInbox(tx, {}), /patient_message__newest/],
    ['lists rows of users', (tx) => listUserRows(tx, {}), /user__/],
    ['lists requests', (tx) => listRequests(tx, {}), /request_log_pkey/],
    ['lists requests that failed', (tx) => listRequests(tx, { outcome: 'server_error' }), /request_log__/],
    ['groups failures', (tx) => groupFailures(tx, notDeleted, {}), /delivery_attempt_pkey/],
    ['finds the beginning of an id', (tx) => search(tx, order_id.slice(0, 13)), /event_pkey.*lab_order_pkey/],
    ['finds a name', (tx) => search(tx, 'nobody of that name'), /lab_order__names/],
    ['lists users', (tx) => listUsers(tx, { offset: 0, limit: 100 }), /user_/],
    ['lists users far back', (tx) => listUsers(tx, { offset: 5000, limit: 100 }), /user_/],
    ['searches users', (tx) => searchUsers(tx, 'person 77'), /user/],
    ['resolves a user', (tx) => resolveUser(tx, 'person 77'), /user_/],
    ['erases answers about a user', (tx) => eraseStoredResponses(tx, user_id), /idempotency_key__users/],
    ['lists who has seen a user', async (tx) => (await findAccess(tx, { user_id })).rows, /access_log.*_users/],
    ['erases what laboratories sent about a user', (tx) => eraseRawResults(tx, user_id), /raw_result__users/],
    ['lists events', (tx) => listEvents(tx, notDeleted, { limit: 50 }), /event_/],
    [
      'follows its feed',
      (tx) => readFeed(tx, tx.team, { position: 10, types: undefined, limit: 50 }, findDeletedUsers),
      /feed_pkey/,
    ],
  ]
  for (const [name, work, index] of works)
    test(`${name} as without policies`, async () => assert.match((await same(work)).join(), index))

  // A team has few destinations: by which index of theirs they are read differs and does not matter.
  const overDestinations: [string, (tx: Tx) => Promise<unknown>, RegExp][] = [
    ['lists rows of events', (tx) => listEventRows(tx, notDeleted, {}), /event_pkey/],
    ['lists events that failed', (tx) => listEventRows(tx, notDeleted, { delivery_state: 'failed' }), /delivery__undelivered/],
    ['counts what needs attention', (tx) => countAttention(tx), /delivery__undelivered.*job__failed_of_team/],
  ]
  for (const [name, work, index] of overDestinations)
    test(`${name} by indexes of events, deliveries and jobs`, async () => {
      const found = (await listAccessPaths(team.db, team, work)).join()
      assert.match(found, index)
      assert.doesNotMatch(found, /all of (event|delivery|job|destination)/)
    })
})
