// What members may do, for every operation there is, over HTTP: each role does its rows of docs/reference/roles.md and no others.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { isWrite, type Operation } from '../../src/platform/http/operation.ts'
import { teamRoles, type Environment, type TeamRole } from '../../src/tenancy/roles/roles.ts'
import { placeTeam } from '../../src/tenancy/teams/teams.ts'
import { createMember, signedIn } from '../support/console-sessions.ts'
import { isOfOrganization, isOfTeams, readRoleTable } from '../support/role-table.ts'
import { cells, createTestTeam, type Reply, type TestTeam } from '../support/server.ts'
import { keyNeeded, target, unknownIds } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

const { operations } = contents
const table = readRoleTable()
const ofTeams = operations.filter(isOfTeams)
const ofOrganization = operations.filter(isOfOrganization)
const REFUSAL = { detail: 'Your role does not permit this' }
const environments: Environment[] = ['sandbox', 'production']

type Page = Awaited<ReturnType<typeof signedIn>>

/** Sends a request with unknown ids, about the team in an environment. */
function ask(page: Page, team: TestTeam, operation: Operation, environment: Environment): Promise<Reply> {
  const request = unknownIds(operation, team)
  for (const name of ['env', 'environment']) if (name in request.path) request.path[name] = environment
  const headers = { 'x-drawbridge-cell': `${environment}-us`, ...keyNeeded(operation), ...request.headers }
  return page.call(operation.method, target(operation.path, request), request.body, headers)
}

const isRefused = ({ status, body }: Reply): boolean => status === 403 && body.detail === REFUSAL.detail

/** A team in both environments. */
async function teamOfBoth(): Promise<TestTeam> {
  const team = await createTestTeam()
  await cells.db('production-us').plainTx((tx) => placeTeam(tx, 'production-us', { id: team.team, org_id: team.org_id }))
  return team
}

/** What there is of a team and its organization. */
async function stateOf(team: TestTeam): Promise<unknown> {
  const control = await cells.control.pool.query(
    `select (select json_agg(t order by id) from team t where org_id = $1) as teams,
            (select json_agg(k order by id) from api_key k where team_id = $2) as keys,
            (select json_agg(m order by id) from member m where org_id = $1) as members,
            (select count(*) from audit_log where org_id = $1) as audited`,
    [team.org_id, team.team],
  )
  return {
    control: control.rows,
    sandbox: await rowsOf(team),
    production: await rowsOf({ ...team, db: cells.db('production-us') }),
  }
}

/** Runs a few at a time. */
async function inParallel<V>(list: readonly V[], work: (value: V) => Promise<void>): Promise<void> {
  const rest = [...list]
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next)
    }),
  )
}

test('the table has every operation that a session reaches by a role in a team', () => {
  assert.deepEqual([...table.keys()].toSorted(), ofTeams.map(({ id }) => id).toSorted())
})

test('a viewer changes nothing, only administrators and developers reach keys, and a developer sees no patients in production', () => {
  for (const operation of ofTeams) {
    const reach = table.get(operation.id)!
    assert.equal(reach.administrator, 'both', operation.id)
    if (isWrite(operation)) assert.equal(reach.viewer, 'none', operation.id)
    if (/key|token|secret|credential/.test(operation.id) && !/link_token|revoke_app/.test(operation.id))
      for (const role of ['staff', 'reviewer', 'viewer'] as const) assert.equal(reach[role], 'none', `${role} ${operation.id}`)
    if (operation.logsAccess || operation.auditsRead || isWrite(operation)) assert.notEqual(reach.developer, 'both', operation.id)
  }
})

