import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { txt } from '../../../test/support/dns-server.ts'
import { publishRecords, read, registerDomain, server, verify } from '../../../test/support/domains.ts'
import { asOwner, cells, createTestTeam, settings } from '../../../test/support/server.ts'

describe('verifying', () => {
  test('finds a domain whose records are there', async () => {
    const org = await createTestTeam()
    const domain = await registerDomain(org)
    assert.deepEqual(await verify(org, domain.id), { status: 'pending' })
    publishRecords(domain)
    assert.deepEqual(await verify(org, domain.id), { status: 'verified' })
    assert.deepEqual(await read(org, domain.id), { ...domain, is_verified: true })
    assert.deepEqual(await verify(org, domain.id), { status: 'verified' })
  })

  test('is pending with the token of another domain, or without the alias', async () => {
    const org = await createTestTeam()
    const [one, two] = [await registerDomain(org), await registerDomain(org)]
    publishRecords(one)
    publishRecords(two)
    const { host } = one.dns_records[0]
    server.zone.set(`TXT ${host}`, [txt(host, two.dns_records[0].value)])
    assert.deepEqual(await verify(org, one.id), { status: 'pending' })
    publishRecords(one)
    server.zone.delete(`CNAME dashboard.${one.domain}`)
    assert.deepEqual(await verify(org, one.id), { status: 'pending' })
    assert.equal((await read(org, one.id)).is_verified, false)
  })

  test('revokes verification when records are gone, and keeps it when DNS is unavailable', async () => {
    const org = await createTestTeam()
    const domain = await registerDomain(org)
    const { host } = domain.dns_records[0]
    publishRecords(domain)
    await verify(org, domain.id)
    for (const failure of ['SERVFAIL', 'REFUSED'] as const) {
      server.zone.set(`TXT ${host}`, failure)
      assert.deepEqual(await verify(org, domain.id), { status: 'verified' })
    }
    server.zone.set(`TXT ${host}`, 'NXDOMAIN')
    assert.deepEqual(await verify(org, domain.id), { status: 'pending' })
    assert.equal((await read(org, domain.id)).is_verified, false)
    server.zone.set(`TXT ${host}`, 'SERVFAIL')
    assert.deepEqual(await verify(org, domain.id), { status: 'pending' })
  })

  test('holds no transaction during DNS queries: the domain can be deleted meanwhile', async () => {
    const org = await createTestTeam()
    const domain = await registerDomain(org)
    publishRecords(domain)
    const { host, value } = domain.dns_records[0]
    const asked = Promise.withResolvers<void>()
    const allowed = Promise.withResolvers<void>()
    server.zone.set(`TXT ${host}`, async () => {
      asked.resolve()
      await allowed.promise
      return [txt(host, value)]
    })
    const verifying = org.manage.post(`/domain/${domain.id}/verify`)
    await asked.promise
    const { rows } = await asOwner(
      `select state from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )
    assert.deepEqual(rows, [])
    assert.equal((await org.manage.delete(`/domain/${domain.id}`)).status, 200)
    allowed.resolve()
    assert.equal((await verifying).status, 404)
    const operations = (await org.manage.get('/audit')).body.data.map(({ operation }: { operation: string }) => operation)
    assert.deepEqual(operations, ['delete_org_domain', 'create_org_domain'])
  })

  test('adds an audit entry', async () => {
    const org = await createTestTeam()
    const { id } = await registerDomain(org)
    await verify(org, id)
    const [line] = (await org.manage.get('/audit')).body.data
    assert.deepEqual([line.operation, line.object], ['verify_org_domain', id])
  })

  test('is limited to sixty times a minute for an organization', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const { id } = await registerDomain(org)
    for (let i = 0; i < 60; i++) assert.equal((await org.manage.post(`/domain/${id}/verify`)).status, 200)
    const { status, headers } = await org.manage.post(`/domain/${id}/verify`)
    assert.equal(status, 429)
    assert.match(headers.get('retry-after')!, /^([1-9]|[1-5]\d|60)$/)
    assert.deepEqual(await verify(other, (await registerDomain(other)).id), { status: 'pending' })
  })

  test('checks only the text if domains need not point anywhere', async () => {
    const org = await createTestTeam()
    const target = settings.domain_target
    settings.domain_target = undefined
    try {
      const domain = await registerDomain(org)
      assert.deepEqual(
        domain.dns_records.map(({ type }: { type: string }) => type),
        ['TXT'],
      )
      publishRecords(domain)
      assert.deepEqual(await verify(org, domain.id), { status: 'verified' })
    } finally {
      settings.domain_target = target
    }
  })
})

describe('instructions', () => {
  const mails = async (domain: string) =>
    (
      await cells.control.pool.query('select recipient, subject, body from mail where subject = $1 order by id', [
        `DNS records for ${domain}`,
      ])
    ).rows

  test('are written to the email outbox, with every record', async () => {
    const org = await createTestTeam()
    const { id, domain, dns_records } = await registerDomain(org)
    const { status, body } = await org.manage.post(`/domain/${id}/send_domain_instructions`, { to_email: 'testa@example.com' })
    assert.deepEqual([status, body], [200, { sent: true, sendgrid_message_id: null }])
    const [mail, ...more] = await mails(domain)
    assert.deepEqual([mail.recipient, mail.subject, more], ['testa@example.com', `DNS records for ${domain}`, []])
    for (const { type, host, value } of dns_records)
      assert(mail.body.includes(`Type:  ${type}\nName:  ${host}\nValue: ${value}\n`), mail.body)
    assert(mail.body.startsWith('Test organization'))
  })

  test('need an email address', async () => {
    const org = await createTestTeam()
    const { id, domain } = await registerDomain(org)
    for (const to_email of ['', 'nobody', 'a@b', 'testa@example.com\nbcc: other@example.com', null, 7, undefined]) {
      const { status, body } = await org.manage.post(`/domain/${id}/send_domain_instructions`, { to_email })
      assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'to_email']])
    }
    assert.deepEqual(await mails(domain), [])
  })

  test('are limited to thirty an hour for an organization', async () => {
    const org = await createTestTeam()
    const { id, domain } = await registerDomain(org)
    const path = `/domain/${id}/send_domain_instructions`
    for (let i = 0; i < 30; i++) assert.equal((await org.manage.post(path, { to_email: 'testa@example.com' })).status, 200)
    const { status, headers } = await org.manage.post(path, { to_email: 'testa@example.com' })
    assert.deepEqual([status, Number(headers.get('retry-after')) > 0], [429, true])
    assert.equal((await mails(domain)).length, 30)
  })
})
