// Creating an order for a known patient: the created order, and the tests it may name.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { findLabTest } from '../catalog/lab-tests.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { platformAccount } from '../../../test/support/lab-accounts.ts'
import { orderBody, patient, createOrder, addressOnWire } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

describe('the user cache', () => {
  /** Another process changes the user. This process is not notified. */
  const elsewhere = (team: TestTeam, user_id: string, change: Sql) =>
    team.db.queries.run(sql`update "user" set ${change} where id = ${user_id} and team_id = ${team.team}`)

  test('rejects a cached user that has been deleted', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await createOrder(team, { user_id })
    await elsewhere(team, user_id, sql`deleted_at = ${new Date('2026-01-01')}`)
    const events = await team.events()
    const { status, body } = await team.api.post('/v3/order', await orderBody(team, { user_id }))
    assert.deepEqual([status, body], [404, { detail: 'User does not exist on this team' }])
    assert.deepEqual(await team.events(), events)
  })

  test('rejects a cached user whose client user id changed', async () => {
    const team = await createTestTeam()
    const user_id = await team.user('before')
    await createOrder(team, { user_id })
    await elsewhere(team, user_id, sql`client_user_id = 'after'`)
    const { id } = await createOrder(team, { user_id })
    const Body = T.Object({ body: T.String() })
    const [event] = await team.db.queries.many(
      Body,
      sql`select body from event where team_id = ${team.team} and object_id = ${id}`,
    )
    assert.equal(JSON.parse(event!.body).client_user_id, 'after')
  })
})

describe('an order', () => {
  for (const path of ['/v3/order', '/v3/order/create'])
    test(`POST ${path} returns the whole order, emits one event and queues the dispatch to the laboratory`, async () => {
      const team = await createTestTeam()
      const user_id = await team.user('reference')
      const lab_test_id = await team.test()
      const { status, body } = await team.api.post(path, await orderBody(team, { user_id, lab_test_id }))
      assert.equal(status, 200)
      assert.deepEqual([body.status, body.message], ['success', 'Order created successfully'])
      const { order } = body
      assert.match(order.created_at, TIMESTAMP)
      const at = order.created_at
      const event = { id: order.last_event.id, created_at: at, status: 'received.testkit.ordered', status_detail: null }
      assert.ok(Number.isInteger(event.id))
      assert.deepEqual(order, {
        id: order.id,
        team_id: team.team,
        user_id,
        patient_details: {
          ...patient,
          medical_proxy: null,
          race: null,
          ethnicity: null,
          sexual_orientation: null,
          gender_identity: null,
        },
        patient_address: addressOnWire,
        shipping_details: null,
        lab_test: await team.db.tx(team.tenant, (tx) => findLabTest(tx, lab_test_id)),
        details: { type: 'testkit', data: { id: order.details.data.id, shipment: null, created_at: at, updated_at: at } },
        sample_id: null,
        notes: null,
        clinical_notes: null,
        created_at: at,
        updated_at: at,
        events: [event],
        last_event: event,
        status: 'received',
        physician: null,
        health_insurance_id: null,
        health_insurace_id: null,
        requisition_form_url: null,
        priority: false,
        activate_by: null,
        passthrough: null,
        billing_type: 'client_bill',
        icd_codes: null,
        has_abn: false,
        interpretation: null,
        has_missing_results: null,
        expected_result_by_date: null,
        worst_case_result_by_date: null,
        origin: 'initial',
        order_transaction: {
          id: order.order_transaction.id,
          status: 'active',
          orders: [
            {
              id: order.id,
              created_at: at,
              updated_at: at,
              low_level_status: 'ordered',
              low_level_status_created_at: at,
              origin: 'initial',
              parent_id: null,
            },
          ],
        },
        lab_account_id: await platformAccount(team, order.lab_test.lab!.slug),
      })
      assert.equal(new Set([order.id, order.details.data.id, order.order_transaction.id]).size, 3)
      assert.deepEqual((await team.api.get(`/v3/order/${order.id}`)).body, order)
      assert.deepEqual(await team.events(), ['labtest.order.created'])
      const [eventRow] = (await team.api.get('/v1/events')).body.data
      assert.deepEqual(eventRow.body, {
        event_type: 'labtest.order.created',
        data: order,
        team_id: team.team,
        user_id,
        client_user_id: 'reference',
      })
      assert.deepEqual([eventRow.object_id, eventRow.created_at], [order.id, at])
      assert.deepEqual(await team.jobs(), [])
      await team.settle()
      assert.deepEqual(await team.events(), ['labtest.order.created'])
      assert.deepEqual((await team.api.get(`/v3/order/${order.id}`)).body, order)
    })

  test('a created order shows the values of the request', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team, {
      physician: { first_name: 'Medica', last_name: 'Fictional', npi: '7', email: 'm@example.com', licensed_states: ['AZ'] },
      priority: true,
      billing_type: 'client_bill',
      icd_codes: ['E11.9', 'Z00.00'],
      consents: [{ consentType: 'terms-of-use', version: '2', timeOfConsent: '2024-05-06T07:08:09Z' }],
      passthrough: '{"ours":"ü"}',
      clinical_notes: 'First line\nsecond line',
      creator_member_id: randomUUID(),
    })
    assert.deepEqual(order.physician, { first_name: 'Medica', last_name: 'Fictional', npi: '7' })
    assert.deepEqual(
      [order.priority, order.billing_type, order.icd_codes, order.passthrough, order.clinical_notes],
      [true, 'client_bill', ['E11.9', 'Z00.00'], '{"ours":"ü"}', 'First line\nsecond line'],
    )
    assert.deepEqual(await team.events(), ['labtest.order.created'])
  })

  test('a request can name the test by lab_test_id, by an order set of one test, or by both if they agree', async () => {
    const team = await createTestTeam()
    const id = await team.test()
    for (const named of [
      { lab_test_id: id },
      { order_set: { lab_test_ids: [id] } },
      { order_set: { lab_test_ids: [id, id.toUpperCase()] } },
      { lab_test_id: id, order_set: { lab_test_ids: [id] } },
      { lab_test_id: id, order_set: {} },
      { lab_test_id: id, order_set: { lab_test_ids: [] }, collection_method: 'testkit' },
      { lab_test_id: id, order_set: null, collection_method: 'TESTKIT' },
    ])
      assert.equal((await createOrder(team, named)).lab_test.id, id)
  })
})

test('reading an unknown order or an order of another team returns 404', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  for (const id of [randomUUID(), (await createOrder(other)).id]) {
    const { status, body } = await team.api.get(`/v3/order/${id}`)
    assert.deepEqual([status, body], [404, { detail: "This order doesn't exist." }])
  }
  assert.equal((await team.api.get('/v3/order/not-an-id')).status, 422)
})

test('a deactivated lab test is rejected soon, also while orders for it keep coming', async () => {
  const team = await createTestTeam()
  const [user_id, lab_test_id] = [await team.user(), await team.test()]
  const body = await orderBody(team, { user_id, lab_test_id })
  const order = async () => (await team.api.post('/v3/order', body)).status
  assert.equal(await order(), 200)
  await team.db.queries.run(sql`update lab_test set status = 'inactive' where id = ${lab_test_id} and team_id = ${team.team}`)
  await eventually(async () => (await order()) === 400, 'the lab test is refused')
})
