// Availability at service centers: that of the sandbox, and that of own schedules.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { utcDate, addSeconds } from '../../platform/runtime/clock.ts'
import type { AvailableSlots } from '../appointments/schema.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { getAvailability, BOOKABLE, siteWithSchedule, slots } from '../../../test/support/psc-booking.ts'
import { labId, site, insertSites } from '../../../test/support/psc-sites.ts'
import { cells, createTestTeam, guard, settings, type TestTeam } from '../../../test/support/server.ts'
import { setActive } from '../psc/sites.ts'
import { command } from '../../../test/support/commands.ts'
import { calendarOf, weekdays } from './schedule.ts'
import { nowOf } from '../../../test/support/teams.ts'

const PHOENIX = await calendarOf('America/Phoenix')
const SITES = 'lab=quest&site_codes=SBQ0020'

/** Advances a team's clock to a minute of a day in Phoenix. */
async function advanceUntil(team: TestTeam, minute: number): Promise<void> {
  const at = await nowOf(team)
  const today = PHOENIX.dayOf(at)
  const then = PHOENIX.instantAt(PHOENIX.plusDays(today, 1), minute)
  await advanceClock(team, (then.getTime() - at.getTime()) / 1000)
}

describe('availability in a sandbox', () => {
  test("returns fourteen days for each of the nearest sites of a ZIP code, in the site's time zone", async () => {
    const team = await createTestTeam()
    const { status, body } = await getAvailability(team, 'lab=quest&zip_code=85004')
    assert.deepEqual([status, body.timezone], [200, null])
    const bySite = Map.groupBy((body as AvailableSlots).slots, ({ location }) => location!.code)
    assert.equal(bySite.size, 3)
    const today = PHOENIX.dayOf(await nowOf(team))
    for (const days of bySite.values()) {
      assert.deepEqual(
        days.map(({ date }) => date),
        Array.from({ length: 14 }, (_, i) => PHOENIX.plusDays(today, i)),
      )
      const { location } = days[0]!
      assert.deepEqual([location!.iana_timezone, typeof location!.distance], ['America/Phoenix', 'number'])
      assert.match(location!.address.zip_code, /^\d{5}/)
    }
    const distances = [...bySite.values()].map(([first]) => first!.location!.distance!)
    assert.deepEqual(
      distances,
      distances.toSorted((a, b) => a - b),
    )
  })

  test('no site offers slots outside its opening hours, in any time zone', async () => {
    const team = await createTestTeam()
    const lab_id = await labId('quest')
    let shut = 0
    for (const [zip, zone] of [
      ['85004', 'America/Phoenix'],
      ['10001', 'America/New_York'],
      ['90012', 'America/Los_Angeles'],
      ['60601', 'America/Chicago'],
    ] as const) {
      const { body: info } = await team.api.get(`/v3/order/psc/info?zip_code=${zip}&lab_id=${lab_id}&radius=50`)
      const centers = info.patient_service_centers as {
        site_code: string
        metadata: { hours: Record<string, string | null> | null }
      }[]
      const hoursOf = new Map(centers.map(({ site_code, metadata }) => [site_code, metadata.hours]))
      const codes = centers.filter(({ metadata }) => metadata.hours).map(({ site_code }) => site_code)
      const { body } = await getAvailability(team, `lab=quest&zip_code=${zip}&radius=50`)
      for (const { location, date, slots: free } of (body as AvailableSlots).slots) {
        assert.equal(location!.iana_timezone, zone, location!.code)
        const calendar = await calendarOf(zone)
        if (!codes.includes(location!.code)) continue
        const hours = hoursOf.get(location!.code)![weekdays[calendar.weekdayOf(date)]!]
        if (hours === null) shut++
        const [from, to] = (hours ?? '00:00-00:00')
          .split('-')
          .map((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)))
        for (const slot of free) {
          assert.equal(calendar.dayOf(new Date(slot.start)), date)
          const [start, end] = [slot.start, slot.end].map((time) => calendar.minuteOf(new Date(time)))
          assert.ok(start! >= from! && end! <= to!, `${location!.code} on ${date}: ${start} to ${end}, open ${hours}`)
        }
      }
    }
    assert.ok(shut > 0)
  })

  test('with SANDBOX_PARITY every site is in the zone of New York and has the same slots on every day', async () => {
    const newYork = await calendarOf('America/New_York')
    settings.sandbox_parity = true
    try {
      const team = await createTestTeam()
      const { body } = await getAvailability(team, 'lab=quest&site_codes=SBQ0029')
      const days = (body as AvailableSlots).slots
      assert.deepEqual([days.length, days[0]!.location!.iana_timezone], [14, 'America/New_York'])
      for (const { slots: free } of days.slice(1)) {
        assert.equal(free.length, 15)
        assert.equal(newYork.minuteOf(new Date(free[0]!.start)), 420)
      }
    } finally {
      settings.sandbox_parity = false
    }
  })

  test('days after today have slots of twenty minutes from 07:00 to 12:00', async () => {
    const team = await createTestTeam()
    const today = PHOENIX.dayOf(await nowOf(team))
    const tomorrow = (await slots(team, SITES)).filter(({ date }) => date === PHOENIX.plusDays(today, 1))
    assert.equal(tomorrow.length, 15)
    for (const [i, slot] of tomorrow.entries()) {
      assert.equal(PHOENIX.minuteOf(new Date(slot.start)), 420 + 20 * i)
      assert.deepEqual(
        [(new Date(slot.end).getTime() - new Date(slot.start).getTime()) / 60_000, slot.price, slot.is_priority],
        [20, 0, false],
      )
      assert.equal(slot.num_appointments_available, 1)
      assert.match(slot.booking_key!, /^bk1\./)
    }
  })

  for (const [minute, first, count] of [
    [9 * 60 + 30, 600, 21],
    [15 * 60 + 59, 960, 3],
    [16 * 60, undefined, 0],
  ] as const)
    test(`today at minute ${minute} there are ${count} slots left`, async () => {
      const team = await createTestTeam()
      await advanceUntil(team, minute)
      const today = PHOENIX.dayOf(await nowOf(team))
      const left = (await slots(team, SITES)).filter(({ date }) => date === today)
      assert.equal(left.length, count)
      if (first !== undefined) assert.equal(PHOENIX.minuteOf(new Date(left[0]!.start)), first)
    })

  test('booking keys expire after 30 minutes or at the start of the slot', async () => {
    const team = await createTestTeam()
    await advanceUntil(team, 9 * 60 + 50)
    const at = await nowOf(team)
    const [first, , third] = await slots(team, SITES)
    assert.equal(new Date(first!.expires_at!).getTime(), new Date(first!.start).getTime())
    const left_s = (new Date(third!.expires_at!).getTime() - at.getTime()) / 1000
    assert(left_s >= 1800 && left_s < 1900)
  })
})

