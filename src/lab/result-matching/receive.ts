// Receives results from laboratories. A result is stored as received and matched in one transaction: the sender gets its acknowledgment
// after the commit, and a message that arrives again is not applied again. Source: lab-testing.md 13.1, 14.
import { saveOrder } from '../orders/change-order.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { applyReport } from './apply-result.ts'
import { matchToOrder } from './match.ts'
import { assertDelivery, type IncomingResult } from './incoming-result.ts'
import { openReview, searchText, markMatched } from './raw-results.ts'
import type { ReviewStatus } from './schema.ts'
import { resolveTeam } from './resolve-team.ts'

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
 * Writes raw_result, lab_order, lab_result. Emits the events of the order's steps; labtest.match_review.created for a review that the team
 * sees.
 * Errors: 400 unknown laboratory; errors of `assertDelivery`.
 */
export async function receiveForTeam(tx: Tx, delivery: IncomingResult): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await getLabId(tx, delivery)
  // An earlier message from a sender of one team was for that team too.
  return (await receiveInTeam(tx, lab_id, delivery, tx.team))!
}

/** Dependencies for receiving results that name no team. */
export interface ReceiveContext {
  cell: CellName
  db: Db
  findTenant: (cell: CellName, team: string) => Promise<Tenant | undefined>
}

/** The sender name for results that arrive over the link to a laboratory, for all teams of a cell. */
const LINK_SENDER = 'link'

/**
 * Receives a result from the link to a laboratory and finds its team: by the laboratory's account, or by the sample id and the patient. If
 * the team is not certain, no team sees the result and the operator assigns it. Writes and emits as `receiveForTeam`.
 * Errors: 400 unknown laboratory; errors of `assertDelivery`.
 */
export async function receiveFromLink({ cell, db, findTenant }: ReceiveContext, delivery: IncomingResult): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await getLabId(db.queries, delivery)
  const known = await earlierReceipt(db.queries, lab_id, delivery, LINK_SENDER)
  if (known) return known
  const team = await resolveTeam(db.queries, lab_id, delivery)
  const tenant = team === undefined ? undefined : await findTenant(cell, team)
  if (tenant) {
    const receipt = await db.tx(tenant, (tx) => receiveInTeam(tx, lab_id, delivery, LINK_SENDER))
    // The same message was received earlier for another team, whose rows this team cannot read.
    return receipt ?? (await earlierReceipt(db.queries, lab_id, delivery, LINK_SENDER))!
  }
  return db.plainTx(async (tx) => {
    const id = await insertRawResult(tx, null, lab_id, delivery, LINK_SENDER)
    if (id === undefined) return (await earlierReceipt(tx, lab_id, delivery, LINK_SENDER))!
    return { raw_result_id: id, status: 'pending_ops_review', decision_code: 'no_match', order_id: null, isDuplicate: false }
  })
}

/** @returns undefined for a duplicate that is not the team's */
async function receiveInTeam(tx: Tx, lab_id: number, delivery: IncomingResult, sender: string): Promise<Receipt | undefined> {
  const id = await insertRawResult(tx, tx.team, lab_id, delivery, sender)
  return id === undefined ? earlierReceipt(tx, lab_id, delivery, sender) : matchResult(tx, id, lab_id, delivery)
}

/** Matches a stored result for the team. Writes and emits as `receiveForTeam`. */
export async function matchResult(tx: Tx, id: string, lab_id: number, delivery: IncomingResult): Promise<Receipt> {
  const decision = await matchToOrder(tx, lab_id, delivery)
  const receipt = { raw_result_id: id, isDuplicate: false }
  if ('ambiguity' in decision) {
    const { ambiguity } = decision
    return { ...receipt, status: openReview(tx, id, ambiguity), decision_code: ambiguity.code, order_id: null }
  }
  const { lockedOrder } = decision
  const { id: order_id, user_id } = lockedOrder.order
  await applyReport(tx, lockedOrder, delivery.report)
  await saveOrder(tx, lockedOrder)
  markMatched(tx, id, { order_id, user_id })
  return { ...receipt, status: 'matched', decision_code: 'match_sample_id', order_id }
}

const Id = T.Object({ id: T.String() })

/** Inserts the incoming result. Returns undefined for a duplicate. A concurrent duplicate waits until the first transaction commits. */
async function insertRawResult(tx: PlainTx, team: string | null, lab_id: number, delivery: IncomingResult, sender: string) {
  const row = await tx.maybe(
    Id,
    sql`
    insert into raw_result (id, team_id, lab_id, sender, message_id, sample_id, search_text, payload, status, decision_code, candidates,
                            created_at, updated_at)
    values (${tx.uuid()}, ${team}, ${lab_id}, ${sender}, ${delivery.message_id}, ${delivery.sample_id}, ${searchText(delivery)},
            ${JSON.stringify(delivery)}, 'pending_ops_review', 'no_match', '[]', ${tx.now}, ${tx.now})
    on conflict (lab_id, sender, message_id) do nothing
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

/** The outcome of a message that was received earlier. A sender's messages belong to the sender's own team, or to the link to the laboratory. */
async function earlierReceipt(
  tx: Queries,
  lab_id: number,
  { message_id }: IncomingResult,
  sender: string,
): Promise<Receipt | undefined> {
  const row = await tx.maybe(
    EarlierRow,
    sql`
    select id as raw_result_id, status, decision_code, resolved_order_id as order_id
    from raw_result where lab_id = ${lab_id} and sender = ${sender} and message_id = ${message_id}`,
  )
  return row && { ...row, isDuplicate: true }
}

const LabId = T.Object({ id: T.Integer() })

async function getLabId(tx: Queries, { lab_slug }: IncomingResult): Promise<number> {
  const lab = await tx.maybe(LabId, sql`select id from lab where slug = ${lab_slug}`)
  if (!lab) throw badRequest('Laboratory not found')
  return lab.id
}
