// Orders over links for tests: teams whose account has a live link, the messages that wait for its transport, and answers of the laboratory.
import { randomUUID } from 'node:crypto'
import type { LabSlug } from '../../src/lab/catalog/enums.ts'
import { saveLink, setLinkMode } from '../../src/lab/accounts/account-links.ts'
import type { OutgoingState } from '../../src/lab/link-messages/message-store.ts'
import { recordAnswer } from '../../src/lab/link-orders/record-answer.ts'
import type { LinkMode } from '../../src/lab/links/link-modes.ts'
import type { ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { Nullable, T, type Static } from '../../src/platform/schema/schema.ts'
import { Hl7Message } from '../../src/lab/hl7/hl7-message.ts'
import { labAccount } from './lab-accounts.ts'
import { profileWith } from './link-messages.ts'
import { createTestTeam, guard, vault, type TestTeam } from './server.ts'

export interface LinkChanges {
  options?: ProfileOptions
  mode?: LinkMode
  live_team_id?: string | null
  lab?: LabSlug
  account_number?: string
  cell?: 'production-us' | 'sandbox-us'
}

/** Where orders go in tests without a transport. */
export const LABORATORY = { orders: 'mllp', client: { host: 'laboratory.example' } } satisfies ProfileOptions['transport']

/** An account of the team with a link over which orders go. @returns its id */
export async function orderLink(
  team: TestTeam,
  { options = {}, mode = 'live', live_team_id = null, lab = 'quest', account_number }: LinkChanges = {},
) {
  const account = await labAccount(team, { lab, provider_account_id: account_number ?? `FICTIONAL-${randomUUID().slice(0, 8)}` })
  await team.db.plainTx(async (tx) => {
    await saveLink(tx, account, profileWith({ transport: LABORATORY, ...options }), vault)
    await setLinkMode(tx, account, mode, live_team_id)
  })
  guard.invalidate(team.team)
  return account
}

/** A production team with such an account. */
export async function linkedTeam(changes: LinkChanges = {}) {
  const team = await createTestTeam(changes.cell ?? 'production-us')
  return { team, account: await orderLink(team, changes) }
}

const Row = T.Object({
  id: T.String(),
  team_id: T.String(),
  link_account_id: T.String(),
  order_id: T.String(),
  control_id: T.String(),
  message_type: T.String(),
  state: T.Unsafe<OutgoingState>({ type: 'string' }),
  error: Nullable(T.String()),
  bytes: T.Unsafe<Buffer>({}),
  due_at: Nullable(T.String()),
})
export type QueuedMessage = Static<typeof Row> & { message: Hl7Message }

/** The messages to the laboratory over a link, oldest first. */
export async function queuedMessages({ db }: TestTeam, account: string): Promise<QueuedMessage[]> {
  const rows = await db.queries.many(
    Row,
    sql`
    select id, team_id, link_account_id, order_id, control_id, message_type, state, error, bytes, due_at::text as due_at from lab_message
    where link_account_id = ${account} and direction = 'out' order by created_at, id`,
  )
  return rows.map((row) => ({ ...row, message: new Hl7Message(row.bytes.toString(), 'UNICODE UTF-8') }))
}

/** Notes that a transport has sent a message. */
export const markSent = ({ db }: TestTeam, id: string): Promise<number> =>
  db.queries.run(sql`update lab_message set state = 'sent', attempts = attempts + 1 where id = ${id}`)

/** Records an answer of the laboratory: MSA with the code, then the segments. */
export function answer(
  team: TestTeam,
  { id, control_id }: Pick<QueuedMessage, 'id' | 'control_id'>,
  code: string,
  ...segments: string[]
): Promise<OutgoingState> {
  const text = ['MSH|^~\\&|LIS|LAB|||20300102||ACK|A1|P|2.5.1', `MSA|${code}|${control_id}`, ...segments, ''].join('\r')
  return recordAnswer({ cell: team.cell, db: team.db, findTenant: guard.tenant }, id, Buffer.from(text))
}
