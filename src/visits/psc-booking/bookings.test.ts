// Appointments at service centers, through the API.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setActive, upsertSites, bumpDirectoryVersion } from '../psc/sites.ts'
import { listAppointments, assertAgreement, applyAppointmentEvent } from '../../../test/support/appointments.ts'
import { completeAppointment } from '../appointments/appointments.ts'
import { getOrder, advanceClock, createOrder, advanceTo } from '../../../test/support/orders.ts'
import {
  atLab,
  book,
  BOOKABLE,
  cancel,
  move,
  read,
  schedule,
  siteWithSchedule,
  slots,
  walkIn,
  assertRefused,
  lows,
  option,
  findBookingKey,
} from '../../../test/support/psc-booking.ts'
import { labId, site, insertSites } from '../../../test/support/psc-sites.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { upsertSchedules } from './schedules.ts'

const GONE = { detail: 'This appointment slot is no longer available. Please select a new time.' }

describe('a PSC booking', () => {
  test('a booking is confirmed immediately, and the order is scheduled', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team)
    const [slot] = await slots(team)
    const { status, body } = await book(team, id, slot!.booking_key, { appointment_notes: 'A fictional note' })
    assert.equal(status, 200, JSON.stringify(body))
    const { id: appointment, events, address, location, ...rest } = body
    const order = await getOrder(team, id)
    assert.deepEqual(rest, {
      user_id: order.user_id,
      order_id: id,
      order_transaction_id: order.order_transaction.id,
      start_at: slot!.start,
      end_at: slot!.end,
      iana_timezone: 'America/Phoenix',
      type: 'patient_service_center',
      provider: 'quest',
      status: 'confirmed',
      provider_id: appointment,
      external_id: rest.external_id,
      can_reschedule: true,
      appointment_notes: 'A fictional note',
      event_status: 'scheduled',
      event_data: null,
    })
    assert.match(rest.external_id, /^[A-Z]{6}$/)
    assert.deepEqual(
      events.map(({ status: shown }: { status: string }) => shown),
      ['scheduled'],
    )
    assert.deepEqual([address.city, typeof location.lng], ['Phoenix', 'number'])
    assert.deepEqual((await read(team, id)).body, body)
    assert.equal((order.details.data as { appointment_id: string }).appointment_id, appointment)
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled'])
    assert.deepEqual(await team.events(appointment), ['labtest.appointment.created', 'labtest.appointment.updated'])
    await assertAgreement(team)
  })

  test('removes the slot from availability until cancelled', async () => {
    const team = await createTestTeam()
    const [id, other] = [await walkIn(team), await walkIn(team)]
    const [slot] = await slots(team)
    const isFree = async () => (await slots(team)).some(({ site: code, start }) => code === slot!.site && start === slot!.start)
    assert.equal((await book(team, id, slot!.booking_key)).status, 200)
    assert.equal(await isFree(), false)
    assertRefused(await book(team, other, slot!.booking_key), 400, GONE.detail)
    assert.equal((await cancel(team, id)).status, 200)
    assert.equal(await isFree(), true)
    assert.equal((await book(team, other, slot!.booking_key)).status, 200)
    const stranger = await createTestTeam()
    assert((await slots(stranger)).some(({ site: code, start }) => code === slot!.site && start === slot!.start))
    await assertAgreement(team)
  })

  test('can be rescheduled, cancelled and rebooked repeatedly', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team)
    const made = (await book(team, id, await findBookingKey(team), { appointment_notes: 'kept' })).body
    for (const index of [3, 0, 7]) {
      const slot = (await slots(team))[index]!
      const { status, body } = await move(team, id, slot.booking_key)
      assert.deepEqual([status, body.id, body.start_at, body.appointment_notes], [200, made.id, slot.start, 'kept'])
      assert.deepEqual(body.event_data, { origin: 'patient', is_reschedule: true })
      await assertAgreement(team)
    }
    assert.equal((await move(team, id, await findBookingKey(team), { appointment_notes: 'new' })).body.appointment_notes, 'new')
    assert.deepEqual((await lows(team, id)).slice(-4), [
      'appointment_pending',
      'appointment_scheduled',
      'appointment_pending',
      'appointment_scheduled',
    ])
    const cancelled = await cancel(team, id, {
      cancellation_reason_id: '5c0257ef-6fea-4a22-b20a-3ddab573d5c9',
      notes: 'A fictional reason',
    })
    assert.deepEqual([cancelled.status, cancelled.body.status, cancelled.body.event_status], [200, 'cancelled', 'cancelled'])
    const [first] = await listAppointments(team, id)
    assert.deepEqual(
      [first!.internalData.cancellation_reason_id, first!.internalData.cancellation_notes],
      ['5c0257ef-6fea-4a22-b20a-3ddab573d5c9', 'A fictional reason'],
    )
    assertRefused(await read(team, id), 404, 'Appointment not found.')
    const again = await book(team, id, await findBookingKey(team))
    assert.equal(again.status, 200)
    assert.notEqual(again.body.id, made.id)
    assert.equal((await team.api.delete(`/v3/order/${id}/appointment/psc/cancel`)).body.status, 'cancelled')
    await assertAgreement(team)
  })

  test('can be rescheduled to a slot that overlaps its own', async () => {
    const team = await createTestTeam('production-us')
    await siteWithSchedule('OVER-1', { slot_minutes: 60 })
    const id = await walkIn(team)
    const query = 'lab=quest&site_codes=OVER-1'
    assert.equal((await book(team, id, await findBookingKey(team, query, 30))).status, 200)
    await siteWithSchedule('OVER-1', { slot_minutes: 60, hours: Array.from({ length: 7 }, () => [[30, 1410]]) })
    const other = await walkIn(team)
    const [before] = await listAppointments(team, id)
    assert(!(await slots(team, query)).some(({ start, end }) => start < before!.end_at! && end > before!.start_at!))
    assert.equal((await book(team, other, await findBookingKey(team, query, 40))).status, 200)
    assert.equal((await move(team, id, await findBookingKey(team, query, 20))).status, 200)
    await assertAgreement(team)
  })

  test('a repeated booking with the same idempotency key returns the first response and books nothing', async () => {
    const team = await createTestTeam()
    const [id, key] = [await walkIn(team), await findBookingKey(team)]
    const headers = { 'x-idempotency-key': randomUUID() }
    const first = await book(team, id, key, {}, headers)
    assert.equal(first.status, 200)
    await cancel(team, id)
    const second = await book(team, id, 'nonsense', {}, headers)
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.equal((await listAppointments(team, id)).length, 1)
    const failing = { 'x-idempotency-key': randomUUID() }
    assertRefused(await book(team, id, 'nonsense', {}, failing), 400, 'Invalid booking key format')
    assertRefused(await book(team, id, await findBookingKey(team), {}, failing), 400, 'Invalid booking key format')
    const released = { 'x-idempotency-key': randomUUID(), 'x-idempotency-error': 'no-cache' }
    assertRefused(await book(team, id, 'nonsense', {}, released), 400, 'Invalid booking key format')
    assert.equal((await book(team, id, await findBookingKey(team), {}, released)).status, 200)
  })
})

