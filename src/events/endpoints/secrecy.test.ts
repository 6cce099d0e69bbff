import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../../platform/telemetry/log.ts'
import { sql } from '../../platform/db/sql.ts'
import { expire, createTestTeam } from '../../../test/support/server.ts'
import {
  delivering,
  endpoint,
  makeDeliveriesDue,
  receiver,
  deliveryStates,
  emitEvents,
} from '../../../test/support/webhook-receiver.ts'
import { deliveryCleanups } from '../delivery/delivery-rows.ts'

test('log lines about deliveries contain ids and outcomes, but no address, header, key or body', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-log-'))
  const path = join(folder, 'log')
  const log = createLog('trace', { path })
  const team = await createTestTeam()
  const target = await receiver((_received, response) => response.writeHead(500).end('marlin'))
  const hook = await endpoint(team, { url: `${target.url}/tunafish` })
  await endpoint(team, { url: 'http://127.0.0.1:1/tunafish' })
  await endpoint(team, { url: 'http://unknown.example/tunafish' })
  await team.manage.put(`${hook.path}/headers`, { headers: { 'x-clinic': 'swordfish', authorization: 'swordfish' } })
  const user = await emitEvents(team)
  await delivering({ log, schedule_s: [0] }).drain()
  await new Promise<void>((resolve) => log.flush(() => resolve()))
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  assert.equal(text.split('delivery attempted').length - 1, 3)
  assert(text.includes(hook.id))
  const hidden = ['tunafish', 'swordfish', 'marlin', '127.0.0.1', 'unknown.example', 'ünïcode', hook.key, user, 'x-clinic', 'v1,']
  for (const word of hidden) assert(!text.includes(word), word)
})

test('deliveries about a user are erased with the user, including the responses', async () => {
  const team = await createTestTeam()
  let status = 500
  const target = await receiver((_received, response) => response.writeHead(status).end('what I was sent, repeated'))
  const hook = await endpoint(team, { url: target.url })
  const user_id = await emitEvents(team)
  const other = await emitEvents(team)
  const delivery = delivering({ schedule_s: [0, 3600] })
  await delivery.drain()
  status = 200
  await makeDeliveriesDue(team)
  await delivery.drain()
  const answers = async () =>
    (
      await team.db.pool.query(
        `select response_body from delivery_attempt where team_id = $1
         union all select response_body from delivery where team_id = $1 and response_body is not null`,
        [team.team],
      )
    ).rows
  assert.equal((await answers()).length, 4)
  await team.api.delete(`/v2/user/${user_id}`)
  await team.api.post('/v1/sandbox/clock/advance', { seconds: 8 * 86_400 })
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 2': 1 })
  assert.equal((await answers()).length, 2)
  assert.equal((await team.api.get(`/v2/user/${other}`)).status, 200)
})

test('deliveries and messages are deleted after thirty days, including pending ones', async () => {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const delivery = delivering()
  await emitEvents(team)
  await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })
  await delivery.drain()
  const age = (days: number) =>
    team.db.queries.run(sql`
      update delivery set created_at = created_at - make_interval(days => ${days}) where team_id = ${team.team}`)
  const prune = () => expire(team.db, ...deliveryCleanups)
  await age(29)
  await prune()
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 2 })
  await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })
  await age(2)
  await prune()
  assert.deepEqual(await deliveryStates(team, hook.id), { 'pending after 0': 1 })
  await age(29)
  await prune()
  assert.deepEqual(await deliveryStates(team, hook.id), {})
  await delivery.drain()
  assert.equal(target.received.length, 2)
})
