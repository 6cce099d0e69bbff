// Deleting a user, undoing it, and the erasure after the grace period.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, kit, advanceClock, createOrder, registration } from '../../../test/support/orders.ts'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import type { User } from './schema.ts'

const GRACE_S = 7 * SECONDS_PER_DAY

const listUsers = async ({ api }: TestTeam): Promise<string[]> =>
  (await api.get('/v2/user')).body.users.map((user: User) => user.client_user_id)

const undo = ({ api }: TestTeam, fields: Record<string, string>) =>
  api.post(`/v2/user/undo_delete?${new URLSearchParams(fields)}`)

/** Tables with personal data → number of rows of the team. */
async function rowsOf({ db, team }: TestTeam): Promise<Record<string, number>> {
  const Counts = T.Object({ users: T.Integer(), orders: T.Integer(), results: T.Integer(), events: T.Integer() })
  return db.queries.one(
    Counts,
    sql`
    select (select count(*) from "user" where team_id = ${team}) as users,
           (select count(*) from lab_order where team_id = ${team}) as orders,
           (select count(*) from lab_result where team_id = ${team}) as results,
           (select count(*) from event where team_id = ${team}) as events`,
  )
}

describe('deleting a user', () => {
  test('hides the user from everything immediately and queues the erasure', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('first')
    const { status, body } = await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual([status, body], [200, { success: true }])
    assert.deepEqual(await listUsers(team), [])
    assert.deepEqual((await team.api.get('/v2/team/users/search?query_id=first')).body, [])
    const read = await team.api.get(`/v2/user/${user_id}`)
    assert.deepEqual([read.status, read.body], [404, { detail: 'You have scheduled this user for deletion.' }])
    const resolved = await team.api.get('/v2/user/resolve/first')
    assert.deepEqual([resolved.status, resolved.body], [404, { detail: 'User not found' }])
    assert.deepEqual(await team.events(), [])
    assert.deepEqual(await team.jobs(), ['users.erase'])
  })

  test('deleting or changing a deleted user returns 404 with a detail of its own', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.delete(`/v2/user/${user_id}`)
    const detail = 'The user has been scheduled for deletion as per your previous request'
    for (const reply of [
      await team.api.delete(`/v2/user/${user_id}`),
      await team.api.patch(`/v2/user/${user_id}`, { client_user_id: 'x' }),
    ])
      assert.deepEqual([reply.status, reply.body], [404, { detail }])
    assert.deepEqual(await team.jobs(), ['users.erase'])
  })

  test('an unknown user, or one of another team, returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const id of [randomUUID(), await other.user('theirs')]) {
      const { status, body } = await team.api.delete(`/v2/user/${id}`)
      assert.deepEqual([status, body], [404, { detail: 'The user does not or no longer exists in this team' }])
    }
    assert.deepEqual(await listUsers(other), ['theirs'])
    assert.equal((await team.api.delete('/v2/user/not-an-id')).status, 422)
  })

  test('frees the client user id immediately', async () => {
    const team = await createTestTeam()
    const first = await team.user('first')
    await team.api.delete(`/v2/user/${first}`)
    const second = await team.user('first')
    assert.notEqual(second, first)
    assert.equal((await team.api.get('/v2/user/resolve/first')).body.user_id, second)
  })

  test('rejects new orders for the user', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.delete(`/v2/user/${user_id}`)
    const { status, body } = await team.api.post('/v3/order/testkit', {
      user_id,
      lab_test_id: await team.test(),
      shipping_details: {
        receiver_name: 'Testa Fictional',
        first_line: '1 Sample Way',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85004',
        country: 'US',
        phone_number: '+15550100199',
      },
    })
    assert.deepEqual([status, body], [404, { detail: 'User does not exist on this team' }])
    assert.deepEqual(await team.events(), [])
  })
})

