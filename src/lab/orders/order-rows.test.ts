// Orders as rows and as counts by day.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { access, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createOrder, kit, patient } from '../../../test/support/orders.ts'
import type { Order, OrderRow } from './schema.ts'

describe('the rows of orders', () => {
  let team: TestTeam
  let orders: Order[]
  const list = async (query = '', owner = team) => {
    const { status, body } = await owner.api.get(`/console/v1/orders${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body as { data: OrderRow[]; total: number; is_total_exact: boolean; next_cursor: string | null }
  }
  const placesOf = ({ data }: { data: OrderRow[] }) => data.map(({ id }) => orders.findIndex((order) => order.id === id))

  before(async () => {
    team = await createTestTeam()
    const named = { ...patient, first_name: 'Berta', last_name: 'Fictional-Zweig' }
    const walkIn = { patient_details: named, lab_test_id: await team.test('walk_in_test') }
    orders = [await createOrder(team), await createOrder(team, walkIn), await kit(team)]
    await team.api.post(`/v3/order/${orders[0]!.id}/cancel`)
  })

  test('a row has the fields that a table shows, as the order has them', async () => {
    const [row] = (await list(`?search_input=Zweig`)).data
    const { body: order } = await team.api.get(`/v3/order/${orders[1]!.id}`)
    assert.deepEqual(row, {
      id: order.id,
      user_id: order.user_id,
      order_transaction_id: order.order_transaction.id,
      patient_name: 'Berta Fictional-Zweig',
      patient_dob: order.patient_details.dob,
      patient_gender: order.patient_details.gender,
      lab_test_id: order.lab_test.id,
      lab_test_name: order.lab_test.name,
      lab_name: order.lab_test.lab.name,
      method: order.lab_test.method,
      status: order.status,
      low_level_status: order.last_event.status.split('.')[2],
      low_level_status_created_at: order.last_event.created_at,
      status_detail: null,
      interpretation: null,
      sample_id: order.sample_id,
      priority: order.priority,
      activate_by: null,
      created_at: order.created_at,
      updated_at: order.updated_at,
    })
  })

  test('pages follow each other without gaps, in both directions, and a cursor belongs to its filters', async () => {
    assert.deepEqual(placesOf(await list()), [2, 1, 0])
    const first = await list('?limit=2')
    assert.deepEqual([placesOf(first), first.total, first.is_total_exact], [[2, 1], 3, true])
    const second = await list(`?limit=2&next_cursor=${first.next_cursor}`)
    assert.deepEqual([placesOf(second), second.next_cursor], [[0], null])
    assert.deepEqual(placesOf(await list('?order_direction=asc')), [0, 1, 2])
    const { status } = await team.api.get(`/console/v1/orders?status=ordered&next_cursor=${first.next_cursor}`)
    assert.equal(status, 400)
  })

  const cases: [string, () => string, number[]][] = [
    ['a top-level status', () => '?state=cancelled', [0]],
    ['several top-level statuses', () => '?state=received&state=cancelled', [2, 1, 0]],
    ['a top-level status that no order has', () => '?state=completed', []],
    ['a low-level status', () => '?status=awaiting_registration', [2]],
    ['a lab test', () => `?lab_test_id=${orders[1]!.lab_test.id}`, [1]],
    ['a user', () => `?user_id=${orders[1]!.user_id}`, [1]],
    ['a part of a name and a status', () => '?patient_name=zweig&status=ordered', [1]],
    ['a part of a name and a status of other orders', () => '?patient_name=zweig&status=cancelled', []],
    ['an id', () => `?search_input=${orders[2]!.id}`, [2]],
    ['a method', () => '?order_type=walk_in_test', [1]],
  ]
  for (const [name, query, expected] of cases)
    test(`are filtered by ${name}, and the total counts the matches`, async () => {
      const page = await list(query())
      assert.deepEqual([placesOf(page), page.total], [expected, expected.length])
    })

  test('another team finds no order of the team', async () => {
    const other = await createTestTeam()
    assert.deepEqual(await list(`?order_ids=${orders[0]!.id}`, other), {
      data: [],
      total: 0,
      is_total_exact: true,
      next_cursor: null,
    })
  })

  test('the access log names the users of a page', async () => {
    await list('?limit=1&order_direction=asc')
    await access.flush()
    const path = `/team/${team.team}/sandbox/access_log?user_id=${orders[0]!.user_id}`
    const { data } = (await team.manage.get(path)).body
    assert.equal(data[0].operation, 'list_order_rows')
  })

  test('orders of a deleted user are neither listed nor counted', async () => {
    const other = await createTestTeam()
    const order = await createOrder(other)
    assert.equal((await countsOf(other)).received, 1)
    await other.api.delete(`/v2/user/${order.user_id}`)
    assert.equal((await list('', other)).total, 0)
    assert.equal((await countsOf(other)).received, 0)
  })

  test('the counts of thirty days have an order on its day under its present status', async () => {
    const { data } = (await team.api.get('/console/v1/orders_by_day')).body
    assert.equal(data.length, 30)
    assert.deepEqual(await countsOf(team), {
      received: 2,
      cancelled: 1,
      collecting_sample: 0,
      sample_with_lab: 0,
      completed: 0,
      failed: 0,
    })
    assert.equal(data.filter((day: Record<string, number>) => day.received! > 0).length, 1)
    assert.deepEqual(
      data.map(({ date }: { date: string }) => date).toSorted(),
      data.map(({ date }: { date: string }) => date),
    )
  })
})

/** The counts of the last day. */
async function countsOf(team: TestTeam): Promise<Record<string, number>> {
  const { data } = (await team.api.get('/console/v1/orders_by_day')).body
  const { date: _, ...counts } = data.at(-1)
  return counts
}
