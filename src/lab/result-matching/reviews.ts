// Reading and deciding reviews, for the team. Source: lab-testing.md 14.
import { findAndLockOrder } from '../orders/change-order.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { joinConditions, likeAnywhere, sql, type Sql } from '../../platform/db/sql.ts'
import type { Order } from '../orders/schema.ts'
import { findUser, notDeleted, notOfDeletedAlone } from '../../people/users/users.ts'
import { attachToOrder, attachToUser, type AppliedResult } from './apply-result.ts'
import type { IncomingResult } from './incoming-result.ts'
import { recordNumbers } from './order-numbers.ts'
import { findReviewPdfs, RawResult, saveReview, selectRawResults, reviewToWire } from './raw-results.ts'
import type {
  AcceptUnmatchedResult,
  CandidateGroup,
  DecisionCode,
  ResolveUnmatchedResult,
  ReviewStatus,
  UnmatchedResult,
  UnmatchedResultPage,
  UnmatchedResultQuery,
} from './schema.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const NOT_FOUND_TEXT = 'Unmatched result not found'

/** The reviews that a list without a status filter contains. */
const awaitingCustomer: Sql = sql`
  (r.status = 'pending_customer_review' or (r.status = 'pending_ops_review' and r.resolution_action = 'unsure'))`

/** A team sees the operator's reviews that it referred itself. */
const visibleToTeam: Sql = sql`r.visible_to_team and (r.status <> 'pending_ops_review' or r.resolution_action = 'unsure')`

/** The team's reviews, newest first; without a status, open reviews and reviews that the team referred. Errors: 400 an invalid cursor. */
export const listReviews = (tx: Tx, query: UnmatchedResultQuery): Promise<UnmatchedResultPage> =>
  pageReviews(tx, 'unmatched results', query, [visibleToTeam, ...(query.status === undefined ? [awaitingCustomer] : [])])

const Total = T.Object({ total: T.Integer() })

/** The number of reviews that wait for the team, up to a number. */
export async function countOpenReviews(tx: Tx, max: number): Promise<number> {
  const { total } = await tx.one(
    Total,
    sql`
    select count(*) as total from (
      select r.id from raw_result r
      where r.team_id = ${tx.team} and r.status = 'pending_customer_review' and r.visible_to_team
        and ${notOfDeletedAlone(tx, sql`r.candidate_user_ids`)} limit ${max}) counted`,
  )
  return total
}

/** A page of the team's reviews that satisfy all conditions on `r` and may belong to a user who is not deleted. */
export async function pageReviews(
  tx: Tx,
  name: string,
  query: UnmatchedResultQuery,
  visibleConditions: Sql[],
): Promise<UnmatchedResultPage> {
  const { limit: _, next_cursor: __, ...filters } = query
  const pages = new Pages(`${name} ${tx.team} ${JSON.stringify(Object.entries(filters).toSorted())}`, query, byCreation('r'))
  const conditions = [
    sql`r.team_id = ${tx.team}`,
    sql`r.status <> 'matched'`,
    notOfDeletedAlone(tx, sql`r.candidate_user_ids`),
    ...visibleConditions,
    ...filterConditions(filters),
  ]
  const [rows, { total }] = await Promise.all([
    tx.many(RawResult, sql`${selectRawResults} where ${joinConditions([...conditions, pages.afterCursor])} ${pages.order}`),
    tx.one(
      Total,
      sql`select count(*) as total from raw_result r join lab l on l.id = r.lab_id where ${joinConditions(conditions)} and r.team_id = ${tx.team}`,
    ),
  ])
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: await toWire(tx, page), next_cursor, total }
}

