// Rules of at-home appointments that hold for every provider.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { listAppointments, assertAgreement } from '../../../test/support/appointments.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock, patient, createOrder, proxy, advanceTo } from '../../../test/support/orders.ts'
import {
  avenue,
  createPhlebotomist,
  homeOrder,
  managementHeaders,
  ok,
  assertRejected,
  slots,
  street,
  usAddress,
  createAtHomeTeam,
  visitCalls,
} from '../../../test/support/home-visits.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { nowOf } from '../../../test/support/teams.ts'

const KEY_EXPIRED = 'This booking key has expired. Please ask for the available times again.'
const SLOT_GONE = 'This appointment slot is no longer available. Please select a new time.'
const PRODUCTION = 'production-us'

const lows = async (team: TestTeam, id: string) =>
  (await getOrder(team, id)).events.map(({ status }) => status.split('.').at(-1)).slice(1)

describe('an order with at-home phlebotomy', () => {
  test('requires that the order exists, has at-home phlebotomy and has a requisition', async () => {
    const team = await createAtHomeTeam()
    const { booking_key } = (await slots(team))[0]!
    const other = await createAtHomeTeam()
    const foreign = visitCalls(team, await homeOrder(other))
    const walkIn = visitCalls(team, (await createOrder(team, { lab_test_id: await team.test('walk_in_test') })).id)
    const early = visitCalls(team, await homeOrder(team, {}, false))
    for (const act of ['book', 'move'] as const) {
      assertRejected(await foreign[act](booking_key), 404, "This order doesn't exist.")
      assertRejected(await walkIn[act](booking_key), 400, 'Order is not an at-home phlebotomy order')
    }
    assertRejected(await foreign.request(), 404, "This order doesn't exist.")
    assertRejected(await foreign.cancel(), 404, "This order doesn't exist.")
    assertRejected(await foreign.read(), 404, "This order doesn't exist.")
    assertRejected(await walkIn.request(), 400, 'Order is not an at-home phlebotomy order')
    assertRejected(await walkIn.read(), 404, 'This order is not an at-home phlebotomy order.')
    assertRejected(await early.book(booking_key), 400, 'This order does not have a requisition yet.')
    assertRejected(await early.request(), 400, 'This order does not have a requisition yet.')
    assertRejected(await early.cancel(), 400, "This order doesn't have an appointment yet.")
    assertRejected(await early.move(booking_key), 400, "This order doesn't have an appointment yet.")
    assertRejected(await early.read(), 404, 'Appointment not found.')
  })

  test('requires that the patient is an adult on the day of the booking', async () => {
    const team = await createAtHomeTeam('sandbox-us')
    const tomorrow = iso(addSeconds(await nowOf(team), SECONDS_PER_DAY)).slice(0, 10)
    const dob = `${Number(tomorrow.slice(0, 4)) - 18}${tomorrow.slice(4)}`.replace('02-29', '03-01')
    const id = await homeOrder(team, { patient_details: { ...patient, dob, medical_proxy: proxy } })
    const book = async () => visitCalls(team, id).book((await slots(team)).at(-1)!.booking_key)
    assertRejected(await book(), 400, 'At-home phlebotomy appointments are for patients of 18 years and older.')
    await advanceClock(team, 2 * SECONDS_PER_DAY)
    ok(await book())
  })

  test('with the option enabled, an appointment is reserved before the requisition and expires without one', async () => {
    const team = await createAtHomeTeam('sandbox-us')
    await command(cells, ['team', 'feature', team.team, 'pre_requisition_scheduling', 'on'])
    guard.invalidate(team.team)
    const [booked, asked] = [await homeOrder(team, {}, false), await homeOrder(team, { patient_address: avenue }, false)]
    const early = ok(await visitCalls(team, booked).book((await slots(team)).at(-1)!.booking_key))
    assert.deepEqual([early.status, early.event_status], ['reserved', 'reserved'])
    ok(await visitCalls(team, asked).request({ address: usAddress(avenue) }))
    await advanceClock(team, 3601)
    const dated = ok(await visitCalls(team, asked).read())
    assert.deepEqual([dated.status, dated.start_at !== null], ['reserved', true])
    assert.deepEqual(await lows(team, asked), [])
    await advanceTo(team, booked, 'requisition_created')
    assert.deepEqual(await lows(team, booked), ['requisition_created', 'appointment_pending', 'appointment_scheduled'])
    await advanceClock(team, 8 * 3600)
    assert.equal((await listAppointments(team, asked))[0]!.status, 'cancelled')
    assert.equal(ok(await visitCalls(team, booked).read()).status, 'confirmed')
    await assertAgreement(team)
  })
})

