// The pages of the portal, and who may see them: a patient with a signed link, or with a link from a message and the birth date.
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../settings/cells.ts'
import { Subjects, type Tenant, type Tx } from '../../platform/db/transaction.ts'
import type { BrowserPage, PageRequest, PageResponse } from '../../platform/http/browser-pages.ts'
import { unauthorized } from '../../platform/http/errors.ts'
import { queryText, redirect, tryLaterPage } from '../../platform/http/phone-page.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { Access } from '../../tenancy/access/access.ts'
import { getBrand } from '../../tenancy/teams/brand.ts'
import { channels } from '../messages/message-rules.ts'
import { setOptOut } from '../messages/opt-outs.ts'
import { messagesPage, ordersPage, refusedPage, shortLinkPage, type ShownTeam } from './page-html.ts'
import { findShortLink, isBirthDate, PortalTokens, teamOfCode, type PortalVisit, type ShortLink } from './portal-links.ts'
import { shownChannels, shownOrders } from './shown-orders.ts'

export interface PortalDependencies {
  cells: Cells
  vault: Vault
  guards: Pick<Access, 'teams' | 'checks'>
  /** The base URL for browsers, without a final slash. */
  publicUrl: () => string
}

/** A request whose link was issued here and has not expired. */
interface Admitted {
  tenant: Tenant
  /** What the access log calls the link. */
  key: string
  visit: PortalVisit
}

class Expired extends Problem {}
const expiredError = () => new Expired(401, { detail: 'The link has expired' })
const invalid = () => unauthorized('The link is not valid')

