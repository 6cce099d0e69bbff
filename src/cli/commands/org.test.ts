// Organizations, teams and keys by command, on the database and the server of the tests.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { cells, client } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { eventually } from '../../../test/support/eventually.ts'

const run = (...words: string[]) => command(cells, words)
const word = (text: string, predecessor: string): string => new RegExp(`${predecessor}\\s+(\\S+)`).exec(text)![1]!

async function team(region: 'us' | 'eu') {
  const org = word(await run('org', 'create', `Clinic ${randomUUID()}`), 'organization')
  return { org, team: word(await run('team', 'create', 'A team', '--org', org, '--region', region), 'team') }
}

test('creating an organization twice by name returns the same one, with a new key each time', async () => {
  const name = `Clinic ${randomUUID()}`
  const [first, second] = [await run('org', 'create', name), await run('org', 'create', name)]
  assert.equal(word(first, 'organization'), word(second, 'organization'))
  assert.match(word(first, 'management key'), /^mg_[\w-]{43}$/)
  assert.notEqual(word(first, 'management key'), word(second, 'management key'))
})

test('created organizations and keys are printed as JSON with ids and secrets, and listed without the secrets', async () => {
  const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'))
  const name = `Clinic ${randomUUID()}`
  const org = await json('org', 'create', name)
  assert.deepEqual(Object.keys(org), ['org_id', 'name', 'management_key_id', 'management_key'])
  const made = await json('team', 'create', 'North', '--org', org.org_id, '--region', 'eu')
  assert.deepEqual(made, { ...made, org_id: org.org_id, name: 'North', region: 'eu', cells: ['sandbox-eu', 'production-eu'] })
  const key = await json('key', 'create', '--team', made.team_id, '--cell', 'sandbox-eu', '--label', 'script')
  assert.deepEqual(key, { ...key, team_id: made.team_id, cell: 'sandbox-eu', label: 'script' })
  assert.equal((await client(key.api_key).get('/v2/user')).status, 200)
  const managed = await json('key', 'create', '--org', org.org_id)
  for (const text of [org.management_key, managed.management_key])
    assert.equal((await client(text, 'x-management-key').get(`/v1/org/${org.org_id}`)).status, 200)

  assert.equal(JSON.parse(await run('key', 'list', '--team', made.team_id, '--json'))[0].id, key.key_id)
  const keys = await json('key', 'list', '--org', org.org_id)
  assert.deepEqual(new Set(keys.map(({ id }: { id: string }) => id)), new Set([org.management_key_id, managed.key_id]))
  const listed = (await json('org', 'list')).find(({ id }: { id: string }) => id === org.org_id)
  assert.deepEqual(listed, { ...listed, name, plan: 'scale', teams: 1, expires_at: null })
  assert.ok(
    (await run('org', 'list'))
      .split('\n')
      .some((line) => line.startsWith(`${org.org_id}  `) && line.endsWith(`  1 teams  ${name}`)),
  )
  const [only, ...others] = await json('team', 'list', '--org', org.org_id)
  assert.deepEqual([only.id, only.name, only.region, others], [made.team_id, 'North', 'eu', []])
  assert.match(await run('team', 'list', '--org', org.org_id), new RegExp(`^${made.team_id}  ${org.org_id}  eu  \\S+  North\n$`))
  assert.ok((await json('team', 'list')).some(({ id }: { id: string }) => id === made.team_id))

  await client(org.management_key, 'x-management-key').delete(`/v1/org/${org.org_id}/team/${made.team_id}`)
  assert.equal(await run('team', 'list', '--org', org.org_id), 'No teams.\n')
})

test('a team of another organization is not in the list of an organization', async () => {
  const [own, other] = [await team('us'), await team('us')]
  const listed = await run('team', 'list', '--org', own.org)
  assert.ok(listed.includes(own.team) && !listed.includes(other.team))
})

test('a new team and its key work in the cell of the key, where the sandbox has four lab tests to order', async () => {
  const made = await team('eu')
  const sandbox = client(word(await run('key', 'create', '--team', made.team, '--cell', 'sandbox-eu'), 'api key'))
  const production = client(word(await run('key', 'create', '--team', made.team, '--cell', 'production-eu'), 'api key'))
  assert.equal((await sandbox.get('/v3/lab_tests')).body.length, 4)
  assert.deepEqual((await production.get('/v3/lab_tests')).body, [])
  assert.equal((await sandbox.post('/v2/user', { client_user_id: 'one' })).body.team_id, made.team)
})

test('a key is listed without its text, and revoked by its id or by its text', async () => {
  const made = await team('us')
  const [byId, byText] = [
    word(await run('key', 'create', '--team', made.team, '--cell', 'sandbox-us', '--label', 'for the test'), 'api key'),
    word(await run('key', 'create', '--team', made.team, '--cell', 'sandbox-us'), 'api key'),
  ]
  const listed = await run('key', 'list', '--team', made.team)
  assert(listed.includes('for the test') && listed.includes(byId.slice(-4)))
  assert(!listed.includes(byId) && !listed.includes(byText))
  const line = listed.split('\n').find((text) => text.includes('for the test'))!
  await run('key', 'revoke', line.split(' ')[0]!)
  await run('key', 'revoke', byText)
  assert.equal(await run('key', 'list', '--team', made.team), 'No API keys.\n')
  assert.equal((await client(byId).get('/v2/user')).status, 401)
  assert.equal((await client(byText).get('/v2/user')).status, 401)
})

