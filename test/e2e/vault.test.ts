// The keys of secrets at rest, as people change them: by command, while a server and a worker run.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { endedOnDatabase } from '../support/local-command.ts'
import { isValidSignature } from '../support/signed.ts'
import {
  caller,
  connectionOf,
  demoIn,
  migratedFolder,
  runCli,
  stopAll,
  folder,
  onDatabase,
  outcome,
  serving,
  waitUntil,
} from '../support/program.ts'

after(stopAll)

const LOG_LEVEL = 'silent'
const NO_OLD_KEY = /No value depends on an old key\.\nSkipped \(not listed in CELLS\): sandbox-eu, production-eu\.\n$/

/** Within this process, whose modules are loaded once for all of them. */
const vault = (word: string, settings: Record<string, string>) => endedOnDatabase(['vault', word], { LOG_LEVEL, ...settings })

interface Delivered {
  headers: Record<string, unknown>
  body: string
}

async function receiver() {
  const received: Delivered[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test(
  'secrets move to a new key while a server and a worker run, and need the old one no more',
  { timeout: 180_000 },
  async () => {
    const dataDir = folder('rotated')
    const settings = { DATA_DIR: dataDir, CELLS: 'sandbox-us,production-us', LOG_LEVEL }
    /** Of the processes beside the commands, which work on several cells. */
    const served = { ...settings, CELLS: 'sandbox-us' }
    const keyFile = join(dataDir, 'encryption.key')
    const { code, err } = await vault('rotate', settings)
    assert.deepEqual([code, err.startsWith(`drawbridge: There is no database in ${dataDir}.`)], [1, true])
    await migratedFolder(dataDir, settings)
    assert.equal((await vault('rotate', settings)).code, 2)
    assert.equal(existsSync(keyFile), false)

    let server = await serving(dataDir, served, 'serve')
    const { org_id, management_key, teams } = demoIn(dataDir)
    const manage = (method: string, path: string, body?: unknown) =>
      caller(server.url).call(method, `/v1/org/${org_id}/team/${teams.us}${path}`, body, { 'x-management-key': management_key })
    const { received, url } = await receiver()
    const hook = (await manage('POST', '/sandbox/webhook', { url })).body.id as string
    await manage('PUT', `/sandbox/webhook/${hook}/headers`, { headers: { 'x-clinic': 'fictional' } })
    const { key } = (await manage('GET', `/sandbox/webhook/${hook}/secret`)).body as { key: string }
    const token = (await manage('POST', '/create_api_access_token', { env: 'sandbox' })).body.access_token as string
    let worker = runCli('work', served)
    await worker.says(/Worker started/)

    /** Server and worker both have to read the endpoint's secrets for this. */
    const works = async () => {
      const n = received.length
      assert.equal((await manage('POST', `/sandbox/webhook/${hook}/test`, { event_type: 'labtest.order.created' })).status, 200)
      await waitUntil(() => received.length > n)
      const { headers, body } = received.at(-1)!
      assert.equal(headers['x-clinic'], 'fictional')
      assert(isValidSignature(key, headers, body), 'the signature is not that of the endpoint')
      assert.deepEqual((await manage('GET', `/sandbox/webhook/${hook}/secret`)).body, { key })
      assert.equal((await caller(server.url).get('/v2/user', { authorization: `Bearer ${token}` })).status, 200)
    }
    await works()
    const [oldKey] = readFileSync(keyFile, 'utf8').trim().split('\n')
    assert.match((await vault('status', settings)).stdout, NO_OLD_KEY)

    const rotated = await outcome('vault', settings, 'rotate')
    assert.equal(rotated.code, 0, rotated.err)
    assert.match(
      rotated.stdout,
      /^sandbox-us +webhook\.headers +1 value re-encrypted\nsandbox-us +webhook_secret\.secret +1 value re-encrypted\n/,
    )
    assert.match(rotated.stdout, /newest +2 values\nkey [0-9a-f]{8} +old +0 values\n/)
    const [newKey, ...others] = readFileSync(keyFile, 'utf8').trim().split('\n')
    assert.notEqual(newKey, oldKey)
    assert.deepEqual([others, statSync(keyFile).mode & 0o777], [[oldKey], 0o600])
    assert(!(rotated.stdout + rotated.err).includes(newKey!), 'the key was printed')
    await works()
    assert.equal((await manage('POST', `/sandbox/webhook/${hook}/secret/rotate`, { key: `whsec_${'N'.repeat(32)}` })).status, 204)
    assert.match((await vault('status', settings)).stdout, /newest +3 values\n.* old +0 values\n/)

    // The old key is taken away from everybody: the running ones notice, and those who start find nothing that needs it.
    assert.equal((await manage('POST', `/sandbox/webhook/${hook}/secret/rotate`, { key })).status, 204)
    writeFileSync(keyFile, `${newKey}\n`)
    // The worker first: the database ends with the server.
    worker.child.kill('SIGTERM')
    assert.equal(await worker.exitStatus, 0)
    assert.equal(await server.end('SIGTERM'), 0)
    server = await serving(dataDir, served, 'serve')
    worker = runCli('work', served)
    await worker.says(/Worker started/)
    const fresh = (await manage('POST', '/create_api_access_token', { env: 'sandbox' })).body.access_token as string
    assert.equal((await caller(server.url).get('/v2/user', { authorization: `Bearer ${fresh}` })).status, 200)
    assert.equal((await caller(server.url).get('/v2/user', { authorization: `Bearer ${token}` })).status, 401)
    assert.deepEqual((await manage('GET', `/sandbox/webhook/${hook}/secret`)).body, { key })

    // A rotation that was interrupted after it had made its key is carried on with that key.
    const third = generateVaultKey()
    writeFileSync(keyFile, `${third}\n${newKey}\n`)
    assert.match((await vault('status', settings)).stdout, /values depend on old keys: run "vault rotate"/)
    assert.equal((await vault('rotate', settings)).code, 0)
    assert.deepEqual(readFileSync(keyFile, 'utf8').trim().split('\n'), [third, newKey])

    // With keys from the settings the operator makes the key; a process that lacks the keys in use changes nothing.
    const state = () =>
      onDatabase(
        connectionOf(dataDir),
        async (client) => (await client.query('select secret from sandbox_us.webhook_secret order by id')).rows,
      )
    const kept = await state()
    const lacking = await vault('rotate', { ...settings, ENCRYPTION_KEYS: generateVaultKey() })
    assert.deepEqual([lacking.code, /encrypted with keys that this process does not have/.test(lacking.err)], [2, true])
    const alone = await vault('rotate', { ...settings, ENCRYPTION_KEYS: third })
    assert.deepEqual([alone.code, /prepend a new key/.test(alone.err)], [2, true])
    assert.deepEqual(await state(), kept)
    const fourth = generateVaultKey()
    assert.equal((await vault('rotate', { ...settings, ENCRYPTION_KEYS: `${fourth},${third}` })).code, 0)
    assert.match((await vault('status', { ...settings, ENCRYPTION_KEYS: fourth })).stdout, NO_OLD_KEY)

    worker.child.kill('SIGTERM')
    assert.equal(await worker.exitStatus, 0)
    assert.equal(await server.end('SIGTERM'), 0)
  },
)
