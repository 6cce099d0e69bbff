// Results through the SDK, of orders and of transactions.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UNKNOWN_ID, assertRejected, type Customer, isPdf } from '../client.ts'

export const results = ({ sdk, order, arrived, reported }: Customer): void =>
  void describe('results', () => {
    test('a transaction has the result of its order', async () => {
      const { id: orderId, orderTransaction } = await reported()
      const transactionId = orderTransaction!.id
      const own = await sdk.labTests.getResultRaw({ orderId })
      const combined = await sdk.orderTransaction.getTransactionResult({ transactionId })
      assert.deepEqual(combined.results, own.results)
      assert(await isPdf(await sdk.labTests.getResultPdf({ orderId })))
      assert(await isPdf(await sdk.orderTransaction.getTransactionResultPdf({ transactionId })))
      assert.deepEqual(await sdk.labTests.getResultMetadata({ orderId }), own.metadata)
    })

    test('a result may be out of range, and incomplete', async () => {
      const { id: orderId } = await order()
      await sdk.labTests.simulateOrderProcess({
        orderId,
        body: { interpretation: 'abnormal', resultTypes: ['numeric'], hasMissingResults: true },
      })
      const completed = await arrived(orderId, 'completed.testkit.completed')
      assert.deepEqual([completed.interpretation, completed.hasMissingResults], ['abnormal', true])
      const { results, missingResults, metadata } = await sdk.labTests.getResultRaw({ orderId })
      assert(Array.isArray(results) && results.some(({ interpretation }) => interpretation === 'abnormal'))
      assert(results.every(({ type }) => type === 'numeric'))
      assert(missingResults?.length)
      assert.equal(metadata.interpretation, 'abnormal')
    })

    test('there is no result before there is one', async () => {
      const { id: orderId, orderTransaction } = await order()
      const transactionId = orderTransaction!.id
      await assertRejected(sdk.labTests.getResultRaw({ orderId }), 404)
      await assertRejected(sdk.labTests.getResultMetadata({ orderId }), 404)
      await assertRejected(sdk.labTests.getResultPdf({ orderId }), 404)
      await assertRejected(sdk.orderTransaction.getTransactionResult({ transactionId }), 404)
      await assertRejected(sdk.orderTransaction.getTransactionResultPdf({ transactionId }), 404)
    })

    test('there is no result of what is not there', async () => {
      const calls = [
        () => sdk.labTests.getResultRaw({ orderId: UNKNOWN_ID }),
        () => sdk.labTests.getResultMetadata({ orderId: UNKNOWN_ID }),
        () => sdk.labTests.getResultPdf({ orderId: UNKNOWN_ID }),
      ]
      for (const call of calls) assert.deepEqual((await assertRejected(call(), 404)).body, { detail: 'Order not found' })
      await assertRejected(sdk.orderTransaction.getTransactionResult({ transactionId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.orderTransaction.getTransactionResultPdf({ transactionId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.getResultPdf({ orderId: 'nonsense' }), 422)
    })
  })
