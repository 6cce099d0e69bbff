// Jobs under faults: several workers on one real cell take steps in an order that a seed picks. In between, time passes, processes are
// killed, hang or are stalled, connections are lost, and clocks are wrong. SIMULATION_SEED=… repeats one seed and prints all its steps.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { schemaOf } from '../../src/platform/db/cells.ts'
import { cellNames, type CellName } from '../../src/settings/cells.ts'
import { Db } from '../../src/platform/db/database.ts'
import type { Tenant } from '../../src/platform/db/transaction.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { raw, sql } from '../../src/platform/db/sql.ts'
import { connection, createTestTeam } from '../support/server.ts'
import { installation } from '../support/template.ts'
import { LEASE_S, World } from './jobs-world.ts'
import { Backends } from './process.ts'
import { firstSeedToday, listSeeds, simulate, type Scheduler } from './scheduler.ts'

/** Of each day others. SIMULATION_SEEDS=… runs another number of them. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 200)
const WORKERS = 2
const STEPS = 24
const CALM_STEPS_MAX = 600

/** Handlers that hang in transactions hold connections; those of others must not wait for them. */
const options = { connection, installation, connections_max: 12, team_connections_max: 12, checkRows: false }

/** A cell for some of the seeds: only workers of a seed claim its jobs. */
interface SimulatedCell {
  cell: CellName
  tenant: Tenant
  admin: Db
  workers: Db[]
  backends: Backends[]
}

async function openCell(cell: CellName): Promise<SimulatedCell> {
  const { tenant } = await createTestTeam(cell)
  const schema = schemaOf(cell)
  const open = () => new Db({ ...options, schema })
  // The owner of the tables, which may end connections.
  const admin = new Db({ ...options, schema, row_security: 'off' })
  await admin.queries.run(sql`
    create table ${raw(schema)}.simulated_effect (
      team_id uuid, n integer, part integer, fence integer, seq bigint generated always as identity,
      primary key (team_id, n, part, fence))`)
  // Creates the policies of the new table.
  await migrate(connection, schema, 'cell', { installation })
  const workers = Array.from({ length: WORKERS }, open)
  return { cell, tenant, admin, workers, backends: workers.map((db) => new Backends(db)) }
}

const cells = await Promise.all(cellNames.map(openCell))
after(() => Promise.all(cells.flatMap(({ admin, workers }) => [admin, ...workers]).map((db) => db.close())))

/** The database of the tests has no autovacuum, and what each seed deletes would slow down those after it. */
const SEEDS_PER_VACUUM = 10
const vacuum = ({ cell, admin }: SimulatedCell) =>
  admin.pool.query(`vacuum ${schemaOf(cell)}.job, ${schemaOf(cell)}.simulated_effect`)

/** Faults between two steps, by weight. */
const faults: (readonly [number, (world: World, i: number, scheduler: Scheduler) => Promise<string> | string])[] = [
  [15, () => ''],
  [
    10,
    async (world, _i, { random }) => {
      const seconds = random.pick([1, 5, 19, 21, 41, 61, 61, 130])
      await world.pass(seconds)
      return `${seconds} s pass`
    },
  ],
  [
    2,
    async (world, i) => {
      if (!world.isRunning(i)) {
        world.start(i)
        return `worker ${i} starts`
      }
      await world.kill(i)
      return `worker ${i} is killed`
    },
  ],
  [
    1,
    async (world, i) => {
      await world.loseConnections(i)
      return `worker ${i} loses its connections`
    },
  ],
  [
    2,
    (world, i) => {
      world.suspend(i)
      return `the loop of worker ${i} stands still`
    },
  ],
  [
    3,
    (world, i) => {
      world.resume(i)
      return `the loop of worker ${i} goes on`
    },
  ],
  [
    3,
    (world) => {
      world.wakeOne()
      return 'a handler that hangs goes on'
    },
  ],
]

async function run(scheduler: Scheduler, { tenant, admin, backends }: SimulatedCell): Promise<void> {
  const { random } = scheduler
  const world = new World(scheduler, tenant, admin, backends)
  try {
    await world.queue(random.whole(1, 2))
    for (let i = 0; i < WORKERS; i++) world.start(i)
    for (let step = 0; step < STEPS; step++) {
      await scheduler.step()
      const happened = await random.pickWeighted(faults)(world, random.whole(0, WORKERS - 1), scheduler)
      if (happened) scheduler.note(`  ${happened}`)
    }
    await world.check()
    // No faults from here on: the remaining jobs are completed or use up their attempts.
    world.calm = true
    for (let i = 1; i < WORKERS; i++) await world.kill(i)
    if (!world.isRunning(0)) world.start(0)
    world.resume(0)
    // The leases of the killed workers expire.
    await world.pass(LEASE_S)
    scheduler.note('from here on nothing goes wrong')
    for (let step = 0; ; step++) {
      assert(step < CALM_STEPS_MAX, 'the jobs were not done although nothing went wrong any more')
      await scheduler.step()
      if (step % 6 === 5) await world.pass(25)
      if (step % 6 === 5 && (await world.check()) === 0) break
    }
  } finally {
    await world.end()
  }
}

test(`under faults every job runs to its end, and never under two owners at once (${SEEDS} seeds)`, async (t) => {
  const seeds = listSeeds(SEEDS, firstSeedToday(SEEDS))
  let steps = 0
  await Promise.all(
    cells.map(async (cell, nth) => {
      let done = 0
      for (const seed of seeds.filter((_, i) => i % cells.length === nth)) {
        const { trace } = await simulate(seed, (scheduler) => run(scheduler, cell))
        steps += trace.length
        if (++done % SEEDS_PER_VACUUM === 0) await vacuum(cell)
      }
    }),
  )
  t.diagnostic(`${seeds.length} seeds, ${steps} steps and faults`)
})
