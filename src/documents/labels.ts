// What the labels of an order's samples say. Source: lab-testing.md 15.
import { fileName, type Drawing } from '../paper/draw.ts'
import { day, iso } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { notFound } from '../platform/errors.ts'
import type { Label } from './labels-page.ts'
import { openFile } from './order-file.ts'
import { printedPatient } from './person.ts'
import type { LabelsQuery } from './schema.ts'

/** Labels for the samples of an order. 404: no such order, or it has no sample id yet. */
export async function getLabels(tx: Tx, id: string, query: LabelsQuery): Promise<Drawing<{ label: Label; count: number }>> {
  const { order, lab, account } = await openFile(tx, id)
  if (order.sample_id === null) throw notFound('This order has no sample id yet')
  const patient = printedPatient(order, day(tx.now))
  const label: Label = {
    sample_id: order.sample_id,
    patient: patient.filed,
    dob: patient.dob,
    gender: patient.gender,
    account: account?.provider_account_id ?? '',
    lab: lab.name,
    collected: iso(new Date(query.collection_date)),
  }
  return { name: fileName(order.sample_id), input: { label, count: query.number_of_labels ?? 3 } }
}
