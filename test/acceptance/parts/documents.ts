// Documents of orders through the SDK: bytes of PDFs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fieldErrors, UNKNOWN_ID, assertRejected, type Customer, isPdf } from '../client.ts'

export const documents = ({ sdk, kitTest, order, arrived, passthrough }: Customer): void =>
  void describe('documents', () => {
    const collectionDate = new Date('2030-01-02T09:30:00Z')

    test('an order that its laboratory has taken has a requisition, labels and instructions', async () => {
      const { id: orderId } = await order()
      const finalStatus = 'received.testkit.requisition_created'
      await sdk.labTests.simulateOrderProcess({ orderId, finalStatus })
      const { requisitionFormUrl } = await arrived(orderId, finalStatus)
      assert(await isPdf(await sdk.labTests.getOrderRequistionPdf({ orderId })))
      assert(await isPdf(await sdk.labTests.getLabelsPdf({ orderId, collectionDate })))
      assert(await isPdf(await sdk.labTests.getLabelsPdf({ orderId, collectionDate, numberOfLabels: 1 })))
      assert(await isPdf(await sdk.labTests.getOrderCollectionInstructionPdf({ orderId })))
      assert(await isPdf(await sdk.labTests.getLabTestCollectionInstructionPdf({ labTestId: await kitTest() })))
      const page = await fetch(requisitionFormUrl!)
      assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'application/pdf'])
      assert(await isPdf(page))
    })

    test('there is no document before there is something to print', async () => {
      const { id: orderId } = await order()
      await assertRejected(sdk.labTests.getOrderRequistionPdf({ orderId }), 404)
      await assertRejected(sdk.labTests.getOrderAbnPdf({ orderId }), 404)
      await assertRejected(sdk.labTests.getLabelsPdf({ orderId, collectionDate }), 404)
      await assertRejected(sdk.labTests.getOrderCollectionInstructionPdf({ orderId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.getLabTestCollectionInstructionPdf({ labTestId: UNKNOWN_ID }), 404)
    })

    test('the messages to a patient about an order can be read, and switched off', async () => {
      const { id } = await order()
      const path = `/v3/order/${id}/communication_settings`
      assert.deepEqual(await passthrough(path), { status: 200, body: { order_id: id, sms_enabled: true } })
      const init = { method: 'PATCH', body: '{"sms_enabled":false}', headers: { 'content-type': 'application/json' } }
      assert.deepEqual(await passthrough(path, init), { status: 200, body: { order_id: id, sms_enabled: false } })
      const { body } = await passthrough(`/v3/order/${id}/messages`)
      const { data } = body as { data: { kind: string; state: string }[] }
      assert.deepEqual(
        data.map(({ kind, state }) => [kind, state]),
        [['ordered', 'recorded']],
      )
    })

    test('labels are at most fifty', async () => {
      const { id: orderId } = await order()
      const error = await assertRejected(sdk.labTests.getLabelsPdf({ orderId, collectionDate, numberOfLabels: 51 }), 422)
      assert.deepEqual(fieldErrors(error), ['query.number_of_labels'])
    })
  })
