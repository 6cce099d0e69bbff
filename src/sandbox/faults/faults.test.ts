// Faults that a sandbox team asks for: of its requests, by a setting or by a header, and of its deliveries.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { cells, client, createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { delivering, emitEvents, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { sql } from '../../platform/db/sql.ts'
import { SandboxFaults } from './fault-source.ts'

const PATH = '/v1/sandbox/faults'

const set = async ({ api }: TestTeam, faults: object) => {
  const reply = await api.put(PATH, faults)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}

/** A request as any client sends it, with its time. */
async function ask({ key }: Pick<TestTeam, 'key'>, path: string, init: RequestInit = {}) {
  const began = performance.now()
  const response = await fetch(url + path, {
    ...init,
    headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...init.headers },
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, took_ms: performance.now() - began }
}

const LABS = '/v3/lab_tests'
const newUser = (client_user_id: string) => ({ method: 'POST', body: JSON.stringify({ client_user_id }) })

describe('faults of requests', () => {
  test('are answers of the operation that they name, so often as they say, to no other operation and no other team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await set(team, {
      requests: [
        { operation: 'get_lab_tests_for_team', status: 503, times: 2 },
        { operation: 'get_lab_tests_for_team', status: 429 },
        { operation: 'get_lab_tests_for_team', status: 500 },
      ],
    })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const { status, headers, text } = await ask(team, LABS)
      statuses.push(status)
      if (status === 200) continue
      assert.equal(headers.get('x-sandbox-fault'), String(status))
      assert.equal(headers.get('retry-after'), status === 500 ? null : '1')
      assert.match(JSON.parse(text).detail, /fault of the sandbox/)
      assert.equal((await ask(team, '/v2/user')).status, 200)
      assert.equal((await ask(other, LABS)).status, 200)
    }
    assert.deepEqual(statuses, [503, 503, 429, 500, 200])
  })

  test('without an operation apply to each operation except sandbox operations, and are replaced and removed', async () => {
    const team = await createTestTeam()
    const { requests, deliveries, expires_at } = await set(team, { requests: [{ status: 500, times: 7 }] })
    assert.deepEqual([requests, deliveries], [[{ operation: null, status: 500, times: 7 }], []])
    const left_s = (Date.parse(expires_at) - Date.now()) / 1000
    assert.ok(left_s > 3000 && left_s <= 3605, expires_at)
    assert.equal((await ask(team, LABS)).status, 500)
    assert.equal((await ask(team, '/v2/user', newUser('one'))).status, 500)
    assert.equal((await ask(team, '/v1/sandbox/clock')).status, 200)
    assert.equal((await team.api.get(PATH)).body.requests[0].times, 5)
    assert.deepEqual((await team.manage.get('')).status, 200)
    await set(team, { requests: [{ status: 429 }] })
    assert.equal((await ask(team, LABS)).status, 429)
    assert.equal((await ask(team, LABS)).status, 200)
    await set(team, { requests: [{ status: 429, times: 1000 }] })
    assert.equal((await team.api.delete(PATH)).status, 204)
    assert.equal((await ask(team, LABS)).status, 200)
  })

  test('hold requests, close connections, and may do so after the operation', async () => {
    const team = await createTestTeam()
    await set(team, {
      requests: [{ operation: 'get_lab_tests_for_team', delay_ms: 400 }, { delay_ms: 300, status: 503 }, { drop: true }],
    })
    const late = await ask(team, LABS)
    assert.ok(late.status === 200 && late.took_ms >= 390, `${late.status} ${late.took_ms}`)
    assert.equal(late.headers.get('x-sandbox-fault'), 'delay=400')
    const refused = await ask(team, LABS)
    assert.ok(refused.status === 503 && refused.took_ms >= 290, `${refused.status} ${refused.took_ms}`)
    const unmade = `unmade-${randomUUID()}`
    await assert.rejects(ask(team, '/v2/user', newUser(unmade)), TypeError)
    assert.equal((await team.api.get(`/v2/user/resolve/${unmade}`)).status, 404)

    await set(team, {
      requests: [
        { operation: 'create_user', drop: true, after: true },
        { operation: 'create_user', status: 500, after: true },
      ],
    })
    for (const name of [`lost-${randomUUID()}`, `failed-${randomUUID()}`]) {
      const outcome = await ask(team, '/v2/user', newUser(name)).then(
        ({ status }) => status,
        () => 'dropped',
      )
      assert.equal(outcome, name.startsWith('lost') ? 'dropped' : 500)
      assert.equal((await team.api.get(`/v2/user/resolve/${name}`)).status, 200, name)
    }
  })

  test('end by themselves', async () => {
    const team = await createTestTeam()
    await set(team, { requests: [{ status: 500, times: 10 }] })
    assert.equal((await ask(team, LABS)).status, 500)
    await team.db.queries.run(sql`update sandbox_fault set expires_at = now() - interval '1 second' where team_id = ${team.team}`)
    assert.equal((await ask(team, LABS)).status, 200)
    assert.deepEqual((await team.api.get(PATH)).body, { requests: [], deliveries: [], expires_at: null })
  })

  test('of one team hold at most 20 requests, and requests of others continue', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await set(team, { requests: [{ delay_ms: 3000, times: 100 }] })
    const asked = Array.from({ length: 24 }, () => ask(team, LABS))
    const quick = await ask(other, LABS)
    assert.equal(quick.status, 200)
    const answers = await Promise.all(asked)
    const refused = answers.filter(({ status }) => status === 503)
    assert.ok(refused.length >= 4, String(refused.length))
    for (const { text } of refused) assert.match(text, /Too many requests are held/)
    assert.equal(answers.filter(({ status, took_ms }) => status === 200 && took_ms >= 2900).length, 24 - refused.length)
  })

  test('of several processes are used up together', async () => {
    const team = await createTestTeam()
    const other = new SandboxFaults(cells)
    await set(team, { requests: [{ status: 500, times: 2 }] })
    const tenant = { team: team.team, org: team.org_id, cell: 'sandbox-us' as const, clock_offset_s: 0, settings: {} }
    assert.deepEqual(await other.takeRequest(tenant, 'get_lab_tests_for_team'), { status: 500 })
    assert.equal((await ask(team, LABS)).status, 500)
    assert.equal(await other.takeRequest(tenant, 'get_lab_tests_for_team'), undefined)
  })

  test('that another process sets later are found within seconds, also by a process that has looked before', async () => {
    const team = await createTestTeam()
    const other = new SandboxFaults(cells)
    const tenant = { team: team.team, org: team.org_id, cell: 'sandbox-us' as const, clock_offset_s: 0, settings: {} }
    const takeFault = () => other.takeRequest(tenant, 'get_lab_tests_for_team')
    assert.equal(await takeFault(), undefined)
    await set(team, { requests: [{ status: 500 }] })
    assert.deepEqual(await eventually(takeFault, 'the fault of the other process'), { status: 500 })
  })

  test('are checked: unknown operations and types, values out of bounds, two things at once, and nothing', async () => {
    const { api } = await createTestTeam()
    const refused: [object, (string | number)[]][] = [
      [{ requests: [{ operation: 'paint_lab', status: 500 }] }, ['body', 'requests', 0, 'operation']],
      [{ requests: [{ status: 418 }] }, ['body', 'requests', 0, 'status']],
      [{ requests: [{ delay_ms: 30_001 }] }, ['body', 'requests', 0, 'delay_ms']],
      [{ requests: [{ status: 500, drop: true }] }, ['body', 'requests', 0, 'drop']],
      [{ requests: [{ times: 3 }] }, ['body', 'requests', 0]],
      [{ requests: [{ status: 500, times: 1001 }] }, ['body', 'requests', 0, 'times']],
      [{ requests: Array(21).fill({ status: 500 }) }, ['body', 'requests']],
      [{ deliveries: [{ type: 'labtest.order.painted', delay_s: 1 }] }, ['body', 'deliveries', 0, 'type']],
      [{ deliveries: [{ delay_s: 3601 }] }, ['body', 'deliveries', 0, 'delay_s']],
      [{ deliveries: [{ copies: 6 }] }, ['body', 'deliveries', 0, 'copies']],
      [{ deliveries: [{ copies: 2, delay_s: 1 }] }, ['body', 'deliveries', 0, 'copies']],
      [{ deliveries: [{}] }, ['body', 'deliveries', 0]],
    ]
    for (const [faults, loc] of refused) {
      const { status, body } = await api.put(PATH, faults)
      assert.equal(status, 422, JSON.stringify(faults))
      assert.deepEqual(body.detail[0].loc.slice(0, loc.length), loc, JSON.stringify(body))
    }
    assert.deepEqual((await api.get(PATH)).body.requests, [])
  })
})

