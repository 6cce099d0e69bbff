// Health, readiness and metrics for operators. They are served on the API's port, or on a port of their own, which a process without the
// API opens too. Frequent requests cost little: responses are cached for a second.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../telemetry/metrics.ts'
import { UNKNOWN_HOST, type KnownHosts } from '../net/host-name.ts'
import { Sockets } from './sockets.ts'

const CACHE_MS = 1000
const CONNECTIONS_MAX = 200
const JSON_TYPE = 'application/json'

export interface OperatorOptions {
  metrics: Metrics
  /** The reason why the process cannot answer callers; undefined if it can. Must not throw. */
  notReady: () => Promise<string | undefined>
  /** By the name of each database, the reason why it cannot serve; undefined if it can. Must not throw. */
  checkDatabases: () => Promise<ReadonlyMap<string, string | undefined>>
  /** Set while the server stops: it is no longer ready. */
  isDraining: () => boolean
}

interface OperatorAnswer {
  status: number
  type: string
  body: Buffer
}

/** Path → its handler. */
export type OperatorAnswers = ReadonlyMap<string, () => OperatorAnswer | Promise<OperatorAnswer>>

const json = (status: number, value: unknown): OperatorAnswer => ({
  status,
  type: JSON_TYPE,
  body: Buffer.from(JSON.stringify(value)),
})

const unknownHost: OperatorAnswer = { status: 421, type: JSON_TYPE, body: Buffer.from(UNKNOWN_HOST) }

/**
 * The result of `make`, recomputed when it is older than `lifetime_ms`. Concurrent calls share one result. `make` runs at most once at a
 * time; its error is thrown to the callers that wait for it and is not cached.
 */
export function cachedFor<V>(lifetime_ms: number, make: () => Promise<V>): () => Promise<V> {
  let cachedValue: Promise<V> | undefined
  return () =>
    (cachedValue ??= make().then(
      (value) => {
        setTimeout(() => (cachedValue = undefined), lifetime_ms).unref()
        return value
      },
      (error: unknown) => {
        cachedValue = undefined
        throw error
      },
    ))
}

/**
 * `/healthz`; `/readyz`, 503 with the reason while the process cannot answer callers; `/databases`, 503 while one of them cannot serve, with
 * the state of each; `/metrics`.
 */
export function operatorAnswers(options: OperatorOptions): OperatorAnswers {
  const { metrics, notReady: readinessError, checkDatabases, isDraining: draining } = options
  const alive = json(200, { status: 'alive' })
  const stopping = json(503, { detail: 'The server is shutting down' })
  const readiness = cachedFor(CACHE_MS, async () => {
    const reason = await readinessError()
    return reason === undefined ? json(200, { status: 'ready' }) : json(503, { detail: reason })
  })
  const databases = cachedFor(CACHE_MS, async () => {
    const reasons = [...(await checkDatabases())]
    const isServing = reasons.every(([, reason]) => reason === undefined)
    return json(isServing ? 200 : 503, Object.fromEntries(reasons.map(([name, reason]) => [name, reason ?? 'ready'])))
  })
  const { registry } = metrics
  const measured = cachedFor(CACHE_MS, async () => ({
    status: 200,
    type: registry.contentType,
    body: Buffer.from(await registry.metrics()),
  }))
  return new Map<string, () => OperatorAnswer | Promise<OperatorAnswer>>([
    ['/healthz', () => alive],
    ['/readyz', async () => (draining() ? stopping : readiness().then((answer) => (draining() ? stopping : answer)))],
    ['/databases', databases],
    ['/metrics', measured],
  ])
}

/** Serves these paths in addition to the API. */
export function addOperatorPages(app: FastifyInstance, answers: OperatorAnswers): void {
  for (const [path, answer] of answers)
    app.get(path, async (_request, reply) => {
      const { status, type, body } = await answer()
      return reply.code(status).header('content-type', type).header('cache-control', 'no-store').send(body)
    })
}

export interface OperatorServer {
  /** The base URL, without a final slash. */
  url: string
  close(): Promise<void>
}

/**
 * Serves these paths, and nothing else, on a port of their own.
 * @param isKnownHost the hosts for which it answers; without it, all
 * Errors: as of `listen`.
 */
export async function openOperatorPort(
  answers: OperatorAnswers,
  where: { port: number; host: string },
  isKnownHost?: KnownHosts,
): Promise<OperatorServer> {
  const sockets = new Sockets({ connections_max: CONNECTIONS_MAX, isTrusted: () => true })
  const server = sockets.server(
    (request, response) => void serve(isKnownHost?.(request.headers.host) === false ? unknownHost : answers, request, response),
  )
  server.listen(where)
  await once(server, 'listening')
  const { address, family, port } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** @param answers or the one answer to every request */
async function serve(
  answers: OperatorAnswers | OperatorAnswer,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isRead = method === 'GET' || method === 'HEAD'
  const make = 'body' in answers ? () => answers : isRead ? answers.get(url.split('?', 1)[0]!) : undefined
  const answer = make
    ? await Promise.resolve(make()).catch(() => json(500, { detail: 'Internal Server Error' }))
    : json(404, { detail: 'Not Found' })
  const headers = { 'content-type': answer.type, 'content-length': answer.body.length, 'cache-control': 'no-store' }
  response.writeHead(answer.status, headers).end(method === 'HEAD' ? undefined : answer.body)
}
