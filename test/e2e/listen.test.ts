// `listen` and `trigger` as a developer uses them: programs of their own beside a running server.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { reasonsNotTriggerable, scenarios } from '../../src/cli/client/scenarios.ts'
import { runToEnd as endedHere } from '../support/local-command.ts'
import { demoIn, stopAll, folder, serving, start, waitUntil, type ServerProcess, type Server } from '../support/program.ts'

const dataDir = folder('listen')
const quick = { CELLS: 'sandbox-us,production-us', LOG_LEVEL: 'silent' }
const settings = { DATA_DIR: dataDir }
const [CREATED, UPDATED, CRITICAL] = ['labtest.order.created', 'labtest.order.updated', 'labtest.result.critical']

let server: Server
before(async () => {
  server = await serving(dataDir, quick)
})
after(stopAll)

const run = (...args: string[]): ServerProcess => start({ args: ['src/cli/entry.js', ...args], settings })
const awaitEnd = async (program: ServerProcess) => ({
  code: await program.exitStatus,
  stdout: program.stdout(),
  err: program.err(),
})
const trigger = async (...args: string[]) => awaitEnd(run('trigger', ...args))
/** As the program ends, within this process: for what is refused. */
const runHere = (...words: string[]) => endedHere(words, settings)

async function listening(...args: string[]): Promise<ServerProcess> {
  const program = run('listen', ...args)
  await program.says(/Listening at .*\n/)
  return program
}
const lines = ({ stdout }: ServerProcess) =>
  stdout()
    .split('\n')
    .filter((text) => /^\d{4}-/.test(text))
const stop = async (program: ServerProcess, signal: NodeJS.Signals = 'SIGINT') => {
  program.child.kill(signal)
  assert.deepEqual([await program.exitStatus, program.err()], [0, ''])
}

interface Received {
  headers: Record<string, string>
  body: string
}

/** A developer's program that takes what it is sent, unless `answer` does otherwise. */
async function developer(
  answer: (nth: number, response: ServerResponse, request: IncomingMessage) => void = (_, response) => response.end(),
) {
  const received: Received[] = []
  const program = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() })
      answer(received.length, response, request)
    })
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  after(() => {
    program.closeAllConnections()
    program.close()
  })
  return { url: `http://127.0.0.1:${(program.address() as AddressInfo).port}/hook`, received }
}
const typesOf = (requests: Received[]) => requests.map(({ body }) => JSON.parse(body).event_type)