for (const environment of environments)
  describe(`in ${environment === 'sandbox' ? 'a sandbox' : 'production'}`, () => {
    const isIn = (operation: Operation, role: TeamRole): boolean => {
      const reach = table.get(operation.id)![role]
      return reach === 'both' || reach === environment
    }

    for (const role of teamRoles) {
      test(`a member with the role ${role} is refused every other row of the table, and nothing changes`, async () => {
        const team = await teamOfBoth()
        const page = await signedIn(team, await createMember(team, role))
        const before = await stateOf(team)
        const others = [...ofTeams.filter((operation) => !isIn(operation, role)), ...ofOrganization]
        await inParallel(others, async (operation) => {
          const reply = await ask(page, team, operation, environment)
          assert.deepEqual([reply.status, reply.body], [403, REFUSAL], operation.id)
        })
        assert.deepEqual(await stateOf(team), before)
      })

      test(`a member with the role ${role} is refused no own row of the table`, async () => {
        const team = await teamOfBoth()
        const page = await signedIn(team, await createMember(team, role))
        await inParallel(
          ofTeams.filter((operation) => isIn(operation, role)),
          async (operation) => {
            const reply = await ask(page, team, operation, environment)
            assert(!isRefused(reply) && reply.status !== 401, `${operation.id} was HTTP ${reply.status}`)
          },
        )
      })
    }

    test('an administrator of the organization is refused nothing, and a member without a role everything', async () => {
      const team = await teamOfBoth()
      const [admin, nobody] = [await createMember(team, 'org_admin'), await createMember(team, 'no_role')]
      const [adminPage, nobodyPage] = [await signedIn(team, admin), await signedIn(team, nobody)]
      const before = await stateOf(team)
      await inParallel([...ofTeams, ...ofOrganization], async (operation) => {
        const reply = await ask(nobodyPage, team, operation, environment)
        assert.equal(reply.status, operation.auth === 'team' ? 404 : 403, operation.id)
      })
      assert.deepEqual(await stateOf(team), before)
      // It is the last: what it names is the team itself.
      const last = ofOrganization.filter(({ id }) => id === 'delete_team_in_org')
      for (const list of [[...ofTeams, ...ofOrganization].filter((operation) => !last.includes(operation)), last])
        await inParallel(list, async (operation) => {
          const reply = await ask(adminPage, team, operation, environment)
          assert(!isRefused(reply) && reply.status !== 401, `${operation.id} was HTTP ${reply.status}`)
        })
    })
  })

describe('a member with other roles in two teams', () => {
  let org: TestTeam
  let other: string
  let page: Page
  before(async () => {
    org = await createTestTeam()
    other = (await org.manage.post('/team', { name: 'Other', region: 'us' })).body.id
    const member = await createMember(org, 'viewer')
    const bindings = [
      { team_id: org.team, role: 'viewer' },
      { team_id: other, role: 'developer' },
    ]
    await createMember(org)
    assert.equal(
      (await org.manage.patch(`/member/${member.id}`, { role: 'team_admin', team_role_bindings: bindings })).status,
      200,
    )
    page = await signedIn(org, member)
  })

  test('has in each team the rows of the role there', async () => {
    const create = (team: string) => page.call('POST', '/v2/user', { client_user_id: team }, { 'x-drawbridge-team': team })
    assert.deepEqual([(await create(org.team)).status, (await create(other)).status], [403, 200])
    const webhooks = (team: string) => page.get(`/v1/org/${org.org_id}/team/${team}/sandbox/webhook`)
    assert.deepEqual([(await webhooks(org.team)).status, (await webhooks(other)).status], [403, 200])
  })

  test('finds in a list of several teams the data that the role in each of them permits', async () => {
    await org.manage.post('/team_api_keys/sandbox/us', { label: 'Hidden', team_id: org.team })
    await org.manage.post('/team_api_keys/sandbox/us', { label: 'Shown', team_id: other })
    const { body } = await page.get(`/v1/org/${org.org_id}/team_api_keys/sandbox/us`)
    assert.deepEqual(
      body.api_keys.map(({ label }: { label: string }) => label),
      ['Shown'],
    )
    const hidden = await page.post(`/v1/org/${org.org_id}/team_api_keys/sandbox/us`, { label: 'New', team_id: org.team })
    assert.equal(hidden.status, 403)
    assert.equal((await page.get(`/v1/org/${org.org_id}/team_api_keys/production/us`)).status, 403)
  })
})
