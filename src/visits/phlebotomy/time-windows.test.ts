import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { plusDays, wallClocks, type WallClocks } from './local-time.ts'
import { byDay, daysFrom, openWindows, remainingCapacity, createWindows, type Schedule, type Window } from './time-windows.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

/** Zones that change their clocks by an hour, by half an hour, at midnight, in the southern hemisphere, or never. */
const zones = [
  'America/New_York',
  'America/Phoenix',
  'America/Anchorage',
  'Pacific/Honolulu',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Beirut',
  'America/Santiago',
  'Europe/Dublin',
  'Asia/Kathmandu',
  'Etc/UTC',
]

let clocks: WallClocks
before(async () => {
  clocks = await wallClocks()
})

const always = (hours: Schedule['hours'][number]) => Array.from({ length: 7 }, () => hours)
const round: Schedule['hours'][number] = [{ from_min: 0, to_min: 1440 }]

const schedule = (changes: Partial<Schedule> = {}): Schedule => ({
  time_zone: 'America/New_York',
  hours: always([{ from_min: 480, to_min: 960 }]),
  days_off: new Set(),
  window_min: 120,
  visit_min: 30,
  travel_min: 30,
  capacity: 1,
  notice_min: 0,
  price_cents: 3500,
  ...changes,
})

const day = (date: string, zone: string) => ({
  start_ms: clocks.day(date, zone).toInstant(0, 'start'),
  end_ms: clocks.day(plusDays(date, 1), zone).toInstant(0, 'start'),
})

const dates = fc.integer({ min: 0, max: 365 * 6 }).map((offset) => plusDays('2025-01-01', offset))
const quarter = fc.integer({ min: 0, max: 96 }).map((n) => n * 15)
const hoursOfDay = fc.uniqueArray(quarter, { minLength: 2, maxLength: 6 }).map((marks) => {
  const sorted = marks.toSorted((a, b) => a - b)
  const pairs = sorted.flatMap((from_min, n) =>
    n % 2 === 0 && n + 1 < sorted.length ? [{ from_min, to_min: sorted[n + 1]! }] : [],
  )
  return pairs
})
const schedules = fc
  .record({
    time_zone: fc.constantFrom(...zones),
    hours: fc.array(hoursOfDay, { minLength: 7, maxLength: 7 }),
    window_min: fc.constantFrom(30, 45, 60, 90, 120, 240),
    days_off: fc.array(dates, { maxLength: 20 }).map((list) => new Set(list)),
  })
  .map((changes) => schedule({ ...changes, visit_min: 15, travel_min: 15 }))

