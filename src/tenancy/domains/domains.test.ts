import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { newDomainName, publishRecords, read, registerDomain, verify } from '../../../test/support/domains.ts'
import { cells, client, createTestTeam } from '../../../test/support/server.ts'

describe('a domain', () => {
  test('is registered, read, listed newest first, and deleted', async () => {
    const org = await createTestTeam()
    const one = await registerDomain(org)
    const two = await registerDomain(org)
    const [text, alias] = one.dns_records
    assert.deepEqual(one, {
      id: one.id,
      domain: one.domain,
      is_verified: false,
      created_on: one.created_on,
      dns_records: [
        { type: 'TXT', host: `_drawbridge.${one.domain}`, value: text.value },
        { type: 'CNAME', host: `dashboard.${one.domain}`, value: 'lab.example.org' },
      ],
    })
    assert.equal(alias.type, 'CNAME')
    assert.match(text.value, /^drawbridge-verification=[0-9a-f]{40}$/)
    assert.notEqual(two.dns_records[0].value, text.value)
    assert.deepEqual(await read(org, one.id), one)
    assert.deepEqual((await org.manage.get('/domain')).body, { data: [two, one] })
    const { status, body } = await org.manage.delete(`/domain/${one.id}`)
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual((await org.manage.get('/domain')).body, { data: [two] })
    for (const reply of [
      await org.manage.get(`/domain/${one.id}`),
      await org.manage.delete(`/domain/${one.id}`),
      await org.manage.post(`/domain/${one.id}/verify`),
      await org.manage.post(`/domain/${one.id}/send_domain_instructions`, { to_email: 'testa@example.com' }),
    ])
      assert.deepEqual([reply.status, reply.body], [404, { detail: 'Domain not found' }])
  })

  test('does not exist for another organization in any operation', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const { id } = await registerDomain(org)
    for (const reply of [
      await other.manage.get(`/domain/${id}`),
      await other.manage.delete(`/domain/${id}`),
      await other.manage.post(`/domain/${id}/verify`),
      await other.manage.post(`/domain/${id}/send_domain_instructions`, { to_email: 'testa@example.com' }),
    ])
      assert.equal(reply.status, 404)
    assert.deepEqual((await other.manage.get('/domain')).body, { data: [] })
    assert.equal((await read(org, id)).id, id)
  })

  test('is normalized', async () => {
    const org = await createTestTeam()
    const tail = `${randomUUID()}.example`
    const spelled: [string, string][] = [
      [`BÜCHER-${tail}`, 'xn--bcher-'],
      [`Clinic.${tail.toUpperCase()}.`, `clinic.${tail}`],
      [`klinik。${tail}`, `klinik.${tail}`],
    ]
    for (const [written, form] of spelled) {
      const { domain } = await registerDomain(org, written)
      assert(domain.startsWith(form), domain)
      assert.match(domain, /^[a-z0-9.-]+$/)
    }
    assert.equal((await org.manage.post('/domain', { domain: `clinic.${tail}` })).status, 409)
    assert.equal((await org.manage.post('/domain', { domain: `bücher-${tail}` })).status, 409)
  })

  test('must be a name', async () => {
    const org = await createTestTeam()
    const bad = [
      '',
      ' ',
      'localhost',
      'https://clinic.example.com',
      'clinic.example.com/path',
      'clinic.example.com:443',
      'testa@example.com',
      '192.0.2.1',
      '0x7f.1',
      '[2001:db8::1]',
      '2001:db8::1',
      '*.example.com',
      'a..example.com',
      '.example.com',
      'example.com..',
      '-a.example.com',
      'a-.example.com',
      'a_b.example.com',
      'a b.example.com',
      'a%2eexample.com',
      'xn--.example.com',
      `${'a'.repeat(64)}.example.com`,
      `${'a.'.repeat(119)}example.com`,
      'a'.repeat(600),
      'clinic.example.com\n',
      'clinic.\0.com',
    ]
    for (const domain of [...bad, null, 7, [], {}]) {
      const { status, body } = await org.manage.post('/domain', { domain })
      assert.equal(status, 422, JSON.stringify(domain))
      assert.deepEqual(body.detail[0].loc, ['body', 'domain'])
    }
    assert.deepEqual((await org.manage.get('/domain')).body, { data: [] })
  })

  test('belongs to one organization, also if two register it at once', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const domain = newDomainName()
    const replies = await Promise.all([org.manage.post('/domain', { domain }), other.manage.post('/domain', { domain })])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409])
    const [winner, loser] = replies[0].status === 201 ? [org, other] : [other, org]
    const { status, body } = await loser.manage.post('/domain', { domain })
    assert.deepEqual([status, body], [409, { detail: 'This domain is already registered' }])
    assert.equal((await winner.manage.post('/domain', { domain })).status, 409)
    await winner.manage.delete(`/domain/${replies.find((reply) => reply.status === 201)!.body.id}`)
    await registerDomain(loser, domain)
  })

  test('an unverified domain expires after a week; a verified domain does not', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const [proved, unproved] = [await registerDomain(org), await registerDomain(org)]
    publishRecords(proved)
    await verify(org, proved.id)
    await cells.control.pool.query(`update org_domain set created_at = created_at - interval '8 days' where org_id = $1`, [
      org.org_id,
    ])
    assert.equal((await org.manage.post('/domain', { domain: unproved.domain })).status, 409)
    assert.notEqual((await registerDomain(other, unproved.domain)).dns_records[0].value, unproved.dns_records[0].value)
    assert.equal((await org.manage.get(`/domain/${unproved.id}`)).status, 404)
    assert.equal((await other.manage.post('/domain', { domain: proved.domain })).status, 409)
  })

  test('is one of at most a hundred', async () => {
    const org = await createTestTeam()
    await cells.control.pool.query(
      `insert into org_domain (id, org_id, domain, verification_token, created_at)
       select gen_random_uuid(), $1, gen_random_uuid() || '.example.com', '', '2020-01-01' from generate_series(1, 100)`,
      [org.org_id],
    )
    const { status, body } = await org.manage.post('/domain', { domain: newDomainName() })
    assert.deepEqual([status, typeof body.detail], [400, 'string'])
    assert.equal((await org.manage.get('/domain')).body.data.length, 100)
  })

  test('is registered once under an idempotency key', async () => {
    const org = await createTestTeam()
    const body = { domain: newDomainName() }
    const headers = { 'x-idempotency-key': 'once' }
    const [first, again] = [await org.manage.post('/domain', body, headers), await org.manage.post('/domain', body, headers)]
    assert.deepEqual([again.status, again.body], [201, first.body])
  })
})

test('domains need an organization-wide key', async () => {
  const org = await createTestTeam()
  const { id } = await registerDomain(org)
  const { key } = (await org.manage.post('/management_key', { label: 'bound', team_id: org.team })).body
  const bound = client(key, 'x-management-key', `/v1/org/${org.org_id}`)
  const other = client((await createTestTeam()).orgKey, 'x-management-key', `/v1/org/${org.org_id}`)
  const team = client(org.key, 'x-management-key', `/v1/org/${org.org_id}`)
  for (const [caller, status] of [[bound, 403] as const, [other, 403] as const, [team, 401] as const]) {
    assert.equal((await caller.get('/domain')).status, status)
    assert.equal((await caller.post('/domain', { domain: newDomainName() })).status, status)
    assert.equal((await caller.post(`/domain/${id}/verify`)).status, status)
    assert.equal((await caller.delete(`/domain/${id}`)).status, status)
  }
  assert.equal((await read(org, id)).id, id)
})
