// Orders of earlier releases that name a fictional laboratory, in production: they get the laboratory as the operator has set it.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { fictionalFields } from '../catalog/lab-identity.ts'
import type { Lab } from '../catalog/schema.ts'
import type { Order } from './schema.ts'

const BATCH = 200

const Row = T.Object({ id: T.String(), document: T.String() })

export interface CorrectedBatch {
  corrected: string[]
  /** Where the next batch begins; undefined: there is none. */
  next: string | undefined
}

/**
 * Corrects the laboratory in some of the team's orders at these labs. Emits nothing: the order itself does not change. Writes lab_order.
 * @param after the last order of the batch before
 */
export async function correctLabOfOrders(tx: Tx, labs: readonly Lab[], after: string): Promise<CorrectedBatch> {
  const rows = await tx.locking.many(
    Row,
    sql`
    select id, document from lab_order
    where team_id = ${tx.team} and lab_id = any (${labs.map(({ id }) => id)}::integer[]) and id > ${after} and document like '%(sandbox)"%'
    order by id limit ${BATCH} for no key update`,
  )
  const corrected: { id: string; document: string }[] = []
  for (const { id, document } of rows) {
    const order = JSON.parse(document) as Order
    const lab = labs.find(({ id: lab_id }) => lab_id === order.lab_test.lab?.id)
    if (!lab || !fictionalFields(lab.slug, order.lab_test.lab!).length) continue
    corrected.push({ id, document: JSON.stringify({ ...order, lab_test: { ...order.lab_test, lab } }) })
  }
  if (corrected.length)
    await tx.run(sql`
      update lab_order o set document = r.document
      from jsonb_to_recordset(${JSON.stringify(corrected)}::jsonb) as r (id uuid, document text)
      where o.id = r.id and o.team_id = ${tx.team}`)
  return { corrected: corrected.map(({ id }) => id), next: rows.length < BATCH ? undefined : rows.at(-1)!.id }
}
