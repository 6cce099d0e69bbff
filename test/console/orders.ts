// Orders for the pages of the console.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { address, patient } from '../support/people.ts'
import { examplePdf } from '../../src/lab/fulfillment/schema.ts'
import { connectionOf, onDatabase, type Caller } from '../support/program.ts'
import type { ConsoleVisit } from './console.ts'
import { MARKUP } from './org-requests.ts'

/** Two documents of the laboratory for an order with a result: one of an earlier report, and one of the latest. */
export const storeDocuments = ({ server, demo }: ConsoleVisit, order_id: string) =>
  onDatabase(connectionOf(server.dataDir), async (client) => {
    const insert = (id: string, name: string, age: string) =>
      client.query(
        `insert into sandbox_us.lab_result_pdf (id, order_id, team_id, report_number, test_code, code, position, name, checksum, bytes, created_at)
         values ($1, $2, $3, $4, '100', 'PDF', 0, $5, $4, $6, now() - $7::interval)`,
        [id, order_id, demo.teams.us, `R-${name}`, name, Buffer.from(examplePdf, 'base64'), age],
      )
    const [older, newer] = [randomUUID(), randomUUID()]
    await insert(older, 'First report', '2 days')
    await insert(newer, `Corrected report ${MARKUP}`, '1 minute')
    await client.query(`update sandbox_us.lab_result set pdf_ids = array[$2::uuid] where order_id = $1`, [order_id, newer])
  })

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
