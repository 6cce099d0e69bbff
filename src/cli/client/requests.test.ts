// Requests by command, the clock and the API page, against a server; and every client against an address where there is none.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runToEnd } from '../../../test/support/local-command.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { tree } from '../command-list.ts'
import { walk, type Leaf } from '../command-tree.ts'
import { openPage } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-requests-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const NOBODY = '01890000-0000-7000-8000-000000000000'
let team: TestTeam
let remote: string[]
before(async () => {
  team = await createTestTeam()
  remote = ['--url', url, '--key', team.key]
})

/** What a command prints that succeeds. */
async function printedByCommand(...words: string[]): Promise<string> {
  const { code, stdout, err } = await runToEnd([...words, ...remote])
  assert.deepEqual([code, err], [0, ''], words.join(' '))
  return stdout
}

describe('a request by command', () => {
  test('creates, changes, reads and deletes with the key, and prints the response as JSON', async () => {
    const file = join(folder, 'user.json')
    writeFileSync(file, JSON.stringify({ client_user_id: 'from-a-file', fallback_time_zone: 'Europe/Berlin' }))
    const made = JSON.parse(await printedByCommand('post', '/v2/user', '--data', `@${file}`, '--set', 'client_user_id=patient-1'))
    assert.deepEqual([made.client_user_id, made.fallback_time_zone.id], ['patient-1', 'Europe/Berlin'])
    const changed = await printedByCommand('patch', `/v2/user/${made.user_id}`, '--set', 'client_user_id=patient-2')
    assert.equal(changed, '')
    const found = JSON.parse(await printedByCommand('get', `/v2/user/resolve/patient-2`))
    assert.equal(found.user_id, made.user_id)
    await printedByCommand('delete', `/v2/user/${made.user_id}`)
    const gone = await runToEnd(['get', `/v2/user/${made.user_id}`, ...remote])
    assert.deepEqual([gone.code, gone.err], [1, 'drawbridge: The server responded 404.\n'])
    assert.equal(typeof JSON.parse(gone.stdout).detail, 'string')
  })

  test('refuses a file and arguments that are not UTF-8, of which nothing is sent', async () => {
    const file = join(folder, 'latin1.json')
    writeFileSync(file, Buffer.from('{"client_user_id":"ren\xe8"}', 'latin1'))
    const sent = await runToEnd(['post', '/v2/user', '--data', `@${file}`, ...remote])
    assert.equal(sent.code, 2)
    assert.match(sent.err, /The file must be UTF-8/)
    // What the arguments of a process become that are not.
    const named = await runToEnd(['post', '/v2/user', '--set', 'client_user_id=ren\uFFFD', ...remote])
    assert.equal(named.code, 2)
    assert.match(named.err, /Arguments must be UTF-8/)
  })

  test('prints why a request was refused, and fails', async () => {
    const { code, stdout, err } = await runToEnd(['post', '/v2/user', '--data', '{"client_user_id":7}', ...remote])
    assert.deepEqual([code, err], [1, 'drawbridge: The server responded 422.\n'])
    assert.deepEqual(JSON.parse(stdout).detail[0].loc, ['body', 'client_user_id'])
  })

  test('puts a body, and writes a document to a new file that only its owner reads', async () => {
    const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
    await printedByCommand('post', `/v3/order/${id}/test`)
    await team.settle()
    const path = `/v3/order/${id}/result/pdf`
    const refused = await runToEnd(['get', path, ...remote])
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.err, /application\/pdf: --out writes it to a file/)
    const file = join(folder, 'result.pdf')
    await printedByCommand('get', path, '--out', file)
    assert.match(readFileSync(file, 'latin1'), /^%PDF-/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match((await runToEnd(['get', path, '--out', file, ...remote])).err, /cannot be written \(EEXIST\)/)
    const put = await runToEnd(['put', '/v2/user/x/device', '--data', '[]', ...remote])
    assert.match(put.err, /The server responded 40[45]/)
  })

  test('of the Management API has the management key', async () => {
    const org = `/v1/org/${team.org_id}`
    const { code, stdout, err } = await runToEnd(['get', org, '--url', url, '--key', team.orgKey])
    assert.deepEqual([code, err, JSON.parse(stdout).id], [0, '', team.org_id])
    const env = { DRAWBRIDGE_URL: url, DRAWBRIDGE_MANAGEMENT_KEY: team.orgKey, DRAWBRIDGE_KEY: team.key }
    assert.equal(JSON.parse((await runToEnd(['get', org], env)).stdout).id, team.org_id)
    assert.ok(Array.isArray(JSON.parse((await runToEnd(['get', '/v3/lab_tests'], env)).stdout)))
  })

  test('is refused for a path without a slash and a body that is not JSON, before anything is sent', async () => {
    for (const [words, says] of [
      [['get', 'https://elsewhere.example/v3/lab_tests'], /The path must start with a slash/],
      [['post', '/v2/user', '--data', '{client'], /--data must be JSON/],
      [['post', '/v2/user', '--set', 'client'], /--set must be a path and a value/],
    ] satisfies [string[], RegExp][]) {
      const { code, err } = await runToEnd([...words, ...remote])
      assert.equal(code, 2, err)
      assert.match(err, says)
    }
    const absent = await runToEnd(['post', '/v2/user', '--data', `@${join(folder, 'absent')}`, ...remote])
    assert.deepEqual([absent.code, absent.err], [1, 'drawbridge: The file cannot be read (ENOENT).\n'])
  })
})

