// Matches a result to an order: returns the one order that certainly fits, or the reason for a review with the candidate orders. Only reads
// and locks. Source: lab-testing.md 14.
import { findAndLockOrder } from '../orders/change-order.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { candidateGroups } from './candidates.ts'
import type { IncomingResult } from './incoming-result.ts'
import { toFoundOrder, findOrderBySample, findOrdersOfPatient, type FoundOrder } from './matching-orders.ts'
import { findOrderByNumbers } from './order-numbers.ts'
import type { CandidateGroup, DecisionCode } from './schema.ts'

export interface Ambiguity {
  code: DecisionCode
  sub_reason_codes: 'lab_account_mismatch'[]
  groups: CandidateGroup[]
}

/** The locked order of the result, or the ambiguity. */
export type MatchOutcome = { lockedOrder: LockedOrder } | { ambiguity: Ambiguity }

/** Matches an incoming result of a laboratory to an order of the team. */
export async function matchToOrder(tx: Tx, lab_id: number, delivery: IncomingResult): Promise<MatchOutcome> {
  const [followed, numbered, named] = await Promise.all([
    previouslyAcceptedOrder(tx, lab_id, delivery),
    findOrderBySample(tx, lab_id, delivery),
    findOrderByNumbers(tx, delivery),
  ])
  const sample_order = followed ?? numbered ?? named
  // Locked before it is examined, so that the decision still holds when it is applied.
  const lockedOrder = sample_order === undefined ? undefined : await findAndLockOrder(tx, sample_order)
  const sample = lockedOrder && toFoundOrder(lockedOrder, delivery)
  const otherAccount = lockedOrder !== undefined && (await isOtherAccount(tx, lockedOrder, delivery))
  const code = sample && (await codeOfSample(tx, sample, delivery, followed !== undefined))
  if (lockedOrder && code === 'match_sample_id' && !otherAccount) return { lockedOrder }
  const patients = (await findOrdersOfPatient(tx, delivery)).filter(({ order }) => order.id !== sample?.order.id)
  const orders = [...(sample ? [sample] : []), ...patients]
  return {
    ambiguity: {
      code: code ?? codeOfPatient(patients, lab_id),
      sub_reason_codes: otherAccount ? ['lab_account_mismatch'] : [],
      groups: await candidateGroups(tx, delivery, { lab_id, sample, otherAccount }, orders),
    },
  }
}

/** The decision for an order with the sample id. `followed`: a reviewer has already assigned this sample of this patient to the order. */
async function codeOfSample(
  tx: Tx,
  { patient, state, order }: FoundOrder,
  { report, link }: IncomingResult,
  isFollowed: boolean,
): Promise<DecisionCode> {
  // A kit that is not registered has no patient to compare with.
  if (!isFollowed && patient !== 'same' && order.patient_details !== null) return 'match_sample_id_mismatch_demo'
  if (report.order_statement !== undefined && order.patient_details !== null) return 'match_sample_id'
  if (state === 'cancelled') return 'match_cancelled'
  const mayFollow = report.follows_final === true || (report.amended && report.status === 'final')
  const isCorrectable = state === 'completed' && !order.last_event.status.endsWith('.redraw_available') && mayFollow
  if (state === 'completed' && !isCorrectable) return 'match_completed'
  if (await isOvertaken(tx, order.id, report)) return 'match_completed'
  if (isCorrectable) return 'match_sample_id'
  if (link !== null && patient === 'same' && isKitUnderWay(order)) return 'match_sample_id'
  return state === 'awaiting' && order.patient_details !== null ? 'match_sample_id' : 'wrong_collection'
}

const EarlierReport = T.Object({ report: T.String() })

/** Whether the order has a newer cumulative report, which this one would replace. Messages of several connections or files overtake each other. */
async function isOvertaken(tx: Tx, order_id: string, { scope, reported_at }: DiagnosticReport): Promise<boolean> {
  if (scope !== 'cumulative') return false
  const row = await tx.maybe(
    EarlierReport,
    sql`select report from lab_result where order_id = ${order_id} and team_id = ${tx.team}`,
  )
  const earlier = row && (JSON.parse(row.report) as DiagnosticReport)
  return earlier?.scope === 'cumulative' && Date.parse(reported_at) < Date.parse(earlier.reported_at)
}

/** The steps of a kit between its order and its arrival at the laboratory, which nobody has to report: the result shows that it arrived. */
const KIT_STATUSES =
  /\.testkit\.(?:requisition_created|testkit_registered|transit_customer|out_for_delivery|with_customer|problem_in_transit_customer)$/u
const isKitUnderWay = ({ last_event }: FoundOrder['order']): boolean => KIT_STATUSES.test(last_event.status)

/** The decision if no order has the sample id, by the orders of the same patient. */
function codeOfPatient(orders: FoundOrder[], lab_id: number): DecisionCode {
  const users = new Set(orders.map(({ order }) => order.user_id))
  if (users.size === 0) return 'no_match'
  if (users.size > 1) return 'multiple_demo_match'
  const awaited = orders.filter(({ state }) => state === 'awaiting' || state === 'early')
  const elsewhere = awaited.filter(({ order }) => order.lab_test.lab?.id !== lab_id)
  return awaited.length === 1 && elsewhere.length === 1 ? 'wrong_lab' : 'match_demo'
}

const Accepted = T.Object({ order_id: T.String(), payload: T.String() })

/** The order for which earlier reports of this sample were accepted, if the laboratory reports the same patient again. */
async function previouslyAcceptedOrder(
  tx: Tx,
  lab_id: number,
  { sample_id, patient }: IncomingResult,
): Promise<string | undefined> {
  if (!sample_id) return undefined
  const row = await tx.maybe(
    Accepted,
    sql`
    select resolved_order_id as order_id, payload from raw_result
    where sample_id = ${sample_id} and lab_id = ${lab_id} and team_id = ${tx.team} and resolution_action = 'accept'
      and resolved_order_id is not null
    order by reviewed_at desc, id desc limit 1`,
  )
  const before = row && (JSON.parse(row.payload) as IncomingResult).patient
  return row && JSON.stringify(before) === JSON.stringify(patient) ? row.order_id : undefined
}

const Account = T.Object({ number: T.String() })

/**
 * Whether the result is of a different account than the order: by the account that the laboratory reports, else by that of the link. The
 * link of an organization's account delivers for this account only.
 */
async function isOtherAccount(tx: Tx, { order }: LockedOrder, { account_number, link }: IncomingResult): Promise<boolean> {
  if (order.lab_account_id === null || order.lab_account_id === link?.account_id) return false
  if (account_number === null) return link !== null
  const account = await tx.maybe(
    Account,
    sql`select provider_account_id as number from lab_account where id = ${order.lab_account_id}`,
  )
  return account !== undefined && account.number !== account_number
}
