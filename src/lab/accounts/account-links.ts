// The link of a lab account: at most one, with the profile of its messages. Owns lab_link.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { readProfile, type LinkProfile, type ProfileOptions } from '../links/profile/link-profile.ts'

export interface AccountLink {
  account_id: string
  lab_slug: string
  /** The options as they were set. */
  options: ProfileOptions
  profile: LinkProfile
}

/**
 * Sets the profile of an account's link, and creates the link if there is none. Writes lab_link.
 * Errors: 400 with every fault of the profile; 404 unknown account.
 */
export async function saveLink(tx: PlainTx, account_id: string, options: unknown): Promise<void> {
  readProfile(options)
  const count = await tx.run(sql`
    insert into lab_link (account_id, profile, created_at, updated_at)
    select id, ${JSON.stringify(options)}, ${tx.now}, ${tx.now} from lab_account where id = ${account_id}
    on conflict (account_id) do update set profile = excluded.profile, updated_at = excluded.updated_at`)
  if (!count) throw notFound('Lab account not found')
}

const Row = T.Object({ account_id: T.String(), lab_slug: T.String(), profile: T.String() })

/** The link of an account; undefined if it has none. */
export async function findLink(db: Queries, account_id: string): Promise<AccountLink | undefined> {
  const row = await db.maybe(
    Row,
    sql`
    select k.account_id, l.slug as lab_slug, k.profile
    from lab_link k join lab_account a on a.id = k.account_id join lab l on l.id = a.lab_id
    where k.account_id = ${account_id}`,
  )
  if (!row) return undefined
  const options = JSON.parse(row.profile) as ProfileOptions
  return { ...row, options, profile: readProfile(options) }
}
