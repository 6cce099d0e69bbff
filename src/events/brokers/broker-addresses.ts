// Addresses of brokers: parsing, redaction and validation. Pure; uses no network.
import { RuleError } from '../../platform/schema/request-validation.ts'

/** The text that replaces a secret. */
const REDACTED = '***'

export interface RabbitAddress {
  tls: boolean
  host: string
  port: number
  username: string
  password: string
  /** As in the address, percent-encoded. */
  vhost: string
}

const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()
const percentDecode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `amqps://user:password@host:port/vhost`. Without a virtual host it is `/`. */
export function rabbitAddress(uri: string): RabbitAddress | RuleError {
  if (!/^amqps?:\/\//i.test(uri) || !URL.canParse(uri)) return new RuleError('must be an amqps or amqp URI')
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(uri)
  if (!hostname) return new RuleError('must contain a host')
  if (search || hash) return new RuleError('must end with the virtual host; query parameters are not supported')
  const tls = protocol === 'amqps:'
  return {
    tls,
    host: stripBrackets(hostname),
    port: Number(port) || (tls ? 5671 : 5672),
    username: percentDecode(username),
    password: percentDecode(password),
    vhost: pathname.slice(1) || '/',
  }
}

/** The address without its password. */
export function redactUri(uri: string): string {
  if (!URL.canParse(uri)) return REDACTED
  const url = new URL(uri)
  if (url.password) url.password = REDACTED
  return url.href
}

/** Parts by name in lower case; a value may contain further equals signs. */
function parseConnectionString(text: string): Map<string, string> | undefined {
  const parts = text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean)
  if (parts.some((part) => !/^\w+=/.test(part))) return undefined
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('=')).toLowerCase(), part.slice(part.indexOf('=') + 1)]))
}

/** Parts that are not secret; every other part is a secret. */
const VISIBLE_FIELDS = new Set([
  'endpoint',
  'sharedaccesskeyname',
  'entitypath',
  'usedevelopmentemulator',
  'defaultendpointsprotocol',
  'accountname',
  'endpointsuffix',
  'blobendpoint',
])

/** The connection string without its secrets. */
export const redactConnectionString = (text: string): string =>
  text
    .split(';')
    .map((part) => {
      const equals = part.indexOf('=')
      const name = part.slice(0, equals).trim().toLowerCase()
      if (!part.trim() || (equals > 0 && VISIBLE_FIELDS.has(name))) return part
      return equals > 0 ? `${part.slice(0, equals)}=${REDACTED}` : REDACTED
    })
    .join(';')

/** Whether a text contains a redacted secret. */
export const isRedacted = (text: string): boolean => /(:|=)\*\*\*(@|;|$)/.test(text)

export interface HubsAddress {
  tls: boolean
  host: string
  port: number
  policy: string
  key: string
}

/** A connection string of an Event Hubs namespace, with the name and key of a policy. Source: events.md 8.2. */
export function hubsAddress(text: string): HubsAddress | RuleError {
  const parts = parseConnectionString(text)
  const endpoint = parts?.get('endpoint') ?? ''
  const policy = parts?.get('sharedaccesskeyname')
  const key = parts?.get('sharedaccesskey')
  if (!/^(sb|amqps?):\/\//i.test(endpoint) || !URL.canParse(endpoint) || !policy || !key)
    return new RuleError('must contain Endpoint=sb://…, SharedAccessKeyName and SharedAccessKey')
  const { hostname, port, username, password, search } = new URL(endpoint)
  if (!hostname || username || password || search)
    return new RuleError('must contain a host without credentials or query in Endpoint')
  const tls = parts?.get('usedevelopmentemulator')?.toLowerCase() !== 'true'
  return { tls, host: stripBrackets(hostname), port: Number(port) || (tls ? 5671 : 5672), policy, key }
}

export interface BlobAddress {
  /** The URL of the service, without a final slash. */
  url: string
  host: string
  tls: boolean
  /** An account with its key, or a signature for the query. */
  account: { name: string; key: string } | undefined
  signature: string | undefined
}

/** A connection string of a storage account, with its key or a shared access signature. */
export function blobAddress(text: string): BlobAddress | RuleError {
  const parts = parseConnectionString(text)
  const name = parts?.get('accountname')
  const key = parts?.get('accountkey')
  const signature = parts?.get('sharedaccesssignature')?.replace(/^\?/, '')
  const account = name && key ? { name, key } : undefined
  if (!account && !signature) return new RuleError('must contain AccountName and AccountKey, or SharedAccessSignature')
  const protocol = parts?.get('defaultendpointsprotocol') ?? 'https'
  const suffix = parts?.get('endpointsuffix') ?? 'core.windows.net'
  const endpoint = parts?.get('blobendpoint') ?? (name ? `${protocol}://${name}.blob.${suffix}` : '')
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return new RuleError('must resolve to an http or https URL')
  const url = new URL(endpoint)
  if (url.username || url.password || url.search || url.hash)
    return new RuleError('must contain a URL without credentials, query or fragment in BlobEndpoint')
  return {
    url: url.href.replace(/\/+$/, ''),
    host: stripBrackets(url.hostname),
    tls: url.protocol === 'https:',
    account,
    signature,
  }
}
