// Advance beneficiary notices: a patient with Medicare signs one before tests that Medicare may not pay for. The laboratory decides whether
// an order has one. Source: lab-testing.md 15.
import { getLabTest } from '../catalog/lab-tests.ts'
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName, type RenderJob } from '../../platform/pdf/render.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Abn } from './abn-page.ts'
import { todayAt } from '../orders/collection-zone.ts'
import type { AbnForm } from './abn-form.ts'
import { isSandbox, loadOrderData, toPrintableLab } from './order-data.ts'
import { toPrintablePatient } from './printable-patient.ts'

/**
 * The notice of an order. Errors: 404 unknown order, an order without a notice; in production, no form of the operator: the notice in our
 * own words is not the one that Medicare accepts.
 */
export async function getAbn(tx: Tx, id: string, form: AbnForm | undefined): Promise<RenderJob<Abn>> {
  const { order, lab } = await loadOrderData(tx, id)
  if (!order.has_abn) throw notFound('This order has no advance beneficiary notice')
  if (!form && !isSandbox(tx)) throw notFound('This server has no form for advance beneficiary notices (ABN_FORM)')
  const { markers } = await getLabTest(tx, order.lab_test.id)
  const codes = order.icd_codes?.length ? ` with the diagnosis ${order.icd_codes.join(', ')}` : ' for your condition'
  const input: Abn = {
    lab: toPrintableLab(lab),
    patient: toPrintablePatient(order, await todayAt(tx, order)).name,
    identification: order.sample_id ?? order.id,
    items: (markers ?? []).map(({ name, price }) => ({
      test: name,
      reason: `Medicare may not pay for this test${codes}, or not as often as it is ordered`,
      cost: dollars(price),
    })),
    printedAt: order.created_at,
    sandbox: isSandbox(tx),
    paper: paperOf(tx.tenant.cell),
  }
  return { name: pdfFileName(order.sample_id ?? order.id), input }
}

const dollars = (price: string | null): string =>
  price !== null && /^\d+(\.\d+)?$/.test(price) ? `$${Number(price).toFixed(2)}` : 'ask us'
