// Signatures of requests to an S3-compatible object store: AWS Signature Version 4, in a header, over the bytes of the body.
// Source: "Signature Calculations for the Authorization Header", Amazon S3 API Reference.
import { createHash, createHmac } from 'node:crypto'

export interface S3Credentials {
  access_key_id: string
  secret_access_key: string
  region: string
}

export interface UnsignedRequest {
  method: string
  /** Host and port as the header `host` has them. */
  host: string
  /** The path, already encoded by `encodePath`. */
  path: string
  headers?: Record<string, string>
  body: Uint8Array
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const hashOf = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: Uint8Array | string, data: string): Buffer => createHmac('sha256', key).update(data).digest()

/** Everything but letters, digits and `-._~` is encoded. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/gu, (sign) => `%${sign.codePointAt(0)!.toString(16).toUpperCase()}`)

/** The path of a key: each of its parts encoded. */
export const encodePath = (path: string): string => path.split('/').map(encode).join('/')

/** The headers of the request with its signature, the header `host` left out. @param signed_at the instant of the signature: a server accepts it for 15 minutes */
export function signRequest(request: UnsignedRequest, credentials: S3Credentials, signed_at: Date): Record<string, string> {
  const instant = signed_at.toISOString().replaceAll(/[-:]|\.\d{3}/gu, '')
  const scope = `${instant.slice(0, 8)}/${credentials.region}/s3/aws4_request`
  const sent = { ...request.headers, 'x-amz-content-sha256': hashOf(request.body), 'x-amz-date': instant }
  const signed = Object.entries({ ...sent, host: request.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/gu, ' ')] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    request.path,
    // No request has a query.
    '',
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sent['x-amz-content-sha256'],
  ].join('\n')
  const toSign = [ALGORITHM, instant, scope, hashOf(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce<Uint8Array | string>((last, part) => hmac(last, part), `AWS4${credentials.secret_access_key}`)
  const signature = hmac(key, toSign).toString('hex')
  const authorization = `${ALGORITHM} Credential=${credentials.access_key_id}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...sent, authorization }
}
