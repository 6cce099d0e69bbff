// The pages of launch URLs: a token becomes a session in a cookie, whose page is the console; without a token an open session continues, or
// the browser is redirected to the organization's own backend, which creates a new launch URL. Source: management-auth.md 16, fast launch
// and continuation.
import type { CellName } from '../../settings/cells.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { readQuery } from '../../platform/http/input.ts'
import type { BrowserPage, PageResponse, PageRequest } from '../../platform/http/browser-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { consolePage } from '../../platform/http/console-pages.ts'
import { escapeHtml, phonePage, redirect } from '../../platform/http/phone-page.ts'
import { isSafeForCookies } from '../sign-in/browser-requests.ts'
import {
  startSession,
  findFramingOrigins,
  findLaunch,
  findSession,
  setFeature,
  SESSION_S,
  type DashboardSession,
} from './dashboard-sessions.ts'
import { isSessionToken, launchCookie, modalities, readLaunchTokens, type CookiePlace } from './launch-cookies.ts'
import { findOrgByHost } from '../domains/domains.ts'
import { findEmbeddingConfig } from './embedding.ts'
import { Launch, type Embedding } from './schema.ts'
import type { CredentialChecks } from '../../platform/http/rate-limits.ts'
import { assertFeature, basePath, validateLaunch, type LaunchDependencies } from './launches.ts'

/** The dependencies of the pages on the process. */
export interface LaunchPageDependencies extends LaunchDependencies {
  checks: CredentialChecks
}

/** Tokens in the format of `newKey`: no other text is looked up. */
const LAUNCH_TOKEN = /^dl_[\w-]{43}$/
/** The addresses of the console of a launched session. */
const SESSION_PATHS = ['/auth/session', '/auth/session/*'] as const

/** The pages, without a key. */
export const launchPages = (dependencies: LaunchPageDependencies): BrowserPage[] => {
  const orTryLater = (answer: (visit: PageRequest) => Promise<PageResponse>) => async (visit: PageRequest) => {
    try {
      return await answer(visit)
    } catch (error) {
      if (error instanceof Problem && (error.status === 429 || error.status === 503)) return tryLater(error)
      throw error
    }
  }
  return [
    {
      id: 'launch_page',
      path: '/auth/launch',
      logsAccess: false,
      answer: orTryLater((visit) => {
        const token = queryText(visit, 'token')
        return token === undefined ? continueSession(dependencies, visit) : redeemLaunchToken(dependencies, token, visit.address)
      }),
    },
    ...SESSION_PATHS.map((path) => ({
      id: 'session_page',
      path,
      // It reads its data by operations.
      logsAccess: false,
      answer: orTryLater((visit: PageRequest) => showSession(dependencies, visit)),
    })),
  ]
}

/** The result of a control plane transaction for a credential; undefined if it is unknown. 429: too many invalid ones from its address. */
async function checkLaunch<V>(
  dependencies: LaunchPageDependencies,
  { address, credential, hasForm }: { address: string; credential: string | undefined; hasForm: boolean },
  lookUp: (tx: PlainTx) => Promise<V | undefined>,
): Promise<V | undefined> {
  const unknown = () => notFound('Unknown credential')
  if (!hasForm) return absent(dependencies.checks.refusal(address, unknown()))
  return dependencies.checks.find(address, credential, () => dependencies.cells.control.plainTx(lookUp), unknown).catch(absent)
}

function queryText({ query }: PageRequest, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'string' ? value : value?.at(-1)
}

/** Undefined for an unknown credential; throws other errors of a check. */
function absent(error: unknown): undefined {
  if (!(error instanceof Problem) || error.status !== 404) throw error
}

/** The origins that may frame a session of a modality: none for one that a link opens. */
const frameAncestors = (modality: string, origins: readonly string[]) => (modality === 'feature_embed' ? origins : [])

/** The page for an address that has sent too many invalid tokens, or for an overloaded server. */
function tryLater({ status, headers }: Problem): PageResponse {
  const page = errorPage(status, 'Please try again later', 'Too many links or sessions from your address were not valid.')
  return { ...page, headers: { ...page.headers, ...headers } }
}