describe('a booking key', () => {
  test('a booking key is valid for its team and service type, can be used repeatedly, and works for any order', async () => {
    const team = await createAtHomeTeam('sandbox-us')
    const id = await homeOrder(team)
    const { booking_key, start } = (await slots(team)).at(-1)!
    const other = await createAtHomeTeam('sandbox-us')
    assertRejected(await visitCalls(other, await homeOrder(other)).book(booking_key), 400, 'Invalid booking key format')
    assertRejected(await visitCalls(team, id).book(`${booking_key}x`), 400, 'Invalid booking key format')
    assertRejected(await visitCalls(team, id).book('nonsense'), 400, 'Invalid booking key format')
    await advanceClock(team, 3601)
    assertRejected(await visitCalls(team, id).book(booking_key), 400, KEY_EXPIRED)
    const again = (await slots(team)).find((slot) => slot.start === start)!
    assert.equal(ok(await visitCalls(team, id).book(again.booking_key)).start_at, start)
  })

  test('rejects the booking key of a window that is no longer offered', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    const { booking_key } = (await slots(team)).at(-1)!
    await createPhlebotomist(team, 'north-team', { price_cents: 9900 })
    assertRejected(await visitCalls(team, id).book(booking_key), 404, SLOT_GONE)
    await createPhlebotomist(team, 'north-team', { is_active: false })
    assertRejected(await visitCalls(team, id).book(booking_key), 400, 'No at-home phlebotomy provider serves this address.')
  })
})

describe('capacity', () => {
  const one = { window_min: 60, visit_min: 30, travel_min: 30, capacity: 1 }

  test('a booking reduces the capacity, and cancelling or rescheduling restores it', async () => {
    const team = await createAtHomeTeam(PRODUCTION, { ...one, window_min: 120 })
    const left = async (start: string) =>
      (await slots(team)).find((slot) => slot.start === start)?.num_appointments_available ?? 0
    const [start, later] = (await slots(team)).slice(-2).map((slot) => slot.start) as [string, string]
    const keyAt = async (start: string) => (await slots(team)).find((slot) => slot.start === start)!.booking_key
    const orders = [await homeOrder(team), await homeOrder(team), await homeOrder(team)] as const
    const spare = await keyAt(start)
    for (const [n, id] of orders.slice(0, 2).entries()) {
      assert.equal(await left(start), 2 - n)
      ok(await visitCalls(team, id).book(await keyAt(start)))
    }
    assert.equal(await left(start), 0)
    assertRejected(await visitCalls(team, orders[2]).book(spare), 404, SLOT_GONE)
    ok(await visitCalls(team, orders[0]).move(await keyAt(later)))
    assert.deepEqual([await left(start), await left(later)], [1, 1])
    ok(await visitCalls(team, orders[1]).cancel())
    assert.deepEqual([await left(start), await left(later)], [2, 1])
    ok(await visitCalls(team, orders[2]).book(spare))
    assertRejected(await visitCalls(team, orders[1]).move(spare), 400, 'This appointment has already been cancelled.')
  })

  test('an appointment in a full window can be rescheduled within it', async () => {
    const team = await createAtHomeTeam(PRODUCTION, one)
    const id = await homeOrder(team)
    const { booking_key, start } = (await slots(team)).at(-1)!
    ok(await visitCalls(team, id).book(booking_key))
    assert.equal(ok(await visitCalls(team, id).move(booking_key, { appointment_notes: 'Knock' })).start_at, start)
  })

  test('exactly one of several concurrent bookings gets the last slot', async () => {
    const team = await createAtHomeTeam(PRODUCTION, one)
    const { booking_key, start } = (await slots(team)).at(-1)!
    const orders = await Promise.all(Array.from({ length: 6 }, () => homeOrder(team)))
    const replies = await Promise.all(orders.map((id) => visitCalls(team, id).book(booking_key)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 404, 404, 404, 404, 404])
    const { n } = await team.db.queries.one(
      T.Object({ n: T.Integer() }),
      sql`select count(*) as n from phlebotomy_visit where team_id = ${team.team} and start_at = ${start}`,
    )
    assert.equal(n, 1)
    await assertAgreement(team)
  })

  test('of concurrent bookings of a patient with one provider exactly one succeeds', async () => {
    const team = await createAtHomeTeam(PRODUCTION, { capacity: 50 })
    const user_id = await team.user()
    const { booking_key } = (await slots(team)).at(-1)!
    const orders = await Promise.all(Array.from({ length: 5 }, () => homeOrder(team, { user_id })))
    const replies = await Promise.all(orders.map((id) => visitCalls(team, id).book(booking_key)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400, 400, 400, 400])
    await assertAgreement(team)
  })

  test('assigns the phlebotomist with the most remaining capacity', async () => {
    const team = await createAtHomeTeam(PRODUCTION, one)
    await createPhlebotomist(team, 'second', { ...one, price_cents: 4200 })
    const { booking_key, num_appointments_available } = (await slots(team)).at(-1)!
    assert.equal(num_appointments_available, 2)
    for (const expected of [200, 200, 404])
      assert.equal((await visitCalls(team, await homeOrder(team)).book(booking_key)).status, expected)
    const { body } = await managementHeaders(team).get('/visit')
    assert.deepEqual(body.data.map(({ phlebotomist }: { phlebotomist: string }) => phlebotomist).sort(), ['north-team', 'second'])
  })
})

