// The program whose disks are full: first the one of its data, then the one of the write-ahead log. Both are real.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { globSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { examplePdf } from '../../src/lab/fulfillment/schema.ts'
import { freePort } from '../support/free-ports.ts'
import { messageFor, observation, observedTest, profile, toBytes } from '../support/link-messages.ts'
import { openMllpSocket } from '../support/mllp-socket.ts'
import { address, patient, shipping } from '../support/people.ts'
import { createDemoLink } from '../support/program-links.ts'
import {
  caller,
  connectionOf,
  demoIn,
  migratedFolder,
  stopAll,
  onDatabase,
  outcome,
  serving,
  waitUntil,
  type Reply,
  type Server,
} from '../support/program.ts'
import { smallDisk, type SmallDisk } from '../support/faults/small-disk.ts'

/** Both hold a new installation and some room; the log takes a file of 16 MB after the other. */
const DATA_MIB = 192
const LOG_MIB = 128
/** Never reached: the disk is full long before. */
const WRITES_MAX = 5000
const CONCURRENT = 4
/** So many of each kind are refused before the test has seen enough. */
const REFUSALS = 3

const LAB_PORT = await freePort()
const settings = {
  LAB_LISTEN: `127.0.0.1:${LAB_PORT}`,
  CELLS: 'sandbox-us',
  DEMO: 'on',
  LOG_LEVEL: 'error',
  REQUESTS_PER_SECOND: '0',
  SANDBOX_USERS_MAX: '0',
}
/** For a server whose disk of the log is full. */
const END_MS_MAX = 90_000
/** For one call to a PostgreSQL that may have gone silent. */
const CALL_MS_MAX = 10_000
const NO_ROOM = 'The database is out of disk space, memory or connections'

after(stopAll)

const superuserPassword = (dataDir: string) => readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim()

interface Disks {
  data: SmallDisk
  log: SmallDisk
}

/** A data folder on a disk of its own, with the write-ahead log on another one; or why there cannot be one. */
async function installation(): Promise<Disks | string> {
  const data = smallDisk('data', DATA_MIB)
  if (typeof data === 'string') return data
  const log = smallDisk('log', LOG_MIB)
  if (typeof log === 'string') return log
  await migratedFolder(data.folder, settings)
  const [wal, moved] = [join(data.folder, 'postgres/pg_wal'), join(log.folder, 'pg_wal')]
  // Its files stay those of PostgreSQL's account.
  assert.equal(spawnSync('cp', ['--archive', wal, moved]).status, 0)
  rmSync(wal, { recursive: true })
  symlinkSync(moved, wal)
  return { data, log }
}

