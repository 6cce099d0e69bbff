import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { countRows } from '../../platform/db/list-counts.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, advanceClock, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import type { User } from './schema.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const LIMIT = 50

/** Inserts users into the team by SQL. */
const fill = ({ db, team, tenant }: TestTeam, count: number) =>
  db.tx(tenant, async (tx) => {
    await tx.run(sql`
      insert into "user" (id, team_id, client_user_id, created_on)
      select gen_random_uuid(), ${team}, 'filler ' || n, ${tx.now} from generate_series(1, ${count}::integer) n`)
    countRows(tx, 'users', count)
  })

const referencesOf = (users: User[]) => users.map((user) => user.client_user_id)
const create = async ({ api }: TestTeam, body: Record<string, unknown>) => api.post('/v2/user', body)
const fullTeam = {
  error_type: 'INVALID_REQUEST',
  error_message: 'You have reached the maximum of 50 Sandbox users',
}

describe('creating a user', () => {
  test('accepts every name of a time zone, and shows it as it was sent', async () => {
    const team = await createTestTeam()
    for (const zone of ['UTC', 'GMT', 'Japan', 'US/Pacific', 'Etc/GMT+5', 'Asia/Calcutta', 'GB-Eire', 'EST5EDT', 'W-SU']) {
      const { status, body } = await create(team, { client_user_id: zone, fallback_time_zone: zone })
      assert.deepEqual([status, body.fallback_time_zone?.id], [200, zone])
      await team.api.patch(`/v2/user/${body.user_id}`, { fallback_time_zone: 'Zulu' })
      assert.equal((await team.api.get(`/v2/user/${body.user_id}`)).body.fallback_time_zone.id, 'Zulu')
    }
  })

  test('returns the whole record with every field, and emits no event', async () => {
    const team = await createTestTeam()
    const { status, body } = await create(team, { client_user_id: 'first' })
    assert.equal(status, 200)
    assert.match(body.user_id, UUID)
    assert.match(body.created_on, TIMESTAMP)
    assert.deepEqual(body, {
      user_id: body.user_id,
      team_id: team.team,
      client_user_id: 'first',
      created_on: body.created_on,
      connected_sources: [],
      fallback_time_zone: null,
      fallback_birth_date: null,
      ingestion_start: null,
      ingestion_end: null,
    })
    assert.deepEqual(await team.events(), [])
    assert.deepEqual(await team.jobs(), [])
    assert.deepEqual((await team.api.get(`/v2/user/${body.user_id}`)).body, body)
  })

  test('stores time zone, date of birth and bounds, and marks their source as manual', async () => {
    const team = await createTestTeam()
    const { status, body } = await create(team, {
      client_user_id: 'first',
      fallback_time_zone: 'America/Chicago',
      fallback_birth_date: '1990/01/31',
      ingestion_start: '2024-02-29',
      ingestion_end: '2024-02-29T00:00:00Z',
    })
    assert.equal(status, 200)
    const source = { source_slug: 'manual', updated_at: body.created_on }
    assert.deepEqual(body.fallback_time_zone, { id: 'America/Chicago', ...source })
    assert.deepEqual(body.fallback_birth_date, { value: '1990-01-31', ...source })
    assert.deepEqual([body.ingestion_start, body.ingestion_end], ['2024-02-29', '2024-02-29'])
    assert.deepEqual((await team.api.get(`/v2/user/${body.user_id}`)).body, body)
  })

  test('accepts null for absent fields', async () => {
    const team = await createTestTeam()
    const optional = ['fallback_time_zone', 'fallback_birth_date', 'ingestion_start', 'ingestion_end']
    const body = { client_user_id: 'first', ...Object.fromEntries(optional.map((field) => [field, null])) }
    assert.equal((await create(team, body)).status, 200)
  })

  test('with a client user id in use is rejected with the id of its user, and changes nothing', async () => {
    const team = await createTestTeam()
    const { user_id, created_on } = (await create(team, { client_user_id: 'first', ingestion_start: '2024-01-01' })).body
    const again = await create(team, { client_user_id: 'first', ingestion_start: '2020-01-01', fallback_time_zone: 'Etc/UTC' })
    assert.equal(again.status, 400)
    const detail = {
      error_type: 'INVALID_REQUEST',
      error_message: 'Client user id already exists.',
      user_id,
      created_on,
    }
    assert.equal(JSON.stringify(again.body), JSON.stringify({ detail }))
    const { body } = await team.api.get('/v2/user')
    assert.equal(body.total, 1)
    assert.deepEqual([body.users[0].ingestion_start, body.users[0].fallback_time_zone], ['2024-01-01', null])
  })

  test('with the client user id of another team, or in another case, creates another user', async () => {
    const [mine, theirs] = [await createTestTeam(), await createTestTeam()]
    const ids = new Set<string>()
    for (const [team, client_user_id] of [
      [mine, 'first'],
      [theirs, 'first'],
      [mine, 'First'],
      [mine, 'first '],
    ] as const)
      ids.add((await create(team, { client_user_id })).body.user_id)
    assert.equal(ids.size, 4)
  })

  test('concurrent requests with the same client user id create one user, and every caller gets its id', async () => {
    const team = await createTestTeam()
    const replies = await Promise.all(Array.from({ length: 6 }, () => create(team, { client_user_id: 'first' })))
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 400, 400, 400, 400, 400])
    const ids = replies.map(({ status, body }) => (status === 200 ? body.user_id : body.detail.user_id))
    assert.equal(new Set(ids).size, 1)
    assert.equal((await team.api.get('/v2/user')).body.total, 1)
  })

  const refused: [string, Record<string, unknown>, string, string][] = [
    ['a missing client user id', {}, 'client_user_id', 'missing'],
    ['an empty client user id', { client_user_id: '' }, 'client_user_id', 'string_too_short'],
    ['a number as client user id', { client_user_id: 7 }, 'client_user_id', 'string_type'],
    ['a client user id of 513 characters', { client_user_id: 'a'.repeat(513) }, 'client_user_id', 'string_too_long'],
    ['an unknown time zone', { client_user_id: 'a', fallback_time_zone: 'Mars/Base' }, 'fallback_time_zone', 'value_error'],
    [
      'the time zone UTC without a region',
      { client_user_id: 'a', fallback_time_zone: 'PST' },
      'fallback_time_zone',
      'value_error',
    ],
    [
      'an impossible date of birth',
      { client_user_id: 'a', fallback_birth_date: '1990-02-30' },
      'fallback_birth_date',
      'date_from_datetime_parsing',
    ],
    [
      'reversed bounds',
      { client_user_id: 'a', ingestion_start: '2024-02-02', ingestion_end: '2024-02-01' },
      'ingestion_end',
      'value_error',
    ],
  ]
  for (const [how, body, field, type] of refused)
    test(`rejects ${how}`, async () => {
      const team = await createTestTeam()
      const reply = await create(team, body)
      assert.equal(reply.status, 422)
      assert.deepEqual(
        reply.body.detail.map((fault: { loc: string[]; type: string }) => [fault.loc, fault.type]),
        [[['body', field], type]],
      )
      assert.equal((await team.api.get('/v2/user')).body.total, 0)
    })

  test('accepts a client user id of 512 characters of any kind', async () => {
    const team = await createTestTeam()
    for (const client_user_id of ['a'.repeat(512), '🧪'.repeat(512), ' ', "'; --", '{"$ne":null}', '../%2e', 'ü\u0301\u202e']) {
      const { status, body } = await create(team, { client_user_id })
      assert.deepEqual([status, body.client_user_id], [200, client_user_id])
    }
  })
})

