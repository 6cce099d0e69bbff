// Demo data: what a start makes of the file of an earlier one.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cells, client, createTestTeam, url } from '../../test/support/server.ts'
import { publishDemo, readDemo, type Demo } from './demo-file.ts'
import { prepareDemo } from './demo.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'drawbridge-demo-'))
const file = join(dataDir, 'demo.json')
after(() => rmSync(dataDir, { recursive: true }))

/** As a start does it. */
async function startDemo(keys?: string[]): Promise<Demo> {
  publishDemo(dataDir, { ...(await prepareDemo(cells, dataDir, keys)), base_url: url })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  return readDemo(dataDir)!
}

/** Checks that every cell accepts its key. */
async function assertKeysWork({ api_keys }: Demo): Promise<void> {
  const replies = await Promise.all(Object.values(api_keys).map((key) => client(key).get('/v3/lab_tests')))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
}

const damages: [string, (demo: Demo) => void][] = [
  ['is lost', () => rmSync(file)],
  ['is empty', () => writeFileSync(file, '')],
  ['was cut off', (demo) => writeFileSync(file, JSON.stringify(demo).slice(0, 200))],
  ['holds nothing', () => writeFileSync(file, 'null')],
  ['lacks a team', (demo) => writeFileSync(file, JSON.stringify({ ...demo, teams: { us: demo.teams.us } }))],
  ['lacks the keys', (demo) => writeFileSync(file, JSON.stringify({ ...demo, api_keys: {} }))],
  [
    'holds a key of nobody',
    (demo) => {
      const api_keys = { ...demo.api_keys, 'production-eu': `${demo.api_keys['production-eu']}0` }
      writeFileSync(file, JSON.stringify({ ...demo, api_keys }))
    },
  ],
]
for (const [what, damage] of damages)
  test(`when demo.json ${what}, a start issues new keys for the same teams, and the old ones still work`, async () => {
    const demo = await startDemo()
    assert.deepEqual(await startDemo(), demo, 'a file that is intact was replaced')
    damage(demo)
    const next = await startDemo()
    assert.deepEqual([next.org_id, next.teams], [demo.org_id, demo.teams])
    assert.equal(new Set([...Object.values(next.api_keys), ...Object.values(demo.api_keys)]).size, 8)
    assert.notEqual(next.management_key, demo.management_key)
    await assertKeysWork(demo)
    await assertKeysWork(next)
  })

test('keys that the operator sets are the keys of the demo, at each start and after demo.json is lost, and earlier keys still work', async () => {
  const before = await startDemo()
  const key = (prefix: string) => `${prefix}fictional-${randomUUID()}`
  const set = [key('sk_us_'), key('pk_eu_'), key('mg_')]
  const demo = await startDemo(set)
  const { api_keys } = before
  assert.deepEqual(demo.api_keys, { ...api_keys, 'sandbox-us': set[0], 'production-eu': set[1] })
  assert.equal(demo.management_key, set[2])
  assert.deepEqual(await startDemo(set), demo)
  await assertKeysWork(before)
  await assertKeysWork(demo)
  assert.equal((await client(set[2]!, 'x-management-key', `/v1/org/${demo.org_id}`).get('/team')).status, 200)

  rmSync(file)
  const again = await startDemo(set)
  assert.deepEqual([again.org_id, again.teams, again.management_key], [demo.org_id, demo.teams, set[2]])
  assert.equal(again.api_keys['sandbox-us'], set[0])
  assert.equal(again.api_keys['production-eu'], set[1])
})

test('a key of another team or organization cannot become one of the demo', async () => {
  const { key, orgKey } = await createTestTeam()
  await assert.rejects(startDemo([key]), { message: 'DEMO_KEYS contains a key for sandbox-us that another team has.' })
  await assert.rejects(startDemo([orgKey]), { message: 'DEMO_KEYS contains a management key that another organization has.' })
})
