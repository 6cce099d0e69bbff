// Payors, diagnoses and insurances over HTTP, and the requirements of insured orders.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import { SECONDS_PER_DAY, advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { assertInsured } from './insurances.ts'

const address = { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004' }
const shownAddress = { ...address, second_line: '', country: 'United States', access_notes: null }
const person = {
  first_name: 'Testa',
  last_name: 'Fictional',
  gender: 'female',
  dob: '1990-01-31',
  email: 'testa@example.com',
  phone_number: '+15550100199',
  address,
}
const insurance = { payor_code: 'AETNA', member_id: 'M-1', relationship: 'Self', insured: person }
const guarantor = { first_name: 'Guarda', last_name: 'Fictional', address, phone_number: '+15550100188' }

const createKnownUser = async (team: TestTeam, state = 'AZ'): Promise<string> => {
  const user = await team.user()
  const { status } = await team.api.patch(`/v2/user/${user}/info`, { ...person, address: { ...address, state } })
  assert.equal(status, 200)
  return user
}
const insure = ({ api }: TestTeam, user: string, changes: Record<string, unknown> = {}) =>
  api.post(`/v2/user/${user}/insurance`, { ...insurance, ...changes })
const search = ({ api }: TestTeam, query: Record<string, string>) =>
  api.get(`/v3/insurance/search/payor?${new URLSearchParams(query)}`)
const namesOf = (body: { name: string }[]) => body.map(({ name }) => name)
const where = (body: { detail: { loc: string[] }[] }) => body.detail.map(({ loc }) => loc.join('.'))

describe('payors', () => {
  test('finds payors by words of a name or an alias, exact names first', async () => {
    const team = await createTestTeam()
    const { status, body } = await search(team, { insurance_name: 'united healthcare' })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body[0]).sort(), ['aliases', 'code', 'name', 'org_address', 'payor_code', 'source'])
    assert.deepEqual([body[0].payor_code, body[0].code, body[0].source], ['UHC', 'UHC', 'platform'])
    assert.deepEqual(namesOf((await search(team, { insurance_name: 'Medi-Cal' })).body), ['California Medicaid'])
    assert.deepEqual((await search(team, { insurance_name: '100% _none' })).body, [])
  })

  test('finds payors by the code of a clearinghouse', async () => {
    const team = await createTestTeam()
    const { body } = await search(team, { provider: 'Stedi', provider_payor_id: '60054' })
    assert.deepEqual(namesOf(body), ['Aetna'])
    assert.deepEqual((await search(team, { provider: 'stedi', provider_payor_id: 'nothing' })).body, [])
  })

  test('rejects an empty or incomplete search', async () => {
    const team = await createTestTeam()
    for (const [query, at] of [
      [{}, 'query'],
      [{ insurance_name: '  ' }, 'query'],
      [{ provider: 'stedi' }, 'query.provider_payor_id'],
      [{ provider_payor_id: '60054' }, 'query.provider'],
      [{ insurance_name: 'Aetna', provider: 'nobody', provider_payor_id: '1' }, 'query.provider'],
    ] as const) {
      const { status, body } = await search(team, query)
      assert.deepEqual([status, where(body)], [422, [at]])
    }
  })

  test('finds payors through the deprecated operation', async () => {
    const team = await createTestTeam()
    const post = (body: unknown) => team.api.post('/v3/insurance/search/payor', body)
    const { body } = await post({ provider: 'availity', provider_id: '60054' })
    assert.deepEqual(Object.keys(body[0]).sort(), ['aliases', 'code', 'name', 'org_address', 'source'])
    assert.equal(body[0].code, 'AETNA')
    const half = await post({ provider: 'availity' })
    assert.deepEqual([half.status, where(half.body)], [422, ['body.provider_id']])
  })

  test('a payor of a team is visible only to the team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const made = await team.api.post('/v3/payor', {
      name: 'Fictional Mutual',
      address,
      provider: 'stedi',
      provider_payor_id: 'F1',
    })
    const { payor_code, ...shown } = made.body
    assert.deepEqual(
      [made.status, shown],
      [200, { name: 'Fictional Mutual', aliases: [], org_address: shownAddress, source: 'team' }],
    )
    for (const query of [{ insurance_name: 'fictional' }, { provider: 'stedi', provider_payor_id: 'f1' }]) {
      assert.deepEqual(
        (await search(team, query)).body.map(({ code }: { code: string }) => code),
        [payor_code],
      )
      assert.deepEqual((await search(other, query)).body, [])
    }
    assert.deepEqual((await search(team, { provider: 'availity', provider_payor_id: 'F1' })).body, [])
    const user = await createKnownUser(other)
    const refused = await insure(other, user, { payor_code })
    assert.deepEqual([refused.status, refused.body], [400, { detail: 'Payor code does not exist' }])
    assert.equal((await insure(team, await createKnownUser(team), { payor_code })).body.company.name, 'Fictional Mutual')
  })

  test('rejects a payor that already exists', async () => {
    const team = await createTestTeam()
    const add = (body: Record<string, unknown>) => team.api.post('/v3/payor', { name: 'Fictional Mutual', address, ...body })
    const detail = 'The platform already has this payor; search for it'
    for (const body of [{ name: 'aetna' }, { name: 'UHC' }, { provider: 'waystar', provider_payor_id: '60054' }])
      assert.deepEqual((await add(body)).body, { detail })
    assert.equal((await add({})).status, 200)
    assert.equal((await add({})).status, 400)
    const half = await add({ name: 'Other', provider: 'waystar' })
    assert.deepEqual([half.status, where(half.body)], [422, ['body.provider_payor_id']])
  })
})

