// The report of the newest trial of a link.
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { isTrialRunning } from './link-claims.ts'
import { listTrial } from './run-trial.ts'
import { judgeTrial, type TrialReport } from './trial-report.ts'

/** How far the newest trial is, and what came back of it. */
export async function readTrial(
  db: Queries,
  { account_id, account_number, lab_slug, profile }: AccountLink,
): Promise<TrialReport> {
  const messages = await listTrial(db, account_id)
  const sent_at = messages[0]?.created_at ?? null
  const received = sent_at === null ? [] : await listTestMessages(db, account_id, sent_at)
  return {
    laboratory: lab_slug,
    account_number,
    sent_at,
    is_running: await isTrialRunning(db, account_id),
    outcomes: judgeTrial(messages, received, profile),
  }
}

const MESSAGES_MAX = 1000

/** The bytes of the messages that the laboratory sent over a link in mode `test` since a time, oldest first; at most 1,000. */
async function listTestMessages(db: Queries, account_id: string, start: string): Promise<Buffer[]> {
  const rows = await db.many(
    T.Object({ bytes: T.Unsafe<Buffer>({}) }),
    sql`
    select bytes from lab_message
    where link_account_id = ${account_id} and direction = 'in' and state = 'test' and created_at >= ${start}
    order by created_at, id limit ${MESSAGES_MAX}`,
  )
  return rows.map(({ bytes }) => bytes)
}
