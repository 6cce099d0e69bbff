// The report of the newest trial of a link.
import type { Queries } from '../../platform/db/transaction.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { isTrialRunning } from './link-claims.ts'
import { listTestMessages } from './received-trials.ts'
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