describe('cancelling an at-home appointment', () => {
  const NAMED = '796da8c8-e654-4347-8ded-1026410c1976'

  test('requires one of the eleven cancellation reasons', async () => {
    const team = await createAtHomeTeam('sandbox-us')
    const { body } = await team.api.get('/v3/order/phlebotomy/appointment/cancellation-reasons')
    assert.equal(body.length, 11)
    assert(body.every((reason: { is_refundable: boolean }) => reason.is_refundable))
    const visit = visitCalls(team, await homeOrder(team))
    ok(await visit.book((await slots(team)).at(-1)!.booking_key))
    assertRejected(await visit.cancel('00000000-0000-4000-8000-000000000000'), 400, 'Cancellation reason not found.')
    assert.equal((await visit.cancel('nonsense')).status, 422)
    ok(await visit.cancel(body.at(-1).id, { notes: 'x'.repeat(1000) }))
  })

  test('refunds a cancellation more than a day ahead and not a later one, also when the order is cancelled', async () => {
    const team = await createAtHomeTeam('sandbox-us')
    for (const [hours, refundable] of [
      [25, true],
      [23, false],
    ] as const) {
      for (const withOrder of [false, true]) {
        const id = await homeOrder(team)
        const slot = (await slots(team)).at(-1)!
        ok(await visitCalls(team, id).book(slot.booking_key))
        const now = (await nowOf(team)).getTime()
        await advanceClock(team, (new Date(slot.start).getTime() - now) / 1000 - hours * 3600)
        ok(withOrder ? await team.api.post(`/v3/order/${id}/cancel`) : await visitCalls(team, id).cancel(NAMED))
        const [one] = await listAppointments(team, id)
        const data = withOrder
          ? { origin: 'system', reason: 'order_cancelled', refundable }
          : { origin: 'patient', cancellation_reason_id: NAMED, refundable }
        assert.deepEqual(one!.event_data, data)
      }
    }
  })

  test('rejects cancelling a finished appointment', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).book((await slots(team)).at(-1)!.booking_key))
    ok(await managementHeaders(team).put(`/visit/${id}/progress`, { status: 'completed' }))
    assertRejected(await visitCalls(team, id).cancel(), 400, 'This appointment has been cancelled or completed.')
    const key = (await slots(team)).at(-1)!.booking_key
    assertRejected(await visitCalls(team, id).move(key), 400, 'This appointment has been cancelled or completed.')
    assert.equal(ok(await visitCalls(team, id).read()).status, 'completed')
  })
})

test('a simulated order waits until its appointment is booked or dated, and is drawn when that begins', async () => {
  const team = await createTestTeam('sandbox-us')
  const [booked, asked] = [await homeOrder(team, {}, false), await homeOrder(team, { patient_address: avenue }, false)]
  for (const id of [booked, asked]) ok(await team.api.post(`/v3/order/${id}/test`))
  await team.settle()
  assert.deepEqual(await lows(team, booked), ['requisition_created'])
  ok(await visitCalls(team, booked).book((await slots(team)).at(-1)!.booking_key))
  ok(await visitCalls(team, asked).request({ address: usAddress(avenue) }))
  await team.settle()
  assert.equal((await lows(team, booked)).at(-1), 'appointment_scheduled')
  assert.equal((await lows(team, asked)).at(-1), 'appointment_pending')
  await advanceClock(team, 3601)
  assert.equal((await lows(team, asked)).at(-1), 'appointment_scheduled')
  await advanceClock(team, 15 * SECONDS_PER_DAY)
  for (const id of [booked, asked])
    assert.deepEqual((await lows(team, id)).slice(-3), ['appointment_scheduled', 'draw_completed', 'completed'])
  for (const id of [booked, asked]) assert.equal(ok(await visitCalls(team, id).read()).status, 'completed')
  await assertAgreement(team)
})

test('erasing a user deletes the visits and frees their slots', async () => {
  const team = await createAtHomeTeam('production-us', { window_min: 60, capacity: 1 })
  const user_id = await team.user()
  const id = await homeOrder(team, { user_id })
  const slot = (await slots(team)).at(-1)!
  ok(await visitCalls(team, id).book(slot.booking_key))
  ok(await team.api.delete(`/v2/user/${user_id}`))
  await advanceClock(team, 7 * SECONDS_PER_DAY + 60)
  assert.deepEqual((await managementHeaders(team).get('/visit')).body.data, [])
  assert((await slots(team)).some(({ start }) => start === slot.start))
})

test('reports all validation errors at once', async () => {
  const team = await createAtHomeTeam('sandbox-us')
  const { status, body } = await visitCalls(team, await homeOrder(team)).request({
    address: { ...usAddress(street), zip_code: '8500', state: 'Nowhere', access_notes: 'x'.repeat(1001) },
    provider: 'nobody',
    appointment_notes: 'x'.repeat(1001),
  })
  assert.equal(status, 422)
  assert.deepEqual(
    body.detail.map(({ loc }: { loc: string[] }) => loc.slice(1).join('.')),
    ['address.state', 'address.zip_code', 'address.access_notes', 'provider', 'appointment_notes'],
  )
})
