// How far an order has come in its lifecycle.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { createOrder } from '../../../test/support/orders.ts'
import type { OrderProgress } from './schema.ts'

async function fetchProgress(team: Awaited<ReturnType<typeof createTestTeam>>, id: string): Promise<OrderProgress> {
  const { status, body } = await team.api.get(`/console/v1/orders/${id}/progress`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const namesIn = ({ steps }: OrderProgress, phase: string) =>
  steps.filter((step) => step.phase === phase).map(({ low_level_status }) => low_level_status)

describe('the progress of an order', () => {
  test('a new order is at its first status and is expected to be completed by the shortest way', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    const progress = await fetchProgress(team, order.id)
    assert.equal(progress.lifecycle, 'testkit')
    assert.deepEqual(namesIn(progress, 'passed'), [])
    assert.deepEqual(namesIn(progress, 'current'), ['ordered'])
    assert.equal(namesIn(progress, 'expected').at(-1), 'completed')
    assert.deepEqual(
      progress.next.map(({ low_level_status, published_status }) => [low_level_status, published_status]),
      [
        ['requisition_created', 'received.testkit.requisition_created'],
        ['requisition_bypassed', 'received.testkit.requisition_bypassed'],
        ['cancelled', 'cancelled.testkit.cancelled'],
      ],
    )
  })

  test('nothing is expected of a cancelled order, and nothing may follow', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    await team.api.post(`/v3/order/${order.id}/cancel`)
    const progress = await fetchProgress(team, order.id)
    assert.deepEqual(namesIn(progress, 'passed'), ['ordered'])
    assert.deepEqual(namesIn(progress, 'current'), ['cancelled'])
    assert.deepEqual([namesIn(progress, 'expected'), progress.next], [[], []])
  })
})
