// Idempotency keys: every POST that changes something takes one, and the same key does it once.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { SECONDS_PER_DAY, orderBody, advanceClock } from '../support/orders.ts'
import { cells, createTestTeam, type TestTeam } from '../support/server.ts'
import { glucoseReport, uploadReport } from '../support/uploaded-reports.ts'
import { describeReply, success } from './operations/operation-cases.ts'
import { send, valid } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

const { operations } = contents

/** POSTs that change something and take no key. */
const WITHOUT_KEY: Record<string, string> = {
  accept_invite: 'no principal is known that could have keys, and the token of an invite is valid for one use',
  add_passkey: 'the answer to a challenge is valid for one use',
  advance_sandbox_clock: 'it creates nothing, and runs in one transaction per due job',
  approve_lab_test: 'it creates nothing: approving a test twice is approving it',
  check_lab_link: 'it creates nothing: it looks at the link, again at every request',
  complete_password_provider_mfa: 'nothing of a code that is sent to it is stored, not even as a hash',
  connect_email_provider: 'nothing of an address that is sent to it is stored, not even as a hash',
  connect_password_provider: 'nothing of a password that is sent to it is stored, not even as a hash',
  finish_lab_link_issue: 'it creates nothing: what is done stays done',
  finish_lab_message: 'it creates nothing: what is done stays done',
  replay_lab_message: 'it creates nothing: a message is applied once, however often it is processed',
  resend_lab_message: 'it creates nothing: a laboratory knows a message by its control id',
  get_new_passkey_options: 'it creates nothing but a challenge, which the browser gets in a cookie',
  get_passkey_sign_in_options: 'no principal is known that could have keys',
  link_email_auth: 'nothing of an address that is sent to it is stored, not even as a hash',
  link_password_auth: 'nothing of a password that is sent to it is stored, not even as a hash',
  exchange_link_code: 'no principal is known that could have keys, and a code is valid for one use',
  exchange_token: 'no principal is known that could have keys, and a token may be exchanged again',
  receive_provider_notification: 'a vendor has no keys, and a repeated notification asks for the same data again',
  refresh_user_data: 'it creates nothing: data that is read again is the same',
  request_password_reset: 'no principal is known that could have keys',
  sign_in_to_demo: 'no principal is known that could have keys',
  sign_in_with_passkey: 'no principal is known that could have keys',
  sign_in_with_password: 'nothing of a password that is sent to it is stored with a response',
  sign_out: 'a session that has ended stays ended',
  start_lab_link_trial: 'a trial replaces the one before it, and while it runs another is refused',
  start_link: 'no principal is known that could have keys, and what is started again is the same',
  upsert_team_custom_credentials: 'what is put again is the same',
  upsert_team_data_pull_preferences: 'what is put again is the same',
  upsert_team_ehr_pipelines: 'what is put again is the same',
  upsert_team_etl_pipelines: 'what is put again is the same',
  upsert_team_scope_requirements: 'what is put again is the same',
  use_one_time_link: 'no principal is known that could have keys, and a link is valid for one use',
  verify_org_domain: 'it creates nothing: it looks at DNS, again at every request',
}

const posts = operations.filter(({ method, reads }) => method === 'POST' && !reads)
const keyed = operations.filter(({ idempotency }) => idempotency)

test('every POST that changes something takes a key, except those with a reason not to', () => {
  assert.deepEqual(
    posts
      .filter(({ idempotency }) => !idempotency)
      .map(({ id }) => id)
      .toSorted(),
    Object.keys(WITHOUT_KEY).toSorted(),
  )
  assert(keyed.every((operation) => posts.includes(operation)))
})

test('operations do not share keys, but for the two paths of creating an order', () => {
  const scopes = Map.groupBy(keyed, ({ idempotency }) => idempotency!.scope)
  assert.deepEqual(
    [...scopes.values()].filter(({ length }) => length > 1).map((sharing) => sharing.map(({ id }) => id)),
    [['create_order', 'create_order_once']],
  )
})

/** Who looked at what is recorded each time. */
const LOGS = new Set(['access_line', 'access_log', 'access_day'])