/** Uses a launch token up, where a cookie is not sent in clear. Writes dashboard_session. */
async function redeemLaunchToken(dependencies: LaunchPageDependencies, token: string, address: string): Promise<PageResponse> {
  if (!isSafeForCookies(new URL(dependencies.publicUrl())))
    return errorPage(403, 'This link needs HTTPS', 'Sessions need HTTPS, or a browser on the machine of the server.')
  const lookedUp = { address, credential: undefined, hasForm: LAUNCH_TOKEN.test(token) }
  const known = await checkLaunch(dependencies, lookedUp, (tx) => findLaunch(tx, token))
  if (!known) return errorPage(404, 'Unknown link', 'This link was not created by this server.')
  const session = await dependencies.cells.control.plainTx((tx) => startSession(tx, token))
  if (session === undefined)
    return errorPage(
      410,
      'This link cannot be used',
      'It was already used, has expired, or is no longer authorized. Please go back and open it again.',
      frameAncestors(known.modality, known.origins),
    )
  return redirect(303, `${basePath(dependencies.publicUrl)}/auth/session`, {
    'set-cookie': launchCookie(placeOf(dependencies), known.modality, session, SESSION_S),
    // The page learns from its referrer which origin frames it, in browsers that do not say so otherwise.
    'referrer-policy': 'strict-origin-when-cross-origin',
  })
}

/** Where cookies of launched sessions are. */
export const placeOf = ({ publicUrl }: Pick<LaunchDependencies, 'publicUrl'>): CookiePlace => ({
  base_path: basePath(publicUrl),
  isSecure: publicUrl().startsWith('https:'),
})

/** The open session of a browser's token; undefined if there is none. 429: too many invalid ones from its address. */
const findLaunchSession = (
  dependencies: LaunchPageDependencies,
  token: string,
  address: string,
): Promise<DashboardSession | undefined> =>
  checkLaunch(dependencies, { address, credential: token, hasForm: isSessionToken(token) }, (tx) =>
    findSession(tx, token, tx.now),
  )

/** The console for the session of the browser: that of a frame in a frame, and of a link elsewhere. */
async function showSession(dependencies: LaunchPageDependencies, visit: PageRequest): Promise<PageResponse> {
  const tokens = readLaunchTokens(visit.headers, isFramed(visit) ? modalities : modalities.toReversed())
  for (const token of tokens) {
    const session = await findLaunchSession(dependencies, token, visit.address)
    if (session)
      return consolePage({
        base_path: basePath(dependencies.publicUrl),
        launch_id: session.id,
        frames: frameAncestors(session.modality, originsOf(session)),
      })
  }
  const ended = tokens.find(isSessionToken)
  const origins = ended === undefined ? [] : await dependencies.cells.control.plainTx((tx) => findFramingOrigins(tx, ended))
  return errorPage(401, 'You are not signed in', 'There is no active session. Please go back and open the link again.', origins)
}

const isFramed = ({ headers }: PageRequest): boolean => headers['sec-fetch-dest'] === 'iframe'
const originsOf = (session: DashboardSession) => session.origins.map(({ origin }) => origin)

