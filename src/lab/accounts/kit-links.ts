// Kits of orders under an account with a link: whether staff work on them.
import type { Queries } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

const KitLink = T.Object({ sends_kits: T.Boolean() })
/** `sends_kits`: staff send the kits, and not the laboratory. */
export type KitLink = Static<typeof KitLink>

interface KitOrder {
  details: { type: string }
  lab_account_id: string | null
}

/** The link of the account of a kit's order, in any mode: a kit that is on its way goes on. Undefined for other orders. */
export async function findKitLink(db: Queries, { details, lab_account_id }: KitOrder): Promise<KitLink | undefined> {
  if (details.type !== 'testkit' || lab_account_id === null) return undefined
  return db.maybe(KitLink, sql`select sends_kits from lab_link where account_id = ${lab_account_id}`)
}
