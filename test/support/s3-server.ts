// An S3-compatible object store as a peer: buckets in memory, and every request's signature verified from what arrived on the wire. It
// shares no code with the program. Sources: "Authenticating Requests: Using the Authorization Header" and the pages of GetObject, PutObject
// and DeleteObject, Amazon S3 API Reference.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface S3Peer {
  url: string
  bucket: string
  access_key_id: string
  secret_access_key: string
  region: string
  /** Objects by their key. */
  objects: Map<string, Buffer>
  /** Every request that arrived, such as `PUT /bucket/key 200`. */
  requests: string[]
  /** Answers to the next requests, in place of what they ask for. `serve`: what they ask for; `close`: the connection is closed. */
  next: (number | 'serve' | 'close')[]
  stop(): Promise<void>
}

const SKEW_MS_MAX = 15 * 60_000

class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** Starts a store with one bucket. It stops after the tests of the file. */
export async function s3Server({ virtual_hosts = false, region = 'eu-central-1' } = {}): Promise<S3Peer> {
  const objects = new Map<string, Buffer>()
  const requests: string[] = []
  const next: S3Peer['next'] = []
  const keys = { access_key_id: 'FICTIONALACCESSKEY', secret_access_key: 'fictional/secret+of/the=peer' }
  const bucket = 'fictional-reports'
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const planned = next.shift()
      const done = (status: number, bytes: Buffer | string = '', type = 'application/xml') => {
        requests.push(`${request.method} ${request.url} ${status}`)
        response.writeHead(status, { 'content-type': type, 'content-length': String(Buffer.byteLength(bytes)) })
        response.end(bytes)
      }
      if (planned === 'close') return void request.socket.destroy()
      if (typeof planned === 'number') return done(planned, xmlOf('SlowDown'))
      try {
        verify(request, body, { ...keys, region })
        const key = objectKey(request, virtual_hosts ? undefined : bucket)
        if (virtual_hosts && !request.headers.host?.startsWith(`${bucket}.`)) throw new Refusal(404, 'NoSuchBucket')
        if (request.method === 'PUT') {
          objects.set(key, body)
          return done(200)
        }
        if (request.method === 'DELETE') {
          objects.delete(key)
          return done(204)
        }
        if (request.method !== 'GET') throw new Refusal(405, 'MethodNotAllowed')
        const found = objects.get(key)
        if (!found) throw new Refusal(404, 'NoSuchKey')
        done(200, found, 'application/octet-stream')
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        done(error.status, xmlOf(error.code))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  after(stop)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bucket, ...keys, region, objects, requests, next, stop }
}

const xmlOf = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Fictional</Message></Error>`

function objectKey({ url = '/' }: IncomingMessage, bucket: string | undefined): string {
  const path = decodeURIComponent(url.split('?', 1)[0]!)
  if (bucket === undefined) return path.slice(1)
  if (!path.startsWith(`/${bucket}/`)) throw new Refusal(404, 'NoSuchBucket')
  return path.slice(bucket.length + 2)
}

const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')
const sign = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Refuses a request whose signature is not that of the bytes that arrived. */
function verify(
  request: IncomingMessage,
  body: Buffer,
  { access_key_id, secret_access_key, region }: { access_key_id: string; secret_access_key: string; region: string },
): void {
  const { authorization = '' } = request.headers
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    )
  if (!match) throw new Refusal(403, 'AccessDenied')
  const [, id, day, signedRegion, names, signature] = match as unknown as [string, string, string, string, string, string]
  if (id !== access_key_id) throw new Refusal(403, 'InvalidAccessKeyId')
  if (signedRegion !== region) throw new Refusal(400, 'AuthorizationHeaderMalformed')
  const instant = String(request.headers['x-amz-date'] ?? '')
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(instant) ?? []
  const at = Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s))
  if (!instant.startsWith(day) || !(Math.abs(Date.now() - at) < SKEW_MS_MAX)) throw new Refusal(403, 'RequestTimeTooSkewed')
  const signed = names.split(';')
  if (signed.toSorted().join(';') !== names || !signed.includes('host')) throw new Refusal(403, 'AccessDenied')
  // Every header of the store that was sent has to be signed.
  for (const name of Object.keys(request.headers))
    if (name.startsWith('x-amz-') && !signed.includes(name)) throw new Refusal(403, 'AccessDenied')
  const hash = String(request.headers['x-amz-content-sha256'] ?? '')
  if (hash !== sha256(body)) throw new Refusal(400, 'XAmzContentSHA256Mismatch')
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  if (query) throw new Refusal(400, 'NotImplemented')
  // A path that is not encoded as the store encodes it has another signature.
  const encoded = path
    .split('/')
    .map((part) =>
      [...Buffer.from(decodeURIComponent(part))]
        .map((byte) =>
          /[\w.~-]/.test(String.fromCodePoint(byte)) && byte < 128
            ? String.fromCodePoint(byte)
            : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
        )
        .join(''),
    )
  const lines = [request.method, encoded.join('/'), query]
  for (const name of signed) lines.push(`${name}:${String(request.headers[name] ?? '').trim()}`)
  lines.push('', names, hash)
  const text = ['AWS4-HMAC-SHA256', instant, `${day}/${region}/s3/aws4_request`, sha256(lines.join('\n'))].join('\n')
  const ofDay = sign(`AWS4${secret_access_key}`, day)
  const ofRegion = sign(ofDay, region)
  const ofService = sign(ofRegion, 's3')
  const expected = sign(sign(ofService, 'aws4_request'), text)
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) throw new Refusal(403, 'SignatureDoesNotMatch')
}
