// The content of a requisition, before layout. Source: lab-testing.md 15, 6.1, 3.3, 4.
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName, type RenderJob } from '../../platform/pdf/render.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { examplePhysician } from '../../people/person/example-patient.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Billing } from '../catalog/enums.ts'
import { printedSpecimen } from './containers.ts'
import { isSandbox, loadOrderData, toPrintableLab, statusReachedAt } from './order-data.ts'
import { toPrintablePatient, toWords } from './printable-patient.ts'
import { readRequisitionContent, type RequisitionContent } from './requisition-content.ts'
import type { Coverage, Requisition } from './requisition-page.ts'

/** Laboratories that accept clinical notes; for others the notes are only stored with the order. */
const LABS_TAKING_NOTES = new Set(['quest', 'sonora_quest', 'labcorp', 'bioreference'])

const payers: Record<Billing, string> = {
  client_bill: 'Client (account)',
  commercial_insurance: 'Commercial insurance',
  patient_bill_passthrough: 'Client (account), passed on to the patient',
  patient_bill: 'Patient',
}

/** The requisition of an order. Errors: 404 unknown order, or an order without a requisition created here. */
export async function getRequisition(tx: Tx, id: string): Promise<RenderJob<Requisition>> {
  const file = await loadOrderData(tx, id)
  const createdAt = statusReachedAt(file.order, 'requisition_created')
  if (createdAt === undefined) throw notFound('This order has no requisition')
  const content = await readRequisitionContent(tx, file)
  const { order, account } = content
  const markers = content.tests.map(({ name, code, specimens }) => ({ name, code, containers: specimens.map(printedSpecimen) }))
  const input: Requisition = {
    lab: toPrintableLab(file.lab),
    account: { number: account.number, name: account.name },
    order: {
      id: order.id,
      sample_id: order.sample_id,
      orderedAt: order.created_at,
      createdAt,
      time_zone: order.time_zone,
      priority: order.priority,
      fasting: order.fasting,
      collection: toWords(order.method),
      sample: specimensOf(markers) || toWords(order.sample_type),
      test_name: order.test_name,
      billing: payers[order.billing],
      diagnoses: content.diagnoses,
      notes: LABS_TAKING_NOTES.has(order.lab_slug) ? order.notes : null,
      sandbox: isSandbox(tx),
      paper: paperOf(tx.tenant.cell),
    },
    patient: toPrintablePatient(file.order, dayIn(tx.now, order.time_zone)),
    physician: toPrintablePhysician(tx, content),
    coverage: toCoverage(content),
    markers,
    answers: content.tests.flatMap(({ name, answers }) =>
      answers.map((item) => ({
        marker: name,
        question: item.question,
        answer: item.answers.map(({ text }) => text).join(', '),
      })),
    ),
  }
  return { name: pdfFileName(order.sample_id ?? order.id), input }
}

function toCoverage({ insurance }: RequisitionContent): Coverage | null {
  if (!insurance) return null
  const { company, member_id, group_id, relationship } = insurance
  return { payer: company.name, member_id, group_id, relationship }
}

function toPrintablePhysician(tx: Tx, { physician }: RequisitionContent): Requisition['physician'] {
  if (physician) return { name: nameOf(physician), npi: physician.npi, email: physician.email }
  return isSandbox(tx) ? SANDBOX_PHYSICIAN : null
}

function nameOf({ first_name, last_name }: { first_name: string; last_name: string }): string {
  return `${first_name} ${last_name}`
}

/**
 * Stands for the ordering physician that a service network provides in production, where an order without one does not get this far. Not of
 * the order, which shows none.
 */
const SANDBOX_PHYSICIAN = { name: nameOf(examplePhysician), npi: examplePhysician.npi, email: null }

/** Each specimen once: `Serum, whole blood`. */
const specimensOf = (markers: readonly { containers: readonly string[] }[]): string => {
  const specimens = markers.flatMap(({ containers }) => containers.map((text) => text.split(':', 1)[0]!))
  return [...new Set(specimens)].map((name, index) => (index ? name.toLowerCase() : name)).join(', ')
}
