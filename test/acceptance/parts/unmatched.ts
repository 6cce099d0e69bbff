// Results that belong to no order, through the SDK: tested, listed, accepted, rejected.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Junction } from '@junction-api/sdk'
import { fieldErrors, UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

const RUN_MS_MAX = 30_000

export const testUnmatchedResults = ({ sdk, user }: Customer): void =>
  void describe('unmatched results', () => {
    const labTest = async (): Promise<string> => {
      const tests = await sdk.labTests.get({ collectionMethod: 'walk_in_test', labSlug: 'quest', status: 'active' })
      assert(tests[0], 'the team has no walk-in test at Quest')
      return tests[0].id
    }

    /** A run, once it is over. */
    const runUnmatchedResultTest = async (
      body: Omit<Junction.CreateUnmatchedResultTestBody, 'idempotencyKey' | 'orderSource'>,
    ): Promise<Junction.GetUnmatchedResultTestResponse> => {
      const request = { idempotencyKey: randomUUID(), orderSource: 'managed' as const, labTestId: await labTest(), ...body }
      const { runId, status } = await sdk.labTests.createUnmatchedResultTest(request)
      assert.equal(status, 'queued')
      for (const until = performance.now() + RUN_MS_MAX; performance.now() < until;) {
        const run = await sdk.labTests.getUnmatchedResultTest({ runId })
        if (run.status === 'succeeded') return run
        assert.notEqual(run.status, 'failed', run.error?.message)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error('the run did not end')
    }

    test('the cases are listed, and one ends in a review that the list has', async () => {
      const { data: cases } = await sdk.labTests.listUnmatchedResultTestCases()
      assert.equal(cases.length, 8)
      const run = await runUnmatchedResultTest({ case: 'no_match', interpretation: 'abnormal' })
      const rawResultId = run.rawResultId!
      const review = await sdk.labTests.getUnmatchedResult({ rawResultId })
      assert.deepEqual(
        [review.status, review.decisionCode, review.interpretation, review.lab.slug],
        ['pending_customer_review', 'no_match', 'abnormal', 'quest'],
      )
      const page = await sdk.labTests.listUnmatchedResults({ decisionCode: 'no_match', labSlug: 'quest', limit: 1 })
      assert.equal(page.data?.[0]?.id, rawResultId)
      const found = await sdk.labTests.listUnmatchedResults({
        searchInput: review.patient!.lastName!,
        status: 'pending_customer_review',
        createdAtStart: review.createdAt.toISOString().slice(0, 10),
      })
      assert.deepEqual([found.total, found.data?.[0]?.id], [1, rawResultId])
    })

    test('a result of a completed order corrects it', async () => {
      const { rawResultId, orders } = await runUnmatchedResultTest({ case: 'match_completed' })
      const accepted = await sdk.labTests.acceptUnmatchedResult({ rawResultId: rawResultId!, note: 'Sent again' })
      assert.equal(accepted.id, orders!.original!.orderId)
      assert.equal(accepted.lastEvent.status, 'completed.walk_in_test.corrected')
      const review = await sdk.labTests.getUnmatchedResult({ rawResultId: rawResultId! })
      assert.deepEqual([review.status, review.resolvedOrderId, review.note], ['resolved', accepted.id, 'Sent again'])
      await assertRejected(sdk.labTests.acceptUnmatchedResult({ rawResultId: rawResultId! }), 404)
    })

    test('a result of a cancelled order makes another one in its transaction, with the result of both', async () => {
      const { rawResultId, orders } = await runUnmatchedResultTest({ case: 'match_cancelled' })
      const accepted = await sdk.labTests.acceptUnmatchedResult({ rawResultId: rawResultId! })
      assert.equal(accepted.origin, 'recreation')
      const { orderTransactionId: transactionId, orderId } = orders!.original!
      assert.equal(accepted.orderTransaction!.id, transactionId)
      const transaction = await sdk.orderTransaction.getTransaction({ transactionId })
      assert.deepEqual(
        transaction.orders!.map(({ id, parentId, lastStatus }) => [id, parentId ?? null, lastStatus]),
        [
          [orderId, null, 'cancelled'],
          [accepted.id, orderId, 'completed'],
        ],
      )
      assert.equal(transaction.status, 'completed')
      const combined = await sdk.orderTransaction.getTransactionResult({ transactionId })
      const own = await sdk.labTests.getResultRaw({ orderId: accepted.id })
      assert.deepEqual(combined.results, own.results)
    })

    test('an unassigned result needs a team', async () => {
      const { rawResultId } = await runUnmatchedResultTest({ case: 'no_match' })
      const request = { rawResultId: rawResultId! }
      assert.deepEqual(fieldErrors(await assertRejected(sdk.labTests.acceptUnmatchedResult(request), 422)), ['body.order_id'])
      await assertRejected(sdk.labTests.acceptUnmatchedResult({ ...request, orderId: UNKNOWN_ID }), 404)
      const { userId } = await user()
      const accepted = await sdk.labTests.acceptUnmatchedResult({ ...request, userId })
      assert.deepEqual([accepted.userId, accepted.status], [userId, 'completed'])
    })

    test('a result is rejected, or passed to the operator', async () => {
      for (const [action, status] of [
        ['reject', 'resolved'],
        ['unsure', 'pending_ops_review'],
      ] as const) {
        const { rawResultId } = await runUnmatchedResultTest({ case: 'match_sample_id_mismatch_demo' })
        const resolved = await sdk.labTests.resolveUnmatchedResult({ rawResultId: rawResultId!, action })
        assert.deepEqual([resolved.status, resolved.resolutionAction, resolved.allowedActions], [status, action, []])
      }
    })

    test('a key stands for one run', async () => {
      const request = { idempotencyKey: randomUUID(), case: 'no_match' as const, orderSource: 'managed' as const }
      const labTestId = await labTest()
      const first = await sdk.labTests.createUnmatchedResultTest({ ...request, labTestId })
      assert.deepEqual(await sdk.labTests.createUnmatchedResultTest({ ...request, labTestId }), first)
      await assertRejected(sdk.labTests.createUnmatchedResultTest({ ...request, labTestId, resultStatus: 'partial' }), 409)
    })

    test('what is not there is not found', async () => {
      await assertRejected(sdk.labTests.getUnmatchedResult({ rawResultId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.resolveUnmatchedResult({ rawResultId: UNKNOWN_ID, action: 'reject' }), 404)
      await assertRejected(sdk.labTests.getUnmatchedResultTest({ runId: UNKNOWN_ID }), 404)
    })
  })
