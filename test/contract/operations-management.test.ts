// What holds for every operation of the Management API: which keys it takes, and how far each kind of key reaches.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createOrgKey } from '../../src/tenancy/keys/keys.ts'
import { createOrg } from '../../src/tenancy/organizations/organizations.ts'
import { cells, client, createTestTeam, type TestTeam } from '../support/server.ts'
import { describeReply, testEach, success } from './operations/operation-cases.ts'
import { anotherTeam, ask, boundTo, managing, preparedFor, withTeam } from './operations/management-cases.ts'
import { inTurn } from './operations/inputs-in-turn.ts'
import { send, unknownIds, valid } from './operations/requests.ts'

/** Source: management-auth.md 4. What is not named here may be done by keys that are bound to teams, for those teams. */
const forOrgKeys = new Set([
  'get_org',
  'get_sign_in_settings',
  'update_org',
  'create_team_in_org',
  'delete_team_in_org',
  'list_management_key',
  'create_management_key',
  'patch_management_key',
  'list_members_in_org',
  'update_member',
  'remove_member_from_org',
  'list_invites_in_org',
  'create_or_resend_invite_in_org',
  'create_invite_link',
  'revoke_invite_in_org',
  'list_org_audit',
  'list_cell_audit',
  'upsert_lab_account',
  'update_lab_account_team_id_allowlist',
  'get_lab_links',
  'get_lab_link',
  'upsert_lab_link',
  'export_lab_link',
  'set_lab_link_mode',
  'check_lab_link',
  'start_lab_link_trial',
  'get_lab_link_trial',
  'list_unplaced_lab_link_orders',
  'list_lab_messages',
  'get_lab_message',
  'replay_lab_message',
  'resend_lab_message',
  'finish_lab_message',
  'list_lab_link_issues',
  'count_lab_link_issues',
  'finish_lab_link_issue',
  'list_org_domains',
  'create_org_domain',
  'get_org_domain',
  'delete_org_domain',
  'verify_org_domain',
  'send_org_domain_instructions',
  'get_ehr_integration_configuration',
  'upsert_ehr_integration_configuration',
  'list_integration_managed_members',
  'create_integration_managed_member',
  'resolve_integration_managed_member',
  'get_integration_managed_member',
  'update_integration_managed_member',
  'delete_integration_managed_member',
  'create_dashboard_url',
])

describe('a management key is required', async () => {
  const team = await createTestTeam()
  const other = await createTestTeam()
  const unknown = `${team.orgKey.slice(0, -4)}AAAA`
  const { access_token: token } = (await team.manage.post(`/team/${team.team}/create_api_access_token`, { env: 'sandbox' })).body
  const everywhere: [what: string, headers: Record<string, string>][] = [
    ['no key', {}],
    ['an unknown key', { 'x-management-key': unknown }],
    ['a team key', { 'x-management-key': team.key }],
    ['an access token', { authorization: `Bearer ${token}` }],
  ]
  const refused = inTurn<[what: string, headers: Record<string, string>]>([
    ['an empty key', { 'x-management-key': '' }],
    ['a team key in its own header', { 'x-service-api-key': team.key }],
    ['a management key in the header of team keys', { 'x-service-api-key': team.orgKey }],
    ['a management key as a bearer token', { authorization: `Bearer ${team.orgKey}` }],
    ['an access token in the header of management keys', { 'x-management-key': token }],
    ['a key of 600 characters', { 'x-management-key': `mg_${'x'.repeat(600)}` }],
    ['two keys of two organizations', { 'x-management-key': team.orgKey, 'x-service-org-key': other.orgKey }],
  ])
  testEach('without a key of an organization an operation answers 401', managing, async (operation) => {
    for (const [what, headers] of [...everywhere, ...refused(operation)]) {
      const reply = await ask(operation, unknownIds(operation, team), headers)
      assert.equal(reply.status, 401, what)
      assert.equal(typeof reply.body.detail, 'string', what)
      assert.equal(reply.headers.get('www-authenticate'), null, what)
    }
  })
  const accepted = inTurn<[where: string, headers: Record<string, string>]>([
    ['in its documented header', { 'x-management-key': team.orgKey }],
    ['in an older header', { 'x-service-org-key': team.orgKey }],
    ['in the header of older clients', { 'x-vital-org-key': team.orgKey }],
    ['in a header in capitals', { 'X-MANAGEMENT-KEY': team.orgKey }],
    ['in all headers', { 'x-management-key': team.orgKey, 'x-vital-org-key': team.orgKey }],
    ['beside a team key', { 'x-management-key': team.orgKey, 'x-service-api-key': team.key }],
  ])
  testEach('a key is accepted wherever it may stand', managing, async (operation) => {
    for (const [where, headers] of accepted(operation))
      assert.equal((await ask(operation, unknownIds(operation), headers)).status, 403, where)
  })
})

