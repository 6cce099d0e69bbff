// Networks: of callers, by which limits by address count, and those that addresses are looked for in.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

const GROUPS = 8
/** A provider gives a subscriber a whole /64, so one host there may take as many addresses as it likes. */
const NETWORK_GROUPS = 4

/** The network of an address: an IPv4 address itself, also one written as IPv6; of an IPv6 address its /64. Other texts stay as they are. */
export function networkOf(address: string): string {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (v4 !== undefined) return v4
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill('0')
  const groups = tail === undefined ? before : [...before, ...zeros, ...after]
  return `${groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
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
