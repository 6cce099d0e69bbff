// What tests of domains stand on: an organization's domains, and a name server that tells of them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { cname, nameServer, txt } from './dns-server.ts'
import { settings, type TestTeam } from './server.ts'

/** Who is asked about domains in these tests. */
export const server = await nameServer()
settings.dns_servers[0] = server.address

/** A name that nobody has. */
export const newDomainName = (): string => `clinic-${randomUUID()}.example.com`
export const registerDomain = async (org: TestTeam, domain = newDomainName()) => {
  const { status, body } = await org.manage.post('/domain', { domain })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}
export const read = async (org: TestTeam, id: string) => (await org.manage.get(`/domain/${id}`)).body
export const verify = async (org: TestTeam, id: string) => (await org.manage.post(`/domain/${id}/verify`)).body
interface Shown {
  dns_records: { type: string; host: string; value: string }[]
}
/** Put the records of a domain into DNS, as its owner would. */
export const publishRecords = ({ dns_records }: Shown) => {
  for (const { type, host, value } of dns_records)
    server.zone.set(`${type} ${host}`, [type === 'TXT' ? txt(host, value) : cname(host, value)])
}
