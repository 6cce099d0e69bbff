// Orders that are refused: the errors, and that nothing was written.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { address, orderBody, patient, proxy } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

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

  test('rejects texts that documents cannot print, with every field and the kind of characters, and does not repeat them', async () => {
    const team = await createTestTeam()
    const medical_proxy = { ...proxy, last_name: '佐藤' }
    const { status, body } = await attempt(team, {
      patient_details: { ...patient, medical_proxy },
      patient_address: { ...address, first_line: 'שדרות 1', city: 'Αθήνα' },
      physician: { first_name: 'Ada', last_name: '王', npi: '1234567893' },
      clinical_notes: 'Allergic: β-lactams ≤ 5 mg. 🧪',
      aoe_answers: [{ marker_id: 1, question_id: 1, answer: '네' }],
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.join('.')}: ${msg}`),
      [
        ['patient_details.medical_proxy.last_name', 'Chinese characters'],
        ['patient_address.first_line', 'Hebrew characters'],
        ['physician.last_name', 'Chinese characters'],
        ['clinical_notes', 'emoji'],
        ['aoe_answers.0.answer', 'Korean characters'],
      ].map(([field, kind]) => `body.${field}: Value error, has ${kind}, which documents of the order cannot print`),
    )
    assert.doesNotMatch(JSON.stringify(body), /[^\x20-\x7e]/)
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
      question(3, 'COLOR', 'choice', false),
    ]
    const { lab_test_id, marker_id } = await team.db.tx(team.tenant, (tx) =>
      tx.one(
        T.Object({ lab_test_id: T.String(), marker_id: T.Integer() }),
        sql`
        with asking as (
          update marker set aoe = ${JSON.stringify({ questions })}
          where id = (select min(id) from marker where id not in (select marker_id from lab_test_marker)) returning id)
        insert into lab_test_marker (team_id, lab_test_id, marker_id, position)
        select t.team_id, t.id, a.id, 99 from lab_test t cross join asking a where t.team_id = ${tx.team} and t.method = 'testkit'
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
