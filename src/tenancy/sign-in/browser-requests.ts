// The requests of the console's pages. The cookie of a session authenticates a request only with a header that no form, image or navigation
// of another page can send, and a change only from a page of this server. Source: design of the console, security.
import { nameInHeader } from '../../platform/net/host-name.ts'
import { forbidden } from '../../platform/http/errors.ts'

export type Headers = Record<string, string | string[] | undefined>

/** What requests of the console carry. `background`: a page asks by itself, which does not prolong the session. */
export const CONSOLE_HEADER = 'x-drawbridge-console'

const SECURE_COOKIE = '__Host-drawbridge_session'
/** Where no TLS is: browsers on this machine alone. */
const LOOPBACK_COOKIE = 'drawbridge_session'
const LOOPBACK = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|::1)$/

/** Whether a request says that it comes from the console. */
export const isOfConsole = (headers: Headers): boolean => headers[CONSOLE_HEADER] !== undefined

/**
 * The origin of the page that sends a change. 403: the header of the console is absent, or the page is not one of this server.
 * @param publicUrl the base URL of this server for browsers
 */
export function ownOrigin(headers: Headers, publicUrl: string): URL {
  const { origin, host } = headers
  if (!isOfConsole(headers)) throw forbidden('Requests of the console carry the header X-Drawbridge-Console')
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  if (!url || (url.origin !== originOf(publicUrl) && url.host !== host))
    throw forbidden('Only pages of this server may change anything')
  return url
}

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)

/** As `ownOrigin`, where a session may begin: browsers keep its cookie over TLS, and over HTTP on this machine. 403: elsewhere. */
export function assertCookieIsSafe(origin: URL): void {
  if (origin.protocol !== 'https:' && !LOOPBACK.test(nameInHeader(origin.host)))
    throw forbidden('Sign-in needs HTTPS, or a browser on the machine of the server')
}

/** The token of the session in the cookies of a request; undefined without one. */
export function readSessionCookie({ cookie, host }: Headers): string | undefined {
  if (typeof cookie !== 'string') return undefined
  const values = new Map<string, string>()
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2)
    if (!values.has(name)) values.set(name, value)
  }
  const isLoopback = typeof host === 'string' && LOOPBACK.test(nameInHeader(host))
  return values.get(SECURE_COOKIE) ?? (isLoopback ? values.get(LOOPBACK_COOKIE) : undefined)
}

/** The header that sets the cookie of a session. */
export function sessionCookie(origin: URL, token: string, lifetime_s: number): string {
  const isSecure = origin.protocol === 'https:'
  const name = isSecure ? SECURE_COOKIE : LOOPBACK_COOKIE
  return `${name}=${token}; Path=/; Max-Age=${lifetime_s}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The headers that end a session in the browser: its cookie, its caches and its storage. */
export const endOfSession = (): Record<string, string | string[]> => ({
  'set-cookie': [
    `${SECURE_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`,
    `${LOOPBACK_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
  ],
  'clear-site-data': '"cache", "storage"',
})
