// Taking in what a laboratory sent. It is written down as it came and matched in one transaction: whoever delivers acknowledges when that
// has committed, and what is sent again is not taken in again. Source: lab-testing.md 13.1, 14.
import { finish } from '../orders/change-order.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { enter } from './attach.ts'
import { decide } from './decide.ts'
import { assertDelivery, type Delivery } from './incoming-result.ts'
import { openReview, searchedOf, settleMatched } from './raw-results.ts'
import type { ReviewStatus } from './schema.ts'
import { teamOf } from './team-of-result.ts'

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
export async function receiveForTeam(tx: Tx, delivery: Delivery): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await labOf(tx, delivery)
  // What came before from a sender of one team came for that team.
  return (await take(tx, lab_id, delivery, tx.team))!
}

/** Where results are taken in that name no team. */
export interface Intake {
  cell: CellName
  db: Db
  tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>
}

/** The sender of what comes over the link to a laboratory, for all teams of a cell. */
const LINK = 'link'

/**
 * Take in a result from the link to a laboratory, for the team whose it is: by the laboratory's account, or by the number of the sample and
 * the patient. Where that is not beyond doubt no team sees it, and the operator says whose it is. Writes and emits as `receiveForTeam`.
 * 400: no such laboratory; what `assertDelivery` refuses.
 */
export async function receiveFromLink({ cell, db, tenantOf }: Intake, delivery: Delivery): Promise<Receipt> {
  assertDelivery(delivery)
  const lab_id = await labOf(db.queries, delivery)
  const known = await repeated(db.queries, lab_id, delivery, LINK)
  if (known) return known
  const team = await teamOf(db.queries, lab_id, delivery)
  const tenant = team === undefined ? undefined : await tenantOf(cell, team)
  if (tenant) {
    const receipt = await db.tx(tenant, (tx) => take(tx, lab_id, delivery, LINK))
    // The same message came before for another team, whose rows this team does not see.
    return receipt ?? (await repeated(db.queries, lab_id, delivery, LINK))!
  }
  return db.plainTx(async (tx) => {
    const id = await claim(tx, null, lab_id, delivery, LINK)
    if (id === undefined) return (await repeated(tx, lab_id, delivery, LINK))!
    return { raw_result_id: id, status: 'pending_ops_review', decision_code: 'no_match', order_id: null, repeated: false }
  })
}

/** @returns undefined when it had come before and is not for the team */
async function take(tx: Tx, lab_id: number, delivery: Delivery, sender: string): Promise<Receipt | undefined> {
  const id = await claim(tx, tx.team, lab_id, delivery, sender)
  return id === undefined ? repeated(tx, lab_id, delivery, sender) : judge(tx, id, lab_id, delivery)
}

/** Match what has been written down for the team. Writes and emits as `receiveForTeam`. */
export async function judge(tx: Tx, id: string, lab_id: number, delivery: Delivery): Promise<Receipt> {
  const decision = await decide(tx, lab_id, delivery)
  const receipt = { raw_result_id: id, repeated: false }
  if ('doubt' in decision) {
    const { doubt } = decision
    return { ...receipt, status: openReview(tx, id, doubt), decision_code: doubt.code, order_id: null }
  }
  const { open } = decision
  const { id: order_id, user_id } = open.order
  await enter(tx, open, delivery.report)
  await finish(tx, open)
  settleMatched(tx, id, { order_id, user_id })
  return { ...receipt, status: 'matched', decision_code: 'match_sample_id', order_id }
}

const Id = T.Object({ id: T.String() })

/** Write down what came; undefined when it had come before. A twin waits here until the first has committed. */
async function claim(tx: PlainTx, team: string | null, lab_id: number, delivery: Delivery, sender: string) {
  const row = await tx.maybe(
    Id,
    sql`
    insert into raw_result (id, team_id, lab_id, sender, message_id, sample_id, searched, delivery, status, decision_code, candidates,
                            created_at, updated_at)
    values (${tx.uuid()}, ${team}, ${lab_id}, ${sender}, ${delivery.message_id}, ${delivery.sample_id}, ${searchedOf(delivery)},
            ${JSON.stringify(delivery)}, 'pending_ops_review', 'no_match', '[]', ${tx.now}, ${tx.now})
    on conflict (lab_id, sender, message_id) do nothing
    returning id`,
  )
  return row?.id
}

const Before = T.Object({
  raw_result_id: T.String(),
  status: T.Unsafe<ReviewStatus>({ type: 'string' }),
  decision_code: T.String(),
  order_id: Nullable(T.String()),
})

/** What became of a message that had come before. A sender's messages are of the sender's own team, or of the link to the laboratory. */
async function repeated(tx: Queries, lab_id: number, { message_id }: Delivery, sender: string): Promise<Receipt | undefined> {
  const row = await tx.maybe(
    Before,
    sql`
    select id as raw_result_id, status, decision_code, resolved_order_id as order_id
    from raw_result where lab_id = ${lab_id} and sender = ${sender} and message_id = ${message_id}`,
  )
  return row && { ...row, repeated: true }
}

const LabId = T.Object({ id: T.Integer() })

async function labOf(tx: Queries, { lab_slug }: Delivery): Promise<number> {
  const lab = await tx.maybe(LabId, sql`select id from lab where slug = ${lab_slug}`)
  if (!lab) throw badRequest('There is no such laboratory')
  return lab.id
}
