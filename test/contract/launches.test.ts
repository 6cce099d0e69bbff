// What a session of a launch URL may do, for every operation there is, over HTTP: an embedded one its feature and nothing else, one that a
// link opened everything of its team in its environment.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { placeTeam } from '../../src/tenancy/teams/teams.ts'
import { createLaunchBody, embedding, openLaunched } from '../support/launch-browser.ts'
import { createOrder } from '../support/orders.ts'
import { isOfOrganization, isOfTeams } from '../support/role-table.ts'
import { access, cells, client, createTestTeam, type Reply } from '../support/server.ts'
import { keyNeeded, target, unknownIds, valid } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

const { operations } = contents
const REFUSAL = { detail: 'The launch URL of this session does not permit this' }
/** Operations that a session may call: by a role in a team, of the organization, and about the session itself. */
const ofSessions = operations.filter(
  (operation) => isOfTeams(operation) || isOfOrganization(operation) || operation.auth === 'session',
)
const OWN = ['get_launch_session', 'end_launch_session']

/** What each feature is for, as its page needs it. */
const FEATURES: Record<string, readonly string[]> = {
  order_creation: [
    'create_order',
    'create_user',
    'get_lab_test_for_team',
    'get_paginated_lab_tests_for_team',
    'get_sandbox_clock',
    'get_user_by_client_user_id',
  ],
  'order_creation:': [
    'create_order',
    'get_lab_test_for_team',
    'get_paginated_lab_tests_for_team',
    'get_sandbox_clock',
    'get_user',
    'get_user_demographics',
  ],
  'order:': [
    'cancel_order',
    'get_lab_test_result',
    'get_lab_test_result_metadata',
    'get_lab_test_result_raw',
    'get_order',
    'get_order_labels',
    'get_order_messages',
    'get_order_progress',
    'get_order_requisition_url',
    'get_phlebotomy_appointment',
    'get_psc_appointment',
    'get_sandbox_clock',
    'order_process_simulate',
  ],
  team_panels: [
    'get_lab_test_for_team',
    'get_labs',
    'get_markers',
    'get_markers_for_order_set',
    'get_markers_for_test',
    'get_paginated_lab_tests_for_team',
    'get_sandbox_clock',
    'search_compendium',
    'search_orderable_tests',
    'update_lab_test_for_team',
  ],
  team_config: ['get_sandbox_clock', 'get_team_in_org', 'update_team_in_org'],
}

type Page = Awaited<ReturnType<typeof openLaunched>>

/** Sends a request about the team in its sandbox. */
function ask(page: Page, operation: Operation, request: ReturnType<typeof unknownIds>): Promise<Reply> {
  const headers = { ...keyNeeded(operation), ...request.headers }
  return page.call(operation.method, target(operation.path, request), request.body, headers)
}

const isRefused = ({ status, body }: Reply): boolean => status === 403 && body.detail === REFUSAL.detail

/** Runs a few at a time. */
async function inParallel<V>(list: readonly V[], work: (value: V) => Promise<void>): Promise<void> {
  const rest = [...list]
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next)
    }),
  )
}

async function openEmbedded(feature: string, overrides: Record<string, unknown> = {}) {
  const org = await createTestTeam()
  const { member } = await embedding(org)
  const order = await createOrder(org)
  const id = { 'order:': order.id, 'order_creation:': order.user_id }[feature] ?? ''
  const body = createLaunchBody(org, member, { feature: `${feature}${id}`, modality: 'feature_embed', ...overrides })
  return { org, order, page: await openLaunched(org, body) }
}

