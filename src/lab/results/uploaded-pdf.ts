// The laboratory's own document of a result, if one was uploaded. Owns lab_result_pdf; never reads the document's content.
//
// Invariant: a document is shown only with the report that it was uploaded for. One uploaded before any report belongs to the first.
import { createHash } from 'node:crypto'
import type { LockedOrder } from '../orders/locked-order.ts'
import { pdfFileName } from '../../platform/pdf/render.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { FileReply } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'

const Checksum = T.Object({ checksum: T.String() })

/**
 * Stores a document for the result of a locked order; it replaces an earlier one. Writes lab_result_pdf.
 * @returns whether it differs from the stored one
 */
export async function storeResultPdf(tx: Tx, { order }: LockedOrder, bytes: Buffer): Promise<boolean> {
  const checksum = createHash('sha256').update(bytes).digest('hex')
  const kept = await tx.maybe(
    Checksum,
    sql`select checksum from lab_result_pdf where order_id = ${order.id} and team_id = ${tx.team}`,
  )
  if (kept?.checksum === checksum) return false
  await tx.run(sql`
    insert into lab_result_pdf (order_id, team_id, checksum, bytes, created_at)
    values (${order.id}, ${tx.team}, ${checksum}, ${bytes}, ${tx.now})
    on conflict (order_id) do update set checksum = excluded.checksum, bytes = excluded.bytes, created_at = excluded.created_at`)
  return true
}

/** Stores the document that came with a report, in place of an earlier one, at the end of the transaction. Writes lab_result_pdf. */
export function replaceResultPdf(tx: Tx, order_id: string, bytes: Buffer): void {
  const checksum = createHash('sha256').update(bytes).digest('hex')
  tx.defer(sql`
    insert into lab_result_pdf (order_id, team_id, checksum, bytes, created_at)
    values (${order_id}, ${tx.team}, ${checksum}, ${bytes}, ${tx.now})
    on conflict (order_id) do update set checksum = excluded.checksum, bytes = excluded.bytes, created_at = excluded.created_at`)
}

/** Deletes the document, because a report that replaces another makes it untrue. Writes lab_result_pdf. */
export const deleteResultPdf = (tx: Tx, order_id: string): void =>
  tx.defer(sql`delete from lab_result_pdf where order_id = ${order_id} and team_id = ${tx.team}`)

const StoredPdf = T.Object({ user_id: T.String(), sample_id: T.Union([T.String(), T.Null()]), bytes: T.Unsafe<Buffer>({}) })

/** The document of an order that has a result, if one exists. */
export async function findResultPdf(tx: Tx, order_id: string): Promise<FileReply | undefined> {
  const kept = await tx.maybe(
    StoredPdf,
    sql`
    select o.user_id, o.sample_id, p.bytes
    from lab_result_pdf p join lab_result r on r.order_id = p.order_id join lab_order o on o.id = p.order_id
    where p.order_id = ${order_id} and p.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}`,
  )
  if (!kept) return undefined
  tx.concerns(kept.user_id)
  return new FileReply('application/pdf', pdfFileName(kept.sample_id ?? order_id), kept.bytes)
}
