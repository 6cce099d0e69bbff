import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { AssembledProcess } from '../../app/assemble.ts'
import type { ModuleSettings } from '../../app/process.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { generateKey } from '../../platform/crypto/api-keys.ts'
import { assembleProcess, cells, createTestTeam, settings } from '../../../test/support/server.ts'
import { embedding, launch, createLaunchBody } from '../../../test/support/launch-browser.ts'
import { CredentialChecks } from '../../platform/http/rate-limits.ts'

const limited = (changes: Partial<ModuleSettings>): AssembledProcess => {
  const process = assembleProcess({ settings: { ...settings, ...changes }, publicUrl: () => 'http://localhost' })
  after(() => process.app.close())
  return process
}

const invite = async ({ operations }: AssembledProcess, tx: PlainTx, org_id: string, email: string): Promise<void> => {
  const { run } = operations.find(({ id }) => id === 'create_or_resend_invite_in_org')!
  await run(tx, { manager: { org: org_id }, params: { org_id }, body: { email } })
}

const readRejection = async (work: () => unknown): Promise<{ status: number; headers: Record<string, string> }> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  return { status: 200, headers: {} }
}

/** How many connections to the control plane `work` took: one for each statement outside of a transaction. */
async function connectionsTaken(work: () => Promise<unknown>): Promise<number> {
  let taken = 0
  const count = () => taken++
  cells.control.pool.on('acquire', count)
  try {
    await work()
  } finally {
    cells.control.pool.off('acquire', count)
  }
  return taken
}

const wrongKey = () => generateKey('sk_us_')
const asTeam = ({ guards }: AssembledProcess, key: string, address: string) =>
  readRejection(() => guards.teams.authenticate({ 'x-service-api-key': key }, address))
const asManager = ({ guards }: AssembledProcess, key: string, address: string) =>
  readRejection(() => guards.orgs.authenticate({ 'x-management-key': key }, address))

const acceptInvite = ({ operations }: AssembledProcess, token: string, address: string) =>
  readRejection(() => {
    const { run } = operations.find(({ id }) => id === 'accept_invite')!
    const none = { headers: {}, query: {}, body: undefined }
    const outside: OutsideRequest = { tenant: undefined as never, cells, address, changes: undefined as never, ...none }
    return run(outside, { body: { token, name: 'Testa Fictional' } })
  })

const visit = (
  { pages }: AssembledProcess,
  path: string,
  address: string,
  { token = '', cookie = '', query = {} }: { token?: string; cookie?: string; query?: Record<string, string> },
) =>
  pages
    .find((page) => page.path === path)!
    .answer({
      params: {},
      form: new URLSearchParams(),
      query: token ? { token } : query,
      headers: { cookie },
      address,
      logChange: () => {},
    })

test('access tokens of phones that have expired do not use up the quota of their address; forged ones do', async () => {
  const { guards } = limited({ wrong_keys_per_min: 2 })
  const ask = async (token: string) =>
    (await readRejection(() => guards.teams.authenticate({ authorization: `Bearer ${token}` }, '192.0.2.77'))).status
  const expired = guards.userTokens.sign(['sandbox-us', 'team', 'user', 'session'], -1)
  for (let i = 0; i < 6; i++) assert.equal(await ask(expired), 401)
  const forged = `${expired.slice(0, -4)}AAAA`
  assert.deepEqual([await ask(forged), await ask(forged), await ask(forged)], [401, 401, 429])
})

