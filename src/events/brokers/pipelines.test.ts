import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { cells, client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { path } from '../../../test/support/brokers.ts'

const uri = 'amqps://events:swordfish@broker.example.com/clinic'
const hubs = 'Endpoint=sb://clinic.servicebus.example.com/;SharedAccessKeyName=send;SharedAccessKey=c3dvcmRmaXNo'
const blobs = 'DefaultEndpointsProtocol=https;AccountName=clinic;AccountKey=c3dvcmRmaXNo;EndpointSuffix=storage.example.com'
const shownUri = 'amqps://events:***@broker.example.com/clinic'
const shownHubs = 'Endpoint=sb://clinic.servicebus.example.com/;SharedAccessKeyName=send;SharedAccessKey=***'
const shownBlobs = 'DefaultEndpointsProtocol=https;AccountName=clinic;AccountKey=***;EndpointSuffix=storage.example.com'

const rabbitmq = { uri, exchange: 'events' }
const onlyPreference = (name: string) => ({ preferred: name, enabled: [name] })
const inRabbit = (team: TestTeam, overrides = {}) => ({
  team_ids: [team.team],
  preferences: onlyPreference('rabbitmq'),
  rabbitmq,
  ...overrides,
})
const matcher = { event_type_prefix: 'labtest.result', blob_storage: { connection_string: blobs, container: 'results' } }
const azure_amqp = { connection_string: hubs, default_event_hub: 'events', event_hub_matchers: [matcher] }

const readStoredPreferences = async (team: TestTeam): Promise<string> => {
  const { rows } = await team.db.pool.query('select * from pipeline where team_id = $1', [team.team])
  return JSON.stringify(rows)
}
const list = async (team: TestTeam, query = '') => (await team.manage.get(`${path()}${query}`)).body

describe('a pipeline', () => {
  test('a pipeline is created with defaults and returned without its password', async () => {
    const team = await createTestTeam()
    const { status, body } = await team.manage.post(path(), inRabbit(team))
    const expected = {
      team_id: team.team,
      push_historical_data: false,
      provider_raw_data: false,
      preferences: onlyPreference('rabbitmq'),
      cloud_pubsub: null,
      rabbitmq: { uri: shownUri, exchange: 'events' },
      svix: null,
      azure_amqp: null,
      event_type_prefixes: null,
      delivery_error: null,
    }
    assert.deepEqual([status, body], [200, [expected]])
    assert.deepEqual(await list(team), { pipelines: [expected], next_cursor: null })
    assert(!/swordfish|broker\.example/.test(await readStoredPreferences(team)), 'at rest it is encrypted')
  })

  test('an update keeps omitted fields and replaces a destination as a whole', async () => {
    const team = await createTestTeam()
    await team.manage.post(path(), inRabbit(team, { push_historical_data: true, event_type_prefixes: ['labtest.'] }))
    const cloud_pubsub = { project: 'fictional-clinic', topic: 'events', message_ordering: true }
    const { body } = await team.manage.post(path(), { team_id: team.team, cloud_pubsub, rabbitmq: null, provider_raw_data: true })
    assert.deepEqual(body[0].rabbitmq, { uri: shownUri, exchange: 'events' })
    assert.deepEqual(body[0].cloud_pubsub, cloud_pubsub)
    assert.deepEqual([body[0].push_historical_data, body[0].provider_raw_data], [true, true])
    assert.deepEqual(body[0].event_type_prefixes, ['labtest.'])
    const after = await team.manage.post(path(), { team_ids: [team.team], event_type_prefixes: [], svix: {} })
    assert.deepEqual(after.body[0].event_type_prefixes, [])
    assert.deepEqual(after.body[0].svix, { regional: true })
  })

  test('an Event Hubs pipeline returns every field of a matcher and accepts both names of a container', async () => {
    const team = await createTestTeam()
    const event_hub_matchers = [
      matcher,
      { event_type_regex: '^daily\\.', event_hub: 'daily' },
      { event_type_prefix: '', blob_storage: { connection_string: blobs, container_name: 'rest' } },
    ]
    const body = {
      team_ids: [team.team],
      preferences: onlyPreference('azure_amqp'),
      azure_amqp: { ...azure_amqp, event_hub_matchers },
    }
    const shown = (await team.manage.post(path(), body)).body[0].azure_amqp
    const none = { event_type_prefix: null, event_type_regex: null, event_hub: null, blob_storage: null }
    const storage = (container_name: string) => ({ connection_string: shownBlobs, container_name })
    assert.deepEqual(shown, {
      connection_string: shownHubs,
      default_event_hub: 'events',
      event_hub_matchers: [
        { ...none, event_type_prefix: 'labtest.result', blob_storage: storage('results') },
        { ...none, event_type_regex: '^daily\\.', event_hub: 'daily' },
        { ...none, event_type_prefix: '', blob_storage: storage('rest') },
      ],
      compression: 'auto',
    })
  })

  test('an update keeps a secret that is sent back redacted, and rejects a redacted secret for another address', async () => {
    const team = await createTestTeam()
    const both = { preferred: 'rabbitmq', enabled: ['rabbitmq', 'azure_amqp'] }
    await team.manage.post(path(), inRabbit(team, { preferences: both, azure_amqp }))
    const before = (await list(team)).pipelines[0]
    const { team_id: _, ...shown } = before
    const again = await team.manage.post(path(), { team_ids: [team.team], ...shown })
    assert.deepEqual([again.status, again.body], [200, [before]])
    for (const changed of [
      { rabbitmq: { uri: shownUri.replace('broker', 'other'), exchange: 'events' } },
      { azure_amqp: { ...shown.azure_amqp, connection_string: shownHubs.replace('clinic', 'other') } },
      {
        azure_amqp: {
          ...azure_amqp,
          event_hub_matchers: [
            { ...matcher, blob_storage: { connection_string: shownBlobs.replace('clinic', 'x'), container: 'results' } },
          ],
        },
      },
    ])
      assert.equal((await team.manage.post(path(), { team_ids: [team.team], ...changed })).status, 400)
    assert.deepEqual((await list(team)).pipelines[0], before)
    const fresh = await createTestTeam()
    assert.equal((await fresh.manage.post(path(), inRabbit(fresh, { rabbitmq: before.rabbitmq }))).status, 400)
  })

  test('a pipeline requires preferences, an enabled preferred destination and a configuration for each enabled one', async () => {
    const team = await createTestTeam()
    const refused = async (rejectPreferences: object) => {
      const { status, body } = await team.manage.post(path(), { ...inRabbit(team), ...rejectPreferences })
      assert.equal(status, 400)
      return body.detail
    }
    assert.match(await refused({ preferences: null }), /requires preferences/)
    assert.match(await refused({ preferences: { preferred: 'svix', enabled: ['rabbitmq'] } }), /preferred/)
    assert.match(await refused({ preferences: { preferred: 'rabbitmq', enabled: [] } }), /preferred/)
    assert.match(await refused({ preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'azure_amqp'] } }), /azure_amqp/)
    assert.deepEqual((await list(team)).pipelines, [])
    const webhooksOnly = await team.manage.post(path(), { team_ids: [team.team], preferences: onlyPreference('svix') })
    assert.equal(webhooksOnly.status, 200)
  })

  const faults: [string, object, (string | number)[]][] = [
    ['no teams', { team_ids: [] }, ['team_ids']],
    ['another protocol', { rabbitmq: { uri: 'https://broker.example.com', exchange: '' } }, ['rabbitmq', 'uri']],
    ['parameters in the address', { rabbitmq: { uri: `${uri}?heartbeat=1`, exchange: '' } }, ['rabbitmq', 'uri']],
    ['a private address', { rabbitmq: { uri: 'amqps://a:b@10.0.0.1', exchange: '' } }, ['rabbitmq', 'uri']],
    [
      'an incomplete connection string',
      { azure_amqp: { connection_string: 'Endpoint=sb://x.example', default_event_hub: 'x' } },
      ['azure_amqp', 'connection_string'],
    ],
    ['svix that is not regional', { svix: { regional: false } }, ['svix', 'regional']],
    ['an unknown destination', { preferences: onlyPreference('kafka') }, ['preferences', 'preferred']],
    ['an empty prefix', { event_type_prefixes: [''] }, ['event_type_prefixes', 0]],
    ['too many prefixes', { event_type_prefixes: Array(101).fill('a') }, ['event_type_prefixes']],
    [
      'a topic that is a path',
      { cloud_pubsub: { project: 'fictional', topic: 'a/b/c', message_ordering: false } },
      ['cloud_pubsub', 'topic'],
    ],
  ]
  for (const [what, more, loc] of faults)
    test(`a pipeline with ${what} returns 422`, async () => {
      const team = await createTestTeam()
      const { status, body } = await team.manage.post(path(), { ...inRabbit(team), ...more })
      assert.equal(status, 422)
      assert.deepEqual(body.detail[0].loc, ['body', ...loc])
      assert(!JSON.stringify(body).includes('swordfish'))
    })

  const badMatchers: [string, object, string][] = [
    ['neither prefix nor expression', { event_hub: 'x' }, 'event_type_prefix'],
    ['both prefix and expression', { event_type_prefix: 'a', event_type_regex: 'b', event_hub: 'x' }, 'event_type_regex'],
    ['nowhere to go', { event_type_prefix: 'a' }, 'event_hub'],
    ['two ways to go', { ...matcher, event_hub: 'x' }, 'blob_storage'],
    ['an expression that is no RE2', { event_type_regex: '(?=a)', event_hub: 'x' }, 'event_type_regex'],
    ['an expression that explodes', { event_type_regex: '((a{100}){100}){100}', event_hub: 'x' }, 'event_type_regex'],
  ]
  for (const [what, one, field] of badMatchers)
    test(`a pipeline whose matcher has ${what} returns 422`, async () => {
      const team = await createTestTeam()
      const azure = { ...azure_amqp, event_hub_matchers: [matcher, one] }
      const { status, body } = await team.manage.post(path(), inRabbit(team, { azure_amqp: azure }))
      assert.equal(status, 422)
      assert.deepEqual(body.detail[0].loc, ['body', 'azure_amqp', 'event_hub_matchers', 1, field])
    })

  test('a production pipeline requires TLS and a public address', async () => {
    const team = await createTestTeam('production-us')
    const status = async (address: string) =>
      (await team.manage.post(path('production'), inRabbit(team, { rabbitmq: { uri: address, exchange: '' } }))).status
    assert.equal(await status('amqp://a:b@broker.example.com'), 422)
    assert.equal(await status('amqps://a:b@127.0.0.1'), 422)
    assert.equal(await status('amqps://a:b@[::1]'), 422)
    assert.equal(await status('amqps://a:b@localhost'), 422)
    assert.equal(await status('amqps://a:b@broker.example.com'), 200)
    const emulator = { ...azure_amqp, connection_string: `${hubs};UseDevelopmentEmulator=true` }
    assert.equal((await team.manage.post(path('production'), inRabbit(team, { azure_amqp: emulator }))).status, 422)
  })
})

