import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import pg from 'pg'
import { Registry } from 'prom-client'
import { UsageError } from '../command-tree.ts'
import { addQueueGauges } from '../../platform/queue/queue-gauges.ts'
import type { Db } from '../../platform/db/database.ts'
import { COUNTED_MAX, countQueue } from '../../platform/queue/dead-letters.ts'
import { jobs } from '../../platform/queue/jobs.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { cells, connection, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

interface Listed {
  id: string
  cell: string
  team_id: string
  name: string
  attempts: number
  error: string
  failed_at: string | null
  next_at: string | null
}

const run = (...words: string[]) => command(cells, ['jobs', ...words])
const ofTeam = async ({ team }: TestTeam, ...words: string[]): Promise<Listed[]> =>
  (JSON.parse(await run('list', '--json', ...words)) as Listed[]).filter(({ team_id }) => team_id === team)

/** A job that failed permanently, or that waits for its next attempt. */
async function createFailedJob(
  { db, team }: TestTeam,
  state: 'dead' | 'retrying',
  { name = 'orders.dispatch', attempts = 30 } = {},
) {
  const id = randomUUID()
  await db.queries.run(sql`
    insert into job (id, team_id, name, payload, run_at, due_at, attempts, failed_at, last_error)
    values (${id}, ${team}, ${name}, '{"patient":"Testa Fictional"}', now(), now() + interval '1 hour', ${attempts},
            ${state === 'dead' ? sql`now()` : sql`null`}, 'Error E_TEST')`)
  return id
}
const countWaiting = async ({ db, team }: TestTeam) =>
  (
    await db.pool.query(
      `select id, attempts, last_error from job where team_id = $1 and failed_at is null and due_at <= now() order by id`,
      [team],
    )
  ).rows

describe('jobs list', () => {
  test('lists permanently failed jobs with the code of their last error and without payloads', async () => {
    const [team, european] = [await createTestTeam(), await createTestTeam('production-eu')]
    const id = await createFailedJob(team, 'dead')
    const other = await createFailedJob(european, 'dead', { name: 'messages.remind' })
    const again = await createFailedJob(team, 'retrying')
    const [job, ...more] = await ofTeam(team)
    assert.deepEqual(
      { ...job, run_at: undefined, failed_at: typeof job!.failed_at },
      {
        id,
        cell: 'sandbox-us',
        team_id: team.team,
        name: 'orders.dispatch',
        attempts: 30,
        run_at: undefined,
        failed_at: 'string',
        next_at: null,
        error: 'Error E_TEST',
      },
    )
    assert.deepEqual(more, [])
    assert.deepEqual(
      (await ofTeam(team, '--retrying')).map((row) => [row.id, row.failed_at, typeof row.next_at]),
      [[again, null, 'string']],
    )
    assert.deepEqual(
      (await ofTeam(european, '--cell', 'production-eu')).map((row) => row.id),
      [other],
    )
    assert.deepEqual(await ofTeam(european, '--cell', 'sandbox-us'), [])
    const text = await run('list')
    assert.match(text, new RegExp(`^${id} {2}sandbox-us .*orders\\.dispatch .*30 attempts {2}failed .* Error E_TEST$`, 'm'))
    assert.doesNotMatch(text + (await run('list', '--json')), /Testa|payload/)
    await run('retry', '--all')
  })
})

describe('jobs retry', () => {
  test('makes only the named jobs due now, with all their attempts', async () => {
    const team = await createTestTeam()
    const [first, second, third] = [
      await createFailedJob(team, 'dead'),
      await createFailedJob(team, 'retrying'),
      await createFailedJob(team, 'dead'),
    ]
    const unknown = randomUUID()
    assert.deepEqual(JSON.parse(await run('retry', first, second, unknown, '--json')), {
      retried: [first, second].map((id) => ({ id, cell: 'sandbox-us' })),
      not_found: [unknown],
    })
    assert.deepEqual(
      await countWaiting(team),
      [first, second].sort().map((id) => ({ id, attempts: 0, last_error: null })),
    )
    assert.deepEqual(
      (await ofTeam(team)).map(({ id }) => id),
      [third],
    )
    assert.match(await run('retry', third), /tried again now\n$/)
  })

  test('retries all permanently failed jobs, or the jobs of one name', async () => {
    const team = await createTestTeam()
    const [order, reminder] = [
      await createFailedJob(team, 'dead'),
      await createFailedJob(team, 'dead', { name: 'messages.remind' }),
    ]
    await createFailedJob(team, 'retrying')
    await run('retry', '--all', '--name', 'messages.remind', '--cell', 'sandbox-us')
    assert.deepEqual(
      (await countWaiting(team)).map(({ id }) => id),
      [reminder],
    )
    await run('retry', '--all')
    assert.deepEqual((await countWaiting(team)).map(({ id }) => id).sort(), [order, reminder].sort())
    assert.equal(await run('retry', '--all', '--cell', 'sandbox-us'), 'There are none in sandbox-us.\n')
  })

  test('does not change a job that a worker has claimed', async () => {
    const team = await createTestTeam()
    const id = await createFailedJob(team, 'retrying')
    await team.db.queries.run(
      sql`update job set owner = ${randomUUID()}, leased_until = now() + interval '1 minute' where id = ${id}`,
    )
    await assert.rejects(run('retry', id), /None of these/)
  })
})

