// Details that phlebotomists read, and the progress that they report.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { teamNow } from '../../platform/db/database.ts'
import { assertAgreement } from '../../../test/support/appointments.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock, patient, tenantOf } from '../../../test/support/orders.ts'
import {
  avenue,
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
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const lows = async (team: TestTeam, id: string) =>
  (await getOrder(team, id)).events.map(({ status }) => status.split('.').at(-1)).slice(2)
const noon = (days: number) => async (team: TestTeam) => {
  const day = iso(addSeconds(teamNow(await tenantOf(team)), days * SECONDS_PER_DAY)).slice(0, 10)
  return { start_at: `${day}T18:00:00+00:00`, end_at: `${day}T20:00:00+00:00` }
}
const inThreeDays = noon(3)
const inFiveDays = noon(5)

describe('a requested visit', () => {
  test('can be scheduled and rescheduled by the provider', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    const asked = ok(await visitCalls(team, id).request())
    for (const span of [await inThreeDays(team), await inFiveDays(team)]) {
      const dated = ok(await managementHeaders(team).put(`/visit/${id}/date`, span))
      assert.deepEqual(
        [dated.id, dated.status, dated.start_at, dated.end_at],
        [asked.id, 'confirmed', span.start_at, span.end_at],
      )
      assert.equal(dated.can_reschedule, false)
      assert.deepEqual(ok(await visitCalls(team, id).read()), dated)
    }
    assert.deepEqual(await lows(team, id), ['appointment_pending', 'appointment_scheduled', 'appointment_scheduled'])
    const { events } = ok(await visitCalls(team, id).read())
    assert.deepEqual(
      events.map(({ status, data }: { status: string; data: unknown }) => [status, data]),
      [
        ['pending', null],
        ['scheduled', { origin: 'provider', is_reschedule: false }],
        ['scheduled', { origin: 'provider', is_reschedule: true }],
      ],
    )
    await assertAgreement(team)
  })

  test('blocks the time of the named phlebotomist', async () => {
    const team = await createAtHomeTeam('production-us', { window_min: 60, capacity: 1 })
    const slot = (await slots(team)).at(-3)!
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).request())
    const span = { start_at: slot.start, end_at: slot.end }
    assertRejected(
      await managementHeaders(team).put(`/visit/${id}/date`, { ...span, phlebotomist: 'nobody' }),
      400,
      'Phlebotomist not found.',
    )
    ok(await managementHeaders(team).put(`/visit/${id}/date`, { ...span, phlebotomist: 'north-team' }))
    assert(!(await slots(team)).some(({ start }) => start === slot.start))
    ok(await managementHeaders(team).put(`/visit/${id}/date`, await inThreeDays(team)))
    assert((await slots(team)).some(({ start }) => start === slot.start))
  })

  test('rejects a date that is past, ends before it begins or lasts more than a day', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).request())
    const dating = (start_at: string, end_at: string) => managementHeaders(team).put(`/visit/${id}/date`, { start_at, end_at })
    assertRejected(await dating('2020-01-01T10:00:00Z', '2020-01-01T12:00:00Z'), 400, 'start_at must be in the future')
    const { start_at, end_at } = await inThreeDays(team)
    assert.equal((await dating(end_at, start_at)).status, 422)
    assert.equal((await dating(start_at, (await inFiveDays(team)).end_at)).status, 422)
    assert.equal(ok(await visitCalls(team, id).read()).status, 'pending')
  })

  test('cannot be scheduled if it is booked, finished or unknown', async () => {
    const team = await createAtHomeTeam()
    const [booked, over, none] = [await homeOrder(team), await homeOrder(team), await homeOrder(team)]
    const span = await inThreeDays(team)
    const date = (id: string) => managementHeaders(team).put(`/visit/${id}/date`, span)
    ok(await visitCalls(team, booked).book((await slots(team)).at(-1)!.booking_key))
    assertRejected(await date(booked), 400, 'The time of this appointment was set when it was booked.')
    ok(await visitCalls(team, over).request())
    ok(await date(over))
    ok(await managementHeaders(team).put(`/visit/${over}/progress`, { status: 'in_progress' }))
    assertRejected(await date(over), 400, 'This appointment cannot be rescheduled.')
    assertRejected(await date(none), 400, "This order doesn't have an appointment yet.")
    assertRejected(await date('00000000-0000-4000-8000-000000000000'), 404, "This order doesn't exist.")
    const other = await createAtHomeTeam()
    assert.equal((await managementHeaders(other).put(`/visit/${booked}/date`, span)).status, 404)
  })

  test('in the sandbox a requested visit gets its date after one hour, unless it was cancelled', async () => {
    const team = await createTestTeam('sandbox-us')
    const [kept, cancelled, early] = [
      await homeOrder(team, { patient_address: avenue }),
      await homeOrder(team, { patient_address: avenue }),
      await homeOrder(team, { patient_address: avenue }),
    ]
    for (const id of [kept, cancelled, early]) ok(await visitCalls(team, id).request({ address: usAddress(avenue) }))
    ok(await visitCalls(team, cancelled).cancel())
    const span = await inFiveDays(team)
    ok(await managementHeaders(team).put(`/visit/${early}/date`, span))
    await advanceClock(team, 3000)
    assert.equal(ok(await visitCalls(team, kept).read()).status, 'pending')
    await advanceClock(team, 600)
    const dated = ok(await visitCalls(team, kept).read())
    assert.equal(dated.status, 'confirmed')
    assert.equal(dated.iana_timezone, 'America/Chicago')
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/Chicago', hour: '2-digit', minute: '2-digit' })
    assert.deepEqual(
      [dated.start_at, dated.end_at].map((time) => local.format(new Date(time))),
      ['10:00', '12:00'],
    )
    assert.equal((await visitCalls(team, cancelled).read()).status, 404)
    assert.equal(ok(await visitCalls(team, early).read()).start_at, span.start_at)
    await assertAgreement(team)
  })
})

