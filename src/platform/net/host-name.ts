// Names of hosts and domains in normal form: lower case, punycode, no final dot. No DNS queries here.
import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'

const LENGTH_MAX = 253
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Characters that would end a name in a URL, or be decoded there: a text that contains one is not a name. */
const NOT_IN_NAMES = /[\s/\\?#@:%[\]]/u

/** The name or address of a `Host` header, as settings write it: without a port and without the brackets of IPv6, in lower case. */
export const nameInHeader = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')

/** A name of at least two labels in normal form; undefined for an address, a URL, a wildcard, or a text that DNS cannot hold. */
export function hostName(text: string): string | undefined {
  if (text.length > 2 * LENGTH_MAX || NOT_IN_NAMES.test(text)) return undefined
  const name = domainToASCII(text).replace(/\.$/, '')
  const labels = name.split('.')
  const sound = name.length <= LENGTH_MAX && labels.length > 1 && labels.every((label) => LABEL.test(label))
  if (!sound || /^\d+$/.test(labels.at(-1)!)) return undefined
  // Punycode that encodes nothing, or is not in normal form.
  return domainToASCII(domainToUnicode(name)) === name ? name : undefined
}

// A web page can let a name of its own resolve to this machine (DNS rebinding), and its scripts would then read this server as their own
// origin. Their requests carry that name in the `Host` header, so a demo server answers for known hosts only.

/** The body of the response to other hosts, with status 421. */
export const UNKNOWN_HOST =
  '{"detail":"A demo server answers for localhost, IP addresses, and the hosts of PUBLIC_URL and CELL_HOSTS only"}'

/** Checks a `Host` header. */
export type KnownHosts = (host: string | undefined) => boolean

/**
 * A demo server answers for IP addresses, which no name server controls, for `localhost` and the names below it, and for the hosts of
 * PUBLIC_URL and CELL_HOSTS. With DEMO_ON_NETWORK it also answers for names that public DNS does not have: those of one label, such as the
 * service names of a container network, and those below `internal`. A request without the header does not come from a browser.
 */
export function knownHosts({
  public_url,
  hosts,
  demo_on_network,
}: {
  public_url: string | undefined
  /** Host → what it accepts. */
  hosts: ReadonlyMap<string, unknown>
  demo_on_network: boolean
}): KnownHosts {
  const names = new Set([...hosts.keys(), ...(public_url === undefined ? [] : [new URL(public_url).hostname])])
  return (host) => {
    if (host === undefined || host === '') return true
    const name = nameInHeader(host)
    if (isIP(name) || name === 'localhost' || name.endsWith('.localhost') || names.has(name)) return true
    return demo_on_network && /^[\w-]+(\.[\w-]+)*$/.test(name) && (!name.includes('.') || name.endsWith('.internal'))
  }
}
