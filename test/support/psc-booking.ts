// What tests of appointments at service centers stand on: sites with schedules of our own, orders that may be booked, and what is asked
// over HTTP.
import assert from 'node:assert/strict'
import type { AvailableSlots, TimeSlot } from '../../src/visits/appointments/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import type { Schedule } from '../../src/visits/psc-booking/schedule.ts'
import { upsertSchedules } from '../../src/visits/psc-booking/schedules.ts'
import type { SiteRecord } from '../../src/visits/psc/sites.ts'
import { appointmentOrder } from './appointments.ts'
import { labId, site, insertSites } from './psc-sites.ts'
import { cells, type TestTeam, type Reply, guard } from './server.ts'
import { getOrder } from './orders.ts'
import { command } from './commands.ts'

export const BOOKABLE = { capabilities: ['appointment_scheduling_via_service'] }

/** Weekdays and weekends alike. */
const allDayHours = (start: number, end: number): Schedule['hours'] => Array.from({ length: 7 }, () => [[start, end]])

export const schedule = (changes: Partial<Schedule> = {}): Schedule => ({
  hours: allDayHours(0, 1440),
  closed: [],
  slot_minutes: 30,
  places: 1,
  price: 0,
  confirms: 'at_once',
  ...changes,
})

/** A site of Quest in production with a schedule of our own. */
export async function siteWithSchedule(
  code: string,
  changes: Partial<Schedule> = {},
  record: Partial<SiteRecord> = {},
): Promise<void> {
  const lab_id = await labId('quest', 'production-us')
  await insertSites('production-us', lab_id, [site(code, 1, { ...BOOKABLE, ...record })])
  await cells.db('production-us').plainTx((tx) => upsertSchedules(tx, lab_id, [{ site_code: code, schedule: schedule(changes) }]))
}

export const walkIn = (team: TestTeam, requisition = true): Promise<string> => appointmentOrder(team, 'walk_in_test', requisition)

export const getAvailability = (team: TestTeam, query: string, body?: unknown): Promise<Reply> =>
  team.api.post(`/v3/order/psc/appointment/availability${query && `?${query}`}`, body)

/** Every free time that a question is answered with, soonest first for each site. */
export async function slots(
  team: TestTeam,
  query = 'lab=quest&zip_code=85004',
): Promise<(TimeSlot & { site: string; date: string })[]> {
  const { status, body } = await getAvailability(team, query)
  assert.equal(status, 200, JSON.stringify(body))
  return (body as AvailableSlots).slots.flatMap(({ location, date, slots: free }) =>
    free.map((slot) => ({ ...slot, site: location!.code, date })),
  )
}

export const book = (
  team: TestTeam,
  order_id: string,
  booking_key: unknown,
  overrides: object = {},
  headers?: Record<string, string>,
) => team.api.post(`/v3/order/${order_id}/psc/appointment/book`, { booking_key, ...overrides }, headers)
export const move = (team: TestTeam, order_id: string, booking_key: unknown, overrides: object = {}) =>
  team.api.patch(`/v3/order/${order_id}/psc/appointment/reschedule`, { booking_key, ...overrides })
export const cancel = (
  team: TestTeam,
  order_id: string,
  body: unknown = { cancellationReasonId: '5c0257ef-6fea-4a22-b20a-3ddab573d5c9' },
) => team.api.patch(`/v3/order/${order_id}/psc/appointment/cancel`, body)
export const read = (team: TestTeam, order_id: string) => team.api.get(`/v3/order/${order_id}/psc/appointment`)

/** The lab that a team's walk-in test goes to. */
export const atLab = ({ db, team }: TestTeam, slug: string) =>
  db.queries.run(sql`
    update lab_test set lab_id = (select id from lab where slug = ${slug}) where team_id = ${team} and method = 'walk_in_test'`)

export const assertRefused = (reply: { status: number; body: unknown }, status: number, detail: string) =>
  assert.deepEqual([reply.status, reply.body], [status, { detail }])
export const lows = async (team: TestTeam, id: string) =>
  (await getOrder(team, id)).events.map(({ status }) => status.split('.').at(-1)!)

export async function option(team: TestTeam, name: string): Promise<void> {
  await command(cells, ['team', 'feature', team.team, name, 'on'])
  guard.invalidate(team.team)
}

export const findBookingKey = async (team: TestTeam, query?: string, index = 0): Promise<string> =>
  (await slots(team, query))[index]!.booking_key!