describe('availability requests', () => {
  test('accepts parameters in the query or in a body, and prefers the query', async () => {
    const team = await createTestTeam()
    const codes = async (query: string, body?: unknown) => {
      const reply = await getAvailability(team, query, body)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      return [...new Set((reply.body as AvailableSlots).slots.map(({ location }) => location!.code))]
    }
    assert.deepEqual(await codes('', { lab: 'quest', site_codes: ['SBQ0020'], allow_stale: true }), ['SBQ0020'])
    assert.deepEqual(await codes('site_codes=SBQ0029&allow_stale=true', { lab: 'quest', site_codes: ['SBQ0020'] }), ['SBQ0029'])
    assert.deepEqual(await codes('lab=quest&site_codes=SBQ0029&site_codes=SBQ0020&site_codes=SBQ0029'), ['SBQ0029', 'SBQ0020'])
  })

  test('a start date selects the first day', async () => {
    const team = await createTestTeam()
    const start = utcDate(addSeconds(await nowOf(team), 40 * 86_400))
    const { body } = await getAvailability(team, `${SITES}&start_date=${start}`)
    assert.deepEqual([body.slots[0].date, body.slots.length], [start, 14])
  })

  const refusals: Record<string, [query: string, status: number, detail: string]> = {
    'a request without sites or ZIP code': ['lab=quest', 400, 'site_codes or zip_code must be provided'],
    'more than three sites': ['lab=quest&site_codes=A,B,C,D', 400, 'site_codes must be less than or equal to 3'],
    'an unknown site': ['lab=quest&site_codes=NONE', 400, 'Location with site code NONE not found'],
    'a site of another lab': ['lab=sonora_quest&site_codes=SBQ0020', 400, 'Location with site code SBQ0020 not found'],
    'a ZIP code without a radius': ['lab=quest&zip_code=85004&radius=', 400, 'radius must be provided when using zip_code'],
    'a day in the past': [`${SITES}&start_date=2020-01-01`, 400, 'start_date must be greater or equal than the current date'],
    'a day more than a year ahead': [`${SITES}&start_date=2126-01-01`, 400, 'start_date must be within a year'],
    'a ZIP code without sites nearby': ['lab=sonora_quest&zip_code=10001', 404, 'No slots found for zip code'],
    'an unknown ZIP code': ['lab=quest&zip_code=00000', 404, 'No slots found for zip code'],
    'a site without appointments': [
      'lab=quest&site_codes=SBQ0018',
      404,
      'No slots found. Not all PSCs support scheduling appointments and some included in your query were filtered out because of this.',
    ],
  }
  for (const [what, [query, status, detail]] of Object.entries(refusals))
    test(`rejects ${what}`, async () => {
      const reply = await getAvailability(await createTestTeam(), query)
      assert.deepEqual([reply.status, reply.body], [status, { detail }])
    })

  test('rejects a null radius in the body', async () => {
    const reply = await getAvailability(await createTestTeam(), '', { lab: 'quest', zip_code: '85004', radius: null })
    assert.deepEqual([reply.status, reply.body], [400, { detail: 'radius must be provided when using zip_code' }])
  })

  test('a missing lab or one that cannot be booked is a validation error', async () => {
    const team = await createTestTeam()
    for (const query of [
      'zip_code=85004',
      'lab=no_such_lab&zip_code=85004',
      'lab=quest&zip_code=8500',
      'lab=quest&zip_code=85004&radius=7',
    ])
      assert.equal((await getAvailability(team, query)).status, 422, query)
    const reply = await getAvailability(team, 'lab=labcorp&zip_code=85004')
    assert.deepEqual([reply.status, reply.body], [400, { detail: 'This lab is not supported.' }])
  })

  test('rejects an inactive site', async () => {
    const team = await createTestTeam()
    const lab_id = await labId('quest')
    await insertSites('sandbox-us', lab_id, [site('CLOSED-1', 1, { ...BOOKABLE, active: false })])
    const reply = await getAvailability(team, 'lab=quest&site_codes=CLOSED-1')
    assert.deepEqual([reply.status, reply.body], [400, { detail: 'Location with site code CLOSED-1 is no longer active' }])
    await team.db.plainTx((tx) => setActive(tx, lab_id, 'CLOSED-1', true))
    assert.equal((await getAvailability(team, 'lab=quest&site_codes=CLOSED-1')).status, 200)
  })

  test('returns 503 if the team has no scheduling', async () => {
    const team = await createTestTeam()
    await command(cells, ['team', 'feature', team.team, 'psc_scheduling', 'off'])
    guard.invalidate(team.team)
    const reply = await getAvailability(team, 'lab=quest&zip_code=85004')
    assert.deepEqual([reply.status, reply.body], [503, { detail: 'Feature not enabled' }])
  })
})

