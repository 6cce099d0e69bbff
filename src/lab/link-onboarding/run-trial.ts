// Trials of a link in mode `test`: ten fictional orders and the answers to them. A trial is written before it is sent, so that its report shows
// how far it is. Owns lab_link_trial: the newest trial of each link. Nothing of it is of a patient.
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { openFileStore } from '../link-transports/link-places.ts'
import { FolderError } from '../link-transports/file-store.ts'
import { withLineEnds, writeMessageFile } from '../link-transports/folder-writer.ts'
import type { NetworkContext } from './check-step.ts'
import { EXCHANGE_TEXTS, exchangeMessage } from './exchange-message.ts'
import { claimLink, endClaim, extendTrial, type LinkClaim } from './link-claims.ts'
import type { ExpectedAnswer } from './trial-cases.ts'
import { writeTrial, type TrialMessage } from './write-trial.ts'

/** A trial that is written and not sent yet. */
export interface Trial {
  /** With its secrets. */
  link: AccountLink
  claim: LinkClaim
  messages: TrialMessage[]
}

/** The time for a message of a trial beyond the one for its answer. If it takes longer, the trial counts as ended. */
const CLAIM_MARGIN_S = 60

/**
 * Writes the ten orders of a trial in place of the earlier trial of the link; `sendTrial` sends them. Writes lab_link_claim, lab_link_trial.
 * @param link with its secrets
 * @param codes of tests to order; by default the first orderable tests of the catalog
 * Errors: 400 the link is not in mode `test`, or the laboratory has no test of a given code, or none at all; 409 as `claimLink`.
 */
export async function startTrial(tx: PlainTx, link: AccountLink, codes: readonly string[]): Promise<Trial> {
  const { account_id, mode } = link
  if (mode !== 'test') throw badRequest(`A trial needs a link in mode test; this one is in mode ${mode}`)
  const claim = await claimLink(tx, account_id, 'trial', claimSeconds(link))
  const messages = await writeTrial(tx, link, codes)
  await tx.run(sql`delete from lab_link_trial where account_id = ${account_id}`)
  for (const { position, name, contents, results, expected, placer_number, control_id, bytes, error } of messages)
    await tx.run(sql`
      insert into lab_link_trial (account_id, position, name, contents, results, expected, placer_number, control_id, bytes, error, created_at)
      values (${account_id}, ${position}, ${name}, ${contents}, ${results}, ${expected}, ${placer_number}, ${control_id}, ${bytes}, ${error},
              ${tx.now})`)
  return { link, claim, messages }
}

const claimSeconds = ({ profile }: AccountLink): number => profile.transport.client.answer_timeout_s + CLAIM_MARGIN_S

/**
 * Sends the orders of a trial, one after the other: over MLLP it waits for each answer, in folders answers come as files. Ends before all are
 * sent when the link leaves mode `test`, or the process was stopped for so long that the trial counts as ended. Writes lab_link_claim,
 * lab_link_trial.
 * Errors: `signal` was aborted.
 */
export async function sendTrial(
  db: Queries,
  { link, claim, messages }: Trial,
  network: NetworkContext,
  signal?: AbortSignal,
): Promise<void> {
  let ownClaim = claim
  try {
    for (const message of messages) {
      signal?.throwIfAborted()
      const extended = await extendTrial(db, ownClaim, claimSeconds(link))
      if (!extended) return
      ownClaim = extended
      await sendCase(db, link, network, message, signal)
    }
  } finally {
    await endClaim(db, ownClaim)
  }
}

/** Sends a message that could be written, where orders have a transport, and records its answer. */
async function sendCase(
  db: Queries,
  link: AccountLink,
  network: NetworkContext,
  message: TrialMessage,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { bytes, control_id } = message
  const { orders } = link.profile.transport
  if (!bytes || orders === 'none') return
  const row = sql`account_id = ${link.account_id} and position = ${message.position} and control_id = ${control_id}`
  await db.run(sql`update lab_link_trial set sent_at = ${dbNow} where ${row}`)
  const { answer = null, error = null } =
    orders === 'mllp'
      ? await sendOverMllp(link, network, { bytes, control_id, signal })
      : await writeFile(link, network, { kind: orders, bytes, control_id })
  await db.run(sql`update lab_link_trial set answer = ${answer}, error = ${error} where ${row}`)
}

/** The answer, or why there is none; neither if the answer comes later. */
interface Sent {
  answer?: Buffer
  error?: string
}

async function sendOverMllp(
  { profile }: AccountLink,
  network: NetworkContext,
  { bytes, control_id, signal }: { bytes: Buffer; control_id: string; signal: AbortSignal | undefined },
): Promise<Sent> {
  const wait_ms = profile.transport.client.answer_timeout_s * 1000
  try {
    const exchange = await exchangeMessage({ profile, network, bytes, control_id, wait_ms, ...(signal && { signal }) })
    return 'bytes' in exchange ? { answer: exchange.bytes } : { error: EXCHANGE_TEXTS[exchange.problem] }
  } catch (error) {
    signal?.throwIfAborted()
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return { error: `The laboratory cannot be reached (${code})` }
  }
}

/** Writes a message as a file for the laboratory. */
async function writeFile(
  { account_id, profile }: AccountLink,
  network: NetworkContext,
  { kind, bytes, control_id }: { kind: 'folder' | 'sftp'; bytes: Buffer; control_id: string },
): Promise<Sent> {
  try {
    const store = await openFileStore(kind, { account_id, profile, ...network })
    try {
      const message = { control_id, bytes: withLineEnds(bytes, profile.text.line_end) }
      await writeMessageFile(store, profile.transport[kind].orders, message)
    } finally {
      await store.close()
    }
    return {}
  } catch (error) {
    if (error instanceof FolderError) return { error: error.message }
    throw error
  }
}

const TrialRow = T.Object({
  position: T.Integer(),
  name: T.String(),
  contents: T.String(),
  results: T.String(),
  expected: T.Unsafe<ExpectedAnswer>({ type: 'string' }),
  placer_number: T.String(),
  control_id: T.String(),
  bytes: Nullable(T.Unsafe<Buffer>({})),
  sent_at: Nullable(Timestamp),
  answer: Nullable(T.Unsafe<Buffer>({})),
  error: Nullable(T.String()),
  created_at: Timestamp,
})
export type StoredTrialMessage = Static<typeof TrialRow>

/** The messages of the newest trial of a link, in the order in which they were sent. */
export const listTrial = (db: Queries, account_id: string): Promise<StoredTrialMessage[]> =>
  db.many(
    TrialRow,
    sql`
    select position, name, contents, results, expected, placer_number, control_id, bytes, date_trunc('second', sent_at) as sent_at, answer, error,
           created_at
    from lab_link_trial where account_id = ${account_id} order by position`,
  )
