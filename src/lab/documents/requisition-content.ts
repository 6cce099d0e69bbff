// What a laboratory must know to carry out an order: the one source of the printed requisition and of the order messages over links. Only
// reads. Source: lab-testing.md 15, 6.1, 3.3, 4.
import { answerCodes, fastingAnswer, type AoeAnswer } from '../catalog/aoe.ts'
import { expectedResults, getLabTest } from '../catalog/lab-tests.ts'
import type { Billing, CollectionMethod, SampleType } from '../catalog/enums.ts'
import type { LabTest, Question } from '../catalog/schema.ts'
import type { Order, PhysicianInput } from '../orders/schema.ts'
import { collectionZone } from '../orders/collection-zone.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { describeDiagnoses } from '../../people/insurance/diagnoses.ts'
import { findInsurance } from '../../people/insurance/insurances.ts'
import type { Insurance } from '../../people/insurance/schema.ts'
import type { PatientAddress } from '../../people/person/address.ts'
import type { Patient } from '../../people/person/patient.ts'
import { collectedSpecimens, type CollectedSpecimen } from './containers.ts'
import type { OrderData } from './order-data.ts'

export interface RequisitionContent {
  order: {
    id: string
    user_id: string
    /** The number under which the laboratory knows the order, if it is already assigned. */
    sample_id: string | null
    lab_slug: string
    created_at: string
    /** Time zone of the place of collection. */
    time_zone: string
    test_name: string
    method: CollectionMethod
    sample_type: SampleType
    priority: boolean
    billing: Billing
    fasting: { isRequired: boolean; answer: boolean | null }
    /** When the sample was taken; null if it was not taken yet, or if that is not known. */
    collected_at: string | null
    /** The notes of the account, then those of the order. */
    notes: string | null
    has_abn: boolean
  }
  account: { number: string; name: string | null; business_units: string[] }
  /** Null for a kit that is not registered. */
  patient: Patient | null
  address: PatientAddress | null
  physician: { first_name: string; last_name: string; npi: string; email: string | null } | null
  /** The insurance that the order is billed to. */
  insurance: Insurance | null
  diagnoses: { code: string; description: string | null }[]
  tests: RequestedTest[]
}

interface RequestedTest {
  /** The laboratory's code; empty if the catalog has none. */
  code: string
  name: string
  specimens: CollectedSpecimen[]
  answers: AnsweredQuestion[]
}

/** A question of the laboratory with its answer; questions without an answer are left out. */
interface AnsweredQuestion {
  code: string
  question: string
  type: Question['type']
  /** Of a multiple choice several; a text or a number has its own text as code and no more. */
  answers: { code: string; text: string }[]
}

/** The content of an order's requisition. Errors: 404 the lab test of the order is unknown. */
export async function readRequisitionContent(tx: Tx, data: OrderData): Promise<RequisitionContent> {
  const { order, internalData, account } = data
  const icd_codes = order.icd_codes ?? []
  const answers = (internalData.aoe_answers ?? []) as AoeAnswer[]
  const [test, insurance, expected, descriptions, time_zone, fasting] = await Promise.all([
    getLabTest(tx, order.lab_test.id),
    order.health_insurance_id === null ? undefined : findInsurance(tx, order.health_insurance_id),
    expectedResults(tx, order.lab_test.id),
    describeDiagnoses(tx, icd_codes),
    collectionZone(tx, order),
    fastingAnswer(tx, order.lab_test.id, answers),
  ])
  return {
    order: toRequestedOrder(data, { time_zone, fasting }),
    account: {
      number: account?.provider_account_id ?? '',
      name: account?.account_name ?? null,
      business_units: account?.business_units ?? [],
    },
    patient: order.patient_details,
    address: order.patient_address,
    physician: toPhysician(data),
    insurance: insurance ?? null,
    diagnoses: icd_codes.map((code, index) => ({ code, description: descriptions.get(index) ?? null })),
    tests: (test.markers ?? []).map((marker) => ({
      code: marker.provider_id ?? '',
      name: marker.name,
      specimens: collectedSpecimens(
        expected.find(({ marker_id }) => marker_id === marker.id) ?? { expected: [] },
        order.lab_test,
      ),
      answers: answeredQuestions(marker, answers),
    })),
  }
}

function toRequestedOrder(
  { order, internalData, account }: OrderData,
  { time_zone, fasting }: { time_zone: string; fasting: boolean | null },
): RequisitionContent['order'] {
  return {
    id: order.id,
    user_id: order.user_id,
    sample_id: order.sample_id,
    lab_slug: order.lab_test.lab!.slug,
    created_at: order.created_at,
    time_zone,
    test_name: order.lab_test.name,
    method: order.lab_test.method,
    sample_type: order.lab_test.sample_type,
    priority: order.priority,
    billing: order.billing_type,
    fasting: { isRequired: order.lab_test.fasting, answer: fasting },
    collected_at: (internalData.collected_at as string | undefined) ?? drawnAt(order),
    notes: [account?.default_clinical_notes, order.clinical_notes].filter(Boolean).join('\n') || null,
    has_abn: order.has_abn,
  }
}

/** When a draw was reported. */
const drawnAt = ({ events }: Order): string | null =>
  events.find(({ status }) => status.endsWith('.draw_completed'))?.created_at ?? null

function toPhysician({ order: { physician }, internalData }: OrderData): RequisitionContent['physician'] {
  const input = internalData.physician as PhysicianInput | null | undefined
  return physician && { ...physician, email: input?.email ?? null }
}

/** Every answered question in the laboratory's words. What was not answered, fasting too, is left out. */
const answeredQuestions = (
  { id, aoe }: Pick<NonNullable<LabTest['markers']>[number], 'id' | 'aoe'>,
  orderAnswers: readonly AoeAnswer[],
): AnsweredQuestion[] =>
  (aoe?.questions ?? []).flatMap((question) => {
    const own = orderAnswers.filter(({ marker_id, question_id }) => marker_id === id && question_id === question.id)
    const answers = own.flatMap(({ answer }) => readAnswer(question, answer))
    return answers.length ? [{ code: question.code, question: question.value, type: question.type, answers }] : []
  })

/** The text of an answer code; unlisted codes, text and numbers are as they were entered. */
const readAnswer = (question: Question, answer: string): AnsweredQuestion['answers'] =>
  answerCodes(question, answer).map((code) => ({
    code,
    text: question.answers.find((item) => item.code === code)?.value ?? code,
  }))