describe('windows of working hours', () => {
  test('windows follow one another from the start of the hours, and a shorter remainder is not used', () => {
    const nine = schedule({ hours: always([{ from_min: 540, to_min: 1050 }]) })
    const found = createWindows(clocks, nine, day('2026-07-01', 'America/New_York'))
    assert.deepEqual(
      found.map(({ start_ms, end_ms }) => [start_ms, end_ms].map((time) => new Date(time).toISOString().slice(11, 16))),
      [
        ['13:00', '15:00'],
        ['15:00', '17:00'],
        ['17:00', '19:00'],
        ['19:00', '21:00'],
      ],
    )
  })

  test('a day of 23 hours has 23 one-hour windows and a day of 25 hours has 25', () => {
    const hourly = schedule({ hours: always(round), window_min: 60 })
    for (const [date, hours] of [
      ['2026-03-08', 23],
      ['2026-11-01', 25],
      ['2026-06-01', 24],
    ] as const) {
      const found = createWindows(clocks, hourly, day(date, 'America/New_York'))
      assert.equal(found.length, hours)
      assert.equal(new Set(found.map(({ start_ms }) => start_ms)).size, hours)
    }
  })

  test('no window starts in a skipped hour, and a repeated hour has windows twice', () => {
    const night = schedule({ window_min: 30, hours: always([{ from_min: 60, to_min: 150 }]) })
    const spring = createWindows(clocks, night, day('2026-03-08', 'America/New_York'))
    assert.deepEqual(
      spring.map(({ start_ms }) => new Date(start_ms).toISOString()),
      ['2026-03-08T06:00:00.000Z'],
    )
    const autumn = createWindows(clocks, night, day('2026-11-01', 'America/New_York'))
    assert.equal(autumn.length, 5)
  })

  test('in every zone and year windows lie within the hours, adjoin, have one length, are in order and fill the hours', () => {
    fc.assert(
      fc.property(schedules, dates, (schedule, date) => {
        const zone = schedule.time_zone
        const length_ms = schedule.window_min * MINUTE_MS
        const found = createWindows(clocks, schedule, day(date, zone))
        const weekday = (new Date(`${date}T12:00:00Z`).getUTCDay() + 6) % 7
        const spans = schedule.hours[weekday]!.map(({ from_min, to_min }) => ({
          start_ms: clocks.day(date, zone).toInstant(from_min, 'start'),
          end_ms: clocks.day(date, zone).toInstant(to_min, 'end'),
        }))
        const fitting = spans.reduce(
          (sum, { start_ms, end_ms }) => sum + Math.max(0, Math.floor((end_ms - start_ms) / length_ms)),
          0,
        )
        assert.equal(found.length, schedule.days_off.has(date) ? 0 : fitting)
        let before_ms = -Infinity
        for (const { start_ms, end_ms } of found) {
          assert.equal(end_ms - start_ms, length_ms)
          assert(start_ms >= before_ms, 'in order, and none overlaps another')
          before_ms = end_ms
          const within = spans.find((span) => start_ms >= span.start_ms && end_ms <= span.end_ms)
          assert(within, 'not beyond the hours')
          assert.equal((start_ms - within.start_ms) % length_ms, 0)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a range of days has the windows of each of its days', () => {
    fc.assert(
      fc.property(schedules, dates, fc.constantFrom(...zones), (schedule, date, patientZone) => {
        const { dates: days, range } = daysFrom(clocks, date, patientZone)
        assert.equal(days.length, 14)
        const whole = createWindows(clocks, schedule, range)
        const parts = days.flatMap((dayOf) => createWindows(clocks, schedule, day(dayOf, patientZone)))
        assert.deepEqual(parts, whole)
        const shown = byDay(clocks, days, patientZone, [whole.map((window) => ({ ...window, places: 1 }))])
        assert.deepEqual(
          shown.map((day) => day.date),
          days,
        )
        assert.equal(shown.flatMap((day) => day.windows).length, whole.length)
        for (const one of shown)
          for (const { start_ms } of one.windows) assert.equal(clocks.localDate(start_ms, patientZone), one.date)
      }),
      { numRuns: 150 },
    )
  })

  test('windows in priority hours cost the priority price', () => {
    const early = schedule({ priority: { price_cents: 7900, hours: [{ from_min: 480, to_min: 600 }] } })
    const found = createWindows(clocks, early, day('2026-07-01', 'America/New_York'))
    assert.deepEqual(
      found.map(({ is_priority, price_cents }) => [is_priority, price_cents]),
      [[true, 7900], ...Array.from({ length: 3 }, () => [false, 3500])],
    )
  })
})

describe('capacity of a window', () => {
  const at = (hour: number, hours = 2): Window => ({
    start_ms: hour * HOUR_MS,
    end_ms: (hour + hours) * HOUR_MS,
    price_cents: 3500,
    is_priority: false,
  })

  test('capacity accounts for visit and travel time per phlebotomist', () => {
    assert.equal(remainingCapacity(schedule(), at(8), []), 2)
    assert.equal(remainingCapacity(schedule({ travel_min: 31 }), at(8), []), 1)
    assert.equal(remainingCapacity(schedule({ capacity: 3 }), at(8), []), 6)
  })

  test('a booked visit reduces the capacity of every window that it overlaps, by more than one if it is longer', () => {
    const visit = (hour: number, blocked_minutes = 60) => ({ ...at(hour), blocked_minutes })
    assert.equal(remainingCapacity(schedule(), at(8), [visit(8)]), 1)
    assert.equal(remainingCapacity(schedule(), at(8), [visit(7)]), 1)
    assert.equal(remainingCapacity(schedule(), at(8), [visit(10), visit(6)]), 2)
    assert.equal(remainingCapacity(schedule(), at(8), [visit(8, 90)]), 0)
    assert.equal(remainingCapacity(schedule(), at(8), [visit(8), visit(8), visit(8)]), 0)
  })

  test('no sequence of bookings exceeds the capacity of a window', () => {
    fc.assert(
      fc.property(
        fc.record({
          capacity: fc.integer({ min: 1, max: 4 }),
          visit_min: fc.constantFrom(15, 20, 45),
          travel_min: fc.constantFrom(0, 15, 30),
        }),
        fc.array(fc.nat(), { maxLength: 80 }),
        (changes, requests) => {
          const given = schedule(changes)
          const range = day('2026-11-01', 'America/New_York')
          const booked: { start_ms: number; end_ms: number; blocked_minutes: number }[] = []
          const blocked_minutes = given.visit_min + given.travel_min
          for (const request of requests) {
            const open = openWindows(clocks, given, range, booked)
            if (open.length === 0) break
            const { start_ms, end_ms } = open[request % open.length]!
            booked.push({ start_ms, end_ms, blocked_minutes })
          }
          for (const window of createWindows(clocks, given, range)) {
            const visits = booked.filter(({ start_ms }) => start_ms === window.start_ms).length
            assert(Math.ceil(visits / given.capacity) * blocked_minutes <= given.window_min)
          }
        },
      ),
    )
  })
})
