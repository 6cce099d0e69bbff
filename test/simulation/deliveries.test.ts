// Deliveries under faults: three processes on one real cell take steps in an order that a seed picks. In between, time passes, processes
// are killed or stalled, connections are lost, clocks are wrong, receivers fail or do not respond, and endpoints are deleted, disabled or
// moved. SIMULATION_SEED=… repeats one seed and prints all its steps.
import { after, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { schemaOf } from '../../src/platform/db/cells.ts'
import { cellNames, type CellName } from '../../src/settings/cells.ts'
import { Db } from '../../src/platform/db/database.ts'
import { connection, createTestTeam } from '../support/server.ts'
import { installation } from '../support/template.ts'
import { places, World, type SimulatedCell } from './deliveries-world.ts'
import { firstSeedToday, listSeeds, simulate, type Scheduler } from './scheduler.ts'

/** Of each day others. SIMULATION_SEEDS=… runs another number of them. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 200)
const STEPS = 70

/** Opens a cell for some of the seeds: only processes of a seed deliver its events. */
async function openCell(cell: CellName): Promise<SimulatedCell> {
  const team = await createTestTeam(cell)
  // A statement that waits for a stalled transaction fails and is retried.
  const options = {
    connection,
    installation,
    schema: schemaOf(cell),
    connections_max: 4,
    checkRows: false,
    deadlines: { lock_ms: 10 },
  }
  const dbs = new Map(places.map((place) => [place, new Db(options)]))
  // The owner of the tables, which may end connections.
  const admin = new Db({ ...options, row_security: 'off' })
  admin.hooks = contents.hooks
  return { tenant: team.tenant, user: await team.user(), admin, dbs }
}

const cells = await Promise.all(cellNames.map(openCell))
after(() => Promise.all(cells.flatMap(({ admin, dbs }) => [admin, ...dbs.values()].map((db) => db.close()))))

type Fault = (world: World, scheduler: Scheduler) => Promise<string> | string

/** Faults between two steps, by weight. */
const faults: (readonly [number, Fault])[] = [
  [70, () => ''],
  [
    10,
    async (world, { random }) => {
      const seconds = random.pick([0.1, 1, 2, 4, 6, 11, 31])
      return (await world.pass(seconds)) ? `${seconds} s pass` : ''
    },
  ],
  [
    3,
    async (world, { random }) => {
      const place = random.pick(places)
      if (world.isRunning(place)) await world.kill(place)
      else world.start(place)
      return world.isRunning(place) ? `a process starts in place ${place}` : `the process in place ${place} is killed`
    },
  ],
  [
    4,
    (world, { random }) => {
      const place = random.pick(places)
      world.stall(place)
      return `the process in place ${place} stands still`
    },
  ],
  [
    6,
    (world, { random }) => {
      const place = random.pick(places)
      world.resume(place)
      return `the process in place ${place} goes on`
    },
  ],
  [
    4,
    (world, { random }) => {
      const target = random.pick(world.targets)
      target.answers = random.pick(['well', 'well', 'ill', 'not'])
      return `${target.name} answers ${target.answers}`
    },
  ],
  [
    3,
    (world, { random }) => {
      const target = random.pick(world.targets)
      const how = random.pick(['delete', 'disable'] as const)
      world.close(target, how)
      return `a user asks to ${how} ${target.name}`
    },
  ],
  [
    2,
    (world, { random }) => {
      const target = random.pick(world.targets)
      world.move(target)
      return `a user asks to move ${target.name}`
    },
  ],
  [
    3,
    async (world, { random }) => {
      const count = random.whole(1, 2)
      await world.emitEvents(count)
      return `${count} more events`
    },
  ],
]

async function run(scheduler: Scheduler, cell: SimulatedCell): Promise<void> {
  const { random } = scheduler
  const world = new World(scheduler, cell)
  try {
    await world.open(2)
    await world.emitEvents(random.whole(2, 4))
    const count = random.whole(1, places.length)
    for (const place of places.slice(0, count)) world.start(place)
    // A third of the seeds have no faults: only the order of steps differs.
    const isCalm = random.chance(1 / 3)
    for (let step = 0; step < STEPS; step++) {
      await scheduler.step()
      world.assertSound()
      const happened = isCalm ? '' : await random.pickWeighted(faults)(world, scheduler)
      if (happened) scheduler.note(`  ${happened}`)
    }
    await world.settle()
  } finally {
    await world.clear()
  }
}

test(`under faults no event is lost, each object keeps its order, and no request goes to a closed endpoint, to a former address or from two processes at once (${SEEDS} seeds)`, async (t) => {
  const seeds = listSeeds(SEEDS, firstSeedToday(SEEDS))
  let steps = 0
  await Promise.all(
    cells.map(async (cell, nth) => {
      for (const seed of seeds.filter((_, i) => i % cells.length === nth)) {
        const { trace } = await simulate(seed, (scheduler) => run(scheduler, cell))
        steps += trace.length
      }
    }),
  )
  t.diagnostic(`${seeds.length} seeds, ${steps} steps and faults`)
})
