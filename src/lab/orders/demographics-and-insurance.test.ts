// Demographics, insurance and physicians: what an order needs and what it stores.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { keptDemographics } from '../../people/users/demographics.ts'
import { cachedUser } from '../../people/users/users.ts'
import { getRequisition } from '../documents/requisitions.ts'
import { kit, orderBody, patient, createOrder, proxy, registration, tenantOf, advanceTo } from '../../../test/support/orders.ts'
import type { CreateOrder } from './schema.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const readLatestInfo = async ({ api }: TestTeam, user: string) => (await api.get(`/v2/user/${user}/info/latest`)).body
const minor = { ...patient, dob: '2020-05-05' }

describe('demographics of the user', () => {
  test("creating an order stores the patient as the user's demographics, and the next order updates them", async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await team.api.get(`/v2/user/${user_id}/info/latest`)).status, 404)
    await createOrder(team, { user_id })
    const info = await readLatestInfo(team, user_id)
    assert.deepEqual([info.first_name, info.address.city], ['Testa', 'Phoenix'])
    await createOrder(team, { user_id, patient_details: { ...patient, first_name: 'Tessa' } })
    assert.equal((await readLatestInfo(team, user_id)).first_name, 'Tessa')
  })

  test('an order keeps demographics that are the same, and stores them again if they have changed meanwhile', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const body = (await orderBody(team, { user_id })) as CreateOrder
    const { patient_details, patient_address } = body
    const info = { ...patient_details, address: patient_address }
    assert.equal((await team.api.patch(`/v2/user/${user_id}/info`, info)).status, 200)
    const keptVersion = async (last_name: string) =>
      team.db.tx(await tenantOf(team), async (tx) =>
        keptDemographics(
          tx,
          (await cachedUser(tx, user_id))!,
          { ...patient_details, last_name },
          { ...patient_address, country: 'United States' },
        ),
      )
    assert.match((await keptVersion(patient_details.last_name))!, /^\d+$/)
    assert.equal(await keptVersion('Other'), undefined)
    const stored = await readLatestInfo(team, user_id)
    await createOrder(team, { user_id })
    assert.deepEqual(await readLatestInfo(team, user_id), stored)
    // The user is cached with the version before.
    assert.equal((await team.api.patch(`/v2/user/${user_id}/info`, { ...info, last_name: 'Other' })).status, 200)
    const orders = await team.api.get(`/v3/orders?user_id=${user_id}`)
    await createOrder(team, { user_id })
    assert.deepEqual(await readLatestInfo(team, user_id), stored)
    assert.equal((await team.api.get(`/v3/orders?user_id=${user_id}`)).body.total, orders.body.total + 1)
  })

  test("registering a kit stores the patient as the demographics of the kit's user", async () => {
    const team = await createTestTeam()
    const [stock, user_id] = [await team.user(), await team.user()]
    const { sample_id } = await kit(team, { user_id: stock })
    assert.equal((await team.api.post('/v3/order/testkit/register', registration(sample_id, { user_id }))).status, 200)
    assert.equal((await readLatestInfo(team, user_id)).first_name, 'Testa')
    assert.equal((await team.api.get(`/v2/user/${stock}/info/latest`)).status, 404)
  })
})

describe('minors whose demographics have a medical proxy', () => {
  const order = async (team: TestTeam, user_id: string) =>
    team.api.post('/v3/order', await orderBody(team, { user_id, patient_details: minor }))

  test('an order for a minor uses the proxy of the demographics and is rejected without one', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const refused = await order(team, user_id)
    assert.deepEqual([refused.status, refused.body], [400, { detail: 'A medical_proxy is required for a patient under 18' }])
    const first = await createOrder(team, { user_id, patient_details: { ...minor, medical_proxy: proxy } })
    const { status, body } = await order(team, user_id)
    assert.equal(status, 200)
    assert.deepEqual(body.order.patient_details, first.patient_details)
  })

  test('the proxy of the demographics appears on the order, the import, the registered kit and the requisition', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
    const guardian = { ...proxy, email: 'guarda@example.com' }
    const info = { ...minor, address, medical_proxy: guardian }
    assert.equal((await team.api.patch(`/v2/user/${user_id}/info`, info)).status, 200)
    const shown = { ...guardian, address: { ...address, country: 'United States' } }
    const drawn = await createOrder(team, { user_id, patient_details: minor, lab_test_id: await team.test('walk_in_test') })
    assert.deepEqual(drawn.patient_details?.medical_proxy, shown)
    const { sample_id } = await kit(team, { user_id })
    const registered = await team.api.post('/v3/order/testkit/register', registration(sample_id, { patient_details: minor }))
    assert.deepEqual(registered.body.order.patient_details.medical_proxy, shown)
    const imported = await team.api.post('/v3/order/import', {
      user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [await team.test('walk_in_test')] },
      collection_method: 'walk_in_test',
      patient_details: minor,
      patient_address: { ...address, receiver_name: 'Testa' },
      sample_id: 'FICTIONAL-0002',
    })
    assert.deepEqual(imported.body.order.patient_details.medical_proxy, shown)
    await advanceTo(team, drawn.id, 'requisition_created')
    const { input } = await team.db.tx(await tenantOf(team), (tx) => getRequisition(tx, drawn.id))
    assert.equal(input.patient.guardian, 'Guarda Fictional, +15550100198')
    const { medical_proxy } = await readLatestInfo(team, user_id)
    assert.deepEqual([medical_proxy.first_name, medical_proxy.email], ['Guarda', 'guarda@example.com'])
  })
})

