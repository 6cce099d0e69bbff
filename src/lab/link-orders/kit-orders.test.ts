// Kits of laboratories with a link, in production: from the order to the result, with the sample id that is on the kit.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  details,
  inbound,
  list,
  lowLevelStatuses,
  outbound,
  scan,
  staffAction,
  staffActionOk,
} from '../../../test/support/fulfillment.ts'
import { answer, linkedTeam, queuedMessages, type LinkChanges } from '../../../test/support/link-orders.ts'
import { createOrder, getOrder, kit, patient, registration } from '../../../test/support/orders.ts'
import { guard, type TestTeam } from '../../../test/support/server.ts'
import { setLinkMode } from '../accounts/account-links.ts'
import { receiveMessage } from '../link-messages/receive-message.ts'
import { sendAgain } from './send-orders.ts'

const STAFF = { order_content: { kits: 'staff' } } as const

const linkedLab = (options: LinkChanges['options'] = {}) => linkedTeam({ lab: 'ussl', options })

const register = (team: TestTeam, sample_id: string) =>
  team.api.post('/v3/order/testkit/register', registration(sample_id, { patient_details: patient }))

/** The work that staff have with an order. */
const findWork = async (team: TestTeam, id: string) =>
  (await list(team, `?team_id=${team.team}`)).find(({ order_id }) => order_id === id)?.work_type

/** The result of a sample, as the laboratory sends it. */
async function receiveResult(team: TestTeam, account: string, sample_id: string, last_name = patient.last_name) {
  const segments = [
    `MSH|^~\\&|LIS|LAB|||20300103101500||ORU^R01|R-${sample_id}|P|2.5.1`,
    `PID|1||||${last_name}^${patient.first_name}||${patient.dob.replaceAll('-', '')}`,
    `ORC|RE|${sample_id}|F-${sample_id}`,
    `OBR|1|${sample_id}|F-${sample_id}|GLU^Glucose|||20300102101500|||||||||||||||20300103101500|||F`,
    'OBX|1|NM|GLU^Glucose||5.4|mmol/L|4-6||||F',
  ]
  const context = { cell: team.cell, db: team.db, findTenant: guard.tenant }
  return receiveMessage(context, account, Buffer.from(`${segments.join('\r')}\r`))
}

