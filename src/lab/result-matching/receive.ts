// Taking in what a laboratory sent. It is written down as it came and matched in one transaction: whoever delivers acknowledges when that
// has committed, and what is sent again is not taken in again. Source: lab-testing.md 13.1, 14.
import { saveOrder } from '../orders/change-order.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { applyReport } from './attach.ts'
import { matchToOrder } from './decide.ts'
import { assertDelivery, type IncomingResult } from './incoming-result.ts'
import { openReview, searchText, markMatched } from './raw-results.ts'
import type { ReviewStatus } from './schema.ts'
import { resolveTeam } from './team-of-result.ts'

export interface Receipt {
  raw_result_id: string
  /** `matched`: the order has its result. */
  status: ReviewStatus
  decision_code: string
  /** The order that it was matched with. */
  order_id: string | null
  /** The message had been taken in before; this is what became of it then and since. */
  repeated: boolean
}

/**
 * Take in a result for the team of the transaction: from whoever delivers for one team. It is entered into its order when the laboratory's
 * number, the patient, the account and the order's state agree; otherwise a review is opened.
 * Writes raw_result, lab_order, lab_result. Emits what the order's steps emit; labtest.match_review.created for a review that the team sees.
 * 400: no such laboratory; what `assertDelivery` refuses.
 */
export async function receiveForTeam(tx: Tx, delivery: IncomingResult): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await labOf(tx, delivery)
  // What came before from a sender of one team came for that team.
  return (await receive(tx, lab_id, delivery, tx.team))!
}

/** Where results are taken in that name no team. */
export interface ReceiveContext {
  cell: CellName
  db: Db
  tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>
}

/** The sender of what comes over the link to a laboratory, for all teams of a cell. */
const LINK_SENDER = 'link'

/**
 * Take in a result from the link to a laboratory, for the team whose it is: by the laboratory's account, or by the number of the sample and
 * the patient. Where that is not beyond doubt no team sees it, and the operator says whose it is. Writes and emits as `receiveForTeam`.
 * 400: no such laboratory; what `assertDelivery` refuses.
 */
export async function receiveFromLink({ cell, db, tenantOf }: ReceiveContext, delivery: IncomingResult): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await labOf(db.queries, delivery)
  const known = await earlierReceipt(db.queries, lab_id, delivery, LINK_SENDER)
  if (known) return known
  const team = await resolveTeam(db.queries, lab_id, delivery)
  const tenant = team === undefined ? undefined : await tenantOf(cell, team)
  if (tenant) {
    const receipt = await db.tx(tenant, (tx) => receive(tx, lab_id, delivery, LINK_SENDER))
    // The same message came before for another team, whose rows this team does not see.
    return receipt ?? (await earlierReceipt(db.queries, lab_id, delivery, LINK_SENDER))!
  }
  return db.plainTx(async (tx) => {
    const id = await insertRawResult(tx, null, lab_id, delivery, LINK_SENDER)
    if (id === undefined) return (await earlierReceipt(tx, lab_id, delivery, LINK_SENDER))!
    return { raw_result_id: id, status: 'pending_ops_review', decision_code: 'no_match', order_id: null, repeated: false }
  })
}

/** @returns undefined when it had come before and is not for the team */
async function receive(tx: Tx, lab_id: number, delivery: IncomingResult, sender: string): Promise<Receipt | undefined> {
  const id = await insertRawResult(tx, tx.team, lab_id, delivery, sender)
  return id === undefined ? earlierReceipt(tx, lab_id, delivery, sender) : matchResult(tx, id, lab_id, delivery)
}

/** Match what has been written down for the team. Writes and emits as `receiveForTeam`. */
export async function matchResult(tx: Tx, id: string, lab_id: number, delivery: IncomingResult): Promise<Receipt> {
  const decision = await matchToOrder(tx, lab_id, delivery)
  const receipt = { raw_result_id: id, repeated: false }
  if ('doubt' in decision) {
    const { doubt: ambiguity } = decision
    return { ...receipt, status: openReview(tx, id, ambiguity), decision_code: ambiguity.code, order_id: null }
  }
  const { open } = decision
  const { id: order_id, user_id } = open.order
  await applyReport(tx, open, delivery.report)
  await saveOrder(tx, open)
  markMatched(tx, id, { order_id, user_id })
  return { ...receipt, status: 'matched', decision_code: 'match_sample_id', order_id }
}

const Id = T.Object({ id: T.String() })

/** Write down what came; undefined when it had come before. A twin waits here until the first has committed. */
async function insertRawResult(tx: PlainTx, team: string | null, lab_id: number, delivery: IncomingResult, sender: string) {
  const row = await tx.maybe(
    Id,
    sql`
    insert into raw_result (id, team_id, lab_id, sender, message_id, sample_id, searched, delivery, status, decision_code, candidates,
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

/** What became of a message that had come before. A sender's messages are of the sender's own team, or of the link to the laboratory. */
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
  return row && { ...row, repeated: true }
}

const LabId = T.Object({ id: T.Integer() })

async function labOf(tx: Queries, { lab_slug }: IncomingResult): Promise<number> {
  const lab = await tx.maybe(LabId, sql`select id from lab where slug = ${lab_slug}`)
  if (!lab) throw badRequest('Laboratory not found')
  return lab.id
}
