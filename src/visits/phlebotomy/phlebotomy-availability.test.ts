// Availability at an address, through the API.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AvailableSlots } from '../appointments/schema.ts'
import { SECONDS_PER_DAY, advanceClock, tenantOf } from '../../../test/support/orders.ts'
import {
  available,
  avenue,
  createPhlebotomist,
  homeOrder,
  ok,
  assertRejected,
  slots,
  street,
  createAtHomeTeam,
  visitCalls,
  week,
} from '../../../test/support/home-visits.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { teamNow } from '../../platform/db/database.ts'
import { plusDays } from './local-time.ts'

const PRODUCTION = 'production-us'
const todayIn = async (team: TestTeam, timeZone = 'America/Phoenix') =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(teamNow(await tenantOf(team)))
const nightly = (start: string, end: string) =>
  Object.fromEntries(Object.keys(week).map((day) => [day, [{ from: start, to: end }]]))

describe('availability in the sandbox', () => {
  test('every day has six windows of two hours from 06:00 to 18:00, and the first and the last cost more', async () => {
    const team = await createTestTeam('sandbox-us')
    const tomorrow = plusDays(await todayIn(team), 1)
    const body = ok(await available(team, street, tomorrow)) as AvailableSlots
    assert.equal(body.timezone, 'America/Phoenix')
    assert.deepEqual(
      body.slots.map(({ date }) => date),
      Array.from({ length: 14 }, (_, n) => plusDays(tomorrow, n)),
    )
    for (const { date, slots: found, location } of body.slots) {
      assert.equal(location, null)
      assert.deepEqual(
        found.map(({ start, end, price, is_priority }) => [start, end, price, is_priority]),
        [13, 15, 17, 19, 21, 23].map((hour, n) => [
          `${date}T${hour}:00:00+00:00`,
          hour === 23 ? `${plusDays(date, 1)}T01:00:00+00:00` : `${date}T${hour + 2}:00:00+00:00`,
          n === 0 || n === 5 ? 7900 : 3500,
          n === 0 || n === 5,
        ]),
      )
    }
  })

  test('serves one street in one ZIP code', async () => {
    const team = await createTestTeam('sandbox-us')
    const detail = 'In the sandbox the address must be in West Lincoln Street, Phoenix, AZ 85004.'
    assertRejected(await available(team, { ...street, first_line: '1 Sample Way' }), 400, detail)
    assertRejected(await available(team, { ...street, city: 'Tempe' }), 400, detail)
    ok(await available(team, { ...street, first_line: 'west lincoln street, 12 B', zip: '85004-1234', state: 'Arizona' }))
    for (const zip of ['85006', '00000', avenue.zip])
      assertRejected(await available(team, { ...street, zip }), 400, 'No at-home phlebotomy provider serves this address.')
  })

  test("days are days of the patient's time zone, and past windows are not offered", async () => {
    const team = await createTestTeam('sandbox-us')
    const before = await todayIn(team)
    assertRejected(
      await available(team, street, plusDays(before, -1)),
      400,
      'start_date must be greater or equal than the current date',
    )
    assertRejected(await available(team, street, plusDays(before, 366)), 400, 'start_date must be within 365 days')
    assertRejected(await available(team, street, '9999-12-31'), 400, 'start_date must be within 365 days')
    assert.equal((await available(team, street, 'tomorrow')).status, 422)
    await advanceClock(team, 2 * SECONDS_PER_DAY)
    const body = ok(await available(team)) as AvailableSlots
    assert.equal(body.slots[0]!.date, plusDays(before, 2))
    const now = teamNow(await tenantOf(team)).getTime()
    for (const { start, expires_at } of body.slots.flatMap((day) => day.slots)) {
      assert(new Date(start).getTime() > now)
      assert(new Date(expires_at!).getTime() <= Math.min(now + 3_600_000 + 5000, new Date(start).getTime()))
    }
  })
})