describe('the user limit of a sandbox team', () => {
  test('accepts 50 users and rejects the next one with an error of its own', async () => {
    const team = await createTestTeam()
    await fill(team, LIMIT - 1)
    assert.equal((await create(team, { client_user_id: 'fiftieth' })).status, 200)
    const { status, body } = await create(team, { client_user_id: 'one too many' })
    assert.deepEqual([status, body], [400, { detail: fullTeam }])
    assert.equal((await team.api.get('/v2/user')).body.total, LIMIT)
  })

  test('a deleted user makes room for another', async () => {
    const team = await createTestTeam()
    await fill(team, LIMIT - 1)
    const { user_id } = (await create(team, { client_user_id: 'fiftieth' })).body
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await create(team, { client_user_id: 'in its place' })).status, 200)
    assert.equal((await create(team, { client_user_id: 'one too many' })).status, 400)
  })

  test('reports a client user id in use even if the team is full', async () => {
    const team = await createTestTeam()
    const { user_id } = (await create(team, { client_user_id: 'first' })).body
    await fill(team, LIMIT - 1)
    const { status, body } = await create(team, { client_user_id: 'first' })
    assert.deepEqual([status, body.detail.user_id], [400, user_id])
  })

  test('is not exceeded by concurrent requests', async () => {
    const team = await createTestTeam()
    await fill(team, LIMIT - 2)
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => create(team, { client_user_id: `late ${i}` })))
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 200, 400, 400, 400, 400, 400, 400])
    for (const { status, body } of replies) if (status === 400) assert.deepEqual(body, { detail: fullTeam })
    assert.equal((await team.api.get('/v2/user')).body.total, LIMIT)
  })

  test('counts only the users of its own team and cell, and does not apply in production', async () => {
    const [full, other, production] = [await createTestTeam(), await createTestTeam(), await createTestTeam('production-us')]
    await fill(full, LIMIT)
    await fill(production, LIMIT)
    assert.equal((await create(other, { client_user_id: 'first' })).status, 200)
    assert.equal((await create(production, { client_user_id: 'the fifty-first' })).status, 200)
    assert.equal((await production.api.get('/v2/user')).body.total, LIMIT + 1)
  })
})

