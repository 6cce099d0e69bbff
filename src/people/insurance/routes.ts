import { operation } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { searchDiagnoses, validateCodes } from './diagnoses.ts'
import { createInsurance, latestInsurance } from './insurances.ts'
import { createPayor, searchPayors } from './payors.ts'
import * as shapes from './schema.ts'

const userParams = Fields({ user_id: Uuid })

const address = { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

export const insuranceRoutes = [
  operation({
    id: 'create_insurance',
    logsAccess: true,
    method: 'POST',
    path: '/v2/user/{user_id}/insurance',
    summary: 'Add an insurance of a user',
    description:
      'Adds one and replaces none; orders are billed to the newest primary insurance. The user must have demographics.',
    params: userParams,
    body: shapes.CreateInsurance,
    reply: shapes.Insurance,
    example: {
      payor_code: 'AETNA',
      member_id: 'FICTIONAL-1',
      group_id: 'G-1',
      relationship: 'Self',
      insured: {
        first_name: 'Testa',
        last_name: 'Fictional',
        gender: 'female',
        dob: '1990-01-31',
        email: 'testa@example.com',
        phone_number: '+15550100199',
        address,
      },
    },
    run: (tx, { params, body }) => createInsurance(tx, params.user_id, body),
  }),
  operation({
    id: 'get_latest_insurance',
    logsAccess: true,
    method: 'GET',
    path: '/v2/user/{user_id}/insurance/latest',
    summary: 'Read the newest insurance of a user',
    params: userParams,
    query: shapes.LatestQuery,
    reply: shapes.Insurance,
    run: (tx, { params, query }) => latestInsurance(tx, params.user_id, query.is_primary ?? true),
  }),
  operation({
    id: 'search_insurance_payor_information',
    logsAccess: false,
    method: 'GET',
    path: '/v3/insurance/search/payor',
    summary: "Search payors, the platform's and the team's own",
    description: 'By words of a name or an alias, or by the code of a clearinghouse. The most relevant 100, best matches first.',
    query: shapes.PayorQuery,
    reply: T.Array(shapes.FoundPayor),
    run: async (tx, { query: { insurance_name, provider, provider_payor_id: external_code } }) =>
      (await searchPayors(tx, { insurance_name, provider, external_code }, 'query', 'provider_payor_id')).map((payor) => ({
        ...payor,
        code: payor.payor_code,
      })),
  }),
  operation({
    id: 'post_insurance_payor_information',
    logsAccess: false,
    method: 'POST',
    path: '/v3/insurance/search/payor',
    summary: 'Search payors (deprecated)',
    deprecated: true,
    reads: true,
    body: shapes.PayorSearch,
    reply: T.Array(shapes.FoundPayorByCode),
    example: { insurance_name: 'Aetna' },
    run: async (tx, { body: { insurance_name, provider, provider_id: external_code } }) =>
      (await searchPayors(tx, { insurance_name, provider, external_code }, 'body', 'provider_id')).map(
        ({ payor_code: code, ...payor }) => ({ code, ...payor }),
      ),
  }),
  operation({
    id: 'search_diagnosis',
    logsAccess: false,
    method: 'GET',
    path: '/v3/insurance/search/diagnosis',
    summary: 'Search ICD-10-CM diagnoses by code prefix or text',
    description: 'The most relevant 50, best matches first.',
    query: shapes.DiagnosisQuery,
    reply: T.Array(shapes.Diagnosis),
    run: (tx, { query }) => searchDiagnoses(tx, query.diagnosis_query),
  }),
  operation({
    id: 'validate_icd_codes',
    logsAccess: false,
    method: 'POST',
    path: '/v3/insurance/validate_icd_codes',
    summary: 'Validate diagnosis codes',
    description:
      '`violations` are pairs that are never coded together (Excludes1), `warnings` pairs that are only when the patient has both (Excludes2).',
    reads: true,
    body: shapes.ValidateCodes,
    reply: shapes.ValidatedCodes,
    example: { codes: ['E11.9', 'Z00.00'] },
    run: (tx, { body }) => validateCodes(tx, body.codes),
  }),
  operation({
    id: 'create_payor',
    logsAccess: false,
    method: 'POST',
    path: '/v3/payor',
    summary: 'Add a payor that only the team sees',
    body: shapes.CreatePayor,
    reply: shapes.Payor,
    example: { name: 'Fictional Mutual', address, provider: 'availity', provider_payor_id: 'FICT1' },
    run: (tx, { body }) => createPayor(tx, body),
  }),
]