test('a key that was in use stops working soon after its revocation', async () => {
  const made = await team('us')
  const key = word(await run('key', 'create', '--team', made.team, '--cell', 'sandbox-us'), 'api key')
  assert.equal((await client(key).get('/v2/user')).status, 200)
  await run('key', 'revoke', key)
  await eventually(async () => (await client(key).get('/v2/user')).status === 401, 'the key is refused')
})

test('an organization of a smaller plan has no Management API, and an expired one is read-only', async () => {
  const printed = await run('org', 'create', `Clinic ${randomUUID()}`)
  const org = word(printed, 'organization')
  const ask = async (method: string, body?: unknown) =>
    client(word(await run('key', 'create', '--org', org), 'management key'), 'x-management-key').call(
      method,
      `/v1/org/${org}`,
      body,
    )
  assert.equal(await run('org', 'plan', org, 'grow'), 'Plan set to grow.\n')
  assert.equal((await ask('GET')).status, 403)
  await run('org', 'plan', org, 'scale')
  assert.equal(await run('org', 'expire', org, '2020-01-31'), 'The organization is read-only from 2020-01-31T00:00:00+00:00.\n')
  assert.equal((await ask('GET')).body.expires_at, '2020-01-31T00:00:00+00:00')
  assert.equal((await ask('PATCH', { name: 'x' })).status, 403)
  assert.equal(await run('org', 'expire', org, 'never'), 'The organization does not expire.\n')
  assert.equal((await ask('PATCH', { name: 'x' })).status, 200)
})

test('a feature of a team is disabled, enabled and listed in both environments', async () => {
  const { team: id } = await team('us')
  const state = async (name: string) => new RegExp(`^(on|off) +${name} `, 'm').exec(await run('team', 'feature', id, 'list'))![1]
  assert.equal(await state('psc_scheduling'), 'on')
  assert.match(await run('team', 'feature', id, 'psc_scheduling', 'off'), /^psc_scheduling is off\./)
  await run('team', 'feature', id, 'psc_scheduling', 'off')
  assert.deepEqual([await state('psc_scheduling'), await state('human_review')], ['off', 'on'])
  for (const cell of ['sandbox-us', 'production-us'] as const)
    assert.deepEqual((await loadTenant(cells, cell, id))!.disabled_features, ['psc_scheduling'])
  await run('team', 'feature', id, 'psc_scheduling', 'on')
  assert.equal(await state('psc_scheduling'), 'on')
})

for (const [words, reason] of [
  [['org', 'create'], /Missing required argument 'name'/],
  [['org', 'create', 'x'.repeat(101)], /1 to 100/],
  [['team', 'create', 'T', '--org', 'nonsense', '--region', 'us'], /--org must be an id/],
  [['team', 'create', 'T', '--org', randomUUID(), '--region', 'mars'], /--region must be us or eu/],
  [['team', 'create', 'T', '--org', randomUUID(), '--region', 'us'], /Organization not found/],
  [['team', 'list', '--org', randomUUID()], /Organization not found/],
  [['team', 'list', '--org', 'x'], /--org must be an id/],
  [['team', 'feature', randomUUID(), 'list'], /Team not found/],
  [['team', 'feature', 'x', 'list'], /The team must be an id/],
  [['key', 'create', '--team', randomUUID(), '--cell', 'sandbox-us'], /Team not found/],
  [['key', 'create', '--team', randomUUID(), '--cell', 'moon'], /--cell must be one of/],
  [['key', 'create', '--org', randomUUID()], /Organization not found/],
  [['key', 'revoke', 'sk_us_unknown'], /Key not found/],
  [['key', 'create', '--color', 'red'], /color/],
] as const)
  test(`"${words.join(' ').slice(0, 60)}" is refused with its reason`, async () => {
    await assert.rejects(run(...words), (error: unknown) => error instanceof Error && reason.test(error.message))
  })

test('an unknown feature, or a value that is neither on nor off, is rejected', async () => {
  const { team: id } = await team('us')
  await assert.rejects(run('team', 'feature', id, 'time_travel', 'off'), /must be one of collection_instructions, /)
  await assert.rejects(run('team', 'feature', id), /Missing required argument 'name'/)
  await assert.rejects(run('team', 'feature', id, 'human_review', 'maybe'), /must be "on" or "off"/)
  await assert.rejects(run('team', 'feature', id, 'human_review'), /must be "on" or "off"/)
})

test('a key for a cell outside the region of the team is rejected', async () => {
  const made = await team('us')
  await assert.rejects(run('key', 'create', '--team', made.team, '--cell', 'production-eu'), /region \(us\)/)
  assert.equal(await run('key', 'list', '--team', made.team), 'No API keys.\n')
})