for (const [feature, own] of Object.entries(FEATURES))
  describe(`an embedded session of ${feature}`, () => {
    test('is refused every other operation, and nothing changes', async () => {
      const { org, page } = await openEmbedded(feature)
      const before = await rowsOf(org)
      const others = ofSessions.filter(({ id }) => !own.includes(id) && !OWN.includes(id))
      assert(others.length > 300)
      await inParallel(others, async (operation) => {
        const reply = await ask(page, operation, unknownIds(operation, org))
        assert.deepEqual([reply.status, reply.body], [403, REFUSAL], operation.id)
      })
      assert.deepEqual(await rowsOf(org), before)
      assert.equal((await page.get('/console/api/launch')).status, 200)
    })

    test('shows its operations, and is refused those of a fixed order or user with another id', async () => {
      const { org, order, page } = await openEmbedded(feature)
      const { permissions } = (await page.get('/console/api/launch')).body
      assert.deepEqual(permissions.administrator.sandbox.toSorted(), own)
      assert.deepEqual(permissions.administrator.production, [])
      await inParallel(
        operations.filter(({ id }) => own.includes(id)),
        async (operation) => {
          const request = await valid(org, operation)
          const fixed = feature === 'order:' ? 'order_id' : feature === 'order_creation:' ? 'user_id' : undefined
          const isFixed = fixed !== undefined && (fixed in request.path || operation.id === 'create_order')
          if (isFixed) {
            const reply = await ask(page, operation, request)
            assert.deepEqual([reply.status, reply.body], [403, REFUSAL], operation.id)
            if (fixed in request.path) request.path[fixed] = fixed === 'order_id' ? order.id : order.user_id
            else request.body = { ...(request.body as object), user_id: order.user_id }
          }
          if (operation.id === 'update_team_in_org') request.body = { name: 'North', sandbox: { minor_ordering_enabled: true } }
          const reply = await ask(page, operation, request)
          assert(!isRefused(reply) && reply.status !== 401, `${operation.id} was HTTP ${reply.status}`)
        },
      )
    })
  })

/** A team in both environments, with a session that a link opened in the sandbox. */
async function openLinked() {
  const org = await createTestTeam()
  await cells.db('production-us').plainTx((tx) => placeTeam(tx, 'production-us', { id: org.team, org_id: org.org_id }))
  const { member } = await embedding(org)
  return { org, page: await openLaunched(org, createLaunchBody(org, member)) }
}

describe('a session that a link opened', () => {
  test('is refused no operation of its team, and those of the organization and of members all', async () => {
    const { org, page } = await openLinked()
    await inParallel(operations.filter(isOfTeams), async (operation) => {
      const reply = await ask(page, operation, unknownIds(operation, org))
      assert(!isRefused(reply) && reply.status !== 401, `${operation.id} was HTTP ${reply.status}`)
    })
    const others = ofSessions.filter((operation) => !isOfTeams(operation) && !OWN.includes(operation.id))
    await inParallel(others, async (operation) => {
      const { status } = await ask(page, operation, unknownIds(operation, org))
      assert.equal(status, 403, operation.id)
    })
  })

  test('reaches no other environment, team or region', async () => {
    const { org, page } = await openLinked()
    const other = (await org.manage.post('/team', { name: 'Other', region: 'us' })).body.id
    const users = async (headers: Record<string, string>) => (await page.call('GET', '/v2/user', undefined, headers)).status
    assert.equal(await users({ 'x-drawbridge-cell': 'production-us' }), 403)
    assert.equal(await users({ 'x-drawbridge-team': other }), 404)
    const base = `/v1/org/${org.org_id}`
    assert.equal((await page.get(`${base}/team/${org.team}/sandbox/webhook`)).status, 200)
    for (const path of [
      `/team/${org.team}/production/webhook`,
      `/team/${other}/sandbox/webhook`,
      '/team_api_keys/production/us',
      '/team_api_keys/sandbox/eu',
    ])
      assert.equal((await page.get(base + path)).status, 403, path)
    const patch = (body: unknown) => page.call('PATCH', `${base}/team/${org.team}`, body)
    assert.equal((await patch({ production: { minor_ordering_enabled: true } })).status, 403)
    assert.equal((await patch({ sandbox: { minor_ordering_enabled: true } })).status, 200)
  })
})