function filterConditions(filters: Omit<UnmatchedResultQuery, 'limit' | 'next_cursor'>): Sql[] {
  const { status, decision_code, lab_slug, created_at_start, created_at_end, search_input } = filters
  const conditions: Sql[] = []
  if (status !== undefined) conditions.push(sql`r.status = ${status}`)
  if (decision_code !== undefined) conditions.push(sql`r.decision_code = ${decision_code}`)
  if (lab_slug !== undefined) conditions.push(sql`l.slug = ${lab_slug.toLowerCase()}`)
  if (created_at_start !== undefined) conditions.push(sql`r.created_at >= ${new Date(`${created_at_start}T00:00:00Z`)}`)
  if (created_at_end !== undefined)
    conditions.push(sql`r.created_at < ${addSeconds(new Date(`${created_at_end}T00:00:00Z`), DAY_S)}`)
  if (search_input !== undefined) conditions.push(sql`r.search_text like ${likeAnywhere(search_input.trim().toLowerCase())}`)
  return conditions
}

const Status = T.Object({ id: T.String(), low_level_status: T.String() })

/** Reviews with the present status of their candidates. */
async function toWire(tx: Tx, rows: RawResult[]): Promise<UnmatchedResult[]> {
  const ids = rows.flatMap(({ candidates }) =>
    (JSON.parse(candidates) as CandidateGroup[]).flatMap((group) => group.candidates.map(({ order_id }) => order_id)),
  )
  const orders = ids.length
    ? await tx.many(
        Status,
        sql`select id, low_level_status from lab_order where team_id = ${tx.team} and id = any (${ids}::uuid[]) and ${notDeleted(tx, sql`user_id`)}`,
      )
    : []
  const statuses = new Map(orders.map(({ id, low_level_status }) => [id, low_level_status]))
  return rows.map((row) => reviewToWire(row, statuses))
}

export const oneToWire = async (tx: Tx, raw: RawResult): Promise<UnmatchedResult> => (await toWire(tx, [raw]))[0]!

/** Reads a review of the team. Errors: 404 an unknown review, one that the team does not see, or one that can only belong to deleted users. */
export async function getReview(tx: Tx, id: string): Promise<UnmatchedResult> {
  const raw = await tx.maybe(
    RawResult,
    sql`${selectRawResults} where r.id = ${id} and r.team_id = ${tx.team} and r.status <> 'matched' and ${visibleToTeam}
      and ${notOfDeletedAlone(tx, sql`r.candidate_user_ids`)}`,
  )
  if (!raw) throw notFound(NOT_FOUND_TEXT)
  return oneToWire(tx, raw)
}

/** Locks a review in one of these statuses. Errors: 404 it has another status, or it can only belong to deleted users. */
export async function lockReview(
  tx: Tx,
  id: string,
  openStatuses: ReviewStatus[],
  missingText = NOT_FOUND_TEXT,
): Promise<RawResult> {
  await tx.locking.run(sql`select id from raw_result where id = ${id} and team_id = ${tx.team} for update`)
  const raw = await tx.maybe(
    RawResult,
    sql`${selectRawResults} where r.id = ${id} and r.team_id = ${tx.team} and r.status = any (${openStatuses}::text[])
      and ${notOfDeletedAlone(tx, sql`r.candidate_user_ids`)}`,
  )
  if (!raw) throw notFound(missingText)
  return raw
}

/**
 * Accepts a result: applies it to the chosen order, to a new order in its place, or to a new order of the user.
 * Writes raw_result, lab_order, lab_result, lab_order_number. Emits the events of the orders' steps, and labtest.match_review.updated.
 * Errors: 404 unknown review, not open for the team, unknown order or user; 422 the order belongs to another user, the order is missing and
 * cannot be inferred, or the result cannot be applied.
 * @returns the order that has the result now
 */
export async function acceptReview(tx: Tx, id: string, body: AcceptUnmatchedResult): Promise<PreserializedJson<Order>> {
  const raw = await lockReview(tx, id, ['pending_customer_review'])
  return new PreserializedJson<Order>((await accept(tx, raw, body)).document)
}

/** As `acceptReview`, for a locked review. */
export async function accept(tx: Tx, raw: RawResult, body: AcceptUnmatchedResult): Promise<AppliedResult> {
  const attached = await applyTo(tx, raw, body)
  recordNumbers(tx, attached.order_id, JSON.parse(raw.payload) as IncomingResult)
  const { order_id: resolved_order_id, user_id: resolved_user_id } = attached
  const done = { status: 'resolved', resolution_action: 'accept', reviewed_at: iso(tx.now) } as const
  saveReview(tx, raw, { ...done, note: body.note ?? null, resolved_user_id, resolved_order_id })
  return attached
}