describe('invalid credentials of one address', () => {
  test('cost no statement once the address has used up its quota', async () => {
    const admin = limited({ wrong_keys_per_min: 2 })
    for (const ask of [asTeam, asManager]) assert.equal((await ask(admin, wrongKey(), '192.0.2.1')).status, 401)
    const asTokenHolder = () =>
      readRejection(() => admin.guards.teams.authenticate({ authorization: 'Bearer at_x.y' }, '192.0.2.1'))
    const taken = await connectionsTaken(async () => {
      for (const [ask, prefix] of [
        [asTeam, 'sk_us_'],
        [asManager, 'mg_'],
        [acceptInvite, 'inv_'],
      ] as const) {
        const { status, headers } = await ask(admin, generateKey(prefix), '192.0.2.1')
        assert.equal(status, 429)
        assert.match(headers['retry-after']!, /^([1-9]|[1-5]\d|60)$/)
      }
      assert.equal((await asTokenHolder()).status, 429)
      assert.equal((await visit(admin, '/auth/launch', '192.0.2.1', { token: generateKey('dl_') })).status, 429)
      const cookie = `drawbridge_link_out=${generateKey('ds_')}`
      const page = await visit(admin, '/auth/session', '192.0.2.1', { cookie })
      assert.deepEqual([page.status, Number(page.headers['retry-after']) > 0], [429, true])
    })
    assert.equal(taken, 0)
    assert.equal((await asTeam(admin, wrongKey(), '192.0.2.2')).status, 401)
  })

  test('cost no more statements than the quota, however many arrive at once', async () => {
    const admin = limited({ wrong_keys_per_min: 3 })
    let statuses: number[] = []
    const taken = await connectionsTaken(async () => {
      statuses = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => (await [asTeam, asManager][i % 2]!(admin, wrongKey(), '192.0.2.1')).status),
      )
    })
    assert.deepEqual([taken, statuses.filter((status) => status === 401).length], [3, 3])
    assert(statuses.every((status) => status === 401 || status === 429))
  })

  test('do not block a key that was valid within the last hour, but delay one that was not', async () => {
    const admin = limited({ wrong_keys_per_min: 2 })
    const [used, fresh] = [await createTestTeam(), await createTestTeam()]
    assert.equal((await asTeam(admin, used.key, '192.0.2.1')).status, 200)
    assert.equal((await asManager(admin, used.orgKey, '192.0.2.1')).status, 200)
    for (let i = 0; i < 2; i++) assert.equal((await asTeam(admin, wrongKey(), '192.0.2.1')).status, 401)
    admin.guards.teams.invalidate(used.team)
    admin.guards.orgs.invalidate(used.org_id)
    assert.equal((await asTeam(admin, used.key, '192.0.2.1')).status, 200)
    assert.equal((await asManager(admin, used.orgKey, '192.0.2.1')).status, 200)
    assert.equal((await asTeam(admin, fresh.key, '192.0.2.1')).status, 429)
    assert.equal((await asTeam(admin, fresh.key, '192.0.2.2')).status, 200)
  })

  test('do not block a key in constant use, however long ago it was first seen', async (t) => {
    const admin = limited({ wrong_keys_per_min: 1 })
    const team = await createTestTeam()
    const start_ms = Date.now()
    const afterMinutes = async (minutes: number, ask: () => Promise<{ status: number }>) => {
      t.mock.timers.enable({ apis: ['Date'], now: start_ms + minutes * 60_000 })
      try {
        return (await ask()).status
      } finally {
        t.mock.timers.reset()
      }
    }
    const right = () => asTeam(admin, team.key, '192.0.2.1')
    assert.equal(await afterMinutes(0, right), 200)
    assert.equal(await afterMinutes(50, right), 200)
    assert.equal(await afterMinutes(70, () => asTeam(admin, wrongKey(), '192.0.2.1')), 401)
    assert.equal(await afterMinutes(70, right), 200)
  })

  test('wait for others of their address no longer than the limit, and then free their slot', { timeout: 20_000 }, async () => {
    const checks = new CredentialChecks({ wrong_max: 1, wait_ms: 20 })
    const database = Promise.withResolvers<void>()
    const find = () =>
      readRejection(() =>
        checks.find(
          '192.0.2.1',
          undefined,
          () => database.promise.then(() => 'found'),
          () => new Problem(401, {}),
        ),
      )
    const first = find()
    // More than may wait at once, one after the other: none keeps its place.
    for (let i = 0; i < 11; i++) {
      const late = await Promise.all(Array.from({ length: 100 }, find))
      assert(late.every(({ status, headers }) => status === 503 && Number(headers['retry-after']) >= 1))
    }
    const last = find()
    database.resolve()
    assert.deepEqual([(await first).status, (await last).status], [200, 200])
  })

  test('do not hold a connection while they wait for others of their address', async () => {
    const admin = limited({ wrong_keys_per_min: 20 })
    const org = await createTestTeam()
    const { slug, member } = await embedding(org)
    const query = { slug, ...createLaunchBody(org, member) } as Record<string, string>
    const cookie = () => `drawbridge_link_out=${generateKey('ds_')}; drawbridge_feature_embed=${generateKey('ds_')}`
    const pages = [
      ...Array.from({ length: 20 }, () => visit(admin, '/auth/launch', '192.0.2.1', { query, cookie: cookie() })),
      ...Array.from({ length: 20 }, () => visit(admin, '/auth/session', '192.0.2.1', { cookie: cookie() })),
      ...Array.from({ length: 20 }, () => visit(admin, '/auth/launch', '192.0.2.1', { token: generateKey('dl_') })),
    ]
    // Management goes on meanwhile.
    assert.equal((await org.manage.get('/member')).status, 200)
    const statuses = (await Promise.all(pages)).map(({ status }) => status)
    assert(!statuses.includes(503), String(statuses))
    assert(statuses.includes(429))
  })

  test('do not delay many valid keys that come at once', async () => {
    const admin = limited({ wrong_keys_per_min: 1 })
    const teams = await Promise.all(Array.from({ length: 8 }, () => createTestTeam()))
    const statuses = await Promise.all(teams.map(async ({ key }) => (await asTeam(admin, key, '192.0.2.1')).status))
    assert.deepEqual(statuses, Array(8).fill(200))
  })

  test('leave waiting slots to other addresses, however many arrive at once', async () => {
    const checks = new CredentialChecks({ wrong_max: 1 })
    const database = Promise.withResolvers<void>()
    const find = (address: string) =>
      readRejection(() =>
        checks.find(
          address,
          generateKey('sk_us_'),
          () => database.promise.then(() => 'found'),
          () => new Problem(401, {}),
        ),
      )
    const [many, few] = [Array.from({ length: 1200 }, () => find('192.0.2.1')), [1, 2, 3].map(() => find('192.0.2.2'))]
    database.resolve()
    assert.deepEqual(
      (await Promise.all(few)).map(({ status }) => status),
      [200, 200, 200],
    )
    const outcomes = await Promise.all(many)
    // One is looked up, a hundred wait.
    assert.equal(outcomes.filter(({ status }) => status === 200).length, 101)
    assert(outcomes.every(({ status, headers }) => status === 200 || (status === 503 && Number(headers['retry-after']) >= 1)))
  })

  test('count for the whole network from which an IPv6 host may take addresses', async () => {
    const admin = limited({ wrong_keys_per_min: 1 })
    assert.equal((await asTeam(admin, wrongKey(), '2001:db8:0:1::1')).status, 401)
    assert.equal((await asTeam(admin, wrongKey(), '2001:db8::1:ffff:0:0:2')).status, 429)
    assert.equal((await asTeam(admin, wrongKey(), '2001:db8:0:2::1')).status, 401)
    assert.equal((await asTeam(admin, wrongKey(), '::ffff:192.0.2.1')).status, 401)
    assert.equal((await asTeam(admin, wrongKey(), '192.0.2.1')).status, 429)
  })

  test('are rejected without a statement if they do not have the form of a key, and count', async () => {
    const admin = limited({ wrong_keys_per_min: 100 })
    const odd = [
      'x',
      'token of sandbox-us 00000000-0000-4000-8000-000000000000',
      `sk_us_${'x'.repeat(600)}`,
      'sk_us_ä'.padEnd(40, 'x'),
    ]
    const taken = await connectionsTaken(async () => {
      for (const text of odd) {
        for (const ask of [asTeam, asManager]) assert.equal((await ask(admin, text, '192.0.2.1')).status, 401, text)
        assert.equal((await acceptInvite(admin, text, '192.0.2.1')).status, 404, text)
        assert.equal((await visit(admin, '/auth/launch', '192.0.2.1', { token: text })).status, 404, text)
        assert.equal((await visit(admin, '/auth/session', '192.0.2.1', { cookie: `drawbridge_link_out=${text}` })).status, 401)
      }
    })
    assert.equal(taken, 0)
    const few = limited({ wrong_keys_per_min: 1 })
    assert.deepEqual([(await asTeam(few, 'x', '192.0.2.1')).status, (await asTeam(few, 'x', '192.0.2.1')).status], [401, 429])
  })

  test('include launch tokens and sessions, while valid ones work', async () => {
    const admin = limited({ wrong_keys_per_min: 1 })
    const org = await createTestTeam()
    const { member } = await embedding(org)
    const launched = new URL((await launch(org, createLaunchBody(org, member))).body.url).searchParams.get('token')!
    const page = await visit(admin, '/auth/launch', '192.0.2.1', { token: launched })
    const cookie = page.headers['set-cookie']!.split(';')[0]!
    assert.equal((await visit(admin, '/auth/session', '192.0.2.1', { cookie })).status, 200)
    assert.equal((await visit(admin, '/auth/launch', '192.0.2.1', { token: generateKey('dl_') })).status, 404)
    assert.equal((await visit(admin, '/auth/launch', '192.0.2.1', { token: generateKey('dl_') })).status, 429)
    assert.equal((await visit(admin, '/auth/session', '192.0.2.1', { cookie })).status, 200)
  })
})

