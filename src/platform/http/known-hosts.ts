// The hosts that a demo server answers for. A web page can let a name of its own resolve to this machine (DNS rebinding), and its scripts would
// then read this server as their own origin. Their requests carry that name in the `Host` header.
import { isIP } from 'node:net'
import { nameInHeader } from '../net/host-name.ts'

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
