// The two addresses of sign-in through an OpenID issuer, to which browsers navigate: the way there, and the way back.
import type { BrowserPage, PageRequest, PageResponse } from '../../platform/http/browser-pages.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { errorFields } from '../../platform/telemetry/log.ts'
import { attemptCookie, endOfAttempt, isSafeForCookies, readAttemptCookie, sessionCookie } from './browser-requests.ts'
import type { SignInDependencies } from './browser-sign-in.ts'
import { CALLBACK_PATH, finishOpenId, startOpenId, type OpenIdAttempt } from './openid.ts'
import { identifyMember } from './openid-members.ts'
import { ATTEMPT_S, startAttempt, takeAttempt } from './sign-in-attempts.ts'
import { startSession } from './sessions.ts'

const HOME = '/console'
/** Why the sign-in page of the console says that it did not work: `error` in its query. */
type Failure = 'oidc_unavailable' | 'oidc_failed' | 'oidc_refused'

/** Without a key. */
export const openIdPages = (dependencies: SignInDependencies): BrowserPage[] => [
  {
    id: 'oidc_sign_in_page',
    path: '/console/api/sign-in/oidc',
    logsAccess: false,
    answer: (visit) => leave(dependencies, visit),
  },
  { id: 'oidc_callback_page', path: CALLBACK_PATH, logsAccess: false, answer: (visit) => comeBack(dependencies, visit) },
]

const redirect = (status: 302 | 303, location: string, cookies: string[] = []): PageResponse => ({
  status,
  headers: { location },
  cookies,
  html: '',
})

const basePath = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '')

/** A page of this console, from a text of the query; its first page for any other address. */
function consolePath(text: string | string[] | undefined, publicUrl: string): string {
  const base = basePath(publicUrl)
  if (typeof text !== 'string' || !/^\/[\x21-\x7e]*$/.test(text) || /^\/\/|\\/.test(text)) return base + HOME
  const { origin } = new URL(publicUrl)
  const { pathname, search, origin: itsOrigin } = new URL(text, origin)
  const path = base !== '' && pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname
  const isOfConsole = (path === HOME || path.startsWith(`${HOME}/`)) && !path.startsWith(`${HOME}/api/`)
  return itsOrigin === origin && isOfConsole ? base + path + search : base + HOME
}

async function leave(dependencies: SignInDependencies, { query, headers, address }: PageRequest): Promise<PageResponse> {
  const { openId, publicUrl, cells, attempts } = dependencies
  if (!openId) return refuse(dependencies, 'oidc_unavailable')
  const own = new URL(publicUrl())
  if (!isSafeForCookies(own)) return refuse(dependencies, 'oidc_unavailable')
  // The cookie must be set under the name of the host to which the issuer sends the browser back.
  if (headers.host !== own.host) {
    const returnTo = encodeURIComponent(consolePath(query.return_to, publicUrl()))
    return redirect(302, `${publicUrl()}/console/api/sign-in/oidc?return_to=${returnTo}`)
  }
  const refused = attempts.starts.hit(address, 'Too many sign-ins from this address, try again later (WRONG_KEYS_PER_MINUTE)')
  if (refused) throw refused
  try {
    const { location, attempt } = await startOpenId(openId, publicUrl())
    const data = { ...attempt, return_to: consolePath(query.return_to, publicUrl()) }
    const token = await cells.control.plainTx((tx) => startAttempt(tx, { purpose: 'oidc', member_id: null, data }))
    return redirect(302, location, [attemptCookie(own, token, ATTEMPT_S)])
  } catch (error) {
    return refuse(dependencies, 'oidc_unavailable', error)
  }
}

async function comeBack(dependencies: SignInDependencies, { query, headers, address }: PageRequest): Promise<PageResponse> {
  const { openId, publicUrl, cells, sessions, limits } = dependencies
  const own = new URL(publicUrl())
  const attempt = openId && (await cells.control.plainTx((tx) => takeAttempt(tx, readAttemptCookie(headers), ['oidc'])))
  if (!attempt) return refuse(dependencies, 'oidc_failed')
  try {
    const sent = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => [value].flat().map((text): [string, string] => [name, text])),
    )
    const person = await finishOpenId(openId, publicUrl(), sent, attempt.data as OpenIdAttempt)
    const token = await cells.control.plainTx(async (tx) => {
      const member = await identifyMember(tx, sessions, person)
      return startSession(tx, { ...member, method: 'oidc', address, user_agent: headers['user-agent'] }, limits)
    })
    const cookies = [sessionCookie(own, token, limits.total_s), ...endOfAttempt()]
    return redirect(303, attempt.data.return_to ?? HOME, cookies)
  } catch (error) {
    return refuse(dependencies, error instanceof Problem && error.status === 403 ? 'oidc_refused' : 'oidc_failed', error)
  }
}

/** Back to the sign-in page, which shows no text of the issuer. */
function refuse({ publicUrl, log }: SignInDependencies, failure: Failure, error?: unknown): PageResponse {
  if (error !== undefined) log.warn({ failure, causes: errorFields(error) }, 'sign-in through the OpenID issuer failed')
  return redirect(303, `${basePath(publicUrl())}${HOME}/sign-in?error=${failure}`, endOfAttempt())
}
