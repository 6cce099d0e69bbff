// The end of a deleted team: after its grace nothing of it is left in its cell, whatever tables there are and whatever happens on the way.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { eraseTeams, teamCleanup } from '../../src/tenancy/teams/team-erasure.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { Retention } from '../../src/platform/queue/retention.ts'
import { SECONDS_PER_DAY, kit, createOrder } from '../support/orders.ts'
import { delivering, receiver } from '../support/webhook-receiver.ts'
import { at, post } from '../support/samples.ts'
import { cells, createTestTeam, metrics, type TestTeam } from '../support/server.ts'
import { fhirServer } from '../support/fhir-server.ts'
import { grant } from '../support/grants.ts'
import { signIn } from '../support/phones.ts'
import { answered, success } from './operations/operation-cases.ts'
import { send, valid } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'
import { eventually } from '../support/eventually.ts'

const { operations, teamErasers } = contents

const GRACE_S = 7 * SECONDS_PER_DAY
/** Who did what stays recorded. */
const KEPT = 'audit_log'
const never = () => false

const left = async (team: TestTeam): Promise<string[]> =>
  Object.entries(await rowsOf(team)).flatMap(([name, rows]) => (rows.length && name !== KEPT ? [name] : []))

const isThere = async ({ db, team }: TestTeam): Promise<boolean> =>
  (await db.pool.query('select 1 from team where id = $1', [team])).rowCount === 1

/** The server of the example cannot be reached, and a job that could not send to it would be kept as failed. */
async function connectEhr({ team, manage }: TestTeam): Promise<void> {
  const { url, token } = await fhirServer()
  const authentication = { type: 'api_key', api_key: token }
  const pipeline = { team_ids: [team], ehr_type: 'fhir', base_url: `${url}/fhir`, authentication }
  assert.equal((await manage.post('/team_ehr_pipelines/sandbox/us', pipeline)).status, 200)
}

/** A team that has done everything there is to do, so that every table has something of it. */
async function busy(): Promise<TestTeam> {
  const team = await createTestTeam()
  const doing = operations.filter(({ method, auth }) => !['GET', 'DELETE'].includes(method) && auth !== 'none')
  for (const operation of doing) {
    const reply = await send(team, operation, await valid(team, operation))
    assert(success(reply), `${operation.id} ${answered(reply)}`)
  }
  await connectEhr(team)
  await team.settle()
  const repeating = await team.user()
  for (let i = 0; i < 2; i++) await post(team, repeating, 'heartrate', [at('09:30:00', 61)])
  await valid(
    team,
    operations.find(({ id }) => id === 'get_phlebotomy_appointment')!,
  )
  // A file whose upload has not ended: that of an import that has ended is deleted.
  await valid(
    team,
    operations.find(({ id }) => id === 'continue_file_import')!,
  )
  const { url } = await receiver()
  await team.manage.post(`/team/${team.team}/sandbox/webhook`, { url })
  await createOrder(team)
  // The endpoints of the examples have no address: each of their deliveries fails once, and that is enough.
  await delivering({ schedule_s: [0], attempt_ms_max: 50 }).drain()
  const endpoint = await team.manage.post(`/team/${team.team}/sandbox/webhook`, { url })
  await team.manage.delete(`/team/${team.team}/sandbox/webhook/${endpoint.body.id}`)
  const { id } = await kit(team)
  await team.api.post(`/v3/order/${id}/test`)
  await team.settle()
  const user_id = await team.user()
  await signIn(team, user_id)
  await grant(team, repeating)
  await team.api.delete(`/v2/user/${user_id}`)
  await team.db.pool.query('insert into data_retention_check (team_id, next_at) values ($1, now())', [team.team])
  await team.db.pool.query(
    'insert into order_checkpoint (team_id, created_at, id, shown) select team_id, created_at, id, 0 from lab_order where id = $1',
    [id],
  )
  await team.db.pool.query(
    'insert into user_checkpoint (team_id, created_on, id, shown) select team_id, created_on, id, 0 from "user" where team_id = $1 limit 1',
    [team.team],
  )
  await team.db.pool.query(
    `insert into patient_message_opt_out (team_id, user_id, channel, created_at) values ($1, $2, 'sms', now())`,
    [team.team, repeating],
  )
  await team.db.pool.query(`insert into provider_watermark (team_id, user_id, provider) values ($1, $2, 'oura')`, [
    team.team,
    repeating,
  ])
  await team.db.pool.query(
    `insert into provider_pull (team_id, user_id, provider, resource) values ($1, $2, 'oura', 'sleep') on conflict do nothing`,
    [team.team, repeating],
  )
  await team.db.pool.query(
    `insert into provider_limit (team_id, provider, tokens, refilled_at) values ($1, 'oura', '{1}', clock_timestamp())`,
    [team.team],
  )
  await team.db.pool.query(
    `insert into revoked_webhook_lease (webhook_id, team_id, owner, leased_until) values ('ep_of ' || $1::text, $1::uuid, gen_random_uuid(), clock_timestamp())`,
    [team.team],
  )
  await team.db.pool.query(
    `insert into pipeline_delivery (team_id, destination, event_id, user_id, due_at, created_at)
     select e.team_id, l.destination, e.id, e.user_id, e.created_at, e.created_at
     from event e join pipeline_queue l on l.team_id = e.team_id where e.team_id = $1`,
    [team.team],
  )
  return team
}

