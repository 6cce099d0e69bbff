// A deleted user: whatever operation there is, it answers as if nothing of the user were there, until the deletion is undone.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { SECONDS_PER_DAY, advanceClock, createOrder, orderWithRequisition } from '../support/orders.ts'
import { delivering, receiver } from '../support/webhook-receiver.ts'
import { createTestTeam, type TestTeam, type Reply } from '../support/server.ts'
import { describeReply, testEach, success, unknownStatus, findsNothing } from './operations/operation-cases.ts'
import { belonging, places, propertiesOf, send, valid, withValue, type Place, type Request } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

const { operations } = contents

/** Delete every user of the team. @returns their ids */
async function deleteUsers(team: TestTeam): Promise<string[]> {
  const { rows } = await team.db.pool.query<{ id: string }>('select id from "user" where team_id = $1 and deleted_at is null', [
    team.team,
  ])
  for (const { id } of rows) assert.equal((await team.api.delete(`/v2/user/${id}`)).status, 200)
  return rows.map(({ id }) => id)
}

async function undo(team: TestTeam, users: string[]): Promise<void> {
  for (const id of users) assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${id}`)).status, 200)
}

/** Ids and references of everything that is a user's, as requests and answers have them. */
async function idsOfUsers({ db, team }: TestTeam): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select id::text from "user" where team_id = $1
     union select client_user_id from "user" where team_id = $1
     union select id::text from lab_order where team_id = $1
     union select transaction_id::text from lab_order where team_id = $1
     union select sample_id from lab_order where team_id = $1 and sample_id is not null
     union select id::text from appointment where team_id = $1
     union select id::text from parsing_job where team_id = $1
     union select id::text from insurance where team_id = $1
     union select id::text from event where team_id = $1 and user_id is not null
     union select 'msg_' || replace(id::text, '-', '') from event where team_id = $1 and user_id is not null`,
    [team],
  )
  return rows.map(({ id }) => id)
}

const textOf = ({ body }: Reply): string => (Buffer.isBuffer(body) ? body.toString('latin1') : JSON.stringify(body))
const PEOPLE = /Testa|1990-01-31/i
/** What an answer shows of users, beyond what the request has said itself. */
function listShownUsers(reply: Reply, ids: string[], request: Request): string[] {
  const [text, said] = [textOf(reply), JSON.stringify(request)]
  const found = ids.filter((id) => text.includes(id) && !said.includes(id))
  const person = PEOPLE.exec(text)?.[0]
  return person !== undefined && !said.includes(person) ? [...found, person] : found
}

/** They are about deleting itself. */
const ABOUT_DELETING = new Set(['undo_user_delete', 'delete_user'])
/** Deleting a user ends what they change, and undoing it does not restore that. Source: users-wearables.md 1. */
const NOT_RESTORED = new Map([
  ['deregister_provider', 404],
  // The user has no connections any more.
  ['record_demo_sample', 404],
  ['fail_demo_connection', 404],
  ['refresh_user_data', 400],
])
/** Who has seen or changed something of a user is asked about deleted users as well: it is kept to be asked. */
const ACCESS_LOG = 'list_user_access'
/** Names under which requests name something of a user. */
const OF_USERS = new Set([
  'user_id',
  'client_user_id',
  'order_id',
  'order_ids',
  'object_id',
  'search_input',
  'event_id',
  'transaction_id',
  'order_transaction_id',
  'raw_result_id',
  'sample_id',
  'job_id',
])
/** Where requests of an operation can name something of a user. */
function placesOf(operation: Operation): Place[] {
  if (operation.auth === 'team') return places(operation).filter(({ name }) => OF_USERS.has(name))
  return (['params', 'query', 'body'] as const).flatMap((part) =>
    Object.entries(propertiesOf(operation[part]))
      .filter(([name]) => OF_USERS.has(name))
      .map(([name, { type }]) => ({
        part: part === 'params' ? 'path' : part,
        path: [name],
        name,
        list: type === 'array',
        requiredNames: (operation.query as { required?: string[] } | undefined)?.required ?? [],
      })),
  )
}
/** `query_id` is a part of a reference here. */
const namesUser = (operation: Operation): boolean => operation.id === 'search_team_users' || placesOf(operation).length > 0
const naming = operations.filter(
  (operation) => !ABOUT_DELETING.has(operation.id) && operation.id !== ACCESS_LOG && namesUser(operation),
)

