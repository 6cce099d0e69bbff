// The requests of the console's pages. The cookie of a session authenticates a request only with a header that no form, image or navigation
// of another page can send, and a change only from a page of this server. Source: design of the console, security.
import { nameInHeader } from '../../platform/net/host-name.ts'
import { forbidden } from '../../platform/http/errors.ts'

export type Headers = Record<string, string | string[] | undefined>

/** What requests of the console carry. `background`: a page asks by itself, which does not prolong the session. */
export const CONSOLE_HEADER = 'x-drawbridge-console'

/** The name of a cookie, and its name where no TLS is: for browsers on this machine alone. */
type CookieNames = readonly [secureName: string, loopbackName: string]
const SESSION: CookieNames = ['__Host-drawbridge_session', 'drawbridge_session']
const ATTEMPT: CookieNames = ['__Host-drawbridge_sign_in', 'drawbridge_sign_in']
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

/** Whether a session may begin in a page: browsers keep its cookie over TLS, and over HTTP on this machine. */
export const isSafeForCookies = ({ protocol, host }: URL): boolean => protocol === 'https:' || LOOPBACK.test(nameInHeader(host))

/** 403: no session may begin there. */
export function assertCookieIsSafe(origin: URL): void {
  if (!isSafeForCookies(origin)) throw forbidden('Sign-in needs HTTPS, or a browser on the machine of the server')
}

/** A cookie of one of two names: where TLS is, and where a browser on this machine asks without. */
function readCookie({ cookie, host }: Headers, [secureName, loopbackName]: CookieNames): string | undefined {
  if (typeof cookie !== 'string') return undefined
  const values = new Map<string, string>()
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2)
    if (!values.has(name)) values.set(name, value)
  }
  const isLoopback = typeof host === 'string' && LOOPBACK.test(nameInHeader(host))
  return values.get(secureName) ?? (isLoopback ? values.get(loopbackName) : undefined)
}

/** The header that sets a cookie. */
function cookieText([secureName, loopbackName]: CookieNames, { protocol }: URL, value: string, lifetime_s: number): string {
  const isSecure = protocol === 'https:'
  const name = isSecure ? secureName : loopbackName
  return `${name}=${value}; Path=/; Max-Age=${lifetime_s}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The headers that remove a cookie. */
const removalTexts = ([secureName, loopbackName]: CookieNames): string[] => [
  `${secureName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`,
  `${loopbackName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
]

/** The token of the session in the cookies of a request; undefined without one. */
export const readSessionCookie = (headers: Headers): string | undefined => readCookie(headers, SESSION)

/** The header that sets the cookie of a session. */
export const sessionCookie = (origin: URL, token: string, lifetime_s: number): string =>
  cookieText(SESSION, origin, token, lifetime_s)

/** The same of a sign-in that takes more than one request. */
export const readAttemptCookie = (headers: Headers): string | undefined => readCookie(headers, ATTEMPT)
export const attemptCookie = (origin: URL, token: string, lifetime_s: number): string =>
  cookieText(ATTEMPT, origin, token, lifetime_s)
export const endOfAttempt = (): string[] => removalTexts(ATTEMPT)

/** The headers that end a session in the browser: its cookie, its caches and its storage. */
export const endOfSession = (): Record<string, string | string[]> => ({
  'set-cookie': removalTexts(SESSION),
  'clear-site-data': '"cache", "storage"',
})
