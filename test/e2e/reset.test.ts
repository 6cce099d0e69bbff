// `reset`: the demo of a folder becomes new, and programs go on with the keys that they have.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { endedOnDatabase } from '../support/local-command.ts'
import { caller, demoIn, folder, migratedFolder, outcome, serving, stopAll } from '../support/program.ts'

after(stopAll)

const settings = { CELLS: 'sandbox-us', LOG_LEVEL: 'silent' }

test(
  'reset deletes the data of the demo, keeps its keys, and refuses while a server runs and without consent',
  { timeout: 300_000 },
  async () => {
    const DATA_DIR = folder('reset')
    const refused = (...words: string[]) => endedOnDatabase(['reset', ...words], { ...settings, DATA_DIR })
    let server = await serving(DATA_DIR, settings)
    const before = demoIn(DATA_DIR)
    const key = before.api_keys['sandbox-us']!
    const { user_id } = (await caller(server.url, key).post('/v2/user', { client_user_id: 'before' })).body

    const running = await refused('--yes')
    assert.equal(running.code, 1)
    assert.match(running.err, /in use by another Drawbridge .* Stop it first\. Nothing was changed\.\n$/)
    assert.equal((await caller(server.url, key).get(`/v2/user/${user_id}`)).status, 200)
    assert.equal(await server.end('SIGTERM'), 0)

    const unasked = await refused()
    assert.equal(unasked.code, 1)
    assert.match(unasked.err, /deletes every user, order and event .* Say --yes for that\. Nothing was changed\.\n$/)

    assert.deepEqual(await outcome('reset', { ...settings, DATA_DIR }, '--yes'), {
      code: 0,
      stdout: 'The demo is as its first start made it. Its keys are the same; the ids of its organization and teams are new.\n',
      err: '',
    })
    assert.deepEqual(demoIn(DATA_DIR).api_keys, before.api_keys)
    server = await serving(DATA_DIR, settings)
    const demo = demoIn(DATA_DIR)
    assert.deepEqual([demo.api_keys, demo.management_key], [before.api_keys, before.management_key])
    assert.notEqual(demo.org_id, before.org_id)
    const api = caller(server.url, key)
    assert.equal((await api.get(`/v2/user/${user_id}`)).status, 404)
    assert.ok((await api.get('/v3/lab_tests')).body.length > 0)
    const manage = await api.call('GET', `/v1/org/${demo.org_id}/team`, undefined, { 'x-management-key': demo.management_key })
    assert.equal(manage.status, 200)
    assert.equal(await server.end('SIGTERM'), 0)
  },
)

test('reset refuses a database that is not of a demo', async () => {
  const DATA_DIR = await migratedFolder(folder('no-demo'), settings)
  const reset = () => endedOnDatabase(['reset', '--yes'], { ...settings, DATA_DIR })
  const { code, err } = await reset()
  assert.equal(code, 1)
  assert.match(err, /No demo data found/)
  writeFileSync(join(DATA_DIR, 'demo.json'), '{}')
  assert.equal((await reset()).code, 1)
  assert.ok(existsSync(join(DATA_DIR, 'postgres/PG_VERSION')))
})
