// Orders for the pages of the console.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { address, patient } from '../support/people.ts'
import type { Caller } from '../support/program.ts'

/** An order of a fictional patient that a program places. */
export async function createOrder(
  { get, post }: Caller,
  { method = 'testkit', ...changes }: { method?: string; lab_account_id?: string } = {},
): Promise<string> {
  const tests = await get(`/v3/lab_test?collection_method=${method}`)
  const user = await post('/v2/user', { client_user_id: `console-test-${randomUUID()}` })
  const order = await post('/v3/order', {
    user_id: user.body.user_id,
    lab_test_id: tests.body.data[0].id,
    patient_details: patient,
    patient_address: { ...address, country: 'US' },
    ...changes,
  })
  assert.equal(order.status, 200, JSON.stringify(order.body))
  return order.body.order.id
}
