// The link page: a patient picks a source, reads what is shared, and is sent to the provider; and the address to which the provider sends the
// browser back. Source: users-wearables.md 2.1, 2.2.
import { providerName, type OAuthProvider } from '../../people/users/sources.ts'
import { Subjects, type Tenant } from '../../platform/db/transaction.ts'
import type { BrowserPage, PageAccess, PageRequest, PageResponse } from '../../platform/http/browser-pages.ts'
import { queryText, redirect, tryLaterPage } from '../../platform/http/phone-page.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { basePath } from '../../tenancy/embedding/launches.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { getBrand } from '../../tenancy/teams/brand.ts'
import { completeConsent, type Return } from './callback.ts'
import { ConsentCookies } from './consent-cookies.ts'
import { ConsentForms } from './consent-forms.ts'
import { connectDemoSource, offeredDemos, type DemoAccess } from './demo-sources.ts'
import { admitLinkToken, readLinkToken } from './link-tokens.ts'
import { readState, startConsent, takeState, type ConsentDependencies } from './oauth.ts'
import { isNamed, offeredVendors } from './offered.ts'
import {
  closedPage,
  connectedPage,
  consentPage,
  demoConsentPage,
  failedPage,
  forwardPage,
  otherBrowserPage,
  sourcesPage,
  withoutCookiesPage,
} from './page-html.ts'
import { inWords } from './page-words.ts'
import { linkResult, returnAddress } from './results.ts'
import type { LinkDependencies } from './routes.ts'
import type { LinkError } from './schema.ts'
import { findSession, linkTokenRefused, reasonAgainst, type LinkSession } from './link-sessions.ts'

export type LinkPageDependencies = LinkDependencies & ConsentDependencies & DemoAccess

/** A visit with a link token that was issued here. */
interface LinkVisit {
  tenant: Tenant
  token: string
  user_id: string
  session_id: string
  session: LinkSession | undefined
}

const NO_SOURCE = 'The source'
const STATE_MAX = 400
const MOVED = 'moved'
const otherBrowser = {
  detail: { error_type: 'INVALID_REQUEST', error_message: 'The consent began on the link page, in another browser' },
}
const demoName = (provider: string): string => `${providerName(provider)} (demo)`

