// `@drawbridge-server/testing` as tests of other programs use it: it starts a server, and each test has a team.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { toSeconds } from '../../src/testing/durations.ts'
import { Drawbridge, DrawbridgeError, type TestTeam } from '../../src/testing/index.ts'
import { folder, migrateDataDir, stopAll } from '../support/program.ts'

const COMPLETED = 'completed.walk_in_test.completed'
let drawbridge: Drawbridge

before(async () => {
  // As of a program under test, which has a database of its own.
  process.env.DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none'
  drawbridge = await Drawbridge.start({ dataDir: migrateDataDir(folder('testing')), settings: { WEBHOOK_SCHEDULE: '0,0,0' } })
  delete process.env.DATABASE_URL
})
after(async () => {
  await drawbridge?.stop()
  await stopAll()
})

/** An order of a blood draw. @returns its id */
async function orderDraw(team: TestTeam, client_user_id = 'patient-1'): Promise<string> {
  const { user_id } = await team.post('/v2/user', { client_user_id })
  const [lab_test] = await team.get('/v3/lab_tests?collection_method=walk_in_test')
  const { order } = await team.post('/v3/order', {
    user_id,
    lab_test_id: lab_test.id,
    patient_details: {
      first_name: 'Testa',
      last_name: 'Fictional',
      dob: '1990-01-31',
      gender: 'female',
      phone_number: '+15550100199',
      email: 'testa@example.com',
    },
    patient_address: { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
  })
  return order.id as string
}

const hasStatus = (status: string) => (event: { body: { data: { last_event: { status: string } } } }) =>
  event.body.data.last_event.status === status

describe('durations', () => {
  test('are numbers of seconds, or numbers with units', () => {
    assert.deepEqual(
      [90, '2 days', '1 hour', '1 hour 30 minutes', '1 week  1 second', '5minutes'].map(toSeconds),
      [90, 172_800, 3600, 5400, 604_801, 300],
    )
  })

  test('of nothing, backwards, or in other words are refused', () => {
    for (const wrong of ['', '2', 'two days', '2 months', '-1 day', '1 day and', '1 dayx', 0, -5, 0.5, Number.NaN])
      assert.throws(() => toSeconds(wrong), /must be a positive number of seconds/, String(wrong))
  })
})

describe('a team of a test', () => {
  test('has users, a key and a time that no other team has', async () => {
    const [one, other] = await Promise.all([drawbridge.createTeam(), drawbridge.createTeam({ name: 'Other' })])
    const { user_id } = await one.post('/v2/user', { client_user_id: 'patient-1' })
    assert.equal((await one.fetch(`/v2/user/${user_id}`)).status, 200)
    assert.equal((await other.fetch(`/v2/user/${user_id}`)).status, 404)
    const [before, unmoved] = [await one.currentTime(), await other.currentTime()]
    const arrived = await one.advance('2 days')
    assert(arrived.getTime() - before.getTime() >= 172_800_000)
    assert((await other.currentTime()).getTime() - unmoved.getTime() < 86_400_000)
    assert((await one.currentTime()).getTime() >= arrived.getTime())
  })

  test('finishes an order while its clock moves, and finds the events of it in order', async () => {
    const team = await drawbridge.createTeam()
    const id = await orderDraw(team)
    await team.post(`/v3/order/${id}/test?delay=3600`)
    await team.advance('1 day 12 hours')
    const completed = await team.waitForEvent('labtest.order.updated', hasStatus(COMPLETED))
    assert.equal(completed.object_id, id)
    assert.equal(completed.body.team_id, team.id)
    const created = await team.waitForEvent('labtest.order.created')
    assert(team.events.indexOf(created) < team.events.indexOf(completed))
    const updated = await team.waitForEvent('labtest.order.updated', undefined, { after: created })
    const next = await team.waitForEvent('labtest.order.updated', undefined, { after: updated })
    assert.notEqual(next.id, updated.id)
    assert((await team.get(`/v3/order/${id}/result`)).results.length > 0)
  })

  test('says which events have occurred if the one that a test waits for does not', async () => {
    const team = await drawbridge.createTeam()
    await orderDraw(team)
    await team.waitForEvent('labtest.order.created')
    const both = await Promise.allSettled([
      team.waitForEvent('labtest.result.critical', undefined, { timeout: 50 }),
      team.waitForEvent('labtest.order.created', () => false, { timeout: 80 }),
    ])
    assert.match(
      String(both[0].status === 'rejected' && both[0].reason),
      /No labtest\.result\.critical .* within 50 ms\. Types .*: labtest\.order\.created/,
    )
    assert.match(String(both[1].status === 'rejected' && both[1].reason), /No labtest\.order\.created .* within 80 ms/)
    // The request that both shared was aborted with them; the next one goes on where it began.
    const first = team.events.at(-1)!
    const again = team.waitForEvent('labtest.order.created', undefined, { after: first })
    const id = await orderDraw(team, 'patient-2')
    assert.equal((await again).object_id, id)
  })

  test('is new again after a reset, and unknown after its deletion', async () => {
    const team = await drawbridge.createTeam()
    const { id, apiKey } = team
    await team.post('/v2/user', { client_user_id: 'patient-1' })
    await team.advance('30 days')
    const receiver = await team.createReceiver()
    await team.reset()
    assert(team.id !== id && team.apiKey !== apiKey)
    assert.equal((await team.get('/v2/user')).total, 0)
    assert((await team.currentTime()).getTime() < (await (await drawbridge.createTeam()).currentTime()).getTime() + 60_000)
    await assert.rejects(fetch(receiver.url), 'its receivers are closed')
    await team.delete()
    await team.delete()
    await assert.rejects(team.get('/v2/user'), (error) => error instanceof DrawbridgeError && error.status === 401)
  })
})

describe('a receiver', () => {
  test('keeps deliveries with a signature, sees a failed one again, and rejects all others', async () => {
    const team = await drawbridge.createTeam()
    const receiver = await team.createReceiver({ types: ['labtest.order.created'] })
    receiver.answerNext(500)
    const id = await orderDraw(team)
    const { body, headers } = await receiver.waitFor('labtest.order.created', (delivery) => delivery.body.data.id === id)
    assert.equal(body.team_id, team.id)
    assert.match(headers['svix-signature']!, /^v1,/)
    assert.deepEqual(
      receiver.deliveries.map(({ status }) => status),
      [500, 204],
    )
    assert.equal(new Set(receiver.deliveries.map((delivery) => delivery.id)).size, 1, 'both are attempts of one message')

    const send = async (changes: Record<string, string>, text = JSON.stringify(body)) =>
      (await fetch(receiver.url, { method: 'POST', body: text, headers: { ...signed, ...changes } })).status
    const signed = Object.fromEntries(['svix-id', 'svix-timestamp', 'svix-signature'].map((name) => [name, headers[name]!]))
    const original = JSON.stringify(body)
    assert.equal(await send({}, `${original} `), 401, 'another body')
    assert.equal(await send({ 'svix-id': 'msg_other' }), 401, 'another id')
    assert.equal(await send({ 'svix-timestamp': '1' }), 401, 'an old timestamp')
    assert.equal(await send({ 'svix-signature': 'v1,AAAA' }), 401)
    assert.equal((await fetch(receiver.url, { method: 'POST', body: original })).status, 401, 'no signature')
    assert.equal(receiver.rejected, 5)
    await assert.rejects(
      receiver.waitFor('labtest.result.critical', undefined, { timeout: 20 }),
      /Received: labtest\.order\.created\. Rejected requests: 5/,
    )

    await receiver.close()
    await assert.rejects(fetch(receiver.url))
    assert.equal((await team.createReceiver()).deliveries.length, 0)
    await team.delete()
  })
})

describe('connecting', () => {
  test('to a server that runs needs its address, its organization and a key that it accepts', async () => {
    const { url, orgId, managementKey } = drawbridge
    const connected = await Drawbridge.connect({ url: `${url}/`, orgId, managementKey })
    const team = await connected.createTeam()
    assert.equal((await team.fetch('/v2/user')).status, 200)
    await connected.stop()
    assert.equal((await team.fetch('/v2/user')).status, 200, 'it ends only what it has started')
    await assert.rejects(Drawbridge.connect({ url, orgId }), /needs url, managementKey and orgId/)
    const wrong = Drawbridge.connect({ url, orgId, managementKey: `${managementKey}x` })
    await assert.rejects(wrong, (error) => error instanceof DrawbridgeError && error.status === 401)
    await assert.rejects(Drawbridge.connect({ dataDir: folder('nothing') }), /no server with demo data/)
  })

  test('reports the output of a server that cannot start', async () => {
    const port = Number(new URL(drawbridge.url).port)
    await assert.rejects(Drawbridge.start({ dataDir: folder('busy'), port }), /ended with 1 before it was ready\.\n.*port/s)
  })
})
