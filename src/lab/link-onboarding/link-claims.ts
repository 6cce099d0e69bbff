// Who checks or tries a link: one process at a time, because laboratories take few connections. A claim ends by itself if its process is
// killed. Its end also identifies it, so that a process that was stopped for longer ends no claim but its own. Owns lab_link_claim.
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { conflict } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'

type Purpose = 'check' | 'trial'

export interface LinkClaim {
  account_id: string
  /** In microseconds, as text. */
  expires_at: string
}

const Claimed = T.Object({ expires_at: T.String() })

/**
 * Claims a link for a check or a trial. Writes lab_link_claim.
 * Errors: 409 a check or a trial of the link is running.
 */
export async function claimLink(db: Queries, account_id: string, purpose: Purpose, seconds: number): Promise<LinkClaim> {
  await db.run(sql`delete from lab_link_claim where account_id = ${account_id} and expires_at <= ${dbNow}`)
  const row = await db.maybe(
    Claimed,
    sql`
    insert into lab_link_claim (account_id, purpose, expires_at) values (${account_id}, ${purpose}, ${dbNowPlus(seconds)})
    on conflict do nothing returning expires_at`,
  )
  if (!row) throw conflict('A check or a trial of the link is running')
  return { account_id, expires_at: row.expires_at }
}

/** Extends the claim of a trial while its link is in mode `test`. Writes lab_link_claim. @returns undefined: the trial is over */
export async function extendTrial(
  db: Queries,
  { account_id, expires_at }: LinkClaim,
  seconds: number,
): Promise<LinkClaim | undefined> {
  const row = await db.maybe(
    Claimed,
    sql`
    update lab_link_claim c set expires_at = ${dbNowPlus(seconds)} from lab_link k
    where c.account_id = ${account_id} and c.expires_at = ${expires_at} and k.account_id = c.account_id and k.mode = 'test'
    returning c.expires_at`,
  )
  return row && { account_id, expires_at: row.expires_at }
}

/** Ends a claim, if it is still the claim of its link. Deletes from lab_link_claim. */
export const endClaim = (db: Queries, { account_id, expires_at }: LinkClaim): Promise<number> =>
  db.run(sql`delete from lab_link_claim where account_id = ${account_id} and expires_at = ${expires_at}`)

/** Whether a trial of the link is running. */
export const isTrialRunning = async (db: Queries, account_id: string): Promise<boolean> =>
  (await db.maybe(
    Claimed,
    sql`select expires_at from lab_link_claim where account_id = ${account_id} and purpose = 'trial' and expires_at > ${dbNow}`,
  )) !== undefined
