// An endpoint whose secret or headers cannot be decrypted: only its deliveries wait, the failure is reported to its team and
// the operator, and deliveries resume without intervention.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createLog } from '../../platform/telemetry/log.ts'
import { generateVaultKey, Vault } from '../../platform/crypto/vault.ts'
import { asOwner, createTestTeam, metrics, vault, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { decryptHeaders, encryptHeaders } from '../endpoints/custom-headers.ts'
import { eventually } from '../../../test/support/eventually.ts'

type Hook = Awaited<ReturnType<typeof endpoint>>

/** A team with an endpoint. */
async function scene() {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const shown = async () => (await team.manage.get(hook.path)).body
  return { team, target, hook, shown }
}

/** Encrypt the secret of an endpoint with other keys. */
const resealSecret = (team: TestTeam, { id, key }: Hook, vault: Vault) =>
  team.db.pool.query('update webhook_secret set secret = $3 where team_id = $1 and webhook_id = $2', [
    team.team,
    id,
    vault.encrypt(key, `secret of ${id}`),
  ])

/** Encrypt the headers of an endpoint with other keys. */
async function resealHeaders(team: TestTeam, { id }: Hook, otherVault: Vault): Promise<void> {
  const { rows } = await team.db.pool.query('select headers from webhook where team_id = $1 and id = $2', [team.team, id])
  const encrypted = encryptHeaders(otherVault, id, decryptHeaders(vault, id, rows[0].headers))
  await team.db.pool.query('update webhook set headers = $3 where team_id = $1 and id = $2', [team.team, id, encrypted])
}

/** Keys that are not configured here. */
const stranger = () => {
  const keys = [generateVaultKey()]
  return new Vault(() => keys)
}

/** Advances the clock for the pause of an endpoint. */
const later = (team: TestTeam, { id }: Hook, s: number) =>
  team.db.pool.query(
    'update destination set paused_until = paused_until - make_interval(secs => $3) where team_id = $1 and id = $2',
    [team.team, id, s],
  )

describe('an endpoint whose secret cannot be decrypted', () => {
  test('other endpoints of the cell receive everything, by direct dispatch and from the queue', async () => {
    const [bad, good] = await Promise.all([scene(), scene()])
    await resealSecret(bad.team, bad.hook, stranger())
    const delivery = delivering()
    for (let i = 0; i < 3; i++) {
      for (const { team } of [bad, good, bad])
        await emitEvents(team, Array<string>(5).fill('labtest.order.created'), { objects: 'each' })
      await delivery.drain()
    }
    assert.equal(good.target.received.length, 15)
    assert.equal(bad.target.received.length, 0)
    assert.deepEqual(await deliveryStates(good.team, good.hook.id), { 'delivered after 1': 15 })
    assert.deepEqual(await deliveryStates(bad.team, bad.hook.id), { 'pending after 0': 30 })
  })

  test('an endpoint that cannot be decrypted delays no other, even when its state cannot be recorded', async () => {
    const [bad, good] = await Promise.all([scene(), scene()])
    await resealSecret(bad.team, bad.hook, stranger())
    for (const { team, hook } of [bad, good])
      assert.equal((await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })).status, 200)
    await asOwner(`
      create function sandbox_us.fail_for_test() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
      create trigger fail_for_test before update of unreadable_since on sandbox_us.destination for each row
        when (new.id = '${bad.hook.id}') execute function sandbox_us.fail_for_test()`)
    try {
      const delivery = delivering()
      await assert.rejects(delivery.drain(), /refused by the test/)
      await eventually(() => good.target.received.length > 0)
    } finally {
      await asOwner('drop function sandbox_us.fail_for_test() cascade')
    }
    assert.equal(bad.target.received.length, 0)
  })

  test('the failure is shown to the team, in the log and in the metrics, without any secret', async () => {
    const { team, hook, shown } = await scene()
    assert.equal((await shown()).delivery_error, null)
    await resealSecret(team, hook, stranger())
    await emitEvents(team)
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-log-'))
    const log = createLog('info', { path: join(folder, 'log') })
    const count = async () => {
      const { values } = await metrics.registry.getSingleMetric('drawbridge_unreadable_receivers_total')!.get()
      return values.find(({ labels }) => labels.cell === 'sandbox-us' && labels.kind === 'webhook')?.value ?? 0
    }
    const before = await count()
    await delivering({ log }).drain()
    await new Promise<void>((resolve) => log.flush(() => resolve()))
    const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
    rmSync(folder, { recursive: true })
    assert.equal(await count(), before + 1)
    const said = lines.map((line) => JSON.parse(line)).filter((line) => line['webhook.id'] === hook.id)
    assert.deepEqual(
      said.map(({ level, msg, 'team.id': id }) => [level, msg, id]),
      [
        [
          'error',
          'the secret or the headers of an endpoint cannot be decrypted; nothing is sent to it until they can be',
          team.team,
        ],
      ],
    )
    assert.equal((await shown()).delivery_error, 'The secret or the headers cannot be decrypted')
    assert.equal((await shown()).disabled, false)
    const secret = await team.manage.get(`${hook.path}/secret`)
    assert.deepEqual([secret.status, secret.body.detail], [503, 'The secret cannot be decrypted; rotating it makes another'])
  })

  test('deliveries continue in order when the key is available again', async () => {
    const { team, target, hook, shown } = await scene()
    const keys = { here: [generateVaultKey()], lost: generateVaultKey() }
    let list = keys.here
    const worker = new Vault(() => list)
    await resealHeaders(team, hook, worker)
    const lost = [keys.lost]
    await resealSecret(team, hook, new Vault(() => lost))
    const types = ['labtest.order.created', ...Array<string>(4).fill('labtest.order.updated')]
    await emitEvents(team, types)
    await delivering({ vault: worker }).drain()
    list = [...keys.here, keys.lost]
    await delivering({ vault: worker }).drain()
    assert.equal(target.received.length, 0, 'it is looked at again after a minute')
    await later(team, hook, 61)
    await delivering({ vault: worker }).drain()
    assert.deepEqual(
      target.received.map(({ body }) => JSON.parse(body).event_type),
      types,
    )
    await eventually(async () => (await shown()).delivery_error === null)
  })

  test('deliveries continue at once after a rotation; keys that cannot be decrypted no longer sign', async () => {
    const { team, target, hook, shown } = await scene()
    await resealSecret(team, hook, stranger())
    await emitEvents(team)
    await delivering().drain()
    assert.notEqual((await shown()).delivery_error, null)
    assert.equal((await team.manage.post(`${hook.path}/secret/rotate`, {})).status, 204)
    assert.equal((await shown()).delivery_error, null)
    await delivering().drain()
    assert.equal(target.received.length, 1)
    assert.equal(String(target.received[0]!.headers['webhook-signature']).split(' ').length, 1)
  })
})

test('an endpoint whose headers cannot be decrypted waits, and continues when they are set again', async () => {
  const { team, target, hook, shown } = await scene()
  await resealHeaders(team, hook, stranger())
  await emitEvents(team)
  await delivering().drain()
  await later(team, hook, 61)
  await delivering().drain()
  assert.equal(target.received.length, 0)
  assert.notEqual((await shown()).delivery_error, null)
  const read = await team.manage.get(`${hook.path}/headers`)
  assert.deepEqual([read.status, read.body.detail], [503, 'The headers cannot be decrypted; putting them again replaces them'])
  assert.equal((await team.manage.put(`${hook.path}/headers`, { headers: { 'x-clinic': 'fictional' } })).status, 204)
  await delivering().drain()
  assert.equal(target.received[0]!.headers['x-clinic'], 'fictional')
  assert.equal((await shown()).delivery_error, null)
})