describe('rejected PSC bookings', () => {
  test('rejects a key that is invalid, of another team, or expired', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const id = await walkIn(team)
    const key = (await slots(team)).at(-1)!.booking_key!
    for (const text of ['nonsense', `${key}x`, await findBookingKey(other), key.replace('bk1', 'bk2')])
      assertRefused(await book(team, id, text), 400, 'Invalid booking key format')
    await advanceClock(team, 1801)
    assertRefused(await book(team, id, key), 400, 'This booking key has expired. Please ask for the available times again.')
  })

  test('rejects an order that is unknown, of another collection method, or of another lab', async () => {
    const team = await createTestTeam()
    const key = await findBookingKey(team)
    assertRefused(await book(team, randomUUID(), key), 404, "This order doesn't exist.")
    const visit = (await createOrder(team, { lab_test_id: await team.test('at_home_phlebotomy') })).id
    assertRefused(await book(team, visit, key), 400, 'Order is not a walkin phlebotomy order')
    assertRefused(await read(team, visit), 404, 'This order is not a walk-in phlebotomy order.')
    assertRefused(await read(team, randomUUID()), 404, "This order doesn't exist.")
    for (const [lab, detail] of [
      ['labcorp', /^This lab is not supported\.$/],
      ['sonora_quest', /^Location with site code .* not found$/],
    ] as const) {
      const other = await createTestTeam()
      await atLab(other, lab)
      assert.match((await book(other, await walkIn(other), await findBookingKey(other))).body.detail, detail)
    }
  })

  test('rejects a booking without a requisition, a second booking, and a booking after the order has advanced', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team, false)
    assertRefused(await book(team, id, await findBookingKey(team)), 400, 'This order does not have a requisition yet.')
    await advanceTo(team, id, 'requisition_created')
    assert.equal((await book(team, id, await findBookingKey(team))).status, 200)
    assertRefused(
      await book(team, id, await findBookingKey(team)),
      400,
      'Order is not in a state that allows booking an appointment.',
    )
    await advanceTo(team, id, 'completed')
    assertRefused(
      await book(team, id, await findBookingKey(team)),
      400,
      'Order is not in a state that allows booking an appointment.',
    )
    assertRefused(await move(team, id, await findBookingKey(team)), 400, 'This appointment has been cancelled or completed.')
    assertRefused(await cancel(team, id), 400, 'This appointment has been cancelled or completed.')
    await assertAgreement(team)
  })

  test('rejects a booking at a site that is inactive, deleted, or has a changed schedule', async () => {
    const team = await createTestTeam('production-us')
    await siteWithSchedule('SHUT-1')
    const lab_id = await labId('quest', 'production-us')
    const [id, key] = [await walkIn(team), await findBookingKey(team, 'lab=quest&site_codes=SHUT-1')]
    const put = (changes: object) =>
      team.db.plainTx((tx) => upsertSchedules(tx, lab_id, [{ site_code: 'SHUT-1', schedule: schedule(changes) }]))
    await put({ slot_minutes: 40, hours: Array.from({ length: 7 }, () => [[7, 1440]]) })
    assertRefused(await book(team, id, key), 400, GONE.detail)
    await put({ price: 100 })
    assertRefused(await book(team, id, key), 400, GONE.detail)
    await put({})
    await team.db.plainTx((tx) => setActive(tx, lab_id, 'SHUT-1', false))
    assertRefused(await book(team, id, key), 400, 'Location with site code SHUT-1 is no longer active')
    await insertSites('production-us', lab_id, [site('SHUT-1', 1)])
    assertRefused(await book(team, id, key), 400, GONE.detail)
    await team.db.plainTx(async (tx) => {
      await upsertSites(tx, lab_id, [site('SHUT-1', 1, BOOKABLE)])
      await bumpDirectoryVersion(tx, lab_id)
    })
    assert.equal((await book(team, id, key)).status, 200)
  })

  test('returns all validation errors for values outside the limits of the API', async () => {
    const team = await createTestTeam()
    const { status, body } = await book(team, randomUUID(), 'x', {
      appointment_notes: 'x'.repeat(1001),
      sync_confirmation_timeout_millisecond: 999,
      async_confirmation_timeout_millisecond: 172_800_001,
    })
    assert.deepEqual([status, body.detail.length], [422, 3])
  })
})

