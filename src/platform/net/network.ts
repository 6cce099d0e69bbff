// Client networks, for limits by address, and checks whether an address is in a network.
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A provider gives a subscriber a whole /64, so one host there may use any number of addresses. */
const NETWORK_BITS = 64
const GROUP_BITS = 16

/**
 * The network of an address: an IPv4 address itself, also one written as IPv6; the /64 of an IPv6 address. Other texts stay as they are.
 * @param bits of an IPv6 network, a multiple of 16. A site may have a /48: all its networks together
 */
export function maskAddress(address: string, bits: 48 | 64 = NETWORK_BITS): string {
  if (!isIPv6(address)) return address
  const parsed = ipaddr.IPv6.parse(address.replace(/%.*$/, ''))
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  const groups = parsed.parts.slice(0, bits / GROUP_BITS).map((group) => group.toString(16))
  return `${groups.join(':')}::/${bits}`
}

/** Whether an address is in one of `networks`: addresses, or networks in CIDR notation. */
export function isWithin(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family)
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
