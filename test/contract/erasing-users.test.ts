// The end of deleted users: what names several of them, and what counts them. A team that has used everything: erasing-teams.test.ts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createOrder } from '../support/orders.ts'
import { acceptedOrder, deliveryFor, receiveResult } from '../support/results.ts'
import { createTestTeam } from '../support/server.ts'
import { erase, rowsWith } from './operations/erased-users.ts'

test('a result that can be of two users names the other one alone when one is erased, and is gone with the second', async () => {
  const team = await createTestTeam()
  const order = await acceptedOrder(team)
  const other = await createOrder(team, { lab_test_id: order.lab_test.id })
  const receipt = await receiveResult(team, await deliveryFor(team, order, { sample_id: 'NOBODYS', message_id: randomUUID() }))
  assert.equal(receipt.decision_code, 'multiple_demo_match')
  const review = async () => team.api.get(`/v3/unmatched_result/${receipt.raw_result_id}`)
  const candidates = async () => (await review()).body.candidate_groups.map(({ user_id }: { user_id: string }) => user_id)
  assert.deepEqual((await candidates()).toSorted(), [order.user_id, other.user_id].toSorted())
  await erase(team, [order.user_id])
  assert.deepEqual(await candidates(), [other.user_id])
  assert.deepEqual(await rowsWith(team, [order.user_id, order.id]), [])
  await erase(team, [other.user_id])
  assert.equal((await review()).status, 404)
  assert.deepEqual(await rowsWith(team, [other.user_id, other.id, receipt.raw_result_id]), [])
})

test('the total of a list stays right when its rows are erased', async () => {
  const team = await createTestTeam()
  const users: string[] = []
  for (let i = 0; i < 12; i++) users.push(await team.user())
  const total = async () => (await team.api.get('/v2/user')).body.total
  assert.equal(await total(), 12)
  for (const [n, id] of [users[0]!, users[2]!].entries()) {
    await erase(team, [id])
    assert.equal(await total(), 11 - n)
    assert.deepEqual(await rowsWith(team, [id]), [])
  }
  await erase(team, users)
  assert.equal(await total(), 0)
})
