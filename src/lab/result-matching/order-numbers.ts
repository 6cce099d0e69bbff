// The table lab_order_number: the numbers by which a laboratory names an order over its link. They are learned from messages that were matched
// or that a reviewer accepted, so that later messages with the laboratory's numbers alone find their order.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { numberKinds, type IncomingResult, type OrderNumber } from './incoming-result.ts'

const Numbered = T.Object({ kind: T.String(), order_id: T.String() })

/**
 * The order that a number of the message names, by the first kind of number that names exactly one order of the team. A number that the
 * laboratory has used for several orders decides nothing.
 */
export async function findOrderByNumbers(tx: Tx, delivery: IncomingResult): Promise<string | undefined> {
  if (!delivery.link || delivery.numbers.length === 0) return undefined
  const rows = await tx.many(
    Numbered,
    sql`select distinct n.kind, n.order_id from lab_order_number n where ${hasNumber(delivery)} and n.team_id = ${tx.team} limit 1000`,
  )
  const orders = numberKinds.map((kind) => rows.filter((row) => row.kind === kind))
  return orders.find((rowsOfKind) => rowsOfKind.length === 1)?.[0]!.order_id
}

/** Whether a number `n` is one of the message, over the same link. */
export const hasNumber = ({ link, numbers }: IncomingResult): Sql => sql`
  n.link_account_id = ${link?.account_id ?? null}::uuid and (n.number, n.kind) in (
    select * from unnest(${numbers.map(({ number }) => number)}::text[], ${numbers.map(({ kind }) => kind)}::text[]))`

/** Records the numbers of a message for the order that has its result. Writes lab_order_number. */
export function recordNumbers(
  tx: Tx,
  order_id: string,
  { link, numbers }: { link: { account_id: string } | null; numbers: readonly OrderNumber[] },
): void {
  if (!link || numbers.length === 0) return
  tx.defer(sql`
    insert into lab_order_number (team_id, order_id, link_account_id, kind, number, created_at)
    select ${tx.team}, ${order_id}, ${link.account_id}, kind, number, ${tx.now}
    from unnest(${numbers.map(({ kind }) => kind)}::text[], ${numbers.map(({ number }) => number)}::text[]) as t (kind, number)
    on conflict do nothing`)
}

/** Erases the numbers of a deleted user's orders, before the orders go. Writes lab_order_number. */
export async function eraseOrderNumbers(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
    delete from lab_order_number
    where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}
