// Pages that modules have for browsers, with security headers for each.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Subjects, Tenant } from '../db/transaction.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessOfPage } from './request-access.ts'
import type { Cells } from '../db/cells.ts'

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
