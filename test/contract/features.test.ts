// Features that are switched off for a team. The API has operations of features as they come; what an operation's record says of
// its feature is held here with operations made for it, on the server's own guards and cells.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { createHttp } from '../../src/platform/http/server.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { buildOpenApi as described } from '../../src/platform/http/openapi.ts'
import { managementOperation, operation, type Operation } from '../../src/platform/http/operation.ts'
import { Fields, T, Uuid } from '../../src/platform/schema/schema.ts'
import { Sockets } from '../../src/platform/http/sockets.ts'
import { Environment } from '../../src/tenancy/organizations/management-shapes.ts'
import { eventually } from '../support/eventually.ts'
import { access, cells, createTestTeam, guard, guards, metrics, type TestTeam } from '../support/server.ts'
import { testEach } from './operations/operation-cases.ts'
import { send, valid } from './operations/requests.ts'
import { assertNotDeleted } from '../../src/people/users/users.ts'
import { command } from '../support/commands.ts'

const { constraints, operations, features } = contents
const featureNames = features.map(({ name }) => name)

const reply = Fields({ done: T.Literal(true) })
const runDone = () => Promise.resolve({ done: true as const })
const Body = Fields({ name: T.String() })

const gated: Operation[] = features.flatMap((feature) => [
  operation({
    id: `of_team_${feature.name}`,
    logsAccess: false,
    method: 'POST',
    path: `/v3/${feature.name}/{id}`,
    summary: 'Made for this test',
    params: Fields({ id: Uuid }),
    body: Body,
    reply,
    feature,
    run: runDone,
  }),
  managementOperation({
    id: `of_org_${feature.name}`,
    logsAccess: false,
    method: 'GET',
    path: `/v1/org/{org_id}/team/{team_id}/{environment}/${feature.name}`,
    scope: 'team',
    keyScope: 'bound',
    summary: 'Made for this test',
    params: Fields({ org_id: Uuid, team_id: Uuid, environment: Environment }),
    reply,
    feature,
    run: runDone,
  }),
])
const folder = mkdtempSync(join(tmpdir(), 'features-'))
const lines = join(folder, 'log')
const log = createLog('warn', { path: lines })
const app = createHttp({
  operations: gated,
  guards: { team: guard.authenticate, management: guards.orgs },
  cells,
  access,
  constraints,
  unimplementedPaths: ['POST /v3/missing/{id}'],
  log,
  metrics,
  base_path: '',
  sockets: new Sockets({ connections_max: 4000, isTrusted: () => true }),
  isDraining: () => false,
  trusted_proxies: [],
  checkReplies: true,
  assertShown: assertNotDeleted,
})
after(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const ID = '00000000-0000-7000-8000-000000000001'
async function ask(team: TestTeam, name: string, payload: unknown = { name: 'x' }, id = ID, key = team.key) {
  const { statusCode, json, headers } = await app.inject({
    method: 'POST',
    url: `/v3/${name}/${id}`,
    headers: { 'x-service-api-key': key },
    payload: payload as object,
  })
  return { status: statusCode, body: json(), type: String(headers['content-type']).split(';')[0] }
}
async function askOrg({ orgKey, org_id, team }: TestTeam, name: string) {
  const { statusCode, json } = await app.inject({
    url: `/v1/org/${org_id}/team/${team}/sandbox/${name}`,
    headers: { 'x-management-key': orgKey },
  })
  return { status: statusCode, body: json() }
}
async function turn(team: TestTeam, name: string, state: 'on' | 'off'): Promise<void> {
  await command(cells, ['team', 'feature', team.team, name, state])
  guard.invalidate(team.team)
}

/** Where a team without the feature is not answered 403. Source: management-auth.md 19, lab-testing.md 0. */
const others: Record<string, number> = {
  human_review: 400,
  unmatched_results: 400,
  unmatched_result_test: 404,
  psc_scheduling: 503,
}

describe('a feature', () => {
  for (const name of featureNames)
    test(`${name} is on, and answered in JSON when it is off`, async () => {
      const [team, other] = [await createTestTeam(), await createTestTeam()]
      assert.equal((await ask(team, name)).status, 200)
      await turn(team, name, 'off')
      const refused = await ask(team, name)
      assert.deepEqual(
        [refused.status, Object.keys(refused.body), typeof refused.body.detail, refused.type],
        [others[name] ?? 403, ['detail'], 'string', 'application/json'],
      )
      assert.deepEqual(await askOrg(team, name), { status: refused.status, body: refused.body })
      assert.equal((await ask(other, name)).status, 200)
      assert.equal((await askOrg(other, name)).status, 200)
      for (const another of featureNames) if (another !== name) assert.equal((await ask(team, another)).status, 200)
      await turn(team, name, 'on')
      assert.equal((await ask(team, name)).status, 200)
    })

  test('is asked about after the key and the path, and before the body', async () => {
    const team = await createTestTeam()
    assert.equal((await ask(team, 'on_site_collection', {})).status, 422)
    await turn(team, 'on_site_collection', 'off')
    assert.equal((await ask(team, 'on_site_collection', {})).status, 403)
    assert.equal((await ask(team, 'on_site_collection', {}, 'nonsense')).status, 422)
    assert.equal((await ask(team, 'on_site_collection', {}, ID, 'sk_us_unknown')).status, 401)
  })

  test('is not logged as an error of the server', async () => {
    const team = await createTestTeam()
    await turn(team, 'psc_scheduling', 'off')
    assert.equal((await ask(team, 'psc_scheduling')).status, 503)
    await new Promise((resolve) => log.flush(resolve))
    assert.equal(readFileSync(lines, 'utf8'), '')
  })

  test('survives a change of the settings', async () => {
    const team = await createTestTeam()
    await turn(team, 'continuous_queries', 'off')
    await team.manage.patch(`/team/${team.team}`, { sandbox: { minor_ordering_enabled: false } })
    assert.equal((await askOrg(team, 'continuous_queries')).status, 403)
  })

  test('is in the description of its operations', async () => {
    const { paths } = await described(gated, 'test')
    const answers = (path: string, method: string) => (paths[path]![method] as { responses: Record<string, unknown> }).responses
    assert('403' in answers('/v3/on_site_collection/{id}', 'post'))
    assert('503' in answers('/v3/psc_scheduling/{id}', 'post'))
  })

  testEach(
    'that is off disables its operation',
    operations.filter((operation) => operation.feature),
    async (operation) => {
      const team = await createTestTeam()
      const request = await valid(team, operation)
      await turn(team, operation.feature!.name, 'off')
      assert.equal((await send(team, operation, request)).status, operation.feature!.refusal().status)
    },
  )
})

test('an operation that is not implemented answers 404 with a header that names it, an unknown path without one', async () => {
  for (const [method, path, named] of [
    ['POST', `/v3/missing/${ID}`, 'POST /v3/missing/{id}'],
    ['POST', `/v3/missing/${ID}/`, 'POST /v3/missing/{id}'],
    ['POST', `/v3/missing/${ID}?x=1`, 'POST /v3/missing/{id}'],
    ['POST', `/v3/missing/${ID}/more`, undefined],
    ['PATCH', `/v3/missing/${ID}`, undefined],
  ] as const) {
    const { statusCode, headers, json } = await app.inject({ method, url: path })
    assert.deepEqual([statusCode, headers['x-unimplemented-operation'], json()], [404, named, { detail: 'Not Found' }], path)
  }
})

test('a request for an operation that is not implemented leaves a line in the log that names it without its ids', async () => {
  const team = await createTestTeam()
  const reply = await ask(team, 'missing')
  assert.deepEqual([reply.status, reply.body], [404, { detail: 'Not Found' }])
  const line = await eventually(() => /^.*POST \/v3\/missing\/\{id\}.*$/m.exec(readFileSync(lines, 'utf8'))?.[0])
  assert.match(line, /this operation of the API is not implemented/)
  assert(!line.includes(ID))
})
