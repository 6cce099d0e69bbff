import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { expiringCache, removeWhere } from './expiring-cache.ts'

test('an entry is returned until it expires, by the system clock', (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  t.after(() => mock.timers.reset())
  const cache = expiringCache<string>({ lifetime_ms: 5000, size_max: 3 })
  cache.set('a', 'one')
  mock.timers.setTime(1_004_999)
  assert.equal(cache.get('a'), 'one')
  mock.timers.setTime(1_005_001)
  assert.equal(cache.get('a'), undefined)
})

test('a full cache removes the least recently used entry only', () => {
  const cache = expiringCache<string>({ lifetime_ms: 60_000, size_max: 3 })
  for (const key of ['a', 'b', 'c']) cache.set(key, key)
  cache.get('a')
  cache.set('__proto__', 'd')
  assert.deepEqual(
    ['a', 'b', 'c', '__proto__'].map((key) => cache.get(key)),
    ['a', undefined, 'c', 'd'],
  )
})

test('entries are removed by their value', () => {
  const cache = expiringCache<{ team: string }>({ lifetime_ms: 60_000, size_max: 10 })
  for (let i = 0; i < 10; i++) cache.set(`key ${i}`, { team: i % 2 ? 'odd' : 'even' })
  removeWhere(cache, ({ team }) => team === 'odd')
  assert.deepEqual(
    [...cache.values()].map(({ team }) => team),
    Array(5).fill('even'),
  )
})
