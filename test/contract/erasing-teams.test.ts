// The end of a deleted team, and of the deleted users of another: after their grace nothing of them is left in their cell, whatever tables
// there are, whatever module wrote them, and whatever happens on the way.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { eraseTeams, teamCleanup } from '../../src/tenancy/teams/team-erasure.ts'
import type { TeamEraser } from '../../src/platform/db/erasure.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { Retention } from '../../src/platform/queue/retention.ts'
import { SECONDS_PER_DAY, createOrder } from '../support/orders.ts'
import { cells, createTestTeam, metrics, type TestTeam } from '../support/server.ts'
import { busyTeam } from './operations/busy-team.ts'
import { erase, rowsWith } from './operations/erased-users.ts'
import { rowsOf } from './operations/rows.ts'
import { delivering, endpoint, receiver } from '../support/webhook-receiver.ts'
import { eventually } from '../support/eventually.ts'

const { teamErasers } = contents

const GRACE_S = 7 * SECONDS_PER_DAY
/** Who did what stays recorded. */
const KEPT = 'audit_log'
const never = () => false

const left = async (team: TestTeam): Promise<string[]> =>
  Object.entries(await rowsOf(team)).flatMap(([name, rows]) => (rows.length && name !== KEPT ? [name] : []))

const isThere = async ({ db, team }: TestTeam): Promise<boolean> =>
  (await db.pool.query('select 1 from team where id = $1', [team])).rowCount === 1

/** A team that has used everything, which tests use one after another: making it costs seconds. */
let busy: TestTeam | undefined
const anyBusy = async (): Promise<TestTeam> => (busy ??= await busyTeam())

/** What texts about test people have, in whatever form a column has them. */
const PEOPLE = /Testa|1990-01-31/i

const listIds = async (
  { db, team }: TestTeam,
  table: 'user' | 'lab_order' | 'appointment' | 'parsing_job' | 'event',
): Promise<string[]> => {
  const only = table === 'event' ? 'and user_id is not null' : ''
  const { rows } = await db.pool.query<{ id: string }>(`select id::text from "${table}" where team_id = $1 ${only}`, [team])
  return rows.map(({ id }) => id)
}

/** Delete the team, so long ago. */
async function deleteTeam(team: TestTeam, ago_s: number): Promise<void> {
  assert.equal((await team.manage.delete(`/team/${team.team}`)).status, 200)
  for (const db of [team.db, cells.control]) await setDeletion(db, team.team, `deleted_at - make_interval(secs => ${ago_s})`)
}

/** Citus computes no new value from the row itself. @param expression of columns of the team */
async function setDeletion({ pool }: Db, team: string, expression: string): Promise<void> {
  const { rows } = await pool.query<{ deleted_at: string }>(
    `select (${expression})::text as deleted_at from team where id = $1`,
    [team],
  )
  await pool.query('update team set deleted_at = $2 where id = $1', [team, rows[0]!.deleted_at])
}

describe('a deleted team', () => {
  test('leaves nothing in its cell but the audit log when its grace is over, and other teams keep their data', async () => {
    const [team, other] = [await busyTeam(), await anyBusy()]
    // What is announced waits for nobody: the other team's deliveries have taken it along.
    await createOrder(team)
    const before = await rowsOf(team)
    assert.deepEqual(
      Object.keys(before).filter((name) => before[name]!.length === 0),
      [],
      'the test does not fill these tables',
    )
    const others = await rowsOf(other)
    await deleteTeam(team, GRACE_S)
    // One run erases at most 100 batches of rows.
    while ((await eraseTeams(team.db, cells.control, teamErasers, never)) > 0);
    assert.deepEqual(await left(team), [])
    assert.equal(await isThere(team), false)
    assert.deepEqual((await rowsOf(team))[KEPT], before[KEPT])
    const audit = (await team.manage.get('/audit/sandbox/us?limit=100')).body.data
    assert(audit.some(({ team_id }: { team_id: string }) => team_id === team.team))
    assert.deepEqual(await rowsOf(other), others)
    const again = await team.manage.post('/team', { id: team.team, name: 'Again', region: 'us' })
    assert.deepEqual([again.status, again.body.team_id], [409, team.team])
  })

  test('has everything until then', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await deleteTeam(team, GRACE_S - 60)
    const before = await rowsOf(team)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
    assert.equal(await isThere(team), true)
  })

  test('is erased only when the control plane knows of the deletion, and as long after', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await setDeletion(team.db, team.team, `created_at - interval '30 days'`)
    const before = await rowsOf(team)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
    await deleteTeam(team, GRACE_S - 60)
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await rowsOf(team), before)
  })

  test('stays as far as it was erased when something fails or the worker stops, and others go on', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const { url } = await receiver()
    await endpoint(team, { url })
    await createOrder(team)
    await delivering().drain()
    await deleteTeam(team, GRACE_S + 60)
    await deleteTeam(other, GRACE_S)
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
    assert(!names.includes('lab_order') && names.includes('delivery'), names.join())
    assert.deepEqual(await left(other), [])
    await eraseTeams(team.db, cells.control, teamErasers, never)
    assert.deepEqual(await left(team), [])
  })

  test('leaves no event that is added while it is erased: events have no key to their team', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await deleteTeam(team, GRACE_S)
    let isAdded = false
    const addEvent: TeamEraser = async (tx, id) => {
      if (id === team.team && !isAdded) {
        await tx.run(sql`
          insert into event (id, team_id, type, object_id, created_at, body, historical)
          values (gen_random_uuid(), ${id}, 'labtest.order.created', gen_random_uuid(), now(), '{}', false)`)
        isAdded = true
      }
      return 0
    }
    await eraseTeams(team.db, cells.control, [...teamErasers, addEvent], never)
    assert.equal(isAdded, true)
    assert.deepEqual(await left(team), [])
    assert.equal(await isThere(team), false)
  })

  test('is erased by one of several workers, each of which starts with it', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    await deleteTeam(team, GRACE_S)
    const log = createLog('silent')
    const workers = [1, 2].map(() => new Retention({ cells, cleanups: [teamCleanup(teamErasers)], log, metrics }))
    for (const worker of workers) worker.start()
    await eventually(async () => !(await isThere(team)), 'the team is gone')
    for (const worker of workers) await worker.stop()
    assert.deepEqual(await left(team), [])
  })
})

describe('a team that has used every operation', () => {
  test('has nothing of its users left in any table when all of them are erased', async () => {
    const team = await anyBusy()
    const ids: Record<string, string[]> = {}
    for (const table of ['user', 'lab_order', 'appointment', 'parsing_job', 'event'] as const) {
      ids[table] = await listIds(team, table)
      assert(ids[table].length > 0, table)
    }
    await erase(team, ids.user!)
    assert.deepEqual(await listIds(team, 'user'), [])
    assert.deepEqual(await rowsWith(team, Object.values(ids).flat(), PEOPLE), [])
  })

  test('is erased a batch at a time, so that after an interruption another process continues', async () => {
    const team = await anyBusy()
    await deleteTeam(team, GRACE_S)
    const rows = async () => Object.values(await rowsOf(team)).flat().length
    let runs = 0
    for (let before = await rows(); await isThere(team); runs++) {
      await eraseTeams(team.db, cells.control, teamErasers, never, { rows_max: 50, batches_max: 5 })
      const now = await rows()
      assert(now < before || !(await isThere(team)), 'a run has come no further')
      before = now
    }
    assert(runs > 3, `${runs} runs`)
    assert.deepEqual(await left(team), [])
  })
})