/** What the endpoint has received: ids of orders. */
const emitted = new Set<string>()
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    emitted.add((JSON.parse(body) as { data: { id: string } }).data.id)
    response.end()
  })
})
before(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
after(() => {
  receiver.closeAllConnections()
  receiver.close()
})

/** Writes to a server and reads its data. */
function clientOf({ url, dataDir }: Server) {
  const { api_keys, management_key, org_id, teams } = demoIn(dataDir)
  const keys = { 'x-service-api-key': api_keys['sandbox-us']!, 'x-management-key': management_key }
  const call = (method: string, path: string, body?: unknown) => caller(url).call(method, path, body, keys)
  return {
    get: (path: string) => call('GET', path),
    post: (path: string, body: unknown) => call('POST', path, body),
    patch: (path: string, body: unknown) => call('PATCH', path, body),
    file: async (path: string) => {
      const reply = await fetch(`${url}${path}`, { headers: keys })
      return { status: reply.status, bytes: Buffer.from(await reply.arrayBuffer()) }
    },
    databases: () => caller(url).get('/databases'),
    team: `/v1/org/${org_id}/team/${teams.us}`,
    hooks: `/v1/org/${org_id}/team/${teams.us}/sandbox/webhook`,
  }
}
type Client = ReturnType<typeof clientOf>

/** What was answered with 200, by the path that shows it. */
const acknowledged = new Map<string, unknown>()
const orders = () => [...acknowledged.keys()].flatMap((path) => /^\/v3\/order\/(.*)/.exec(path)?.[1] ?? [])

/** Writes of every kind; each keeps what was answered. */
function listWrites(client: Client, scene: { user_id: string; lab_test_id: string }): (() => Promise<Reply>)[] {
  const { user_id } = scene
  const order = async (path: string, overrides: object) => {
    const reply = await client.post(path, { ...scene, passthrough: randomUUID(), ...overrides })
    if (reply.status === 200) acknowledged.set(`/v3/order/${reply.body.order.id}`, reply.body.order)
    return reply
  }
  let last = ''
  return [
    () => order('/v3/order', { patient_details: patient, patient_address: address }),
    () => order('/v3/order/testkit', { shipping_details: shipping }),
    async () => {
      const client_user_id = randomUUID()
      const reply = await client.post('/v2/user', { client_user_id })
      if (reply.status === 200) acknowledged.set(`/v2/user/resolve/${(last = client_user_id)}`, reply.body.user_id)
      return reply
    },
    () =>
      client.patch(`/v2/user/${user_id}/info`, {
        ...patient,
        address: { ...address, first_line: `${orders().length} Sample Way` },
      }),
    () => client.post(client.hooks, { url: `https://hooks.example.com/${last}`, disabled: true }),
    () => client.patch(client.team, { name: `Team ${randomUUID()}` }),
  ]
}

/** Pages that are left for messages: room for some of these with their documents, and not for all. */
const PAGES_LEFT = 700
const LAB_RESULTS = 4

/** A PDF that cannot be compressed. */
function createPdf(): Buffer {
  const pdf = Buffer.from(examplePdf, 'base64')
  const end = pdf
    .toString('latin1')
    .replace(/startxref\s+(\d+)/u, (_, offset: string) => `startxref\n${Number(offset) + FILLING + 2}`)
  const filling = Buffer.from(randomBytes(FILLING / 2).toString('hex'))
  const start = pdf.indexOf('\n') + 1
  return Buffer.concat([
    pdf.subarray(0, start),
    Buffer.from('%'),
    filling,
    Buffer.from('\n'),
    Buffer.from(end, 'latin1').subarray(start),
  ])
}
const FILLING = 800_000

/** Results with documents for orders under an account with a link, as a laboratory sends them. */
async function prepareResults(client: Client, dataDir: string, user_id: string) {
  const listener = { port: LAB_PORT, tls: false, addresses: ['127.0.0.1'] }
  const lab_account_id = await createDemoLink(dataDir, { ...profile, transport: { results: 'mllp', listener } })
  const tests = (await client.get('/v3/lab_tests?collection_method=walk_in_test')).body
  const lab_test_id = tests.find(({ lab }: { lab: { slug: string } }) => lab.slug === 'quest').id
  const body = { user_id, lab_test_id, lab_account_id, patient_details: patient, patient_address: address }
  const results = []
  for (let i = 0; i < LAB_RESULTS; i++) {
    const { id } = (await client.post('/v3/order', body)).body.order
    await client.post(`/v3/order/${id}/test?final_status=received.walk_in_test.requisition_created`, undefined)
    await waitUntil(async () => (await client.get(`/v3/order/${id}`)).body.last_event.status.endsWith('requisition_created'))
    const pdf = createPdf()
    const document = { code: 'DOC', name: 'Report', type: 'PDF', content: pdf.toString('base64') }
    const reported = {
      first_name: patient.first_name,
      last_name: patient.last_name,
      dob: patient.dob.replaceAll('-', ''),
      gender: patient.gender,
    }
    const message = messageFor(
      (await client.get(`/v3/order/${id}`)).body,
      [observedTest({ code: 'GLU', observations: [observation('GLU', `${i + 1}`)] })],
      { patient: reported, documents: [document] },
    )
    results.push({ id, pdf, bytes: toBytes(message), control_id: message.control_id })
  }
  return results
}

/** Sends a message to the server. @returns whether it was acknowledged */
async function sendMessage(bytes: Buffer): Promise<boolean> {
  const socket = await openMllpSocket({ port: LAB_PORT })
  await socket.send(bytes)
  const [answer] = await socket.next()
  socket.socket.destroy()
  return answer?.includes('\rMSA|AA|') === true
}

/** Everything that was acknowledged is there, as it was answered. */
async function assertKept(client: Client): Promise<void> {
  for (const [path, body] of acknowledged) {
    const found = await client.get(path)
    assert.equal(found.status, 200, path)
    if (path.startsWith('/v3/order/')) assert.deepEqual(found.body, body)
    else assert.equal(found.body.user_id, body)
  }
}

/** Sends each of the writes again and again, several at once, as long as `goes` says so. */
async function load(
  writes: readonly (() => Promise<Reply>)[],
  goes: (index: number) => boolean,
  onReply: (index: number, reply: Reply) => void,
) {
  let count = 0
  const sender = async () => {
    while (count < WRITES_MAX) {
      const at = count++ % writes.length
      if (goes(at)) onReply(at, await writes[at]!())
      else if (!writes.some((_, index) => goes(index))) return
    }
    throw new Error(`${WRITES_MAX} requests were not enough`)
  }
  await Promise.all(Array.from({ length: CONCURRENT }, sender))
}

/** With a sentence, and soon: whatever starts it again does so. */
async function assertStartFails(dataDir: string, how: RegExp): Promise<void> {
  const { code, stdout, err } = await outcome('start', { ...settings, DATA_DIR: dataDir, PORT: '0' })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(err, how)
}

test('full disks', { timeout: 240_000 }, async (t) => {
  const disks = await installation()
  if (typeof disks === 'string') {
    assert.notEqual(process.env.CI_FULL_DISK, 'required', disks)
    return t.skip(disks)
  }
  const { data, log } = disks
  let server = await serving(data.folder, settings)
  let client = clientOf(server)
  const { user_id } = (await client.post('/v2/user', { client_user_id: 'full disk' })).body
  const lab_test_id = (await client.get('/v3/lab_tests?collection_method=testkit')).body[0].id as string
  const { port } = receiver.address() as AddressInfo
  assert.equal((await client.post(client.hooks, { url: `http://127.0.0.1:${port}/` })).status, 200)
  const writesNow = () => listWrites(client, { user_id, lab_test_id })
  const assertTakesEverything = async () => {
    for (const write of writesNow()) {
      const { status, body } = await write()
      assert.equal(status, 200, JSON.stringify(body))
    }
    await waitUntil(() => orders().every((id) => emitted.has(id)))
  }
  await assertTakesEverything()

  await t.test(
    'while the disk of the data is full, writes are refused with 503 and reads go on; with room all goes on',
    async (t) => {
      data.fill()
      const writes = writesNow()
      const refused = writes.map(() => 0)
      let answered = 0
      await load(
        writes,
        (index) => refused[index]! < REFUSALS,
        (index, { status, body }) => {
          // What fits into pages that are there is still taken.
          if (status === 200) return void answered++
          assert.deepEqual([status, body], [503, { detail: `${NO_ROOM}, try again later` }])
          refused[index]!++
        },
      )
      t.diagnostic(`${answered} answered after the disk was full`)
      await waitUntil(async () => (await client.databases()).status === 503)
      assert(Object.values((await client.databases()).body).includes(NO_ROOM))
      await assertKept(client)
      assert.equal((await client.get('/v3/orders')).status, 200)

      data.clear()
      await waitUntil(async () => (await client.databases()).status === 200)
      await assertTakesEverything()
      await assertKept(client)
    },
  )

  await t.test(
    'while the disk of the data is full, a result of a laboratory is acknowledged only when it is stored; with room all have their documents',
    async (t) => {
      const results = await prepareResults(client, data.folder, user_id)
      data.fill(PAGES_LEFT)
      const unacknowledged = []
      for (const result of results) if (!(await sendMessage(result.bytes))) unacknowledged.push(result)
      const isReported = async ({ id }: (typeof results)[number]) => (await client.get(`/v3/order/${id}/result`)).status === 200
      const reported = await Promise.all(results.map(isReported))
      t.diagnostic(
        `${unacknowledged.length} of ${results.length} not acknowledged, ${reported.filter(Boolean).length} in the result of their order`,
      )
      assert.notEqual(unacknowledged.length, 0)
      const has = async ({ id, pdf }: (typeof results)[number]) => {
        const { status, bytes } = await client.file(`/v3/order/${id}/result/pdf`)
        return status === 200 && bytes.equals(pdf)
      }
      for (const result of unacknowledged) assert.equal(await isReported(result), false)
      data.clear()
      for (const { bytes } of unacknowledged) await waitUntil(() => sendMessage(bytes))
      for (const result of results) await waitUntil(() => has(result))
      const ids = results.map(({ control_id }) => control_id)
      // The state of a message is written after its result.
      await waitUntil(async () => {
        const open = "select from sandbox_us.lab_message where control_id = any ($1) and state <> 'applied'"
        return onDatabase(connectionOf(data.folder), async (database) => (await database.query(open, [ids])).rowCount === 0)
      })
    },
  )

  await t.test(
    'when the disk of the write-ahead log is full, the server ends with 1, and has everything when it starts again',
    async () => {
      log.fill()
      const ended = load(
        writesNow(),
        () => server.child.exitCode === null && server.child.signalCode === null,
        (_, { status }) => assert.ok(status === 200 || status === 503, `HTTP ${status}`),
      ).catch((error: unknown) => {
        // A server that ends resets what it was asked.
        if (!(error instanceof TypeError)) throw error
      })
      const superuser = {
        ...connectionOf(data.folder),
        user: 'postgres',
        password: superuserPassword(data.folder),
        connectionTimeoutMillis: CALL_MS_MAX,
        query_timeout: CALL_MS_MAX,
      }
      // As far as files of the log were made beforehand, and again if PostgreSQL recovered and found files that it could use again.
      const goes = () => server.child.exitCode === null && server.child.signalCode === null
      const until = Date.now() + END_MS_MAX
      while (goes()) {
        assert.ok(Date.now() < until, `the server goes on ${END_MS_MAX / 1000} s after the disk of the log was full`)
        await onDatabase(superuser, async (client) => {
          while (goes() && Date.now() < until) await client.query('select pg_switch_wal()')
        }).catch(() => undefined)
        await sleep(20)
      }
      assert.equal(await server.exitStatus, 1)
      await ended
      assert.deepEqual(server.sentences(), [`PostgreSQL on ${server.dataDir} has ended unexpectedly.`])
      await assertStartFails(data.folder, /^drawbridge: PostgreSQL failed to start: .*No space left on device/m)

      log.clear()
      server = await serving(data.folder, settings)
      client = clientOf(server)
      await assertKept(client)
      await assertTakesEverything()
      assert.equal(await server.end('SIGTERM'), 0)
    },
  )

  await t.test('a start ends with 1 and says why while the disk of the data is full', async () => {
    // PostgreSQL makes them again before it lets the first one in.
    for (const file of globSync('postgres/{global,base/*}/pg_internal.init', { cwd: data.folder }))
      rmSync(join(data.folder, file))
    data.fill()
    await assertStartFails(data.folder, /^drawbridge: The file .*server\.lock cannot be locked, since its disk is full/m)
    data.clear()
    // It is on the same disk; what this start adds to it fits into one page.
    truncateSync(join(data.folder, 'postgres.log'))
    data.fill(16)
    await assertStartFails(
      data.folder,
      /^drawbridge: PostgreSQL failed to start: (could not write init file: No space left on device|.*is its disk full\?)/m,
    )
  })
})
