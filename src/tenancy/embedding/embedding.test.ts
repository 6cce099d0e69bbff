import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { APP, embedding, launch, createLaunchBody, member } from '../../../test/support/launch-browser.ts'
import { client, createTestTeam } from '../../../test/support/server.ts'
import { createAnotherTeam, roleBindings } from '../../../test/support/teams.ts'

const CONFIGURATION = '/ehr_integration/configuration'
const MEMBER = '/ehr_integration/member'
const slug = () => `clinic-${randomUUID()}`

describe('the configuration', () => {
  test('is absent until it is put, and is then the last put value', async () => {
    const org = await createTestTeam()
    assert.equal((await org.manage.get(CONFIGURATION)).status, 404)
    const first = { slug: slug(), modalities: [], origin_configs: [] }
    assert.deepEqual((await org.manage.put(CONFIGURATION, first)).body, first)
    const second = { slug: slug(), modalities: ['link_out'], origin_configs: [{ origin: APP }] }
    const shown = { ...second, origin_configs: [{ origin: APP, session_continuation_url: null }] }
    assert.deepEqual((await org.manage.put(CONFIGURATION, second)).body, shown)
    assert.deepEqual((await org.manage.get(CONFIGURATION)).body, shown)
  })

  test('has a slug that no other organization has, and gives an old one free', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const body = { slug: slug(), modalities: [], origin_configs: [] }
    assert.equal((await org.manage.put(CONFIGURATION, body)).status, 200)
    const taken = await other.manage.put(CONFIGURATION, body)
    assert.deepEqual([taken.status, taken.body], [409, { detail: 'This slug is in use' }])
    assert.equal((await other.manage.get(CONFIGURATION)).status, 404)
    assert.equal((await org.manage.put(CONFIGURATION, body)).status, 200)
    await org.manage.put(CONFIGURATION, { ...body, slug: slug() })
    assert.equal((await other.manage.put(CONFIGURATION, body)).status, 200)
  })

  test('is one organization’s when two put the same slug at once', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const body = { slug: slug(), modalities: [], origin_configs: [] }
    const replies = await Promise.all([org, other].map(({ manage }) => manage.put(CONFIGURATION, body)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
  })

  test('takes slugs in kebab-case', async () => {
    const org = await createTestTeam()
    for (const bad of ['', 'ab', 'Clinic', 'a_b', 'a--b', '-ab', 'ab-', 'a.b', 'a b', 'a'.repeat(64), 'bücher', null, 7]) {
      const { status, body } = await org.manage.put(CONFIGURATION, { slug: bad, modalities: [], origin_configs: [] })
      assert.equal(status, 422, String(bad))
      assert.deepEqual(body.detail[0].loc, ['body', 'slug'])
    }
  })

  test('takes origins, in the form that browsers have', async () => {
    const org = await createTestTeam()
    const put = (origin: unknown) =>
      org.manage.put(CONFIGURATION, { slug: `c-${org.org_id}`, modalities: [], origin_configs: [{ origin }] })
    const sound: [string, string][] = [
      ['https://app.example.com', 'https://app.example.com'],
      ['https://App.Example.com:443/', 'https://app.example.com'],
      ['https://app.example.com:8443', 'https://app.example.com:8443'],
      ['https://bücher.example', 'https://xn--bcher-kva.example'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
      ['https://192.0.2.7', 'https://192.0.2.7'],
    ]
    for (const [given, kept] of sound) {
      const { status, body } = await put(given)
      assert.deepEqual([status, body.origin_configs?.[0].origin], [200, kept])
    }
    const bad = [
      '',
      '*',
      'null',
      'app.example.com',
      'http://app.example.com',
      'ftp://app.example.com',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://',
      'https://*.example.com',
      'https://app.example.com/path',
      'https://app.example.com/?a=b',
      'https://app.example.com/#a',
      'https://testa@app.example.com',
      "https://a;script-src 'unsafe-inline'",
      'https://a;b.example.com',
      'https://a,b.example.com',
      "https://a'b.example.com",
      'https://intranet',
      'https://[2001:db8::1]',
      'https://app.example.com https://other.example.com',
      null,
      7,
    ]
    for (const origin of bad) {
      const { status, body } = await put(origin)
      assert.equal(status, 422, String(origin))
      assert.deepEqual(body.detail[0].loc, ['body', 'origin_configs', 0, 'origin'])
    }
  })

  test('refuses an origin given twice, unknown modalities and unsafe continuations, all at once', async () => {
    const org = await createTestTeam()
    const put = async (body: Record<string, unknown>) =>
      (await org.manage.put(CONFIGURATION, { slug: slug(), modalities: [], origin_configs: [], ...body })).body
    const twice = await put({ origin_configs: [{ origin: APP }, { origin: `${APP}:443` }] })
    assert.deepEqual(twice.detail[0].loc, ['body', 'origin_configs'])
    const continuations = [
      'http://app.example.com/x',
      'javascript:alert(1)',
      '/relative',
      'https://a:b@app.example.com',
      `${APP}/#x`,
      'https://@app.example.com/x',
      'https:\\\\app.example.com/x',
      'https://app.example.com\\@evil.example/x',
      '',
    ]
    const origin_configs = continuations.map((session_continuation_url) => ({ origin: APP, session_continuation_url }))
    const faults = (await put({ modalities: ['pop_up'], origin_configs })).detail.map(({ loc }: { loc: unknown[] }) => loc)
    assert.deepEqual(faults, [
      ['body', 'modalities', 0],
      ...continuations.map((_, i) => ['body', 'origin_configs', i, 'session_continuation_url']),
    ])
    assert.deepEqual((await put({ modalities: ['link_out', 'link_out'] })).modalities, ['link_out'])
    const many = Array.from({ length: 51 }, (_, i) => ({ origin: `https://a${i}.example.com` }))
    assert.deepEqual((await put({ origin_configs: many })).detail[0].loc, ['body', 'origin_configs'])
  })
})

describe('an integration-managed member', () => {
  test('is added, read, resolved, changed and removed', async () => {
    const org = await createTestTeam()
    const body = { integration_member_id: 'Staff/1 ü', name: 'Testa Fictional', email: 'testa@example.com' }
    const { status, body: made } = await org.manage.post(MEMBER, body)
    assert.deepEqual([status, made], [200, { id: made.id, ...body, avatar: null, team_role_bindings: null }])
    assert.deepEqual((await org.manage.get(`${MEMBER}/${made.id}`)).body, made)
    const resolve = (integration_member_id: string) =>
      org.manage.post('/ehr_integration/resolve_member', { integration_member_id })
    assert.deepEqual((await resolve('Staff/1 ü')).body, made)
    assert.equal((await resolve('staff/1 ü')).status, 404)
    const change = {
      name: 'Testa Changed',
      avatar: 'https://app.example.com/a.png',
      team_role_bindings: roleBindings(org.team, org.team),
    }
    const changed = (await org.manage.patch(`${MEMBER}/${made.id}`, change)).body
    assert.deepEqual(changed, { ...made, ...change, team_role_bindings: roleBindings(org.team) })
    const nulls = { name: null, email: null, avatar: null, team_role_bindings: null, integration_member_id: 'ignored' }
    assert.deepEqual((await org.manage.patch(`${MEMBER}/${made.id}`, nulls)).body, { ...changed, avatar: null })
    assert.deepEqual((await org.manage.patch(`${MEMBER}/${made.id}`, {})).body, { ...changed, avatar: null })
    const gone = await org.manage.delete(`${MEMBER}/${made.id}`)
    assert.deepEqual([gone.status, gone.body], [200, {}])
    for (const reply of [
      await org.manage.get(`${MEMBER}/${made.id}`),
      await org.manage.patch(`${MEMBER}/${made.id}`, { name: 'x' }),
      await org.manage.delete(`${MEMBER}/${made.id}`),
      await resolve('Staff/1 ü'),
    ])
      assert.deepEqual([reply.status, reply.body], [404, { detail: 'Member not found' }])
  })

  test('has a reference that is unique in the organization: 409 names its member', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const integration_member_id = randomUUID()
    const { id } = await member(org, { integration_member_id })
    const body = { integration_member_id, name: 'Another', email: 'other@example.com' }
    const taken = await org.manage.post(MEMBER, body)
    assert.deepEqual([taken.status, taken.body.member_id, typeof taken.body.detail], [409, id, 'string'])
    assert.equal((await other.manage.post(MEMBER, body)).status, 200)
    const reference = randomUUID()
    const replies = await Promise.all([1, 2].map(() => org.manage.post(MEMBER, { ...body, integration_member_id: reference })))
    const [made, refused] = replies.toSorted((a, b) => a.status - b.status)
    assert.deepEqual([made!.status, refused!.status, refused!.body.member_id], [200, 409, made!.body.id])
  })

  test('is bound only to teams of the organization, and to no team after its last team is deleted', async () => {
    const org = await createTestTeam()
    const own = await createAnotherTeam(org)
    const foreignBindings = roleBindings((await createTestTeam()).team)
    const body = { integration_member_id: randomUUID(), name: 'Testa', email: 'testa@example.com' }
    assert.equal((await org.manage.post(MEMBER, { ...body, team_role_bindings: foreignBindings })).status, 404)
    const { id } = await member(org, { team_role_bindings: roleBindings(own) })
    assert.equal((await org.manage.patch(`${MEMBER}/${id}`, { team_role_bindings: foreignBindings })).status, 404)
    await embedding(org)
    await org.manage.delete(`/team/${own}`)
    assert.deepEqual((await org.manage.get(`${MEMBER}/${id}`)).body.team_role_bindings, [])
    assert.equal((await launch(org, createLaunchBody(org, { id }))).status, 403)
  })

  test('is listed newest first, page by page, and is not a member who signs in', async () => {
    const org = await createTestTeam()
    const made: string[] = []
    for (let i = 0; i < 51; i++) made.unshift((await member(org)).id)
    const { data, next_cursor } = (await org.manage.get(MEMBER)).body
    const rest = (await org.manage.get(`${MEMBER}?next_cursor=${next_cursor}`)).body
    assert.deepEqual(
      [...data, ...rest.data].map(({ id }: { id: string }) => id),
      made,
    )
    assert.equal(rest.next_cursor, null)
    assert.deepEqual(Object.keys(data[0]), ['id', 'integration_member_id', 'name', 'email', 'avatar', 'team_role_bindings'])
    assert.equal((await org.manage.get(`${MEMBER}?next_cursor=nonsense`)).status, 400)
    assert.equal((await (await createTestTeam()).manage.get(`${MEMBER}?next_cursor=${next_cursor}`)).status, 400)
    assert.deepEqual((await org.manage.get('/member')).body.members, [])
  })

  test('needs a name, an email address and a reference', async () => {
    const org = await createTestTeam()
    const { status, body } = await org.manage.post(MEMBER, { avatar: 'javascript:alert(1)', email: 'nobody' })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc }: { loc: unknown[] }) => loc[1]),
      ['integration_member_id', 'name', 'email', 'avatar'],
    )
    const long = { integration_member_id: 'x'.repeat(257), name: 'x', email: 'testa@example.com' }
    assert.equal((await org.manage.post(MEMBER, long)).status, 422)
    assert.equal((await org.manage.post(MEMBER, { ...long, integration_member_id: 'x'.repeat(256) })).status, 200)
  })

  test('is added once under an idempotency key', async () => {
    const org = await createTestTeam()
    const body = { integration_member_id: randomUUID(), name: 'Testa', email: 'testa@example.com' }
    const headers = { 'x-idempotency-key': 'once' }
    const first = await org.manage.post(MEMBER, body, headers)
    assert.deepEqual((await org.manage.post(MEMBER, body, headers)).body, first.body)
  })

  test('of another organization is not found', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const { id } = await member(org)
    assert.equal((await other.manage.get(`${MEMBER}/${id}`)).status, 404)
    assert.equal((await other.manage.patch(`${MEMBER}/${id}`, { name: 'x' })).status, 404)
    assert.equal((await other.manage.delete(`${MEMBER}/${id}`)).status, 404)
    await embedding(other)
    assert.equal((await launch(other, createLaunchBody(other, { id }))).status, 404)
    assert.equal((await org.manage.get(`${MEMBER}/${id}`)).status, 200)
  })
})

test('embedding needs an organization-wide key', async () => {
  const org = await createTestTeam()
  const { member: someone, configuration } = await embedding(org)
  const { key } = (await org.manage.post('/management_key', { label: 'bound', team_id: org.team })).body
  const callers = [
    [client(key, 'x-management-key', `/v1/org/${org.org_id}`), 403],
    [client((await createTestTeam()).orgKey, 'x-management-key', `/v1/org/${org.org_id}`), 403],
    [client(org.key, 'x-management-key', `/v1/org/${org.org_id}`), 401],
    [client(org.key, 'x-service-api-key', `/v1/org/${org.org_id}`), 401],
    [org.manage, 200],
  ] as const
  for (const [caller, status] of callers) {
    assert.equal((await caller.get(CONFIGURATION)).status, status)
    assert.equal((await caller.put(CONFIGURATION, configuration)).status, status)
    assert.equal((await caller.get(MEMBER)).status, status)
    assert.equal((await caller.patch(`${MEMBER}/${someone.id}`, { name: 'Testa' })).status, status)
    assert.equal((await caller.post('/ehr_integration/create_dashboard_url', createLaunchBody(org, someone))).status, status)
    assert.equal((await caller.delete(`${MEMBER}/${someone.id}`)).status, status)
  }
})
