// The grants of users with their tokens, as an import takes them. Source: users-wearables.md 2.5.
import { createHash } from 'node:crypto'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { cursor, readCursor, uuidPart } from '../../platform/http/list-pages.ts'
import { grantsAfter } from '../grants/grants.ts'
import { NEVER_EXPIRES, type BulkExport, type BulkExported } from './schema.ts'

/** Grants of one page. */
const PAGE = 100
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Shows a page of the grants of the team's users at a provider, by the ids of the users. Errors: 400 a token of another list. */
export async function exportConnections(
  tx: Tx,
  vault: Vault,
  { provider, user_ids = null, next_token }: BulkExport,
  limit = PAGE,
): Promise<BulkExported> {
  const named = user_ids && createHash('sha256').update(user_ids.toSorted().join()).digest('base64url')
  const list = `grants ${tx.team} ${provider} ${named ?? ''}`
  const [after] = next_token == null ? [FIRST] : readCursor(list, next_token, [uuidPart])
  const found = await grantsAfter(tx, vault, provider, { afterId: after, user_ids, limit: limit + 1 })
  const page = found.slice(0, limit)
  return {
    data: page.map(({ user_id, grant }) => ({
      user_id,
      access_token: grant.access_token,
      refresh_token: grant.refresh_token ?? '',
      provider_id: grant.external_user_id ?? '',
      expires_at: grant.expires_at_ms === null ? NEVER_EXPIRES : Math.floor(grant.expires_at_ms / 1000),
      oauth_scopes: grant.scopes,
    })),
    next_token: found.length > limit ? cursor(list, [page.at(-1)!.user_id]) : null,
  }
}
