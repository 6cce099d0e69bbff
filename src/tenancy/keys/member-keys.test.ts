// Keys that are for one member of the organization: the access log names this person, and the keys go with the member.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { command } from '../../../test/support/commands.ts'
import { createInvite } from '../../../test/contract/operations/requests.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { access, asOwner, cells, client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const memberOf = async (org: TestTeam): Promise<string> => {
  const token = await createInvite(org, { email: `testa-${randomUUID()}@example.com` })
  return (await client(undefined).post('/v1/invite/accept', { token, name: 'Testa Fictional' })).body.id
}
const KEYS = '/team_api_keys/sandbox/us'
const teamKey = async (org: TestTeam, member_id?: string) =>
  (await org.manage.post(KEYS, { label: 'of a person', team_id: org.team, member_id })).body
const managementKey = async (org: TestTeam, member_id: string) =>
  (
    await org.manage.post('/management_key', {
      label: 'of a person',
      role: 'team_admin',
      team_role_bindings: [{ team_id: org.team }],
      member_id,
    })
  ).body

describe('a key for a member', () => {
  test('names the member in lists of keys and in the access log, and a key for a program names no member', async () => {
    const org = await createTestTeam()
    const member_id = await memberOf(org)
    const [own, program] = [await teamKey(org, member_id), await teamKey(org)]
    const manager = await managementKey(org, member_id)
    assert.deepEqual([own.member_id, program.member_id, manager.member_id], [member_id, null, member_id])
    const listed = (await org.manage.get(`${KEYS}?team_id=${org.team}`)).body.api_keys
    assert.equal(listed.find(({ id }: { id: string }) => id === own.id).member_id, member_id)
    const user = await org.user()
    await client(own.value).get(`/v2/user/${user}`)
    await client(program.value).get(`/v2/user/${user}`)
    const path = `/team/${org.team}/sandbox/access_log?user_id=${user}`
    const reader = client(manager.key, 'x-management-key', `/v1/org/${org.org_id}`)
    await reader.get(path)
    await access.flush()
    const { status, body } = await reader.get(path)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      body.data
        .slice(0, 4)
        .map(({ key_id, member_id: member }: { key_id: string; member_id: string | null }) => [key_id, member]),
      [
        [manager.id, member_id],
        [program.id, null],
        [own.id, member_id],
        [listed.find(({ label }: { label: string }) => label !== 'of a person').id, null],
      ],
    )
  })

  test('stops working when the member is removed, and other keys go on', async () => {
    const org = await createTestTeam()
    const member_id = await memberOf(org)
    await memberOf(org)
    const [own, program] = [await teamKey(org, member_id), await teamKey(org)]
    const manager = await managementKey(org, member_id)
    const statuses = async () => [
      (await client(own.value).get('/v2/user')).status,
      (await client(program.value).get('/v2/user')).status,
      (await client(manager.key, 'x-management-key', `/v1/org/${org.org_id}`).get(`/team/${org.team}`)).status,
    ]
    assert.deepEqual(await statuses(), [200, 200, 200])
    assert.equal((await org.manage.delete(`/member/${member_id}`)).status, 200)
    assert.deepEqual(await statuses(), [401, 200, 401])
  })

  test('has access tokens that name the member, and that end with the member', async () => {
    const org = await createTestTeam()
    const member_id = await memberOf(org)
    await memberOf(org)
    const { key } = await managementKey(org, member_id)
    const manager = client(key, 'x-management-key', `/v1/org/${org.org_id}`)
    const tokenOf = async (creator: Pick<typeof manager, 'post'>) => {
      const { access_token } = (await creator.post(`/team/${org.team}/create_api_access_token`, { env: 'sandbox' })).body
      return { authorization: `Bearer ${access_token}` }
    }
    const [own, program] = [await tokenOf(manager), await tokenOf(org.manage)]
    const user = await org.user()
    const statuses = async () =>
      Promise.all([own, program].map(async (token) => (await client(undefined).get(`/v2/user/${user}`, token)).status))
    assert.deepEqual(await statuses(), [200, 200])
    await access.flush()
    const log = (await org.manage.get(`/team/${org.team}/sandbox/access_log?user_id=${user}`)).body.data
    const named = log.filter(({ key_id }: { key_id: string }) => key_id.startsWith('token:'))
    assert.deepEqual(named.map((line: { member_id: string | null }) => line.member_id).toSorted(), [member_id, null])
    assert.equal((await org.manage.delete(`/member/${member_id}`)).status, 200)
    assert.deepEqual(await statuses(), [401, 200])
  })

  test('is not created for a member who is removed meanwhile', async () => {
    const org = await createTestTeam()
    for (const create of [teamKey, managementKey]) {
      const member_id = await memberOf(org)
      const removing = await cells.control.pool.connect()
      try {
        await removing.query('begin')
        await removing.query('delete from member where id = $1', [member_id])
        const creating = create(org, member_id)
        const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        await eventually(async () => (await asOwner(waiting)).rowCount, 'the new key waits for the removal')
        await removing.query('commit')
        assert.deepEqual(await creating, { detail: 'Member not found' })
      } finally {
        removing.release()
      }
    }
  })

  test('is refused for a person who is not a member of the organization', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const foreign = await memberOf(other)
    for (const member_id of [foreign, randomUUID()]) {
      const replies = [
        await org.manage.post(KEYS, { label: 'x', team_id: org.team, member_id }),
        await org.manage.post('/management_key', { label: 'x', team_id: org.team, member_id }),
      ]
      for (const { status, body } of replies) assert.deepEqual([status, body.detail], [404, 'Member not found'])
      await assert.rejects(command(cells, ['key', 'create', '--team', org.team, '--member', member_id]), /Member not found/)
      await assert.rejects(command(cells, ['key', 'create', '--org', org.org_id!, '--member', member_id]), /Member not found/)
    }
  })

  test('is made by command for a team and for the organization', async () => {
    const org = await createTestTeam()
    const member_id = await memberOf(org)
    for (const scope of [
      ['--team', org.team],
      ['--org', org.org_id!],
    ]) {
      await command(cells, ['key', 'create', ...scope, '--member', member_id])
      assert.match(await command(cells, ['key', 'list', ...scope]), new RegExp(`for member ${member_id}`))
    }
  })
})