describe('diagnoses', () => {
  test('finds diagnoses by code and by words', async () => {
    const team = await createTestTeam()
    const found = async (query: string) =>
      (await team.api.get(`/v3/insurance/search/diagnosis?diagnosis_query=${encodeURIComponent(query)}`)).body
    assert.deepEqual((await found('E11.9'))[0], {
      diagnosis_code: 'E11.9',
      description: 'Type 2 diabetes mellitus without complications',
      is_secondary: false,
    })
    assert.equal((await found('essential hypertension'))[0].diagnosis_code, 'I10')
    assert.equal((await found('diabetes')).length, 50)
    assert.deepEqual(await found('xyzzy'), [])
    assert.equal((await team.api.get('/v3/insurance/search/diagnosis')).status, 422)
  })

  test('validates codes against the list and against each other', async () => {
    const team = await createTestTeam()
    const validate = async (codes: string[]) => (await team.api.post('/v3/insurance/validate_icd_codes', { codes })).body
    const fine = { valid: true, errors: [], violations: [], warnings: [] }
    assert.deepEqual(await validate(['e119', 'Z00.00']), fine)
    assert.deepEqual(await validate([]), fine)
    assert.deepEqual(await validate(['E11', 'X', 'Q00.0']), {
      ...fine,
      valid: false,
      errors: [
        'E11 is not specific enough to be billed',
        'X is not an ICD-10-CM code that can be billed',
        'Q00.0 is not an ICD-10-CM code that can be billed',
      ],
    })
    const conflict = { code: 'E10.9', conflicts_with: 'E11.65', type: 'excludes1' }
    assert.deepEqual(await validate(['E11.65', 'E10.9']), { ...fine, valid: false, violations: [conflict] })
    const both = { code: 'N39.0', overlaps_with: 'R31.9', type: 'excludes2' }
    assert.deepEqual(await validate(['R31.9', 'N39.0', 'N39.0']), { ...fine, warnings: [both] })
    assert.equal((await team.api.post('/v3/insurance/validate_icd_codes', { codes: Array(101).fill('I10') })).status, 422)
  })
})

