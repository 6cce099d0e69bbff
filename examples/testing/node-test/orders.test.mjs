// Runs with `node --test`, on Node 20 or newer. Each test has a team: its own data, clock and key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { JunctionClient } from '@junction-api/sdk'
import { Drawbridge } from '@drawbridge-server/testing'

let drawbridge
before(async () => {
  // A server that runs already, or one that ends with these tests.
  drawbridge = process.env.DRAWBRIDGE_URL ? await Drawbridge.connect() : await Drawbridge.start()
})
after(() => drawbridge?.stop())

const address = { firstLine: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
const patient = {
  firstName: 'Testa',
  lastName: 'Fictional',
  dob: '1990-01-31',
  gender: 'female',
  phoneNumber: '+15550100199',
  email: 'testa@example.com',
}

async function orderDraw(client) {
  const { userId } = await client.user.create({ clientUserId: 'patient-1' })
  const [labTest] = await client.labTests.get({ collectionMethod: 'walk_in_test' })
  const { order } = await client.labTests.createOrder({
    userId,
    labTestId: labTest.id,
    patientDetails: patient,
    patientAddress: address,
  })
  return order.id
}

test('a blood draw has results after a day and a half', async () => {
  const team = await drawbridge.createTeam()
  const client = new JunctionClient({ apiKey: team.apiKey, environment: team.url })
  const orderId = await orderDraw(client)

  // One step of the order each hour of the team's clock.
  await team.post(`/v3/order/${orderId}/test?delay=3600`)
  await team.advance('1 day 12 hours')

  const order = await client.labTests.getOrder({ orderId })
  assert.equal(order.lastEvent.status, 'completed.walk_in_test.completed')
  const { results } = await client.labTests.getResultRaw({ orderId })
  assert(results.length > 0)
  await team.delete()
})

test('the webhook of a result arrives with a valid signature, again after an error', async () => {
  const team = await drawbridge.createTeam()
  const client = new JunctionClient({ apiKey: team.apiKey, environment: team.url })
  const receiver = await team.createReceiver({ types: ['labtest.order.created'] })
  receiver.answerNext(500)

  const orderId = await orderDraw(client)

  // The second attempt comes after five seconds.
  const delivery = await receiver.waitFor('labtest.order.created', ({ body }) => body.data.id === orderId, { timeout: 30_000 })
  assert.equal(delivery.body.team_id, team.id)
  assert.equal(receiver.deliveries.length, 2)
  await team.delete()
})

test('an event can be waited for without a receiver', async () => {
  const team = await drawbridge.createTeam()
  const client = new JunctionClient({ apiKey: team.apiKey, environment: team.url })
  const orderId = await orderDraw(client)
  await client.labTests.cancelOrder({ orderId })
  await team.waitForEvent('labtest.order.updated', ({ body }) => body.data.last_event.status.startsWith('cancelled.'))
  await team.delete()
})
