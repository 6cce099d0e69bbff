import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createLog } from '../../platform/telemetry/log.ts'
import { sql } from '../../platform/db/sql.ts'
import { expire, createTestTeam } from '../../../test/support/server.ts'
import { path, pipe, createTestPipelines, emitEvent, countQueued } from '../../../test/support/brokers.ts'
import { endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { deliveryCleanups } from './delivery-rows.ts'

/** No broker listens there. */
const dead = { rabbitmq: { uri: 'amqp://events:swordfish@127.0.0.1:1/tunafish', exchange: 'marlin' } }
const pipelines = createTestPipelines()
const types = async (team: Awaited<ReturnType<typeof createTestTeam>>): Promise<string[]> => {
  const { rows } = await team.db.pool.query<{ type: string }>(
    "select e.type from delivery d join event e on e.id = d.message_id where d.team_id = $1 and d.destination_id like 'rabbitmq%' order by d.queue_position",
    [team.team],
  )
  return rows.map(({ type }) => type)
}

describe('an event', () => {
  test('an event is queued for each enabled broker of its own team and environment', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await pipe(team, { ...dead, cloud_pubsub: { project: 'fictional-clinic', topic: 'events', message_ordering: false } })
    const { preferences } = (await team.manage.get(path())).body.pipelines[0]
    await team.manage.post(path(), { team_ids: [team.team], preferences: { ...preferences, enabled: ['rabbitmq'] } })
    await pipe(other, dead)
    await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
    assert.deepEqual(await countQueued(other), [])
  })

  test('an event is queued when its type starts with a configured prefix, or when no prefix is configured', async () => {
    const team = await createTestTeam()
    await pipe(team, dead, { event_type_prefixes: ['labtest.order.', 'daily.'] })
    for (const type of ['labtest.order.created', 'labtest.result.critical', 'daily.data.steps.created'])
      await emitEvent(team, { type })
    await pipelines.drain()
    assert.deepEqual(await types(team), ['labtest.order.created', 'daily.data.steps.created'])
    await pipe(team, dead, { event_type_prefixes: [] })
    await emitEvent(team, { type: 'labtest.result.critical' })
    await pipelines.drain()
    assert.equal((await types(team)).at(-1), 'labtest.result.critical')
  })

  test('raw provider events and historical events go to pipelines that request them and never to endpoints', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    await endpoint(team, { url: target.url })
    const tell = async () => {
      await emitEvent(team, { type: 'raw.oura.sleep' })
      await emitEvent(team, { type: 'daily.data.sleep.created', historical: true })
      await emitEvent(team, { type: 'historical.data.sleep.created' })
      await pipelines.drain()
    }
    const both = { names: ['svix'] }
    await pipe(team, dead, both)
    await tell()
    assert.deepEqual(await types(team), ['historical.data.sleep.created'])
    await pipe(team, dead, { ...both, provider_raw_data: true, push_historical_data: true })
    await tell()
    const later = ['raw.oura.sleep', 'daily.data.sleep.created', 'historical.data.sleep.created']
    assert.deepEqual((await types(team)).slice(1), later)
    const received = target.received.map(({ body }) => JSON.parse(body).event_type)
    assert.deepEqual(received, ['historical.data.sleep.created', 'historical.data.sleep.created'])
    const fresh = await endpoint(team, { url: `${target.url}/new` })
    await team.manage.post(`${fresh.path}/replay`, { since: '2020-01-01', which: 'missing' })
    await team.settle()
    await pipelines.drain()
    const replayed = target.received
      .filter((request) => request.path === '/hook/new')
      .map(({ body }) => JSON.parse(body).event_type)
    assert.deepEqual(replayed, ['historical.data.sleep.created', 'historical.data.sleep.created'])
  })

  test('an event goes to endpoints only while svix is enabled or the team has no pipeline', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    await endpoint(team, { url: target.url })
    const arrives = async () => {
      const before = target.received.length
      await emitEvent(team)
      await pipelines.drain()
      return target.received.length - before
    }
    assert.equal(await arrives(), 1)
    await pipe(team, dead)
    assert.equal(await arrives(), 0)
    await pipe(team, dead, { names: ['svix'] })
    assert.equal(await arrives(), 1)
    await pipe(team, {}, { names: ['svix'] })
    assert.equal(await arrives(), 1)
    await pipe(team, dead)
    await team.manage.delete(`${path()}?team_id=${team.team}`)
    assert.equal(await arrives(), 1)
  })

  test('an event of a deleted user is not sent, whether the user is deleted before or after it is queued', async () => {
    const team = await createTestTeam()
    await pipe(team, dead)
    const before = await emitEvent(team)
    await team.api.delete(`/v2/user/${before.user_id}`)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), [])
    const later = await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
    await team.api.delete(`/v2/user/${later.user_id}`)
    await team.api.post('/v1/sandbox/clock/advance', { seconds: 8 * 86_400 })
    assert.deepEqual(await countQueued(team), [])
  })

  test('a queued event is deleted with its destination or pipeline, or after 30 days', async () => {
    const team = await createTestTeam()
    await pipe(team, dead)
    await emitEvent(team)
    await pipelines.drain()
    await pipe(team, {}, { names: ['svix'] })
    assert.deepEqual(await countQueued(team), [])
    await pipe(team, dead)
    await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
    await team.manage.delete(`${path()}?team_id=${team.team}`)
    assert.deepEqual(await countQueued(team), [])
    await pipe(team, dead)
    await emitEvent(team)
    await pipelines.drain()
    const aged = (days: number) =>
      team.db.queries.run(sql`
        update delivery set created_at = created_at - make_interval(days => ${days}) where team_id = ${team.team}`)
    await aged(29)
    await expire(team.db, deliveryCleanups[0]!)
    assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
    await aged(2)
    await expire(team.db, deliveryCleanups[0]!)
    assert.deepEqual(await countQueued(team), [])
  })
})

test('log lines contain ids, counts and reasons, but no address, password or body', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-log-'))
  const log = createLog('trace', { path: join(folder, 'log') })
  const team = await createTestTeam()
  await pipe(team, dead)
  const { user_id } = await emitEvent(team)
  await createTestPipelines({ log }).drain()
  await new Promise<void>((resolve) => log.flush(() => resolve()))
  const text = readFileSync(join(folder, 'log'), 'utf8')
  rmSync(folder, { recursive: true })
  assert(text.includes(team.team) && text.includes('ECONNREFUSED'))
  for (const word of ['swordfish', 'tunafish', 'marlin', '127.0.0.1', 'amqp:', 'reference', user_id])
    assert(!text.includes(word), word)
})