describe('listen', () => {
  test('prints events and forwards them, signed, to a machine that has no endpoint', async () => {
    const { url, received } = await developer()
    const program = await listening('--forward-to', url)
    const secret = (await program.says(/Signing secret {2}(whsec_\S+)\n/))[1]!
    assert.deepEqual((await trigger(CRITICAL)).err, '')
    await waitUntil(() => lines(program).some((text) => text.includes(CRITICAL)) && lines(program).length === received.length)
    for (const { headers, body } of received) {
      assert.deepEqual(new Standard(secret).verify(body, headers), JSON.parse(body))
      new Svix(secret).verify(body, headers)
      assert.equal(headers['content-type'], 'application/json')
    }
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, received.length)
    const { data } = JSON.parse(received[0]!.body)
    assert.match(
      lines(program)[0]!,
      new RegExp(`^${data.created_at.replace('+', '\\+')}  ${CREATED}  ${data.id}  HTTP 200 in \\d+ ms$`),
    )
    const statuses = received.flatMap(({ body }) => JSON.parse(body).data.last_event?.id ?? [])
    assert.deepEqual(
      statuses,
      statuses.toSorted((a, b) => a - b),
    )
    for (const word of ['Testa', 'Fictional', '1990', 'Sample', '5550100', 'testa@'])
      assert(!program.stdout().includes(word), word)
    await stop(program)
  })

  test('accepts a list of types and a secret, and prints events without forwarding', async () => {
    const { url, received } = await developer()
    const secret = Buffer.alloc(24, 'fictional').toString('base64')
    const program = await listening('--forward-to', url, '--events', `${CRITICAL},${CREATED}`, '--secret', secret)
    const printing = await listening('--events', UPDATED, '--print-payload')
    assert.deepEqual((await trigger(CRITICAL)).err, '')
    await waitUntil(() => received.length === 2)
    assert.deepEqual(typesOf(received).sort(), [CREATED, CRITICAL])
    for (const { body, headers } of received) new Standard(secret).verify(body, headers)
    await waitUntil(() => lines(printing).length > 2)
    assert(lines(printing).every((text) => text.includes(`  ${UPDATED}  `)))
    assert.doesNotMatch(printing.stdout(), /whsec_|HTTP/)
    assert.match(printing.stdout(), /^\{\n {2}"event_type": "labtest\.order\.updated",$/m)
    await stop(program)
    await stop(printing, 'SIGTERM')
  })

  test('retries a rejected event, keeps the order, and continues after it abandons an event', async () => {
    const { url, received } = await developer((nth, response, request) => {
      if (nth === 1) return void response.writeHead(500).end()
      if (nth === 2) return void request.socket.destroy()
      if (nth >= 4 && nth <= 7) return void response.writeHead(302, { location: '/elsewhere' }).end()
      response.end()
    })
    const program = await listening('--forward-to', url, '--events', CREATED)
    const lines: string[] = []
    for (let i = 0; i < 3; i++) {
      const { stdout } = await trigger(CREATED)
      lines.push(stdout.split(/\s+/)[2]!)
    }
    await waitUntil(() => received.length === 8)
    const ids = received.map(({ body }) => JSON.parse(body).data.id)
    const [first, second, third] = lines
    assert.deepEqual(ids, [first, first, first, second, second, second, second, third])
    assert.equal(new Set(received.map(({ headers }) => headers['svix-id'])).size, 3)
    await program.says(
      new RegExp(`${first}  HTTP 500, retrying in 0.5 s\n.*${first}  \\S+, retrying in 2 s\n.*${first}  HTTP 200 in`),
    )
    await program.says(new RegExp(`${second}  HTTP 302, giving up\n.*${third}  HTTP 200`))
    await stop(program)
  })

  test('resumes from its cursor after a server restart on another port', async () => {
    const { url, received } = await developer()
    const program = await listening('--forward-to', url, '--events', CREATED)
    await trigger(CREATED)
    await waitUntil(() => received.length === 1)
    assert.equal(await server.end('SIGTERM'), 0)
    await program.says(/Server unreachable/)
    const before = server.url
    server = await serving(dataDir, quick)
    assert.notEqual(server.url, before)
    await trigger(CREATED)
    await waitUntil(() => received.length === 2)
    await program.says(/Reconnected/)
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 2)
    await stop(program)
  })

  test('loses no event if it or the server is killed; a repeated event has the same id', async () => {
    const { url, received } = await developer()
    const program = await listening('--forward-to', url, '--events', CREATED)
    const playing = trigger(CREATED)
    await waitUntil(() => received.length === 1)
    await playing
    assert.equal(await server.end('SIGKILL'), 'SIGKILL')
    server = await serving(dataDir, quick)
    await trigger(CREATED)
    await waitUntil(() => new Set(received.map(({ headers }) => headers['webhook-id'])).size === 2)
    await stop(program)
  })

  test('exits with an error message for invalid input', async () => {
    const key = demoIn(dataDir).api_keys['sandbox-us']!
    const refused: [string[], number, RegExp][] = [
      [['--events', 'nothing'], 2, /^drawbridge: Unrecognized event type nothing\. /],
      [['--forward-to', 'localhost:3000'], 2, /^drawbridge: --forward-to must be an http or https URL/],
      [['--secret', 'swordfish'], 2, /^drawbridge: --secret must be 24 to 75 bytes/],
      [['--cell', 'moon'], 2, /^drawbridge: --cell must be one of/],
      [['--cell', 'sandbox-us', '--key', key], 2, /^drawbridge: --cell cannot be combined with --key/],
      [['--url', 'elsewhere'], 2, /^drawbridge: --url must start with/],
      [['--unknown'], 2, /^drawbridge: Unknown option/],
      [['--key', `${key}x`], 1, /^drawbridge: The server at \S+ rejected the request: 401 The API key is not valid\n$/],
      [['--url', `${server.url}/elsewhere`], 1, /^drawbridge: The server at \S+ rejected the request: 404 Not Found\n$/],
    ]
    for (const [words, expected, sentence] of refused) {
      // What is wrong with the words is said before a server is asked.
      const { code, stdout, err } = await (expected === 2 ? runHere('listen', ...words) : awaitEnd(run('listen', ...words)))
      assert.deepEqual([code, stdout], [expected, ''], words.join(' '))
      assert.match(err, sentence)
      assert(!err.includes(key) && !err.includes('swordfish'))
    }
    const nowhere = start({ args: ['src/cli/entry.js', 'listen'], settings: { DATA_DIR: folder('nowhere') } })
    assert.equal(await nowhere.exitStatus, 1)
    assert.match(nowhere.err(), /^drawbridge: No demo data found in DATA_DIR\./)
  })

  test('reads the server and the key from the environment', async () => {
    const env = { DRAWBRIDGE_URL: server.url, DRAWBRIDGE_KEY: demoIn(dataDir).api_keys['production-us']! }
    const program = start({ args: ['src/cli/entry.js', 'listen'], settings: env })
    await program.says(/Listening at/)
    await stop(program)
  })
})

