// Queries DNS for the records that a domain needs. It knows no organization and no table; every wait has a time limit.
import { Resolver } from 'node:dns/promises'

/** The required DNS records: texts that prove ownership, and names that point to a host. */
export type DnsRecord = { type: 'TXT' | 'CNAME'; host: string; value: string }

/** `unknown`: no name server gave a definite answer. */
export type DnsCheckResult = 'verified' | 'absent' | 'unknown'

export interface DnsOptions {
  /** Addresses of name servers, with or without a port; empty: those of the machine. */
  servers: readonly string[]
  /** Time limit of one query to one server. */
  timeout_ms: number
  tries: number
  /** Time limit of all queries together. */
  deadline_ms: number
}

/** Maximum length of a CNAME chain. */
const HOPS_MAX = 8
/** DNS answers that mean: there is no such record. Any other failure says nothing about the domain. */
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Queries every record now. A text must match completely, among others or alone; a name must lead to the value over at most 8 CNAME
 * records.
 * @returns `absent` if one is definitely missing, else `unknown` if one could not be queried
 */
export async function checkRecords(options: DnsOptions, records: readonly DnsRecord[]): Promise<DnsCheckResult> {
  const resolver = new Resolver({ timeout: options.timeout_ms, tries: options.tries })
  if (options.servers.length) resolver.setServers(options.servers)
  let isTimedOut = false
  const timer = setTimeout(() => {
    isTimedOut = true
    resolver.cancel()
  }, options.deadline_ms)
  try {
    const outcomes = await Promise.all(records.map((record) => checkRecord(resolver, record, () => isTimedOut)))
    if (outcomes.includes('absent')) return 'absent'
    return outcomes.includes('unknown') ? 'unknown' : 'verified'
  } finally {
    clearTimeout(timer)
    resolver.cancel()
  }
}

async function checkRecord(
  resolver: Resolver,
  { type, host, value }: DnsRecord,
  isTimedOut: () => boolean,
): Promise<DnsCheckResult> {
  try {
    if (type === 'CNAME') return await followAliases(resolver, host, value, isTimedOut)
    const texts = await resolver.resolveTxt(host)
    return texts.some((parts) => parts.join('') === value) ? 'verified' : 'absent'
  } catch (error) {
    return NO_RECORD.has((error as { code?: string }).code ?? '') ? 'absent' : 'unknown'
  }
}

async function followAliases(
  resolver: Resolver,
  host: string,
  value: string,
  isTimedOut: () => boolean,
): Promise<DnsCheckResult> {
  const seen = new Set<string>()
  for (let name = host; !seen.has(name) && seen.size < HOPS_MAX;) {
    if (isTimedOut()) return 'unknown'
    seen.add(name)
    const next = (await resolver.resolveCname(name)).map((alias) => alias.toLowerCase().replace(/\.$/, ''))
    if (next.includes(value)) return 'verified'
    name = next[0] ?? name
  }
  return 'absent'
}
