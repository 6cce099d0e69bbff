// Finding users by client user id.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import type { User } from './schema.ts'

describe('resolving a client user id', () => {
  const references = [
    'plain',
    'a/b/c',
    '/leading',
    'https://example.com/people?id=7#top',
    '100%',
    '%2F',
    'name with spaces',
    'Zoë Ünïcode 测试 🧪',
    'a+b&c=d',
    'dots/../and/./more',
    "quote's",
    'resolve/nested',
  ]
  for (const reference of references)
    test(`finds ${JSON.stringify(reference)} when it is encoded`, async () => {
      const { api, user } = await createTestTeam()
      const id = await user(reference)
      const { status, body } = await api.get(`/v2/user/resolve/${encodeURIComponent(reference)}`)
      assert.deepEqual([status, body.user_id, body.client_user_id], [200, id, reference])
    })

  // A question mark or a hash ends the path, and a percent sign starts an encoding: these have to be encoded.
  for (const reference of [
    'plain',
    'a/b/c',
    'name with spaces',
    'Zoë Ünïcode 测试 🧪',
    'a+b&c=d',
    "quote's",
    'https://x.example',
  ])
    test(`finds ${JSON.stringify(reference)} when it is not encoded`, async () => {
      const { api, user } = await createTestTeam()
      const id = await user(reference)
      const { status, body } = await api.get(`/v2/user/resolve/${reference}`)
      assert.deepEqual([status, body.user_id], [200, id])
    })

  test('rejects a path with a percent sign that starts no encoding', async () => {
    const { api } = await createTestTeam()
    for (const path of ['100%', '%zz', '%E0%A4%A']) {
      const { status, body } = await api.get(`/v2/user/resolve/${path}`)
      assert.deepEqual([status, body], [404, { detail: 'Not Found' }], path)
    }
  })

  test('ignores a final slash and a query string', async () => {
    const { api, user } = await createTestTeam()
    const id = await user('plain')
    assert.equal((await api.get('/v2/user/resolve/plain/')).body.user_id, id)
    assert.equal((await api.get('/v2/user/resolve/plain?x=/y')).body.user_id, id)
  })

  test('matches exactly, and only within the team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await team.user('First')
    await other.user('theirs')
    const gone = await team.user('gone')
    await team.api.delete(`/v2/user/${gone}`)
    for (const reference of ['first', 'First%20', 'theirs', 'gone', 'unknown', '%25']) {
      const { status, body } = await team.api.get(`/v2/user/resolve/${reference}`)
      assert.deepEqual([status, body], [404, { detail: 'User not found' }], reference)
    }
  })

  test('rejects more than 512 characters', async () => {
    const { api, user } = await createTestTeam()
    await user('a'.repeat(512))
    assert.equal((await api.get(`/v2/user/resolve/${'a'.repeat(512)}`)).status, 200)
    const { status, body } = await api.get(`/v2/user/resolve/${'a'.repeat(513)}`)
    assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['path', 'client_user_id'], 'string_too_long'])
  })
})

describe('searching for users', () => {
  test('finds by a prefix of the id and by any part of the client user id, in any case, newest first', async () => {
    const { api, user } = await createTestTeam()
    const found = async (query_id: string) =>
      (await api.get(`/v2/team/users/search?${new URLSearchParams({ query_id })}`)).body.map((user: User) => user.user_id)
    const [first, second] = [await user('Alpha-100%_x'), await user('beta-ALPHA\\')]
    assert.deepEqual(await found('alpha'), [second, first])
    assert.deepEqual(await found('beta'), [second])
    assert.deepEqual(await found(first), [first])
    assert.deepEqual(await found(first.toUpperCase()), [first])
    assert.deepEqual(await found(first.slice(0, 8)), [second, first], 'ids of one hour start alike')
    assert.deepEqual(await found(first.slice(-12)), [], 'the end of an id is not its start')
  })

  test('treats pattern characters literally', async () => {
    const { api, user } = await createTestTeam()
    const found = async (query_id: string) =>
      (await api.get(`/v2/team/users/search?${new URLSearchParams({ query_id })}`)).body.length
    await user('100%_off')
    await user('100 off')
    await user('back\\slash')
    assert.equal(await found('100'), 2)
    assert.equal(await found('%_'), 1)
    assert.equal(await found('0%'), 1)
    assert.equal(await found('0_'), 0)
    assert.equal(await found('k\\s'), 1)
    assert.equal(await found('%%'), 0)
  })

  test('requires two characters, and at most the length of a client user id', async () => {
    const { api } = await createTestTeam()
    for (const [query, type] of [
      ['', 'missing'],
      ['query_id=', 'string_too_short'],
      ['query_id=a', 'string_too_short'],
      [`query_id=${'a'.repeat(513)}`, 'string_too_long'],
    ]) {
      const { status, body } = await api.get(`/v2/team/users/search?${query}`)
      assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['query', 'query_id'], type])
    }
    assert.deepEqual((await api.get('/v2/team/users/search?query_id=aa')).body, [])
  })

  test('finds neither deleted users nor users of other teams, and at most 50', async () => {
    const [team, other] = [await createTestTeam('production-us'), await createTestTeam()]
    await other.user('filler of another team')
    await team.db.tx(team.tenant, (tx) =>
      tx.run(sql`
        insert into "user" (id, team_id, client_user_id, created_on)
        select gen_random_uuid(), ${tx.team}, 'filler ' || n, ${tx.now} from generate_series(1, 60) n`),
    )
    const gone = await team.user('filler that is gone')
    await team.api.delete(`/v2/user/${gone}`)
    const { status, body } = await team.api.get('/v2/team/users/search?query_id=filler')
    assert.deepEqual([status, body.length], [200, 50])
    assert.ok(body.every((user: User) => user.team_id === team.team && user.user_id !== gone))
  })
})
