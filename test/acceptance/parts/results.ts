// Results through the SDK, of orders and of transactions.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { examplePdf } from '../../../src/lab/fulfillment/schema.ts'
import { UNKNOWN_ID, assertRejected, type Customer, isPdf } from '../client.ts'

export const results = ({ sdk, order, arrived, reported, user, passthrough, base_url, management_key }: Customer): void =>
  void describe('results', () => {
    test(
      "the laboratory's own document is listed, and is the PDF of the result",
      { skip: !management_key && 'there is no management key' },
      async () => {
        const { userId, teamId } = await user()
        const { orgId } = await sdk.team.get({ teamId })
        const headers = { 'x-management-key': management_key!, 'content-type': 'application/json' }
        const manage = async (method: string, path: string, body: unknown = {}) => {
          const response = await fetch(`${base_url}/v1/org/${orgId}/${path}`, { method, headers, body: JSON.stringify(body) })
          assert.equal(response.status, 200, await response.text())
        }
        const test = { name: 'By hand', description: '', method: 'testkit', lab_slug: 'manual', provider_ids: ['MAN-A1C'] }
        const made = await passthrough('/v3/lab_tests', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(test),
        })
        const { id: labTestId } = made.body as { id: string }
        await manage('POST', `lab_test/sandbox/us/${labTestId}/approve`)
        const { id: orderId } = await order({ userId, labTestId })
        const staff = (method: string, step: string, body?: unknown) =>
          manage(method, `team/${teamId}/sandbox/fulfillment/${orderId}/${step}`, body)
        await staff('POST', 'accept')
        for (const direction of ['outbound', 'inbound'])
          await staff('POST', 'tracking', {
            direction,
            courier: 'usps',
            tracking_number: `940000000000000000000${direction.length}`,
          })
        await staff('POST', 'scan', { direction: 'outbound', event: 'delivered' })
        for (const event of ['in_transit', 'delivered']) await staff('POST', 'scan', { direction: 'inbound', event })
        await staff('POST', 'result', { status: 'final', results: [{ analyte: 'hemoglobin-a1c', value: '5.1' }] })
        await staff('PUT', 'result/pdf', { pdf: examplePdf })
        const path = `/v3/order/${orderId}/result/documents`
        const { documents } = (await passthrough(path)).body as { documents: { id: string; is_result_pdf: boolean }[] }
        assert.deepEqual(
          documents.map(({ is_result_pdf }) => is_result_pdf),
          [true],
        )
        const document = await sdk.fetch(new URL(`${base_url}${path}/${documents[0]!.id}`))
        const own = Buffer.from(await document.arrayBuffer())
        assert(own.equals(Buffer.from(examplePdf, 'base64')))
        assert(own.equals(Buffer.from(await (await sdk.labTests.getResultPdf({ orderId })).arrayBuffer())))
      },
    )

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
