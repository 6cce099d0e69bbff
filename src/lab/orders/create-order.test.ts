// Creating an order for a known patient: the created order, and the tests it may name.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { findLabTest } from '../catalog/lab-tests.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { platformAccount } from '../../../test/support/lab-accounts.ts'
import { address, orderBody, patient, createOrder, addressOnWire } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

/** Tries to create an order. If the request is rejected, checks that nothing was written. */
async function attempt(team: TestTeam, changes: Record<string, unknown>, path = '/v3/order') {
  const { status, body } = await team.api.post(path, await orderBody(team, changes))
  if (status !== 200) {
    assert.deepEqual(await team.events(), [])
    assert.deepEqual(await team.jobs(), [])
    assert.equal((await team.api.get('/v3/orders')).body.total, 0)
  }
  return { status, body }
}

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

describe('rejected orders', () => {
  const one = '00000000-0000-7000-8000-000000000001'
  const two = '00000000-0000-7000-8000-000000000002'
  const conflicts: [string, Record<string, unknown>, string][] = [
    [
      'for single markers without a collection method',
      { order_set: { add_on: { marker_ids: [1] } } },
      'collection_method must be set if add_on is set',
    ],
    [
      'for single markers that are not named',
      { order_set: { add_on: {} }, collection_method: 'testkit' },
      'marker_ids or provider_ids must be set in add_on',
    ],
    [
      'for single markers in two empty lists',
      { order_set: { add_on: { marker_ids: [], provider_ids: [] } }, collection_method: 'testkit' },
      'marker_ids or provider_ids must be set in add_on',
    ],
    [
      'for single markers named in two ways',
      { order_set: { add_on: { marker_ids: [1], provider_ids: ['a'] } }, collection_method: 'testkit' },
      'cannot set both marker_ids and provider_ids in add_on',
    ],
    ['for an empty set', { order_set: { lab_test_ids: [] } }, 'order_set must contain at least one lab test or marker'],
    ['for no test at all', { lab_test_id: null }, 'order_set or lab_test_id must be set'],
    [
      'for two different tests in two places',
      { lab_test_id: one, order_set: { lab_test_ids: [two] } },
      'lab_test_id and order_set name different tests',
    ],
    [
      'with two different lab accounts',
      { lab_account_id: one, order_set: { lab_test_ids: [one], lab_account_id: two } },
      'lab_account_id and order_set.lab_account_id differ',
    ],
    [
      'billed to an insurance without a diagnosis',
      { lab_test_id: one, billing_type: 'commercial_insurance' },
      'icd_codes must contain at least one diagnosis for an order billed to insurance',
    ],
  ]
  for (const [how, changes, detail] of conflicts)
    test(`rejects an order ${how}`, async () => {
      const { status, body } = await attempt(await createTestTeam(), changes)
      assert.deepEqual([status, body], [400, { detail }])
    })

  test('rejects an order for a user or a lab test of another team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const user_id of [randomUUID(), await other.user()]) {
      const { status, body } = await attempt(team, { user_id })
      assert.deepEqual([status, body], [404, { detail: 'User does not exist on this team' }])
    }
    for (const lab_test_id of [randomUUID(), await other.test()]) {
      const { status, body } = await attempt(team, { lab_test_id })
      assert.deepEqual([status, body], [404, { detail: 'Test does not exist' }])
    }
  })

  for (const state of ['inactive', 'pending_approval'])
    test(`rejects an order for a lab test that is ${state}`, async () => {
      const team = await createTestTeam()
      const id = await team.test()
      await team.db.queries.run(sql`update lab_test set status = ${state} where id = ${id} and team_id = ${team.team}`)
      const { status, body } = await attempt(team, { lab_test_id: id })
      assert.deepEqual([status, body], [400, { detail: `Lab test ${id} is not active` }])
    })

  test('rejects a collection method that the lab does not offer', async () => {
    const team = await createTestTeam()
    const id = await team.test('walk_in_test')
    const { status, body } = await attempt(team, { lab_test_id: id, collection_method: 'testkit' })
    assert.equal(status, 400)
    assert.match(body.detail, /testkit/)
  })

  test('rejects an order for an unknown lab account', async () => {
    const team = await createTestTeam()
    const id = await team.test()
    for (const named of [
      { lab_test_id: id, lab_account_id: randomUUID() },
      { order_set: { lab_test_ids: [id], lab_account_id: randomUUID() } },
    ]) {
      const { status, body } = await attempt(team, named)
      assert.deepEqual([status, body], [400, { detail: 'The lab account does not belong to this team' }])
    }
  })

  test('rejects an invalid body with all field errors at once, in the order of the fields', async () => {
    const { api } = await createTestTeam()
    const { status, body } = await api.post('/v3/order', {
      patient_details: { ...patient, first_name: 'José', gender: 'robot', email: 'none' },
      patient_address: { ...address, zip: '1', country: 'Atlantis' },
      priority: 'yes',
      consents: [{ consentType: 'nothing' }],
      activate_by: 'soon',
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`),
      [
        'body.user_id missing',
        'body.patient_details.first_name string_pattern_mismatch',
        'body.patient_details.gender enum',
        'body.patient_details.email value_error',
        'body.patient_address.zip string_pattern_mismatch',
        'body.patient_address.country value_error',
        'body.priority bool_type',
        'body.consents.0.consentType enum',
        'body.activate_by date_from_datetime_parsing',
      ],
    )
    assert.ok(!JSON.stringify(body).includes('José'))
  })

  test('rejects missing, invalid and superfluous answers to the questions of the markers', async () => {
    const team = await createTestTeam()
    const question = (id: number, code: string, type: string, required: boolean) => ({
      id,
      code,
      type,
      required,
      value: `What of ${code}?`,
      sequence: id,
      constraint: null,
      default: null,
      answers: type === 'choice' ? [{ id: 1, code: 'Y', value: 'Yes' }] : [],
    })
    const questions = [
      question(1, 'HOURS', 'numeric', true),
      question(2, 'FSTING', 'choice', true),
      question(3, 'COLOUR', 'choice', false),
    ]
    const { lab_test_id, marker_id } = await team.db.tx(team.tenant, (tx) =>
      tx.one(
        T.Object({ lab_test_id: T.String(), marker_id: T.Integer() }),
        sql`
        with asking as (
          update marker set aoe = ${JSON.stringify({ questions })}
          where id = (select min(id) from marker where id not in (select marker_id from lab_test_marker)) returning id)
        insert into lab_test_marker (lab_test_id, marker_id, position)
        select t.id, a.id, 99 from lab_test t cross join asking a where t.team_id = ${tx.team} and t.method = 'testkit'
        returning lab_test_id, marker_id`,
      ),
    )
    const answer = (question_id: number, text: string) => ({ marker_id, question_id, answer: text })
    const missing = 'Missing required questions - "What of HOURS?"'
    for (const [aoe_answers, detail] of [
      [undefined, missing],
      [[], missing],
      [[answer(3, 'Y')], missing],
      [[answer(1, 'many')], 'The answer to question 1 must be a number'],
      [[answer(1, '24'), answer(3, 'N')], 'The answer to question 3 must be one of Y'],
      [[answer(1, '24'), answer(9, '1')], `Marker ${marker_id} of this order has no question 9`],
    ] as const) {
      const { status, body } = await attempt(team, { lab_test_id, aoe_answers })
      assert.deepEqual([status, body], [400, { detail }])
    }
    assert.equal((await attempt(team, { lab_test_id, aoe_answers: [answer(1, '24')] })).status, 200)
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
