// How the program ends: in order when it is asked to, whoever asks and however often; and what it started ends with it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  caller,
  demoIn,
  endAll,
  folder,
  listening,
  postmastersOn,
  serving,
  signalGroup,
  start,
  until,
  type Program,
  type Server,
} from './program.ts'

after(endAll)

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
  await until(() => heard().includes('100 Continue'))
  say(body.slice(0, 9))
  return {
    async finish(): Promise<string> {
      say(body.slice(9))
      await until(() => /\r\n\r\n\{.*\}$/.test(heard()) || socket.destroyed)
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

/** Waits for the end, and fails when it does not come. */
async function endOf({ ended }: Program): Promise<number | NodeJS.Signals> {
  const patience = new AbortController()
  const end = await Promise.race([ended, sleep(50_000, 'did not end' as const, { signal: patience.signal })])
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

describe('a server that is asked to end', { concurrency: 2 }, () => {
  test('does not wait for ever for a client that never ends its request', async () => {
    const server = await serving(folder('stalled'))
    await halfway(server, 'never')
    server.child.kill('SIGTERM')
    assert.equal(await endOf(server), 0)
    await assertGone(server)
  })

  test('answers the request it is reading, takes no more, and ends with its database', async () => {
    const server = await serving(folder('drain'))
    const request = await halfway(server, 'late')
    const question = await conversation(server.url)
    question.say('GET /readyz HTTP/1.1\r\nHost: localhost\r\n')
    const idle = await conversation(server.url)
    idle.say('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until(() => idle.heard().includes('alive'))

    server.child.kill('SIGTERM')
    await until(() => refuses(server))
    question.say('\r\n')
    await until(() => question.heard() || question.socket.destroyed)
    assert.match(question.heard(), /^(HTTP\/1\.1 503 |$)/)
    const answer = await request.finish()
    assert.match(answer, /HTTP\/1\.1 200 OK\r\n/)
    // Or the caller would keep the connection, and thereby the server, until the last moment.
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.equal(await endOf(server), 0)
    await assertGone(server)
    await idle.closed

    const again = await serving(server.dataDir)
    const { user_id } = JSON.parse(answer.slice(answer.lastIndexOf('\r\n'))) as { user_id: string }
    const found = await caller(again.url, demoIn(server.dataDir).api_keys['sandbox-us']).get('/v2/user/resolve/late')
    assert.deepEqual([found.status, found.body.user_id], [200, user_id])
    assert.equal(await again.end('SIGHUP'), 0)
    await assertGone(again)
  })

  test('takes signals that come together as one, and a later one as an order to end at once', async () => {
    const dataDir = folder('twice')
    const patient = await serving(dataDir)
    const request = await halfway(patient, 'first')
    patient.child.kill('SIGINT')
    await until(() => refuses(patient))
    patient.child.kill('SIGINT')
    assert.match(await request.finish(), /HTTP\/1\.1 200 OK\r\n/)
    assert.equal(await endOf(patient), 0)
    await assertGone(patient)

    const hurried = await serving(dataDir)
    await halfway(hurried, 'second')
    hurried.child.kill('SIGTERM')
    await sleep(1500)
    hurried.child.kill('SIGTERM')
    assert.equal(await endOf(hurried), 1)
  })

  test('through npm ends as a whole, by SIGTERM and by Ctrl-C', async (t) => {
    if (spawnSync('npm', ['--version']).error) return t.skip('there is no npm on this machine')
    const dataDir = folder('npm')
    const settings = { DATA_DIR: dataDir, PORT: '0', npm_config_cache: folder('npm-cache') }
    for (const ask of [
      (pid: number) => process.kill(pid, 'SIGTERM'),
      // As a terminal does: everything that runs in it gets the signal.
      (pid: number) => signalGroup(pid, 'SIGINT'),
    ]) {
      const npm = await listening(start({ program: 'npm', args: ['start'], settings }), dataDir)
      ask(npm.child.pid!)
      await endOf(npm)
      await assertGone(npm)
    }
  })

  test('through its launcher ends as a whole, by SIGTERM and by Ctrl-C', async () => {
    const dataDir = folder('launcher')
    const settings = { DATA_DIR: dataDir, PORT: '0' }
    for (const ask of [(pid: number) => process.kill(pid, 'SIGTERM'), (pid: number) => signalGroup(pid, 'SIGINT')]) {
      const launcher = await listening(start({ args: ['bin/drawbridge.mjs', 'start'], settings }), dataDir)
      ask(launcher.child.pid!)
      assert.equal(await endOf(launcher), 0)
      await assertGone(launcher)
    }
  })
})

test('the launcher brings the right Node to an older one', async (t) => {
  const old = (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, 'node'))
    .find((node) => {
      const major = Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1])
      return major >= 20 && major < 24
    })
  if (!old) return t.skip('there is no Node of version 20 to 23 on the path')
  const launcher = start({ program: old, args: ['bin/drawbridge.mjs', 'version'] })
  assert.equal(await launcher.ended, 0)
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  assert.deepEqual([launcher.out(), launcher.err()], [`${version}\n`, ''])
})
