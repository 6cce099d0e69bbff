// Signed addresses of requisitions: whoever has one gets the document without a key, seven days long. They name ids and nothing else,
// and are not stored anywhere but in the order that shows them.
import type { Administration } from '../../tenancy/access/access.ts'
import { orderStepped } from '../orders/order-hooks.ts'
import { on, type Hook } from '../../platform/db/hooks.ts'
import { Subjects } from '../../platform/db/subjects.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import { Problem } from '../../platform/http/errors.ts'
import type { Outside } from '../../platform/http/operation.ts'
import type { BrowserPage, PageAnswer } from '../../platform/http/system-pages.ts'
import { Tokens } from '../../platform/crypto/signed-tokens.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { drawRequisition, type Drawer } from './routes.ts'

const LIFETIME_S = 7 * 86_400
const PATH = '/documents/requisition'

/** Tokens of the machine's time: a credential does not age with a sandbox's clock. */
const tokensOf = (vault: Vault): Tokens => new Tokens(vault, 'requisition link')

/**
 * Gives an order the address of its requisition in the transaction that creates it: one signature, no statement. A process that does
 * not know where browsers reach it gives none.
 */
export const requisitionHook = ({ vault, publicUrl }: { vault: Vault; publicUrl: () => string }): Hook => {
  const tokens = tokensOf(vault)
  return on(orderStepped, (tx, { order }, low) => {
    if (low !== 'requisition_created' || !publicUrl()) return
    const token = tokens.sign([tx.tenant.cell, tx.team, order.id], LIFETIME_S)
    order.requisition_form_url = `${publicUrl()}${PATH}?token=${encodeURIComponent(token)}`
  })
}

const text = (status: number, sentence: string, headers: Record<string, string> = {}): PageAnswer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  html: `${sentence}\n`,
})

const gone = () => text(404, 'This link is not valid, or not any more. Please ask for a new one.')

/** The page behind those addresses. 404: not one of ours, too old, or nothing there any more. 503: too busy. */
export function requisitionPage({ cells, teams }: Administration, vault: Vault, drawer: Drawer): BrowserPage {
  const tokens = tokensOf(vault)
  return {
    id: 'requisition_page',
    path: PATH,
    patients: true,
    answer: async ({ query }) => {
      const token = typeof query.token === 'string' ? tokens.read(query.token) : undefined
      const [cell, team, order_id] = token?.words ?? []
      if (order_id === undefined || !cells.has(cell as CellName)) return gone()
      const tenant = await teams.tenant(cell as CellName, team!)
      if (!tenant) return gone()
      const subjects = new Subjects()
      subjects.add(null, order_id)
      const page = await draw({ tenant: { ...tenant, subjects }, cells }, drawer, order_id)
      return { ...page, seen: { tenant, key: `link:${token!.id}`, subjects } }
    },
  }
}

async function draw(outside: Outside, drawer: Drawer, order_id: string): Promise<PageAnswer> {
  try {
    const file = await drawRequisition(drawer, outside, order_id)
    const headers = {
      'content-type': file.type,
      'content-disposition': `inline; filename="${file.name}"`,
      // What shows PDFs within a browser has scripts and styles of its own.
      'content-security-policy': "frame-ancestors 'none'",
    }
    return { status: 200, headers, html: file.bytes }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.status === 503 ? text(503, 'Too busy, please try again.', error.headers) : gone()
  }
}
