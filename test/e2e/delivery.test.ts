// The promise of delivery: no emitted event is lost, whatever happens to those who deliver it and those who receive it. Three
// workers on one database, of which one serves too, receivers that fail at random, workers killed at random. What arrives twice is counted and said.
//
// It takes about as long as the leases of the last worker that is killed: what that one had claimed is sent by another after 30 s.
// DELIVERY_EVENTS sets how many events there are.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoIn, connectionOf, runCli, stopAll, folder, onDatabase, serving, type ServerProcess } from '../support/program.ts'

const EVENTS = Number(process.env.DELIVERY_EVENTS ?? 2000)
const PER_TRANSACTION = 50
/** Between transactions: workers are killed while events are emitted. */
const PAUSE_MS = 200
/** One for each receiver. */
const TYPES = [
  'labtest.order.created',
  'labtest.order.updated',
  'labtest.result.critical',
  'labtest.appointment.created',
  'labtest.appointment.updated',
  'provider.connection.created',
]
/** Of so many requests one is never answered. */
const SILENT_OF = 1000
const WORKERS = 3
const KILLS = 3
const WAIT_MS_MAX = 240_000

const dataDir = folder('delivery')
const closing: HttpServer[] = []
after(async () => {
  for (const server of closing) {
    server.closeAllConnections()
    server.close()
  }
  await stopAll()
})

interface Receiver {
  url: string
  type: string
  /** How often it took what it was sent, by id. */
  receipts: Map<string, number>
}

/** A receiver that refuses, resets, dawdles, keeps silent or takes what it is sent, and remembers what it took and how often. */
async function unreliableReceiver(type: string): Promise<Receiver> {
  const receipts = new Map<string, number>()
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id'])
    request.resume().on('error', () => {})
    request.on('end', () => {
      if (randomInt(SILENT_OF) === 0) return
      const chance = randomInt(100)
      if (chance < 5) return void response.writeHead(500).end('no')
      if (chance < 8) return void request.socket.destroy()
      receipts.set(id, (receipts.get(id) ?? 0) + 1)
      // Taken, but the sender does not learn of it.
      if (chance < 10) return void request.socket.destroy()
      setTimeout(() => response.end('thanks'), randomInt(30))
    })
  })
  closing.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, type, receipts }
}

test(`all of ${EVENTS} events arrive when ${WORKERS} workers are killed ${KILLS} times`, { timeout: 300_000 }, async (t) => {
  const settings = { CELLS: 'sandbox-us', WEBHOOK_SCHEDULE: `0,${Array(12).fill('0.2').join()}` }
  const server = await serving(dataDir, settings)
  const { org_id, teams, management_key, api_keys } = demoIn(dataDir)
  const receivers = await Promise.all(TYPES.map(unreliableReceiver))
  for (const { url, type } of receivers) {
    const path = `${server.url}/v1/org/${org_id}/team/${teams.us}/sandbox/webhook`
    const headers = { 'x-management-key': management_key, 'content-type': 'application/json' }
    assert.equal(
      (await fetch(path, { method: 'POST', headers, body: JSON.stringify({ url, filter_types: [type] }) })).status,
      200,
    )
  }
  const user = await fetch(`${server.url}/v2/user`, {
    method: 'POST',
    headers: { 'x-service-api-key': api_keys['sandbox-us']!, 'content-type': 'application/json' },
    body: JSON.stringify({ client_user_id: 'fictional-user' }),
  })
  const { user_id } = (await user.json()) as { user_id: string }

  const workers: ServerProcess[] = []
  const hire = async () => {
    const worker = runCli('work', { DATA_DIR: dataDir, ...settings })
    workers.push(worker)
    await worker.says(/Worker started/)
  }
  await Promise.all(Array.from({ length: WORKERS - 1 }, hire))

  const connection = { ...connectionOf(dataDir), options: '-c search_path=sandbox_us' }
  /** The types of the emitted events by message id. */
  const emitted = new Map<string, string>()
  const emitEvents = () =>
    onDatabase(connection, async (client) => {
      while (emitted.size < EVENTS) {
        const { rows } = await client.query<{ id: string; type: string }>(
          `with emitted as (
             insert into event (id, team_id, type, object_id, user_id, created_at, body)
             select gen_random_uuid(), $1, ($4::text[])[1 + n % $5::int], gen_random_uuid(), $2, clock_timestamp(), '{"event_type":"one of them"}'
             from generate_series(1, $3::int) n returning id, type),
           announced as (insert into event_outbox (team_id, event_ids) select $1, array_agg(id) from emitted)
           select id, type from emitted`,
          [teams.us, user_id, PER_TRANSACTION, TYPES, TYPES.length],
        )
        for (const { id, type } of rows) emitted.set(`msg_${id.replaceAll('-', '')}`, type)
        await sleep(PAUSE_MS)
      }
    })
  const kill = async () => {
    for (let i = 0; i < KILLS; i++) {
      await sleep(randomInt(200, 1500))
      const [victim] = workers.splice(randomInt(workers.length), 1)
      victim!.child.kill('SIGKILL')
      await Promise.all([victim!.exitStatus, hire()])
    }
  }
  const started = performance.now()
  const since = () => `${Math.round((performance.now() - started) / 100) / 10} s`
  await Promise.all([
    emitEvents().then(() => t.diagnostic(`emitted after ${since()}`)),
    kill().then(() => t.diagnostic(`last kill after ${since()}`)),
  ])

  const pending = () =>
    onDatabase(connection, async (client) => {
      const { rows } = await client.query<{ n: number }>(
        `select (select count(*) from event_outbox)::int + (select count(*) from delivery where due_at is not null)::int as n`,
      )
      return rows[0]!.n
    })
  const deadline = performance.now() + WAIT_MS_MAX
  while ((await pending()) > 0 && performance.now() < deadline) await sleep(100)
  const took = `all delivered after ${since()}`

  const states = await onDatabase(connection, (client) =>
    client.query('select state, count(*)::int as n from delivery group by 1'),
  )
  let duplicates = 0
  for (const { type, receipts } of receivers) {
    const wanted = [...emitted].filter(([, one]) => one === type).map(([id]) => id)
    assert.deepEqual(
      wanted.filter((id) => !receipts.has(id)),
      [],
      `lost: ${JSON.stringify(states.rows)}`,
    )
    assert.equal(receipts.size, wanted.length)
    for (const times of receipts.values()) duplicates += times - 1
  }
  t.diagnostic(`${emitted.size} events, ${duplicates} arrivals more than those; ${took}`)
  for (const worker of workers) {
    worker.child.kill('SIGTERM')
    assert.equal(await worker.exitStatus, 0)
  }
  assert.equal(await server.end('SIGTERM'), 0)
})
