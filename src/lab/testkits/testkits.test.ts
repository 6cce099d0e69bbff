// Ordering kits whose patient is registered later. Source: interface.md, Observable effects of operations; lab-testing.md 6.6.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { findLabTest } from '../catalog/lab-tests.ts'
import { sql } from '../../platform/db/sql.ts'
import { platformAccount } from '../../../test/support/lab-accounts.ts'
import { kit, shipping } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const order = async (team: TestTeam, changes: Record<string, unknown>) =>
  team.api.post('/v3/order/testkit', {
    user_id: await team.user(),
    lab_test_id: await team.test(),
    shipping_details: shipping,
    ...changes,
  })

describe('ordering a kit without a patient', () => {
  test('ordering a kit without a patient returns the order awaiting registration and emits an event for both steps', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('stock')
    const lab_test_id = await team.test()
    const { status, body } = await order(team, { user_id, lab_test_id, passthrough: 'ours' })
    assert.equal(status, 200)
    assert.deepEqual([body.status, body.message], ['success', 'Order created successfully'])
    const placed = body.order
    const at = placed.created_at
    const [first, second] = placed.events
    assert.ok(second.id > first.id)
    assert.match(placed.sample_id, /^DBK[0-9A-Z]{10}$/)
    assert.deepEqual(placed, {
      id: placed.id,
      team_id: team.team,
      user_id,
      patient_details: null,
      patient_address: null,
      shipping_details: {
        receiver_name: 'Testa Fictional',
        first_line: '1 Sample Way',
        second_line: null,
        city: 'Phoenix',
        state: 'AZ',
        zip: '85004',
        country: 'United States',
        phone_number: '+15550100199',
      },
      lab_test: await team.db.tx(team.tenant, (tx) => findLabTest(tx, lab_test_id)),
      details: { type: 'testkit', data: { id: placed.details.data.id, created_at: at, updated_at: at } },
      sample_id: placed.sample_id,
      notes: null,
      clinical_notes: null,
      created_at: at,
      updated_at: at,
      events: [
        { id: first.id, created_at: at, status: 'received.testkit.ordered', status_detail: null },
        { id: second.id, created_at: at, status: 'received.testkit.awaiting_registration', status_detail: null },
      ],
      last_event: second,
      status: 'received',
      physician: null,
      health_insurance_id: null,
      health_insurace_id: null,
      requisition_form_url: null,
      priority: false,
      activate_by: null,
      passthrough: 'ours',
      billing_type: 'client_bill',
      icd_codes: null,
      has_abn: false,
      interpretation: null,
      has_missing_results: null,
      expected_result_by_date: null,
      worst_case_result_by_date: null,
      origin: 'initial',
      order_transaction: {
        id: placed.order_transaction.id,
        status: 'active',
        orders: [
          {
            id: placed.id,
            created_at: at,
            updated_at: at,
            low_level_status: 'awaiting_registration',
            low_level_status_created_at: at,
            origin: 'initial',
            parent_id: null,
          },
        ],
      },
      lab_account_id: await platformAccount(team, placed.lab_test.lab.slug),
    })
    assert.deepEqual((await team.api.get(`/v3/order/${placed.id}`)).body, placed)
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
    assert.deepEqual(await team.jobs(), [])
    await team.settle()
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
  })

  test('each event of a kit order has the order at that step', async () => {
    const team = await createTestTeam()
    const placed = await kit(team, { user_id: await team.user('stock') })
    const [updated, created] = (await team.api.get('/v1/events')).body.data
    assert.deepEqual(updated.body, {
      event_type: 'labtest.order.updated',
      data: placed,
      team_id: team.team,
      user_id: placed.user_id,
      client_user_id: 'stock',
    })
    assert.equal(created.body.event_type, 'labtest.order.created')
    assert.deepEqual(created.body.data.events, placed.events.slice(0, 1))
    assert.deepEqual(created.body.data.last_event, placed.events[0])
    assert.equal(created.body.data.order_transaction.orders[0].low_level_status, 'ordered')
    assert.equal(created.body.data.sample_id, placed.sample_id)
  })

  test('each kit gets its own barcode in the sandbox and no barcode in production', async () => {
    const [team, production] = [await createTestTeam(), await createTestTeam('production-us')]
    const codes = new Set<string | null>()
    for (let n = 0; n < 5; n++) codes.add((await kit(team)).sample_id)
    assert.equal(codes.size, 5)
    assert.equal((await kit(production)).sample_id, null)
    assert.equal((await kit(production)).sample_id, null)
  })

  test('a kit order accepts alternative names of address fields and stores one form', async () => {
    const team = await createTestTeam()
    const { first_line: street, zip: zip_code, ...rest } = shipping
    const { status, body } = await order(team, {
      shipping_details: {
        ...rest,
        street,
        zip_code,
        street_number: 'Unit 3',
        country: 'usa',
        state: 'arizona',
        phone_number: '555',
      },
    })
    assert.equal(status, 200)
    assert.deepEqual(body.order.shipping_details, {
      ...shipping,
      second_line: 'Unit 3',
      country: 'United States',
      phone_number: '555',
    })
  })

  for (const field of ['receiver_name', 'first_line', 'city', 'state', 'zip', 'country', 'phone_number'])
    test(`a kit order requires ${field} in the address`, async () => {
      const team = await createTestTeam()
      const { status, body } = await order(team, { shipping_details: { ...shipping, [field]: undefined } })
      assert.deepEqual([status, body.detail.length], [422, 1])
      assert.deepEqual([body.detail[0].loc, body.detail[0].type], [['body', 'shipping_details', field], 'missing'])
      assert.deepEqual(await team.events(), [])
    })

  test('an invalid kit order returns all field errors in the order of the fields', async () => {
    const { api } = await createTestTeam()
    const { status, body } = await api.post('/v3/order/testkit', {
      lab_test_id: 'x',
      shipping_details: { ...shipping, receiver_name: '', zip: '1', country: 'Atlantis' },
      passthrough: 5,
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`),
      [
        'user_id missing',
        'lab_test_id uuid_parsing',
        'shipping_details.receiver_name string_too_short',
        'shipping_details.zip string_pattern_mismatch',
        'shipping_details.country value_error',
        'passthrough string_type',
      ],
    )
  })

  test('a kit order for an unknown user or test, or one of another team, returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const [changes, detail] of [
      [{ user_id: randomUUID() }, 'User does not exist on this team'],
      [{ user_id: await other.user() }, 'User does not exist on this team'],
      [{ lab_test_id: randomUUID() }, 'Test does not exist'],
      [{ lab_test_id: await other.test() }, 'Test does not exist'],
    ] as const) {
      const { status, body } = await order(team, changes)
      assert.deepEqual([status, body], [404, { detail }])
    }
    assert.deepEqual(await team.events(), [])
  })

  test('a kit order with an unknown lab account is rejected', async () => {
    const team = await createTestTeam()
    const { status, body } = await order(team, { lab_account_id: randomUUID() })
    assert.deepEqual([status, body], [400, { detail: 'The lab account does not belong to this team' }])
    assert.deepEqual(await team.events(), [])
  })

  test('a kit order with a test that is not a kit or not active is rejected', async () => {
    const team = await createTestTeam()
    const drawn = await team.test('at_home_phlebotomy')
    const refused = async (changes: Record<string, unknown>, detail: string) => {
      const { status, body } = await order(team, changes)
      assert.deepEqual([status, body], [400, { detail }])
    }
    await refused({ lab_test_id: drawn }, `Lab test ${drawn} has collection method at_home_phlebotomy, not testkit`)
    const kits = await team.test()
    await team.db.queries.run(sql`update lab_test set status = 'inactive' where id = ${kits} and team_id = ${team.team}`)
    await refused({ lab_test_id: kits }, `Lab test ${kits} is not active`)
    assert.deepEqual(await team.events(), [])
  })
})
