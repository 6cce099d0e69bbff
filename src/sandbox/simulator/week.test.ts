// A week in the sandbox driven by the clock only: orders are placed on the first day, and each follows its lifecycle. Source:
// lab-testing.md 24.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Appointment, TimeSlot } from '../../visits/appointments/schema.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { assertAgreement } from '../../../test/support/appointments.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { avenue, homeOrder, ok, slots, usAddress, visitCalls } from '../../../test/support/home-visits.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { start } from '../../../test/support/simulator.ts'

const HOUR_S = 3600
const PHOENIX_S = -7 * HOUR_S
/** 10:00 in Phoenix. */
const TEN_S = 10 * HOUR_S - PHOENIX_S

const now = async ({ api }: TestTeam): Promise<number> => Date.parse(ok(await api.get('/v1/sandbox/clock')).now) / 1000

/** Advances the clock like a user, with as many calls as needed. */
async function moveTo({ api }: TestTeam, to_s: number): Promise<void> {
  const { complete } = ok(await api.post('/v1/sandbox/clock/advance', { to: new Date(to_s * 1000).toISOString() }))
  assert.equal(complete, true)
}

const text = (at_s: number): string => new Date(at_s * 1000).toISOString().replace('.000Z', '+00:00')

interface Entry {
  at_s: number
  name: string
  event: string
}

/** Returns the events of orders and their appointments in order, with the names that the test gave them. */
async function diary({ api }: TestTeam, names: Record<string, string>): Promise<Entry[]> {
  const { data } = ok(await api.get('/v1/events?limit=250'))
  return (data as { type: string; created_at: string; body: { data: Order & Appointment } }[])
    .toReversed()
    .map(({ type, created_at, body }) => {
      const { id, order_id, last_event, event_status, start_at } = body.data
      const visit = `visit ${type.split('.').at(-1)}: ${event_status}${start_at ? ` for ${start_at}` : ''}`
      const event = last_event ? last_event.status.split('.').at(-1)! : visit
      return { at_s: Date.parse(created_at) / 1000, name: names[order_id ?? id]!, event }
    })
}

test('a week in the sandbox emits the events of a real week', async () => {
  const team = await createTestTeam()
  // The week begins on the day after tomorrow at 00:00 UTC, in the evening of the day before in Phoenix.
  const monday = (Math.floor((await now(team)) / 86_400) + 2) * 86_400
  const day = (n: number): number => monday + n * 86_400
  const date = (n: number): string => text(day(n)).slice(0, 10)
  await moveTo(team, monday)

  const walk_in = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), activate_by: date(2) })
  const home = await homeOrder(team, {}, false)
  const asked = await homeOrder(team, { patient_address: avenue }, false)
  for (const id of [walk_in.id, home, asked]) await start(team, id)
  await moveTo(team, monday + HOUR_S)

  const windows = await slots(team)
  const at = (n: number): TimeSlot => windows.find(({ start: begin }) => begin === text(day(n) + TEN_S))!
  ok(await visitCalls(team, home).book(at(1).booking_key))
  ok(await visitCalls(team, asked).request({ address: usAddress(avenue) }))

  // Rescheduled twice before it begins: to a later day, and then to an earlier one.
  await moveTo(team, monday + 4 * HOUR_S)
  const again = await slots(team)
  const key = (n: number) => again.find(({ start: begin }) => begin === text(day(n) + TEN_S))!.booking_key
  ok(await visitCalls(team, home).move(key(5)))
  ok(await visitCalls(team, home).move(key(3)))

  // The rest happens by the clock, one day after another.
  for (let n = 1; n <= 7; n++) await moveTo(team, day(n))

  const dated = ok(await visitCalls(team, asked).read()) as Appointment
  const all = await diary(team, { [walk_in.id]: 'walk-in', [home]: 'home', [asked]: 'asked' })
  const of = (name: string) => all.filter((entry) => entry.name === name).map(({ event }) => event)
  const first = text(day(1) + TEN_S)
  const later = text(day(5) + TEN_S)
  const held = text(day(3) + TEN_S)
  assert.deepEqual(of('walk-in'), ['ordered', 'requisition_created', 'completed'])
  assert.deepEqual(of('home'), [
    'ordered',
    'requisition_created',
    `visit created: scheduled for ${first}`,
    `visit updated: scheduled for ${first}`,
    'appointment_pending',
    'appointment_scheduled',
    `visit updated: scheduled for ${later}`,
    'appointment_scheduled',
    `visit updated: scheduled for ${held}`,
    'appointment_scheduled',
    `visit updated: in_progress for ${held}`,
    `visit updated: completed for ${held}`,
    'draw_completed',
    'completed',
  ])
  assert.deepEqual(of('asked'), [
    'ordered',
    'requisition_created',
    'visit created: pending',
    'visit updated: pending',
    'appointment_pending',
    `visit updated: scheduled for ${dated.start_at}`,
    'appointment_scheduled',
    `visit updated: in_progress for ${dated.start_at}`,
    `visit updated: completed for ${dated.start_at}`,
    'draw_completed',
    'completed',
  ])

  // Each at its time: the order for a date on its day, a visit when it begins, and all events in the order of these times.
  const asking_s = all.find(({ name, event }) => name === 'asked' && event === 'visit created: pending')!.at_s
  const expected = {
    'walk-in requisition_created': day(2),
    'walk-in completed': day(2),
    [`asked visit updated: scheduled for ${dated.start_at}`]: asking_s + HOUR_S,
    'asked draw_completed': Date.parse(dated.start_at!) / 1000,
    'asked completed': Date.parse(dated.start_at!) / 1000,
    'home draw_completed': day(3) + TEN_S,
    'home completed': day(3) + TEN_S,
  }
  for (const [entry, at_s] of Object.entries(expected))
    assert.deepEqual([entry, text(all.find(({ name, event }) => `${name} ${event}` === entry)!.at_s)], [entry, text(at_s)])
  assert.deepEqual(
    all.map(({ at_s }) => at_s),
    all.map(({ at_s }) => at_s).toSorted((a, b) => a - b),
  )
  for (const id of [walk_in.id, home, asked]) assert.equal((await team.api.get(`/v3/order/${id}/result`)).status, 200)
  await assertAgreement(team)
  assert.deepEqual(await team.jobs(), [])
})
