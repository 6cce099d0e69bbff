// Headers that a team adds to the requests to its endpoint: which names are rejected, which values are never shown. They are
// stored encrypted.
// Source: events.md 6.6, management-auth.md 11.
import type { Tx } from '../../platform/db/transaction.ts'
import { unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { endpointReadable } from './endpoint-hooks.ts'

const HEADERS_MAX = 50
const NAME_LENGTH_MAX = 200
const VALUE_BYTES_MAX = 4096

const FORBIDDEN = new Set([
  'user-agent',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'age',
  'cache-control',
  'clear-site-data',
  'expires',
  'pragma',
  'warning',
  'content-length',
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
  'host',
  'connection',
  'expect',
])
const FORBIDDEN_PREFIXES = [
  'proxy-',
  'x-amz-',
  'x-amzn-',
  'x-google',
  'x-goog-',
  'x-gfe',
  'x-azure-',
  'x-fd-',
  'x-svix-',
  'svix-',
  'webhook-',
]
const SENSITIVE = new Set(['authorization', 'www-authenticate', 'x-auth-token', 'cookie', 'x-api-key', 'api-key', 'apikey'])
const SENSITIVE_SUFFIXES = ['-token', '-secret', '-key', '-password', '-signature', '-authorization']

const isSensitive = (name: string): boolean => SENSITIVE.has(name) || SENSITIVE_SUFFIXES.some((end) => name.endsWith(end))

function headerError(name: string, value: string): string | undefined {
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || name.length > NAME_LENGTH_MAX) return 'the name is not that of a header'
  if (FORBIDDEN.has(name) || FORBIDDEN_PREFIXES.some((prefix) => name.startsWith(prefix)))
    return 'this header is set by the server'
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX) return `the value must have at most ${VALUE_BYTES_MAX} bytes`
  if (!/^([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)) return 'the value must be visible ASCII'
  return undefined
}

/** Names in lower case and their values. 422: lists every rejected header without its value. */
export function readHeaders(headersByName: Record<string, string>): Record<string, string> {
  const faults: Fault[] = []
  const headers = new Map<string, string>()
  for (const [key, value] of Object.entries(headersByName)) {
    const name = key.toLowerCase()
    const text = headers.has(name) ? 'the header is given twice' : headerError(name, value)
    if (text) faults.push(valueFault(['body', 'headers', key.slice(0, NAME_LENGTH_MAX)], text))
    headers.set(name, value)
  }
  if (headers.size > HEADERS_MAX) faults.push(valueFault(['body', 'headers'], `at most ${HEADERS_MAX} headers`))
  if (faults.length) throw unprocessable(faults)
  return Object.fromEntries(headers)
}

const contextOf = (webhook_id: string): string => `headers of ${webhook_id}`

export const encryptedHeadersColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'webhook',
  column: 'headers',
  of: ['id'],
  context: contextOf,
}

export const encryptHeaders = (vault: Vault, webhook_id: string, headers: Record<string, string>): string =>
  vault.encrypt(JSON.stringify(headers), contextOf(webhook_id))

export const decryptHeaders = (vault: Vault, webhook_id: string, encryptedText: string): Record<string, string> =>
  JSON.parse(vault.decrypt(encryptedText, contextOf(webhook_id))) as Record<string, string>

/** Replaces all headers of an endpoint. Writes webhook, and what hooks on `endpointReadable` write. */
export async function putHeaders(tx: Tx, vault: Vault, webhook_id: string, headers: Record<string, string>): Promise<void> {
  await tx.run(sql`
    update webhook set headers = ${encryptHeaders(vault, webhook_id, headers)}, updated_at = ${tx.now}
    where id = ${webhook_id} and team_id = ${tx.team}`)
  await tx.notify(endpointReadable, webhook_id)
}

/** Headers as the API returns them: sensitive ones by name only. */
export function listHeaders(headers: Record<string, string>): { headers: Record<string, string>; sensitive: string[] } {
  const names = Object.keys(headers)
  return {
    headers: Object.fromEntries(names.filter((name) => !isSensitive(name)).map((name) => [name, headers[name]!])),
    sensitive: names.filter(isSensitive),
  }
}

/** Shorter values occur in any text by chance. */
const REDACTION_LENGTH_MIN = 8

/** A receiver's response, which may repeat the request, without the values of custom headers. */
export function redactHeaderValues(text: string, headers: Record<string, string>): string {
  let result = text
  for (const value of Object.values(headers))
    if (value.length >= REDACTION_LENGTH_MIN)
      for (const form of new Set([value, JSON.stringify(value).slice(1, -1)])) result = result.replaceAll(form, '[header value]')
  return result
}

/** Headers of every attempt; headers of a team cannot replace them. */
export const fixedHeaders = (product: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': product,
})