describe('availability of own schedules', () => {
  test('a site has the hours, capacity and prices of its schedule, in its time zone', async () => {
    const team = await createTestTeam('production-us')
    const hours = Array.from({ length: 7 }, (_, i) =>
      i === 6 ? [] : [[420, 480] as [number, number], [600, 630] as [number, number]],
    )
    const soon = PHOENIX.plusDays(PHOENIX.dayOf(await nowOf(team)), 2)
    const closed = PHOENIX.weekdayOf(soon) === 6 ? PHOENIX.plusDays(soon, 1) : soon
    await siteWithSchedule('OWN-1', { hours, closed: [closed], places: 3, price: 1500 })
    const free = await slots(team, 'lab=quest&site_codes=OWN-1')
    assert(free.every((slot) => slot.price === 1500 && slot.num_appointments_available === 3))
    const days = Map.groupBy(free, ({ date }) => date)
    assert(!days.has(closed))
    const after = Array.from({ length: 12 }, (_, i) => PHOENIX.plusDays(soon, i))
    for (const date of after.filter((otherDate) => otherDate !== closed)) {
      const starts = (days.get(date) ?? []).map(({ start }) => PHOENIX.minuteOf(new Date(start)))
      assert.deepEqual(starts, PHOENIX.weekdayOf(date) === 6 ? [] : [420, 450, 600])
    }
    const { body } = await getAvailability(team, 'lab=quest&site_codes=OWN-1&zip_code=85004')
    assert.deepEqual([body.slots[0].location.iana_timezone, body.slots[0].location.distance], ['America/Phoenix', 1])
  })

  test('a site without a schedule has no slots, even if the directory marks it as bookable', async () => {
    const team = await createTestTeam('production-us')
    await insertSites('production-us', await labId('quest', 'production-us'), [site('BARE-1', 1, BOOKABLE)])
    const reply = await getAvailability(team, 'lab=quest&site_codes=BARE-1')
    assert.equal(reply.status, 404)
    assert.match(reply.body.detail, /^No slots found\. Not all PSCs/)
  })
})
