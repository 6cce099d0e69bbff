// The work queue: which orders it has, for which keys, and in which order.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { asOwner, client, createTestTeam } from '../../../test/support/server.ts'
import {
  staffAction,
  details,
  staffActionOk,
  finalReport,
  list,
  createAcceptedOrder,
  createKitOrder,
  outbound,
  production,
  scan,
  assertOk,
} from '../../../test/support/fulfillment.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

describe('the work queue', async () => {
  const team = await production()
  const drawn = await createAcceptedOrder(team, 'on_site_collection')
  const sent = await createAcceptedOrder(team, 'testkit', { priority: true })
  const unpicked = await createKitOrder(team)
  const fresh = await createAcceptedOrder(team, 'walk_in_test')
  await staffActionOk(team, drawn, 'accept')
  await staffActionOk(team, drawn, 'draw')
  await staffActionOk(team, sent, 'accept')
  await staffActionOk(team, sent, 'tracking', outbound)
  await staffActionOk(team, sent, 'scan', scan('outbound', 'picked_up'))
  const found = async (query: string) => (await list(team, query)).map(({ order_id }) => order_id)

  test('the work queue lists orders oldest first, without patient data', async () => {
    const items = await list(team)
    assert.deepEqual(
      items.map(({ order_id, work_type }) => [order_id, work_type]),
      [
        [drawn.id, 'report'],
        [sent.id, 'await_sample'],
        [unpicked.id, 'assign_kit'],
        [fresh.id, 'accept'],
      ],
    )
    assert.doesNotMatch(JSON.stringify(items), new RegExp(String.raw`Testa|Fictional"|${BIRTH_YEAR}|Sample Way|example\.com`))
  })

  test('the work queue filters by next step, method, lab, team and time', async () => {
    assert.deepEqual(await found('?work_type=accept&work_type=assign_kit'), [unpicked.id, fresh.id])
    assert.deepEqual(await found('?method=testkit'), [sent.id, unpicked.id])
    assert.deepEqual(await found('?lab=quest'), [])
    assert.equal((await found('?lab=manual')).length, 4)
    assert.equal((await found(`?team_id=${team.team}`)).length, 4)
    assert.deepEqual(await found('?since=2100-01-31T00:00:00Z'), [])
    assert.equal((await found('?since=2020-01-31T00:00:00Z')).length, 4)
  })

  test('the cursor continues after the page, and is valid for the same filters only', async () => {
    const page = async (query: string) => (await team.manage.get(`/fulfillment/production/us${query}`)).body
    const first = await page('?limit=3')
    const second = await page(`?limit=3&next_cursor=${first.next_cursor}`)
    const ids = [...first.data, ...second.data].map(({ order_id }) => order_id)
    assert.deepEqual([ids, second.next_cursor], [[drawn.id, sent.id, unpicked.id, fresh.id], null])
    const { status } = await team.manage.get(`/fulfillment/production/us?work_type=ship&next_cursor=${first.next_cursor}`)
    assert.equal(status, 400)
  })

  test('the work queue omits orders of other organizations, inaccessible teams and other cells, and closed orders', async () => {
    const other = await production()
    const order = await createAcceptedOrder(other, 'walk_in_test')
    await staffActionOk(other, order, 'accept')
    await staffActionOk(other, order, 'result', finalReport)
    assert.deepEqual(await list(other), [])
    assert.deepEqual((await team.manage.get('/fulfillment/production/eu')).body.data, [])
    const apart = assertOk(await team.manage.post('/team', { name: 'Another', region: 'us' })).body.id
    const { key } = assertOk(
      await team.manage.post('/management_key', { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: apart }] }),
    ).body
    const bound = client(key, 'x-management-key', `/v1/org/${team.org_id}`)
    assert.deepEqual((await bound.get('/fulfillment/production/us')).body.data, [])
    assert.equal((await bound.get(`/fulfillment/production/us?team_id=${team.team}`)).status, 403)
    assert.equal((await team.manage.get(`/fulfillment/production/us?team_id=${randomUUID()}`)).status, 404)
    assert.equal((await bound.get(`/team/${team.team}/production/fulfillment/${drawn.id}`)).status, 403)
  })
})

describe('patient data in work details', async () => {
  const team = await production()

  test('work details show the address when shipping and the patient when reporting', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    const shown = async () => {
      const { work_type, address, patient_details } = await details(team, order)
      return [work_type, address?.first_line ?? null, patient_details?.dob ?? null, patient_details?.phone_number ?? null]
    }
    assert.deepEqual(await shown(), ['accept', null, '1990-01-31', null])
    await staffActionOk(team, order, 'accept')
    assert.deepEqual(await shown(), ['ship', '1 Sample Way', null, null])
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
    assert.deepEqual(await shown(), ['report', null, '1990-01-31', null])
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await shown(), [null, null, null, null])
  })

  test('work details reject reads and writes on orders of other teams', async () => {
    const other = await production()
    const order = await createAcceptedOrder(other, 'walk_in_test')
    for (const what of ['accept', 'refuse', 'draw', 'reject', 'lost']) {
      const { status, body } = await staffAction(team, order, what)
      assert.deepEqual([status, body], [404, { detail: "This order doesn't exist." }])
    }
    assert.equal((await team.manage.get(`/team/${team.team}/production/fulfillment/${order.id}`)).status, 404)
  })
})

test('the work queue is available for the practice laboratory in a sandbox', async () => {
  const team = await createTestTeam()
  const order = await createAcceptedOrder(team, 'walk_in_test')
  assert.deepEqual(
    (await list(team)).map(({ work_type }) => work_type),
    ['accept'],
  )
  await staffActionOk(team, order, 'accept')
  await staffActionOk(team, order, 'result', finalReport)
  assert.deepEqual(await list(team), [])
})

test('the work queue reads columns of orders, not their text', async () => {
  const team = await production()
  const [refused, sent, unsent] = [
    await createAcceptedOrder(team, 'walk_in_test'),
    await createAcceptedOrder(team, 'testkit'),
    await createAcceptedOrder(team, 'testkit'),
  ]
  await staffActionOk(team, refused, 'refuse')
  for (const kit of [sent, unsent]) await staffActionOk(team, kit, 'accept')
  await staffActionOk(team, sent, 'tracking', outbound)
  await staffActionOk(team, sent, 'scan', scan('outbound', 'picked_up'))
  // The status of a registered kit does not say whether it was shipped.
  for (const kit of [sent, unsent])
    await asOwner(`update production_us.lab_order set low_level_status = 'registered' where id = $1`, [kit.id])
  const shown = async () => {
    const items = await list(team)
    return [refused, sent, unsent].map(({ id }) => items.find(({ order_id }) => order_id === id)?.work_type)
  }
  const due = ['problem', 'await_sample', 'ship']
  assert.deepEqual(await shown(), due)
  // The text of an order is not read.
  await asOwner(
    `update production_us.lab_order set document = replace(replace(document, 'fulfillment_error', 'an_error'), 'collecting_sample', 'collecting') where team_id = $1`,
    [team.team],
  )
  assert.deepEqual(await shown(), due)
})
