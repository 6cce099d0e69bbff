// Jobs that failed, and the health of the server.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cells, client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { migrationsOf } from '../../platform/db/migrations.ts'
import { version } from '../../platform/runtime/version.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { recordBackup } from './backups.ts'
import { sizeWorker } from './database-size.ts'

/** Jobs of a team that failed: their ids, oldest first. */
async function failJobs(team: TestTeam): Promise<string[]> {
  // Each deletion queues the erasure of its user.
  for (let i = 0; i < 3; i++) await team.api.delete(`/v2/user/${await team.user()}`)
  const { rows } = await team.db.pool.query<{ id: string }>(
    `update job set failed_at = now(), attempts = 30, last_error = 'Error ECONNREFUSED'
     where id in (select id from job where team_id = $1 order by id limit 3) returning id`,
    [team.team],
  )
  return rows.map(({ id }) => id).toSorted()
}

const pathOf = (team: TestTeam) => `/team/${team.team}/sandbox/failed_job`

describe('jobs of a team that failed', () => {
  test('are listed newest first, page by page, without their data', async () => {
    const team = await createTestTeam()
    const ids = await failJobs(team)
    const { body } = await team.manage.get(pathOf(team))
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      ids.toReversed(),
    )
    const { id: _, run_at, failed_at, ...job } = body.data[0]
    assert(!Number.isNaN(Date.parse(run_at)) && !Number.isNaN(Date.parse(failed_at)))
    assert.deepEqual([job.attempts, job.error, job.next_at], [30, 'Error ECONNREFUSED', null])
    const first = (await team.manage.get(`${pathOf(team)}?limit=2`)).body
    const second = (await team.manage.get(`${pathOf(team)}?limit=2&next_cursor=${first.next_cursor}`)).body
    assert.deepEqual([...first.data, ...second.data], body.data)
    assert.deepEqual((await team.manage.get(`${pathOf(team)}?state=retrying`)).body.data, [])
    assert.deepEqual((await team.manage.get(`${pathOf(team)}?name=${job.name}`)).body.data, body.data)
    assert.deepEqual((await team.manage.get(`${pathOf(team)}?name=another`)).body.data, [])
  })

  test('are retried by name, and jobs of other names stay failed', async () => {
    const team = await createTestTeam()
    const ids = await failJobs(team)
    await team.db.pool.query(`update job set name = 'other' where id = $1`, [ids[0]])
    const { name } = (await team.manage.get(pathOf(team))).body.data[0]
    const { body } = await team.manage.post(`${pathOf(team)}/retry`, { name })
    assert.deepEqual([body.retried.toSorted(), body.not_found], [ids.slice(1), []])
    const both = await team.manage.post(`${pathOf(team)}/retry`, { name, failed_job_ids: [ids[0]] })
    assert.deepEqual(both.body, { retried: [], not_found: [ids[0]] })
    const left = (await team.manage.get(pathOf(team))).body.data
    assert.deepEqual(
      left.map((job: { id: string; name: string }) => [job.id, job.name]),
      [[ids[0], 'other']],
    )
  })

  test('are counted by name beside those that wait, for the team alone', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await failJobs(team)
    await team.db.pool.query(
      `insert into job (id, team_id, name, payload, run_at, due_at)
       select gen_random_uuid(), $1, 'fictional', '{}', now(), due_at
       from unnest(array[now() - interval '1 hour', now() + interval '1 hour']) as t (due_at)`,
      [team.team],
    )
    const countsOf = async ({ manage, team: id }: TestTeam) => (await manage.get(`/team/${id}/sandbox/job_count`)).body.data
    const jobs = await countsOf(team)
    const { oldest_waiting_s, ...fictional } = jobs.find(({ name }: { name: string }) => name === 'fictional')
    assert(oldest_waiting_s >= 3600)
    assert.deepEqual(fictional, { name: 'fictional', waiting: 1, scheduled: 1, retrying: 0, failed: 0 })
    const failed = jobs.reduce((sum: number, job: Record<string, number>) => sum + job.failed!, 0)
    assert.equal(failed, 3)
    assert.deepEqual(await countsOf(other), [])
  })

  test('are retried by id or all of the team, and the audit log names who did it', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const ids = await failJobs(team)
    const foreign = await failJobs(other)
    const retry = async (body: unknown) => (await team.manage.post(`${pathOf(team)}/retry`, body)).body
    assert.deepEqual(await retry({ failed_job_ids: [ids[0], foreign[0]] }), { retried: [ids[0]], not_found: [foreign[0]] })
    const { rows } = await team.db.pool.query('select failed_at, attempts, last_error from job where id = $1', [ids[0]])
    assert.deepEqual(rows, [{ failed_at: null, attempts: 0, last_error: null }])
    const all = await retry({})
    assert.deepEqual([all.retried.toSorted(), all.not_found], [ids.slice(1), []])
    assert.deepEqual((await team.manage.get(pathOf(team))).body.data, [])
    assert.equal((await other.manage.get(pathOf(other))).body.data.length, 3)
    const audit = (await team.manage.get(`/team/${team.team}/sandbox/audit`)).body.data
    assert.equal(audit.filter(({ operation }: { operation: string }) => operation === 'retry_failed_jobs').length, 2)
  })
})

describe('the health of the server', () => {
  const healthOf = async (team: TestTeam) => {
    const { status, body } = await team.manage.get('/health/sandbox/us')
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  test('has versions, the database, and the queues of the teams of the organization', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await failJobs(team)
    const { schema, database, jobs, deliveries, ...health } = await healthOf(team)
    assert.equal(health.version, version)
    assert.deepEqual([schema.migration, schema.known_migration], [migrationsOf('cell').length, migrationsOf('cell').length])
    assert(database.bytes > 1_000_000 && /^\d+/.test(database.version))
    assert.equal(database.tables.length, 10)
    const failed = jobs.reduce((sum: number, job: Record<string, number>) => sum + job.failed!, 0)
    assert.equal(failed, 3)
    assert.deepEqual(deliveries, { pending: 0, oldest_pending_s: 0, outbox: 0 })
    assert.deepEqual((await healthOf(other)).jobs, [])
  })

  test('has the size of the database on each day, and the last backup', async () => {
    const team = await createTestTeam()
    await team.db.pool.query(`insert into database_size (day, bytes) values ('2026-01-31', 5) on conflict do nothing`)
    const worker = sizeWorker(cells, createLog('silent'))
    worker.start()
    await worker.stop()
    const { database } = await healthOf(team)
    assert.deepEqual(database.growth[0], { date: '2026-01-31', bytes: 5 })
    assert(database.growth.at(-1).bytes > 1_000_000)
    const completed_at = new Date('2100-01-31T09:00:00Z')
    await recordBackup(cells.control.queries, { completed_at, bytes: 7 })
    assert.deepEqual((await healthOf(team)).last_backup, { completed_at: '2100-01-31T09:00:00+00:00', bytes: 7 })
    await cells.control.pool.query('delete from completed_backup where completed_at = $1', [completed_at])
  })

  test('is refused to a key that is bound to a team', async () => {
    const team = await createTestTeam()
    const { key } = (await team.manage.post('/management_key', { label: 'bound', team_id: team.team })).body
    const bound = client(key, 'x-management-key', `/v1/org/${team.org_id}`)
    assert.equal((await bound.get('/health/sandbox/us')).status, 403)
    assert.equal((await bound.get(pathOf(team))).status, 200)
  })
})
