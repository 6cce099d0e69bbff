// The ten orders with which a laboratory and this installation try a link: fictional patients, and what each order must lead to. Pure.
import type { Question } from '../catalog/schema.ts'
import { Patient } from '../../people/person/patient.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import type { RequisitionContent } from '../documents/requisition-content.ts'

/** A test of the laboratory. */
export interface TrialTest {
  code: string
  name: string
  questions: Pick<Question, 'code' | 'value' | 'type' | 'answers'>[]
}

/** `accepted` and `refused`: the answer to the message. `cancelled`: the answer to its cancellation. */
export type ExpectedAnswer = 'accepted' | 'refused' | 'cancelled'

export interface TrialCase {
  name: string
  /** What the order contains that others do not. */
  contents: string
  /** What the laboratory is asked to send back after its answer. */
  results: string
  answer: ExpectedAnswer
  /** `cancel` follows the order of the case before it. */
  action: 'new' | 'cancel'
  content: RequisitionContent
}

interface TrialOptions {
  /** Orderable tests of the laboratory; at least one. */
  tests: readonly TrialTest[]
  /** A test with a culture; the first test if there is none. */
  microbiology: TrialTest | undefined
  lab_slug: string
  account: RequisitionContent['account']
  /** A number for each order, which the laboratory shows with it. */
  createNumber: (position: number) => string
  createId: () => string
  created_at: string
  time_zone: string
}

const UNKNOWN_TEST: TrialTest = { code: 'UNKNOWN-999', name: 'Test that does not exist', questions: [] }

/** The cases in the order in which they are sent. */
export function createTrialCases(options: TrialOptions): TrialCase[] {
  const [first, second] = [options.tests[0]!, options.tests[1] ?? options.tests[0]!]
  const questioned = options.tests.find(({ questions }) => questions.length > 0) ?? first
  const culture = options.microbiology ?? first
  const final = 'A final result for each test.'
  const position = { last: 0 }
  const create = (tests: readonly TrialTest[], changes: Partial<RequisitionContent> = {}, order: Partial<TrialOrder> = {}) =>
    createContent(options, ++position.last, tests, changes, order)
  const cancelled = create([first])
  return [
    { name: 'plain', contents: 'One test, billed to the client.', results: final, content: create([first]) },
    { name: 'answers', contents: 'Answers to the questions of a test.', results: final, content: create([questioned]) },
    {
      name: 'insurance',
      contents: 'Billed to the insurance of the patient, with a guarantor and diagnoses.',
      results: final,
      content: create([first], { insurance, diagnoses }, { billing: 'commercial_insurance' }),
    },
    {
      name: 'patient_bill',
      contents: 'Billed to the patient, with priority and clinical notes.',
      results: final,
      content: create([first], {}, { billing: 'patient_bill', priority: true, notes: 'First line\nSecond line & more' }),
    },
    {
      name: 'collection_center',
      contents: 'The sample is taken at a collection center of the laboratory: no time of collection.',
      results: final,
      content: create([first, second], {}, { collected_at: null, method: 'walk_in_test' }),
    },
    { name: 'cancelled_order', contents: 'An order that the next message cancels.', results: 'None.', content: cancelled },
    {
      name: 'cancel',
      contents: 'Cancels the order before.',
      results: 'None.',
      answer: 'cancelled' as const,
      action: 'cancel' as const,
      content: cancelled,
    },
    {
      name: 'correction',
      contents: 'One test whose result the laboratory corrects.',
      results: 'A final result, and then the same result with another value as a correction.',
      content: create([first]),
    },
    {
      name: 'microbiology',
      contents: culture === first ? 'One test with a culture, if the laboratory has one.' : 'A culture.',
      results: 'A preliminary result, and then an organism with its susceptibilities.',
      content: create([culture]),
    },
    {
      name: 'unknown_test',
      contents: 'A code that no test of the laboratory has.',
      results: 'None.',
      answer: 'refused' as const,
      content: create([UNKNOWN_TEST]),
    },
  ].map((trial) => ({ answer: 'accepted', action: 'new', ...trial }))
}

type TrialOrder = RequisitionContent['order']

function createContent(
  { lab_slug, account, createNumber, createId, created_at, time_zone }: TrialOptions,
  position: number,
  tests: readonly TrialTest[],
  changes: Partial<RequisitionContent>,
  order: Partial<TrialOrder>,
): RequisitionContent {
  return {
    order: {
      id: createId(),
      user_id: createId(),
      sample_id: createNumber(position),
      lab_slug,
      created_at,
      time_zone,
      test_name: tests.map(({ name }) => name).join(', '),
      method: 'walk_in_test',
      sample_type: 'serum',
      priority: false,
      billing: 'client_bill',
      fasting: { isRequired: false, answer: null },
      collected_at: created_at,
      notes: null,
      has_abn: false,
      ...order,
    },
    account,
    patient: createPatient(position),
    address,
    physician: { first_name: 'Medica', last_name: 'Fictional', npi: '1234567893', email: null },
    insurance: null,
    diagnoses: [],
    tests: tests.map(({ code, name, questions }) => ({
      code,
      name,
      specimens: [{ specimen: 'serum', container: null }],
      answers: questions.map(answerQuestion),
    })),
    ...changes,
  }
}

/** The first of the listed answers. */
function answerQuestion({ code, value, type, answers }: TrialTest['questions'][number]) {
  const [first] = answers
  const plain = type === 'numeric' ? '1' : 'Trial'
  return {
    code,
    question: value,
    type,
    answers: [first ? { code: first.code, text: first.value } : { code: plain, text: plain }],
  }
}

const createPatient = (position: number): RequisitionContent['patient'] =>
  withNulls(Patient, {
    first_name: 'Testa',
    last_name: `Fictional-${['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'][position - 1] ?? position}`,
    dob: '1980-01-31',
    gender: 'female',
    phone_number: '+15555550100',
    email: 'testa@example.com',
  })

const place = {
  first_line: '1 Invented Way',
  second_line: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'United States',
}
const address = {
  ...place,
  access_notes: null,
  receiver_name: '',
  phone_number: null,
} as unknown as RequisitionContent['address']
const person = { first_name: 'Parenta', last_name: 'Fictional', phone_number: '+15555550101', email: null }

const insurance = {
  member_id: 'TRIAL-MEMBER-1',
  payor_code: 'TRIAL-PAYOR',
  relationship: 'Self',
  insured: { ...person, gender: 'female', address: place, dob: '1980-01-31' },
  company: { name: 'Fictional Insurance', address: place },
  group_id: 'TRIAL-GROUP',
  guarantor: { ...person, address: place, household_income: null, household_size: null },
  is_primary: true,
} as unknown as RequisitionContent['insurance']

const diagnoses = [{ code: 'E11.9', description: 'Type 2 diabetes mellitus without complications' }]