describe('an insurance', () => {
  test('is added and read, and does not replace another one', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    const latest = (query = '') => team.api.get(`/v2/user/${user}/insurance/latest${query}`)
    assert.deepEqual((await latest()).body, { detail: 'Insurance not found' })
    const { status, body } = await insure(team, user)
    assert.deepEqual(
      [status, body],
      [
        200,
        {
          ...insurance,
          insured: { ...person, address: shownAddress },
          company: {
            name: 'Aetna',
            address: { ...shownAddress, first_line: '151 Farmington Avenue', city: 'Hartford', state: 'CT', zip: '06156' },
          },
          group_id: null,
          guarantor: null,
          is_primary: true,
        },
      ],
    )
    await insure(team, user, { member_id: 'M-2', is_primary: false })
    assert.equal((await latest()).body.member_id, 'M-1')
    assert.equal((await latest('?is_primary=false')).body.member_id, 'M-2')
    await insure(team, user, { member_id: 'M-3', group_id: 'G-1' })
    assert.deepEqual([(await latest('?is_primary=true')).body.member_id, (await latest()).body.group_id], ['M-3', 'G-1'])
  })

  test('requires a guarantor if another person is insured', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    const refused = await insure(team, user, { relationship: 'spouse' })
    assert.deepEqual([refused.status, where(refused.body)], [422, ['body.guarantor']])
    const { body } = await insure(team, user, { relationship: 'spouse', guarantor })
    assert.deepEqual([body.relationship, body.guarantor.address, body.guarantor.household_size], ['Spouse', shownAddress, null])
  })

  test('rejects invalid input with all errors, and unknown users', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    const wrong = {
      member_id: '',
      insured: { ...person, last_name: 'García', gender: 'x', address: { ...address, state: 'ZZ' } },
    }
    const refused = await insure(team, user, wrong)
    assert.deepEqual(
      [refused.status, where(refused.body)],
      [422, ['body.member_id', 'body.insured.last_name', 'body.insured.gender', 'body.insured.address.state']],
    )
    assert.equal((await insure(team, user, { insured: { ...person, dob: '2999-01-01' } })).status, 422)
    const stranger = await insure(team, await team.user())
    assert.deepEqual([stranger.status, stranger.body], [400, { detail: 'The user has no demographics; insurance requires them' }])
    for (const id of [randomUUID(), await createKnownUser(await createTestTeam())]) {
      assert.equal((await insure(team, id)).status, 404)
      assert.equal((await team.api.get(`/v2/user/${id}/insurance/latest`)).status, 404)
    }
    assert.equal((await team.api.get(`/v2/user/${user}/insurance/latest`)).status, 404)
  })

  test("with Medicare or Medicaid it is the plan of the user's state", async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team, 'TX')
    assert.equal((await insure(team, user, { payor_code: 'MEDFED' })).body.payor_code, 'MEDICARE-TX')
    const { body } = await insure(team, user, { payor_code: 'maidfed' })
    assert.deepEqual([body.payor_code, body.company.name], ['MEDICAID-TX', 'Texas Medicaid'])
    const nowhere = await insure(team, await createKnownUser(team, 'GU'), { payor_code: 'MAIDFED' })
    assert.deepEqual(
      [nowhere.status, nowhere.body],
      [400, { detail: 'No plan of this program is known in the state of the patient' }],
    )
  })

  test('is erased with its user after the grace period', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    await insure(team, user)
    await team.api.delete(`/v2/user/${user}`)
    await advanceClock(team, 8 * SECONDS_PER_DAY)
    assert.equal((await team.db.pool.query('select id from insurance where user_id = $1', [user])).rowCount, 0)
    assert.equal((await team.db.pool.query('select id from "user" where id = $1', [user])).rowCount, 0)
  })
})

describe('an order billed to an insurance', () => {
  const asked = (team: TestTeam, user_id: string, icd_codes: string[] | undefined) =>
    team.db.tx(team.tenant, (tx) => assertInsured(tx, { user_id, icd_codes }))
  const refused = (team: TestTeam, user: string, codes: string[] | undefined, detail: RegExp) =>
    assert.rejects(asked(team, user, codes), (error) => {
      assert(error instanceof Problem)
      assert.equal(error.status, 400)
      assert.match(error.body.detail as string, detail)
      return true
    })

  test('gets the newest primary insurance', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    await insure(team, user)
    const first = await asked(team, user, ['E11.9'])
    await insure(team, user, { is_primary: false })
    assert.equal(await asked(team, user, ['E119', 'I10']), first)
    await insure(team, user)
    const second = await asked(team, user, ['E11.9'])
    assert.notEqual(second, first)
    const { rows } = await team.db.pool.query('select id from insurance where user_id = $1 and is_primary order by id', [user])
    assert.deepEqual(rows, [{ id: first }, { id: second }])
  })

  test('rejects missing diagnoses and diagnoses that cannot be billed', async () => {
    const team = await createTestTeam()
    const user = await createKnownUser(team)
    await insure(team, user)
    for (const codes of [undefined, []]) await refused(team, user, codes, /at least one diagnosis/)
    await refused(team, user, ['I10', 'E11'], /code number 2 is not specific enough/)
    await refused(team, user, ['nonsense'], /code number 1 is not an ICD-10-CM code/)
  })

  test('rejects a user without demographics or without a primary insurance', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await refused(team, await team.user(), ['I10'], /demographics/)
    const user = await createKnownUser(team)
    await refused(team, user, ['I10'], /no primary insurance/)
    await insure(team, user, { is_primary: false })
    await refused(team, user, ['I10'], /no primary insurance/)
    const theirs = await createKnownUser(other)
    await insure(other, theirs)
    await refused(team, theirs, ['I10'], /demographics/)
  })
})
