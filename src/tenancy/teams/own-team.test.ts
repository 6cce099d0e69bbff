import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'

describe('the own team', () => {
  test('is read with its settings and without a secret', async () => {
    const org = await createTestTeam()
    await org.manage.patch(`/team/${org.team}`, { sandbox: { lab_tests_patient_sms_communication_enabled: false } })
    const { status, body } = await org.api.get(`/v2/team/${org.team}`)
    assert.equal(status, 200)
    assert.deepEqual(body, {
      id: org.team,
      org_id: org.org_id,
      name: 'Test team',
      svix_app_id: null,
      client_id: null,
      client_secret: null,
      airtable_api_key: null,
      airtable_base_id: null,
      webhook_secret: null,
      api_key: null,
      api_keys: null,
      configuration: null,
      testkits_texts_enabled: false,
      lab_tests_patient_communication_enabled: true,
      lab_tests_patient_sms_communication_enabled: false,
      lab_tests_patient_email_communication_enabled: true,
      logo_url: null,
      delegated_flow: 'order_and_results_with_customer_physician_network',
      critical_result_notification_email: null,
    })
  })

  test('does not see other teams', async () => {
    const org = await createTestTeam()
    for (const id of [(await createTestTeam()).team, randomUUID()]) {
      const { status, body } = await org.api.get(`/v2/team/${id}`)
      assert.deepEqual([status, body], [404, { detail: 'Not Found' }])
    }
  })
})

describe('source priorities', () => {
  const PATH = '/v2/team/source/priorities'
  const list = [
    { data_type: 'sleep', sources: ['oura', 'fitbit'], note: 'a\u{1f9ea}' },
    { data_type: 'activity', sources: [] },
  ]

  test('are an empty list at first, then the stored data; can be limited to one kind of data', async () => {
    const org = await createTestTeam()
    assert.deepEqual((await org.api.get(PATH)).body, [])
    assert.deepEqual((await org.api.patch(PATH, list)).body, list)
    assert.deepEqual((await org.api.get(PATH)).body, list)
    assert.deepEqual((await org.api.get(`${PATH}?data_type=sleep`)).body, [list[0]])
    assert.equal((await org.api.get(`${PATH}?data_type=moon`)).status, 422)
    assert.deepEqual((await (await createTestTeam()).api.get(PATH)).body, [])
  })

  test('are left by a request without a body, and emptied by an empty list', async () => {
    const org = await createTestTeam()
    await org.api.patch(PATH, list)
    assert.deepEqual((await org.api.patch(PATH)).body, list)
    assert.deepEqual((await org.api.patch(PATH, [])).body, [])
    assert.deepEqual((await org.api.get(PATH)).body, [])
  })

  test('are objects, not too many and not too deep', async () => {
    const org = await createTestTeam()
    const status = async (body: unknown) => (await org.api.patch(PATH, body)).status
    for (const body of [{}, ['x'], [[]], [null], Array(501).fill({})]) assert.equal(await status(body), 422)
    assert.equal(await status(`[{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}]`), 422)
    for (const text of ['[{"a":"\\u0000"}]', '[{"a":"\\ud800"}]', '[{"__proto__":1}]']) assert.equal(await status(text), 200)
  })
})
