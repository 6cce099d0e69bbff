import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { HandlerTimeout, HeldLease, LeaseLost } from './leases.ts'

const collect = (): void => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  gc()
}

describe('a held lease', () => {
  test('gives the outcome of work that ends before it', async () => {
    const lease = new HeldLease('row', 0)
    assert.equal(await lease.whileHeld(Promise.resolve(7)), 7)
    await assert.rejects(lease.whileHeld(Promise.reject(new Error('faulty work'))), /faulty work/)
  })

  test('stops what waits when it ends, with the first reason, and what comes later', async () => {
    const lease = new HeldLease('row', 0)
    const waiting = [lease.whileHeld(new Promise(() => {})), lease.whileHeld(new Promise(() => {}))]
    lease.stop(new HandlerTimeout('too slow'))
    lease.stop(new LeaseLost('lost'))
    for (const one of [...waiting, lease.whileHeld(Promise.resolve(1))]) await assert.rejects(one, HandlerTimeout)
  })

  test('keeps no result of work that is over, however long it lasts', async () => {
    const lease = new HeldLease('row', 0)
    const results: WeakRef<object>[] = []
    for (let i = 0; i < 20; i++) {
      const result = { bytes: new Uint8Array(1000) }
      results.push(new WeakRef(result))
      await lease.whileHeld(Promise.resolve(result))
    }
    // A WeakRef holds its target until the end of the task that made it.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    assert.ok(results.filter((one) => one.deref()).length <= 1)
    assert.equal(lease.end, undefined)
  })
})
