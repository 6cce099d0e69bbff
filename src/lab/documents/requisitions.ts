// The content of a requisition, before layout. Source: lab-testing.md 15, 6.1, 3.3, 4.
import { answerCodes, fastingAnswer, type AoeAnswer } from '../catalog/aoe.ts'
import { expectedResults, getLabTest } from '../catalog/lab-tests.ts'
import type { LabTest, Question } from '../catalog/schema.ts'
import type { Order, PhysicianInput } from '../orders/schema.ts'
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName, type RenderJob } from '../../platform/pdf/render.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { collectionZone } from '../orders/collection-zone.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { describeDiagnoses } from '../../people/insurance/diagnoses.ts'
import { findInsurance } from '../../people/insurance/insurances.ts'
import { examplePhysician } from '../../people/person/example-patient.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Billing } from '../catalog/enums.ts'
import { collectedContainers } from './containers.ts'
import { isSandbox, loadOrderData, toPrintableLab, statusReachedAt, type OrderData } from './order-data.ts'
import { toPrintablePatient, toWords } from './printable-patient.ts'
import type { Coverage, Requisition } from './requisition-page.ts'

/** The insurance that an order is billed to. */
async function findCoverage(tx: Tx, { health_insurance_id }: Order): Promise<Coverage | null> {
  const insurance = health_insurance_id === null ? undefined : await findInsurance(tx, health_insurance_id)
  if (!insurance) return null
  const { company, member_id, group_id, relationship } = insurance
  return { payer: company.name, member_id, group_id, relationship }
}

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
  const { order, lab, account } = file
  const createdAt = statusReachedAt(order, 'requisition_created')
  if (createdAt === undefined) throw notFound('This order has no requisition')
  const icd_codes = order.icd_codes ?? []
  const [test, coverage, expected, descriptions, time_zone] = await Promise.all([
    getLabTest(tx, order.lab_test.id),
    findCoverage(tx, order),
    expectedResults(tx, order.lab_test.id),
    describeDiagnoses(tx, icd_codes),
    collectionZone(tx, order),
  ])
  const markers = (test.markers ?? []).map(({ id, name, provider_id }) => ({
    name,
    code: provider_id ?? '',
    containers: collectedContainers(expected.find(({ marker_id }) => marker_id === id) ?? { expected: [] }, order.lab_test),
  }))
  const { physician } = order
  const given = file.internalData.physician as PhysicianInput | null | undefined
  const input: Requisition = {
    lab: toPrintableLab(lab),
    account: { number: account?.provider_account_id ?? '', name: account?.account_name ?? null },
    order: {
      id: order.id,
      sample_id: order.sample_id,
      orderedAt: order.created_at,
      createdAt,
      time_zone,
      priority: order.priority,
      fasting: { isRequired: order.lab_test.fasting, answer: await fastingAnswer(tx, order.lab_test.id, answersOf(file)) },
      collection: toWords(order.lab_test.method),
      sample: specimensOf(markers) || toWords(order.lab_test.sample_type),
      test_name: order.lab_test.name,
      billing: payers[order.billing_type],
      diagnoses: icd_codes.map((code, index) => ({ code, description: descriptions.get(index) ?? null })),
      notes: notesOf(file),
      sandbox: isSandbox(tx),
      paper: paperOf(tx.tenant.cell),
    },
    patient: toPrintablePatient(order, dayIn(tx.now, time_zone)),
    physician: physician
      ? { name: nameOf(physician), npi: physician.npi, email: given?.email ?? null }
      : isSandbox(tx)
        ? SANDBOX_PHYSICIAN
        : null,
    coverage,
    markers,
    answers: answeredQuestions(test, file),
  }
  return { name: pdfFileName(order.sample_id ?? order.id), input }
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

/** The notes of the account, then those of the order; for laboratories that accept notes. */
function notesOf({ order, account }: OrderData): string | null {
  if (!LABS_TAKING_NOTES.has(order.lab_test.lab!.slug)) return null
  return [account?.default_clinical_notes, order.clinical_notes].filter(Boolean).join('\n') || null
}

const answersOf = ({ internalData }: Pick<OrderData, 'internalData'>): AoeAnswer[] =>
  (internalData.aoe_answers ?? []) as AoeAnswer[]

/** Every answered question in the laboratory's words. What was not answered, fasting too, is left out. */
function answeredQuestions(test: LabTest, file: OrderData): Requisition['answers'] {
  const given = answersOf(file)
  return (test.markers ?? []).flatMap(({ id, name, aoe }) =>
    (aoe?.questions ?? []).flatMap((question) => {
      const own = given.filter(({ marker_id, question_id }) => marker_id === id && question_id === question.id)
      const answer = own.map((item) => answerText(question, item.answer)).join(', ')
      return own.length ? [{ marker: name, question: question.value, answer }] : []
    }),
  )
}

/** The text of an answer code; unlisted codes, text and numbers are printed as given. */
const answerText = (question: Question, answer: string): string =>
  answerCodes(question, answer)
    .map((code) => question.answers.find((answer) => answer.code === code)?.value ?? code)
    .join(', ')
