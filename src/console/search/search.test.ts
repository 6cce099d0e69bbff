import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { access, cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createOrder, kit, patient } from '../../../test/support/orders.ts'
import { reviewWithoutPatient } from '../../../test/support/reviews.ts'
import { delivering, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { readExample, waitingReport } from '../../../test/support/waiting-reports.ts'

const delivery = delivering()

interface FoundObject {
  kind: string
  id: string
  label: string | null
  detail: string | null
}

const find = async (team: TestTeam, text: string): Promise<FoundObject[]> => {
  const { status, body } = await team.api.get(`/console/v1/search?search_input=${encodeURIComponent(text)}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}
const kindsOf = (objects: FoundObject[]) => objects.map(({ kind, id }) => `${kind} ${id}`)

describe('the search', () => {
  let team: TestTeam
  let other: TestTeam
  const ids = new Map<string, string>()

  before(async () => {
    ;[team, other] = [await createTestTeam(), await createTestTeam()]
    const named = { ...patient, first_name: 'Berta', last_name: 'Fictional-Zweig' }
    const order = await createOrder(team, { patient_details: named })
    ids.set('order', order.id)
    ids.set('user', order.user_id)
    ids.set('order_transaction', order.order_transaction.id)
    ids.set('lab_test', order.lab_test.id)
    ids.set('event', (await team.api.get(`/v1/events?object_id=${order.id}`)).body.data[0].id)
    const { url } = await receiver()
    const hook = await endpoint(team, { url, description: 'Receiver of the clinic' })
    ids.set('endpoint', hook.id)
    ids.set('message', (await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })).body.id)
    await delivery.drain()
    ids.set('unmatched_result', await reviewWithoutPatient(team))
    ids.set('lab_report_job', await waitingReport(team, order.user_id, readExample))
    ids.set('job', await idOf('select id from job where team_id = $1 limit 1'))
    const request = (await team.api.get('/v3/lab_tests')).headers.get('x-request-id')!
    await team.api.get(`/console/v1/requests/${request}`)
    ids.set('request', request)
    const { rows } = await cells.control.pool.query('select id from api_key where team_id = $1', [team.team])
    ids.set('key', rows[0].id)
  })

  const idOf = async (statement: string) => (await team.db.pool.query(statement, [team.team])).rows[0].id as string

  const kinds = ['order', 'user', 'order_transaction', 'lab_test', 'event', 'endpoint', 'message', 'unmatched_result']
  for (const kind of [...kinds, 'lab_report_job', 'job', 'request', 'key'])
    test(`finds the ${kind.replaceAll('_', ' ')} of an id, for its team only`, async () => {
      const id = ids.get(kind)!
      assert(kindsOf(await find(team, id)).includes(`${kind} ${id}`))
      assert.deepEqual(await find(other, id), [])
    })

  test('finds objects whose ids begin with the digits of a text, and nothing for too few digits', async () => {
    const id = ids.get('order')!
    assert(kindsOf(await find(team, id.slice(0, 20))).includes(`order ${id}`))
    assert(kindsOf(await find(team, id.slice(0, 8))).includes(`order ${id}`))
    assert(kindsOf(await find(team, id.replaceAll('-', '').toUpperCase())).includes(`order ${id}`))
    assert(!kindsOf(await find(team, id.slice(0, 7))).includes(`order ${id}`))
  })

  test('finds a kit by its barcode as it is typed', async () => {
    const { id, sample_id } = await kit(team)
    const typed = sample_id!.toLowerCase()
    assert.deepEqual(kindsOf(await find(team, typed)), [`order ${id}`])
    assert.deepEqual(await find(other, typed), [])
  })

  test('finds users by a part of the reference of the team, and orders by a part of a name', async () => {
    const user = await team.user('clinic-reference-77')
    assert.deepEqual(kindsOf(await find(team, 'reference-77')), [`user ${user}`])
    const [found, ...more] = await find(team, 'zweig')
    assert.deepEqual([found!.kind, found!.id, found!.label, more.length], ['order', ids.get('order'), 'Berta Fictional-Zweig', 0])
    assert.deepEqual(await find(team, '%'.repeat(4)), [])
  })

  test('answers with an empty list when there is nothing', async () => {
    assert.deepEqual(await find(team, '00000000-0000-7000-8000-000000000000'), [])
    assert.deepEqual(await find(team, 'nobody of that name'), [])
    assert.equal((await team.api.get('/console/v1/search?search_input=x')).status, 422)
  })

  test('leaves a line in the access log of each user that it shows', async () => {
    await find(team, 'zweig')
    await access.flush()
    const { data } = (await team.manage.get(`/team/${team.team}/sandbox/access_log?user_id=${ids.get('user')}`)).body
    assert.equal(data[0].operation, 'search_ids')
  })

  test('finds nothing of a deleted user', async () => {
    const order = await createOrder(other)
    assert(kindsOf(await find(other, order.id)).includes(`order ${order.id}`))
    await other.api.delete(`/v2/user/${order.user_id}`)
    assert.deepEqual(await find(other, order.id), [])
  })
})
