// Pages that modules have for browsers, with security headers for each.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Subjects, Tenant, Tx } from '../db/transaction.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import type { Access } from '../access-log/access-line.ts'
import type { Cells } from '../db/cells.ts'
import { systemNow } from '../runtime/clock.ts'
import { parseForm, readBytes } from './input.ts'

/** The request of a browser. */
export interface PageRequest {
  /** The texts that stand for `{name}` in the path. */
  params: Record<string, string>
  query: Record<string, string | string[]>
  /** The fields of a form that was sent; empty for other requests. */
  form: URLSearchParams
  headers: IncomingHttpHeaders
  /** Client address. */
  address: string
  /**
   * Leaves the line of the access log in the transaction that changes data of a patient; the response then leaves no other one.
   * @param status of the response, if the transaction commits
   */
  logChange: (tx: Tx, status: number, viewer: PageAccess) => void
}

/** Who opened a page of a patient, and whom it concerns. */
export interface PageAccess {
  tenant: Tenant
  key: string
  subjects: Subjects
}

export interface PageResponse {
  status: number
  /** Added to, or replacing, the headers that every page has. */
  headers: Record<string, string>
  /** Values of `Set-Cookie`, if there are several. */
  cookies?: string[]
  /** Or the bytes of the content type in the headers. */
  html: string | Uint8Array
  /** For a page of patients, if the team is known: the principal, and the users in the response. */
  viewer?: PageAccess
}

/** A page of a module, for browsers: it needs no key and is not an operation. */
export interface BrowserPage {
  /** The name in the access log. */
  id: string
  path: `/${string}`
  /** Default `GET`. What changes something on a press is sent by a form, because programs open links of mails. */
  method?: 'GET' | 'POST'
  /** Whether it shows data of patients: each view then leaves a line in the access log. */
  logsAccess: boolean
  answer: (visit: PageRequest) => Promise<PageResponse>
}

const FORM_BYTES_MAX = 4096

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
  for (const { id, path, method = 'GET', answer: sendPage } of pages)
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      exposeHeadRoute: false,
      handler: async (request, reply) => {
        const { headers, params, query } = request
        reply.header('x-request-id', request.id)
        if (/prefetch|preview/.test(String(headers['sec-purpose'] ?? headers.purpose ?? '')))
          return reply.headers(SECURITY_HEADERS).code(503).send('')
        const { id: request_id, ip } = request
        let isLogged = false
        const page = await sendPage({
          headers,
          params: params as PageRequest['params'],
          query: query as PageRequest['query'],
          form: parseForm(method === 'POST' ? await readBytes(request.raw, reply.raw, FORM_BYTES_MAX) : undefined),
          address: ip,
          logChange(tx, status, viewer) {
            access.addChange(cells.db(viewer.tenant.cell), tx, accessOfPage(id, { id: request_id, ip }, status, viewer))
            tx.afterCommit(() => (isLogged = true))
          },
        })
        if (page.viewer && !isLogged) {
          const db = cells.db(page.viewer.tenant.cell)
          access.assertRoom(db)
          await access.addRead(db, accessOfPage(id, { id: request_id, ip }, page.status, page.viewer))
        }
        return reply
          .headers({ ...SECURITY_HEADERS, ...page.headers, ...(page.cookies && { 'set-cookie': page.cookies }) })
          .code(page.status)
          .send(typeof page.html === 'string' ? page.html : Buffer.from(page.html))
      },
    })
}

/** The access of a page view without a key. */
const accessOfPage = (
  operation: string,
  { id, ip }: { id: string; ip: string },
  outcome: number,
  { tenant, key, subjects }: PageAccess,
): Access => ({
  at: systemNow(),
  request: id,
  key,
  org: tenant.org,
  team: tenant.team,
  operation,
  objects: subjects.objects,
  users: subjects.users,
  address: ip,
  outcome,
})
