// The OpenAPI document and the API page. Also serves the pages that modules have for browsers, with security headers for each.
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Subjects, Tenant } from '../db/transaction.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessOfPage } from './request-access.ts'
import type { Cells } from '../db/cells.ts'
import type { OpenApiDocument } from './openapi.ts'

export interface PageOptions {
  /** Called at the first request for the document. */
  description: () => OpenApiDocument
  base_path: string
}

interface Asset {
  type: string
  /** How long a browser may cache it, in seconds. */
  max_age_s: number
  bytes: () => Buffer
}

/** A day: these files change with a release. */
const FILE_MAX_AGE_S = 86_400

/**
 * Content security policy of the API page: its own files, and requests to this server. Swagger UI writes styles and small images into the
 * page.
 */
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

/** Serves the OpenAPI document and the API page. Each response is one buffer that all requests share, so that slow peers hold no copies. */
export function registerSystemPages(app: FastifyInstance, { description, base_path }: PageOptions): void {
  const text = (value: string) => () => Buffer.from(value)
  const file = (name: string) => () =>
    readFileSync(new URL(`static/${name}`, import.meta.resolve('@fastify/swagger-ui/package.json')))
  const whole = () => JSON.stringify({ ...description(), servers: [{ url: base_path || '/' }] })
  const assets: Record<string, Asset> = {
    '/openapi.json': { type: 'application/json', max_age_s: 0, bytes: () => Buffer.from(whole()) },
    '/docs': { type: 'text/html; charset=utf-8', max_age_s: 0, bytes: text(docsPage(base_path)) },
    '/docs/page.js': { type: 'text/javascript; charset=utf-8', max_age_s: 0, bytes: text(docsScript(base_path)) },
    '/docs/page.css': { type: 'text/css; charset=utf-8', max_age_s: 0, bytes: text(DOCS_STYLE) },
    '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', max_age_s: FILE_MAX_AGE_S, bytes: file('swagger-ui.css') },
    '/docs/swagger-ui-bundle.js': {
      type: 'text/javascript; charset=utf-8',
      max_age_s: FILE_MAX_AGE_S,
      bytes: file('swagger-ui-bundle.js'),
    },
  }
  for (const [path, { type, max_age_s, bytes }] of Object.entries(assets)) {
    // Built at the first request: most processes never serve the page.
    let shared: Buffer | undefined
    app.get(path, (_request, reply) => {
      reply
        .header('content-type', type)
        .header('cache-control', max_age_s ? `public, max-age=${max_age_s}` : 'no-cache')
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

/** Keys stay in the memory of the page: the browser stores nothing after it is closed. */
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

/** The request of a browser. */
export interface PageRequest {
  /** The texts in the place of `{name}` in the path. */
  params: Record<string, string>
  query: Record<string, string | string[]>
  headers: IncomingHttpHeaders
  /** Client address. */
  address: string
}

export interface PageResponse {
  status: number
  /** Added to, or replacing, the headers that every page has. */
  headers: Record<string, string>
  /** Or the bytes of the content type in the headers. */
  html: string | Uint8Array
  /** For a page of patients, if the team is known: the principal, and the users in the response. */
  seen?: { tenant: Tenant; key: string; subjects: Subjects }
}

/** A page of a module, for browsers: it needs no key, is no operation, and supports GET only. */
export interface BrowserPage {
  /** The name in the access log. */
  id: string
  path: `/${string}`
  /** Whether it shows data of patients: each view then leaves a line in the access log. */
  patients: boolean
  answer: (visit: PageRequest) => Promise<PageResponse>
}

/** By default a page may load, send, frame and store nothing, and sends no referrer. */
const SECURITY_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
}

/** The access logs in which page views are recorded. */
export interface Logged {
  cells: Cells
  access: AccessLog
}

/** Serves the pages of modules. A browser that prefetches a page must request it again: opening a page may consume a token. */
export function registerBrowserPages(app: FastifyInstance, pages: BrowserPage[], { cells, access }: Logged): void {
  for (const { id, path, answer: sendPage } of pages)
    app.get(path.replace(/\{(\w+)\}/g, ':$1'), { exposeHeadRoute: false }, async (request, reply) => {
      const { headers, params, query } = request
      reply.header('x-request-id', request.id)
      if (/prefetch|preview/.test(String(headers['sec-purpose'] ?? headers.purpose ?? '')))
        return reply.headers(SECURITY_HEADERS).code(503).send('')
      const page = await sendPage({
        headers,
        params: params as PageRequest['params'],
        query: query as PageRequest['query'],
        address: request.ip,
      })
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
