// Changing a user.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import type { User } from './schema.ts'

const referencesOf = (users: User[]) => users.map((user) => user.client_user_id)
const create = async ({ api }: TestTeam, body: Record<string, unknown>) => api.post('/v2/user', body)

describe('changing a user', () => {
  const full = {
    client_user_id: 'first',
    fallback_time_zone: 'America/Chicago',
    fallback_birth_date: '1990-01-31',
    ingestion_start: '2024-01-01',
    ingestion_end: '2024-12-31',
  }
  const changed = async (team: TestTeam, body: Record<string, unknown>) => {
    const { user_id } = (await create(team, full)).body
    const reply = await team.api.patch(`/v2/user/${user_id}`, body)
    return { reply, user_id, after: (await team.api.get(`/v2/user/${user_id}`)).body as User }
  }

  test('returns 204 without a body, and absent fields stay', async () => {
    const team = await createTestTeam()
    const { reply, after } = await changed(team, { client_user_id: 'renamed' })
    assert.deepEqual([reply.status, reply.body.length], [204, 0])
    assert.equal(after.client_user_id, 'renamed')
    assert.deepEqual(
      [after.fallback_time_zone?.id, after.fallback_birth_date?.value, after.ingestion_start, after.ingestion_end],
      ['America/Chicago', '1990-01-31', '2024-01-01', '2024-12-31'],
    )
    assert.deepEqual(await team.events(), [])
  })

  for (const field of ['fallback_time_zone', 'fallback_birth_date', 'ingestion_start', 'ingestion_end'] as const)
    test(`clears ${field} with null and keeps the others`, async () => {
      const { reply, after } = await changed(await createTestTeam(), { [field]: null })
      assert.equal(reply.status, 204)
      const kept = ['fallback_time_zone', 'fallback_birth_date', 'ingestion_start', 'ingestion_end'] as const
      assert.deepEqual(
        kept.filter((name) => after[name] === null),
        [field],
      )
    })

  test('sets each field', async () => {
    const { after } = await changed(await createTestTeam(), {
      fallback_time_zone: 'Etc/UTC',
      fallback_birth_date: '1991-02-28',
      ingestion_start: '2023-01-01',
      ingestion_end: '2023-01-01',
    })
    assert.deepEqual(
      [after.fallback_time_zone?.id, after.fallback_birth_date?.value, after.ingestion_start, after.ingestion_end],
      ['Etc/UTC', '1991-02-28', '2023-01-01', '2023-01-01'],
    )
    assert.deepEqual([after.fallback_time_zone?.source_slug, after.fallback_birth_date?.source_slug], ['manual', 'manual'])
  })

  const refused: [string, Record<string, unknown>, string, string][] = [
    ['an end before the stored start', { ingestion_end: '2023-12-31' }, 'ingestion_end', 'value_error'],
    ['a start after the stored end', { ingestion_start: '2025-01-01' }, 'ingestion_end', 'value_error'],
    ['an unknown time zone', { fallback_time_zone: 'Mars/Base' }, 'fallback_time_zone', 'value_error'],
    ['an empty client user id', { client_user_id: '' }, 'client_user_id', 'string_too_short'],
    ['a number as a date', { ingestion_start: 2024 }, 'ingestion_start', 'string_type'],
  ]
  for (const [what, body, field, type] of refused)
    test(`rejects ${what} and changes nothing`, async () => {
      const { reply, after } = await changed(await createTestTeam(), { fallback_birth_date: '1980-01-01', ...body })
      assert.equal(reply.status, 422)
      assert.deepEqual([reply.body.detail[0].loc, reply.body.detail[0].type], [['body', field], type])
      assert.equal(after.fallback_birth_date?.value, '1990-01-31')
    })

  test('rejects an empty change, also with null for the client user id', async () => {
    for (const body of [{}, { client_user_id: null }, { nickname: 'x' }]) {
      const { reply } = await changed(await createTestTeam(), body)
      assert.deepEqual([reply.status, reply.body], [400, { detail: 'Nothing to patch' }])
    }
  })

  test("rejects a client user id in use with a conflict, but not the user's own", async () => {
    const team = await createTestTeam()
    const [first, second] = [await team.user('first'), await team.user('second')]
    const { status, body } = await team.api.patch(`/v2/user/${second}`, { client_user_id: 'first' })
    assert.deepEqual([status, body], [409, { detail: 'Client user id already exists' }])
    assert.equal((await team.api.patch(`/v2/user/${first}`, { client_user_id: 'first' })).status, 204)
    assert.equal((await team.api.get(`/v2/user/${second}`)).body.client_user_id, 'second')
  })

  test('returns 404 for a user of another team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const id of [randomUUID(), await other.user('theirs')]) {
      const { status, body } = await team.api.patch(`/v2/user/${id}`, { client_user_id: 'mine' })
      assert.deepEqual([status, body], [404, { detail: 'The user does not or no longer exists in this team' }])
    }
    assert.deepEqual(referencesOf((await other.api.get('/v2/user')).body.users), ['theirs'])
  })
})