const ORDER = "This order doesn't exist."
const USER = 'User does not exist on this team'

async function applyTo(tx: Tx, raw: RawResult, { order_id, user_id }: AcceptUnmatchedResult): Promise<AppliedResult> {
  const user = user_id === undefined ? undefined : await findUser(tx, user_id)
  if (user_id !== undefined && !user) throw notFound(USER)
  const named = order_id === undefined ? undefined : await findAndLockOrder(tx, order_id)
  if (order_id !== undefined && (!named || named.isHidden)) throw notFound(ORDER)
  if (named && user && named.order.user_id !== user.user_id)
    throw invalidField(['body', 'order_id'], 'must be an order of user_id')
  const lockedOrder = named ?? (await inferOrder(tx, raw, user_id))
  const received = { delivery: JSON.parse(raw.payload) as IncomingResult, pdfs: await findReviewPdfs(tx, raw.id) }
  if (lockedOrder && !(await findUser(tx, lockedOrder.order.user_id))) throw notFound(USER)
  return asFieldErrors(async () => {
    if (lockedOrder) return attachToOrder(tx, lockedOrder, raw.lab.id, received)
    return attachToUser(tx, user!.user_id, raw.lab.id, received)
  })
}

/** Decision codes that imply the order, so that a reviewer need not name it. */
const UNAMBIGUOUS_CODES = new Set<DecisionCode>([
  'match_sample_id',
  'match_completed',
  'match_cancelled',
  'wrong_collection',
  'wrong_lab',
])

/** The implied order if the request names none; undefined for a new order of the user. */
async function inferOrder(tx: Tx, { decision_code, candidates }: RawResult, user_id: string | undefined) {
  const groups = JSON.parse(candidates) as CandidateGroup[]
  const all = groups.flatMap((group) => group.candidates.map((candidate) => ({ ...candidate, user_id: group.user_id })))
  const [first, ...others] =
    user_id === undefined ? defaultCandidates(decision_code, all) : all.filter((candidate) => candidate.user_id === user_id)
  if (others.length || (!first && user_id === undefined))
    throw invalidField(['body', 'order_id'], 'is required: more than one candidate order matches')
  if (!first) return undefined
  const lockedOrder = await findAndLockOrder(tx, first.order_id!)
  if (!lockedOrder) throw notFound(ORDER)
  return lockedOrder
}

function defaultCandidates<C extends { candidate_type: string; last_status: string | null; reasons: string[] }>(
  code: DecisionCode,
  candidates: C[],
): C[] {
  if (!UNAMBIGUOUS_CODES.has(code)) return []
  if (code !== 'wrong_lab') return candidates.filter(({ candidate_type }) => candidate_type === 'provenance_order')
  const closed = ['matched_completed_order', 'matched_cancelled_order']
  return candidates.filter(
    ({ reasons }) => reasons.includes('possible_wrong_lab') && !closed.some((code) => reasons.includes(code)),
  )
}

/** Turns a 400 error of the order, laboratory or account into a 422 error. */
async function asFieldErrors<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem && error.status === 400 && typeof error.body.detail === 'string')
      throw invalidField(['body'], `cannot be applied: ${error.body.detail}`)
    throw error
  }
}

/**
 * Rejects an unmatched result or refers it to the operator. Writes raw_result. Emits labtest.match_review.updated.
 * Errors: 404 unknown review, or it is not open for the team.
 */
export async function resolveReview(tx: Tx, id: string, body: ResolveUnmatchedResult): Promise<UnmatchedResult> {
  const raw = await lockReview(tx, id, ['pending_customer_review'])
  const status = body.action === 'reject' ? 'resolved' : 'pending_ops_review'
  const change = { status, resolution_action: body.action, note: body.note ?? null, reviewed_at: iso(tx.now) } as const
  return oneToWire(tx, saveReview(tx, raw, change))
}