describe('an organization reaches its own teams', async () => {
  const team = await createTestTeam()
  const other = await createTestTeam()
  const prepared = preparedFor(team)

  testEach('another organization answers 403, whether it exists or not', managing, async (operation) => {
    const request = await prepared(operation)
    for (const org_id of [other.org_id, randomUUID()]) {
      const reply = await ask(operation, { ...request, path: { ...request.path, org_id } }, { 'x-management-key': team.orgKey })
      assert.equal(reply.status, 403)
    }
  })

  testEach('a team of another organization answers 404, like one that is not there', withTeam, async (operation) => {
    const request = await prepared(operation)
    for (const team_id of [other.team, randomUUID()]) {
      const reply = await ask(operation, { ...request, path: { ...request.path, team_id } }, { 'x-management-key': team.orgKey })
      assert.equal(reply.status, 404)
      assert.equal(typeof reply.body.detail, 'string')
    }
  })
})

describe('a key that is bound to teams', async () => {
  const team = await createTestTeam()
  const apart = await anotherTeam(team)
  const bound = { 'x-management-key': await boundTo(team, team.team) }

  testEach(
    'does for its team what is done for teams, and nothing for another team or the organization',
    managing,
    async (operation) => {
      const request = await valid(team, operation)
      if (withTeam.includes(operation)) {
        const elsewhere = await ask(operation, { ...request, path: { ...request.path, team_id: apart } }, bound)
        assert.equal(elsewhere.status, 403)
      }
      // A key may delete itself, and no other when it is bound: management-keys.test.ts.
      const refused =
        forOrgKeys.has(operation.id) ||
        ['remove_management_key', 'rotate_management_key'].includes(operation.id) ||
        operation.keyScope === 'org'
      const reply = await ask(operation, request, bound)
      assert(refused ? reply.status === 403 : success(reply), describeReply(reply))
    },
  )

  test('is rejected for operations that the table of roles keeps for the organization', () => {
    for (const operation of managing) if (forOrgKeys.has(operation.id)) assert.equal(operation.keyScope, 'org', operation.id)
  })

  const own = await anotherTeam(team)
  const withoutTeams = { 'x-management-key': await boundTo(team, own) }
  assert.equal((await team.manage.delete(`/team/${own}`)).status, 200)

  testEach('is refused everywhere when its last team is gone', managing, async (operation) => {
    assert.equal((await ask(operation, unknownIds(operation, team), withoutTeams)).status, 403)
  })
})

describe('an organization', async () => {
  /** With a key that nobody has used, so that nothing is cached of it. */
  const changed = async (column: string, value: string): Promise<TestTeam> => {
    const team = await createTestTeam()
    await cells.control.pool.query(`update org set ${column} = $1 where id = $2`, [value, team.org_id])
    return team
  }

  const lesser = await changed('plan', 'grow')
  testEach('of a lesser plan is refused, once it is clear who asks for what', managing, async (operation) => {
    const isRefused = (operation.entitlement ?? 'scale') === 'scale'
    // What is not refused may change its organization.
    const team = isRefused ? lesser : await changed('plan', 'grow')
    const reply = await send(team, operation, unknownIds(operation, team))
    if (isRefused) assert.equal(reply.status, 403)
    assert.equal((await send('mg_unknown', operation, unknownIds(operation, team))).status, 401)
  })

  const expired = await changed('expires_at', '2020-01-01T00:00:00Z')
  testEach('that has expired may only read', managing, async (operation) => {
    const reply = await send(expired, operation, unknownIds(operation, expired))
    const reads = operation.method === 'GET' || operation.reads
    if (reads) assert.notEqual(reply.status, 403)
    else assert.equal(reply.status, 403)
  })

  test('that has not expired yet may write', async () => {
    const team = await changed('expires_at', '2999-01-01T00:00:00Z')
    const { status, body } = await team.manage.patch('', { name: 'Still here' })
    assert.deepEqual([status, body.expires_at], [200, '2999-01-01T00:00:00+00:00'])
  })

  test('shows nothing of another organization to a key without teams', async () => {
    const org_id = await cells.control.plainTx((tx) => createOrg(tx, 'Empty organization'))
    const key = await cells.control.plainTx((tx) => createOrgKey(tx, { org_id, label: 'test' }))
    const { body } = await client(key, 'x-management-key').get(`/v1/org/${org_id}/team`)
    assert.deepEqual(body, { teams: [], next_cursor: null })
  })

  test('is managed below /management too', async () => {
    const team = await createTestTeam()
    const { status, body } = await client(team.orgKey, 'x-management-key').get(`/management/v1/org/${team.org_id}`)
    assert.deepEqual([status, body.id], [200, team.org_id])
  })
})
