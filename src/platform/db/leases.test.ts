import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventually } from '../../../test/support/eventually.ts'
import { HandlerTimeout, HeldLease, LeaseKeeper, LeaseLost } from './leases.ts'

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

  test('stops waiting and later tasks when it ends, with the first reason', async () => {
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
    // A WeakRef holds its target until the end of the task that made it, and a collection that had already begun keeps what is younger.
    await eventually(() => {
      collect()
      return results.filter((reference) => reference.deref()).length <= 1
    }, 'the results are collected')
    assert.equal(lease.end, undefined)
  })
})

describe('the leases of a process', () => {
  /** A keeper of leases of a minute whose clock and ticks are those of the test. @param renew tells which rows are renewed */
  function keeping(renew: (rows: readonly string[]) => Promise<readonly string[]>) {
    const clock = { now_ms: 1000 }
    const errors: unknown[] = []
    const options = { lease_s: 60, tick_ms: 0, now_ms: () => clock.now_ms, onError: (error: unknown) => void errors.push(error) }
    return { clock, errors, keeper: new LeaseKeeper<string>({ ...options, renew }) }
  }

  test('are renewed after a third of their time, and last from the moment when the renewal was sent', async () => {
    const asked: (readonly string[])[] = []
    const { clock, keeper } = keeping(async (rows) => {
      asked.push(rows)
      clock.now_ms += 500
      return rows
    })
    const lease = keeper.hold('a row', clock.now_ms)
    clock.now_ms += 19_000
    await keeper.tick()
    assert.deepEqual(asked, [])
    clock.now_ms += 1000
    await keeper.tick()
    assert.deepEqual([asked, lease.expires_ms, lease.end], [[['a row']], 81_000, undefined])
  })

  test('end for the rows that another owner has, and for no other', async () => {
    const { clock, keeper } = keeping(async (rows) => rows.filter((row) => row === 'ours'))
    const [ours, lost] = [keeper.hold('ours', clock.now_ms), keeper.hold('lost', clock.now_ms)]
    const waiting = assert.rejects(lost.whileHeld(new Promise(() => {})), LeaseLost)
    clock.now_ms += 30_000
    await keeper.tick()
    await waiting
    assert.equal(lost.end instanceof LeaseLost, true)
    assert.equal(ours.end, undefined)
  })

  test('end by the clock of the process while they cannot be renewed, before another owner may have the rows', async () => {
    const away = new Error('the database is away')
    const { clock, errors, keeper } = keeping(() => Promise.reject(away))
    const lease = keeper.hold('a row', clock.now_ms)
    const waiting = assert.rejects(lease.whileHeld(new Promise(() => {})), LeaseLost)
    clock.now_ms += 59_999
    await keeper.tick()
    assert.deepEqual([lease.end, errors], [undefined, [away]])
    clock.now_ms += 1
    await keeper.tick()
    await waiting
  })
})