describe('the list of users', () => {
  test('is newest first, in adjoining pages, on both spellings of its path', async () => {
    const team = await createTestTeam()
    const ids: string[] = []
    for (let n = 0; n < 7; n++) ids.unshift(await team.user())
    const all = await team.api.get('/v2/user')
    assert.equal(all.status, 200)
    assert.deepEqual(Object.keys(all.body), ['users', 'total', 'offset', 'limit'])
    assert.deepEqual([all.body.total, all.body.offset, all.body.limit], [7, 0, 100])
    assert.deepEqual(
      all.body.users.map((user: User) => user.user_id),
      ids,
    )
    assert.deepEqual((await team.api.get('/v2/user/')).body, all.body)
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => team.api.get(`/v2/user?limit=3&offset=${offset}`)))
    assert.deepEqual(
      pages.map(({ body }) => [body.users.length, body.total, body.offset, body.limit]),
      [
        [3, 7, 0, 3],
        [3, 7, 3, 3],
        [1, 7, 6, 3],
        [0, 7, 9, 3],
      ],
    )
    assert.deepEqual(
      pages.flatMap(({ body }) => body.users),
      all.body.users,
    )
  })

  test('accepts a limit from 1 to 500 and an offset from 0 on', async () => {
    const { api } = await createTestTeam()
    for (const query of ['limit=1', 'limit=500', 'offset=0', 'offset=2147483647', 'limit=&offset='])
      assert.equal((await api.get(`/v2/user?${query}`)).status, 200, query)
    for (const [query, loc, type] of [
      ['limit=0', 'limit', 'greater_than_equal'],
      ['limit=501', 'limit', 'less_than_equal'],
      ['limit=ten', 'limit', 'int_parsing'],
      ['offset=-1', 'offset', 'greater_than_equal'],
      ['offset=1.5', 'offset', 'int_parsing'],
    ]) {
      const { status, body } = await api.get(`/v2/user?${query}`)
      assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['query', loc], type])
    }
  })

  test('shows neither deleted users nor users of other teams', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const gone = await team.user('gone')
    await team.user('there')
    await other.user('elsewhere')
    await team.api.delete(`/v2/user/${gone}`)
    const { body } = await team.api.get('/v2/user')
    assert.deepEqual([referencesOf(body.users), body.total], [['there'], 1])
  })
})

describe('reading a user', () => {
  test('accepts the id in any case', async () => {
    const { api, user } = await createTestTeam()
    const id = await user()
    const { status, body } = await api.get(`/v2/user/${id.toUpperCase()}`)
    assert.deepEqual([status, body.user_id], [200, id])
  })

  test('returns 404 for an unknown user or one of another team, and rejects an invalid id', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const id of [randomUUID(), await other.user()]) {
      const { status, body } = await team.api.get(`/v2/user/${id}`)
      assert.deepEqual([status, body], [404, { detail: 'Not found' }])
    }
    const { status, body } = await team.api.get('/v2/user/not-an-id')
    assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['path', 'user_id'], 'uuid_parsing'])
  })
})

test('two names in Latin-1 are refused instead of becoming one user', async () => {
  const { api } = await createTestTeam()
  for (const name of ['ren\xe8', 'ren\xe9']) {
    const { status, body } = await api.post('/v2/user', Buffer.from(`{"client_user_id":"${name}"}`, 'latin1'))
    assert.deepEqual([status, body], [400, { detail: 'The body is not UTF-8' }])
  }
  assert.equal((await api.get('/v2/user')).body.total, 0)
  // The bytes of a path that are not UTF-8 find no user, nor those of a query.
  await api.post('/v2/user', { client_user_id: 'ren\ufffd' })
  assert.equal((await api.get('/v2/user/resolve/ren%E8')).status, 404)
})

test('the counts of a team count its active users and all its orders', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  await other.user()
  const expected = (users: number, orders: number) => ({
    team_id: team.team,
    number_of_connected_sources: 0,
    number_of_users: users,
    number_of_errored_connected_sources: 0,
    number_of_connected_sources_by_week: [],
    number_of_ordered_tests: orders,
  })
  assert.deepEqual((await team.api.get('/v2/user/metrics')).body, expected(0, 0))
  const user_id = await team.user()
  const gone = await team.user()
  await team.api.delete(`/v2/user/${gone}`)
  await createOrder(team, { user_id })
  await team.api.post(`/v3/order/${(await createOrder(team, { user_id })).id}/cancel`)
  const { status, body } = await team.api.get('/v2/user/metrics')
  assert.deepEqual([status, body], [200, expected(1, 2)])
})

test("a user is created at the team's time, not at the system time", async () => {
  const team = await createTestTeam()
  const before = (await create(team, { client_user_id: 'first' })).body.created_on
  await advanceClock(team, 3 * SECONDS_PER_DAY)
  const after = (await create(team, { client_user_id: 'second', fallback_time_zone: 'Etc/UTC' })).body
  const passed_s = (Date.parse(after.created_on) - Date.parse(before)) / 1000
  assert.ok(passed_s >= 3 * SECONDS_PER_DAY && passed_s < 3 * SECONDS_PER_DAY + 60, String(passed_s))
  assert.equal(after.fallback_time_zone.updated_at, after.created_on)
  assert.deepEqual(referencesOf((await team.api.get('/v2/user')).body.users), ['second', 'first'])
})
