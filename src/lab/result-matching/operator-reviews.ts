// Reviews for the operator: those that a team referred to the operator, those of teams without the feature, and results without a team.
// Source: lab-testing.md 14; how the operator works on them is a choice of this project.
import type { Order } from '../orders/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { assertFeature } from '../../platform/http/feature-flags.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { unmatchedResults } from './features.ts'
import type { IncomingResult } from './incoming-result.ts'
import { resultAssigned } from './matching-hooks.ts'
import { saveReview } from './raw-results.ts'
import { matchResult, type Receipt } from './receive.ts'
import { accept, lockReview, pageReviews, oneToWire } from './reviews.ts'
import type { AcceptUnmatchedResult, UnmatchedResult, UnmatchedResultPage, UnmatchedResultQuery } from './schema.ts'

const awaitingOperator = sql`r.status = 'pending_ops_review'`

/** All reviews of a team, newest first; without a status, those referred to the operator. Errors: 400 an invalid cursor. */
export const listForOperator = (tx: Tx, query: UnmatchedResultQuery): Promise<UnmatchedResultPage> =>
  pageReviews(tx, "operator's unmatched results", query, query.status === undefined ? [awaitingOperator] : [])

const lock = (tx: Tx, id: string) =>
  lockReview(tx, id, ['pending_ops_review'], 'No result with this id is pending operator review')

/** As `acceptReview`, by the operator. Emits labtest.match_review.updated if the team has seen the review. */
export async function acceptForTeam(tx: Tx, id: string, body: AcceptUnmatchedResult): Promise<PreserializedJson<Order>> {
  const raw = await lock(tx, id)
  return new PreserializedJson<Order>((await accept(tx, raw, body)).document)
}

/** Rejects a result for the team. Writes raw_result. Emits as `acceptForTeam`. Errors: 404 the review is not with the operator. */
export async function rejectForTeam(tx: Tx, id: string, note: string | undefined): Promise<UnmatchedResult> {
  const raw = await lock(tx, id)
  const change = { status: 'resolved', resolution_action: 'reject', note: note ?? raw.note, reviewed_at: iso(tx.now) } as const
  return oneToWire(tx, saveReview(tx, raw, change))
}

/**
 * Returns the decision to the team, or passes it to the team for the first time. Writes raw_result. Emits labtest.match_review.created if
 * the team sees the review for the first time, else labtest.match_review.updated.
 * Errors: 400 the team does not have the feature; 404 the review is not with the operator.
 */
export async function releaseToTeam(tx: Tx, id: string, note: string | undefined): Promise<UnmatchedResult> {
  assertFeature(tx.tenant, unmatchedResults)
  const raw = await lock(tx, id)
  const change = { status: 'pending_customer_review', resolution_action: null, reviewed_at: null, visible_to_team: true } as const
  return oneToWire(tx, saveReview(tx, raw, { ...change, note: note ?? raw.note }))
}

const Unassigned = T.Object({ id: T.String(), lab: T.String(), message_id: T.String(), created_at: T.String() })

/** Unassigned results that arrived over a link, newest first; at most 200. Without patient data. */
export const listUnassigned = (db: Queries) =>
  db.many(
    Unassigned,
    sql`
    select r.id, l.slug as lab, r.message_id, r.created_at from raw_result r join lab l on l.id = r.lab_id
    where r.team_id is null and r.status = 'pending_ops_review' order by r.created_at desc, r.id desc limit 200`,
  )

const Claimed = T.Object({ lab_id: T.Integer(), payload: T.String(), pdfs: T.Array(Nullable(T.Unsafe<Buffer>({}))) })

/** Assigns an unassigned result to a team and matches it there. Writes and emits as `receiveForTeam`; runs the hooks of `resultAssigned`. Returns undefined for an unknown result. */
export async function assignToTeam(tx: Tx, id: string): Promise<Receipt | undefined> {
  const row = await tx.maybe(
    Claimed,
    sql`
    update raw_result set team_id = ${tx.team}
    where id = ${id} and team_id is null and status = 'pending_ops_review' returning lab_id, payload, pdfs`,
  )
  if (!row) return undefined
  await tx.notify(resultAssigned, id)
  return matchResult(tx, id, row.lab_id, { delivery: JSON.parse(row.payload) as IncomingResult, pdfs: row.pdfs })
}

/** Deletes an unassigned result. Writes raw_result. @returns whether it existed */
export const deleteUnassigned = async (tx: PlainTx, id: string): Promise<boolean> =>
  (await tx.run(sql`delete from raw_result where id = ${id} and team_id is null and status = 'pending_ops_review'`)) > 0

/** How long an operator can assign a result to a team. */
const RETENTION_S = 90 * 86_400

/** Deletes unassigned results 90 days after their arrival. Deletes from raw_result. */
export const unassignedCleanup = cleanup({
  kind: 'unassigned_result',
  table: 'raw_result',
  column: 'created_at',
  retention_s: RETENTION_S,
  condition: sql`t.team_id is null`,
})