test('a page of a launch needs the cookie of its own session, the header of the console, and for changes its own origin', async () => {
  const { org, page } = await openEmbedded('team_config')
  const path = `/v1/org/${org.org_id}/team/${org.team}`
  const status = async (method: string, headers: Record<string, string | undefined>) => {
    const sent = Object.entries({ ...page.headers, ...headers }).filter(([, value]) => value !== undefined)
    const body = method === 'GET' ? undefined : { name: 'Changed' }
    return (await client(undefined).call(method, path, body, Object.fromEntries(sent) as Record<string, string>)).status
  }
  const other = await openLaunched(org, createLaunchBody(org, (await embedding(org)).member, { modality: 'feature_embed' }))
  assert.equal(await status('GET', {}), 200)
  assert.equal(await status('GET', { cookie: undefined }), 401)
  assert.equal(await status('GET', { cookie: other.cookie }), 401)
  assert.equal(await status('GET', { 'x-drawbridge-launch': undefined }), 401)
  assert.equal(await status('GET', { 'x-drawbridge-launch': randomUUID() }), 401)
  assert.equal(await status('GET', { 'x-drawbridge-launch': "' or true --" }), 401)
  assert.equal(await status('GET', { 'x-drawbridge-console': undefined }), 401)
  assert.equal(await status('GET', { 'x-management-key': org.orgKey }), 401)
  assert.equal(await status('PATCH', { origin: undefined }), 403)
  assert.equal(await status('PATCH', { origin: 'https://app.example.com' }), 403)
  assert.equal(await status('PATCH', { 'x-drawbridge-console': undefined }), 403)
  assert.equal(await status('PATCH', {}), 200)
})

test('an embedded page of a team’s settings changes neither the reference of the team nor the other environment', async () => {
  const { org, page } = await openEmbedded('team_config')
  const patch = (body: unknown) => page.call('PATCH', `/v1/org/${org.org_id}/team/${org.team}`, body)
  for (const body of [{ integration_team_id: 'other' }, { integration_team_id: null }, { production: {} }]) {
    const reply = await patch(body)
    assert.deepEqual([reply.status, reply.body], [403, REFUSAL])
  }
  assert.equal((await patch({ sandbox: { critical_result_notification_email: 'testa@example.com' } })).status, 200)
})

test('the session of a launch ends by its own operation, and its cookie is removed', async () => {
  const { page } = await openEmbedded('team_panels')
  const reply = await page.call('DELETE', '/console/api/launch')
  assert.equal(reply.status, 200)
  assert.match(
    reply.headers.getSetCookie()[0]!,
    /^drawbridge_feature_embed=; Path=\/; Max-Age=0; HttpOnly; SameSite=None; Secure; Partitioned$/,
  )
  assert.equal((await page.get('/console/api/launch')).status, 401)
  assert.equal((await page.get('/v3/lab_test')).status, 401)
})

test('the session of a launch names its member in the access log and in the audit log', async () => {
  const { org, page } = await openEmbedded('order_creation')
  const { session_id, member } = (await page.get('/console/api/launch')).body
  const { user_id } = (await page.post('/v2/user', { client_user_id: randomUUID() })).body
  await access.flush()
  const lines = (await org.manage.get(`/team/${org.team}/sandbox/access_log?user_id=${user_id}`)).body.data
  assert.deepEqual(
    lines.map(({ key_id, member_id, operation }: Record<string, unknown>) => [key_id, member_id, operation]),
    [[`launch:${session_id}`, member.id, 'create_user']],
  )
  await page.call('DELETE', '/console/api/launch')
  const [entry] = (await org.manage.get('/audit')).body.data
  assert.deepEqual([entry.operation, entry.key_id, entry.member_id], ['end_launch_session', `launch:${session_id}`, member.id])
})