describe('X-Sandbox-Fault', () => {
  const fault = (words: string) => ({ headers: { 'x-sandbox-fault': words } })

  test('is the fault of one request', async () => {
    const team = await createTestTeam()
    for (const status of [429, 500, 503]) assert.equal((await ask(team, LABS, fault(String(status)))).status, status)
    const late = await ask(team, LABS, fault('delay=200'))
    assert.ok(late.status === 200 && late.took_ms >= 190, `${late.status} ${late.took_ms}`)
    assert.equal((await ask(team, LABS, fault('Delay=10, 503'))).status, 503)
    await assert.rejects(ask(team, LABS, fault('drop')), TypeError)
    const lost = `lost-${randomUUID()}`
    await assert.rejects(ask(team, '/v2/user', { ...newUser(lost), ...fault('drop, after') }), TypeError)
    assert.equal((await team.api.get(`/v2/user/resolve/${lost}`)).status, 200)
    assert.equal((await ask(team, LABS)).status, 200)
  })

  test('that says something else gets 400, and needs a valid key', async () => {
    const team = await createTestTeam()
    for (const words of ['', '418', 'after', 'delay=0', 'delay=30001', 'delay=x', '500, drop', '503 drop', 'x'.repeat(2000)]) {
      const { status, text } = await ask(team, LABS, fault(words))
      assert.deepEqual([status, /X-Sandbox-Fault must be/.test(text)], [400, true], words)
    }
    assert.equal((await ask({ key: 'sk_us_none' }, LABS, fault('503'))).status, 401)
  })

  test('means nothing in production, where a team has no faults, and in the Management API', async () => {
    const production = await createTestTeam('production-us')
    for (const words of ['503', 'drop', 'nonsense']) assert.equal((await ask(production, LABS, fault(words))).status, 200)
    for (const reply of [
      await production.api.get(PATH),
      await production.api.put(PATH, { requests: [{ status: 500 }] }),
      await production.api.delete(PATH),
    ])
      assert.equal(reply.status, 404)
    const { org_id, orgKey } = production
    const managed = await client(orgKey, 'x-management-key').call('GET', `/v1/org/${org_id}`, undefined, {
      'x-sandbox-fault': '503',
    })
    assert.equal(managed.status, 200)
  })
})