describe('pipelines of several teams', () => {
  const another = async (team: TestTeam, region = 'us'): Promise<string> =>
    (await team.manage.post('/team', { name: 'Another', region })).body.id

  test('pipelines of several teams are created together or not at all, and returned in the order of the request', async () => {
    const team = await createTestTeam()
    const [second, abroad] = [await another(team), await another(team, 'eu')]
    const ask = (team_ids: string[]) => team.manage.post(path(), { ...inRabbit(team), team_ids })
    assert.equal((await ask([team.team, randomUUID()])).status, 404)
    assert.equal((await ask([team.team, abroad])).status, 400)
    assert.deepEqual((await list(team)).pipelines, [])
    const { body } = await ask([second, team.team, second])
    assert.deepEqual(
      body.map((pipeline: { team_id: string }) => pipeline.team_id),
      [second, team.team],
    )
    assert.equal((await team.manage.get(`${path()}?team_id=${abroad}`)).body.pipelines.length, 0)
    assert.equal((await team.manage.get(`${path()}?team_id=${randomUUID()}`)).status, 404)
    assert.equal((await list(team, `?team_id=${second}`)).pipelines.length, 1)
  })

  test('a key reaches only the pipelines of the teams that it is bound to', async () => {
    const team = await createTestTeam()
    const other = await another(team)
    const bound = { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: other }] }
    const { key } = (await team.manage.post('/management_key', bound)).body
    const limited = client(key, 'x-management-key', `/v1/org/${team.org_id}`)
    await team.manage.post(path(), { ...inRabbit(team), team_ids: [team.team, other] })
    const ids = async () => (await limited.get(path())).body.pipelines.map((pipeline: { team_id: string }) => pipeline.team_id)
    assert.deepEqual(await ids(), [other])
    assert.equal((await limited.get(`${path()}?team_id=${team.team}`)).status, 403)
    assert.equal((await limited.post(path(), { ...inRabbit(team), team_ids: [other, team.team] })).status, 403)
    const deleted = await limited.delete(`${path()}?team_id=${team.team}&team_id=${other}`)
    assert.deepEqual(
      deleted.body.map((pipeline: { team_id: string }) => pipeline.team_id),
      [other],
    )
    assert.equal((await list(team)).pipelines.length, 1)
  })

  test('pipelines are listed newest first, 50 per page', async () => {
    const team = await createTestTeam()
    const ids: string[] = []
    for (let i = 0; i < 52; i++) ids.push(await another(team))
    await team.manage.post(path(), { ...inRabbit(team), team_ids: ids })
    const first = await list(team)
    const second = await list(team, `?next_cursor=${first.next_cursor}`)
    assert.deepEqual([first.pipelines.length, second.pipelines.length, second.next_cursor], [50, 2, null])
    const seen = [...first.pipelines, ...second.pipelines].map((pipeline: { team_id: string }) => pipeline.team_id)
    assert.deepEqual(new Set(seen), new Set(ids))
    assert.equal((await team.manage.get(`${path()}?next_cursor=nonsense`)).status, 400)
  })

  test('pipelines are deleted once and returned without their secrets', async () => {
    const team = await createTestTeam()
    const made = (await team.manage.post(path(), inRabbit(team))).body
    assert.equal((await team.manage.delete(path())).status, 422)
    assert.equal((await team.manage.delete(`${path()}?team_id=${await another(team, 'eu')}`)).status, 400)
    const query = `?team_id=${team.team}&team_id=${randomUUID()}`
    assert.deepEqual((await team.manage.delete(`${path()}${query}`)).body, made)
    assert.deepEqual((await team.manage.delete(`${path()}${query}`)).body, [])
    assert.deepEqual((await list(team)).pipelines, [])
    assert.equal((await team.manage.post(path(), { team_ids: [team.team], rabbitmq: made[0].rabbitmq })).status, 400)
  })
})

test('changes of pipelines are recorded in the audit log, without the request bodies', async () => {
  const team = await createTestTeam()
  await team.manage.post(path(), inRabbit(team))
  await team.manage.delete(`${path()}?team_id=${team.team}`)
  const { rows } = await cells.control.pool.query('select * from audit_log where org_id = $1 order by id', [team.org_id])
  assert.deepEqual(
    rows.map((row) => row.operation),
    ['upsert_team_etl_pipelines', 'delete_team_etl_pipelines'],
  )
  assert(!/swordfish|broker/.test(JSON.stringify(rows)))
})
