import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createInvite } from '../../../test/contract/operations/requests.ts'
import { client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const VIEWS = '/console/v1/saved_views'

/** The API with a key of a new member of the organization. */
async function memberApi(team: TestTeam) {
  const token = await createInvite(team, { email: `testa-${randomUUID()}@example.com` })
  const member_id = (await client(undefined).post('/v1/invite/accept', { token, name: 'Testa Fictional' })).body.id
  const key = await team.manage.post('/team_api_keys/sandbox/us', { label: 'of a person', team_id: team.team, member_id })
  return client(key.body.value)
}

describe('saved views', () => {
  test('are of a member or shared with the team', async () => {
    const team = await createTestTeam()
    const [one, two] = [await memberApi(team), await memberApi(team)]
    const own = (await one.post(VIEWS, { page: 'orders', name: 'Mine', query: 'state=received' })).body
    assert.deepEqual([own.is_shared, own.query], [false, 'state=received'])
    const shared = (await one.post(VIEWS, { page: 'events', name: 'Ours', query: 'delivery_state=failed', is_shared: true })).body
    const namesOf = async (api: TestTeam['api'], query = '') =>
      (await api.get(`${VIEWS}${query}`)).body.data.map(({ name }: { name: string }) => name)
    assert.deepEqual(await namesOf(one), ['Ours', 'Mine'])
    assert.deepEqual(await namesOf(one, '?page=orders'), ['Mine'])
    assert.deepEqual(await namesOf(two), ['Ours'])
    assert.deepEqual(await namesOf(team.api), ['Ours'])
    assert.equal((await two.patch(`${VIEWS}/${own.id}`, { name: 'Taken' })).status, 404)
    assert.equal((await two.delete(`${VIEWS}/${own.id}`)).status, 404)
    assert.equal((await two.patch(`${VIEWS}/${shared.id}`, { name: 'Everybody’s' })).body.name, 'Everybody’s')
    const other = await createTestTeam()
    assert.equal((await other.api.delete(`${VIEWS}/${shared.id}`)).status, 404)
    assert.deepEqual(await namesOf(other.api), [])
    assert.equal((await one.delete(`${VIEWS}/${own.id}`)).status, 204)
    assert.deepEqual(await namesOf(one), ['Everybody’s'])
  })

  test('have a name of their own for each page and owner, and a key of a program only shared ones', async () => {
    const team = await createTestTeam()
    const member = await memberApi(team)
    const view = { page: 'orders', name: 'Late kits', query: '' }
    assert.equal((await member.post(VIEWS, view)).status, 200)
    assert.equal((await member.post(VIEWS, view)).status, 409)
    assert.equal((await member.post(VIEWS, { ...view, page: 'users' })).status, 200)
    assert.equal((await team.api.post(VIEWS, { ...view, is_shared: true })).status, 200)
    assert.equal((await team.api.post(VIEWS, { ...view, is_shared: true })).status, 409)
    const refused = await team.api.post(VIEWS, view)
    assert.deepEqual([refused.status, refused.body.detail], [400, 'Only a member can have a view that is not shared'])
    assert.equal((await member.post(VIEWS, { ...view, name: 'x'.repeat(81) })).status, 422)
  })

  test('have a limit', async () => {
    const team = await createTestTeam()
    const rows = `select $1::uuid, gen_random_uuid(), null, 'orders', 'view ' || n, '', now(), now() from generate_series(1, 200) n`
    await team.db.pool.query(
      `insert into saved_view (team_id, id, member_id, page, name, query, created_at, updated_at) ${rows}`,
      [team.team],
    )
    const { status, body } = await team.api.post(VIEWS, { page: 'orders', name: 'One more', query: '', is_shared: true })
    assert.deepEqual([status, body.detail], [400, 'A team has at most 200 saved views'])
  })
})
