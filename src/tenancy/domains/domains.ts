// Custom domains: names that belong to an organization and that it verifies with records in DNS. Source: management-auth.md 8.
import { randomBytes } from 'node:crypto'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, conflict, notFound } from '../../platform/http/errors.ts'
import type { TransactionSteps } from '../../platform/http/operation.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { sql } from '../../platform/db/sql.ts'
import type { FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { checkRecords, type DnsOptions, type DnsRecord } from './dns-check.ts'
import type { Domain } from './schema.ts'
import { getOrg, lockOrg } from '../organizations/organizations.ts'

const DOMAINS_MAX = 100
/** After this time without verification, another organization may register the name. */
const UNVERIFIED_TTL_S = 7 * 86_400
const TOKEN_BYTES = 20

/** The host name that custom domains must point at, if any. */
export interface DomainTarget {
  domain_target: () => string | undefined
}

/** The dependencies of operations on domains. */
export interface DomainDependencies extends DomainTarget {
  dns: DnsOptions
  /** Checks of domains, by organization. */
  domainChecks: FixedWindowLimiter
  /** Emails about domains, by organization. */
  domainMails: FixedWindowLimiter
}

/** The constraints of the table and the responses when statements violate them. */
export const domainConstraints = {
  org_domain__domain: () => conflict('This domain is already registered'),
}

const Row = T.Object({
  id: T.String(),
  domain: T.String(),
  verification_token: T.String(),
  is_verified: T.Boolean(),
  cname_target: Nullable(T.String()),
  created_on: T.String(),
})
type Row = Static<typeof Row>

const domainColumns = sql`id, domain, verification_token, verified_at is not null as is_verified, cname_target, created_at as created_on`

/** The host under which a domain's organization shows its dashboard. */
const dashboardHost = (domain: string): string => `dashboard.${domain}`

function dnsRecords({ domain, verification_token }: Row, target: string | undefined): DnsRecord[] {
  const records: DnsRecord[] = [
    { type: 'TXT', host: `_drawbridge.${domain}`, value: `drawbridge-verification=${verification_token}` },
  ]
  if (target !== undefined) records.push({ type: 'CNAME', host: dashboardHost(domain), value: target })
  return records
}

function toDomain(row: Row, target: string | undefined): Domain {
  const { id, domain, is_verified, created_on } = row
  return { id, domain, is_verified, created_on, dns_records: dnsRecords(row, target) }
}

/** Domains of the organization, newest first: at most 100. */
export async function listDomains(tx: PlainTx, dependencies: DomainTarget, org_id: string): Promise<{ data: Domain[] }> {
  const rows = await tx.many(
    Row,
    sql`select ${domainColumns} from org_domain where org_id = ${org_id} order by created_at desc, id desc limit ${DOMAINS_MAX}`,
  )
  return { data: rows.map((row) => toDomain(row, dependencies.domain_target())) }
}

/**
 * Registers a domain, pending verification. A name that another organization has registered and not verified for a week is taken over.
 * Writes org_domain. 400: more than 100 domains. 409: it is registered.
 */
export async function createDomain(tx: PlainTx, dependencies: DomainTarget, org_id: string, domain: string): Promise<Domain> {
  await lockOrg(tx, org_id)
  const present = sql`select count(*) as n from org_domain where org_id = ${org_id}`
  await assertBelowLimit(tx, present, DOMAINS_MAX, 'An organization', 'domains')
  await tx.run(sql`
    delete from org_domain where domain = ${domain} and org_id <> ${org_id} and verified_at is null
    and created_at < ${addSeconds(tx.now, -UNVERIFIED_TTL_S)}`)
  const row = await tx.one(
    Row,
    sql`
    insert into org_domain (id, org_id, domain, verification_token, created_at)
    values (${tx.uuid()}, ${org_id}, ${domain}, ${randomBytes(TOKEN_BYTES).toString('hex')}, ${tx.now}) returning ${domainColumns}`,
  )
  return toDomain(row, dependencies.domain_target())
}

/** Reads a domain. 404: the organization has no such domain. */
export const getDomain = async (tx: PlainTx, dependencies: DomainTarget, org_id: string, domain_id: string): Promise<Domain> =>
  toDomain(await findDomain(tx, org_id, domain_id), dependencies.domain_target())

async function findDomain(tx: PlainTx, org_id: string, domain_id: string): Promise<Row> {
  const row = await tx.maybe(Row, sql`select ${domainColumns} from org_domain where id = ${domain_id} and org_id = ${org_id}`)
  if (!row) throw notFound('Domain not found')
  return row
}

/** Deletes a domain: the name is free at once. Writes org_domain. 404: the organization has no such domain. */
export async function deleteDomain(tx: PlainTx, org_id: string, domain_id: string): Promise<void> {
  if (!(await tx.run(sql`delete from org_domain where id = ${domain_id} and org_id = ${org_id}`)))
    throw notFound('Domain not found')
}

/**
 * Checks now whether DNS has the domain's records. If no name server responds, the domain keeps its state. Writes org_domain. 404: the
 * organization does not, or no longer, have the domain. 429: more than 60 checks of an organization in a minute.
 */
export async function verifyDomain(
  steps: TransactionSteps<PlainTx>,
  dependencies: DomainDependencies,
  org_id: string,
  domain_id: string,
): Promise<{ status: 'verified' | 'pending' }> {
  const target = dependencies.domain_target()
  const domain = await steps.read((tx) => findDomain(tx, org_id, domain_id))
  const refused = dependencies.domainChecks.hit(org_id, 'Too many domain checks')
  if (refused) throw refused
  const outcome = await checkRecords(dependencies.dns, dnsRecords(domain, target))
  return steps.write(async (tx) => {
    const which = sql`id = ${domain_id} and org_id = ${org_id}`
    if (outcome === 'verified')
      await tx.run(
        sql`update org_domain set verified_at = coalesce(verified_at, ${tx.now}), cname_target = ${target ?? null} where ${which}`,
      )
    if (outcome === 'absent') await tx.run(sql`update org_domain set verified_at = null, cname_target = null where ${which}`)
    const { is_verified } = await findDomain(tx, org_id, domain_id)
    return { status: is_verified ? 'verified' : 'pending' }
  })
}

/**
 * Emails the records that a domain needs to a recipient. Sends mail. 404: the organization has no such domain. 429: more than 30 emails of
 * an organization in an hour.
 */
export async function sendInstructions(
  tx: PlainTx,
  dependencies: DomainDependencies,
  org_id: string,
  domain_id: string,
  recipient: string,
): Promise<{ sent: boolean; sendgrid_message_id: null }> {
  const row = await findDomain(tx, org_id, domain_id)
  const refused = dependencies.domainMails.hit(org_id, 'Too many domain emails')
  if (refused) throw refused
  const { name } = await getOrg(tx, org_id)
  const records = dnsRecords(row, dependencies.domain_target()).map(
    ({ type, host, value }) => `Type:  ${type}\nName:  ${host}\nValue: ${value}\n`,
  )
  sendMail(tx, {
    to: recipient,
    subject: `DNS records for ${row.domain}`,
    text: `${name} would like to use the domain ${row.domain}. Please add to its DNS:\n\n${records.join('\n')}\nLeave the records in place: they are looked at again.`,
  })
  return { sent: true, sendgrid_message_id: null }
}

const Owner = T.Object({ org_id: T.String() })

/** The organization whose dashboard a host shows: that of a verified domain which points here. */
export async function findOrgByHost(tx: PlainTx, dependencies: DomainTarget, host: string): Promise<string | undefined> {
  const domain = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
  const named = domain.slice(dashboardHost('').length)
  if (dependencies.domain_target() === undefined || dashboardHost(named) !== domain) return undefined
  const found = await tx.maybe(
    Owner,
    sql`select org_id from org_domain where domain = ${named} and verified_at is not null and cname_target = ${dependencies.domain_target()}`,
  )
  return found?.org_id
}

const Name = T.Object({ domain: T.String() })

/** The host under which an organization shows its dashboard: its oldest verified domain that points here, if there is one. */
export async function findHostOfOrg(tx: PlainTx, dependencies: DomainTarget, org_id: string): Promise<string | undefined> {
  if (dependencies.domain_target() === undefined) return undefined
  const found = await tx.maybe(
    Name,
    sql`
    select domain from org_domain
    where org_id = ${org_id} and verified_at is not null and cname_target = ${dependencies.domain_target()} order by created_at, id limit 1`,
  )
  return found && dashboardHost(found.domain)
}
