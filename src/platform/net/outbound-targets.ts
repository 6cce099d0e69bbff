// The target policy: which addresses a delivery may reach. Production allows public addresses only; the sandbox also allows this machine,
// if the server listens on loopback; the operator may allow more. A name is resolved here and the connection uses exactly the checked
// addresses, so that a name that changes in between gains nothing. Source: events.md 6.1.
import { lookup as lookupByHosts, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Problem } from '../runtime/problem.ts'
import { valueFault } from '../schema/fault.ts'
import { isWithin } from './network.ts'

/** All addresses of a host name. Throws if there are none. */
export type Resolve = (host: string) => Promise<string[]>

/** The host is not allowed as a target; the message gives the reason without the address. */
export class ForbiddenAddressError extends Error {
  readonly code = 'REFUSED_ADDRESS'
}

/** The metadata service of the Azure cloud: a public address that responds on its machines. */
const AZURE_METADATA = '168.63.129.16'
/** The address space that IPv6 has allocated as public; the rest is reserved. */
const GLOBAL_UNICAST_6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** IPv6 addresses that stand for an IPv4 one, and the byte at which that begins: mapped, RFC 6145, RFC 6052, 6to4. */
const NAT64_NETWORKS = (
  [
    ['::ffff:0:0/96', 12],
    ['::ffff:0:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['2002::/16', 2],
  ] as const
).map(([network, start]) => ({ network: ipaddr.IPv6.parseCIDR(network), start }))

const inLoopback = isWithin(['127.0.0.0/8', '::1/128'])

/** The effective address: for a translated address the IPv4 address inside. */
function embeddedIpv4(address: string): string {
  const plain = address.split('%', 1)[0]!
  if (isIP(plain) !== 6) return plain
  const parsed = ipaddr.IPv6.parse(plain)
  const found = NAT64_NETWORKS.find(({ network }) => parsed.match(network))
  return found
    ? parsed
        .toByteArray()
        .slice(found.start, found.start + 4)
        .join('.')
    : plain
}

/** Whether an address is globally routable. */
export function isPublicAddress(address: string): boolean {
  const target = embeddedIpv4(address)
  // First, because ipaddr.js also accepts shortened and octal forms.
  if (isIP(target) === 0 || target === AZURE_METADATA) return false
  const parsed = ipaddr.parse(target)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST_6))
}

const RESOLVER_MS = 3000
const LOOKUP_FAILURES = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ECONNREFUSED', 'EBADNAME'])

/**
 * DNS comes first: the system's hosts file blocks one of few threads, so that a slow name would delay others. Names that DNS does not know
 * may be in that file.
 */
async function resolveName(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: RESOLVER_MS, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length) return found
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as { code?: string }] : []))
  const slow = failures.find(({ code }) => !LOOKUP_FAILURES.has(code ?? ''))
  if (slow) throw slow
  return (await lookupByHosts(host, { all: true })).map(({ address }) => address)
}

export interface TargetOptions {
  /** Networks, addresses, host names, `*.suffix`, in lower case. */
  allow?: string[]
  /** Whether the sandbox allows loopback: only if the server listens there. */
  loopback?: boolean
  resolve?: Resolve
}

/** The rules of one process. */
export class TargetPolicy {
  readonly #isAllowed: (address: string) => boolean
  readonly #hosts: Set<string>
  readonly #suffixes: string[]
  readonly #loopback: boolean
  readonly #resolve: Resolve

  constructor({ allow = [], loopback: reachesLoopback = false, resolve = resolveName }: TargetOptions = {}) {
    const isNetwork = (entry: string) => isIP(entry.split('/', 1)[0]!) > 0
    this.#isAllowed = isWithin(allow.filter(isNetwork))
    const names = allow.filter((entry) => !isNetwork(entry))
    this.#hosts = new Set(names.filter((name) => !name.startsWith('*.')))
    this.#suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1))
    this.#loopback = reachesLoopback
    this.#resolve = resolve
  }

  /** Whether a cell may send to an address. */
  isAllowed(address: string, sandbox: boolean): boolean {
    const target = embeddedIpv4(address)
    return isPublicAddress(address) || this.#isAllowed(target) || (sandbox && this.#loopback && inLoopback(target))
  }

  #allowedByName(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, '')
    return this.#hosts.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix))
  }

  /** The addresses of a URL's host, all of them allowed. Throws ForbiddenAddressError if one is not. */
  async addresses(host: string, sandbox: boolean): Promise<string[]> {
    const literal = host.replace(/^\[|\]$/g, '')
    const found = isIP(literal) ? [literal] : await this.#resolve(literal)
    if (this.#allowedByName(host)) return found
    // One forbidden address rejects the name: we do not control which one a connection uses.
    if (found.length === 0 || found.some((address) => !this.isAllowed(address, sandbox)))
      throw new ForbiddenAddressError('The address is not public (WEBHOOK_ALLOW)')
    return found
  }

  /** Whether a connection that was made for a host may stay. */
  isConnectionAllowed(host: string, address: string, sandbox: boolean): boolean {
    return this.#allowedByName(host) || this.isAllowed(address, sandbox)
  }

  /** The lookup function for Node's connections. A connection uses only the addresses that it returns. */
  lookup(sandbox: boolean): LookupFunction {
    return (host, options, callback) => {
      const answer = async () => {
        const found = await this.addresses(host, sandbox).catch((error: Error) => error)
        if (found instanceof Error) return callback(found, '')
        const family = Number(String(options.family ?? 0).replace('IPv', ''))
        const fit = found
          .map((address) => ({ address, family: isIP(address) }))
          .filter((address) => !family || address.family === family)
        if (options.all) return callback(null, fit)
        callback(null, fit[0]?.address ?? '', fit[0]?.family ?? 4)
      }
      void answer()
    }
  }

  /**
   * Checks the URL of an endpoint: TLS in production, no credentials, and if the host is an address, an allowed one. Names are checked at
   * each use. 422.
   */
  check(url: string, sandbox: boolean): void {
    const forbiddenAddress = (text: string) => new Problem(422, { detail: [valueFault(['body', 'url'], text)] })
    if (!URL.canParse(url)) throw forbiddenAddress('must be an http or https URL')
    const { protocol, username, password, hostname } = new URL(url)
    if (protocol !== 'http:' && protocol !== 'https:') throw forbiddenAddress('must be an http or https URL')
    if (protocol === 'http:' && !sandbox) throw forbiddenAddress('must be an https address')
    if (username || password) throw forbiddenAddress('must not hold credentials; use headers')
    if (!this.isNameAllowed(hostname, sandbox)) throw forbiddenAddress('must be a public address')
  }

  /** Whether a host may be a target: not a forbidden address, and not this machine by name. */
  isNameAllowed(host: string, sandbox: boolean): boolean {
    const literal = host.replace(/^\[|\]$/g, '').toLowerCase()
    if (isIP(literal)) return this.isAllowed(literal, sandbox)
    return (sandbox && this.#loopback) || !/^(.*\.)?localhost\.?$/.test(literal) || this.#allowedByName(literal)
  }
}