describe('faults of deliveries', () => {
  const CREATED = 'labtest.order.created'
  const UPDATED = 'labtest.order.updated'
  const delivery = delivering({ schedule_s: [0], faults: new SandboxFaults(cells) })

  async function receiving(faults: object[]) {
    const team = await createTestTeam()
    const { received, url: target } = await receiver()
    await endpoint(team, { url: target })
    await set(team, { deliveries: faults })
    const types = () => received.map(({ body }) => JSON.parse(body).event_type as string)
    return { team, received, types }
  }

  test('are late, and later events about the same object overtake them', async () => {
    const { team, types } = await receiving([{ type: CREATED, delay_s: 2 }])
    await emitEvents(team, [CREATED, UPDATED])
    await delivery.drain()
    assert.deepEqual(types(), [UPDATED])
    await eventually(async () => (await delivery.drain(), types().length === 2), 'the late event arrives')
    assert.deepEqual(types(), [UPDATED, CREATED])
    await emitEvents(team, [CREATED])
    await delivery.drain()
    assert.deepEqual(types(), [UPDATED, CREATED, CREATED])
    assert.deepEqual((await team.api.get(PATH)).body.deliveries, [])
  })

  test('are sent several times with one id, and count as one delivery', async () => {
    const { team, received } = await receiving([{ copies: 3, times: 2 }])
    await emitEvents(team, [CREATED, UPDATED, CREATED], { objects: 'each' })
    await delivery.drain()
    assert.equal(received.length, 7)
    const counts = Map.groupBy(received, ({ headers }) => headers['webhook-id'] as string)
    assert.deepEqual([...counts.values()].map((copies) => copies.length).toSorted(), [1, 3, 3])
    for (const copies of counts.values()) assert.equal(new Set(copies.map(({ body }) => body)).size, 1)
  })

  test('are sent several times at a later attempt and when they are sent again, too', async () => {
    const team = await createTestTeam()
    const copies = (times: number) => set(team, { deliveries: [{ copies: 3, times }] })
    const retrying = delivering({ schedule_s: [0, 2], faults: new SandboxFaults(cells) })
    let refused = 0
    const { received, url: target } = await receiver((_, response) => {
      response.statusCode = refused++ ? 200 : 500
      response.end()
    })
    const hook = await endpoint(team, { url: target })
    await emitEvents(team, [CREATED])
    await retrying.drain()
    assert.equal(received.length, 1)
    await copies(1)
    await eventually(async () => (await retrying.drain(), received.length === 4), 'three copies of the second attempt arrive')
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
    await copies(1)
    const again = `${hook.path}/message/${received[0]!.headers['webhook-id'] as string}/resend`
    assert.equal((await team.manage.post(again)).status, 200)
    await eventually(
      async () => (await retrying.drain(), received.length === 7),
      'three copies of the event that is sent again arrive',
    )
    assert.deepEqual((await team.api.get(PATH)).body.deliveries, [])
  })

  test('are out of order: every event arrives, each once, at a time of its own', async () => {
    const { team, received } = await receiving([{ out_of_order: true, delay_s: 2, times: 12 }])
    await emitEvents(team, Array<string>(12).fill(CREATED))
    const order = (await team.api.get('/v1/events?limit=50')).body.data.map(({ id }: { id: string }) => id).toReversed()
    await eventually(async () => (await delivery.drain(), received.length === 12), 'all events arrive')
    const { data } = (await team.api.get('/v1/events/follow?limit=50')).body
    const sent = new Map(data.map(({ id }: { id: string }, i: number) => [id, i]))
    const arrived = received.map(({ headers }) => sent.get(headers['webhook-id'] as string) as number)
    assert.deepEqual([arrived.toSorted((a, b) => a - b), order.length], [Array.from({ length: 12 }, (_, i) => i), 12])
    assert.notDeepEqual(
      arrived,
      arrived.toSorted((a, b) => a - b),
    )
  })

  test('apply to no other team, and not in production', async () => {
    const [{ team }, other] = [await receiving([{ delay_s: 3600, times: 1000 }]), await createTestTeam()]
    const { received, url: target } = await receiver()
    await endpoint(other, { url: target })
    await emitEvents(team)
    await emitEvents(other)
    await delivery.drain()
    assert.equal(received.length, 1)
    assert.deepEqual([...(await new SandboxFaults(cells).teams(cells.db('production-us').queries))], [])
  })
})