export function linkPages(dependencies: LinkPageDependencies): BrowserPage[] {
  const { cells, guards, signingKey, publicUrl } = dependencies
  const forms = new ConsentForms(dependencies.vault)
  const cookies = new ConsentCookies(dependencies)

  const accessBy = ({ tenant, user_id, session_id }: Omit<LinkVisit, 'token' | 'session'>): PageAccess => {
    const subjects = new Subjects()
    subjects.add(user_id, session_id)
    return { tenant, key: `link_token:${session_id}`, subjects }
  }
  const seen = (visit: Omit<LinkVisit, 'token' | 'session'>, page: PageResponse): PageResponse => ({
    ...page,
    viewer: accessBy(visit),
  })

  /** The visit of a token in the query. 401: it was not issued here; 429: too many such tokens of the address. */
  async function visitOf(request: PageRequest): Promise<LinkVisit> {
    const token = queryText(request, 'token')
    const found = token === undefined ? undefined : await readLinkToken(signingKey, token)
    const tenant = found && (await admitLinkToken(guards, found, {}))
    if (!tenant) throw guards.checks.refusal(request.address, linkTokenRefused('invalid_token'))
    const session = await cells.db(found.cell).read(tenant, (tx) => findSession(tx, found))
    return { tenant, token: token!, user_id: found.user_id, session_id: found.session_id, session }
  }

  const hrefOf =
    ({ token }: LinkVisit) =>
    (path: string, query: Record<string, string> = {}): string =>
      `${basePath(publicUrl)}${path}?${new URLSearchParams({ token, ...query })}`

  /** Where "Close" leads. */
  const closeOf = (visit: LinkVisit): string =>
    visit.session?.redirects_on_close && visit.session.redirect_url !== null
      ? returnAddress(visit.session.redirect_url, 'user_cancelled')
      : hrefOf(visit)('/link/closed')

  async function failed({ session, tenant }: LinkVisit, error: LinkError, source = NO_SOURCE): Promise<PageResponse> {
    const back = session?.redirect_url == null ? undefined : returnAddress(session.redirect_url, error)
    return back !== undefined && session?.redirects_on_error
      ? redirect(303, back)
      : failedPage(
          error.startsWith('token_') || error === 'invalid_token' ? 401 : 400,
          error,
          source,
          back,
          await getBrand(cells, tenant),
        )
  }

  /** Answers a visit whose session can link; others get the reason. */
  const withSession =
    (answer: (visit: LinkVisit, request: PageRequest) => Promise<PageResponse>) =>
    async (request: PageRequest): Promise<PageResponse> => {
      try {
        const visit = await visitOf(request)
        const reason = reasonAgainst(visit.session)
        return seen(visit, reason ? await failed(visit, reason) : await answer(visit, request))
      } catch (error) {
        return errorPage(error)
      }
    }

  /** Sends the browser to a provider, from which only it may return. */
  async function start(visit: LinkVisit, provider: string): Promise<PageResponse> {
    const { tenant, user_id, session_id } = visit
    try {
      const user = { user_id, session_id }
      const { oauth_url, state } = await startConsent(dependencies, tenant, user, provider as OAuthProvider, { isBound: true })
      return redirect(303, oauth_url, { 'set-cookie': cookies.ofReturn(session_id, state) })
    } catch (error) {
      if (error instanceof Problem && error.status === 400) return failed(visit, 'provider_api_error', providerName(provider))
      throw error
    }
  }

  async function showSources(visit: LinkVisit): Promise<PageResponse> {
    const session = visit.session!
    const { vendors, demos } = await cells.db(visit.tenant.cell).read(visit.tenant, async (tx) => ({
      vendors: await offeredVendors(tx, dependencies),
      demos: await offeredDemos(tx, dependencies, session),
    }))
    const only = session.provider
    if (only !== null) {
      const isSetUp = vendors.some(({ connector }) => connector.provider === only)
      if (!isSetUp && !demos.includes(only)) return failed(visit, 'provider_api_error', providerName(only))
      return redirect(303, isSetUp ? hrefOf(visit)('/link/consent', { provider: only }) : demoHref(visit)('/link/consent', only))
    }
    const sources = vendors
      .filter(({ connector }) => isNamed(session, connector.provider))
      .map(({ connector: { provider, description } }) => ({
        name: providerName(provider),
        description,
        href: hrefOf(visit)('/link/consent', { provider }),
      }))
    const demoItems = demos.map((provider) => ({
      name: demoName(provider),
      description: 'Made-up data of a fictional person, to try this out',
      href: demoHref(visit)('/link/consent', provider),
    }))
    return sourcesPage(await getBrand(cells, visit.tenant), [...sources, ...demoItems], closeOf(visit))
  }

  const isDemo = (request: PageRequest): boolean => queryText(request, 'demo') === 'true'
  const demoHref =
    (visit: LinkVisit) =>
    (path: string, provider: string): string =>
      hrefOf(visit)(path, { provider, demo: 'true' })

  const linkStart = (visit: LinkVisit, provider: string, isDemo: boolean, browser: string) => ({
    action: isDemo ? demoHref(visit)('/link/start', provider) : hrefOf(visit)('/link/start', { provider }),
    token: forms.issue({ session_id: visit.session_id, provider, isDemo, browser }),
  })

  async function showDemoConsent(visit: LinkVisit, provider: string, browser: string): Promise<PageResponse> {
    const resources = dependencies.demoSources.resourcesByProvider(visit.tenant).get(provider)
    if (!resources || !isNamed(visit.session!, provider)) return failed(visit, 'provider_api_error')
    return demoConsentPage({
      team: await getBrand(cells, visit.tenant),
      source: demoName(provider),
      data: inWords(resources),
      start: linkStart(visit, provider, true, browser),
      back: visit.session!.provider === null ? hrefOf(visit)('/link') : undefined,
      close: closeOf(visit),
    })
  }

  /** Connects a demo provider, and returns as from a provider. */
  async function startDemo(visit: LinkVisit, provider: string, { logChange }: PageRequest): Promise<PageResponse> {
    const { redirect_url } = visit.session!
    const error = await connectDemoSource(dependencies, visit.tenant, visit, provider, (tx) =>
      logChange(tx, 200, accessBy(visit)),
    )
    const source = dependencies.demoSources.resourcesByProvider(visit.tenant).has(provider) ? demoName(provider) : NO_SOURCE
    if (error) return failed(visit, error, source)
    return redirect_url === null
      ? connectedPage(source, await getBrand(cells, visit.tenant))
      : redirect(303, returnAddress(redirect_url, undefined))
  }

  /** What is shared, with the form; the browser gets the cookie to which the form belongs. */
  async function showConsent(visit: LinkVisit, request: PageRequest): Promise<PageResponse> {
    const provider = queryText(request, 'provider') ?? ''
    const browser = cookies.browserOf(request) ?? cookies.newBrowser()
    const page = await (isDemo(request) ? showDemoConsent : showVendorConsent)(visit, provider, browser)
    return { ...page, headers: { ...page.headers, 'set-cookie': cookies.ofBrowser(browser) } }
  }

  async function showVendorConsent(visit: LinkVisit, name: string, browser: string): Promise<PageResponse> {
    const connector = connectorOf(name)
    if (!connector || !isNamed(visit.session!, name)) return failed(visit, 'provider_api_error')
    const { provider, resources } = connector
    return consentPage({
      team: await getBrand(cells, visit.tenant),
      source: providerName(provider),
      data: inWords(resources),
      start: linkStart(visit, provider, false, browser),
      back: visit.session!.provider === null ? hrefOf(visit)('/link') : undefined,
      close: closeOf(visit),
    })
  }

  const consentHref = (visit: LinkVisit, request: PageRequest): string => {
    const provider = queryText(request, 'provider') ?? ''
    return isDemo(request) ? demoHref(visit)('/link/consent', provider) : hrefOf(visit)('/link/consent', { provider })
  }

  /**
   * Begins a connection, by the form of the page before. Without the token of that form and the cookie of its browser it changes nothing,
   * and shows that page again, or says that cookies are needed.
   */
  async function answerForm(visit: LinkVisit, request: PageRequest): Promise<PageResponse> {
    const provider = queryText(request, 'provider') ?? ''
    const browser = cookies.browserOf(request)
    if (browser === undefined) return withoutCookiesPage(consentHref(visit, request), await getBrand(cells, visit.tenant))
    const form = { session_id: visit.session_id, provider, isDemo: isDemo(request), browser }
    if (!forms.verify(form, request.form.get('consent'))) return showConsent(visit, request)
    const page = await (form.isDemo ? startDemo : start)(visit, provider, request)
    const { location } = page.headers
    if (location === undefined) return page
    const forward = forwardPage(location)
    return { ...forward, headers: { ...forward.headers, ...omitHeader(page.headers, 'location') } }
  }

  /**
   * To the host of the link page, which has the cookie: a team that forwards returns may name another host of this server. Undefined if the
   * request is there, or was sent there once, since a proxy may replace the host.
   */
  function toOwnHost(request: PageRequest, provider: string): PageResponse | undefined {
    if (request.headers.host === new URL(publicUrl()).host || queryText(request, MOVED) !== undefined) return undefined
    const query = new URLSearchParams({ [MOVED]: 'true' })
    for (const name of ['state', 'code', 'error', 'scope']) {
      const value = queryText(request, name)
      if (value !== undefined) query.set(name, value)
    }
    return redirect(307, `${publicUrl()}/v2/link/connect/${provider}?${query}`)
  }

  /** The return from a provider. An unknown `state` leads to no team, so that the page cannot say more. */
  async function complete(request: PageRequest): Promise<PageResponse> {
    const asJson = wantsJson(request)
    try {
      const provider = request.params.provider ?? ''
      const state = queryText(request, 'state') ?? ''
      const unknown = linkTokenRefused('invalid_token')
      const place = state.length <= STATE_MAX && connectorOf(provider) ? readState(state) : undefined
      if (!place) throw guards.checks.refusal(request.address, unknown)
      // Nothing is looked up and nothing ends: a program that opens the address has no cookie.
      if (place.isBound && !cookies.isReturn(request, place.session_id, state))
        return asJson ? jsonResponse(400, otherBrowser) : (toOwnHost(request, provider) ?? otherBrowserPage())
      const lookUp = async () => {
        const tenant = cells.has(place.cell) ? await guards.teams.tenant(place.cell, place.team) : undefined
        const session = tenant && (await cells.db(place.cell).tx(tenant, (tx) => takeState(tx, place, state, provider)))
        return session && { tenant, session }
      }
      const { tenant, session } = await guards.checks.find(request.address, undefined, lookUp, () => unknown)
      const back: Return = {
        state,
        code: queryText(request, 'code'),
        error: queryText(request, 'error'),
        scope: queryText(request, 'scope'),
      }
      const visit = { tenant, user_id: session.user_id, session_id: session.id }
      const status = asJson || session.redirect_url === null ? 200 : 307
      const ended = (page: PageResponse): PageResponse =>
        seen(
          visit,
          place.isBound ? { ...page, headers: { ...page.headers, 'set-cookie': cookies.endOfReturn(session.id) } } : page,
        )
      const error = await completeConsent(dependencies, tenant, session, provider as OAuthProvider, back, (tx) =>
        request.logChange(tx, status, accessBy(visit)),
      )
      if (asJson) return ended(jsonResponse(200, linkResult(session, provider, error)))
      const source = providerName(provider)
      if (session.redirect_url !== null) return ended(redirect(307, returnAddress(session.redirect_url, error)))
      const team = await getBrand(cells, tenant)
      return ended(error ? failedPage(400, error, source, undefined, team) : connectedPage(source, team))
    } catch (error) {
      if (asJson && error instanceof Problem) return jsonResponse(error.status, error.body, error.headers)
      return errorPage(error)
    }
  }

  return [
    { id: 'link_page', path: '/link', logsAccess: true, answer: withSession(showSources) },
    { id: 'link_consent_page', path: '/link/consent', logsAccess: true, answer: withSession(showConsent) },
    { id: 'link_start_page', path: '/link/start', method: 'POST', logsAccess: true, answer: withSession(answerForm) },
    // A visitor who opens the address of the form reads first.
    { id: 'link_restart_page', path: '/link/start', logsAccess: true, answer: withSession(showConsent) },
    { id: 'link_closed_page', path: '/link/closed', logsAccess: false, answer: async () => closedPage() },
    { id: 'link_return_page', path: '/v2/link/connect/{provider}', logsAccess: true, answer: complete },
  ]
}

/** Headers without one of them. */
function omitHeader(headers: PageResponse['headers'], name: string): PageResponse['headers'] {
  const { [name]: _one, ...others } = headers
  return others
}

/** The page for an error; rethrows what is none of a request. */
function errorPage(error: unknown): PageResponse {
  if (!(error instanceof Problem)) throw error
  if (error.status === 429 || error.status === 503) return tryLaterPage(error.status, error.headers)
  return failedPage(error.status, 'invalid_token', NO_SOURCE)
}

/** Older mobile clients follow no redirect. */
function wantsJson({ headers }: PageRequest): boolean {
  const value = headers['x-vital-sdk-no-redirect']
  return value !== undefined && value !== 'false' && value !== '0'
}

const jsonResponse = (status: number, body: unknown, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  html: JSON.stringify(body),
})