export function portalPages({ cells, vault, guards, publicUrl }: PortalDependencies): BrowserPage[] {
  const tokens = new PortalTokens(vault)
  const basePath = () => new URL(publicUrl()).pathname.replace(/\/+$/, '')
  const portalPath = (path: '' | '/messages', token: string, query: Record<string, string> = {}): string =>
    `${basePath()}/portal${path}?${new URLSearchParams({ token, ...query })}`

  async function teamOf(tenant: Tenant): Promise<ShownTeam> {
    const { support_email } = (tenant.settings.brand_information ?? {}) as { support_email?: string | null }
    return { name: (await getBrand(cells, tenant)).name || 'Your laboratory service', support_email: support_email || null }
  }

  async function tenantOf(request: PageRequest, cell: CellName, team: string, session: string): Promise<Tenant> {
    const tenant = cells.has(cell) ? await guards.teams.admitSession(cell, team, session, {}) : undefined
    if (!tenant) throw guards.checks.refusal(request.address, invalid())
    return tenant
  }

  /** Who a token stands for. 401: it was not issued here for this, or has expired; 429: too many such tokens of the address. */
  async function admit(request: PageRequest, read: PortalTokens['readVisit']): Promise<Admitted & { token: string }> {
    const token = queryText(request, 'token') ?? ''
    const found = read(token)
    if (!found) throw guards.checks.refusal(request.address, invalid())
    if (found.has_expired) throw expiredError()
    const { cell, team, user_id } = found.visit
    const tenant = await tenantOf(request, cell, team, `portal ${team} ${user_id}`)
    return { tenant, key: `portal:${found.id}`, visit: found.visit, token }
  }

  /** The link of the code in the path. Errors as those of `admit`, and 503 if too many codes of the address are being looked up. */
  async function admitCode(request: PageRequest): Promise<Admitted & { link: ShortLink; code: string }> {
    const code = request.params.code ?? ''
    const named = teamOfCode(code)
    if (!named || !cells.has(named.cell)) throw guards.checks.refusal(request.address, invalid())
    const lookUp = async () => {
      const tenant = await guards.teams.findTenant(named.cell, named.team)
      const link = tenant && (await cells.db(named.cell).read(tenant, (tx) => findShortLink(tx, code)))
      return link && { link }
    }
    // A visitor who guesses must wait before a code is looked up.
    const { link } = await guards.checks.find(request.address, code, lookUp, invalid)
    const { user_id, code_hash, order_id } = link
    const key = `portal_link:${code_hash.slice(0, 12)}`
    const tenant = await tenantOf(request, named.cell, named.team, `portal ${named.team} ${code_hash}`)
    if (link.has_expired) throw expiredError()
    const visit = { ...named, user_id, order_id: order_id ?? undefined }
    return { tenant, key, visit, link, code }
  }

  const accessBy = ({ tenant, key, visit }: Admitted) => {
    const subjects = new Subjects()
    subjects.add(visit.user_id, visit.order_id)
    return { tenant, key, subjects }
  }

  const answered =
    (answer: (request: PageRequest) => Promise<[page: PageResponse, by: Admitted]>) =>
    async (request: PageRequest): Promise<PageResponse> => {
      try {
        const [page, by] = await answer(request)
        return { ...page, viewer: accessBy(by) }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (error.status === 429 || error.status === 503) return tryLaterPage(error.status, error.headers)
        return refusedPage(error.status, error instanceof Expired ? 'expired' : 'invalid')
      }
    }

  const read = <V>({ tenant, visit }: Admitted, use: (tx: Tx) => Promise<V>): Promise<V> => cells.db(visit.cell).read(tenant, use)

  /** Turns the channels that a form names off or on. */
  const change = (visitor: Admitted, { form, logChange }: PageRequest): Promise<void> =>
    cells.db(visitor.visit.cell).tx(visitor.tenant, async (tx) => {
      for (const channel of channels) {
        const wanted = form.get(channel)
        if (wanted === 'off' || wanted === 'on') await setOptOut(tx, visitor.visit.user_id, channel, wanted === 'off')
      }
      logChange(tx, 303, accessBy(visitor))
    })

  return [
    {
      id: 'portal_launch_page',
      path: '/portal/launch',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admit(request, tokens.readLaunch)
        return [redirect(303, portalPath('', tokens.visit(by.visit))), by]
      }),
    },
    {
      id: 'portal_page',
      path: '/portal',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admit(request, tokens.readVisit)
        const { user_id, order_id } = by.visit
        const one = queryText(request, 'all') === undefined ? order_id : undefined
        const orders = await read(by, (tx) => shownOrders(tx, { vault, base_path: basePath() }, user_id, one))
        const links = [
          ...(one === undefined ? [] : [{ href: portalPath('', by.token, { all: 'true' }), text: 'All your orders' }]),
          { href: portalPath('/messages', by.token), text: 'Messages about your orders' },
        ]
        return [ordersPage(await teamOf(by.tenant), orders, links), by]
      }),
    },
    {
      id: 'portal_messages_page',
      path: '/portal/messages',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admit(request, tokens.readVisit)
        const shown = await read(by, (tx) => shownChannels(tx, by.visit.user_id))
        const paths = { action: portalPath('/messages', by.token), back: portalPath('', by.token) }
        return [messagesPage(await teamOf(by.tenant), shown, paths), by]
      }),
    },
    {
      id: 'portal_messages_change',
      path: '/portal/messages',
      method: 'POST',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admit(request, tokens.readVisit)
        await change(by, request)
        return [redirect(303, portalPath('/messages', by.token)), by]
      }),
    },
    {
      id: 'portal_link_page',
      path: '/p/{code}',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admitCode(request)
        return [await shortLink(by, false), by]
      }),
    },
    {
      id: 'portal_link_answer',
      path: '/p/{code}',
      method: 'POST',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admitCode(request)
        const answer = request.form.get('birth_date') ?? ''
        const isRight = await cells.db(by.visit.cell).tx(by.tenant, (tx) => isBirthDate(tx, by.link, answer))
        if (isRight) return [redirect(303, portalPath('', tokens.visit(by.visit))), by]
        const link = await read(by, (tx) => findShortLink(tx, by.code))
        return [await shortLink({ ...by, link: link ?? by.link }, true), by]
      }),
    },
    {
      id: 'portal_link_messages_change',
      path: '/p/{code}/messages',
      method: 'POST',
      logsAccess: true,
      answer: answered(async (request) => {
        const by = await admitCode(request)
        await change(by, request)
        return [redirect(303, `${basePath()}/p/${by.code}`), by]
      }),
    },
  ]

  async function shortLink(visitor: Admitted & { link: ShortLink; code: string }, wasWrong: boolean): Promise<PageResponse> {
    const shown = await read(visitor, (tx) => shownChannels(tx, visitor.visit.user_id))
    const action = `${basePath()}/p/${visitor.code}`
    return shortLinkPage(await teamOf(visitor.tenant), shown, { action, isLocked: visitor.link.is_locked, wasWrong })
  }
}