/** Whether a request has a value at a place. */
const has = (request: Request, { part, path }: Place): boolean =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], request[part]) !== undefined

/** A request that works, and one more for each place that it leaves empty and that could name something of a user. */
async function requestsFor(team: TestTeam, operation: Operation): Promise<[Request, ...Request[]]> {
  const usual = await valid(team, operation)
  const further: Request[] = []
  for (const place of placesOf(operation))
    if (!has(usual, place)) further.push(withValue(usual, place, await belonging(team, operation, place.name)))
  return [usual, ...further]
}

/** The answers to requests about a deleted user: none shows anything of the users that had these ids. */
async function assertNotThere(team: TestTeam, operation: Operation, requests: Request[], ids: string[]): Promise<void> {
  for (const request of requests) {
    const reply = await send(team, operation, request)
    assert.equal(reply.status, findsNothing.has(operation.id) ? 200 : unknownStatus(operation), describeReply(reply))
    assert.deepEqual(listShownUsers(reply, ids, request), [])
  }
}

async function assertThere(team: TestTeam, operation: Operation, request: Request): Promise<void> {
  const reply = await send(team, operation, request)
  const instead = NOT_RESTORED.get(operation.id)
  if (instead) assert.equal(reply.status, instead, describeReply(reply))
  else assert(success(reply), describeReply(reply))
}

describe('an operation that reads something of a deleted user', () => {
  const reading = naming.filter(({ method }) => method === 'GET')
  const requests = new Map<Operation, [Request, ...Request[]]>()
  let team: TestTeam
  let ids: string[]
  let users: string[]

  before(async () => {
    team = await createTestTeam()
    for (const operation of reading) requests.set(operation, await requestsFor(team, operation))
    ids = await idsOfUsers(team)
    users = await deleteUsers(team)
  })

  testEach('answers 404', reading, (operation) => assertNotThere(team, operation, requests.get(operation)!, ids))

  describe('and as before', () => {
    before(() => undo(team, users))
    testEach('when the deletion is undone', reading, (operation) => assertThere(team, operation, requests.get(operation)![0]))
  })
})

describe(
  'an operation that changes something of a deleted user answers 404, and as before when the deletion is undone:',
  { concurrency: 4 },
  () => {
    for (const operation of naming.filter(({ method }) => method !== 'GET'))
      test(operation.id, async () => {
        const team = await createTestTeam()
        const requests = await requestsFor(team, operation)
        const ids = await idsOfUsers(team)
        const users = await deleteUsers(team)
        await assertNotThere(team, operation, requests, ids)
        await undo(team, users)
        await assertThere(team, operation, requests[0])
      })
  },
)

