// The end of deleted users: their grace passes, and what is left of them is looked for in every table.
import assert from 'node:assert/strict'
import { advanceClock, SECONDS_PER_DAY } from '../../support/orders.ts'
import type { TestTeam } from '../../support/server.ts'
import { rowsOf } from './rows.ts'

const GRACE_S = 7 * SECONDS_PER_DAY

/** Tables whose rows may name a user after the erasure, and why. */
const KEPT: Record<string, string> = {
  audit_log: 'who did what stays recorded',
  job: 'a job of a later day has ids; it finds nothing then',
  feed: 'the order of events, by their ids; an event that is gone is left out',
  event_outbox: 'ids of events that are about to be sent; one that is gone is not',
}

/** The order of samples of events, which test messages to endpoints hold. */
const SAMPLE = '00000000-0000-4000-8000-000000000002'

/** Deletes users, and lets their grace pass. */
export async function erase(team: TestTeam, users: string[]): Promise<void> {
  for (const id of users) {
    const { status } = await team.api.delete(`/v2/user/${id}`)
    assert(status === 200 || status === 404, `HTTP ${status}`)
  }
  await advanceClock(team, GRACE_S + 60)
}

/** Rows of the team that have one of these texts: `table: row`. */
export async function rowsWith(team: TestTeam, texts: readonly string[], pattern?: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const [name, rows] of Object.entries(await rowsOf(team)))
    for (const row of rows)
      if (!(name in KEPT) && (texts.some((text) => row.includes(text)) || (pattern?.test(row) && !row.includes(SAMPLE))))
        found.push(`${name}: ${row.slice(0, 400)}`)
  return found
}