describe('a missing PSC appointment', () => {
  test('a missing appointment cannot be read, rescheduled or cancelled', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team)
    assertRefused(await read(team, id), 404, 'Appointment not found.')
    const none = "This order doesn't have an appointment yet."
    assertRefused(await move(team, id, await findBookingKey(team)), 400, none)
    assertRefused(await cancel(team, id), 400, none)
    await book(team, id, await findBookingKey(team))
    await cancel(team, id)
    const over = 'This appointment has already been cancelled.'
    assertRefused(await move(team, id, await findBookingKey(team)), 400, over)
    assertRefused(await cancel(team, id), 400, over)
  })

  test('rejects an unknown cancellation reason', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team)
    await book(team, id, await findBookingKey(team))
    assertRefused(await cancel(team, id, { cancellationReasonId: randomUUID() }), 400, 'Cancellation reason not found.')
    const reasons = (await team.api.get('/v3/order/psc/appointment/cancellation-reasons')).body
    assert.deepEqual(reasons, [{ id: '5c0257ef-6fea-4a22-b20a-3ddab573d5c9', name: 'Other', is_refundable: true }])
    assert.equal((await read(team, id)).body.status, 'confirmed')
  })
})

describe('PSC bookings before the requisition, with the option enabled', () => {
  test('an appointment is reserved, and confirmed by the requisition', async () => {
    const team = await createTestTeam()
    await option(team, 'pre_requisition_scheduling')
    const id = await walkIn(team, false)
    const late = (await slots(team)).at(-1)!
    const { status, body } = await book(team, id, late.booking_key)
    assert.deepEqual([status, body.status, body.event_status, body.can_reschedule], [200, 'reserved', 'reserved', true])
    assert.deepEqual(await lows(team, id), ['ordered'])
    await assertAgreement(team)
    await team.api.post(`/v3/order/${id}/test?final_status=received.walk_in_test.requisition_created`)
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled'])
    assert.equal((await read(team, id)).body.status, 'confirmed')
    await assertAgreement(team)
  })
})

describe('a simulated order', () => {
  test('a simulated order with an appointment continues to its result and completes the appointment', async () => {
    const team = await createTestTeam()
    const id = await walkIn(team)
    await book(team, id, await findBookingKey(team))
    assert.equal((await team.api.post(`/v3/order/${id}/test`)).status, 200)
    await team.settle()
    assert.equal((await lows(team, id)).at(-1), 'completed')
    assert.equal((await read(team, id)).body.status, 'completed')
    await assertAgreement(team)
  })
})

test('an appointment that took place can be read', async () => {
  const team = await createTestTeam()
  const id = await walkIn(team)
  await book(team, id, await findBookingKey(team))
  await applyAppointmentEvent(team, id, (_tx, lockedOrder, lockedAppointment) =>
    completeAppointment(lockedOrder, lockedAppointment),
  )
  assert.equal((await read(team, id)).body.status, 'completed')
})
