// Tests against a peer that speaks the protocol of the service, with the message definitions of the client library.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import { readConfig } from '../../../settings/config.ts'
import { generateVaultKey, Vault } from '../../../platform/crypto/vault.ts'
import { startPubSub } from '../../../../test/support/broker-peers.ts'
import { createTestTeam, pubsub_projects } from '../../../../test/support/server.ts'
import { makePipelinesDue, path, pipe, createTestPipelines, emitEvent, countQueued } from '../../../../test/support/brokers.ts'

const { port, requests, refusals } = await startPubSub()

const pipelines = createTestPipelines({ pubsub_emulator_host: `127.0.0.1:${port}` })
const topicOf = (name: string) => `projects/fictional-clinic/topics/${name}`
const settings = (topic: string, message_ordering = false) => ({
  cloud_pubsub: { project: 'fictional-clinic', topic, message_ordering },
})
const listPublished = (name: string) =>
  requests.filter(({ topic }) => topic === topicOf(name)).flatMap(({ messages }) => messages)
const bytes = (data: unknown): Buffer => Buffer.from(data as Uint8Array)

describe('Pub/Sub', () => {
  test('Pub/Sub receives the stored bytes with their attributes, plain up to 1 KiB and compressed above', async () => {
    const team = await createTestTeam()
    await pipe(team, settings('plain'))
    const small = await emitEvent(team, { bytes: 1024 })
    const large = await emitEvent(team, { type: 'labtest.order.updated', bytes: 1025 })
    await pipelines.drain()
    const [first, second] = listPublished('plain')
    assert.equal(bytes(first!.data).toString(), small.body)
    assert.deepEqual(first!.attributes, {
      'event-type': 'labtest.order.created',
      'idempotency-key': small.key,
      'blob-type': 'json',
    })
    assert.equal(first!.orderingKey, '')
    assert.equal(gunzipSync(bytes(second!.data)).toString(), large.body)
    assert.deepEqual(second!.attributes, {
      'event-type': 'labtest.order.updated',
      'idempotency-key': large.key,
      'blob-type': 'json',
      'blob-codec': 'gzip',
    })
    assert.deepEqual(await countQueued(team), [])
  })

  test('Pub/Sub receives the events of each user in order under their key, over several requests', async () => {
    const team = await createTestTeam()
    await pipe(team, settings('ordered', true))
    const users = await Promise.all(Array.from({ length: 3 }, () => team.user()))
    const emitted = users.map((): string[] => [])
    for (let i = 0; i < 120; i++) emitted[i % 3]!.push((await emitEvent(team, { user_id: users[i % 3]! })).key)
    await pipelines.drain()
    for (const [i, user] of users.entries()) {
      const own = listPublished('ordered').filter(({ orderingKey }) => orderingKey === user)
      assert.deepEqual(
        own.map(({ attributes }) => attributes!['idempotency-key']),
        emitted[i],
      )
    }
  })

  for (const [what, code] of [
    ['not there', status.NOT_FOUND],
    ['forbidden', status.PERMISSION_DENIED],
    ['not available', status.UNAVAILABLE],
  ] as const)
    test(`Pub/Sub receives all events in order once a topic that was ${what} works`, async () => {
      const team = await createTestTeam()
      const name = `topic-${code}`
      await pipe(team, settings(name, true))
      refusals.set(topicOf(name), code)
      const first = await emitEvent(team)
      await pipelines.drain()
      const second = await emitEvent(team, { user_id: first.user_id })
      await pipelines.drain()
      assert.deepEqual(await countQueued(team), ['cloud_pubsub after 0', 'cloud_pubsub after 0'])
      refusals.delete(topicOf(name))
      await makePipelinesDue(team)
      await pipelines.drain()
      assert.deepEqual(
        listPublished(name).map(({ attributes }) => attributes!['idempotency-key']),
        [first.key, second.key],
      )
      assert.deepEqual(await countQueued(team), [])
    })

  test('an event that waits for its topic is not sent after its user is deleted, and events of others are sent', async () => {
    const team = await createTestTeam()
    await pipe(team, settings('waiting'))
    refusals.set(topicOf('waiting'), status.UNAVAILABLE)
    const [deleted, other] = [await emitEvent(team), await emitEvent(team)]
    await pipelines.drain()
    assert.equal((await countQueued(team)).length, 2)
    assert.equal((await team.api.delete(`/v2/user/${deleted.user_id}`)).status, 200)
    refusals.delete(topicOf('waiting'))
    await makePipelinesDue(team)
    await pipelines.drain()
    assert.deepEqual(
      listPublished('waiting').map(({ attributes }) => attributes!['idempotency-key']),
      [other.key],
    )
    assert.deepEqual(await countQueued(team), [])
  })

  test('a pipeline that cannot be decrypted delays no other, is reported, and resumes when it is configured again', async () => {
    const [bad, good] = await Promise.all([createTestTeam(), createTestTeam()])
    await pipe(bad, settings('unreadable'))
    await pipe(good, settings('readable'))
    const keys = [generateVaultKey()]
    const encrypted = new Vault(() => keys).encrypt('{}', `destinations of ${bad.team}`)
    await bad.db.pool.query('update pipeline set destinations = $2 where team_id = $1', [bad.team, encrypted])
    for (const team of [bad, good, bad, good]) await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual([listPublished('unreadable').length, listPublished('readable').length], [0, 2])
    assert.deepEqual(await countQueued(bad), ['cloud_pubsub after 0', 'cloud_pubsub after 0'])
    const shown = async () => (await bad.manage.get(path())).body.pipelines[0]
    const { cloud_pubsub, delivery_error } = await shown()
    assert.deepEqual([cloud_pubsub, delivery_error], [null, 'The credentials of the destinations cannot be decrypted'])
    await pipe(bad, settings('unreadable'))
    assert.equal((await shown()).delivery_error, null)
    await pipelines.drain()
    assert.equal(listPublished('unreadable').length, 2)
  })

  test('events are published only to projects allowed for the organization, checked at configuration and sending', async () => {
    const [team, other] = await Promise.all([createTestTeam(), createTestTeam()])
    const destination = { cloud_pubsub: { project: 'operator-billing', topic: 'mine', message_ordering: false } }
    const body = { team_ids: [team.team], preferences: { preferred: 'cloud_pubsub', enabled: ['cloud_pubsub'] }, ...destination }
    const refused = await team.manage.post(path(), body)
    assert.equal(refused.status, 422)
    assert.deepEqual(
      refused.body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc, msg]),
      [
        [
          ['body', 'cloud_pubsub', 'project'],
          'Value error, must be a project that the operator allows this organization to publish to (PUBSUB_PROJECTS)',
        ],
      ],
    )
    assert.deepEqual((await team.manage.get(path())).body.pipelines, [])
    pubsub_projects.set(team.org_id, new Set(['operator-billing']))
    assert.equal((await other.manage.post(path(), { ...body, team_ids: [other.team] })).status, 422)
    await pipe(team, destination)
    await emitEvent(team)
    pubsub_projects.delete(team.org_id)
    await pipelines.drain()
    const mine = () => requests.filter(({ topic }) => topic === 'projects/operator-billing/topics/mine').length
    assert.equal(mine(), 0)
    assert.deepEqual(await countQueued(team), ['cloud_pubsub after 0'])
    const [shown] = (await team.manage.get(path())).body.pipelines
    assert.equal(shown.delivery_error, 'The operator does not allow this organization to publish to the project')
    const again = await team.manage.post(path(), { team_ids: [team.team], event_type_prefixes: ['labtest.'] })
    assert.deepEqual([again.status, again.body.detail], [400, shown.delivery_error])
    pubsub_projects.set(team.org_id, new Set(['operator-billing']))
    await makePipelinesDue(team)
    await pipelines.drain()
    assert.equal(mine(), 1)
  })
})

test('projects are read from a setting, and invalid entries are rejected', () => {
  const org = '01890000-0000-7000-8000-00000000000A'
  const { pubsub_projects } = readConfig({ PUBSUB_PROJECTS: `${org}=clinic-events, ${org}=clinic-more,*=shared` })
  assert.deepEqual(
    [...pubsub_projects].map(([of, projects]) => [of, [...projects]]),
    [
      [org.toLowerCase(), ['clinic-events', 'clinic-more']],
      ['*', ['shared']],
    ],
  )
  assert.deepEqual([...readConfig({}).pubsub_projects], [])
  for (const text of ['clinic-events', '=clinic-events', `${org}=`, `${org}=a b`, 'x=clinic-events', `${org}=a/b`, '**=a'])
    assert.throws(() => readConfig({ PUBSUB_PROJECTS: text }), /PUBSUB_PROJECTS/, text)
})
