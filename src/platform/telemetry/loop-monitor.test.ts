import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { eventually } from '../../../test/support/eventually.ts'
import { cells } from '../../../test/support/server.ts'
import { sql } from '../db/sql.ts'
import { runWork, yieldIfLong, type Work } from '../runtime/loop-work.ts'
import { T } from '../schema/schema.ts'
import { monitorLoop } from './loop-monitor.ts'
import { createMetrics } from './metrics.ts'

function compute(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** A monitor of this process; its log and its metrics. */
function startMonitor() {
  const lines: Record<string, unknown>[] = []
  const to = new Writable({
    write(text, _encoding, callback) {
      lines.push(JSON.parse(String(text)) as Record<string, unknown>)
      callback()
    },
  })
  const metrics = createMetrics(() => undefined)
  const end = monitorLoop(pino({ level: 'debug' }, to), metrics)
  const blocks = () => lines.filter(({ msg }) => msg === 'the event loop was blocked')
  return { metrics, end, blocks }
}

const operation = (name: string): Work => ({ kind: 'operation', name })

describe('A turn of the event loop of more than 250 ms is logged and counted', () => {
  test('with the operation that computed', async () => {
    const { metrics, end, blocks } = startMonitor()
    await Promise.all([
      runWork(operation('quick'), async () => compute(5)),
      runWork(operation('slow'), async () => compute(300)),
      runWork(operation('other'), async () => compute(5)),
    ])
    await eventually(() => blocks().length > 0)
    end()
    const [block] = blocks()
    assert.equal(block!.operation, 'slow')
    assert.ok((block!.duration_ms as number) >= 290 && (block!.turn_ms as number) >= 300, JSON.stringify(block))
    const text = await metrics.registry.metrics()
    assert.match(text, /drawbridge_event_loop_blocks_total\{kind="operation",name="slow"\} 1/)
    const longest = Number(/longest_turn_seconds\{clock="wall"\} (\S+)/.exec(text)?.[1])
    assert.ok(longest >= 0.3, `${longest}`)
    assert.match(await metrics.registry.metrics(), /longest_turn_seconds\{clock="wall"\} 0\n/, 'the next reading starts from 0')
  })

  test('with the job that continues to compute after an answer of the database, not with concurrent jobs', async () => {
    const { end, blocks } = startMonitor()
    const One = T.Object({ one: T.Integer() })
    const ask = () => cells.db('sandbox-us').queries.one(One, sql`select 1 as one`)
    await Promise.all([
      runWork({ kind: 'job', name: 'long' }, async () => {
        await ask()
        compute(300)
        await ask()
      }),
      runWork({ kind: 'task', name: 'short' }, async () => {
        for (let i = 0; i < 20; i++) await ask()
      }),
    ])
    await eventually(() => blocks().length > 0)
    end()
    assert.deepEqual(
      blocks().map(({ job, task }) => ({ job, task })),
      [{ job: 'long', task: undefined }],
    )
  })

  test('but not time without work, and not work in slices', async () => {
    const { metrics, end, blocks } = startMonitor()
    await sleep(400)
    await runWork(operation('sliced'), async () => {
      for (let i = 0; i < 100; i++) {
        compute(4)
        const turn = yieldIfLong()
        if (turn) await turn
      }
    })
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    end()
    // By processor time, since other programs make a turn longer.
    const longest = Number(/longest_turn_seconds\{clock="processor"\} (\S+)/.exec(await metrics.registry.metrics())?.[1])
    assert.ok(longest > 0 && longest < 0.2, `${longest}`)
    assert.ok(!blocks().some((block) => (block.turn_ms as number) >= 400), JSON.stringify(blocks()))
  })
})
