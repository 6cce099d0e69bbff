import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, Scheduler, listSeeds, simulate, SimulationError, type Pause } from './scheduler.ts'

const three = async (pause: Pause) => {
  for (const label of ['one', 'two', 'three']) await pause(label)
}

async function traceOf(seed: number): Promise<string[]> {
  const scheduler = new Scheduler(seed)
  for (const name of ['a', 'b', 'c']) scheduler.add(name, three)
  await scheduler.run()
  return scheduler.trace
}

test('the same seed gives the same steps and another seed gives others', async () => {
  assert.deepEqual(await traceOf(7), await traceOf(7))
  assert.notDeepEqual(await traceOf(7), await traceOf(8))
})

test('each actor takes its own steps in order, and every actor ends', async () => {
  const trace = await traceOf(1)
  for (const name of ['a', 'b', 'c'])
    assert.deepEqual(
      trace.filter((line) => line.startsWith(`${name}:`)),
      ['start', 'one', 'two', 'three'].map((label) => `${name}: ${label}`),
    )
})

test('many seeds give many orders of steps', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 100; seed++) orders.add((await traceOf(seed)).join())
  assert(orders.size > 90, `only ${orders.size} orders`)
})

test('random numbers are spread evenly, and weights are kept', () => {
  const random = new Random(1)
  const counts = [0, 0, 0, 0]
  for (let i = 0; i < 4000; i++) counts[random.whole(0, 3)]!++
  for (const count of counts) assert(count > 900 && count < 1100, counts.join())
  let heavy = 0
  for (let i = 0; i < 4000; i++) if (random.pickWeighted([[3, true] as const, [1, false] as const])) heavy++
  assert(heavy > 2850 && heavy < 3150, String(heavy))
  assert.match(random.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('an abandoned actor takes no further step, and a suspended one takes no step until it is released', async () => {
  const scheduler = new Scheduler(3)
  for (const name of ['a', 'b']) scheduler.add(name, three)
  scheduler.suspend('a')
  scheduler.abandon((name) => name === 'b')
  assert.deepEqual([scheduler.runnable, await scheduler.run()], [[], 0])
  assert.deepEqual([scheduler.isAlive('a'), scheduler.isAlive('b')], [true, false])
  scheduler.release('a')
  assert.equal(await scheduler.run(), 4)
})

test('a failure names its seed and shows the steps that led to it', async () => {
  const failing = simulate(42, async (scheduler) => {
    scheduler.add('a', three)
    scheduler.add('b', async (pause) => {
      await pause('fail')
      throw new Error('broken')
    })
    await scheduler.run()
  })
  await assert.rejects(failing, (error: Error) => {
    assert(error instanceof SimulationError)
    assert.match(error.message, /^seed 42 failed \(SIMULATION_SEED=42 repeats it\): broken\n/)
    assert.match(error.message, /^ {2}b: fail$/m)
    return true
  })
})

test('SIMULATION_SEED chooses one seed', () => {
  assert.deepEqual(listSeeds(3, 5, {}), [5, 6, 7])
  assert.deepEqual(listSeeds(3, 5, { SIMULATION_SEED: '99' }), [99])
  assert.throws(() => listSeeds(3, 5, { SIMULATION_SEED: 'x' }), /whole number/)
})
