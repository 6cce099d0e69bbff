// The landing page, the API page with the OpenAPI document, and the guides.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findGuides, guidePage, guideText } from './guides.ts'
import type { OpenApiDocument } from './openapi.ts'
import { API_STYLE, apiPage, apiScript, landingPage, PAGE_STYLE } from './system-page-html.ts'

export interface PageOptions {
  /** Called at the first request for the document. */
  description: () => OpenApiDocument
  version: string
  base_path: string
  /** Whether this is a demo server, whose keys are in `demo.json`. */
  isDemo: boolean
  /** Whether health and readiness are served on a port of their own. */
  hasOperatorPort: boolean
}

/** A day: these files change with a release. */
const FILE_MAX_AGE_S = 86_400

/** The pages load what this server has, and nothing else. The API reference writes styles and small images into its page. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': PAGE_POLICY,
  // A script or style that another site loads would tell it what this server is.
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

interface Asset {
  type: string
  /** How long a browser may cache it, in seconds. */
  max_age_s: number
  read: () => Promise<Buffer>
}

const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'

/**
 * Serves the landing page, the API page, the OpenAPI document and the guides, without a key. Each response is one buffer, compressed once,
 * that all requests share, so that slow peers hold no copies.
 */
export function registerSystemPages(app: FastifyInstance, options: PageOptions): void {
  const { description, version, base_path, isDemo, hasOperatorPort } = options
  const text = (value: string) => () => Promise.resolve(Buffer.from(value))
  const document = () => JSON.stringify({ ...description(), servers: [{ url: base_path || '/' }] })
  const guides = findGuides()
  const landing = landingPage({
    base: base_path,
    version,
    // The page of wearables leads to those of their families.
    guides: guides.map(({ name }) => name).filter((name) => !name.includes('/')),
    isDemo,
    hasOperatorPort,
  })
  const assets: Record<string, Asset> = {
    '/': { type: HTML, max_age_s: 0, read: text(landing) },
    '/pages.css': { type: CSS, max_age_s: 0, read: text(PAGE_STYLE) },
    '/openapi.json': { type: 'application/json', max_age_s: 0, read: () => text(document())() },
    '/docs': { type: HTML, max_age_s: 0, read: text(apiPage(base_path)) },
    '/docs/page.js': { type: JAVASCRIPT, max_age_s: 0, read: text(apiScript(base_path)) },
    '/docs/page.css': { type: CSS, max_age_s: 0, read: text(API_STYLE) },
    '/docs/api-reference.js': { type: JAVASCRIPT, max_age_s: FILE_MAX_AGE_S, read: readReference },
  }
  for (const guide of guides) {
    const read = async () => Buffer.from(await guidePage(guide, guides, base_path))
    assets[`/guides/${guide.name}`] = { type: HTML, max_age_s: 0, read }
    assets[`/guides/${guide.name}.md`] = { type: TEXT, max_age_s: 0, read: () => text(guideText(guide))() }
  }
  for (const [path, asset] of Object.entries(assets)) app.get(path, serve(asset))
}

type Encoding = 'br' | 'gzip' | 'identity'

const compress: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
  identity: (bytes) => Promise.resolve(bytes),
}

function serve({ type, max_age_s, read }: Asset) {
  // Built at the first request: most processes never serve the pages.
  const shared = new Map<Encoding, Promise<Buffer>>()
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const encoding = encodingOf(headers['accept-encoding'])
    let bytes = shared.get(encoding)
    if (!bytes) {
      bytes = read().then(compress[encoding])
      shared.set(encoding, bytes)
      bytes.catch(() => shared.delete(encoding))
    }
    reply
      .headers(HEADERS)
      .header('content-type', type)
      .header('cache-control', max_age_s ? `public, max-age=${max_age_s}` : 'no-cache')
      .header('vary', 'accept-encoding')
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.send(await bytes)
  }
}

function encodingOf(accepted: string | string[] | undefined): Encoding {
  const accepts = (name: string) =>
    new RegExp(`(^|,)\\s*${name}\\s*(;(?!\\s*q=0(\\.0*)?\\s*(,|$))[^,]*)?(,|$)`, 'i').test(String(accepted ?? ''))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

/** The file of the API reference. Its package gives it out by a plugin only; its application of its own takes no connections. */
async function readReference(): Promise<Buffer> {
  const [{ fastify }, { default: reference }] = await Promise.all([import('fastify'), import('@scalar/fastify-api-reference')])
  const app = fastify()
  await app.register(reference, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await app.inject('/reference/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error(`@scalar/fastify-api-reference answers ${statusCode} for its file`)
  return rawPayload
}
