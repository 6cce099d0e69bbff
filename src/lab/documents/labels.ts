// The content of an order's specimen labels. Source: lab-testing.md 15.
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName, type RenderJob } from '../../platform/pdf/render.ts'
import { utcDate, iso } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { collectionZone } from '../orders/collection-zone.ts'
import type { Label } from './labels-page.ts'
import { loadOrderData } from './order-data.ts'
import { toPrintablePatient } from './printable-patient.ts'
import type { LabelsQuery } from './schema.ts'

/** Labels for the samples of an order. Errors: 404 unknown order, or an order without a sample id. */
export async function getLabels(tx: Tx, id: string, query: LabelsQuery): Promise<RenderJob<{ label: Label; count: number }>> {
  const { order, lab, account } = await loadOrderData(tx, id)
  if (order.sample_id === null) throw notFound('This order has no sample id yet')
  const time_zone = await collectionZone(tx, order)
  const patient = toPrintablePatient(order, dayIn(tx.now, time_zone))
  const collected = new Date(query.collection_date)
  const label: Label = {
    sample_id: order.sample_id,
    last_name: order.patient_details?.last_name ?? '',
    first_name: order.patient_details?.first_name ?? '',
    dob: patient.dob,
    gender: patient.gender,
    account: account?.provider_account_id ?? '',
    lab: lab.name,
    collectionTime: isDay(collected) ? utcDate(collected) : iso(collected),
    time_zone,
    paper: paperOf(tx.tenant.cell),
  }
  return { name: pdfFileName(order.sample_id), input: { label, count: query.number_of_labels ?? 3 } }
}

/** Clients send a day as midnight in UTC, which is the evening before in America: it is a day at the place of collection. */
const isDay = (time: Date): boolean => time.getTime() % 86_400_000 === 0
