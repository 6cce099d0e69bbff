// Signed links to requisitions: a link returns the document without a key for seven days. Links contain ids only and are stored only in the
// order that shows them.
import type { Cells } from '../../platform/db/cells.ts'
import { type Tenant, type Tx, Subjects } from '../../platform/db/transaction.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { orderStepped } from '../orders/order-hooks.ts'
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import type { CellName } from '../../settings/cells.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { MultiTransactionContext } from '../../platform/http/operation.ts'
import type { BrowserPage, PageResponse } from '../../platform/http/browser-pages.ts'
import { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { renderRequisitionPdf, type RenderDependencies } from './routes.ts'

const LIFETIME_S = 7 * 86_400
const PATH = '/documents/requisition'

/** Tokens expire by the system clock: a credential must not depend on a sandbox's clock. */
const linkTokens = (vault: Vault): SignedTokens => new SignedTokens(vault, 'requisition link')

/**
 * Adds the requisition link to an order in the transaction that creates its requisition: one signature, no statement. Without a public URL
 * of the server, adds none.
 */
export const requisitionHook = ({ vault, publicUrl }: { vault: Vault; publicUrl: () => string }): Hook => {
  const tokens = linkTokens(vault)
  const giveAddress = (tx: Tx, { order }: LockedOrder, low: string): void => {
    if (low !== 'requisition_created' || !publicUrl()) return
    order.requisition_form_url = publicUrl() + signedPath(tokens, tx.tenant, order.id, LIFETIME_S)
  }
  // An appointment with a requisition makes a transition of its own, whose event does not contain the link yet.
  return defineHook(orderStepped, giveAddress, { runsAfter: 'visits/appointments' })
}

const signedPath = (tokens: SignedTokens, { cell, team }: Pick<Tenant, 'cell' | 'team'>, order_id: string, lifetime_s: number) =>
  `${PATH}?token=${encodeURIComponent(tokens.sign([cell, team, order_id], lifetime_s))}`

/** The path of a requisition with a new signature, for a page that shows the link only to the patient. */
export const requisitionPath = (
  vault: Vault,
  tenant: Pick<Tenant, 'cell' | 'team'>,
  order_id: string,
  lifetime_s: number,
): string => signedPath(linkTokens(vault), tenant, order_id, lifetime_s)

const textPage = (status: number, sentence: string, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  html: `${sentence}\n`,
})

const linkExpired = () => textPage(404, 'This link is invalid or has expired. Please request a new one.')

/** Process dependencies of the requisition page. */
export interface RequisitionPageDependencies extends RenderDependencies {
  cells: Cells
  /** The present tenant of a team; undefined if the team does not exist. */
  findTenant: (cell: CellName, team_id: string) => Promise<Tenant | undefined>
  vault: Vault
}

/** The page of requisition links. Errors: 404 an invalid or expired link, or the order no longer exists; 503 too many render jobs. */
export function requisitionPage({ cells, findTenant, vault, heavy }: RequisitionPageDependencies): BrowserPage {
  const tokens = linkTokens(vault)
  return {
    id: 'requisition_page',
    path: PATH,
    logsAccess: true,
    answer: async ({ query }) => {
      const token = typeof query.token === 'string' ? tokens.verify(query.token) : undefined
      const [cell, team, order_id] = token?.words ?? []
      if (order_id === undefined || !cells.has(cell as CellName)) return linkExpired()
      const tenant = await findTenant(cell as CellName, team!)
      if (!tenant) return linkExpired()
      const subjects = new Subjects()
      subjects.add(null, order_id)
      const page = await draw({ tenant: { ...tenant, subjects }, cells }, { heavy }, order_id)
      return { ...page, viewer: { tenant, key: `link:${token!.id}`, subjects } }
    },
  }
}

async function draw(context: MultiTransactionContext, documents: RenderDependencies, order_id: string): Promise<PageResponse> {
  try {
    const file = await renderRequisitionPdf(documents, context, order_id)
    const headers = {
      'content-type': file.type,
      'content-disposition': `inline; filename="${file.name}"`,
      // PDF viewers in browsers have scripts and styles of their own.
      'content-security-policy': "frame-ancestors 'none'",
    }
    return { status: 200, headers, html: file.bytes }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.status === 503 ? textPage(503, 'The service is busy. Please try again.', error.headers) : linkExpired()
  }
}