describe('availability of own staff', () => {
  test('offers no windows without staff of the organization', async () => {
    await createAtHomeTeam()
    const team = await createTestTeam(PRODUCTION)
    assertRejected(await available(team), 400, 'No at-home phlebotomy provider serves this address.')
  })

  test('returns fourteen days from any start date, with empty lists for days without working hours', async () => {
    const team = await createAtHomeTeam(PRODUCTION, { hours: { monday: [{ from: '08:00', to: '10:00' }] } })
    const today = await todayIn(team)
    for (const start of [today, plusDays(today, 100), plusDays(today, 365)]) {
      const { slots: days } = ok(await available(team, street, start)) as AvailableSlots
      assert.equal(days.length, 14)
      for (const { date, slots: found } of days.slice(1)) {
        const isMonday = new Date(`${date}T00:00:00Z`).getUTCDay() === 1
        assert.equal(found.length, isMonday ? 1 : 0)
      }
    }
  })

  test('days off, the notice period and inactive staff remove windows', async () => {
    const team = await createAtHomeTeam()
    const day = plusDays(await todayIn(team), 3)
    const on = async () => (await slots(team)).filter(({ start }) => start.startsWith(day)).length
    assert.equal(await on(), 4)
    await createPhlebotomist(team, 'north-team', { days_off: [day] })
    assert.equal(await on(), 0)
    await createPhlebotomist(team, 'north-team', { notice_min: 14 * 1440 })
    assert.equal((await slots(team)).length, 0)
    await createPhlebotomist(team, 'north-team', { is_active: false })
    assertRejected(await available(team), 400, 'No at-home phlebotomy provider serves this address.')
  })

  test('includes phlebotomists by radius and by ZIP code list', async () => {
    const team = await createTestTeam(PRODUCTION)
    const center = { lat: 33.4557, lng: -112.0686 }
    await createPhlebotomist(team, 'near', { service_area: { center, radius_miles: 5 }, time_zone: 'America/Phoenix' })
    const served = async (zip: string) => (await available(team, { ...street, zip })).status === 200
    assert.deepEqual([await served('85004'), await served('85701'), await served('10001')], [true, false, false])
    await createPhlebotomist(team, 'near', { service_area: { center, radius_miles: 150 } })
    assert.deepEqual([await served('85004'), await served('85701'), await served('10001')], [true, true, false])
    await createPhlebotomist(team, 'far', { service_area: { zips: ['10001'] } })
    assert.equal(await served('10001'), true)
  })

  test('merges identical windows and adds their capacity', async () => {
    const team = await createAtHomeTeam()
    await createPhlebotomist(team, 'second', { capacity: 2 })
    await createPhlebotomist(team, 'dearer', { price_cents: 9900 })
    await createPhlebotomist(team, 'later', { hours: nightly('09:00', '11:00') })
    const day = plusDays(await todayIn(team), 2)
    const found = (await slots(team)).filter(({ start }) => start.startsWith(day)).slice(0, 3)
    assert.deepEqual(
      found.map(({ start, price, num_appointments_available: n }) => [start.slice(11, 13), price, n]),
      [
        ['15', 4200, 6],
        ['15', 9900, 2],
        ['16', 4200, 2],
      ],
    )
  })

  test('working hours are in the time zone of the phlebotomist, and days in that of the patient', async () => {
    const team = await createTestTeam(PRODUCTION)
    await createPhlebotomist(team, 'away', { time_zone: 'Pacific/Honolulu', hours: nightly('20:00', '24:00') })
    const day = plusDays(await todayIn(team), 3)
    const { slots: days } = ok(await available(team, street, day)) as AvailableSlots
    for (const { date, slots: found } of days)
      assert.deepEqual(
        found.map(({ start }) => start),
        [`${date}T08:00:00+00:00`, `${plusDays(date, 1)}T06:00:00+00:00`],
      )
  })

  test('rejects an address without a street number', async () => {
    const team = await createAtHomeTeam()
    const detail = 'The address must have a street and a house number.'
    for (const first_line of ['Sample Way', 'PO Box 12', '12'])
      assertRejected(await available(team, { ...street, first_line }), 400, detail)
    const id = await homeOrder(team, { patient_address: { ...street, first_line: 'Sample Way' } })
    assertRejected(await visitCalls(team, id).book((await slots(team))[0]!.booking_key), 400, detail)
  })
})
