// The landing page, the API page with the OpenAPI document, and the guides.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { yieldIfLong } from '../runtime/loop-work.ts'
import { hasConsole } from './console-pages.ts'
import { encodingOf, type Encoding } from './content-encoding.ts'
import { findGuides, guidePage, guideText } from './guides.ts'
import type { OpenApiDocument } from './openapi.ts'
import { escapeHtml } from './phone-page.ts'

export interface PageOptions {
  /** Called at the first request for the document. */
  description: () => Promise<OpenApiDocument>
  version: string
  base_path: string
  /** The cell whose key the landing page shows how to read from `demo.json`; undefined without demo data. */
  demo_cell: string | undefined
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
 * that all requests share, so that slow peers hold no copies. `/` leads browsers to the console, and is the landing page for others.
 */
export function registerSystemPages(app: FastifyInstance, options: PageOptions): void {
  const { description, version, base_path, demo_cell, hasOperatorPort } = options
  const text = (value: string) => () => Promise.resolve(Buffer.from(value))
  const document = async () => {
    const openapi = { ...(await description()), servers: [{ url: base_path || '/' }] }
    await yieldIfLong()
    return Buffer.from(JSON.stringify(openapi))
  }
  const guides = findGuides()
  const landing = landingPage({
    base: base_path,
    version,
    // The page of wearables leads to those of their families.
    guides: guides.map(({ name }) => name).filter((name) => !name.includes('/')),
    demo_cell,
    hasOperatorPort,
  })
  const assets: Record<string, Asset> = {
    '/guides': { type: HTML, max_age_s: 0, read: text(landing) },
    '/pages.css': { type: CSS, max_age_s: 0, read: text(PAGE_STYLE) },
    '/openapi.json': { type: 'application/json', max_age_s: 0, read: document },
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
  const serveLanding = serve(assets['/guides']!)
  app.get('/', (request, reply) => {
    const isBrowser = request.headers.accept?.includes('text/html') === true
    return isBrowser && hasConsole() ? reply.redirect(`${base_path}/console`) : serveLanding(request, reply)
  })
}

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

interface Landing {
  base: string
  version: string
  /** Names below `/guides/`. */
  guides: readonly string[]
  demo_cell: string | undefined
  hasOperatorPort: boolean
}

const titleOf = (guide: string): string => {
  const words = guide.toLowerCase().replaceAll(/[_-]/g, ' ')
  return words.replace(/^\w/, (letter) => letter.toUpperCase()).replaceAll(/\b(ehr|psc)\b/gi, (name) => name.toUpperCase())
}

const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #16212b; --soft: #4d5d6a; --line: #d5dee5; --link: #0b5cad; --paper: #ffffff; --box: #f4f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eef3; --soft: #a9b8c4; --line: #33424e; --link: #7fbcff; --paper: #10171d; --box: #18222b; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 2rem; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.1rem; }
p { margin: .4rem 0; color: var(--soft); }
a { color: var(--link); }
pre, code { font: .9rem/1.5 ui-monospace, monospace; }
pre { padding: .9rem 1rem; overflow-x: auto; background: var(--box); border: 1px solid var(--line); border-radius: .4rem; }
ul { margin: .4rem 0; padding-left: 1.2rem; columns: 2 14rem; }
li { margin: 0; padding: .15rem 0; }
.guide { max-width: 54rem; overflow-wrap: break-word; }
.guide h1 { line-height: 1.25; }
.guide h2 { margin-top: 2.75rem; font-size: 1.4rem; line-height: 1.3; }
.guide h3 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
.guide p { margin: .7rem 0; color: var(--ink); }
.guide ul, .guide ol { margin: .7rem 0; padding-left: 1.4rem; columns: auto; }
.guide :not(pre) > code { padding: .1em .3em; background: var(--box); border-radius: .25rem; }
:is(h1, h2, h3) code { font-size: inherit; }
.guide .top { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 1.75rem; }
.guide .contents ul { margin: 1.25rem 0; padding: .7rem 1rem .7rem 2.2rem; columns: 2 16rem; border: 1px solid var(--line); border-radius: .4rem; }
.wide { margin: 1rem 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; line-height: 1.45; }
th, td { min-width: 6rem; padding: .45rem .75rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { white-space: nowrap; background: var(--box); }
.right { text-align: right; }
a:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
`

function landingPage({ base, version, guides, demo_cell, hasOperatorPort }: Landing): string {
  const keys = demo_cell
    ? `<h2>Keys</h2>
<p>This is a demo server. Its keys were printed when it started and are in <code>demo.json</code> in its data folder:</p>
<pre tabindex="0">export KEY=$(node -p 'require("./data/demo.json").api_keys["${demo_cell}"]')</pre>`
    : `<h2>Keys</h2>
<p>Requests need a key of a team, in the header <code>x-service-api-key</code>. An administrator of your organization creates it.</p>`
  const health = hasOperatorPort
    ? '<p>Health and metrics are served on the port for operators.</p>'
    : `<p><a href="${base}/healthz">Health</a>, <a href="${base}/readyz">readiness</a>, <a href="${base}/metrics">metrics</a></p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drawbridge</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/pages.css">
</head>
<body>
<main>
<h1>Drawbridge</h1>
<p>A server for laboratory testing and health data. Version ${escapeHtml(version)}.</p>
<h2>Console</h2>
<p><a href="${base}/console">Console</a>: the pages on which members of a team see and do what this server does.</p>
<h2>API</h2>
<p><a href="${base}/docs">API reference</a>, and the same as <a href="${base}/openapi.json">OpenAPI document</a>.</p>
${keys}
<p>With the address of this page in <code>URL</code>:</p>
<pre tabindex="0">curl -s -H "x-service-api-key: $KEY" "$URL/v3/lab_tests"</pre>
<h2>Guides</h2>
<ul>
${guides.map((name) => `<li><a href="${base}/guides/${encodeURIComponent(name)}">${escapeHtml(titleOf(name))}</a></li>`).join('\n')}
</ul>
<h2>Operation</h2>
${health}
</main>
</body>
</html>
`
}

const API_STYLE = `body { margin: 0; font-family: system-ui, sans-serif; }
.loading { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; color: #4d5d6a; }
.loading h1 { color: #16212b; }
@media (prefers-color-scheme: dark) { body { background: #0f0f0f; } .loading, .loading h1 { color: #c9d3db; } }
`

/** Its own colors have too little contrast with their background. */
const REFERENCE_STYLE = `.light-mode { --scalar-color-3: #5c6570; --scalar-color-green: #07663b; --scalar-color-red: #b00020; --scalar-color-yellow: #7a5200;
  --scalar-color-blue: #0b5cad; --scalar-color-orange: #9a3f00; }
.dark-mode { --scalar-color-3: #a3adb6; --scalar-color-red: #ff8a80; }
html:has(.dark-mode) { color-scheme: dark; }`

/**
 * The script of the API page. It fills in the key that the address carries behind `#team_key=`, which browsers send to no server, and takes
 * it out of the address and the history. Keys stay in the memory of the page: the browser stores nothing of them. Nothing is loaded from
 * elsewhere.
 */
const apiScript = (
  base: string,
): string => `const key = location.hash.startsWith('#team_key=') && new URLSearchParams(location.hash.slice(1)).get('team_key')
if (key) history.replaceState(null, '', location.pathname + location.search)
document.getElementById('loading').remove()
Scalar.createApiReference('#api', {
  url: ${JSON.stringify(`${base}/openapi.json`)},
  servers: [{ url: location.origin + ${JSON.stringify(base)} }],
  customCss: ${JSON.stringify(REFERENCE_STYLE)},
  withDefaultFonts: false,
  // The name of the scheme alone fits next to the title of its box.
  localization: { translations: { apiClient: { authSelector: { selectedType: '{type}' } } } },
  telemetry: false,
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  documentDownloadType: 'json',
  defaultOpenAllTags: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: {
    c: true, clojure: true, csharp: true, dart: true, fsharp: true, go: true, http: true, java: true, julia: true, kotlin: true, objc: true, ocaml: true,
    php: true, powershell: true, r: true, ruby: true, rust: true, swift: true,
    js: ['axios', 'jquery', 'ofetch', 'xhr'], node: ['axios', 'ofetch', 'undici'], python: ['python3', 'aiohttp', 'httpx_async', 'httpx_sync'],
    shell: ['wget', 'httpie'],
  },
  authentication: { preferredSecurityScheme: 'teamKey', ...(key && { securitySchemes: { teamKey: { value: key } } }) },
})
`

const apiPage = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drawbridge API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/page.css">
</head>
<body>
<div id="loading" class="loading"><h1>Drawbridge API</h1><p>The API reference is being loaded.</p></div>
<div id="api"></div>
<script src="${base}/docs/api-reference.js" defer></script>
<script src="${base}/docs/page.js" defer></script>
</body>
</html>
`
