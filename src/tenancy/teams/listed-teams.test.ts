// Reading and listing the teams of an organization by a management key.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const create = (org: TestTeam, body: Record<string, unknown>) =>
  org.manage.post('/team', { name: 'North', region: 'us', ...body })

const names = (body: { teams: { name: string }[] }) => body.teams.map(({ name }) => name)

describe('reading teams', () => {
  test('filters by id, region, and part of the name or the whole id', async () => {
    const org = await createTestTeam()
    const north = (await create(org, { name: 'North' })).body.id
    await create(org, { name: 'Far North', region: 'eu' })
    const list = async (query: string) => names((await org.manage.get(`/team?${query}`)).body).sort()
    assert.deepEqual(await list(''), ['Far North', 'North', 'Test team'])
    assert.deepEqual(await list('search_query=NORTH'), ['Far North', 'North'])
    assert.deepEqual(await list(`search_query=${north.toUpperCase()}`), ['North'])
    assert.deepEqual(await list(`search_query=${north.slice(0, 20)}`), [])
    assert.deepEqual(await list('search_query=_'), [])
    assert.deepEqual(await list('region=eu'), ['Far North'])
    assert.deepEqual(await list('region=eu&region=us&search_query=far'), ['Far North'])
    assert.deepEqual(await list(`team_id=${north}`), ['North'])
    assert.deepEqual(await list(`team_id=${(await createTestTeam()).team}`), [])
    assert.equal((await org.manage.get('/team?region=moon')).status, 422)
  })

  test('goes page by page, newest first, and takes its own cursors only', async () => {
    const org = await createTestTeam()
    await org.manage.post('/team', { name: 'first', region: 'us' })
    for (let i = 0; i < 55; i += 5)
      await Promise.all([0, 1, 2, 3, 4].map((n) => create(org, { name: `Team ${i + n}`, region: i % 2 ? 'us' : 'eu' })))
    const first = (await org.manage.get('/team')).body
    assert.equal(first.teams.length, 50)
    const second = (await org.manage.get(`/team?next_cursor=${first.next_cursor}`)).body
    assert.equal(second.teams.length, 7)
    assert.equal(second.next_cursor, null)
    assert.equal(new Set([...first.teams, ...second.teams].map(({ id }) => id)).size, 57)
    assert.equal(second.teams.at(-1).name, 'Test team')
    const forged = Buffer.from(
      Buffer.from(first.next_cursor, 'base64url')
        .toString()
        .replace(/"[^"]*"\]$/, '"nonsense"]'),
    )
    for (const cursor of ['nonsense', forged.toString('base64url'), first.next_cursor.slice(2)])
      assert.equal((await org.manage.get(`/team?next_cursor=${cursor}`)).status, 400, cursor)
    assert.equal((await org.manage.get(`/team?region=us&next_cursor=${first.next_cursor}`)).status, 400)
    assert.equal((await (await createTestTeam()).manage.get(`/team?next_cursor=${first.next_cursor}`)).status, 400)
  })

  test('shows the requested environments, and both by default', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, {})).body
    const read = async (query: string) => {
      const { body } = await org.manage.get(`/team/${id}?${query}`)
      return [body.environments, body.sandbox !== null, body.production !== null]
    }
    const both = ['sandbox', 'production']
    assert.deepEqual(await read(''), [both, true, true])
    assert.deepEqual(await read('include_environment=sandbox'), [both, true, false])
    assert.deepEqual(await read('include_environment=production'), [both, false, true])
    assert.deepEqual(await read('include_environment=sandbox&include_environment=production'), [both, true, true])
  })

  test('a team with one environment says so', async () => {
    const org = await createTestTeam('sandbox-eu')
    const { body } = await org.manage.get(`/team/${org.team}`)
    assert.deepEqual([body.environments, body.production], [['sandbox'], null])
  })

  test('a reference leads to its team, and a bound key only to its own', async () => {
    const org = await createTestTeam()
    const { body: team } = await create(org, { integration_team_id: 'reference-1' })
    const resolve = (api: Pick<TestTeam['manage'], 'post'>, integration_team_id: string) =>
      api.post('/resolve_team', { integration_team_id })
    assert.deepEqual((await resolve(org.manage, 'reference-1')).body, team)
    assert.equal((await resolve(org.manage, 'reference-2')).status, 404)
    assert.equal((await resolve((await createTestTeam()).manage, 'reference-1')).status, 404)
    const { key } = (await org.manage.post('/management_key', { label: 'x', team_id: org.team })).body
    assert.equal((await resolve(client(key, 'x-management-key', `/v1/org/${org.org_id}`), 'reference-1')).status, 404)
  })

  test('a bound key lists its teams only', async () => {
    const org = await createTestTeam()
    await create(org, {})
    const { key } = (await org.manage.post('/management_key', { label: 'x', team_id: org.team })).body
    const { body } = await client(key, 'x-management-key').get(`/v1/org/${org.org_id}/team`)
    assert.deepEqual(names(body), ['Test team'])
  })
})
