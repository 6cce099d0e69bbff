// Receives results from laboratories. A result is stored as received and matched in one transaction: the sender gets its acknowledgment
// after the commit, and a message that arrives again is not applied again. Source: lab-testing.md 13.1, 14.
import { createHash } from 'node:crypto'
import { saveOrder } from '../orders/change-order.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { applyReport } from './apply-result.ts'
import { matchToOrder } from './match.ts'
import { assertDelivery, type IncomingResult, type LinkDelivery, type ReceivedResult } from './incoming-result.ts'
import { recordNumbers } from './order-numbers.ts'
import { openReview, searchText, markMatched } from './raw-results.ts'
import type { ReviewStatus } from './schema.ts'
import { findLinkAccount, resolveTeam } from './resolve-team.ts'

export interface Receipt {
  raw_result_id: string
  /** `matched`: the result was applied to an order. */
  status: ReviewStatus
  decision_code: string
  /** The matched order. */
  order_id: string | null
  /** The message was received before; the receipt shows its present outcome. */
  isDuplicate: boolean
}

/**
 * Receives a result from a sender that delivers for one team, the team of the transaction. The result is applied to its order if sample id,
 * patient, account and the order's state agree; otherwise a review is opened.
 * Writes raw_result, lab_order, lab_result, lab_order_number. Emits the events of the order's steps; labtest.match_review.created for a review that the team
 * sees.
 * Errors: 400 unknown laboratory; errors of `assertDelivery`.
 */
export async function receiveForTeam(tx: Tx, delivery: IncomingResult): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await getLabId(tx, delivery)
  // An earlier message from a sender of one team was for that team too.
  return (await receiveInTeam(tx, lab_id, { delivery, pdfs: [] }, identify(delivery, tx.team, [])))!
}

/** Dependencies for receiving results that name no team. */
export interface ReceiveContext {
  cell: CellName
  db: Db
  findTenant: (cell: CellName, team: string) => Promise<Tenant | undefined>
}

/**
 * Receives a result from the link of a lab account and finds its team: by the account, or by the sample id and the patient. If the team is
 * not certain, no team sees the result and the operator assigns it. `lab/link-messages` calls this for each message of a link. Writes and emits as `receiveForTeam`.
 * Errors: 400 the account is unknown or of another laboratory; errors of `assertDelivery`.
 */
export async function receiveFromLink(
  { cell, db, findTenant }: ReceiveContext,
  delivery: LinkDelivery,
  pdfs: ReceivedResult['pdfs'] = [],
): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await getLabId(db.queries, delivery)
  const account = await findLinkAccount(db.queries, lab_id, delivery.link.account_id)
  const message = identify(delivery, delivery.link.sender, pdfs)
  const known = await earlierReceipt(db.queries, lab_id, message)
  if (known) return known
  const team = await resolveTeam(db.queries, lab_id, account, delivery)
  const tenant = team === undefined ? undefined : await findTenant(cell, team)
  if (tenant) {
    const receipt = await db.tx(tenant, (tx) => receiveInTeam(tx, lab_id, { delivery, pdfs }, message))
    // The same message was received earlier for another team, whose rows this team cannot read.
    return receipt ?? (await earlierReceipt(db.queries, lab_id, message))!
  }
  return db.plainTx(async (tx) => {
    const id = await insertRawResult(tx, null, lab_id, { delivery, pdfs }, message)
    if (id === undefined) return (await earlierReceipt(tx, lab_id, message))!
    return { raw_result_id: id, status: 'pending_ops_review', decision_code: 'no_match', order_id: null, isDuplicate: false }
  })
}

/** What identifies a message of a laboratory: two messages that agree in all of it are one message. */
interface MessageIdentity {
  link_account_id: string | null
  sender: string
  message_id: string
  /** Of all that the message says. */
  digest: string
}

function identify(delivery: IncomingResult, sender: string, pdfs: ReceivedResult['pdfs']): MessageIdentity {
  const hash = createHash('sha256').update(JSON.stringify(delivery))
  for (const pdf of pdfs) hash.update(pdf ?? '')
  return {
    link_account_id: delivery.link?.account_id ?? null,
    sender,
    message_id: delivery.message_id,
    digest: hash.digest('base64url'),
  }
}