describe('undoing the deletion of a user', () => {
  test('works by user id and by client user id', async () => {
    for (const by of ['user_id', 'client_user_id'] as const) {
      const team = await createTestTeam()
      const user_id = await team.user('first')
      const before = (await team.api.get(`/v2/user/${user_id}`)).body
      await team.api.delete(`/v2/user/${user_id}`)
      const { status, body } = await undo(team, { [by]: by === 'user_id' ? user_id : 'first' })
      assert.deepEqual([status, body], [200, { success: true }])
      assert.deepEqual((await team.api.get(`/v2/user/${user_id}`)).body, before)
    }
  })

  test('by client user id restores the user that was deleted last', async () => {
    const team = await createTestTeam()
    const older = await team.user('first')
    await team.api.delete(`/v2/user/${older}`)
    await advanceClock(team, 60)
    const newer = await team.user('first')
    await team.api.delete(`/v2/user/${newer}`)
    assert.equal((await undo(team, { client_user_id: 'first' })).status, 200)
    assert.equal((await team.api.get('/v2/user/resolve/first')).body.user_id, newer)
  })

  test('requires exactly one of the two ids', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('first')
    await team.api.delete(`/v2/user/${user_id}`)
    for (const by of [{}, { user_id, client_user_id: 'first' }]) {
      const { status, body } = await undo(team, by as Record<string, string>)
      assert.equal(status, 422)
      assert.deepEqual([body.detail[0].loc, body.detail[0].type], [['query'], 'value_error'])
    }
    assert.equal((await undo(team, { user_id: 'not-an-id' })).status, 422)
    assert.deepEqual(await listUsers(team), [])
  })

  test('returns 404 for a user that is not deleted, unknown, or of another team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const live = await team.user('live')
    const theirs = await other.user('theirs')
    await other.api.delete(`/v2/user/${theirs}`)
    for (const by of [
      { user_id: live },
      { client_user_id: 'live' },
      { user_id: randomUUID() },
      { client_user_id: 'unknown' },
      { user_id: theirs },
      { client_user_id: 'theirs' },
    ]) {
      const { status, body } = await undo(team, by as Record<string, string>)
      assert.deepEqual([status, body], [404, { detail: 'User not found' }])
    }
    assert.deepEqual(await listUsers(other), [])
  })

  test('rejects undo when the client user id is taken', async () => {
    const team = await createTestTeam()
    const older = await team.user('first')
    await team.api.delete(`/v2/user/${older}`)
    const newer = await team.user('first')
    for (const by of [{ user_id: older }, { client_user_id: 'first' }]) {
      const { status, body } = await undo(team, by as Record<string, string>)
      assert.deepEqual([status, body], [409, { detail: 'Client user id already exists' }])
    }
    assert.equal((await team.api.get('/v2/user/resolve/first')).body.user_id, newer)
  })

  test('works until the last second of the seventh day and not after', async () => {
    const team = await createTestTeam()
    const [in_time, too_late] = [await team.user('in time'), await team.user('too late')]
    await team.api.delete(`/v2/user/${in_time}`)
    await team.api.delete(`/v2/user/${too_late}`)
    await advanceClock(team, GRACE_S - 60)
    assert.equal((await undo(team, { user_id: in_time })).status, 200)
    await advanceClock(team, 60)
    const { status, body } = await undo(team, { user_id: too_late })
    assert.deepEqual([status, body], [404, { detail: 'User not found' }])
    assert.deepEqual(await listUsers(team), ['in time'])
  })

  test('rejects undo after seven days, even before erasure has run', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('first')
    await team.api.delete(`/v2/user/${user_id}`)
    await team.db.queries.run(sql`delete from job where team_id = ${team.team}`)
    await advanceClock(team, GRACE_S)
    assert.equal((await undo(team, { user_id })).status, 404)
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).body.detail, 'You have scheduled this user for deletion.')
  })
})