/** A busy team that an earlier test has left as it was. */
let unchanged: TestTeam | undefined
async function anyBusy(): Promise<TestTeam> {
  const team = unchanged ?? (await busy())
  unchanged = undefined
  return team
}

/** Delete the team, so long ago. */
async function deleted(team: TestTeam, ago_s: number): Promise<void> {
  assert.equal((await team.manage.delete(`/team/${team.team}`)).status, 200)
  for (const db of [team.db, cells.control])
    await db.pool.query('update team set deleted_at = deleted_at - make_interval(secs => $2) where id = $1', [team.team, ago_s])
}

describe('a deleted team', () => {
  test('leaves nothing in its cell but the audit log when its grace is over, and others what they have', async () => {
    const [team, other] = [await busy(), await busy()]
    // What is announced waits for nobody: the other team's deliveries have taken it along.
    await createOrder(team)
    const before = await rowsOf(team)
    assert.deepEqual(
      Object.keys(before).filter((name) => before[name]!.length === 0),
      [],
      'the test does not fill these tables',
    )
    const others = await rowsOf(other)
    await deleted(team, GRACE_S)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await left(team), [])
    assert.equal(await isThere(team), false)
    assert.deepEqual((await rowsOf(team))[KEPT], before[KEPT])
    const audit = (await team.manage.get('/audit/sandbox/us?limit=100')).body.data
    assert(audit.some(({ team_id }: { team_id: string }) => team_id === team.team))
    assert.deepEqual(await rowsOf(other), others)
    unchanged = other
    const again = await team.manage.post('/team', { id: team.team, name: 'Again', region: 'us' })
    assert.deepEqual([again.status, again.body.team_id], [409, team.team])
  })

  test('has everything until then', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await deleted(team, GRACE_S - 60)
    const before = await rowsOf(team)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
    assert.equal(await isThere(team), true)
  })

  test('is erased only when the control plane knows of the deletion, and as long after', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await team.db.pool.query(`update team set deleted_at = created_at - interval '30 days' where id = $1`, [team.team])
    const before = await rowsOf(team)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
    await deleted(team, GRACE_S - 60)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
  })

  test('is erased a batch at a time, so that after an interruption another process continues', async () => {
    const team = await anyBusy()
    await deleted(team, GRACE_S)
    const rows = async () => Object.values(await rowsOf(team)).flat().length
    let runs = 0
    for (let before = await rows(); await isThere(team); runs++) {
      await eraseTeams(team.db, cells.control, teamErasers, never, { rows_max: 5, batches_max: 10 })
      const now = await rows()
      assert(now < before || !(await isThere(team)), 'a run has come no further')
      before = now
    }
    assert(runs > 3, `${runs} runs`)
    assert.deepEqual(await left(team), [])
  })

  test('stays as far as it was erased when something fails or the worker stops, and others go on', async () => {
    const [team, other] = [await busy(), await createTestTeam()]
    await deleted(team, GRACE_S + 60)
    await deleted(other, GRACE_S)
    const failing = [...teamErasers]
    const at = teamErasers.indexOf(contents.modules.find(({ name }) => name === 'lab/accounts')!.erasers!.team!)
    failing[at] = async (tx, id, max) => {
      await teamErasers[at + 1]!(tx, id, max)
      if (id === team.team) throw new Error('as if the database had gone')
      return 0
    }
    await eraseTeams(team.db, cells.control, teamErasers, () => true)
    assert((await left(team)).includes('lab_order'))
    await assert.rejects(eraseTeams(team.db, cells.control, failing, never), /as if/)
    const names = await left(team)
    assert(!names.includes('lab_order') && names.includes('delivery_attempt'), names.join())
    assert.deepEqual(await left(other), [])
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await left(team), [])
  })

  test('is erased by one of several workers, each of which starts with it', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await deleted(team, GRACE_S)
    const log = createLog('silent')
    const workers = [1, 2].map(() => new Retention({ cells, cleanups: [teamCleanup(teamErasers)], log, metrics }))
    for (const worker of workers) worker.start()
    await eventually(async () => !(await isThere(team)), 'the team is gone')
    for (const worker of workers) await worker.stop()
    assert.deepEqual(await left(team), [])
  })
})
