import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatInstant } from '../pdf/text.ts'
import { dayIn, instantIn, zonedParts } from './zoned-time.ts'

const at = new Date('2026-11-20T03:30:00Z')

test('an instant has the day, the time and the name of its zone, in summer and winter', () => {
  assert.deepEqual(zonedParts(at, 'America/Phoenix'), { date: '2026-11-19', time: '20:30', zone: 'MST' })
  assert.deepEqual(zonedParts(at, 'Etc/UTC'), { date: '2026-11-20', time: '03:30', zone: 'UTC' })
  assert.deepEqual(zonedParts(new Date('2026-07-04T04:05:00Z'), 'America/New_York'), {
    date: '2026-07-04',
    time: '00:05',
    zone: 'EDT',
  })
  assert.equal(dayIn(at, 'Pacific/Kiritimati'), '2026-11-20')
  assert.equal(dayIn(at, 'Asia/Kolkata'), '2026-11-20')
})

test('documents print instants in a zone, and days as they are', () => {
  assert.equal(formatInstant('2026-11-20T03:30:00+00:00', 'America/Phoenix'), 'Nov 19, 2026 20:30 MST')
  assert.equal(formatInstant('2026-11-19T20:30:00-07:00', 'America/Phoenix'), 'Nov 19, 2026 20:30 MST')
  assert.equal(formatInstant('1990-01-31', 'America/Phoenix'), 'Jan 31, 1990')
  assert.equal(formatInstant('this morning', 'America/Phoenix'), 'this morning')
})

test('an instant has the offset of its zone, in winter and summer, also where it is not of whole hours', () => {
  const at = (text: string, zone: string) => instantIn(new Date(text), zone)
  assert.equal(at('2026-11-20T03:30:15.900Z', 'America/Phoenix'), '2026-11-19T20:30:15-07:00')
  assert.equal(at('2026-07-01T23:00:00Z', 'Europe/Berlin'), '2026-07-02T01:00:00+02:00')
  assert.equal(at('2026-01-01T00:00:00Z', 'Europe/Berlin'), '2026-01-01T01:00:00+01:00')
  assert.equal(at('2026-01-01T00:00:00Z', 'Asia/Kathmandu'), '2026-01-01T05:45:00+05:45')
  assert.equal(at('2026-01-01T00:00:00Z', 'America/St_Johns'), '2025-12-31T20:30:00-03:30')
  assert.equal(at('2026-01-01T00:00:00Z', 'Etc/UTC'), '2026-01-01T00:00:00+00:00')
})