/** @returns undefined for a duplicate that is not the team's */
async function receiveInTeam(
  tx: Tx,
  lab_id: number,
  content: ReceivedResult,
  message: MessageIdentity,
): Promise<Receipt | undefined> {
  const id = await insertRawResult(tx, tx.team, lab_id, { ...content, pdfs: [] }, message)
  return id === undefined ? earlierReceipt(tx, lab_id, message) : matchResult(tx, id, lab_id, content)
}

/** Matches a stored result for the team. Writes and emits as `receiveForTeam`. */
export async function matchResult(tx: Tx, id: string, lab_id: number, content: ReceivedResult): Promise<Receipt> {
  const { delivery, pdfs } = content
  const decision = await matchToOrder(tx, lab_id, delivery)
  const receipt = { raw_result_id: id, isDuplicate: false }
  if ('ambiguity' in decision) {
    const { ambiguity } = decision
    return { ...receipt, status: openReview(tx, id, ambiguity, pdfs), decision_code: ambiguity.code, order_id: null }
  }
  const { lockedOrder } = decision
  const { id: order_id, user_id } = lockedOrder.order
  await applyReport(tx, lockedOrder, content)
  await saveOrder(tx, lockedOrder)
  markMatched(tx, id, { order_id, user_id })
  recordNumbers(tx, order_id, delivery)
  return { ...receipt, status: 'matched', decision_code: 'match_sample_id', order_id }
}

const Id = T.Object({ id: T.String() })

/** Inserts the incoming result. Returns undefined for a duplicate. A concurrent duplicate waits until the first transaction commits. */
async function insertRawResult(
  tx: PlainTx,
  team: string | null,
  lab_id: number,
  { delivery, pdfs }: ReceivedResult,
  { link_account_id, sender, message_id, digest }: MessageIdentity,
) {
  const row = await tx.maybe(
    Id,
    sql`
    insert into raw_result (id, team_id, lab_id, link_account_id, sender, message_id, digest, sample_id, search_text, payload, pdfs, status,
                            decision_code, candidates, created_at, updated_at)
    values (${tx.uuid()}, ${team}, ${lab_id}, ${link_account_id}, ${sender}, ${message_id}, ${digest}, ${delivery.sample_id},
            ${searchText(delivery)}, ${JSON.stringify(delivery)}, ${pdfs}::bytea[], 'pending_ops_review', 'no_match', '[]', ${tx.now}, ${tx.now})
    on conflict (lab_id, link_account_id, sender, message_id, digest) do nothing
    returning id`,
  )
  return row?.id
}

const EarlierRow = T.Object({
  raw_result_id: T.String(),
  status: T.Unsafe<ReviewStatus>({ type: 'string' }),
  decision_code: T.String(),
  order_id: Nullable(T.String()),
})

/** The outcome of a message that was received earlier. A sender's messages belong to the sender's own team, or to a link. */
async function earlierReceipt(
  tx: Queries,
  lab_id: number,
  { link_account_id, sender, message_id, digest }: MessageIdentity,
): Promise<Receipt | undefined> {
  const row = await tx.maybe(
    EarlierRow,
    sql`
    select id as raw_result_id, status, decision_code, resolved_order_id as order_id
    from raw_result
    where lab_id = ${lab_id} and sender = ${sender} and link_account_id is not distinct from ${link_account_id}::uuid
      and message_id = ${message_id} and digest = ${digest}`,
  )
  return row && { ...row, isDuplicate: true }
}

const LabId = T.Object({ id: T.Integer() })

/** The id of the laboratory of a result. Errors: 400 unknown laboratory. */
export async function getLabId(tx: Queries, { lab_slug }: IncomingResult): Promise<number> {
  const lab = await tx.maybe(LabId, sql`select id from lab where slug = ${lab_slug}`)
  if (!lab) throw badRequest('Laboratory not found')
  return lab.id
}
