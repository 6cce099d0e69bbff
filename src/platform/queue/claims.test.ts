// Several processes claim jobs of several teams at once: each job is claimed by one of them, and no team has more than its share.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { cells, stopWorkers } from '../../../test/support/jobs.ts'
import { JobQueue, type JobRow } from './jobs.ts'

const TEAMS = 20
const JOBS_OF_TEAM = 50
const CLAIMERS = 4
const LIMITS = { total: 32, groupMax: () => 3, claimedRows: new Map<string, number>(), fullKinds: [] }

const db = cells.db('sandbox-us')

afterEach(stopWorkers)

const insertJobs = ({ team }: TestTeam, count: number) =>
  db.pool.query(
    `insert into job (id, team_id, name, payload, run_at, due_at)
     select gen_random_uuid(), $1, 'test.work', '{}', now(), now() from generate_series(1, $2::int)`,
    [team, count],
  )

const countOfLargest = (rows: JobRow[]): number =>
  Math.max(0, ...[...Map.groupBy(rows, ({ team_id }) => team_id).values()].map(({ length }) => length))

test('four processes claim the jobs of twenty teams, each job once and at most three of a team at a time', async () => {
  const teams = await Promise.all(Array.from({ length: TEAMS }, () => createTestTeam()))
  for (const team of teams) await insertJobs(team, JOBS_OF_TEAM)
  const claims: JobRow[][] = []
  const claimed = () => claims.reduce((sum, { length }) => sum + length, 0)
  let isLate = false
  const claimAll = async () => {
    const jobs = new JobQueue(db)
    while (claimed() < TEAMS * JOBS_OF_TEAM && !isLate) {
      const { rows } = await jobs.claimByTeam(LIMITS)
      claims.push(rows)
      assert.equal(await jobs.complete(rows), rows.length, 'nobody else has claimed them since')
    }
  }
  const all = Promise.all(Array.from({ length: CLAIMERS }, claimAll))
  await eventually(() => claimed() >= TEAMS * JOBS_OF_TEAM, 'all jobs are claimed').finally(() => (isLate = true))
  await all
  const rows = claims.flat()
  assert.equal(rows.length, TEAMS * JOBS_OF_TEAM)
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, 'each job was claimed once')
  assert.ok(Math.max(...claims.map(({ length }) => length)) <= LIMITS.total)
  assert.ok(Math.max(...claims.map(countOfLargest)) <= LIMITS.groupMax())
})

test('the jobs of a team are found behind the backlogs of teams that have their shares', async () => {
  const [first, second, quiet] = await Promise.all([createTestTeam(), createTestTeam(), createTestTeam()])
  for (const team of [first, second]) await insertJobs(team, 1500)
  await insertJobs(quiet, 2)
  const claimedRows = new Map([first, second].map(({ team }) => [team, 3]))
  const { rows, isMore } = await new JobQueue(db).claimByTeam({ ...LIMITS, claimedRows })
  assert.deepEqual(
    rows.map(({ team_id }) => team_id),
    [quiet.team, quiet.team],
  )
  assert.equal(isMore, true)
})

test('of teams with as many jobs in work, the one whose last turn was the earliest is the next', async () => {
  const [earlier, later] = await Promise.all([createTestTeam(), createTestTeam()])
  for (const team of [earlier, later]) await insertJobs(team, 3)
  const claimedRows = new Map([later, earlier].map(({ team }) => [team, 1]))
  const { rows } = await new JobQueue(db).claimByTeam({ ...LIMITS, total: 1, claimedRows })
  assert.deepEqual(
    rows.map(({ team_id }) => team_id),
    [later.team],
  )
})
