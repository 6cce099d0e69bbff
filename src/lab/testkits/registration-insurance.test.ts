// Insurance in the registration of a kit. Source: lab-testing.md 5.4, 6.7.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { address, kit, orderBody, getOrder, patient, createOrder, registration } from '../../../test/support/orders.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const card = { content: 'RmljdGlvbmFsIGNhcmQ=', content_type: 'image/jpeg' }
const health_insurance = {
  payor_code: 'AETNA',
  insurance_id: 'M-42',
  responsible_relationship: 'Self',
  diagnosis_codes: ['E11.9', 'Z00.00'],
  front_image: card,
  subjective: 'Tired since spring.',
}
const holder = {
  first_name: 'Guarda',
  last_name: 'Fictional',
  address: { first_line: '2 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
  phone_number: '+15550100198',
  phone_type: 'Landline',
}

async function registerWithInsurance(team: TestTeam, insurance: Record<string, unknown>) {
  const { sample_id, user_id } = await kit(team)
  const { status, body } = await team.api.post(
    '/v3/order/testkit/register',
    registration(sample_id, { health_insurance: insurance }),
  )
  return { status, body, user_id, order: body.order }
}

const Kept = T.Object({ internal_data: T.String() })
const keptWith = async ({ db, team }: TestTeam, id: string) =>
  JSON.parse(
    (await db.queries.one(Kept, sql`select internal_data from lab_order where id = ${id} and team_id = ${team}`)).internal_data,
  ).health_insurance
const readLatest = async ({ api }: TestTeam, user_id: string) => api.get(`/v2/user/${user_id}/insurance/latest`)

describe('insurance in the registration of a kit', () => {
  test("the insurance of a registration is shown on the order under both spellings and becomes the user's primary insurance", async () => {
    const team = await createTestTeam()
    const { status, order, user_id, body } = await registerWithInsurance(team, health_insurance)
    assert.equal(status, 200, JSON.stringify(body))
    assert.match(order.health_insurance_id ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(order.health_insurace_id, order.health_insurance_id)
    assert.deepEqual([order.icd_codes, order.billing_type], [['E11.9', 'Z00.00'], 'client_bill'])
    assert.deepEqual(await getOrder(team, order.id), order)
    const { body: insurance } = await readLatest(team, user_id)
    assert.deepEqual(
      [insurance.payor_code, insurance.member_id, insurance.relationship, insurance.is_primary, insurance.guarantor],
      ['AETNA', 'M-42', 'Self', true, null],
    )
    assert.deepEqual(insurance.insured, {
      ...patient,
      address: { ...address, second_line: '', country: 'United States', access_notes: null },
    })
    assert.deepEqual(await keptWith(team, order.id), health_insurance)
  })

  test('the insurance of a dependent names the policyholder as the guarantor', async () => {
    const team = await createTestTeam()
    const other = { ...health_insurance, responsible_relationship: 'Spouse', responsible_details: holder }
    const { order, user_id } = await registerWithInsurance(team, other)
    const { body } = await readLatest(team, user_id)
    assert.deepEqual([body.relationship, body.guarantor.first_name, body.insured.first_name], ['Spouse', 'Guarda', 'Testa'])
    assert.equal((await keptWith(team, order.id)).responsible_details.phone_type, 'Landline')
  })

  test('registering with an existing insurance does not add it again', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const first = await createOrder(team, { user_id, health_insurance })
    const { sample_id } = await kit(team)
    const { body } = await team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id, health_insurance }))
    assert.equal(body.order.health_insurance_id, first.health_insurance_id)
    const changed = await createOrder(team, { user_id, health_insurance: { ...health_insurance, insurance_id: 'M-43' } })
    assert.notEqual(changed.health_insurance_id, first.health_insurance_id)
  })

  test('insurance data without payor and member id is stored with the order', async () => {
    const team = await createTestTeam()
    const { status, order, user_id } = await registerWithInsurance(team, { back_image: card })
    assert.deepEqual([status, order.health_insurance_id, order.icd_codes], [200, null, null])
    assert.deepEqual(await keptWith(team, order.id), { back_image: card })
    assert.equal((await readLatest(team, user_id)).status, 404)
  })

  test('an invalid insurance is rejected, and the kit still awaits registration', async () => {
    const team = await createTestTeam()
    for (const [changes, status, where] of [
      [{ payor_code: 'NOBODY' }, 400, undefined],
      [{ payor_code: null }, 422, 'payor_code'],
      [{ insurance_id: null }, 422, 'insurance_id'],
      [{ responsible_relationship: 'Other' }, 422, 'responsible_details'],
      [{ front_image: { content: 'x', content_type: 'image/gif' } }, 422, 'front_image.content_type'],
    ] as const) {
      const reply = await registerWithInsurance(team, { ...health_insurance, ...changes })
      assert.equal(reply.status, status, JSON.stringify(reply.body))
      if (where) assert.deepEqual(reply.body.detail[0].loc.slice(2).join('.'), where)
      assert.equal((await readLatest(team, reply.user_id)).status, 404)
    }
    assert.ok((await team.api.get('/v3/orders?status=registered')).body.total === 0)
  })

  test('the insurance of a registration pays for an order billed to insurance, for a patient who was unknown before', async () => {
    const team = await createTestTeam()
    await labAccount(team)
    const ask = async (insurance: Record<string, unknown>) => {
      const changes = { billing_type: 'commercial_insurance', health_insurance: insurance }
      return team.api.post('/v3/order', await orderBody(team, changes))
    }
    const { status, body } = await ask(health_insurance)
    assert.equal(status, 200, JSON.stringify(body))
    assert.match(body.order.health_insurance_id, /^[0-9a-f-]{36}$/)
    assert.deepEqual((await ask({ ...health_insurance, diagnosis_codes: ['nonsense'] })).status, 400)
    assert.deepEqual((await ask({ subjective: 'Tired.', diagnosis_codes: ['E11.9'] })).status, 400)
  })
})