describe('a kit that its patient registers, at a laboratory with a live link', () => {
  test('is assigned and shipped by staff, ordered at registration with the sample id on it, and gets its result', async () => {
    const { team, account } = await linkedLab(STAFF)
    const order = await kit(team, { lab_account_id: account })
    await team.settle()
    assert.equal(await findWork(team, order.id), 'assign_kit')
    assert.equal((await details(team, order)).address.first_line, order.shipping_details!.first_line)
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0002' })
    assert.equal(await findWork(team, order.id), 'ship')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'tracking', inbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
    assert.equal((await staffAction(team, order, 'kit', { sample_id: 'BOX-0003' })).status, 400)
    assert.equal(await findWork(team, order.id), 'await_sample')
    assert.deepEqual(await queuedMessages(team, account), [])
    assert.equal((await register(team, 'box 0002')).status, 200)
    const [message, ...others] = await queuedMessages(team, account)
    assert.equal(others.length, 0)
    assert.deepEqual([message!.message.get('ORC-2'), message!.message.get('SPM-2')], ['BOX-0002', 'BOX-0002'])
    assert.equal(await answer(team, message!, 'AA'), 'accepted')
    await staffActionOk(team, order, 'scan', scan('inbound', 'picked_up'))
    const receipt = await receiveResult(team, account, 'BOX-0002')
    assert.deepEqual([receipt.state, receipt.order_id], ['applied', order.id])
    assert.deepEqual((await lowLevelStatuses(team, order)).slice(-2), [
      'collecting_sample.testkit.transit_lab',
      'sample_with_lab.testkit.delivered_to_lab',
    ])
    const { body } = await team.api.get(`/v3/order/${order.id}/result`)
    assert.deepEqual([body.results[0].result, body.metadata.specimen_number], ['5.4', 'BOX-0002'])
    assert.equal(await findWork(team, order.id), undefined)
  })

  test('gets its result when nobody has recorded the ways of the parcel, and the patient no news of these', async () => {
    for (const options of [{}, STAFF]) {
      const { team, account } = await linkedLab(options)
      const order = await kit(team, { lab_account_id: account })
      await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
      assert.equal((await receiveResult(team, account, 'BOX-0001')).state, 'review', 'nobody has registered the kit')
      await register(team, 'BOX-0001')
      assert.equal((await receiveResult(team, account, 'BOX-0001', 'Imaginary')).state, 'review', 'it is of another patient')
      assert.equal((await receiveResult(team, account, 'BOX-0001', patient.last_name.toUpperCase())).state, 'applied')
      assert.equal((await getOrder(team, order.id)).last_event.status, 'sample_with_lab.testkit.delivered_to_lab')
      const { data } = (await team.api.get(`/v3/order/${order.id}/messages`)).body
      assert(!data.some((item: { kind: string }) => item.kind === 'transit_customer'))
    }
  })

  test('shows a failure if it is registered while the link is not live, and is sent when staff say so', async () => {
    const { team, account } = await linkedLab()
    const order = await kit(team, { lab_account_id: account })
    await team.settle()
    await team.db.plainTx((tx) => setLinkMode(tx, account, 'off'))
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await register(team, 'BOX-0001')
    assert.equal((await getOrder(team, order.id)).last_event.status_detail, 'fulfillment_error')
    await team.db.plainTx((tx) => setLinkMode(tx, account, 'live'))
    await team.db.tx(team.tenant, (tx) => sendAgain(tx, order.id))
    assert.equal((await queuedMessages(team, account))[0]!.message.get('SPM-2'), 'BOX-0001')
    assert.equal((await getOrder(team, order.id)).last_event.status_detail, null)
  })

  test('gets its result over a link over which no orders go', async () => {
    const { team, account } = await linkedLab({ ...STAFF, transport: { orders: 'none' } })
    const order = await kit(team, { lab_account_id: account })
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    assert.equal(await findWork(team, order.id), 'ship')
    await register(team, 'BOX-0001')
    assert.deepEqual(await queuedMessages(team, account), [])
    assert.equal((await receiveResult(team, account, 'BOX-0001')).state, 'applied')
  })

  test('never gets the sample id of another order', async () => {
    const { team, account } = await linkedLab(STAFF)
    const [one, two] = [await kit(team, { lab_account_id: account }), await kit(team, { lab_account_id: account })]
    await staffActionOk(team, one, 'kit', { sample_id: 'BOX-0001' })
    assert.equal((await staffAction(team, two, 'kit', { sample_id: 'BOX-0001' })).status, 422)
    assert.equal((await getOrder(team, two.id)).sample_id, null)
  })

  test('that the laboratory refuses is sent again once', async () => {
    const { team, account } = await linkedLab()
    const order = await kit(team, { lab_account_id: account })
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await register(team, 'BOX-0001')
    await answer(team, (await queuedMessages(team, account))[0]!, 'AE')
    assert.equal((await getOrder(team, order.id)).last_event.status_detail, 'fulfillment_error')
    await team.db.tx(team.tenant, (tx) => sendAgain(tx, order.id))
    assert.deepEqual(
      (await queuedMessages(team, account)).map(({ state }) => state),
      ['refused', 'queued'],
    )
  })

  test('is not sent without a place for its sample id', async () => {
    const { team, account } = await linkedLab({ order_number: { number: 'order_id' }, order_content: { specimen: 'OBR-15' } })
    const order = await kit(team, { lab_account_id: account })
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await register(team, 'BOX-0001')
    assert.deepEqual(await queuedMessages(team, account), [])
    const { notes, last_event } = await getOrder(team, order.id)
    assert.equal(last_event.status_detail, 'fulfillment_error')
    assert.match(notes!, /SPM-2: the sample id of the kit has no place/)
  })
})