describe('a visit in progress', () => {
  test('starting and completing a visit records the draw on the order', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).book((await slots(team)).at(-1)!.booking_key))
    const progress = (status: string) => managementHeaders(team).put(`/visit/${id}/progress`, { status })
    assert.equal(ok(await progress('in_progress')).status, 'in_progress')
    assert.deepEqual(await lows(team, id), ['appointment_pending', 'appointment_scheduled'])
    assertRejected(
      await progress('in_progress'),
      400,
      'Transition of an appointment from in_progress to in_progress is not allowed',
    )
    const done = ok(await progress('completed'))
    assert.deepEqual([done.status, done.event_data, done.can_reschedule], ['completed', { origin: 'provider' }, false])
    assert.equal((await lows(team, id)).at(-1), 'draw_completed')
    assert.equal((await getOrder(team, id)).status, 'collecting_sample')
    assertRejected(await progress('completed'), 400, 'Transition of an appointment from completed to completed is not allowed')
    assert.equal((await progress('cancelled')).status, 422)
    await assertAgreement(team)
  })

  test('a visit without a date cannot be started', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).request())
    const reply = await managementHeaders(team).put(`/visit/${id}/progress`, { status: 'completed' })
    assertRejected(reply, 400, 'Transition of an appointment from pending to completed is not allowed')
  })
})

test('staff can read visit details until the visit ends', async () => {
  const team = await createAtHomeTeam()
  const [booked, asked] = [
    await homeOrder(team, { patient_address: { ...street, access_notes: 'Code 1234' } }),
    await homeOrder(team),
  ]
  const slot = (await slots(team)).at(-1)!
  ok(await visitCalls(team, booked).book(slot.booking_key, { appointment_notes: 'Ring twice' }))
  ok(await visitCalls(team, asked).request({ address: { ...usAddress(street), access_notes: 'By the back door' } }))
  const list = async () => (await managementHeaders(team).get('/visit')).body.data
  const [first, second] = await list()
  assert.deepEqual(
    [first.order_id, first.start_at, first.phlebotomist, first.address.access_notes],
    [asked, null, null, 'By the back door'],
  )
  assert.deepEqual(second, {
    appointment_id: second.appointment_id,
    order_id: booked,
    provider: 'getlabs',
    event_status: 'scheduled',
    start_at: slot.start,
    end_at: slot.end,
    iana_timezone: 'America/Phoenix',
    phlebotomist: 'north-team',
    patient: { first_name: patient.first_name, last_name: patient.last_name, phone_number: patient.phone_number },
    address: { ...usAddress(street), second_line: null, unit: null, access_notes: 'Code 1234' },
    location: second.location,
    appointment_notes: 'Ring twice',
  })
  ok(await visitCalls(team, booked).move(slot.booking_key, { appointment_notes: 'Knock' }))
  assert.equal((await list())[1].appointment_notes, 'Knock')
  ok(await managementHeaders(team).put(`/visit/${booked}/progress`, { status: 'completed' }))
  ok(await visitCalls(team, asked).cancel())
  assert.deepEqual(await list(), [])
})