describe('seven days after the deletion of a user', () => {
  /** Creates a user with an order that has a result and a kit, with their events. */
  async function history(team: TestTeam, reference: string): Promise<string> {
    const user_id = await team.user(reference)
    const order = await createOrder(team, { user_id })
    assert.equal((await team.api.post(`/v3/order/${order.id}/test`)).status, 200)
    await team.settle()
    assert.equal((await team.api.get(`/v3/order/${order.id}/result`)).status, 200)
    await kit(team, { user_id })
    return user_id
  }

  test('user, orders, results and events are erased, and the data of another user is not', async () => {
    const team = await createTestTeam()
    await history(team, 'stays')
    const before = await rowsOf(team)
    const before_events = await team.events()
    const user_id = await history(team, 'goes')
    const both = await rowsOf(team)
    assert.deepEqual([both.users, both.orders, both.results, both.events], [2, 4, 2, 2 * before.events!])
    await team.api.delete(`/v2/user/${user_id}`)
    await advanceClock(team, GRACE_S - 60)
    assert.deepEqual(await rowsOf(team), both)
    await advanceClock(team, 60)
    assert.deepEqual(await rowsOf(team), before)
    assert.deepEqual(await team.events(), before_events)
    const read = await team.api.get(`/v2/user/${user_id}`)
    assert.deepEqual([read.status, read.body], [404, { detail: 'Not found' }])
    const { body } = await team.api.get('/v3/orders')
    assert.equal(body.total, 2)
    assert.ok(body.orders.every((order: { user_id: string }) => order.user_id !== user_id))
    assert.deepEqual(await listUsers(team), ['stays'])
  })

  test('an erasure that fails is tried again, however often it has failed before', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('goes')
    await team.api.delete(`/v2/user/${user_id}`)
    await team.db.queries.run(sql`update job set attempts = 1000 where team_id = ${team.team} and name = 'users.erase'`)
    const name = `fail_${team.team.replaceAll('-', '')}`
    await asOwner(`
      create function sandbox_us.${name}() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
      create trigger ${name} before delete on sandbox_us."user" for each row
        when (old.team_id = '${team.team}') execute function sandbox_us.${name}()`)
    assert.equal((await team.api.post('/v1/sandbox/clock/advance', { seconds: GRACE_S })).status, 200)
    await asOwner(`drop function sandbox_us.${name}() cascade`)
    const State = T.Object({ attempts: T.Integer(), waits: T.Boolean() })
    const job = sql`select attempts, failed_at is null as waits from job where team_id = ${team.team} and name = 'users.erase'`
    assert.deepEqual(await team.db.queries.one(State, job), { attempts: 1001, waits: true })
    await advanceClock(team, 60)
    assert.equal((await rowsOf(team)).users, 0)
  })

  test('nothing is erased if the deletion was undone', async () => {
    const team = await createTestTeam()
    const user_id = await history(team, 'stays')
    const before = await rowsOf(team)
    await team.api.delete(`/v2/user/${user_id}`)
    await undo(team, { user_id })
    await advanceClock(team, GRACE_S + SECONDS_PER_DAY)
    assert.deepEqual(await rowsOf(team), before)
    assert.deepEqual(await team.jobs(), [])
  })

  test('after an undo, a second deletion starts the seven days again', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('first')
    await team.api.delete(`/v2/user/${user_id}`)
    await advanceClock(team, 3 * SECONDS_PER_DAY)
    await undo(team, { user_id })
    await team.api.delete(`/v2/user/${user_id}`)
    await advanceClock(team, 4 * SECONDS_PER_DAY)
    assert.equal((await rowsOf(team)).users, 1, 'seven days after the first deletion')
    assert.equal((await undo(team, { user_id })).status, 200)
    await team.api.delete(`/v2/user/${user_id}`)
    await advanceClock(team, GRACE_S - 60)
    assert.equal((await rowsOf(team)).users, 1)
    await advanceClock(team, 60)
    assert.equal((await rowsOf(team)).users, 0)
    assert.deepEqual(await team.jobs(), [])
  })

  test('a kit that was registered for another person is kept, without the events about the first user', async () => {
    const team = await createTestTeam()
    const [stock, person] = [await team.user('stock'), await team.user('person')]
    const { id, sample_id } = await kit(team, { user_id: stock })
    assert.equal((await team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id: person }))).status, 200)
    await team.settle()
    assert.deepEqual(await team.events(id), [
      'labtest.order.created',
      'labtest.order.updated',
      'labtest.order.updated',
      'labtest.order.updated',
    ])
    await team.api.delete(`/v2/user/${stock}`)
    await advanceClock(team, GRACE_S)
    assert.deepEqual(await listUsers(team), ['person'])
    assert.equal((await team.api.get(`/v3/order/${id}`)).body.user_id, person)
    assert.deepEqual(await team.events(id), ['labtest.order.updated', 'labtest.order.updated'])
    await team.api.delete(`/v2/user/${person}`)
    await advanceClock(team, GRACE_S)
    assert.deepEqual(await rowsOf(team), { users: 0, orders: 0, results: 0, events: 0 })
  })
})

test('a deletion cannot be undone if the sandbox team has become full in the meantime', async () => {
  const team = await createTestTeam()
  const user_id = await team.user('first')
  await team.api.delete(`/v2/user/${user_id}`)
  for (let i = 0; i < 50; i++) await team.user(`other ${i}`)
  const { status, body } = await undo(team, { user_id })
  assert.deepEqual([status, body.detail.error_message], [400, 'You have reached the maximum of 50 Sandbox users'])
  const { users } = (await team.api.get('/v2/user?limit=1')).body
  await team.api.delete(`/v2/user/${users[0].user_id}`)
  assert.deepEqual((await undo(team, { user_id })).body, { success: true })
})
