// Opening hours as directories show them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHours } from './open-hours.ts'

const MONDAY = 0
const SATURDAY = 5

test('parses hours by day, also several spans a day', () => {
  const hours = {
    monday: '07:00-15:30',
    tuesday: '06:30-12:00 13:00-24:00',
    wednesday: '08:00 - 10:00, 11:00 - 12:00',
    saturday: null,
  }
  assert.deepEqual(openHours(hours, MONDAY), [[420, 930]])
  assert.deepEqual(openHours(hours, 1), [
    [390, 720],
    [780, 1440],
  ])
  assert.deepEqual(openHours(hours, 2), [
    [480, 600],
    [660, 720],
  ])
})

test('a day that is null or absent is closed', () => {
  assert.deepEqual(openHours({ monday: '07:00-15:30', saturday: null }, SATURDAY), [])
  assert.deepEqual(openHours({ monday: '07:00-15:30' }, SATURDAY), [])
})

test('missing hours and hours in another format are unknown', () => {
  for (const hours of [null, {}, { open: 'always' }, { monday: 'by appointment' }, { monday: 7 }, { monday: '15:00-07:00' }])
    assert.equal(openHours(hours, MONDAY), undefined, JSON.stringify(hours))
  for (const text of ['25:00-26:00', '23:00-24:30', '07:00', '', '-'.repeat(10_000)])
    assert.equal(openHours({ monday: text }, MONDAY), undefined)
})
