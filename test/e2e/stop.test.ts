// How the program ends: in order after one or more signals from any sender; the processes that it started end with it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  listening,
  migrateDataDir,
  postmastersOn,
  serving,
  signalGroup,
  start,
  waitUntil,
  type ServerProcess,
  type Server,
} from '../support/program.ts'

after(stopAll)

/** How a server ends does not depend on how many cells it has. */
const CELLS = 'sandbox-us'
/** How often a server is stopped under load. */
const STOP_ROUNDS = Number(process.env.STOP_ROUNDS ?? 1)

/** A connection on which a test says what it likes, when it likes. */
async function conversation(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  let heard = ''
  socket.setEncoding('utf8').on('data', (text) => (heard += text))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return { say: (text: string) => socket.write(text), heard: () => heard, closed, socket }
}

/** A request whose body has come halfway. The server has said that it waits for it. */
async function halfway({ url, dataDir }: Server, client_user_id: string) {
  const { say, heard, closed, socket } = await conversation(url)
  const body = JSON.stringify({ client_user_id })
  const key = demoIn(dataDir).api_keys['sandbox-us']
  const headers = ['Host: localhost', `X-Service-Api-Key: ${key}`, `Content-Length: ${body.length}`, 'Expect: 100-continue']
  say(`POST /v2/user HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  await waitUntil(() => heard().includes('100 Continue'))
  say(body.slice(0, 9))
  return {
    async finish(): Promise<string> {
      say(body.slice(9))
      await waitUntil(() => /\r\n\r\n\{.*\}$/.test(heard()) || socket.destroyed)
      return heard()
    },
    closed,
  }
}

const refuses = async ({ url }: Server): Promise<boolean> => {
  const attempt = await conversation(url).catch(() => undefined)
  attempt?.socket.destroy()
  return attempt === undefined
}

/** Asks with a connection that is used again. `refused`: no connection could be made; `reset`: it ended instead of answering. */
function awaitAnswer(agent: Agent, address: string, key: string): Promise<'answered' | 'reset' | 'refused'> {
  return new Promise((resolve) => {
    const asked = get(address, { agent, headers: { 'x-service-api-key': key } }, (response) => {
      response.resume().on('end', () => resolve('answered'))
      response.on('error', () => resolve('reset'))
    })
    asked.on('error', (error) => resolve((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'reset'))
  })
}

/** Waits for the end, and fails when it does not come. */
async function endOf({ exitStatus }: ServerProcess): Promise<number | NodeJS.Signals> {
  const patience = new AbortController()
  const end = await Promise.race([exitStatus, sleep(50_000, 'did not end' as const, { signal: patience.signal })])
  patience.abort()
  assert.notEqual(end, 'did not end')
  return end as number | NodeJS.Signals
}

/** Nothing of a server is left: neither process nor database nor port. */
async function assertGone(server: Server): Promise<void> {
  assert.deepEqual(postmastersOn(server.dataDir), [])
  assert.ok(await refuses(server))
  assert.match(readFileSync(join(server.dataDir, 'postgres.log'), 'utf8').trimEnd(), /database system is shut down$/)
}

describe('a server that is stopped', { concurrency: 1 }, () => {
  const dataDir = folder('drain')
  /** By the request that was under way at the first stop. */
  let made: { user_id: string }

  test('by several signals at once answers the current request, accepts no more, and ends with its database', async () => {
    const server = await serving(dataDir, { CELLS })
    const request = await halfway(server, 'late')
    const question = await conversation(server.url)
    question.say('GET /readyz HTTP/1.1\r\nHost: localhost\r\n')
    const idle = await conversation(server.url)
    idle.say('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await waitUntil(() => idle.heard().includes('alive'))

    // They are as one signal. Two of a kind at once may reach a process as one.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) server.child.kill(signal)
    await waitUntil(() => refuses(server))
    question.say('\r\n')
    await waitUntil(() => question.heard() || question.socket.destroyed)
    assert.match(question.heard(), /^(HTTP\/1\.1 503 |$)/)
    const answer = await request.finish()
    assert.match(answer, /HTTP\/1\.1 200 OK\r\n/)
    // Or the caller would keep the connection, and thereby the server, until the last moment.
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.equal(await endOf(server), 0)
    await assertGone(server)
    await idle.closed
    made = JSON.parse(answer.slice(answer.lastIndexOf('\r\n'))) as { user_id: string }
  })

  test('keeps the work of the last request, and aborts one that its client never completes after at most 12 s', async () => {
    const server = await serving(dataDir, { CELLS })
    const found = await caller(server.url, demoIn(dataDir).api_keys['sandbox-us']).get('/v2/user/resolve/late')
    assert.deepEqual([found.status, found.body.user_id], [200, made.user_id])
    const { closed } = await halfway(server, 'never')
    const began_ms = performance.now()
    server.child.kill('SIGHUP')
    await closed
    assert.equal(await endOf(server), 0)
    // Patience for a machine that has other things to do.
    assert(performance.now() - began_ms < 20_000, 'it waited for longer')
    await assertGone(server)
  })

  test('ends at once after a later signal', async () => {
    const server = await serving(dataDir, { CELLS })
    await halfway(server, 'second')
    server.child.kill('SIGTERM')
    await sleep(1500)
    server.child.kill('SIGTERM')
    assert.equal(await endOf(server), 1)
  })
})

describe('a server that is stopped while clients use it', { concurrency: 2 }, () => {
  test('is unready first, keeps serving for a while, closes every connection with its response, and then accepts no more', async () => {
    const server = await serving(folder('delay'), { CELLS, STOP_DELAY: '6' })
    const ask = async (path: string) => {
      const { say, heard, closed } = await conversation(server.url)
      say(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await waitUntil(() => /\r\n\r\n\{/.test(heard()))
      return { answer: heard(), closed }
    }
    const kept = await conversation(server.url)
    const say = () => kept.say('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    say()
    await waitUntil(() => kept.heard().includes('"alive"'))
    assert.doesNotMatch(kept.heard(), /\r\nconnection: close\r\n/i)
    assert.match((await ask('/readyz')).answer, /^HTTP\/1\.1 200 /)

    server.child.kill('SIGTERM')
    await waitUntil(async () => (await ask('/readyz')).answer.startsWith('HTTP/1.1 503 '))
    const { answer, closed } = await ask('/healthz')
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(answer, /\r\nconnection: close\r\n/i)
    await closed
    say()
    await kept.closed
    assert.equal(kept.heard().split('"alive"').length, 3)
    assert.match(kept.heard(), /\r\nconnection: close\r\n/i)
    await waitUntil(() => refuses(server))
    assert.equal(await endOf(server), 0)
    await assertGone(server)
  })

  test('resets no connection of busy clients while it stops', async (t) => {
    const settings = { CELLS, REQUESTS_PER_SECOND: '0', LOG_LEVEL: 'silent', STOP_DELAY: '1' }
    for (let round = 0; round < STOP_ROUNDS; round++) {
      const server = await serving(folder('resets'), settings)
      const address = `${server.url}/v2/user`
      const key = demoIn(server.dataDir).api_keys['sandbox-us']!
      const counts = { answered: 0, reset: 0, refused: 0 }
      // Clients that keep a connection until a response closes it, and then open another one at once.
      const clients = Array.from({ length: 20 }, async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (;;) {
          const outcome = await awaitAnswer(agent, address, key)
          counts[outcome] += 1
          if (outcome === 'refused') return agent.destroy()
        }
      })
      await waitUntil(() => counts.answered > 200)
      server.child.kill('SIGTERM')
      await Promise.all(clients)
      assert.equal(await endOf(server), 0)
      t.diagnostic(`${counts.answered} answers`)
      assert.deepEqual([counts.reset, counts.refused], [0, 20])
    }
  })
})

describe('a server that was started through another program', { concurrency: 1 }, () => {
  const dataDir = folder('through')
  const settings = { CELLS, DATA_DIR: dataDir, PORT: '0', npm_config_cache: folder('npm-cache') }
  /** The second is what a terminal does: everything that runs in it gets the signal. */
  const ways = [(pid: number) => process.kill(pid, 'SIGTERM'), (pid: number) => signalGroup(pid, 'SIGINT')]
  before(() => migrateDataDir(dataDir))

  test('ends with npm, by SIGTERM and by Ctrl-C', async (t) => {
    if (spawnSync('npm', ['--version']).error) return t.skip('there is no npm on this machine')
    for (const ask of ways) {
      const npm = await listening(start({ program: 'npm', args: ['start'], settings }), dataDir)
      ask(npm.child.pid!)
      await endOf(npm)
      await assertGone(npm)
    }
  })

  test('ends with its launcher, by SIGTERM and by Ctrl-C', async () => {
    for (const ask of ways) {
      const launcher = await listening(start({ args: ['bin/drawbridge.mjs', 'start'], settings }), dataDir)
      ask(launcher.child.pid!)
      assert.equal(await endOf(launcher), 0)
      await assertGone(launcher)
    }
  })
})

test('the launcher runs the required Node version from an older one', async (t) => {
  const old = (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, 'node'))
    .find((node) => {
      const major = Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1])
      return major >= 20 && major < 24
    })
  if (!old) return t.skip('there is no Node of version 20 to 23 on the path')
  const launcher = start({ program: old, args: ['bin/drawbridge.mjs', 'version'] })
  assert.equal(await launcher.exitStatus, 0)
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  assert.deepEqual([launcher.stdout(), launcher.err()], [`${version}\n`, ''])
})
