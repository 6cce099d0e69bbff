// Contents of requisitions for tests: one that uses everything that an order can have.
import type { RequisitionContent } from '../../src/lab/documents/requisition-content.ts'

const address = {
  first_line: '1 Invented Way',
  second_line: 'Unit 2',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'United States',
  access_notes: null,
}
const { access_notes: _, ...place } = address
const guardian = {
  first_name: 'Parenta',
  last_name: 'Fictional',
  address: { ...place, first_line: '3 Other Way' },
  phone_number: '+15550100177',
}

/** An order of two tests with answers, billed to insurance, for a minor. */
export const fullContent: RequisitionContent = {
  order: {
    id: '0198a000-0000-7000-8000-000000000001',
    user_id: '0198a000-0000-7000-8000-0000000000aa',
    sample_id: 'FIC-4711',
    lab_slug: 'quest',
    created_at: '2030-01-02T08:15:00+00:00',
    time_zone: 'America/Phoenix',
    test_name: 'Fictional Panel',
    method: 'walk_in_test',
    sample_type: 'serum',
    priority: true,
    billing: 'commercial_insurance',
    fasting: { isRequired: true, answer: true },
    collected_at: '2030-01-03T09:30:00+00:00',
    notes: 'First note\nSecond note',
    has_abn: true,
  },
  account: { number: 'ACC-77', name: 'Fictional Clinic', business_units: [] },
  patient: {
    first_name: 'Testa',
    last_name: 'Fictional',
    dob: '2015-01-31',
    gender: 'female',
    phone_number: '+14805550199',
    email: 'testa@example.com',
    medical_proxy: guardian,
    race: 'asian',
    ethnicity: 'non_hispanic',
    sexual_orientation: null,
    gender_identity: null,
  },
  address: { ...address, receiver_name: '', phone_number: null },
  physician: { first_name: 'Medica', last_name: 'Fictional', npi: '1234567890', email: null },
  insurance: {
    member_id: 'MEM-1',
    payor_code: 'PAY-1',
    relationship: 'Other',
    insured: {
      first_name: 'Parenta',
      last_name: 'Fictional',
      gender: 'male',
      address: { ...address },
      dob: '1980-05-06',
      email: 'parenta@example.com',
      phone_number: '+15550100177',
    },
    company: { name: 'Fictional Insurance', address: { ...address, first_line: 'P.O. Box 1', second_line: '' } },
    group_id: 'GRP-9',
    guarantor: {
      ...guardian,
      address: { ...address, first_line: '3 Other Way' },
      household_income: null,
      household_size: null,
      email: null,
    },
    is_primary: true,
  },
  diagnoses: [
    { code: 'E11.9', description: 'Type 2 diabetes mellitus without complications' },
    { code: 'Z00.00', description: null },
  ],
  tests: [
    {
      code: '100',
      name: 'Glucose',
      specimens: [{ specimen: 'serum', container: 'gold (SST)' }],
      answers: [
        { code: 'FSTING', question: 'Fasting?', type: 'choice', answers: [{ code: 'Y', text: 'Yes' }] },
        { code: 'HOURS', question: 'Hours since food', type: 'numeric', answers: [{ code: '12', text: '12' }] },
      ],
    },
    {
      code: '200',
      name: 'Culture',
      specimens: [{ specimen: 'urine', container: null }],
      answers: [
        {
          code: 'SITES',
          question: 'Sites',
          type: 'multi_choice',
          answers: [
            { code: 'L', text: 'Left' },
            { code: 'R', text: 'Right' },
          ],
        },
        { code: 'WHY', question: 'Reason', type: 'text', answers: [{ code: 'Tired', text: 'Tired' }] },
      ],
    },
  ],
}

/** The content with every text replaced, except those that are codes of ours or times. */
export function withText(content: RequisitionContent, text: string): RequisitionContent {
  const fixed = new Set([
    'method',
    'sample_type',
    'billing',
    'created_at',
    'collected_at',
    'time_zone',
    'dob',
    'gender',
    'race',
    'ethnicity',
    'relationship',
    'type',
    'specimen',
    'country',
  ])
  const replace = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return fixed.has(key) ? value : text
    if (Array.isArray(value)) return value.map((item) => replace(item, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item, name)]))
  }
  return replace(content, '') as RequisitionContent
}
