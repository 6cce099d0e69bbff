// At-home appointments through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Junction } from '@junction-api/sdk'
import { fieldErrors, home, UNKNOWN_ID, assertRejected, type Customer, type Order } from '../client.ts'

const street = { ...home, firstLine: '1 West Lincoln Street' }
const avenue = { ...home, firstLine: '12 Sample Avenue', city: 'Onalaska', state: 'WI', zip: '54650' }
const usAddress = ({ firstLine, city, state, zip }: typeof home) => ({ firstLine, city, state, zipCode: zip })

export const atHomePhlebotomy = ({ sdk, order, arrived }: Customer): void =>
  void describe('at-home appointments', () => {
    const READY = 'received.at_home_phlebotomy.requisition_created'
    const REASON = 'Scheduled time no longer works'

    /** An order that waits for its visit. */
    const atHomeTests = async (patientAddress: Junction.PatientAddressWithValidation = street): Promise<Order> => {
      const { data } = await sdk.labTests.getPaginated({
        collectionMethod: 'at_home_phlebotomy',
        status: 'active',
        labTestLimit: 1,
      })
      const { id: orderId } = await order({ labTestId: data[0]!.id, patientAddress })
      await sdk.labTests.simulateOrderProcess({ orderId, finalStatus: READY })
      return arrived(orderId, READY)
    }

    const windows = async () => {
      const { slots, timezone } = await sdk.labTests.getPhlebotomyAppointmentAvailability({ body: usAddress(street) })
      assert.equal(slots.length, 14)
      assert.equal(timezone, 'America/Phoenix')
      return slots.flatMap((day) => day.slots)
    }
    const last = async () => (await windows()).at(-1)!

    test('windows are offered for fourteen days, each with a key', async () => {
      const found = await windows()
      assert(found.length >= 78)
      for (const { start, end, price, isPriority, bookingKey } of found) {
        assert.equal(end.getTime() - start.getTime(), 7_200_000)
        assert.equal(price, isPriority ? 7900 : 3500)
        assert(bookingKey)
      }
    })

    test('a start that is past, and an address that nobody visits, are refused', async () => {
      const ask = (firstLine: string, overrides: { startDate?: string } = {}) =>
        sdk.labTests.getPhlebotomyAppointmentAvailability({ ...overrides, body: { ...usAddress(street), firstLine } })
      const past = await assertRejected(ask(street.firstLine, { startDate: '2020-01-01' }), 400)
      assert.deepEqual(past.body, { detail: 'start_date must be greater or equal than the current date' })
      await assertRejected(ask('1 Sample Way'), 400)
      const body = { ...usAddress(street), zipCode: '8500' }
      const error = await assertRejected(sdk.labTests.getPhlebotomyAppointmentAvailability({ body }), 422)
      assert.deepEqual(fieldErrors(error), ['body.zip_code'])
    })

    test('a window is booked, moved, cancelled and booked again', async () => {
      const { id: orderId, userId } = await atHomeTests({ ...street, accessNotes: 'Code 1234' })
      await assertRejected(sdk.labTests.getPhlebotomyAppointment({ orderId }), 404)
      const slot = await last()
      const booked = await sdk.labTests.bookPhlebotomyAppointment({
        orderId,
        body: { bookingKey: slot.bookingKey!, appointmentNotes: 'Ring twice' },
      })
      assert.deepEqual(
        [booked.orderId, booked.userId, booked.type, booked.provider, booked.status, booked.eventStatus, booked.canReschedule],
        [orderId, userId, 'phlebotomy', 'getlabs', 'confirmed', 'scheduled', true],
      )
      assert.deepEqual([booked.startAt, booked.endAt, booked.ianaTimezone], [slot.start, slot.end, 'America/Phoenix'])
      assert.deepEqual(
        [booked.address.zipCode, booked.address.accessNotes, booked.appointmentNotes],
        ['85004', 'Code 1234', 'Ring twice'],
      )
      const scheduled = await arrived(orderId, 'collecting_sample.at_home_phlebotomy.appointment_scheduled')
      assert(scheduled.details.type === 'at_home_phlebotomy')
      assert.equal(scheduled.details.data?.appointmentId, booked.id)
      const again = { orderId, body: { bookingKey: slot.bookingKey! } }
      const twice = await assertRejected(sdk.labTests.bookPhlebotomyAppointment(again), 400)
      assert.deepEqual(twice.body, { detail: 'Order is not in a state that allows booking an appointment.' })

      const other = (await windows()).at(-2)!
      const moved = await sdk.labTests.reschedulePhlebotomyAppointment({
        orderId,
        body: { bookingKey: other.bookingKey! },
      })
      assert.deepEqual([moved.id, moved.startAt, moved.appointmentNotes], [booked.id, other.start, 'Ring twice'])
      assert.deepEqual(moved.eventData, { origin: 'patient', is_reschedule: true })
      assert.deepEqual(await sdk.labTests.getPhlebotomyAppointment({ orderId }), moved)

      const reasons = await sdk.labTests.getPhlebotomyAppointmentCancellationReason()
      assert.equal(reasons.length, 11)
      const { id: cancellationReasonId } = reasons.find(({ name }) => name === REASON)!
      const cancel = () => sdk.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId, notes: 'On vacation' })
      await assertRejected(sdk.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: UNKNOWN_ID }), 400)
      const cancelled = await cancel()
      assert.deepEqual([cancelled.status, cancelled.eventData?.refundable], ['cancelled', true])
      assert.deepEqual((await assertRejected(cancel(), 400)).body, { detail: 'This appointment has already been cancelled.' })
      assert.notEqual((await sdk.labTests.bookPhlebotomyAppointment(again)).id, booked.id)
      await sdk.labTests.cancelOrder({ orderId })
    })

    test('a visit is asked for, waits for its date and cannot be moved', async () => {
      const { id: orderId } = await atHomeTests(avenue)
      const request = { orderId, address: usAddress(avenue), appointmentNotes: 'Ring twice' }
      const ready = await assertRejected(sdk.labTests.requestPhlebotomyAppointment({ ...request, provider: 'getlabs' }), 400)
      assert.deepEqual(ready.body, { detail: 'This provider does not accept appointment requests.' })
      const asked = await sdk.labTests.requestPhlebotomyAppointment({ ...request, provider: 'phlebfinders' })
      assert.deepEqual(
        [asked.provider, asked.status, asked.startAt ?? null, asked.canReschedule],
        ['phlebfinders', 'pending', null, false],
      )
      const { bookingKey } = await last()
      const moved = await assertRejected(
        sdk.labTests.reschedulePhlebotomyAppointment({ orderId, body: { bookingKey: bookingKey! } }),
        400,
      )
      assert.deepEqual(moved.body, { detail: 'This appointment cannot be rescheduled.' })
    })

    test('an unknown order and an order with another collection method have no at-home appointment', async () => {
      const { id: kit } = await order()
      const { bookingKey } = await last()
      const body = { bookingKey: bookingKey! }
      for (const [orderId, status, detail] of [
        [UNKNOWN_ID, 404, "This order doesn't exist."],
        [kit, 400, 'Order is not an at-home phlebotomy order'],
      ] as const)
        assert.deepEqual((await assertRejected(sdk.labTests.bookPhlebotomyAppointment({ orderId, body }), status)).body, {
          detail,
        })
      await assertRejected(sdk.labTests.getPhlebotomyAppointment({ orderId: kit }), 404)
      const forged = sdk.labTests.bookPhlebotomyAppointment({
        orderId: (await atHomeTests()).id,
        body: { bookingKey: 'nonsense' },
      })
      assert.deepEqual((await assertRejected(forged, 400)).body, { detail: 'Invalid booking key format' })
    })

    test('an area tells who visits there, and how', async () => {
      for (const [zipCode, name, serviceType] of [
        ['85004', 'getlabs', 'appointment-ready'],
        ['54650', 'phlebfinders', 'appointment-request'],
      ] as const) {
        const { phlebotomy } = await sdk.labTests.getAreaInfo({ zipCode })
        assert.equal(phlebotomy.isServed, true)
        assert.deepEqual(
          phlebotomy.providers.map((provider) => [provider.name, provider.serviceTypes]),
          [[name, [serviceType]]],
        )
      }
      assert.equal((await sdk.labTests.getAreaInfo({ zipCode: '10001' })).phlebotomy.isServed, false)
    })
  })
