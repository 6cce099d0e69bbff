// The whole way of a kit, as a customer's program sees it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { home, parcel, patient, type Customer } from '../client.ts'

export function kitEndToEnd({ sdk, user, kitTest, arrived, passthrough }: Customer): void {
  test('a kit is ordered, sent, registered, sent back and reported, and every step emits an event', async () => {
    const buyer = await user()
    const follow = async (cursor: string) => (await passthrough(`/v1/events/follow?wait_s=25&${cursor}`)).body as FeedPage
    let page = (await passthrough('/v1/events/follow?start=newest')).body as FeedPage

    const ordered = await sdk.testkit.createOrder({
      userId: buyer.userId,
      labTestId: await kitTest(),
      shippingDetails: parcel,
      passthrough: 'shop order 4711',
    })
    assert.equal(ordered.status, 'success')
    const { id, sampleId, orderTransaction } = ordered.order
    assert(sampleId)
    assert.equal(ordered.order.patientDetails, null)
    assert.equal(ordered.order.shippingDetails?.country, 'United States')
    assert.equal(ordered.order.passthrough, 'shop order 4711')

    await sdk.labTests.simulateOrderProcess({ orderId: id, finalStatus: 'collecting_sample.testkit.with_customer' })
    const delivered = await arrived(id, 'collecting_sample.testkit.with_customer')
    assert.equal(delivered.status, 'collecting_sample')

    const registered = await sdk.testkit.register({
      sampleId,
      patientDetails: patient,
      patientAddress: home,
      consents: [{ consentType: 'terms-of-use' }],
    })
    assert.equal(registered.order.patientDetails?.firstName, 'Testa')
    assert.equal(registered.order.lastEvent.status, 'received.testkit.testkit_registered')

    await sdk.labTests.simulateOrderProcess({ orderId: id })
    const completed = await arrived(id, 'completed.testkit.completed')
    assert.equal(completed.orderTransaction?.status, 'completed')

    const result = await sdk.labTests.getResultRaw({ orderId: id })
    assert(Array.isArray(result.results) && result.results.length > 0)
    for (const { name, result: value, type } of result.results) assert(name && value && type)
    assert.equal(result.orderTransaction?.id, orderTransaction?.id)
    const metadata = await sdk.labTests.getResultMetadata({ orderId: id })
    assert.equal(metadata.patient, 'Testa Fictional')
    assert.equal(metadata.dob, '1990-01-31')
    assert.equal(metadata.status, 'final')
    const pdf = Buffer.from(await (await sdk.labTests.getResultPdf({ orderId: id })).arrayBuffer())
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-')

    const { body } = await passthrough(`/v1/events?object_id=${id}`)
    const receivedEvents = (body as { data: FeedEvent[] }).data.reverse()
    assert.deepEqual(
      receivedEvents.map(({ type, body }) => [type, body.data.last_event.status]),
      [
        ['labtest.order.created', 'received.testkit.ordered'],
        ['labtest.order.updated', 'received.testkit.awaiting_registration'],
        ['labtest.order.updated', 'collecting_sample.testkit.transit_customer'],
        ['labtest.order.updated', 'collecting_sample.testkit.out_for_delivery'],
        ['labtest.order.updated', 'collecting_sample.testkit.with_customer'],
        ['labtest.order.updated', 'received.testkit.requisition_created'],
        ['labtest.order.updated', 'received.testkit.testkit_registered'],
        ['labtest.order.updated', 'collecting_sample.testkit.transit_lab'],
        ['labtest.order.updated', 'sample_with_lab.testkit.delivered_to_lab'],
        ['labtest.order.updated', 'completed.testkit.completed'],
      ],
    )
    const followed: FeedEvent['body'][] = []
    while (followed.length < receivedEvents.length) {
      page = await follow(`next_cursor=${page.next_cursor}`)
      for (const { object_id, body } of page.data) if (object_id === id) followed.push(JSON.parse(body) as FeedEvent['body'])
    }
    assert.deepEqual(
      followed,
      receivedEvents.map(({ body }) => body),
    )
    for (const { body } of receivedEvents) assert.equal(body.client_user_id, buyer.clientUserId)
    assert.deepEqual(
      completed.events.map(({ status }) => status),
      receivedEvents.map(({ body }) => body.data.last_event.status),
    )
  })
}

interface FeedPage {
  data: { object_id: string; body: string }[]
  next_cursor: string
}

interface FeedEvent {
  type: string
  body: { client_user_id: string; data: { last_event: { status: string } } }
}
