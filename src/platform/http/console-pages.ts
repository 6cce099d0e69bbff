// Serves the console: one page for all its addresses, and the files of its bundle (`console/build.ts`). Its data come from operations.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { PageResponse } from './browser-pages.ts'
import { encodingOf } from './content-encoding.ts'

/** The bundle, next to the sources and in the package. */
const BUNDLE = fileURLToPath(new URL('../../../console/dist', import.meta.url))
const MANIFEST = join(BUNDLE, 'manifest.json')
const BUILD = fileURLToPath(new URL('../../../console/build.ts', import.meta.url))
const BUILD_MS_MAX = 120_000
/** The first segments below `/console/` that are not pages: operations and files. */
const PAGE = ':page(^(?!(?:api|v1|assets)$)[^/]+$)'
/** A year: the name of a file changes with its content. */
const FILE_MAX_AGE_S = 31_536_000

/** What `console/build.ts` writes. */
interface Manifest {
  script: string
  style: string
  imports: string[]
  files: string[]
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}
const SUFFIXES = { br: '.br', gzip: '.gz', identity: '' }

const SECURITY_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Whether the console has been built. */
export const hasConsole = (): boolean => existsSync(MANIFEST)

/**
 * Builds the console in another process if it is missing, as in a checkout whose packages were installed without scripts. A package and an
 * image have it, and no sources of it. Until it has been built, its pages get 503.
 */
export function buildMissingConsole(log: Log): void {
  if (hasConsole() || !existsSync(BUILD)) return
  execFile(process.execPath, [BUILD, '--optional'], { timeout: BUILD_MS_MAX }, (error) => {
    if (error) log.error({ causes: errorFields(error) }, 'building the console failed')
    else log.info('console built')
  })
}

/**
 * Serves the console without authentication: it signs in by operations. Requests for unknown files get 404; before the console has been
 * built, pages get 503 with the command that builds it.
 * @param base_path what all addresses begin with
 */
export function registerConsole(app: FastifyInstance, base_path: string): void {
  const sendPage = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { status, headers, html } = consolePage({ base_path })
    return reply.headers(headers).code(status).send(html)
  }
  for (const url of ['/console', `/console/${PAGE}`, `/console/${PAGE}/*`]) app.get(url, sendPage)
  app.get('/console/assets/:file', sendFile)
}

export interface ConsolePageOptions {
  /** What all addresses begin with. */
  base_path: string
  /** The session that a launch URL has opened, for its page; the page of members has none. */
  launch_id?: string
  /** The origins that may frame the page; by default none. */
  frames?: readonly string[]
}

/** The page of the console. 503: it has not been built. */
export function consolePage({ base_path, launch_id = '', frames = [] }: ConsolePageOptions): PageResponse {
  const manifest = readManifest()
  const nonce = randomBytes(16).toString('base64')
  return {
    status: manifest ? 200 : 503,
    headers: {
      ...SECURITY_HEADERS,
      'content-security-policy': pagePolicy(nonce, frames),
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
    },
    html: manifest ? pageText(manifest, { nonce, base: base_path, launch_id }) : MISSING_PAGE,
  }
}

async function sendFile(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { file } = request.params as { file: string }
  if (!readManifest()?.files.includes(file)) {
    reply.callNotFound()
    return reply
  }
  const encoding = encodingOf(request.headers['accept-encoding'])
  const bytes = await readFile(join(BUNDLE, 'assets', `${file}${SUFFIXES[encoding]}`))
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply
    .headers({ ...SECURITY_HEADERS, vary: 'accept-encoding' })
    .header('content-type', TYPES[extname(file)])
    .header('cache-control', `public, max-age=${FILE_MAX_AGE_S}, immutable`)
    .send(bytes)
}

/** Mantine writes the variables of its theme into a style element, which the nonce allows. Sign-in sends its forms by script. */
const pagePolicy = (nonce: string, frames: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frames.length ? frames.join(' ') : "'none'"}`,
  ].join('; ')

/** The manifest, read each time, since the console may be built while the server runs; undefined before the first build. */
const readManifest = (): Manifest | undefined =>
  hasConsole() ? (JSON.parse(readFileSync(MANIFEST, 'utf8')) as Manifest) : undefined

/** The icon: a raised drawbridge. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%230f766e'/%3E%3Cpath d='M7 25V9m18 16V9M7 19h6m6 0h6M13 19l-4-8m10 8l4-8' stroke='%23fff' stroke-width='2.6' stroke-linecap='round' fill='none'/%3E%3C/svg%3E"

/** Rendering waits for the script, which sets the color scheme, so that a dark page never begins light. */
function pageText(
  { script, style, imports }: Manifest,
  { nonce, base, launch_id }: Record<'nonce' | 'base' | 'launch_id', string>,
): string {
  const assets = `${base}/console/assets`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="drawbridge-base-path" content="${base}">
<meta name="drawbridge-launch" content="${launch_id}">
<title>Drawbridge</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${assets}/${style}">
${imports.map((file) => `<link rel="modulepreload" href="${assets}/${file}">`).join('\n')}
<script type="module" src="${assets}/${script}" nonce="${nonce}" blocking="render"></script>
</head>
<body>
<noscript>The Drawbridge console needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`
}

const MISSING_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<title>Drawbridge</title>
</head>
<body>
<h1>The console is being built</h1>
<p>This page loads again every two seconds. If it stays, run <code>npm ci</code> and read the log of the server.</p>
</body>
</html>
`
