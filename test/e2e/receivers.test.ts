// Deliveries to receivers that misbehave in every way we know of, beside a good receiver of another team.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, test } from 'node:test'
import { createTestTeam } from '../support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../support/webhook-receiver.ts'
import { faultNames, startFaultyReceivers, type FaultName } from '../support/faults/receivers.ts'
import { eventually } from '../support/eventually.ts'

const EVENTS = 12
const ATTEMPT_MS_MAX = 2000
const MIB = 1024 * 1024

/** What the log says of an attempt: its status and why there was no answer. */
const said: Record<FaultName, [number | null, RegExp | null]> = {
  'never answers': [null, /^timeout$/],
  'accepts and resets': [null, /^ECONNRESET$/],
  'endless headers': [null, /^answer header too large$/],
  'endless 1xx': [null, /^too many informational answers$/],
  'large 1xx': [null, /^answer header too large$/],
  // As much as is kept of an answer has come: it is welcome, and no more of it is read.
  'endless body': [200, null],
  'slow body': [200, /^timeout$/],
  'bad HTTP': [null, /^answer is not HTTP$/],
  redirects: [302, null],
  'closes after the request': [null, /^ECONNRESET$/],
  'huge gzip': [200, null],
  'wrong content-length': [200, /^ECONNRESET$/],
  'no TLS': [null, /^(EPROTO|ERR_SSL_.*)$/],
  'endless handshake': [null, /^timeout$/],

  'answers before reading': [500, null],
}

const openFiles = (): number => readdirSync('/dev/fd').length

const faulty = await startFaultyReceivers()
after(() => faulty.close())

test('faulty receivers do not delay other endpoints, their attempts end in time, and the attempt log has their errors', async () => {
  const [bad, good] = await Promise.all([createTestTeam(), createTestTeam()])
  const hooks = new Map<FaultName, Awaited<ReturnType<typeof endpoint>>>()
  for (const name of faultNames) hooks.set(name, await endpoint(bad, { url: faulty.url(name) }))
  const target = await receiver()
  const fine = await endpoint(good, { url: target.url })
  const delivery = delivering({ attempt_ms_max: ATTEMPT_MS_MAX, schedule_s: [0, 3600] })
  const [files, memory] = [openFiles(), process.memoryUsage.rss()]
  let [most_files, most_memory] = [files, memory]
  const delay = monitorEventLoopDelay()
  delay.enable()
  const watch = setInterval(() => {
    most_files = Math.max(most_files, openFiles())
    most_memory = Math.max(most_memory, process.memoryUsage.rss())
  }, 20)
  delivery.start()
  for (let i = 0; i < EVENTS; i++) {
    await emitEvents(bad, undefined, { objects: 'each' })
    await emitEvents(good, undefined, { objects: 'each' })
  }
  await eventually(() => target.received.length === EVENTS, 'the good receiver had everything')
  const attempted = async (id: string) => {
    const { 'pending after 0': untried = 0, ...rest } = await deliveryStates(bad, id)
    return untried === 0 && Object.values(rest).reduce((sum, n) => sum + n, 0) === EVENTS
  }
  for (const [name, { id }] of hooks) await eventually(() => attempted(id), `each message was attempted: ${name}`)
  await delivery.stop()
  clearInterval(watch)
  assert.deepEqual(await deliveryStates(good, fine.id), { 'delivered after 1': EVENTS })

  // A kept connection may break when it is used again; more than a second one is never made for an attempt.
  for (const [name, n] of Object.entries(await faulty.connections()))
    assert.ok(n >= 1 && n <= 2 * EVENTS, `${name}: ${n} connections for ${EVENTS} attempts`)
  for (const [name, hook] of hooks) {
    const { data: messages } = (await bad.manage.get(`${hook.path}/message?limit=${EVENTS}`)).body
    for (const { id } of messages) {
      const { data: attempts } = (await bad.manage.get(`${hook.path}/message/${id}/attempt`)).body
      const [status, error] = said[name]
      assert.equal(attempts.length, 1, name)
      const [one] = attempts
      assert.equal(one.response_status, status, `${name}: ${one.error}`)
      if (error) assert.match(String(one.error), error, name)
      else assert.equal(one.error, null, name)
      assert.equal(one.succeeded, status === 200 && error === null, name)
      // A timer is late by as long as the process is busy with something else.
      assert.ok(one.duration_ms < 5 * ATTEMPT_MS_MAX + delay.max / 1e6, `${name}: ${one.duration_ms} ms`)
    }
  }
  assert.ok(most_files - files < 15 * 10 + 100, `${most_files - files} more open files`)
  assert.ok(most_memory - memory < 200 * MIB, `${Math.round((most_memory - memory) / MIB)} MiB more`)
  await eventually(() => openFiles() <= files + 20, 'the connections were closed')
})
