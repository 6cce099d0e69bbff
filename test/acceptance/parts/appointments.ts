// Appointments at patient service centers through the SDK.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Junction } from '@junction-api/sdk'
import { UNKNOWN_ID, fieldErrors, assertRejected, type Customer, type Order } from '../client.ts'

const REASON = '5c0257ef-6fea-4a22-b20a-3ddab573d5c9'
const GONE = 'This appointment slot is no longer available. Please select a new time.'

export const appointments = ({ sdk, order, kit, arrived, passthrough }: Customer): void =>
  void describe('appointments at service centers', () => {
    const { labTests } = sdk

    /** An order with a draw at a service center; the laboratory has taken it. */
    const walkIn = async (): Promise<Order> => {
      const { data } = await labTests.getPaginated({ collectionMethod: 'walk_in_test', status: 'active', labTestLimit: 1 })
      const { id } = await order({ labTestId: data[0]!.id, collectionMethod: 'walk_in_test' })
      const finalStatus = 'received.walk_in_test.requisition_created'
      await labTests.simulateOrderProcess({ orderId: id, finalStatus })
      return arrived(id, finalStatus)
    }

    const ask = (overrides: Partial<Junction.GetPscAppointmentAvailabilityLabTestsRequest> = {}) =>
      labTests.getPscAppointmentAvailability({ lab: 'quest', zipCode: '85004', ...overrides })
    const free = async (): Promise<Junction.TimeSlot[]> => (await ask()).slots.flatMap(({ slots }) => slots)
    const book = (orderId: string, bookingKey: string, overrides: Partial<Junction.BookPscAppointmentLabTestsRequest> = {}) =>
      labTests.bookPscAppointment({ orderId, body: { bookingKey }, ...overrides })
    const cancel = (orderId: string, cancellationReasonId = REASON) =>
      labTests.cancelPscAppointment({ orderId, cancellationReasonId, note: 'A fictional reason' })
    const lastStatus = async (orderId: string) => (await labTests.getOrder({ orderId })).lastEvent.status

    test('one is found, booked, read, moved and cancelled, and the order shows each', async () => {
      const { id } = await walkIn()
      const { slots: days, timezone } = await ask({ allowStale: true, radius: '50' })
      assert.equal(timezone ?? null, null)
      assert.deepEqual([days.length, new Set(days.map(({ location }) => location?.code)).size], [42, 3])
      const [first, second] = days.flatMap(({ slots }) => slots)
      const booked = await labTests.bookPscAppointment({
        orderId: id,
        body: { bookingKey: first!.bookingKey!, appointmentNotes: 'A fictional note', asyncConfirmation: false },
      })
      assert.deepEqual(
        [booked.status, booked.eventStatus, booked.type, booked.provider, booked.orderId, booked.appointmentNotes],
        ['confirmed', 'scheduled', 'patient_service_center', 'quest', id, 'A fictional note'],
      )
      assert.deepEqual(booked.startAt, first!.start)
      assert.equal(await lastStatus(id), 'collecting_sample.walk_in_test.appointment_scheduled')
      assert.deepEqual(await labTests.getPscAppointment({ orderId: id }), booked)
      const moved = await labTests.reschedulePscAppointment({ orderId: id, body: { bookingKey: second!.bookingKey! } })
      assert.deepEqual([moved.id, moved.startAt, moved.status], [booked.id, second!.start, 'confirmed'])
      assert.deepEqual(moved.eventData, { origin: 'patient', is_reschedule: true })
      const cancelled = await cancel(id)
      assert.deepEqual([cancelled.id, cancelled.status, cancelled.events.length], [booked.id, 'cancelled', 3])
      assert.equal(await lastStatus(id), 'collecting_sample.walk_in_test.appointment_cancelled')
      assert.deepEqual((await assertRejected(labTests.getPscAppointment({ orderId: id }), 404)).body, {
        detail: 'Appointment not found.',
      })
    })

    test('there is a list of reasons to cancel', async () => {
      const reasons = await labTests.getPscAppointmentCancellationReason()
      assert.deepEqual(reasons, [{ id: REASON, name: 'Other', isRefundable: true }])
    })

    test('sites may be named, and a day', async () => {
      const [day] = (await ask()).slots
      const code = day!.location!.code
      const startDate = new Date(Date.parse(`${day!.date}T00:00:00Z`) + 5 * 86_400_000).toISOString().slice(0, 10)
      const { slots } = await ask({ zipCode: undefined!, siteCodes: [code], startDate })
      assert.deepEqual(new Set(slots.map(({ location }) => location?.code)), new Set([code]))
      assert.deepEqual([slots[0]!.date, slots.length], [startDate, 14])
    })

    test('the same key is the same booking, whatever has become of it', async () => {
      const { id } = await walkIn()
      const idempotencyKey = randomUUID()
      const [slot] = await free()
      const first = await book(id, slot!.bookingKey!, { idempotencyKey })
      await cancel(id)
      assert.deepEqual(await book(id, slot!.bookingKey!, { idempotencyKey, idempotencyError: 'no-cache' }), first)
    })

    test('a time is given once', async () => {
      const [one, other] = [await walkIn(), await walkIn()]
      const [slot] = await free()
      await book(one.id, slot!.bookingKey!)
      assert.deepEqual((await assertRejected(book(other.id, slot!.bookingKey!), 400)).body, { detail: GONE })
      await cancel(one.id)
    })

    test('what cannot be asked is refused in the words of the API', async () => {
      const detail = async (call: Promise<unknown>, status: number) =>
        ((await assertRejected(call, status)).body as { detail: string }).detail
      const none = { zipCode: undefined! }
      assert.equal(await detail(ask(none), 400), 'site_codes or zip_code must be provided')
      assert.equal(
        await detail(ask({ ...none, siteCodes: ['A', 'B', 'C', 'D'] }), 400),
        'site_codes must be less than or equal to 3',
      )
      assert.equal(await detail(ask({ ...none, siteCodes: ['NONE'] }), 400), 'Location with site code NONE not found')
      assert.equal(
        await detail(ask({ startDate: '2020-01-01' }), 400),
        'start_date must be greater or equal than the current date',
      )
      assert.equal(await detail(ask({ zipCode: '10001', lab: 'sonora_quest' }), 404), 'No slots found for zip code')
      assert.deepEqual(fieldErrors(await assertRejected(ask({ zipCode: '8500' }), 422)), ['query.zip_code'])
    })

    test('what cannot be booked, moved or cancelled is refused in the words of the API', async () => {
      const [{ id }, other, [slot]] = [await walkIn(), await kit(), await free()]
      const key = slot!.bookingKey!
      const detail = async (call: Promise<unknown>, status: number) =>
        ((await assertRejected(call, status)).body as { detail: string }).detail
      const move = (orderId: string, bookingKey: string) => labTests.reschedulePscAppointment({ orderId, body: { bookingKey } })
      assert.equal(await detail(book(UNKNOWN_ID, key), 404), "This order doesn't exist.")
      assert.equal(await detail(book(other.id, key), 400), 'Order is not a walkin phlebotomy order')
      assert.equal(
        await detail(labTests.getPscAppointment({ orderId: other.id }), 404),
        'This order is not a walk-in phlebotomy order.',
      )
      assert.equal(await detail(book(id, 'nonsense'), 400), 'Invalid booking key format')
      assert.equal(await detail(move(id, key), 400), "This order doesn't have an appointment yet.")
      assert.equal(await detail(cancel(id), 400), "This order doesn't have an appointment yet.")
      await book(id, key)
      assert.match(await detail(book(id, key), 400), /^Order is not in a state that allows booking/)
      assert.equal(await detail(cancel(id, UNKNOWN_ID), 400), 'Cancellation reason not found.')
      await cancel(id)
      assert.equal(await detail(cancel(id), 400), 'This appointment has already been cancelled.')
    })

    test('old clients cancel on an old path, and ask in a body', async () => {
      const { id } = await walkIn()
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const body = JSON.stringify({ lab: 'quest', zip_code: '85004' })
      const asked = await passthrough('/v3/order/psc/appointment/availability', { ...init, body })
      const { slots } = asked.body as { slots: { slots: { booking_key: string }[] }[] }
      await book(id, slots.flatMap((day) => day.slots)[0]!.booking_key)
      const cancelled = await passthrough(`/v3/order/${id}/appointment/psc/cancel`, { method: 'DELETE' })
      assert.deepEqual([cancelled.status, (cancelled.body as { status: string }).status], [200, 'cancelled'])
    })
  })
