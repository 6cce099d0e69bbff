// What the server says of itself: liveness, readiness, metrics, the description and the page to try it from. And the pages that modules
// have for browsers, with what every such page forbids.
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Subjects } from './access-line.ts'
import type { AccessLog } from './access-log.ts'
import { accessOfPage } from './access-of.ts'
import type { Cells } from './cells.ts'
import type { Tenant } from './db.ts'
import type { Metrics } from './metrics.ts'
import type { Description } from './openapi.ts'
import { notReady } from './readiness.ts'

export interface PageOptions {
  cells: Cells
  metrics: Metrics
  description: Description
  base_path: string
  /** Set while the server drains: it is not ready any more. */
  draining: () => boolean
}

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

export function addPages(app: FastifyInstance, options: PageOptions): void {
  app.get('/healthz', (_request, reply) => reply.header('content-type', 'application/json').send('{"status":"alive"}'))

  app.get('/readyz', async (_request, reply) => {
    const reason = options.draining() ? 'The server is shutting down' : await notReady(options.cells)
    reply.header('content-type', 'application/json').code(reason ? 503 : 200)
    return reply.send(reason ? JSON.stringify({ detail: reason }) : '{"status":"ready"}')
  })

  app.get('/metrics', async (_request, reply) =>
    reply.header('content-type', options.metrics.registry.contentType).send(await options.metrics.registry.metrics()),
  )

  const description = JSON.stringify({ ...options.description, servers: [{ url: options.base_path || '/' }] })
  app.get('/openapi.json', (_request, reply) => reply.header('content-type', 'application/json').send(description))

  const page = docsPage(options.base_path)
  app.get('/docs', (_request, reply) => reply.header('content-type', 'text/html; charset=utf-8').send(page))
  for (const [name, type] of Object.entries(assets))
    app.get(`/docs/${name}`, (_request, reply) =>
      reply
        .header('content-type', type)
        .header('cache-control', 'public, max-age=86400')
        .send(readFileSync(assetFile(name))),
    )
}

const assetFile = (name: string): URL => new URL(`static/${name}`, import.meta.resolve('@fastify/swagger-ui/package.json'))

const docsPage = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drawbridge API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<style>
  body { margin: 0; font-family: system-ui, sans-serif; color: #1d2b36; }
  header { padding: 1rem 1.5rem; border-bottom: 1px solid #d8e0e6; background: #f6f9fb; }
  header strong { font-size: 1.15rem; }
  header p { margin: .25rem 0 0; color: #50616e; }
  .swagger-ui .info { margin: 1.5rem 0 .5rem; }
</style>
</head>
<body>
<header>
  <strong>Drawbridge API</strong>
  <p>Press “Authorize” and paste a team key (printed at start and kept in <code>demo.json</code>), open an operation and press “Execute”.</p>
</header>
<main id="api"></main>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script>
  SwaggerUIBundle({ url: '${base}/openapi.json', dom_id: '#api', deepLinking: true, persistAuthorization: true, docExpansion: 'list',
    defaultModelsExpandDepth: 0, displayRequestDuration: true, tryItOutEnabled: true, filter: true })
</script>
</body>
</html>
`

/** What a browser asks with. */
export interface Visit {
  query: Record<string, string | string[]>
  headers: IncomingHttpHeaders
  /** The network address that it came from. */
  address: string
}

export interface PageAnswer {
  status: number
  /** Beside the headers that every page has, or in their place. */
  headers: Record<string, string>
  /** Or the bytes of what the headers say. */
  html: string | Uint8Array
  /** Of a page of patients, where it is known of which team: who asked, and whom the answer is about. */
  seen?: { tenant: Tenant; key: string; subjects: Subjects }
}

/** A page of a module, for browsers: it takes no key, is no operation, and is read with GET alone. */
export interface BrowserPage {
  /** As the access log has it. */
  id: string
  path: `/${string}`
  /** Whether it shows data of patients: each visit then leaves a line in the access log. */
  patients: boolean
  answer: (visit: Visit) => Promise<PageAnswer>
}

/** Nothing is loaded, sent or framed, nothing is kept, and no address is told, unless a page says otherwise. */
const GUARDED = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
}

/** Where visits are written down. */
export interface Logged {
  cells: Cells
  access: AccessLog
}

/** Serve the pages of modules. A browser that asks ahead of a visit is told to come again: opening a page may use something up. */
export function addBrowserPages(app: FastifyInstance, pages: BrowserPage[], { cells, access }: Logged): void {
  for (const { id, path, answer } of pages)
    app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
      const { headers, query } = request
      reply.header('x-request-id', request.id)
      if (/prefetch|preview/.test(String(headers['sec-purpose'] ?? headers.purpose ?? '')))
        return reply.headers(GUARDED).code(503).send('')
      const page = await answer({ headers, query: query as Visit['query'], address: request.ip })
      if (page.seen) {
        const db = cells.of(page.seen.tenant.cell)
        access.assertRoom(db)
        await access.read(db, accessOfPage(id, { id: request.id, ip: request.ip }, page.status, page.seen))
      }
      return reply
        .headers({ ...GUARDED, ...page.headers })
        .code(page.status)
        .send(typeof page.html === 'string' ? page.html : Buffer.from(page.html))
    })
}