/** Everything that the team has in its cell, and how many rows each table of the control plane has. */
async function readState(team: TestTeam): Promise<Record<string, unknown>> {
  const { rows } = await cells.control.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() order by 1`,
  )
  const counts = rows.map(({ name }) => `(select count(*) from "${name}") as "${name}"`).join(', ')
  const control = (await cells.control.pool.query(`select ${counts}`)).rows[0] as Record<string, unknown>
  const cell = await rowsOf(team)
  return Object.fromEntries(Object.entries({ ...cell, ...control }).filter(([name]) => !LOGS.has(name)))
}

/** The address of a requisition is a part of its order, wherever that is kept. */
const LINK = /\/documents\/requisition\?token=[\w%-]+/g
const SECRET = /\b(sk|mk|mg|at|whsec|inv|launch)_[\w-]{16,}/

const keptBy = async ({ db, team, org_id }: TestTeam): Promise<{ body: string; user_ids: string[] | null }[]> => {
  const text = 'select body, user_ids from idempotency_key where team_id = any ($1)'
  const [cell, control] = await Promise.all([db.pool.query(text, [[team]]), cells.control.pool.query(text, [[org_id]])])
  return [...cell.rows, ...control.rows]
}

describe('the same key does it once, answers the same, and keeps no secret:', () => {
  for (const operation of keyed)
    test(operation.id, async () => {
      const team = await createTestTeam()
      const request = await valid(team, operation)
      const headers = { 'x-idempotency-key': randomUUID() }
      const first = await send(team, operation, request, headers)
      assert(success(first), describeReply(first))
      const before = await readState(team)
      const second = await send(team, operation, request, headers)
      if (operation.idempotency!.secret)
        assert.deepEqual(
          [second.status, second.body],
          [409, { detail: 'A request with this idempotency key has been answered, and its secret is shown once' }],
        )
      else assert.deepEqual([second.status, second.body], [first.status, first.body])
      assert.deepEqual(await readState(team), before)
      for (const { body } of await keptBy(team)) assert.doesNotMatch(body.replace(LINK, ''), SECRET)
    })
})

describe('a key of one order is rejected for another:', () => {
  for (const operation of keyed.filter(({ idempotency, path }) => idempotency!.bindsToBody && path.includes('{order_id}')))
    test(operation.id, async () => {
      const team = await createTestTeam()
      const request = await valid(team, operation)
      const headers = { 'x-idempotency-key': randomUUID() }
      assert(success(await send(team, operation, request, headers)))
      const other = await send(team, operation, { ...request, path: { ...request.path, order_id: randomUUID() } }, headers)
      assert.deepEqual([other.status, other.body], [409, { detail: 'This idempotency key has been used for another request' }])
    })
})

describe('a kept answer', () => {
  const KEY = { 'x-idempotency-key': 'the-same' }

  test('is erased with its user, and responses about others are not', async () => {
    const team = await createTestTeam()
    const [goes, stays] = [await team.user(), await team.user()]
    for (const user_id of [goes, stays])
      for (const path of ['/v3/order', '/v3/order/create'])
        assert.equal(
          (await team.api.post(path, await orderBody(team, { user_id }), { 'x-idempotency-key': randomUUID() })).status,
          200,
        )
    // Under the content of the order, without a key.
    await team.api.post('/v3/order/create', await orderBody(team, { user_id: goes }))
    const about = async (user_id: string) => (await keptBy(team)).filter(({ user_ids }) => user_ids?.includes(user_id)).length
    assert.deepEqual([await about(goes), await about(stays)], [3, 2])
    await team.api.delete(`/v2/user/${goes}`)
    await advanceClock(team, 7 * SECONDS_PER_DAY)
    assert.deepEqual([await about(goes), await about(stays)], [0, 2])
    const texts = (await keptBy(team)).map(({ body }) => body).join()
    assert(!texts.includes(goes) && texts.includes(stays))
  })

  test('is not returned while its user is deleted, and is returned unchanged afterwards', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const body = await orderBody(team, { user_id })
    const first = await team.api.post('/v3/order', body, KEY)
    await team.api.delete(`/v2/user/${user_id}`)
    const hidden = await team.api.post('/v3/order', body, KEY)
    assert.deepEqual([hidden.status, hidden.body], [404, { detail: 'You have scheduled this user for deletion.' }])
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.deepEqual((await team.api.post('/v3/order', body, KEY)).body, first.body)
    assert.equal((await team.api.get('/v3/orders')).body.total, 1)
  })

  test('of a refusal names the user of the request', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await team.api.post(`/v2/user/${user_id}/insurance`, undefined, KEY)).status, 422)
    const insurance = operations.find(({ id }) => id === 'create_insurance')!.example
    const refused = await team.api.post(`/v2/user/${user_id}/insurance`, insurance, KEY)
    assert.equal(refused.status, 400)
    assert.deepEqual(
      (await keptBy(team)).map(({ user_ids }) => user_ids),
      [[user_id]],
    )
  })

  test('is that of one team and one operation', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const names = ['first', 'second']
    const created = []
    for (const [i, each] of [team, other].entries())
      created.push(await each.api.post('/v2/user', { client_user_id: names[i] }, KEY))
    assert.deepEqual(
      created.map(({ status, body }) => [status, body.client_user_id]),
      [
        [200, 'first'],
        [200, 'second'],
      ],
    )
    const body = await orderBody(team, { user_id: created[0]!.body.user_id })
    assert.equal((await team.api.post('/v3/order', body, KEY)).status, 200)
  })
})

describe('an uploaded report under a key', () => {
  const KEY = { 'x-idempotency-key': 'an-upload' }
  const upload = async (team: TestTeam, user_id: string, bytes: Buffer) => uploadReport(team, [{ bytes }], { user_id }, KEY)
  const jobs = async ({ db, team }: TestTeam) =>
    (await db.pool.query('select 1 from parsing_job where team_id = $1', [team])).rowCount

  test('is one job, although each request has another boundary, also after its file has been read', async () => {
    const team = await createTestTeam()
    const [user_id, bytes] = [await team.user(), await glucoseReport()]
    const replies = await Promise.all([1, 2, 3].map(() => upload(team, user_id, bytes)))
    for (const reply of replies) assert.deepEqual([reply.status, reply.body], [200, replies[0]!.body])
    await team.settle()
    assert.deepEqual((await upload(team, user_id, bytes)).body, replies[0]!.body)
    assert.equal(await jobs(team), 1)
    const kept = await keptBy(team)
    assert.deepEqual(
      kept.map(({ user_ids }) => user_ids),
      [[user_id]],
    )
  })

  test('is refused for another file or another user', async () => {
    const team = await createTestTeam()
    const [user_id, bytes] = [await team.user(), await glucoseReport()]
    assert.equal((await upload(team, user_id, bytes)).status, 200)
    for (const other of [
      await upload(team, await team.user(), bytes),
      await upload(team, user_id, Buffer.concat([bytes, Buffer.from('\n')])),
    ])
      assert.deepEqual([other.status, other.body], [409, { detail: 'This idempotency key has been used for another request' }])
    assert.equal(await jobs(team), 1)
  })

  test('is not shown while its user is deleted, and a rejected upload uses no key up', async () => {
    const team = await createTestTeam()
    const [user_id, bytes] = [await team.user(), await glucoseReport()]
    assert.equal((await upload(team, user_id, Buffer.from('no report'))).status, 400)
    const first = await upload(team, user_id, bytes)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await upload(team, user_id, bytes)).status, 404)
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.deepEqual((await upload(team, user_id, bytes)).body, first.body)
  })
})

test('two kits are not sent where one was ordered twice at once under a key', async () => {
  const team = await createTestTeam()
  const operation = operations.find(({ id }) => id === 'create_testkit_order')!
  const request = await valid(team, operation)
  const headers = { 'x-idempotency-key': randomUUID() }
  const replies = await Promise.all([1, 2, 3, 4].map(() => send(team, operation, request, headers)))
  for (const reply of replies) assert.deepEqual([reply.status, reply.body], [200, replies[0]!.body])
  assert.equal((await team.api.get('/v3/orders')).body.total, 1)
  const other = await send(team, operation, { ...request, body: { ...(request.body as object), passthrough: 'other' } }, headers)
  assert.deepEqual([other.status, other.body], [409, { detail: 'This idempotency key has been used for another request' }])
})