describe('orders billed to insurance', () => {
  const billed = { billing_type: 'commercial_insurance', icd_codes: ['E11.9'] }
  const insured = async (team: TestTeam) => {
    await labAccount(team)
    const user_id = await team.user()
    const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
    assert.equal((await team.api.patch(`/v2/user/${user_id}/info`, { ...patient, address })).status, 200)
    return user_id
  }
  const insure = (team: TestTeam, user_id: string, is_primary = true) => {
    const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
    const body = { payor_code: 'AETNA', member_id: 'M-1', relationship: 'Self', insured: { ...patient, address }, is_primary }
    return team.api.post(`/v2/user/${user_id}/insurance`, body)
  }

  test('an order billed to insurance uses the newest primary insurance, under both field spellings', async () => {
    const team = await createTestTeam()
    const user_id = await insured(team)
    for (const primary of [true, true, false]) assert.equal((await insure(team, user_id, primary)).status, 200)
    const order = await createOrder(team, { user_id, ...billed })
    assert.match(order.health_insurance_id ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(order.health_insurace_id, order.health_insurance_id)
    assert.equal(order.billing_type, 'commercial_insurance')
  })

  test('an order billed to insurance is rejected without insurance or without a billable diagnosis, and writes nothing', async () => {
    const team = await createTestTeam()
    const user_id = await insured(team)
    const attempt = async (changes: Record<string, unknown>) =>
      team.api.post('/v3/order', await orderBody(team, { user_id, ...billed, ...changes }))
    assert.deepEqual((await attempt({})).body, { detail: 'The user has no primary insurance' })
    await insure(team, user_id)
    for (const icd_codes of [[], ['E11'], ['nonsense']]) assert.equal((await attempt({ icd_codes })).status, 400)
    assert.equal((await team.api.get('/v3/orders')).body.total, 0)
  })
})

describe('orders without a physician in the request', () => {
  const configured = async (team: TestTeam) => {
    for (const [last_name, npi, states] of [
      ['Everywhere', '1000000001', []],
      ['Arizona', '1000000002', ['AZ']],
    ] as const) {
      const body = { first_name: 'Phyllis', last_name, npi, states }
      assert.equal((await team.manage.post(`/team/${team.team}/sandbox/physician`, body)).status, 200)
    }
  }

  test("the service network's physician for the patient's state orders the test", async () => {
    const team = await createTestTeam()
    await configured(team)
    assert.equal((await createOrder(team)).physician?.last_name, 'Arizona')
    const elsewhere = await orderBody(team)
    const order = await createOrder(team, {
      patient_address: { ...(elsewhere.patient_address as object), state: 'NY', zip: '10001' },
    })
    assert.equal(order.physician?.last_name, 'Everywhere')
    const own = { first_name: 'Olga', last_name: 'Own', npi: '1' }
    assert.deepEqual((await createOrder(team, { physician: own })).physician, own)
  })

  test("the service network's physician orders a kit when it is registered with consents", async () => {
    const team = await createTestTeam()
    await configured(team)
    const { sample_id, physician } = await kit(team)
    assert.equal(physician, null)
    const { body } = await team.api.post('/v3/order/testkit/register', registration(sample_id))
    assert.equal(body.order.physician.last_name, 'Arizona')
  })
})
