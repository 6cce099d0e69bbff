import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createInvite } from '../../../test/contract/operations/requests.ts'
import { cells, client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const address = (): string => `testa-${randomUUID()}@example.com`
const accept = (token: string, name = 'Testa Fictional') => client(undefined).post('/v1/invite/accept', { token, name })
const createMember = async (org: TestTeam, body: Record<string, unknown> = {}) =>
  (await accept(await createInvite(org, body))).body
const members = async (org: TestTeam, query = '') => (await org.manage.get(`/member${query}`)).body.members
const invites = async (org: TestTeam, query = '') => (await org.manage.get(`/invite${query}`)).body.invites
const bindings = (...ids: string[]) => ids.map((team_id) => ({ team_id, role: 'administrator' }))
const expire = (org: TestTeam) =>
  cells.control.pool.query(`update invite set expires_at = '2020-01-01' where org_id = $1`, [org.org_id])

describe('an invite', () => {
  test('is pending until it is accepted, and then there is a member', async () => {
    const org = await createTestTeam()
    const email = address()
    const { status, body } = await org.manage.post('/invite', { email })
    assert.deepEqual([status, body], [200, { status: 'invite_created' }])
    const [pending] = await invites(org)
    assert.deepEqual(pending, {
      id: pending.id,
      email,
      invited_at: pending.invited_at,
      resent_at: null,
      creator: { type: 'management_key' },
      role: 'org_admin',
      team_role_bindings: null,
    })
    const member = (await accept(await createInvite(org, { email }))).body
    assert.deepEqual(member, {
      id: member.id,
      name: 'Testa Fictional',
      email,
      created_on: member.created_on,
      role: 'org_admin',
      team_role_bindings: null,
    })
    assert.deepEqual([await members(org), await invites(org)], [[member], []])
  })

  test('is written to the email outbox, and only the email has the token', async () => {
    const org = await createTestTeam()
    const email = address()
    const token = await createInvite(org, { email })
    const { rows } = await cells.control.pool.query('select recipient, subject, state from mail where recipient = $1', [email])
    assert.deepEqual(rows, [{ recipient: email, subject: 'You are invited to Test organization', state: 'waiting' }])
    const kept = await cells.control.pool.query('select i::text as i from invite i where org_id = $1', [org.org_id])
    assert(!kept.rows[0].i.includes(token))
    for (const path of ['/invite', '/audit']) assert(!JSON.stringify((await org.manage.get(path)).body).includes(token.slice(4)))
  })

  test('is renewed for the same address: the new role applies, and the older token is invalid', async () => {
    const org = await createTestTeam()
    const email = address()
    const first = await createInvite(org, { email })
    const again = { email: email.toUpperCase(), role: 'team_admin', team_role_bindings: bindings(org.team, org.team) }
    assert.deepEqual((await org.manage.post('/invite', again)).body, { status: 'invite_resent' })
    const [pending, ...more] = await invites(org)
    assert.deepEqual([pending.role, pending.team_role_bindings, more], ['team_admin', bindings(org.team), []])
    assert.notEqual(pending.resent_at, null)
    assert.equal((await accept(first)).status, 404)
  })

  test('is rejected for a member, also of another organization', async () => {
    const org = await createTestTeam()
    const { email } = await createMember(org)
    assert.deepEqual((await org.manage.post('/invite', { email })).body, { status: 'already_in_org' })
    const { status, body } = await (await createTestTeam()).manage.post('/invite', { email })
    assert.deepEqual([status, typeof body.detail], [409, 'string'])
  })

  test('of two organizations is accepted once', async () => {
    const email = address()
    const [one, two] = [
      await createInvite(await createTestTeam(), { email }),
      await createInvite(await createTestTeam(), { email }),
    ]
    assert.deepEqual([(await accept(one)).status, (await accept(two)).status], [200, 409])
  })

  test('needs teams of the organization where the role has teams', async () => {
    const org = await createTestTeam()
    const status = async (body: Record<string, unknown>) =>
      (await org.manage.post('/invite', { email: address(), ...body })).status
    assert.equal(await status({ role: 'team_admin' }), 422)
    assert.equal(await status({ role: 'team_admin', team_role_bindings: bindings((await createTestTeam()).team) }), 404)
    assert.equal(await status({ role: 'owner' }), 422)
    assert.equal(await status({ email: 'nobody' }), 422)
    assert.equal(await status({ role: 'no_role', team_role_bindings: bindings(org.team) }), 200)
    assert.equal((await invites(org))[0].team_role_bindings, null)
  })

  test('is revoked at once, and once', async () => {
    const org = await createTestTeam()
    const token = await createInvite(org)
    const path = `/invite/${(await invites(org))[0].id}`
    assert.equal((await (await createTestTeam()).manage.delete(path)).status, 404)
    const { status, body } = await org.manage.delete(path)
    assert.deepEqual([status, body], [200, {}])
    assert.equal((await org.manage.delete(path)).status, 404)
    assert.equal((await accept(token)).status, 404)
  })

  test('expires: it is not listed, accepted or renewed any more', async () => {
    const org = await createTestTeam()
    const email = address()
    const token = await createInvite(org, { email })
    await expire(org)
    assert.deepEqual(await invites(org), [])
    assert.equal((await accept(token)).status, 404)
    assert.deepEqual((await org.manage.post('/invite', { email })).body, { status: 'invite_created' })
  })

  test('is found by its address, page by page', async () => {
    const org = await createTestTeam()
    for (let i = 0; i < 51; i++) await org.manage.post('/invite', { email: `testa-${i}@example.com` })
    assert.equal((await invites(org, '?search_query=TESTA-50@')).length, 1)
    assert.equal((await invites(org, '?search_query=%25')).length, 0)
    const { next_cursor } = (await org.manage.get('/invite')).body
    assert.equal((await invites(org, `?next_cursor=${next_cursor}`)).length, 1)
    assert.equal((await org.manage.get('/invite?next_cursor=nonsense')).status, 400)
    assert.equal((await org.manage.get(`/member?next_cursor=${next_cursor}`)).status, 400)
  })
})

describe('a member', () => {
  test('is found by part of the name or the address', async () => {
    const org = await createTestTeam()
    const one = (await accept(await createInvite(org), 'Testa One')).body
    const two = (await accept(await createInvite(org), 'Testa Two')).body
    const found = async (query: string) => (await members(org, `?search_query=${query}`)).map(({ id }: { id: string }) => id)
    assert.deepEqual(await found('testa'), [two.id, one.id])
    assert.deepEqual(await found('ONE'), [one.id])
    assert.deepEqual(await found(two.email.slice(0, 20)), [two.id])
    assert.deepEqual(await found('_'), [])
    assert.deepEqual(await members(await createTestTeam()), [])
  })

  test('changes role and teams; null leaves them, and both are required', async () => {
    const org = await createTestTeam()
    await createMember(org)
    const { id } = await createMember(org)
    const change = (role: unknown, team_role_bindings: unknown) => org.manage.patch(`/member/${id}`, { role, team_role_bindings })
    const now = async () => {
      const { role, team_role_bindings } = (await members(org)).find((member: { id: string }) => member.id === id)
      return [role, team_role_bindings]
    }
    assert.deepEqual((await change('team_admin', bindings(org.team))).body, {})
    assert.deepEqual(await now(), ['team_admin', bindings(org.team)])
    await change(null, null)
    assert.deepEqual(await now(), ['team_admin', bindings(org.team)])
    assert.equal((await change(null, [])).status, 422)
    assert.equal((await change(null, bindings((await createTestTeam()).team))).status, 404)
    await change('no_role', bindings(org.team))
    assert.deepEqual(await now(), ['no_role', null])
    assert.equal((await change('team_admin', null)).status, 422)
    for (const body of [{ role: 'no_role' }, { team_role_bindings: null }, {}])
      assert.equal((await org.manage.patch(`/member/${id}`, body)).status, 422)
  })

  test('has a role in each team: that of an administrator unless it is given and known', async () => {
    const org = await createTestTeam()
    await createMember(org)
    const other = (await org.manage.post('/team', { name: 'Other', region: 'us' })).body.id
    const given = [
      { team_id: org.team, role: 'viewer' },
      { team_id: other, role: 'admin' },
    ]
    const { id } = await createMember(org, { role: 'team_admin', team_role_bindings: given })
    const roles = async () =>
      new Map<string, string>(
        (await members(org))
          .find((member: { id: string }) => member.id === id)
          .team_role_bindings.map(({ team_id, role }: Record<string, string>) => [team_id, role] as const),
      )
    const now = await roles()
    assert.deepEqual([now.get(org.team), now.get(other), now.size], ['viewer', 'administrator', 2])
    await org.manage.patch(`/member/${id}`, { role: 'team_admin', team_role_bindings: null })
    assert.equal((await roles()).get(org.team), 'viewer')
    const changed = { role: 'team_admin', team_role_bindings: [{ team_id: org.team, role: 'reviewer' }] }
    await org.manage.patch(`/member/${id}`, changed)
    assert.deepEqual(await roles(), new Map([[org.team, 'reviewer']]))
    await org.manage.patch(`/member/${id}`, { role: 'team_admin', team_role_bindings: [{ team_id: org.team }] })
    assert.deepEqual(await roles(), new Map([[org.team, 'administrator']]))
  })

  test('who is the last org_admin stays one', async () => {
    const org = await createTestTeam()
    const one = await createMember(org)
    await createMember(org, { role: 'team_admin', team_role_bindings: bindings(org.team) })
    const demote = (id: string) => org.manage.patch(`/member/${id}`, { role: 'no_role', team_role_bindings: null })
    assert.deepEqual([(await demote(one.id)).status, (await org.manage.delete(`/member/${one.id}`)).status], [400, 400])
    assert.equal((await org.manage.patch(`/member/${one.id}`, { role: null, team_role_bindings: null })).status, 200)
    const two = await createMember(org)
    const both = await Promise.all([demote(one.id), org.manage.delete(`/member/${two.id}`)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
  })

  test('is removed once, and may be invited again', async () => {
    const org = await createTestTeam()
    await createMember(org)
    const { id, email } = await createMember(org)
    assert.equal((await (await createTestTeam()).manage.delete(`/member/${id}`)).status, 404)
    const { status, body } = await org.manage.delete(`/member/${id}`)
    assert.deepEqual([status, body], [200, {}])
    assert.equal((await org.manage.delete(`/member/${id}`)).status, 404)
    assert.deepEqual((await org.manage.post('/invite', { email })).body, { status: 'invite_created' })
  })

  test('loses the binding to a team that is deleted', async () => {
    const org = await createTestTeam()
    const { id: gone } = (await org.manage.post('/team', { name: 'Gone', region: 'us' })).body
    const both = { role: 'team_admin', team_role_bindings: bindings(gone, org.team) }
    await createMember(org, both)
    await createInvite(org, both)
    await org.manage.delete(`/team/${gone}`)
    assert.deepEqual((await members(org))[0].team_role_bindings, bindings(org.team))
    assert.deepEqual((await invites(org))[0].team_role_bindings, bindings(org.team))
  })
})

describe('the audit log', () => {
  test('of the organization and of a team in one environment is listed newest first, each with its own lines', async () => {
    const org = await createTestTeam()
    const other = await createTestTeam()
    await org.manage.patch('', { name: 'Renamed' })
    const key = (await org.manage.post('/management_key', { label: 'x', team_id: org.team })).body
    await org.manage.delete(`/management_key/${key.id}`)
    await other.manage.patch('', { name: 'Renamed' })
    const { data, next_cursor } = (await org.manage.get('/audit')).body
    assert.equal(next_cursor, null)
    assert.deepEqual(
      data.map(({ operation, object, team_id }: Record<string, unknown>) => [operation, object, team_id]),
      [
        ['remove_management_key', key.id, null],
        ['create_management_key', null, null],
        ['update_org', null, null],
      ],
    )
    assert.equal((await org.manage.get('/audit?operation=update_org')).body.data.length, 1)
    assert.deepEqual((await org.manage.get(`/team/${org.team}/sandbox/audit`)).body, { data: [], next_cursor: null })
    const first = (await org.manage.get('/audit?limit=2')).body
    const rest = (await org.manage.get(`/audit?limit=2&next_cursor=${first.next_cursor}`)).body
    assert.deepEqual([...first.data, ...rest.data], data)
    assert.equal((await other.manage.get(`/audit?next_cursor=${first.next_cursor}`)).status, 400)
    const forged = Buffer.from(
      JSON.stringify([JSON.parse(Buffer.from(first.next_cursor, 'base64url').toString())[0], 'nonsense']),
    )
    assert.equal((await org.manage.get(`/audit?next_cursor=${forged.toString('base64url')}`)).status, 400)
  })
})
