// The largest orders, one by one, in lists and as events.
import assert from 'node:assert/strict'
import { address, patient } from '../support/people.ts'
import { hostile, serveForCases, type HostileCase } from './measured-server.ts'

serveForCases({ SANDBOX_USERS_MAX: '0' })

const ORDERS = 100
const text = (length: number) => 'é'.repeat(length)

let orders: Promise<void> | undefined

async function body({ api }: HostileCase, user_id: string) {
  const [test] = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body as { id: string }[]
  return {
    user_id,
    lab_test_id: test!.id,
    patient_details: { ...patient, first_name: 'A'.repeat(50), last_name: 'B'.repeat(50) },
    patient_address: address,
    passthrough: text(5000),
    clinical_notes: text(1000),
    consents: Array.from({ length: 20 }, () => ({ consentType: 'terms-of-use', version: text(20) })),
  }
}

/** Orders with everything that a caller may put into one. */
async function placeOrders(means: HostileCase): Promise<void> {
  const user_id = await means.user()
  const order = await body(means, user_id)
  for (let i = 0; i < ORDERS; i++) {
    const reply = await means.api.post('/v3/order', order)
    assert.equal(reply.status, 200, JSON.stringify(reply.body).slice(0, 500))
  }
}

const read = (name: string, path: string) =>
  hostile(
    name,
    (means) => (orders ??= placeOrders(means)),
    async ({ url, key }) => {
      const response = await fetch(url + path, { headers: { 'x-service-api-key': key } })
      await response.arrayBuffer()
      assert.equal(response.status, 200)
    },
  )

hostile(
  'an order with as much as it may hold',
  async (means) => body(means, await means.user()),
  async ({ api }, order) => assert.equal((await api.post('/v3/order', order)).status, 200),
)
read(`a list of ${ORDERS} such orders`, `/v3/orders?size=${ORDERS}`)
read('a list of such orders by the names of their patients', `/v3/orders?size=${ORDERS}&order_key=patient_name`)
read('a search for the names of patients', `/v3/orders?size=${ORDERS}&patient_name=${'BBB'}`)
read('the events of such orders', '/v1/events?limit=250')