describe('trigger', () => {
  // What each type causes: src/cli/client/trigger.test.ts.
  test('triggers an event of the demo team and prints the events', async () => {
    const { code, stdout, err } = await trigger(UPDATED)
    assert.deepEqual([code, err], [0, ''])
    const lines = stdout.trim().split('\n')
    assert(lines.some((text) => text.includes(`  ${UPDATED}  `)))
    const [, , about] = lines[0]!.split(/\s+/)
    const key = demoIn(dataDir).api_keys['sandbox-us']!
    const order = await fetch(`${server.url}/v3/order/${about}`, { headers: { 'x-service-api-key': key } })
    const { events } = (await order.json()) as { events: { status: string }[] }
    assert(events.some((event) => event.status.startsWith(`${scenarios[UPDATED]!.finalStatus}.`)))
  })

  test('lists the event types that can be triggered', async () => {
    const { code, stdout } = await runHere('trigger', '--list')
    assert.equal(code, 0)
    const typesIn = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0])
    const [caused, others] = stdout.split('\n\nThese cannot be triggered:\n')
    assert.deepEqual([typesIn(caused!), typesIn(others!)], [Object.keys(scenarios), Object.keys(reasonsNotTriggerable)])
  })

  test('reports unsupported event types and changes nothing', async () => {
    const type = Object.keys(reasonsNotTriggerable)[0]!
    const { code, stdout, err } = await runHere('trigger', type)
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(err, `drawbridge: Event type ${type} cannot be triggered: ${reasonsNotTriggerable[type]}.\n`)
  })

  test('rejects unknown types and production keys', async () => {
    assert.deepEqual(await runHere('trigger', 'nothing'), {
      code: 2,
      stdout: '',
      err: 'drawbridge: Unrecognized event type nothing; "bin/drawbridge trigger --list" lists them. See "bin/drawbridge trigger --help".\n',
    })
    assert.equal((await runHere('trigger')).code, 2)
    const { code, stdout, err } = await trigger(CREATED, '--cell', 'production-us')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(err, /belongs to a production cell/)
    const { code: unknown } = await runHere('trigger', CREATED, '--key', 'sk_us_nothing')
    assert.equal(unknown, 1)
  })
})