describe('a list leaves out the data of a deleted user, and has it again when the deletion is undone:', () => {
  const LISTS = [
    'get_orders',
    'get_teams_users',
    'list_order_rows',
    'list_patient_messages',
    'list_user_rows',
    'list_events',
    'list_event_rows',
    'follow_events',
    'list_unmatched_results',
    'list_fulfillment_work',
    'list_team_unmatched_results',
    'list_lab_report_reviews',
    'list_team_lab_report_reviews',
    'list_visits',
    'list_webhook_messages',
  ]
  /** These have a user's things made by their examples. */
  const MAKERS = [
    'get_lab_test_result_raw',
    'get_psc_appointment',
    'set_visit_progress',
    'get_fulfillment_work',
    'get_latest_insurance',
    'accept_unmatched_result',
    'accept_team_unmatched_result',
    'get_lab_report_review',
  ]
  // A link token ends with its user. The list of requests has what the team asked for itself: paths with ids, no data.
  const lists = operations.filter(
    ({ method, auth, id }) =>
      method === 'GET' && (auth === 'team' || auth === 'management') && !ABOUT_DELETING.has(id) && id !== 'list_sandbox_requests',
  )
  const requests = new Map<Operation, Request>()
  const shownBefore: string[] = []
  let team: TestTeam
  let ids: string[]
  let users: string[]

  before(async () => {
    team = await createTestTeam()
    const { url } = await receiver()
    const hook = (await team.manage.post(`/team/${team.team}/sandbox/webhook`, { url })).body.id as string
    for (const id of MAKERS)
      await valid(
        team,
        operations.find((operation) => operation.id === id)!,
      )
    await delivering().drain()
    for (const operation of lists) requests.set(operation, await requestOf(operation, hook))
    ids = await idsOfUsers(team)
    for (const operation of lists) {
      const reply = await send(team, operation, requests.get(operation)!)
      if (reply.status === 200 && listShownUsers(reply, ids, requests.get(operation)!).length) shownBefore.push(operation.id)
    }
    users = await deleteUsers(team)
  })

  /** Of the team and its endpoint, without an id of a user. */
  async function requestOf(operation: Operation, hook: string): Promise<Request> {
    const values: Record<string, string> = {
      org_id: team.org_id,
      team_id: team.team,
      environment: 'sandbox',
      env: 'sandbox',
      region: 'us',
      webhook_id: hook,
    }
    const path = Object.fromEntries(
      [...operation.path.matchAll(/\{(\w+)[.]*\}/g)].map(([, name]) => [
        name!,
        values[name!] ?? '00000000-0000-4000-8000-000000000000',
      ]),
    )
    const query: Record<string, string> = operation.id === 'search_team_users' ? { query_id: '0' } : {}
    return { path, query, body: undefined }
  }

  for (const operation of lists)
    test(operation.id, async () => {
      const reply = await send(team, operation, requests.get(operation)!)
      assert.deepEqual(listShownUsers(reply, ids, requests.get(operation)!), [], describeReply(reply))
    })

  test('all of them have shown something before, and do again', async () => {
    assert.deepEqual(shownBefore.toSorted(), LISTS.toSorted())
    await undo(team, users)
    for (const operation of lists.filter(({ id }) => shownBefore.includes(id))) {
      const reply = await send(team, operation, requests.get(operation)!)
      assert(listShownUsers(reply, ids, requests.get(operation)!).length > 0, operation.id)
    }
  })
})

/** A team with an order whose event an endpoint has had. */
async function createDeliveredOrder() {
  const team = await createTestTeam()
  const { url } = await receiver()
  const path = `/team/${team.team}/sandbox/webhook`
  const hook = `${path}/${(await team.manage.post(path, { url })).body.id}`
  const order = await createOrder(team)
  await delivering().drain()
  const [{ id }] = (await team.manage.get(`${hook}/message`)).body.data
  return { team, order, message: `${hook}/message/${id}` }
}

test('a message about a deleted user is not shown and not sent again, until the deletion is undone', async () => {
  const { team, message } = await createDeliveredOrder()
  const statuses = async () => [
    (await team.manage.get(message)).status,
    (await team.manage.get(`${message}/attempt`)).status,
    (await team.manage.post(`${message}/resend`)).status,
  ]
  assert.deepEqual(await statuses(), [200, 200, 200])
  await delivering().drain()
  const before = await rowsOf(team)
  const users = await deleteUsers(team)
  assert.deepEqual(await statuses(), [404, 404, 404])
  assert.deepEqual((await rowsOf(team)).delivery, before.delivery)
  await undo(team, users)
  assert.deepEqual(await statuses(), [200, 200, 200])
})

test('the address of a requisition is worth nothing while the user is deleted, and the same again afterwards', async () => {
  const team = await createTestTeam()
  const link = (await orderWithRequisition(team, 'walk_in_test')).requisition_form_url!
  assert.equal((await fetch(link)).status, 200)
  const users = await deleteUsers(team)
  assert.equal((await fetch(link)).status, 404)
  await undo(team, users)
  assert.equal((await fetch(link)).status, 200)
})