/** A launch without a token: continues the open session, or redirects to the source of a new launch URL. Writes dashboard_session. */
async function continueSession(dependencies: LaunchPageDependencies, visit: PageRequest): Promise<PageResponse> {
  const { control } = dependencies.cells
  const owner = await control.plainTx(async (tx) => {
    const org_id = await resolveOrg(tx, dependencies, visit)
    return org_id === undefined ? undefined : { org_id, embedding: await findEmbeddingConfig(tx, org_id) }
  })
  if (!owner?.embedding) return errorPage(404, 'Unknown organization', 'This link does not identify an organization.')
  const { org_id, embedding } = owner
  const faults: Fault[] = []
  const launch = readQuery(Launch, visit.query, faults) as Launch
  if (!faults.length) faults.push(...validateLaunch(launch, 'query'))
  if (faults.length) return errorPage(422, 'This link is incomplete', `Missing or invalid: ${fieldNames(faults)}.`)
  const origins = frameAncestors(
    launch.modality,
    embedding.origin_configs.map(({ origin }) => origin),
  )
  if (!embedding.modalities.includes(launch.modality))
    return errorPage(400, 'Not enabled', 'This organization has not enabled this launch modality.')
  const [token] = readLaunchTokens(
    visit.headers,
    modalities.filter((modality) => modality === launch.modality),
  )
  const session = token === undefined ? undefined : await findLaunchSession(dependencies, token, visit.address)
  if (session && session.org_id === org_id && sessionAllows(session, launch))
    return landingFeature(dependencies, token!, session, launch, origins)
  const continuation = continuationUrlFor(embedding, visit)
  if (continuation === undefined)
    return errorPage(401, 'You are not signed in', 'Please go back and open the link again.', origins)
  return redirect(307, addLaunchParams(continuation, launch))
}

const fieldNames = (faults: Fault[]): string => [...new Set(faults.map(({ loc }) => String(loc[1])))].join(', ')

const Owner = T.Object({ org_id: T.String() })

/** By the slug if one is given, else by the host. */
async function resolveOrg(tx: PlainTx, dependencies: LaunchPageDependencies, visit: PageRequest): Promise<string | undefined> {
  const slug = queryText(visit, 'slug')
  if (slug === undefined) return findOrgByHost(tx, dependencies, visit.headers.host ?? '')
  if (slug.includes('\0') || !slug.isWellFormed()) return undefined
  return (await tx.maybe(Owner, sql`select org_id from dashboard_embedding where slug = ${slug}`))?.org_id
}

/** An embedded session is limited to its feature; a session that a link opened may show any feature. */
function sessionAllows(session: DashboardSession, launch: Launch): boolean {
  return (
    (launch.member_id ?? session.member_id) === session.member_id &&
    (launch.integration_member_id ?? session.integration_member_id) === session.integration_member_id &&
    (launch.team_id ?? session.team_id) === session.team_id &&
    (launch.integration_team_id ?? session.integration_team_id) === session.integration_team_id &&
    launch.environment === session.environment &&
    launch.modality === session.modality &&
    (launch.modality === 'link_out' || launch.feature === session.feature)
  )
}

async function landingFeature(
  dependencies: LaunchPageDependencies,
  token: string,
  session: DashboardSession,
  { feature }: Launch,
  origins: readonly string[],
): Promise<PageResponse> {
  try {
    await assertFeature(dependencies, `${session.environment}-${session.region}` as CellName, session.team_id, feature)
  } catch (error) {
    if (error instanceof Problem) return errorPage(error.status, 'Not found', `${String(error.body.detail)}.`, origins)
    throw error
  }
  if (feature !== session.feature) await dependencies.cells.control.plainTx((tx) => setFeature(tx, token, feature))
  return redirect(303, `${basePath(dependencies.publicUrl)}/auth/session`)
}

/** The continuation URL of the page from which the browser comes; the only URL if the browser does not say, or comes from another page. */
function continuationUrlFor({ origin_configs }: Embedding, { headers }: PageRequest): string | undefined {
  const from = URL.canParse(headers.referer ?? '') ? new URL(headers.referer!).origin : undefined
  const known = origin_configs.find(({ origin }) => origin === from)
  if (known) return known.session_continuation_url ?? undefined
  const all = origin_configs.flatMap(({ session_continuation_url }) => session_continuation_url ?? [])
  return all.length === 1 ? all[0] : undefined
}

/** Adds the five values of the launch to the URL and replaces parameters of the same names. */
function addLaunchParams(address: string, launch: Launch): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(launch)) url.searchParams.set(name, value)
  return url.href
}

/** The reason why there is nothing to show, in a sentence; without scripts and without external content. */
const errorPage = (status: number, title: string, sentence: string, origins: readonly string[] = []): PageResponse =>
  phonePage(status, title, `<p>${escapeHtml(sentence)}</p>`, { frames: origins })
