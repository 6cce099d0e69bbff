// Results of earlier releases that name a fictional laboratory, in production: reports are then printed with the real one.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { fictionalFields } from '../catalog/lab-identity.ts'
import type { LabRecord } from '../catalog/labs.ts'
import type { CorrectedBatch } from '../orders/corrected-labs.ts'
import { orderingLaboratory, shownLaboratory } from './result-document.ts'
import type { ResultDocument } from './schema.ts'

const BATCH = 200

const Row = T.Object({ id: T.String(), lab_id: T.Integer(), document: T.String() })

/**
 * Corrects the laboratory in some of the team's results of orders at these labs. Emits nothing: no result changes. Uploaded documents stay. Writes
 * lab_result.
 * @param after the order of the last result of the batch before
 */
export async function correctLabOfResults(tx: Tx, labs: readonly LabRecord[], after: string): Promise<CorrectedBatch> {
  const rows = await tx.locking.many(
    Row,
    sql`
    select r.order_id as id, o.lab_id, r.document from lab_result r join lab_order o on o.id = r.order_id and o.team_id = ${tx.team}
    where r.team_id = ${tx.team} and o.lab_id = any (${labs.map(({ id }) => id)}::integer[]) and r.order_id > ${after} and r.document like '%(sandbox)"%'
    order by r.order_id limit ${BATCH} for no key update of r`,
  )
  const corrected: { id: string; document: string }[] = []
  for (const { id, lab_id, document: text } of rows) {
    const lab = labs.find((each) => each.id === lab_id)!
    const document = withLaboratory(JSON.parse(text) as ResultDocument, lab)
    if (document) corrected.push({ id, document: JSON.stringify(document) })
  }
  if (corrected.length)
    await tx.run(sql`
      update lab_result o set document = r.document
      from jsonb_to_recordset(${JSON.stringify(corrected)}::jsonb) as r (id uuid, document text)
      where o.order_id = r.id and o.team_id = ${tx.team}`)
  return { corrected: corrected.map(({ id }) => id), next: rows.length < BATCH ? undefined : rows.at(-1)!.id }
}

/** The result with the real laboratory; undefined if it names no fictional one. */
function withLaboratory(document: ResultDocument, lab: LabRecord): ResultDocument | undefined {
  const { metadata, sample_information } = document
  const isFictional = (name: string | null) => name !== null && fictionalFields(lab.slug, { name }).length > 0
  if (!isFictional(metadata.laboratory)) return undefined
  const samples = Object.entries(sample_information).map(([id, sample]) => {
    const laboratories = Object.entries(sample.performing_laboratories ?? {}).map(
      ([key, one]) => [key, isFictional(one.name) ? shownLaboratory(orderingLaboratory(lab)) : one] as const,
    )
    return [
      id,
      { ...sample, performing_laboratories: sample.performing_laboratories && Object.fromEntries(laboratories) },
    ] as const
  })
  const performedThere = samples.some(([, sample]) => sample.performing_laboratories?.[lab.slug])
  return {
    ...document,
    metadata: {
      ...metadata,
      laboratory: lab.name,
      ...(performedThere && { 'clia_#': lab.clia, clia_number: lab.clia }),
    },
    sample_information: Object.fromEntries(samples),
  }
}
