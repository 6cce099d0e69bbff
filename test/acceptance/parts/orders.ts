// Orders, kits and transactions through the SDK.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Junction } from '@junction-api/sdk'
import { fieldErrors, home, UNKNOWN_ID, parcel, patient, assertRejected, type Customer } from '../client.ts'

export const orders = ({ sdk, user, kitTest, order, kit, register, arrived, passthrough }: Customer): void =>
  void describe('orders', () => {
    test('an order is placed for a patient and read', async () => {
      const placed = await order({
        priority: true,
        clinicalNotes: 'fasting\nmorning',
        passthrough: '{"cart":7}',
        icdCodes: ['Z00.00'],
      })
      assert.equal(placed.status, 'received')
      assert.deepEqual(
        placed.events.map(({ status }) => status),
        ['received.testkit.ordered'],
      )
      assert.deepEqual(placed.patientDetails?.dob, new Date('1990-01-31'))
      assert.equal(placed.patientAddress?.country, 'United States')
      assert.deepEqual([placed.priority, placed.clinicalNotes, placed.passthrough], [true, 'fasting\nmorning', '{"cart":7}'])
      assert.deepEqual(placed.icdCodes, ['Z00.00'])
      assert.deepEqual(await sdk.labTests.getOrder({ orderId: placed.id }), placed)
    })

    test('an order may name its lab test in an order set', async () => {
      const labTestIds = [await kitTest()]
      const { userId } = await user()
      const { order } = await sdk.labTests.createOrder({
        userId,
        orderSet: { labTestIds },
        patientDetails: patient,
        patientAddress: home,
        collectionMethod: 'testkit',
      })
      assert.equal(order.labTest.id, labTestIds[0])
    })

    test('what is wrong with an order is all said at once', async () => {
      const error = await assertRejected(
        order({
          userId: 'nonsense',
          patientDetails: { ...patient, firstName: ' Testa', dob: '1990-31-01', phoneNumber: '5550100199', email: 'nowhere' },
          patientAddress: { ...home, zip: '8500' },
          clinicalNotes: 'x'.repeat(1001),
        }),
        422,
      )
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), [
        'body.user_id',
        'body.patient_details.first_name',
        'body.patient_details.dob',
        'body.patient_details.phone_number',
        'body.patient_details.email',
        'body.patient_address.zip',
        'body.clinical_notes',
      ])
    })

    test('an order is refused for whom or what is not there', async () => {
      assert.deepEqual((await assertRejected(order({ userId: UNKNOWN_ID }), 404)).body, {
        detail: 'User does not exist on this team',
      })
      await assertRejected(order({ labTestId: UNKNOWN_ID }), 404)
      const { userId } = await user()
      const without = sdk.labTests.createOrder({ userId, patientDetails: patient, patientAddress: home })
      assert.deepEqual((await assertRejected(without, 400)).body, { detail: 'order_set or lab_test_id must be set' })
    })

    test('an idempotency key gives the first answer again', async () => {
      const { userId } = await user()
      const idempotencyKey = randomUUID()
      const first = await order({ userId, idempotencyKey })
      assert.deepEqual(await order({ userId, idempotencyKey, passthrough: 'another body' }), first)
      assert.notEqual((await order({ userId, idempotencyKey: randomUUID() })).id, first.id)
    })

    test('an idempotency key keeps a refusal too, unless asked not to', async () => {
      const { userId } = await user()
      const kept = randomUUID()
      await assertRejected(order({ userId: UNKNOWN_ID, idempotencyKey: kept }), 404)
      await assertRejected(order({ userId, idempotencyKey: kept }), 404)
      const released = randomUUID()
      await assertRejected(order({ userId: UNKNOWN_ID, idempotencyKey: released, idempotencyError: 'no-cache' }), 404)
      assert((await order({ userId, idempotencyKey: released })).id)
    })

    test('the same order twice is one order on the path that says so', async () => {
      const { userId } = await user()
      const body = JSON.stringify({
        user_id: userId,
        lab_test_id: await kitTest(),
        patient_details: { ...snake(patient) },
        patient_address: { ...snake(home) },
      })
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const [first, second] = [await passthrough('/v3/order/create', init), await passthrough('/v3/order/create', init)]
      assert.equal(first.status, 200)
      assert.deepEqual(second, first)
    })

    test('orders are listed and filtered', async () => {
      const { userId } = await user()
      const placed = [await order({ userId }), await order({ userId, activateBy: '2100-01-31' }), await order({ userId })]
      const ids = placed.map(({ id }) => id)
      const list = async (filter: Junction.GetOrdersLabTestsRequest) =>
        (await sdk.labTests.getOrders({ userId, ...filter })).orders.map(({ id }) => id)
      assert.deepEqual(await list({}), ids.toReversed())
      assert.deepEqual(await list({ orderKey: 'created_at', orderDirection: 'asc', page: 2, size: 2 }), ids.slice(2))
      assert.deepEqual(await list({ orderActivationTypes: ['scheduled'] }), [ids[1]])
      assert.deepEqual((await list({ orderIds: [ids[0]!, ids[2]!, UNKNOWN_ID] })).sort(), [ids[0], ids[2]].sort())
      assert.deepEqual(await list({ status: ['ordered', 'completed'], orderType: ['testkit'] }), ids.toReversed())
      assert.deepEqual(await list({ status: ['completed'] }), [])
      assert.deepEqual(await list({ startDate: new Date('2000-01-01'), endDate: new Date('2000-12-31') }), [])
      assert.deepEqual(await list({ orderTransactionId: placed[0]!.orderTransaction!.id }), [ids[0]])
      assert.deepEqual(await list({ patientName: 'TESTA fic' }), ids.toReversed())
      assert.deepEqual(await list({ searchInput: ids[1]! }), [ids[1]])
      const { total, page, size } = await sdk.labTests.getOrders({ userId, size: 1 })
      assert.deepEqual([total, page, size], [3, 1, 1])
      const alias = await passthrough(`/orders?user_id=${userId}`)
      assert.deepEqual(alias, await passthrough(`/v3/orders?user_id=${userId}`))
    })

    test('an order that is not there is not found, and nonsense is refused', async () => {
      await assertRejected(sdk.labTests.getOrder({ orderId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.cancelOrder({ orderId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.updateOrder({ orderId: UNKNOWN_ID, activateBy: null }), 404)
      await assertRejected(sdk.labTests.simulateOrderProcess({ orderId: UNKNOWN_ID }), 404)
      const malformed = await assertRejected(sdk.labTests.getOrder({ orderId: 'nonsense' }), 422)
      assert(malformed instanceof Junction.UnprocessableEntityError)
      const query = await assertRejected(sdk.labTests.getOrders({ orderIds: ['nonsense'], page: 0, size: 101 }), 422)
      assert.deepEqual(fieldErrors(query), ['query.order_ids.0', 'query.page', 'query.size'])
    })

    test('a scheduled order is given another date or none, any other order is not', async () => {
      const { id } = await order({ activateBy: '2100-01-31' })
      const moved = await sdk.labTests.updateOrder({ orderId: id, activateBy: '2100-02-28' })
      assert.deepEqual([moved.message, moved.order.activateBy], ['order updated', '2100-02-28'])
      assert.equal((await sdk.labTests.updateOrder({ orderId: id, activateBy: null })).order.activateBy, null)
      await assertRejected(sdk.labTests.updateOrder({ orderId: id, activateBy: '2001-01-01' }), 400)
      const { id: immediate } = await order()
      await assertRejected(sdk.labTests.updateOrder({ orderId: immediate, activateBy: '2100-01-31' }), 400)
    })

    test('an order is cancelled once', async () => {
      const { id } = await order()
      const cancelled = await sdk.labTests.cancelOrder({ orderId: id })
      assert.deepEqual([cancelled.status, cancelled.message], ['success', 'Order cancelled successfully'])
      assert.equal(cancelled.order.lastEvent.status, 'cancelled.testkit.cancelled')
      const error = await assertRejected(sdk.labTests.cancelOrder({ orderId: id }), 400)
      assert.deepEqual(error.body, {
        error: 'Bad Request',
        message: 'Transition from cancelled to cancelled is not allowed',
        status_code: 400,
      })
      const { id: other } = await kit()
      const { status } = await passthrough(`/v3/lab_test/${other}/cancel`, { method: 'DELETE' })
      assert.equal(status, 200)
      assert.equal((await sdk.labTests.getOrder({ orderId: other })).status, 'cancelled')
    })

    test('an order that is on its way is not cancelled', async () => {
      const { id } = await kit()
      await sdk.labTests.simulateOrderProcess({ orderId: id, finalStatus: 'collecting_sample.testkit.transit_customer' })
      await arrived(id, 'collecting_sample.testkit.transit_customer')
      const error = await assertRejected(sdk.labTests.cancelOrder({ orderId: id }), 400)
      assert.deepEqual(
        (error.body as { message: string }).message,
        'Transition from transit_customer to cancelled is not allowed',
      )
    })

    test('a simulation is refused where it leads nowhere', async () => {
      const { id: orderId } = await order()
      await assertRejected(sdk.labTests.simulateOrderProcess({ orderId, finalStatus: 'received.walk_in_test.ordered' }), 400)
      await assertRejected(sdk.labTests.simulateOrderProcess({ orderId, delay: -1 }), 422)
      await sdk.labTests.cancelOrder({ orderId })
      await assertRejected(sdk.labTests.simulateOrderProcess({ orderId }), 400)
    })

    test('a simulation may end badly', async () => {
      const { id } = await order()
      await sdk.labTests.simulateOrderProcess({ orderId: id, finalStatus: 'failed.testkit.failure_to_deliver_to_customer' })
      assert.equal((await arrived(id, 'failed.testkit.failure_to_deliver_to_customer')).status, 'failed')
    })

    test('a kit is registered for another user of the team, once', async () => {
      const stock = await kit()
      const { userId } = await user()
      const registered = await register(stock, { userId })
      assert.equal(registered.userId, userId)
      assert.equal(registered.lastEvent.status, 'received.testkit.testkit_registered')
      assert.deepEqual((await assertRejected(register(stock), 400)).body, { detail: 'The test kit is already registered' })
    })

    test('a kit is not registered without consent, for nobody, or when there is no such kit', async () => {
      const stock = await kit()
      await assertRejected(register(stock, { consents: [] }), 400)
      assert.deepEqual((await assertRejected(register(stock, { userId: UNKNOWN_ID }), 404)).body, {
        detail: 'User does not exist on this team',
      })
      await assertRejected(register(stock, { sampleId: 'DBK-NONE' }), 404)
      const error = await assertRejected(
        register(stock, { sampleId: '', patientDetails: { ...patient, firstName: 'José' } }),
        422,
      )
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), ['body.sample_id', 'body.patient_details.first_name'])
    })

    test('a kit is not ordered without an address that exists', async () => {
      const { userId } = await user()
      const shippingDetails = { ...parcel, state: 'Arizonia', phoneNumber: '' }
      const error = await assertRejected(sdk.testkit.createOrder({ userId, labTestId: await kitTest(), shippingDetails }), 422)
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), ['body.shipping_details.phone_number'])
    })

    test('the latest events of orders are emitted again', async () => {
      const placed = [await order(), await kit()]
      const orderIds = placed.map(({ id }) => id)
      const repeated = await sdk.order.resendEvents({ orderIds: [...orderIds, UNKNOWN_ID] })
      assert.deepEqual(repeated.orderIds.toSorted(), orderIds.toSorted())
      const { body } = await passthrough(`/v1/events?object_id=${orderIds[0]}`)
      assert.deepEqual(
        (body as { data: { type: string }[] }).data.map(({ type }) => type),
        ['labtest.order.created', 'labtest.order.created'],
      )
      await assertRejected(sdk.order.resendEvents({}), 422)
      await assertRejected(sdk.order.resendEvents({ startAt: new Date('2024-01-01'), endAt: new Date('2024-06-01') }), 422)
    })

    test('a transaction names its orders', async () => {
      const placed = await order()
      const transactionId = placed.orderTransaction!.id
      const open = await sdk.orderTransaction.getTransaction({ transactionId })
      assert.deepEqual([open.id, open.status], [transactionId, 'active'])
      assert.deepEqual(
        open.orders!.map(({ id, origin }) => [id, origin]),
        [[placed.id, 'initial']],
      )
      await sdk.labTests.cancelOrder({ orderId: placed.id })
      assert.equal((await sdk.orderTransaction.getTransaction({ transactionId })).status, 'cancelled')
      await assertRejected(sdk.orderTransaction.getTransaction({ transactionId: UNKNOWN_ID }), 404)
    })
  })

/** As on the wire. */
const snake = (value: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), text]),
  )
