// Names of hosts and domains in normal form: lower case, punycode, no final dot. No DNS queries here.
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
