// Results that came over a link in mode `shadow`: stored with the order that they match, and applied to none. Owns lab_shadow_result.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { assertDelivery, type LinkDelivery } from '../result-matching/incoming-result.ts'
import { matchToOrder, type Ambiguity } from '../result-matching/match.ts'
import { getLabId, type ReceiveContext } from '../result-matching/receive.ts'
import { findLinkAccount, resolveTeam } from '../result-matching/resolve-team.ts'
import type { DecisionCode } from '../result-matching/schema.ts'

/** Where a result belongs. */
export interface ShadowPlace {
  /** Null: it is not certain. */
  team_id: string | null
  order_id: string | null
  /** Why no order is certain; null if one is. */
  mismatch: DecisionCode | 'no_team' | 'lab_account_mismatch' | null
}

/** The team that a result over a link certainly belongs to. Errors: those of `assertDelivery`; 400 the account is of another laboratory. */
export async function findTeamOfResult({ db }: Pick<ReceiveContext, 'db'>, delivery: LinkDelivery): Promise<string | undefined> {
  assertDelivery(delivery)
  const lab_id = await getLabId(db.queries, delivery)
  const account = await findLinkAccount(db.queries, lab_id, delivery.link.account_id)
  return resolveTeam(db.queries, lab_id, account, delivery)
}

/**
 * Stores a result of a team without applying it. Its order may have a result already, which staff have entered. A message that is processed
 * again replaces its own result. Writes lab_shadow_result.
 */
export async function storeShadowResult(
  { cell, db, findTenant }: ReceiveContext,
  team_id: string | undefined,
  message_id: string,
  delivery: LinkDelivery,
): Promise<ShadowPlace> {
  const tenant = team_id === undefined ? undefined : await findTenant(cell, team_id)
  if (!tenant) return { team_id: null, order_id: null, mismatch: 'no_team' }
  return db.tx(tenant, async (tx) => {
    const place = await findPlace(tx, delivery)
    const { account_id } = delivery.link
    await tx.run(sql`
      insert into lab_shadow_result (id, team_id, order_id, link_account_id, message_id, control_id, mismatch, report, created_at)
      values (${tx.uuid()}, ${tx.team}, ${place.order_id}, ${account_id}, ${message_id}, ${delivery.message_id}, ${place.mismatch},
              ${JSON.stringify(delivery.report)}, ${tx.now})
      on conflict (team_id, message_id, control_id) do update
      set order_id = excluded.order_id, mismatch = excluded.mismatch, report = excluded.report`)
    return place
  })
}

async function findPlace(tx: Tx, delivery: LinkDelivery): Promise<ShadowPlace> {
  const outcome = await matchToOrder(tx, await getLabId(tx, delivery), delivery)
  const team_id = tx.team
  if ('lockedOrder' in outcome) return { team_id, order_id: outcome.lockedOrder.order.id, mismatch: null }
  const { ambiguity } = outcome
  const order_id = findOrderInOtherState(ambiguity)
  if (order_id !== undefined) return { team_id, order_id, mismatch: null }
  return { team_id, order_id: null, mismatch: ambiguity.sub_reason_codes[0] ?? ambiguity.code }
}

/** The order with the numbers and the patient of the result, which staff have completed or whose sample they have not reported. */
function findOrderInOtherState({ code, sub_reason_codes, groups }: Ambiguity): string | undefined {
  if (sub_reason_codes.length > 0 || (code !== 'match_completed' && code !== 'wrong_collection')) return undefined
  const candidates = groups.flatMap((group) => group.candidates)
  const candidate = candidates.find(
    ({ candidate_type, reasons }) => candidate_type === 'provenance_order' && reasons.includes('demographic_match'),
  )
  return candidate?.order_id ?? undefined
}

/** Erases the results of a deleted user's orders. Writes lab_shadow_result. */
export async function eraseShadowResults(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
    delete from lab_shadow_result
    where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}

/** Erases the results that came with messages, before these go. Writes lab_shadow_result. */
export async function eraseResultsOfMessages(tx: Tx, message_ids: string[]): Promise<void> {
  await tx.run(sql`delete from lab_shadow_result where team_id = ${tx.team} and message_id = any (${message_ids}::uuid[])`)
}

/** Deletes results as long after they came as messages. Deletes from lab_shadow_result. */
export const shadowResultCleanup = cleanup({ table: 'lab_shadow_result', column: 'created_at', retention_s: 400 * DAY_S })
