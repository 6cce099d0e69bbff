import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterSeconds } from './retry-after.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

for (const [header, seconds] of [
  ['120', 120],
  [' 1.5 ', 1.5],
  ['0.001', 1],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
  ['Fri, 01 Jan 2126 00:00:00 GMT', 86_400],
  ['999999999', 86_400],
  ['0', undefined],
  ['-5', undefined],
  ['-0.001', undefined],
  ['1e300', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['9'.repeat(400), undefined],
  ['Wed, 31 Dec 2025 00:00:00 GMT', undefined],
  ['2026-01-01', undefined],
  ['5 apples', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)
  test(`Retry-After ${header?.slice(0, 40)} means ${seconds} seconds`, () =>
    assert.equal(retryAfterSeconds(header, NOW), seconds))