test('a result that can be of another user is reviewed without the deleted one', async () => {
  const team = await createTestTeam()
  const operation = operations.find(({ id }) => id === 'get_unmatched_result')!
  const request = await valid(team, operation)
  const { candidate_groups } = (await send(team, operation, request)).body
  const [deleted] = await deleteUsers(team)
  const other = await team.user()
  await team.db.pool.query('update raw_result set candidate_user_ids = candidate_user_ids || $2::uuid where team_id = $1', [
    team.team,
    other,
  ])
  const reply = await send(team, operation, request)
  assert.equal(reply.status, 200)
  assert(JSON.stringify(candidate_groups).includes(deleted!))
  assert(!JSON.stringify(reply.body).includes(deleted!))
})

test('an order that is asked for again is not shown while its user is deleted, and no second one is made', async () => {
  const team = await createTestTeam()
  const operation = operations.find(({ id }) => id === 'create_order_once')!
  const request = await valid(team, operation)
  const first = await send(team, operation, request)
  const users = await deleteUsers(team)
  const refused = await send(team, operation, request)
  assert.deepEqual([refused.status, refused.body], [404, { detail: 'User does not exist on this team' }])
  await undo(team, users)
  assert.deepEqual((await send(team, operation, request)).body, first.body)
})

describe('for a deleted user', () => {
  test('an order that has not gone to its laboratory waits, and goes within a day after the deletion is undone', async () => {
    const team = await createTestTeam('production-us')
    const order = await createOrder(team)
    const users = await deleteUsers(team)
    await team.settle()
    assert.deepEqual((await team.jobs()).toSorted(), ['orders.dispatch', 'users.erase'])
    const statusOf = async () =>
      (await team.db.pool.query('select low_level_status, document from lab_order where id = $1', [order.id])).rows[0] as {
        low_level_status: string
        document: string
      }
    assert.doesNotMatch((await statusOf()).document, /fulfillment_error/)
    await advanceClock(team, 2 * SECONDS_PER_DAY)
    assert.doesNotMatch((await statusOf()).document, /fulfillment_error/)
    await undo(team, users)
    await advanceClock(team, SECONDS_PER_DAY)
    // Production has no link to this laboratory: the order has gone, and says that it could not.
    assert.match((await statusOf()).document, /fulfillment_error/)
  })

  test('a job that was interrupted after it had put its order off does so once', async () => {
    const team = await createTestTeam('production-us')
    await createOrder(team)
    await deleteUsers(team)
    const { rows } = await team.db.pool.query(
      `select payload, run_at::text from job where team_id = $1 and name = 'orders.dispatch'`,
      [team.team],
    )
    assert.equal(rows.length, 1)
    await team.settle()
    // As it is when the process ends between the job's transaction and the deletion of the job.
    await team.db.pool.query(
      `insert into job (id, team_id, name, payload, run_at, due_at) values (gen_random_uuid(), $1, 'orders.dispatch', $2, $3, now())`,
      [team.team, rows[0].payload, rows[0].run_at],
    )
    await team.settle()
    assert.deepEqual((await team.jobs()).toSorted(), ['orders.dispatch', 'users.erase'])
    await advanceClock(team, 3 * SECONDS_PER_DAY)
    assert.deepEqual((await team.jobs()).toSorted(), ['orders.dispatch', 'users.erase'])
  })

  test('an order continues while its user is deleted, and is complete when the deletion is undone, and its patient gets no message', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    const messages = async () =>
      (await team.db.pool.query('select 1 from patient_message where team_id = $1', [team.team])).rowCount
    assert.equal((await team.api.post(`/v3/order/${order.id}/test`)).status, 200)
    const before = await messages()
    const users = await deleteUsers(team)
    await team.settle()
    await advanceClock(team, 5 * SECONDS_PER_DAY)
    assert.equal(await messages(), before)
    await undo(team, users)
    assert.equal((await team.api.get(`/v3/order/${order.id}`)).body.status, 'completed')
    assert.equal((await team.api.get(`/v3/order/${order.id}/result`)).status, 200)
  })
})
