// Whether orders at a laboratory can be sent.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { labSlugs } from '../../people/users/sources.ts'
import type { Lab } from '../catalog/schema.ts'
import { labLinkFor } from '../links/links.ts'
import { reloadAccounts, usableAccounts, type UsableAccount } from './account-selection.ts'

/**
 * Errors: 400 unless the installation serves the laboratory by itself, the account has a link that is live for the team and sends orders, or
 * orders without a link are accepted (`orders_without_integration`). The message names the laboratories that need no link.
 * @param account_id undefined before an account is chosen: any account that the team may use
 */
export async function assertLink(
  tx: Tx,
  { id, slug, name }: Pick<Lab, 'id' | 'slug' | 'name'>,
  account_id?: string,
): Promise<void> {
  if (tx.tenant.settings.orders_without_integration === true || labLinkFor(tx.tenant, slug)) return
  const isLinked = (account: UsableAccount): boolean =>
    account.has_live_link && account.lab_id === id && (account_id === undefined || account.id === account_id)
  if ((await usableAccounts(tx)).some(isLinked) || (await reloadAccounts(tx)).some(isLinked)) return
  const linked = labSlugs.filter((lab) => labLinkFor(tx.tenant, lab))
  throw badRequest(`This installation has no integration with ${name} (${slug}). Available laboratories: ${linked.join(', ')}`)
}
