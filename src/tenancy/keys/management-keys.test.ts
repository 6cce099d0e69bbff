import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { cells, client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createOrgKey, revokeKey } from './keys.ts'

const create = (org: TestTeam, body: Record<string, unknown>, headers?: Record<string, string>) =>
  org.manage.post('/management_key', body, headers)
const bindings = (...ids: string[]) => ids.map((team_id) => ({ team_id, role: 'admin' }))
const team = async (org: TestTeam): Promise<string> => (await org.manage.post('/team', { name: 'Other', region: 'us' })).body.id
const speak = (org: TestTeam, key: string) => client(key, 'x-management-key', `/v1/org/${org.org_id}`)
const orgKeyId = async (org: TestTeam): Promise<string> =>
  (await org.manage.get('/management_key?role=org_admin')).body.data[0].id

/** Everything the control plane has stored, as text. */
async function readStoredKeys(): Promise<string> {
  const { rows } = await cells.control.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema()`,
  )
  const tables = await Promise.all(rows.map(({ name }) => cells.control.pool.query(`select t::text from "${name}" t`)))
  return JSON.stringify(tables.map((table) => table.rows))
}

describe('a management key', () => {
  test('is shown once: not in lists, changes, rows or the audit log', async () => {
    const org = await createTestTeam()
    const { status, body } = await create(org, { label: 'north', role: 'team_admin', team_role_bindings: bindings(org.team) })
    assert.equal(status, 200)
    const { key, ...record } = body
    assert.match(key, /^mg_[\w-]{43}$/)
    assert.deepEqual(record, {
      id: record.id,
      label: 'north',
      created_at: record.created_at,
      creator: { type: 'management_key' },
      last_used_at: null,
      last_used_ip: null,
      member_id: null,
      role: 'team_admin',
      team_role_bindings: [{ team_id: org.team }],
    })
    assert.equal((await speak(org, key).get('/team')).status, 200)
    const list = await org.manage.get('/management_key')
    assert.deepEqual(list.body.data[0], record)
    const changed = await org.manage.patch(`/management_key/${record.id}`, { label: 'south' })
    const removed = await org.manage.delete(`/management_key/${record.id}`)
    for (const text of [list, changed, removed].map((reply) => JSON.stringify(reply.body))) assert(!text.includes(key.slice(3)))
    assert(!(await readStoredKeys()).includes(key.slice(3)))
  })

  test('that is organization-wide rotates only itself; both texts work until the overlap ends', async () => {
    const org = await createTestTeam()
    const id = await orgKeyId(org)
    const other = (await create(org, { label: 'x', team_id: org.team })).body
    assert.equal((await org.manage.post(`/management_key/${other.id}/rotate`)).status, 403)
    assert.equal((await speak(org, other.key).post(`/management_key/${id}/rotate`)).status, 403)
    const before = (await org.manage.get('/management_key?role=org_admin')).body.data[0]
    const { status, body } = await org.manage.post(`/management_key/${id}/rotate`, { overlap_seconds: 3600 })
    assert.equal(status, 200)
    const { key, ...record } = body
    assert.match(key, /^mg_[\w-]{43}$/)
    assert.deepEqual(record, before)
    assert.equal((await speak(org, key).get('/team')).status, 200)
    assert.equal((await org.manage.get('/team')).status, 200)
    await cells.control.pool.query("update management_key set previous_until = now() - interval '1 second' where id = $1", [id])
    const again = (await speak(org, key).post(`/management_key/${id}/rotate`, { overlap_seconds: 0 })).body.key
    assert.equal((await speak(org, again).get('/team')).status, 200)
    for (const old of [key]) assert.equal((await speak(org, old).get('/team')).status, 401)
    assert.equal((await org.manage.get('/team')).status, 401)
    assert(!(await readStoredKeys()).includes(again.slice(3)))
  })

  test('is rotated only by its newest text, even while the previous one works', async () => {
    const org = await createTestTeam()
    const path = `/management_key/${await orgKeyId(org)}/rotate`
    const { key } = (await org.manage.post(path)).body
    assert.equal((await org.manage.get('/team')).status, 200)
    const refused = await org.manage.post(path)
    assert.deepEqual([refused.status, refused.body], [403, { detail: 'Only the newest text of a key can rotate it' }])
    assert.equal((await speak(org, key).get('/team')).status, 200)
    const both = await Promise.all([speak(org, key).post(path), speak(org, key).post(path)])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 403])
  })

  test('is revoked by command also by a replaced text', async () => {
    const org = await createTestTeam()
    const { key } = (await org.manage.post(`/management_key/${await orgKeyId(org)}/rotate`)).body
    assert(await cells.control.plainTx((tx) => revokeKey(tx, key)))
  })

  test('for several teams works on each; repeated teams count once', async () => {
    const org = await createTestTeam()
    const other = await team(org)
    const { body } = await create(org, { label: 'x', role: 'team_admin', team_role_bindings: bindings(org.team, other, other) })
    assert.equal(body.team_role_bindings.length, 2)
    for (const id of [org.team, other]) assert.equal((await speak(org, body.key).get(`/team/${id}`)).status, 200)
  })

  test('in the older form is of one team', async () => {
    const org = await createTestTeam()
    const { status, body } = await create(org, { label: 'x', team_id: org.team })
    assert.deepEqual([status, body.role, body.team_role_bindings], [200, 'team_admin', [{ team_id: org.team }]])
  })

  test('needs teams of the organization, and a role', async () => {
    const org = await createTestTeam()
    const other = await createTestTeam()
    const status = async (body: Record<string, unknown>) => (await create(org, { label: 'x', ...body })).status
    assert.equal(await status({}), 422)
    assert.equal(await status({ role: 'team_admin' }), 422)
    assert.equal(await status({ role: 'team_admin', team_role_bindings: [] }), 422)
    assert.equal(await status({ role: 'no_role', team_role_bindings: bindings(org.team) }), 422)
    assert.equal(await status({ role: 'org_admin', team_role_bindings: bindings(org.team) }), 422)
    assert.equal(await status({ role: 'team_admin', team_role_bindings: bindings(other.team) }), 404)
    assert.equal(await status({ role: 'team_admin', team_role_bindings: bindings(org.team, randomUUID()) }), 404)
    assert.equal(await status({ label: '', team_id: org.team }), 422)
    assert.equal(await status({ label: 'x'.repeat(101), team_id: org.team }), 422)
  })

  test('that is organization-wide is created, changed and deleted by no key but itself', async () => {
    const org = await createTestTeam()
    const second = await cells.control.plainTx((tx) => createOrgKey(tx, { org_id: org.org_id, label: 'second' }))
    const [newer, older] = (await org.manage.get('/management_key?role=org_admin')).body.data
    assert.equal((await create(org, { label: 'x', role: 'org_admin' })).status, 403)
    const path = `/management_key/${newer.id}`
    assert.equal((await org.manage.patch(path, { label: 'x' })).status, 403)
    assert.equal((await org.manage.patch(path, { team_role_bindings: bindings(org.team) })).status, 400)
    assert.equal((await org.manage.delete(path)).status, 403)
    assert.equal((await speak(org, second).delete(path)).body.id, newer.id)
    assert.equal((await speak(org, second).get('')).status, 401)
    assert.equal((await org.manage.delete(`/management_key/${older.id}`)).status, 200)
    assert.equal((await org.manage.get('')).status, 401)
  })

  test('that is bound may delete itself and nothing else', async () => {
    const org = await createTestTeam()
    const { body: one } = await create(org, { label: 'one', team_id: org.team })
    const { body: two } = await create(org, { label: 'two', team_id: org.team })
    assert.equal((await speak(org, one.key).delete(`/management_key/${two.id}`)).status, 403)
    assert.equal((await speak(org, one.key).delete(`/management_key/${randomUUID()}`)).status, 403)
    assert.equal((await speak(org, one.key).delete(`/management_key/${one.id}`)).body.id, one.id)
    assert.equal((await speak(org, one.key).get('/team')).status, 401)
    assert.equal((await speak(org, two.key).get('/team')).status, 200)
  })

  test('can be bound to other teams, effective immediately', async () => {
    const org = await createTestTeam()
    const other = await team(org)
    const { body } = await create(org, { label: 'x', role: 'team_admin', team_role_bindings: bindings(org.team, other) })
    const reads = async (id: string) => (await speak(org, body.key).get(`/team/${id}`)).status
    assert.deepEqual([await reads(org.team), await reads(other)], [200, 200])
    const path = `/management_key/${body.id}`
    const changed = await org.manage.patch(path, { team_role_bindings: bindings(other) })
    assert.deepEqual(changed.body.team_role_bindings, [{ team_id: other }])
    assert.deepEqual([await reads(org.team), await reads(other)], [403, 200])
    assert.equal((await org.manage.patch(path, { team_role_bindings: [] })).status, 422)
    assert.equal((await org.manage.patch(path, { team_role_bindings: bindings((await createTestTeam()).team) })).status, 404)
    assert.deepEqual((await org.manage.patch(path, { label: 'y', team_role_bindings: null })).body.team_role_bindings, [
      { team_id: other },
    ])
  })

  test('deleting an unknown key returns null; changing it is rejected', async () => {
    const org = await createTestTeam()
    for (const id of [randomUUID(), await orgKeyId(await createTestTeam())]) {
      const removed = await org.manage.delete(`/management_key/${id}`)
      assert.deepEqual([removed.status, removed.body], [200, null])
      assert.equal((await org.manage.patch(`/management_key/${id}`, { label: 'x' })).status, 404)
    }
  })

  test('under a repeated idempotency key is rejected: its text is not stored', async () => {
    const org = await createTestTeam()
    const headers = { 'x-idempotency-key': 'the-same' }
    const first = await create(org, { label: 'x', team_id: org.team }, headers)
    const second = await create(org, { label: 'x', team_id: org.team }, headers)
    assert.deepEqual([first.status, second.status], [200, 409])
    assert(!(await readStoredKeys()).includes(first.body.key.slice(3)))
    assert.equal((await org.manage.get('/management_key?role=team_admin')).body.data.length, 1)
  })

  test('is listed by team and role, page by page', async () => {
    const org = await createTestTeam()
    const other = await team(org)
    await create(org, { label: 'a', team_id: org.team })
    await create(org, { label: 'b', role: 'team_admin', team_role_bindings: bindings(org.team, other) })
    const labels = async (query: string) =>
      (await org.manage.get(`/management_key?${query}`)).body.data.map(({ label }: { label: string }) => label)
    assert.deepEqual((await labels('')).sort(), ['a', 'b', 'test'])
    assert.deepEqual((await labels(`team_id=${org.team}`)).sort(), ['a', 'b'])
    assert.deepEqual(await labels(`team_id=${other}`), ['b'])
    assert.deepEqual(await labels('role=org_admin'), ['test'])
    assert.deepEqual(await labels(`role=org_admin&team_id=${other}`), [])
    assert.equal((await org.manage.get('/management_key?role=no_role')).status, 422)
    for (let i = 0; i < 50; i++) await create(org, { label: 'more', team_id: org.team })
    const { data, next_cursor } = (await org.manage.get('/management_key')).body
    const rest = (await org.manage.get(`/management_key?next_cursor=${next_cursor}`)).body
    assert.deepEqual([data.length, rest.data.length, rest.next_cursor], [50, 3, null])
    assert.equal((await org.manage.get(`/management_key?role=team_admin&next_cursor=${next_cursor}`)).status, 400)
  })
})

describe('the audit log', () => {
  test('has an entry for each write, with its key, and no entry for rejected requests and reads', async () => {
    const org = await createTestTeam()
    const actor = await orgKeyId(org)
    await org.manage.patch('', { name: 'Renamed' })
    await org.manage.get('/team')
    await org.manage.patch('', { name: '<' })
    await org.manage.post('/resolve_team', { integration_team_id: 'nobody' })
    await org.manage.delete(`/team/${org.team}`)
    const { rows } = await cells.control.pool.query(
      'select operation, actor, team_id from audit_log where org_id = $1 order by id',
      [org.org_id],
    )
    assert.deepEqual(rows, [
      { operation: 'update_org', actor, team_id: null },
      { operation: 'delete_team_in_org', actor, team_id: org.team },
    ])
  })
})