describe('invites', () => {
  const address = () => `testa-${randomBytes(4).toString('hex')}@example.com`
  const send = (admin: AssembledProcess, org_id: string, email: string) =>
    readRejection(() => cells.control.plainTx((tx) => invite(admin, tx, org_id, email)))
  const mailsTo = async (email: string) =>
    (await cells.control.pool.query('select 1 from mail where lower(recipient) = lower($1)', [email])).rowCount

  test('to one address are as many as the quota of a day', async () => {
    const admin = limited({ invites_per_address_per_day: 2 })
    const [{ org_id }, other] = [await createTestTeam(), await createTestTeam()]
    const email = address()
    assert.equal((await send(admin, org_id, email)).status, 200)
    assert.equal((await send(admin, org_id, email.toUpperCase())).status, 200)
    const { status, headers } = await send(admin, org_id, email)
    assert.deepEqual([status, Number(headers['retry-after']) > 3600], [429, true])
    assert.equal(await mailsTo(email), 2)
    assert.equal((await send(admin, org_id, address())).status, 200)
    assert.equal((await send(admin, other.org_id, email)).status, 200)
  })

  test('count when they are sent: not a transaction that failed, nor twice one that was run again', async () => {
    const admin = limited({ invites_per_hour: 1, invites_per_address_per_day: 1 })
    const { org_id } = await createTestTeam()
    const email = address()
    const failing = cells.control.plainTx(async (tx) => {
      await invite(admin, tx, org_id, email)
      throw new Error('the transaction failed')
    })
    await assert.rejects(failing, /the transaction failed/)
    let runs = 0
    const repeated = await readRejection(() =>
      cells.control.plainTx(async (tx) => {
        await invite(admin, tx, org_id, email)
        if (++runs === 1) throw Object.assign(new Error('run it again'), { code: '40001' })
      }),
    )
    assert.deepEqual([runs, repeated.status], [2, 200])
    assert.equal((await send(admin, org_id, email)).status, 429)
    assert.equal(await mailsTo(email), 1)
  })

  test('that were refused because of the organization leave the quota of the address', async (t) => {
    const admin = limited({ invites_per_hour: 1, invites_per_address_per_day: 1 })
    const { org_id } = await createTestTeam()
    const email = address()
    assert.equal((await send(admin, org_id, address())).status, 200)
    assert.equal((await send(admin, org_id, email)).status, 429)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61 * 60_000 })
    const { status } = await send(admin, org_id, email).finally(() => t.mock.timers.reset())
    assert.equal(status, 200)
  })

  test('of one organization are as many as the quota of an hour', async () => {
    const admin = limited({ invites_per_hour: 3 })
    const [{ org_id }, other] = [await createTestTeam(), await createTestTeam()]
    for (let i = 0; i < 3; i++) assert.equal((await send(admin, org_id, address())).status, 200)
    const email = address()
    const { status, headers } = await send(admin, org_id, email)
    assert.deepEqual([status, Number(headers['retry-after']) > 60], [429, true])
    assert.equal(await mailsTo(email), 0)
    assert.equal((await send(admin, other.org_id, email)).status, 200)
  })
})