test('rejects contradicting options', async () => {
  for (const words of [
    ['show'],
    ['list', randomUUID()],
    ['list', '--all'],
    ['retry'],
    ['retry', '--all', randomUUID()],
    ['retry', '--name', 'orders.dispatch', randomUUID()],
    ['retry', 'swordfish'],
    ['retry', '--all', '--cell', 'mars'],
    ['retry', '--swordfish'],
  ])
    await assert.rejects(run(...words), UsageError, words.join(' '))
})

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Relation Name'?: string
  Plans?: Plan[]
}
const rowsOf = (plan: Plan): number =>
  (plan['Relation Name'] === 'job' ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0)

test('the gauges read at most 10,000 rows each, however many jobs are retried', async () => {
  const team = await createTestTeam('production-eu')
  // Who owns the tables may count what is in them. Nobody else sees these rows.
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(`begin; set local search_path to ${team.db.schema}, public`)
    await client.query(
      `insert into job (id, team_id, name, payload, run_at, due_at, attempts, last_error)
       select gen_random_uuid(), $1, 'orders.dispatch', '{}', now(), now() + interval '1 hour', 8, 'Error' from generate_series(1, 25000)`,
      [team.team],
    )
    await client.query('analyze job')
    let plan: Plan | undefined
    const one = async (_row: unknown, { text, values }: Sql) => {
      plan = (await client.query(`explain (analyze, format json) ${text}`, values)).rows[0]['QUERY PLAN'][0].Plan as Plan
    }
    await countQueue({ queries: { one } } as unknown as Db, jobs, ['users.erase'])
    // Two of them count jobs that will be retried; the others may include a few of other tests.
    assert(rowsOf(plan!) <= 2 * COUNTED_MAX + 100, `${rowsOf(plan!)} rows`)
  } finally {
    await client.end()
  }
})

test('the gauges count failed, retried and overdue jobs of each cell, and erasures that keep failing', async () => {
  const registry = new Registry()
  addQueueGauges({
    registry,
    cells,
    prefix: 'jobs',
    rows: 'Jobs',
    command: 'bin/drawbridge jobs list --cell all',
    queue: jobs,
    unlimited: ['users.erase'],
    fresh_ms: 0,
  })
  const team = await createTestTeam('production-us')
  await createFailedJob(team, 'dead')
  await createFailedJob(team, 'retrying')
  await createFailedJob(team, 'retrying', { name: 'users.erase', attempts: 8 })
  await team.db.queries.run(sql`
    insert into job (id, team_id, name, payload, run_at, due_at)
    values (${randomUUID()}, ${team.team}, 'orders.dispatch', '{}', now() - interval '1 hour', now() - interval '1 hour')`)
  const text = await registry.metrics()
  const value = (name: string, cell: string) => Number(new RegExp(`^${name}\\{cell="${cell}"\\} (.*)$`, 'm').exec(text)?.[1])
  for (const [name, expected] of [
    ['drawbridge_jobs_failed', 1],
    ['drawbridge_jobs_retrying', 2],
    ['drawbridge_jobs_overdue', 1],
    ['drawbridge_erasure_jobs_failing', 1],
  ] as const)
    assert.deepEqual([name, value(name, 'production-us'), value(name, 'sandbox-eu')], [name, expected, 0])
  const overdue_s = value('drawbridge_jobs_overdue_seconds', 'production-us')
  assert(overdue_s >= 3600 && overdue_s < 3700, String(overdue_s))
})
