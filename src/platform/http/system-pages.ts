// What the server says of itself: the description and the page to try it from. And the pages that modules have
// for browsers, with what every such page forbids.
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Subjects } from '../db/subjects.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessOfPage } from './request-access.ts'
import type { Cells } from '../db/cells.ts'
import type { Tenant } from '../db/transaction.ts'
import type { OpenApiDocument } from './openapi.ts'

export interface PageOptions {
  description: OpenApiDocument
  base_path: string
}

interface Asset {
  type: string
  /** How long a browser may keep it, in seconds. */
  kept_s: number
  bytes: () => Buffer
}

/** A day: these files change with a release. */
const FILE_KEPT_S = 86_400

/** What the API page may load and do: its own files, and requests to this server. Swagger UI writes styles and small images into the page. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serve the description of the interface and the page to try it from. Every answer is one buffer that all requests share, so that peers
 * who do not read their answers hold no copy of their own.
 */
export function registerSystemPages(app: FastifyInstance, { description, base_path }: PageOptions): void {
  const text = (value: string) => () => Buffer.from(value)
  const file = (name: string) => () =>
    readFileSync(new URL(`static/${name}`, import.meta.resolve('@fastify/swagger-ui/package.json')))
  const whole = () => JSON.stringify({ ...description, servers: [{ url: base_path || '/' }] })
  const assets: Record<string, Asset> = {
    '/openapi.json': { type: 'application/json', kept_s: 0, bytes: () => Buffer.from(whole()) },
    '/docs': { type: 'text/html; charset=utf-8', kept_s: 0, bytes: text(docsPage(base_path)) },
    '/docs/page.js': { type: 'text/javascript; charset=utf-8', kept_s: 0, bytes: text(docsScript(base_path)) },
    '/docs/page.css': { type: 'text/css; charset=utf-8', kept_s: 0, bytes: text(DOCS_STYLE) },
    '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', kept_s: FILE_KEPT_S, bytes: file('swagger-ui.css') },
    '/docs/swagger-ui-bundle.js': {
      type: 'text/javascript; charset=utf-8',
      kept_s: FILE_KEPT_S,
      bytes: file('swagger-ui-bundle.js'),
    },
  }
  for (const [path, { type, kept_s, bytes }] of Object.entries(assets)) {
    // Made at the first request: most processes never show the page.
    let shared: Buffer | undefined
    app.get(path, (_request, reply) => {
      reply
        .header('content-type', type)
        .header('cache-control', kept_s ? `public, max-age=${kept_s}` : 'no-cache')
        .header('content-security-policy', DOCS_POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
      return reply.send((shared ??= bytes()))
    })
  }
}

const DOCS_STYLE = `body { margin: 0; font-family: system-ui, sans-serif; color: #1d2b36; }
header { padding: 1rem 1.5rem; border-bottom: 1px solid #d8e0e6; background: #f6f9fb; }
header strong { font-size: 1.15rem; }
header p { margin: .25rem 0 0; color: #50616e; }
.swagger-ui .info { margin: 1.5rem 0 .5rem; }
`

/** Keys stay in the memory of the page: nothing is left in the browser when it is closed. */
const docsScript = (base: string): string => `SwaggerUIBundle({
  url: ${JSON.stringify(`${base}/openapi.json`)}, dom_id: '#api', deepLinking: true, persistAuthorization: false, docExpansion: 'list',
  defaultModelsExpandDepth: 0, displayRequestDuration: true, tryItOutEnabled: true, filter: true, validatorUrl: null,
})
`

const docsPage = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drawbridge API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<link rel="stylesheet" href="${base}/docs/page.css">
</head>
<body>
<header>
  <strong>Drawbridge API</strong>
  <p>Press “Authorize” and paste a team key (printed at start and kept in <code>demo.json</code>), open an operation and press “Execute”. The page forgets the key when it is closed or loaded again.</p>
</header>
<main id="api"></main>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/page.js"></script>
</body>
</html>
`

/** What a browser asks with. */
export interface PageRequest {
  query: Record<string, string | string[]>
  headers: IncomingHttpHeaders
  /** The network address that it came from. */
  address: string
}

export interface PageResponse {
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
  answer: (visit: PageRequest) => Promise<PageResponse>
}

/** Nothing is loaded, sent or framed, nothing is kept, and no address is told, unless a page says otherwise. */
const SECURITY_HEADERS = {
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
export function registerBrowserPages(app: FastifyInstance, pages: BrowserPage[], { cells, access }: Logged): void {
  for (const { id, path, answer: sendPage } of pages)
    app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
      const { headers, query } = request
      reply.header('x-request-id', request.id)
      if (/prefetch|preview/.test(String(headers['sec-purpose'] ?? headers.purpose ?? '')))
        return reply.headers(SECURITY_HEADERS).code(503).send('')
      const page = await sendPage({ headers, query: query as PageRequest['query'], address: request.ip })
      if (page.seen) {
        const db = cells.of(page.seen.tenant.cell)
        access.assertRoom(db)
        await access.read(db, accessOfPage(id, { id: request.id, ip: request.ip }, page.status, page.seen))
      }
      return reply
        .headers({ ...SECURITY_HEADERS, ...page.headers })
        .code(page.status)
        .send(typeof page.html === 'string' ? page.html : Buffer.from(page.html))
    })
}
