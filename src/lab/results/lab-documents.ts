// The laboratory's own documents of a result: those of its reports, and one that staff uploaded. Owns lab_result_pdf; never reads what documents
// contain.
//
// Invariant: the PDF of the result is a document that came with its present report, or none. One uploaded before any report belongs to the first.
import { createHash } from 'node:crypto'
import type { LockedOrder } from '../orders/locked-order.ts'
import { pdfFileName } from '../../platform/pdf/render.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { FileReply } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import { ResultDocumentEntry, type ResultDocuments } from './schema.ts'

/** A document as it came with a report. Empty: the laboratory does not say. */
export interface LabDocument {
  /** The laboratory's number of the report. */
  report_number: string
  test_code: string
  code: string
  name: string
  bytes: Buffer
}

/** Of an order; the oldest ones go. */
export const DOCUMENTS_MAX = 100

/** The id of the document that is the PDF of a result `r`; null if there is none. */
const shownId: Sql = sql`r.pdf_ids[cardinality(r.pdf_ids)]`

const checksumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const Checksum = T.Object({ checksum: T.String() })
const Id = T.Object({ id: T.String() })

/**
 * Stores the document that staff uploaded for the result of a locked order, as the PDF of the result; it replaces one that was uploaded
 * earlier. Writes lab_result_pdf, lab_result.
 * @returns whether it differs from the PDF of the result
 */
export async function storeUploadedPdf(tx: Tx, { order }: LockedOrder, bytes: Buffer): Promise<boolean> {
  const shown = await tx.maybe(
    Checksum,
    sql`
    select p.checksum from lab_result_pdf p left join lab_result r on r.team_id = p.team_id and r.order_id = p.order_id
    where p.order_id = ${order.id} and p.team_id = ${tx.team} and (p.id = ${shownId} or (r.order_id is null and p.code = ''))`,
  )
  if (shown?.checksum === checksumOf(bytes)) return false
  const ids = await saveDocuments(tx, order.id, [{ report_number: '', test_code: '', code: '', name: '', bytes }])
  tx.defer(sql`update lab_result set pdf_ids = pdf_ids || ${ids}::uuid[] where order_id = ${order.id} and team_id = ${tx.team}`)
  return true
}

const replacement: Sql = sql`
  do update
  set id = excluded.id, name = excluded.name, checksum = excluded.checksum, bytes = excluded.bytes, created_at = excluded.created_at`

/** The document that staff uploaded for an order before its first report, if there is one. */
export const listUploadedPdfs = async (tx: Tx, order_id: string): Promise<string[]> =>
  (
    await tx.many(
      Id,
      sql`select id from lab_result_pdf where order_id = ${order_id} and team_id = ${tx.team} and code = '' limit 1`,
    )
  ).map(({ id }) => id)

/**
 * Stores the documents that came with a report, at the end of the transaction. Each replaces the earlier one of the same report. Writes
 * lab_result_pdf.
 * @param areOlder the order has a newer report, whose documents stay
 * @returns their ids
 */
export async function saveDocuments(
  tx: Tx,
  order_id: string,
  documents: readonly LabDocument[],
  { areOlder = false } = {},
): Promise<string[]> {
  await tx.run(sql`
    delete from lab_result_pdf
    where team_id = ${tx.team} and id in (
      select id from lab_result_pdf where order_id = ${order_id} and team_id = ${tx.team}
      order by created_at desc, id desc offset ${DOCUMENTS_MAX - documents.length})`)
  const counts = new Map<string, number>()
  const ids: string[] = []
  for (const { report_number, test_code, code, name, bytes } of documents) {
    const key = JSON.stringify([report_number, test_code, code])
    const position = counts.get(key) ?? 0
    counts.set(key, position + 1)
    const id = tx.uuid()
    ids.push(id)
    tx.defer(sql`
      insert into lab_result_pdf (id, order_id, team_id, report_number, test_code, code, position, name, checksum, bytes, created_at)
      values (${id}, ${order_id}, ${tx.team}, ${report_number}, ${test_code}, ${code}, ${position}, ${name}, ${checksumOf(bytes)}, ${bytes},
              ${tx.now})
      on conflict (team_id, order_id, report_number, test_code, code, position)
      ${areOlder ? sql`do nothing` : replacement}`)
  }
  return ids
}

const OrderOfUser = T.Object({ user_id: T.String() })

/** The laboratory's own documents of an order that has a result, newest first. Errors: 404 unknown order. */
export async function listDocuments(tx: Tx, order_id: string): Promise<ResultDocuments> {
  const order = await tx.maybe(
    OrderOfUser,
    sql`select o.user_id from lab_order o where o.id = ${order_id} and o.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}`,
  )
  if (!order) throw notFound('Order not found')
  tx.concerns(order.user_id)
  const documents = await tx.many(
    ResultDocumentEntry,
    sql`
    select p.id, nullif(p.report_number, '') as report_number, nullif(p.test_code, '') as test_code, nullif(p.code, '') as code,
           nullif(p.name, '') as name, length(p.bytes) as bytes, p.created_at as received_at,
           p.id = any (r.pdf_ids) as is_of_latest_report, coalesce(p.id = ${shownId}, false) as is_result_pdf
    from lab_result_pdf p join lab_result r on r.team_id = p.team_id and r.order_id = p.order_id
    where p.order_id = ${order_id} and p.team_id = ${tx.team} order by p.created_at desc, p.id desc limit ${DOCUMENTS_MAX + 1}`,
  )
  return { documents }
}

const StoredPdf = T.Object({ user_id: T.String(), sample_id: T.Union([T.String(), T.Null()]), bytes: T.Unsafe<Buffer>({}) })

/**
 * The document that is the PDF of an order's result, or the one with an id; undefined if there is none or the order has no result.
 */
export async function findDocument(tx: Tx, order_id: string, document_id?: string): Promise<FileReply | undefined> {
  const row = await tx.maybe(
    StoredPdf,
    sql`
    select o.user_id, o.sample_id, p.bytes
    from lab_result_pdf p
    join lab_result r on r.team_id = p.team_id and r.order_id = p.order_id
    join lab_order o on o.team_id = p.team_id and o.id = p.order_id
    where p.order_id = ${order_id} and ${document_id === undefined ? sql`p.id = ${shownId}` : sql`p.id = ${document_id}`}
      and p.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}`,
  )
  if (!row) return undefined
  tx.concerns(row.user_id)
  return new FileReply('application/pdf', pdfFileName(row.sample_id ?? order_id), row.bytes)
}
