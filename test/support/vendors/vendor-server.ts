// The cloud of a vendor for tests: an HTTP server with the faults of real ones. What each vendor answers is in the files beside this one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import {
  VendorError,
  type Connector,
  type InboundNotification,
  type Pulled,
  type PullRequest,
  type VendorApp,
  type VendorHttp,
  type VendorUrls,
} from '../../../src/connections/connectors/connector.ts'

export interface VendorRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
  /** The body as a form. */
  form: URLSearchParams
}

export interface VendorAnswer {
  status: number
  headers?: Record<string, string>
  /** Sent as JSON; a text as it is. */
  body?: unknown
  /** The operation of the vendor's description whose answer it is; undefined for what the description leaves out. */
  operation?: string
}

/** `none`: the request is answered. `lost`: the request is done, and the connection closes before the answer. Otherwise the request is not done. */
export type Fault = 'none' | 'lost' | 'outage' | 'garbage'

/** Where users come back to after they agreed. */
export const REDIRECT = 'https://drawbridge.example/link'
export const CLIENT = { client_id: 'fictional-client', client_secret: 'fictional-client-secret' }

export abstract class VendorServer {
  readonly requests: VendorRequest[] = []
  /** The answers with status 200 and JSON, by operation of the description. */
  readonly answers: { operation: string; body: unknown }[] = []
  readonly #faults: Fault[] = []
  #server: Server | undefined
  url = ''
  /** It reads requests and never answers. */
  stuck = false
  /** Requests are done and answered after this. */
  gate: Promise<void> | undefined
  /** The vendor's clock. */
  now_ms = Date.parse('2026-01-31T12:00:00Z')

  /** The connector's own addresses: this server has their paths. */
  protected abstract readonly vendor: VendorUrls
  protected abstract answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer>

  /** What happens to the next requests, in order. */
  fail(...faults: Fault[]): void {
    this.#faults.push(...faults)
  }

  /** Nothing more happens to requests. */
  recover(): void {
    this.#faults.length = 0
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8')
        const { pathname: path, searchParams: query } = new URL(request.url!, 'http://vendor')
        const { method = '', headers } = request
        void this.#respond({ method, path, query, headers, body, form: new URLSearchParams(body) }, response)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    after(() => this.stop())
    return this
  }

  stop(): void {
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  async #respond(request: VendorRequest, response: ServerResponse): Promise<void> {
    this.requests.push(request)
    if (this.stuck) return
    await this.gate
    const fault = this.#faults.shift()
    if (fault === 'outage') return void response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Down</h1>')
    if (fault === 'garbage') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":')
    const { status, headers = {}, body = '', operation } = await this.answer(request)
    if (fault === 'lost') return void response.socket?.destroy()
    if (operation && status === 200) this.answers.push({ operation, body: structuredClone(body) })
    if (status === 204) return void response.writeHead(204).end()
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json', ...headers })
    response.end(text)
  }

  /** A team's application at this vendor. */
  app(details: VendorApp['details'] = null): VendorApp {
    const here = (address: string) => this.url + address.slice(new URL(address).origin.length)
    const { authorize, token, api } = this.vendor
    return { ...CLIENT, details, urls: { authorize: here(authorize), token: here(token), api: here(api) } }
  }

  /** The requests to a path, oldest first. */
  requestsTo(path: string): VendorRequest[] {
    return this.requests.filter((request) => request.path === path)
  }
}

/** Requests without the rules of the framework: no limits, no retries. */
export const plainHttp: VendorHttp = async ({ method, url, headers, body }) => {
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
      ...(headers && { headers }),
      ...(body !== undefined && { body: typeof body === 'string' ? body : new URLSearchParams(body) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch {
    throw new VendorError('unavailable')
  }
}

/** What the server takes from a notice that the vendor posts, at the time of the vendor's clock. */
export const readForm = (
  { now_ms }: Pick<VendorServer, 'now_ms'>,
  { body, headers }: { body: string; headers: Record<string, string> },
): InboundNotification => ({
  method: 'POST',
  headers,
  query: {},
  body: Buffer.from(body),
  verify_token: 'the-token',
  now_ms,
  received_ms: now_ms,
})

/** The request of a connector for the tokens of a code. */
export const codeRequest = ({ now_ms }: Pick<VendorServer, 'now_ms'>, code: string, code_verifier = '') => ({
  code,
  redirect_uri: REDIRECT,
  code_verifier,
  now_ms,
})

/** Opens the consent page of a vendor, which agrees at once. @returns the query of the return */
export async function openConsentPage(page: string | URL): Promise<URLSearchParams> {
  return new URL((await fetch(page, { redirect: 'manual' })).headers.get('location')!).searchParams
}

/** Exchanges a code for the grant of an account. @returns also a function that pulls a resource with the grant */
export async function linkWithCode<Peer extends VendorServer>(
  connector: Connector,
  peer: Peer,
  code: string,
  range: Omit<PullRequest, 'resource'>,
) {
  const app = peer.app()
  const grant = await connector.exchange(plainHttp, app, codeRequest(peer, code, 'a-verifier'))
  const pull = (resource: PullRequest['resource'], overrides: Partial<PullRequest> = {}, access_token = grant.access_token) =>
    collectAll(connector.pull(plainHttp, app, access_token, { ...range, resource, ...overrides }))
  return { peer, app, code, grant, pull }
}

/** Asserts that a call fails for a reason. */
export const assertFailure = (call: Promise<unknown>, failure: VendorError['failure'], retry_after_ms?: number | null) =>
  assert.rejects(call, (error: unknown) => {
    assert(error instanceof VendorError, String(error))
    assert.equal(error.failure, failure)
    if (retry_after_ms !== undefined) assert.equal(error.retry_after_ms, retry_after_ms)
    return true
  })

/** All that a pull yields. */
export async function collectAll<V>(items: AsyncIterable<V>): Promise<V[]> {
  const found: V[] = []
  for await (const one of items) found.push(one)
  return found
}

/** The samples of one timeseries in what a pull yields. */
export const listSamples = (parts: Pulled[], resource: string) =>
  parts.flatMap((part) => ('resource' in part && part.resource === resource ? part.samples : []))

/** The records of one kind in what a pull yields, with documents whose fields a test may read. */
export const listRecords = (parts: Pulled[], kind: string) =>
  parts
    .flatMap((part) => ('kind' in part && part.kind === kind && 'records' in part ? part.records : []))
    .map((record) => ({ ...record, document: record.document as Record<string, unknown> }))
