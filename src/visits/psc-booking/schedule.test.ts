// Slots of a site in its time zone, also on the days on which clocks change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso } from '../../platform/runtime/clock.ts'
import { calendarOf, openingsOn, slotsIn, type Schedule } from './schedule.ts'

const LONG_AGO = new Date(0)
const always: Schedule['hours'] = Array.from({ length: 7 }, () => [[0, 1440]])
const plan = (changes: Partial<Schedule> = {}): Schedule => ({
  hours: always,
  closed: [],
  slot_minutes: 60,
  places: 1,
  price: 0,
  confirms: 'at_once',
  ...changes,
})
const newYork = await calendarOf('America/New_York')
const phoenix = await calendarOf('America/Phoenix')
const startsOn = (day: string, schedule = plan(), calendar = newYork) =>
  slotsIn(openingsOn(schedule, calendar, day), schedule.slot_minutes, LONG_AGO).map(({ start }) => iso(start))

test('a day has twenty-four hours, except the days on which the clocks change', () => {
  assert.equal(startsOn('2026-03-07').length, 24)
  assert.equal(startsOn('2026-03-08').length, 23)
  assert.equal(startsOn('2026-11-01').length, 25)
  assert.equal(startsOn('2026-03-08', plan(), phoenix).length, 24)
})

test('a site opens at its local time, in summer and in winter', () => {
  const morning = plan({ hours: Array.from({ length: 7 }, () => [[420, 480]]) })
  assert.deepEqual(startsOn('2026-03-07', morning), ['2026-03-07T12:00:00+00:00'])
  assert.deepEqual(startsOn('2026-03-08', morning), ['2026-03-08T11:00:00+00:00'])
  assert.deepEqual(startsOn('2026-11-01', morning), ['2026-11-01T12:00:00+00:00'])
  assert.deepEqual(startsOn('2026-03-08', morning, phoenix), ['2026-03-08T14:00:00+00:00'])
})

test('a skipped hour has no slots, and a repeated hour has twice as many', () => {
  const night = plan({ hours: Array.from({ length: 7 }, () => [[60, 240]]) })
  assert.deepEqual(startsOn('2026-03-08', night), ['2026-03-08T06:00:00+00:00', '2026-03-08T07:00:00+00:00'])
  assert.equal(startsOn('2026-11-01', night).length, 4)
})

test('each day of the week has its own hours, and some days have no hours', () => {
  const schedule = plan({ hours: [[[420, 540]], [], [], [], [], [[480, 510]], []], closed: ['2026-01-12'], slot_minutes: 30 })
  assert.equal(startsOn('2026-01-05', schedule).length, 4)
  assert.equal(startsOn('2026-01-12', schedule).length, 0)
  assert.equal(startsOn('2026-01-06', schedule).length, 0)
  assert.deepEqual(startsOn('2026-01-10', schedule), ['2026-01-10T13:00:00+00:00'])
})

test('slots that extend past the closing time or are in the past are not offered', () => {
  const schedule = plan({ hours: Array.from({ length: 7 }, () => [[420, 470]]), slot_minutes: 20 })
  const openings = openingsOn(schedule, newYork, '2026-01-05')
  assert.equal(slotsIn(openings, 20, LONG_AGO).length, 2)
  assert.equal(slotsIn(openings, 20, new Date('2026-01-05T12:00:00Z')).length, 1)
  assert.equal(slotsIn(openings, 20, new Date('2026-01-05T12:20:00Z')).length, 0)
})