describe('the clock by command', () => {
  test('is shown and advanced by seconds or words', async () => {
    const own = await createTestTeam()
    const run = async (...words: string[]) => {
      const { code, stdout, err } = await runToEnd(['clock', ...words, '--url', url, '--key', own.key])
      assert.deepEqual([code, err], [0, ''])
      return stdout
    }
    assert.match(await run('show'), /^\S+ {2}0 seconds ahead\n$/)
    assert.match(await run('advance', '90'), /^\S+ {2}(89|90|91) seconds ahead; \d+ jobs ran\n$/)
    const { offset_s, jobs_run } = JSON.parse(await run('advance', '2', 'days', '1 hour', '--json'))
    assert.ok(Math.abs(offset_s - (90 + 2 * 86_400 + 3600)) <= 5, String(offset_s))
    assert.equal(typeof jobs_run, 'number')
    assert.equal((await own.api.get('/v1/sandbox/clock')).body.offset_s, offset_s)
  })

  test('rejects a move backwards, a zero duration and an invalid time, and does not exist in production', async () => {
    for (const word of ['0', '-5', 'tomorrow', '2 moons', '99999999999', '1.5', '600 weeks'])
      assert.match(
        (await runToEnd(['clock', 'advance', ...remote, '--', word])).err,
        /The time must be a number of seconds/,
        word,
      )
    const production = await createTestTeam('production-us')
    for (const words of [['show'], ['advance', '5']]) {
      const { code, err } = await runToEnd(['clock', ...words, '--url', url, '--key', production.key])
      assert.deepEqual([code, err], [1, 'drawbridge: The key belongs to a production cell, whose clock cannot be moved.\n'])
    }
  })
})

test('the API page is opened on a terminal, and its address without the key is printed', async () => {
  const opened: string[][] = []
  const server = createServer((request, response) => response.writeHead(request.url === '/docs' ? 200 : 404).end())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const page = async (isTerminal: boolean, starts = true, values = {}) => {
    let text = ''
    const context = { env: {}, printNow: (part: string) => void (text += part), isTerminal }
    await openPage({ url: base, key: team.key, ...values }, context, async (words) => (opened.push(words), starts))
    return text
  }
  assert.equal(await page(true), `${base}/docs\n`)
  assert.equal(opened[0]!.at(-1), `${base}/docs`)
  assert.equal(await page(true, false), `${base}/docs\nNo browser could be started; open the address yourself.\n`)
  assert.equal(await page(false), `${base}/docs\n`)
  assert.equal(await page(true, true, { print: true }), `${base}/docs\n`)
  assert.equal(opened.length, 2)
  assert.match((await runToEnd(['open', ...remote])).err, /has no API page \(404\)/)
})

describe('every command that talks to a server', () => {
  const clients = [...walk(tree)].flatMap(({ path, node }) =>
    'options' in node && node.options?.some(([flags]) => flags === '--url <url>') ? [{ path, leaf: node as Leaf }] : [],
  )
  let absent: string
  before(async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    absent = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    server.close()
    await once(server, 'close')
    writeFileSync(join(folder, 'run.fit'), 'a file')
  })

  test('is among these', () => assert.ok(clients.length > 12, String(clients.length)))

  for (const { path, leaf } of clients)
    test(`${path.join(' ')} reports at once that no server is running`, async () => {
      const example = [...leaf.examples[0]!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
      const words = example.map((word) => (word === 'export.zip' ? join(folder, 'run.fit') : word === '@part.json' ? '{}' : word))
      const has = (option: string) => leaf.options!.some(([flags]) => flags.startsWith(option))
      const keys = !has('--key ') ? ['--management-key', 'mg_x', '--org', NOBODY, '--team', NOBODY] : ['--key', randomUUID()]
      const started = performance.now()
      const { code, err } = await runToEnd(
        [...words, '--url', absent, ...keys],
        {},
        { untilStopped: () => new AbortController().signal },
      )
      assert.equal(code, 1, err)
      assert.equal(
        err,
        `drawbridge: No server answers at ${absent} (connection refused: nothing listens there). "bin/drawbridge start" starts one on this machine; --url or DRAWBRIDGE_URL names another.\n`,
      )
      assert.ok(performance.now() - started < 20_000)
    })
})

test('a missing database is reported at once and in words', async () => {
  const { endedOnDatabase } = await import('../../../test/support/local-command.ts')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  const { code, err } = await endedOnDatabase(['org', 'list'], { DATABASE_URL: `postgres://user:secret@127.0.0.1:${port}/x` })
  const says = 'Cannot connect to the database (connection refused: nothing listens there). Check DATABASE_URL.'
  assert.deepEqual([code, err], [1, `drawbridge: ${says}\n`])
})