describe('a kit of a known patient, at a laboratory with a live link', () => {
  const createKit = async ({ team, account }: Awaited<ReturnType<typeof linkedLab>>) => {
    const order = await createOrder(team, { lab_test_id: await team.test('testkit'), lab_account_id: account })
    await team.settle()
    return order
  }

  test('that staff send is ordered with the sample id on it, when they assign it', async () => {
    const linked = await linkedLab(STAFF)
    const { team, account } = linked
    const order = await createKit(linked)
    assert.deepEqual(await queuedMessages(team, account), [])
    assert.equal((await getOrder(team, order.id)).last_event.status, 'received.testkit.ordered')
    assert.equal(await findWork(team, order.id), 'assign_kit')
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await team.settle()
    const [message, ...others] = await queuedMessages(team, account)
    assert.equal(others.length, 0)
    assert.deepEqual([message!.message.get('ORC-2'), message!.message.get('SPM-2')], ['BOX-0001', 'BOX-0001'])
    assert.equal((await staffAction(team, order, 'kit', { sample_id: 'BOX-0002' })).status, 400)
    await answer(team, message!, 'AA')
    assert.equal(await findWork(team, order.id), 'ship')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    assert.equal((await receiveResult(team, account, 'BOX-0001')).state, 'applied')
  })

  test('that the laboratory refuses gets another one, with which it is sent again', async () => {
    const linked = await linkedLab(STAFF)
    const { team, account } = linked
    const order = await createKit(linked)
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0001' })
    await team.settle()
    await answer(team, (await queuedMessages(team, account))[0]!, 'AR')
    assert.equal(await findWork(team, order.id), 'problem')
    await staffActionOk(team, order, 'kit', { sample_id: 'BOX-0002' })
    await team.settle()
    const [, second] = await queuedMessages(team, account)
    assert.equal(second!.message.get('SPM-2'), 'BOX-0002')
    await answer(team, second!, 'AA')
    assert.equal((await getOrder(team, order.id)).last_event.status_detail, null)
  })

  test('that the laboratory sends is no work of staff, and gets its result without a report of its ways', async () => {
    const linked = await linkedLab()
    const { team, account } = linked
    const order = await createKit(linked)
    const [message] = await queuedMessages(team, account)
    await answer(team, message!, 'AA')
    assert.equal(await findWork(team, order.id), undefined)
    assert.equal((await staffAction(team, order, 'kit', { sample_id: 'BOX-0001' })).status, 400)
    assert.equal((await receiveResult(team, account, message!.message.get('ORC-2'))).state, 'applied')
    assert.equal((await getOrder(team, order.id)).last_event.status, 'sample_with_lab.testkit.delivered_to_lab')
    const { data } = (await team.api.get(`/v3/order/${order.id}/messages`)).body
    assert.deepEqual(
      data.filter(({ kind }: { kind: string }) => kind === 'transit_customer' || kind === 'with_customer'),
      [],
    )
  })

  test('has no result, acceptance or rejection by staff', async () => {
    const linked = await linkedLab(STAFF)
    const { team } = linked
    const order = await createKit(linked)
    for (const [action, body] of [
      ['accept', {}],
      ['refuse', undefined],
      ['result', { status: 'final', results: [] }],
      ['reject', {}],
      ['do_not_process', undefined],
    ] as const)
      assert.deepEqual(
        [action, (await staffAction(team, order, action, body)).body],
        [action, { detail: 'Manual fulfillment is not enabled for this laboratory' }],
      )
  })
})

test('an order of another method at a laboratory with a link is no work of staff', async () => {
  const { team, account } = await linkedTeam({ options: STAFF })
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
  for (const [action, body] of [
    ['kit', { sample_id: 'BOX-0001' }],
    ['tracking', outbound],
    ['scan', scan('outbound', 'picked_up')],
    ['lost', undefined],
  ] as const)
    assert.equal((await staffAction(team, order, action, body)).status, 400, action)
  assert.equal(await findWork(team, order.id), undefined)
})
