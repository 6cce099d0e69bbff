// Keys that members manage in the console: who created them, when they were last used, and what an administrator may do that no key may.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMember, signedIn } from '../../../test/support/console-sessions.ts'
import { client, createTestTeam, guards, type TestTeam } from '../../../test/support/server.ts'

const KEYS = '/team_api_keys/sandbox/us'
const managementKeys = ({ org_id }: TestTeam): string => `/v1/org/${org_id}/management_key`
const statusWith = async ({ org_id }: TestTeam, key: string): Promise<number> =>
  (await client(key, 'x-management-key', `/v1/org/${org_id}`).get('/team')).status

describe('a key that a member created', () => {
  test('names its creator in lists, also after the member has left, and goes on working', async () => {
    const org = await createTestTeam()
    const member = await createMember(org, 'administrator')
    const page = await signedIn(org, member)
    const created = await page.post(`/v1/org/${org.org_id}${KEYS}`, { label: 'App', team_id: org.team })
    assert.equal(created.status, 200)
    const creator = { type: 'org_member', id: member.id, name: 'Testa Fictional', email: member.email, avatar: '' }
    assert.deepEqual(created.body.creator, creator)
    const listed = async () =>
      (await org.manage.get(`${KEYS}?team_id=${org.team}`)).body.api_keys.find(({ id }: { id: string }) => id === created.body.id)
    assert.deepEqual((await listed()).creator, creator)
    assert.equal((await org.manage.delete(`/member/${member.id}`)).status, 200)
    assert.deepEqual((await listed()).creator, { type: 'removed_org_member', id: member.id })
    assert.equal((await client(created.body.value).get('/v2/user')).status, 200)
  })

  test('is listed with its last use and the address of it', async () => {
    const org = await createTestTeam()
    const first = async () => (await org.manage.get(`${KEYS}?team_id=${org.team}`)).body.api_keys[0]
    const before = await first()
    assert.deepEqual([before.last_used_at, before.last_used_ip], [null, null])
    await org.api.get('/v2/user')
    await org.manage.get('/team')
    await guards.use.flush()
    const after = await first()
    assert.match(after.last_used_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    assert.equal(after.last_used_ip, '127.0.0.1')
    const [manager] = (await org.manage.get('/management_key')).body.data
    assert.equal(manager.last_used_ip, '127.0.0.1')
  })
})

describe('an administrator of the organization who has signed in', () => {
  test('creates, renames and deletes organization-wide keys, which no key may', async () => {
    const org = await createTestTeam()
    const page = await signedIn(org, await createMember(org))
    const path = managementKeys(org)
    const created = await page.post(path, { label: 'All', role: 'org_admin' })
    assert.equal(created.status, 200)
    assert.equal(await statusWith(org, created.body.key), 200)
    const key = `${path}/${created.body.id}`
    assert.equal((await page.call('PATCH', key, { label: 'Every team' })).body.label, 'Every team')
    const binding = { team_role_bindings: [{ team_id: org.team }] }
    assert.equal((await page.call('PATCH', key, binding)).status, 400)
    assert.equal((await page.delete(key)).status, 200)
    assert.equal(await statusWith(org, created.body.key), 401)
  })

  test('rotates any key: both texts work until the overlap ends, and without one the former stops', async () => {
    const org = await createTestTeam()
    const page = await signedIn(org, await createMember(org))
    const path = managementKeys(org)
    const first = (await page.post(path, { label: 'One', role: 'team_admin', team_role_bindings: [{ team_id: org.team }] })).body
    const second = (await page.post(`${path}/${first.id}/rotate`, { overlap_seconds: 3600 })).body
    assert.deepEqual([await statusWith(org, first.key), await statusWith(org, second.key)], [200, 200])
    const third = (await page.post(`${path}/${first.id}/rotate`, { overlap_seconds: 0 })).body
    assert.deepEqual(await Promise.all([first, second, third].map(({ key }) => statusWith(org, key))), [401, 401, 200])
    assert.equal((await page.post(`${path}/01890000-0000-7000-8000-00000000dead/rotate`)).status, 404)
    const other = await createTestTeam()
    const foreign = (await other.manage.get('/management_key')).body.data[0]
    assert.equal((await page.post(`${path}/${foreign.id}/rotate`)).status, 404)
    assert.equal(await statusWith(other, other.orgKey), 200)
  })
})

test('an administrator of a team alone neither creates, rotates nor deletes management keys', async () => {
  const org = await createTestTeam()
  const page = await signedIn(org, await createMember(org, 'administrator'))
  const path = managementKeys(org)
  const [key] = (await org.manage.get('/management_key')).body.data
  assert.equal((await page.post(path, { label: 'x', role: 'org_admin' })).status, 403)
  assert.equal((await page.post(`${path}/${key.id}/rotate`)).status, 403)
  assert.equal((await page.delete(`${path}/${key.id}`)).status, 403)
  assert.equal(await statusWith(org, org.orgKey), 200)
})
