// Simulations that wait for an instant: the date of an order, the start of an appointment. Source: lab-testing.md 6.3, 24.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TimeSlot } from '../../visits/appointments/schema.ts'
import { iso, systemNow } from '../../platform/runtime/clock.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { listAppointments, assertAgreement } from '../../../test/support/appointments.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock, createOrder } from '../../../test/support/orders.ts'
import {
  avenue,
  homeOrder,
  managementHeaders,
  ok,
  slots,
  street,
  usAddress,
  visitCalls,
} from '../../../test/support/home-visits.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { REGISTERED, start, statuses, tracking, updates } from '../../../test/support/simulator.ts'
import { nowOf } from '../../../test/support/teams.ts'

const lows = async (team: TestTeam, id: string) => statuses(await getOrder(team, id)).map((status) => status.split('.').at(-1))

async function dayIn(team: TestTeam, days: number): Promise<string> {
  return new Date((await nowOf(team)).getTime() + days * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10)
}

/** Advances the clock to an instant, or to a number of seconds after it. */
async function advanceUntil(team: TestTeam, time: string | number | Date, seconds = 0): Promise<void> {
  const left_s = (new Date(time).getTime() - (await nowOf(team)).getTime()) / 1000 + seconds
  await advanceClock(team, left_s)
}

const midnight = (day: string) => `${day}T00:00:00+00:00`

describe('simulating an order for a date', () => {
  test('waits for the date, and continues when the clock passes it', async () => {
    const team = await createTestTeam()
    const date = await dayIn(team, 3)
    const { id } = await createOrder(team, { activate_by: date })
    await start(team, id)
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered'])
    await advanceUntil(team, date, -60)
    assert.deepEqual(await lows(team, id), ['ordered'])
    await advanceClock(team, 120)
    const order = await getOrder(team, id)
    assert.deepEqual(statuses(order), REGISTERED)
    assert.deepEqual(
      order.events.slice(1).map(({ created_at }) => created_at),
      updates(7).map(() => midnight(date)),
    )
    assert.deepEqual(await team.jobs(), [])
  })

  test('keeps the requested delay after the date', async () => {
    const team = await createTestTeam()
    const date = await dayIn(team, 2)
    const { id } = await createOrder(team, { activate_by: date })
    await start(team, id, { delay: '3600', final_status: 'collecting_sample.testkit.transit_customer' })
    await advanceUntil(team, date, 2 * SECONDS_PER_DAY)
    assert.deepEqual(
      (await getOrder(team, id)).events.slice(1).map(({ created_at }) => created_at),
      [midnight(date), iso(new Date(Date.parse(date) + 3_600_000))],
    )
  })

  test('follows a changed date, and continues immediately when the date is removed', async () => {
    for (const [first, second] of [
      [2, 4],
      [4, 2],
      [3, null],
    ] as const) {
      const team = await createTestTeam()
      const { id } = await createOrder(team, { activate_by: await dayIn(team, first) })
      await start(team, id)
      await team.settle()
      const date = second === null ? null : await dayIn(team, second)
      assert.equal((await team.api.patch(`/v3/order/${id}`, { activate_by: date })).status, 200)
      await team.settle()
      if (date === null) assert.deepEqual(statuses(await getOrder(team, id)), REGISTERED)
      else {
        assert.deepEqual(await lows(team, id), ['ordered'])
        await advanceUntil(team, date, -1)
        assert.deepEqual(await lows(team, id), ['ordered'])
      }
      await advanceClock(team, 6 * SECONDS_PER_DAY)
      const order = await getOrder(team, id)
      assert.deepEqual(statuses(order), REGISTERED)
      if (date !== null) assert.equal(order.events[1]!.created_at, midnight(date))
      assert.deepEqual(await team.jobs(), [])
    }
  })

  test('does not wait if the final status is cancelled', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 3) })
    await start(team, id, { final_status: 'cancelled.testkit.cancelled' })
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'cancelled'])
  })

  test('ships nothing if the order is cancelled before the date', async () => {
    const team = await createTestTeam()
    const date = await dayIn(team, 1)
    const { id } = await createOrder(team, { activate_by: date })
    await start(team, id)
    await team.settle()
    assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
    await advanceClock(team, 3 * SECONDS_PER_DAY)
    const order = await getOrder(team, id)
    assert.deepEqual([statuses(order).at(-1), tracking(order)], ['cancelled.testkit.cancelled', null])
    assert.deepEqual(await team.jobs(), [])
  })

  test('an order for today does not wait', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 0) })
    await start(team, id)
    await team.settle()
    assert.deepEqual(statuses(await getOrder(team, id)), REGISTERED)
  })
})

/** Creates an at-home phlebotomy order and simulates it until it waits. */
async function createSimulatedOrder(team: TestTeam, query: Record<string, string> = {}, changes: Record<string, unknown> = {}) {
  const id = await homeOrder(team, changes, false)
  await start(team, id, query)
  await team.settle()
  assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created'])
  return id
}

const bookSlot = async (team: TestTeam, id: string, slot: TimeSlot) => ok(await visitCalls(team, id).book(slot.booking_key))
/** When the order reached a status. */
const readStatusTime = async (team: TestTeam, id: string, low: string) =>
  (await getOrder(team, id)).events.find(({ status }) => status.endsWith(`.${low}`))?.created_at

describe('simulating an at-home phlebotomy order', () => {
  test('records the draw when the appointment begins', async () => {
    const team = await createTestTeam()
    const id = await createSimulatedOrder(team)
    const slot = (await slots(team)).at(-1)!
    await bookSlot(team, id, slot)
    await team.settle()
    assert.equal((await lows(team, id)).at(-1), 'appointment_scheduled')
    await advanceUntil(team, slot.start, -1)
    assert.equal((await lows(team, id)).at(-1), 'appointment_scheduled')
    await advanceClock(team, 1)
    assert.deepEqual((await lows(team, id)).slice(-2), ['draw_completed', 'completed'])
    assert.equal(await readStatusTime(team, id, 'draw_completed'), slot.start)
    assert.equal(ok(await visitCalls(team, id).read()).status, 'completed')
    await assertAgreement(team)
  })

  test('records the draw at the last rescheduled time', async () => {
    for (const [first, second] of [
      [-1, -20],
      [-20, -1],
    ]) {
      const team = await createTestTeam()
      const id = await createSimulatedOrder(team)
      const all = await slots(team)
      await bookSlot(team, id, all.at(first!)!)
      await team.settle()
      ok(await visitCalls(team, id).move(all.at(second!)!.booking_key))
      await advanceClock(team, 15 * SECONDS_PER_DAY)
      assert.equal(await readStatusTime(team, id, 'draw_completed'), all.at(second!)!.start)
      assert.deepEqual(await team.jobs(), [])
    }
  })

  test('waits again when the appointment is cancelled', async () => {
    const team = await createTestTeam()
    const id = await createSimulatedOrder(team)
    await bookSlot(team, id, (await slots(team)).at(-20)!)
    await team.settle()
    ok(await visitCalls(team, id).cancel())
    await advanceClock(team, 15 * SECONDS_PER_DAY)
    assert.equal((await lows(team, id)).at(-1), 'appointment_cancelled')
    const slot = (await slots(team)).at(-1)!
    await bookSlot(team, id, slot)
    await advanceClock(team, 15 * SECONDS_PER_DAY)
    assert.equal(await readStatusTime(team, id, 'draw_completed'), slot.start)
  })

  test('draws before the appointment if the query has a final status or a delay', async () => {
    for (const query of [
      { delay: '1' },
      { final_status: 'completed.at_home_phlebotomy.completed' },
      { final_status: 'collecting_sample.at_home_phlebotomy.draw_completed' },
    ] as Record<string, string>[]) {
      const team = await createTestTeam()
      const id = await createSimulatedOrder(team, query)
      await bookSlot(team, id, (await slots(team)).at(-1)!)
      await advanceClock(team, 60)
      const drawn = await readStatusTime(team, id, 'draw_completed')
      assert.ok(drawn !== undefined && new Date(drawn) <= (await nowOf(team)), JSON.stringify(query))
    }
  })

  test('records the draw on the date of a requested appointment', async () => {
    const team = await createTestTeam()
    const id = await createSimulatedOrder(team, {}, { patient_address: avenue })
    ok(await visitCalls(team, id).request({ address: usAddress(avenue) }))
    await advanceClock(team, 3601)
    const { start_at } = ok(await visitCalls(team, id).read())
    assert.equal((await lows(team, id)).at(-1), 'appointment_scheduled')
    await advanceUntil(team, start_at)
    assert.equal(await readStatusTime(team, id, 'draw_completed'), start_at)
    await assertAgreement(team)
  })
})

describe('a sandbox appointment without a simulation', () => {
  test('begins and ends at its time, whether it was booked or requested', async () => {
    const team = await createTestTeam()
    const [here, there] = [await homeOrder(team), await homeOrder(team, { patient_address: avenue })]
    await bookSlot(team, here, (await slots(team, street)).at(-1)!)
    ok(await visitCalls(team, there).request({ address: usAddress(avenue) }))
    await advanceClock(team, 3601)
    for (const id of [there, here]) {
      const { start_at, end_at } = ok(await visitCalls(team, id).read())
      await advanceUntil(team, start_at, -30)
      assert.equal(ok(await visitCalls(team, id).read()).status, 'confirmed')
      await advanceClock(team, 30)
      assert.equal(ok(await visitCalls(team, id).read()).status, 'in_progress')
      await advanceUntil(team, end_at)
      const { status, events } = ok(await visitCalls(team, id).read())
      assert.equal(status, 'completed')
      assert.deepEqual(
        events.slice(-2).map((event: { created_at: string; status: string }) => [event.created_at, event.status]),
        [
          [start_at, 'in_progress'],
          [end_at, 'completed'],
        ],
      )
      assert.equal((await lows(team, id)).at(-1), 'draw_completed')
    }
    await assertAgreement(team)
    assert.deepEqual((await managementHeaders(team).get('/visit')).body.data, [])
    assert.deepEqual(await team.jobs(), [])
  })

  test('a rescheduled appointment takes place once, and a cancelled one never', async () => {
    const team = await createTestTeam()
    const [moved, cancelled] = [await homeOrder(team), await homeOrder(team)]
    const all = await slots(team)
    await bookSlot(team, moved, all.at(-20)!)
    ok(await visitCalls(team, moved).move(all.at(-1)!.booking_key))
    await bookSlot(team, cancelled, all.at(-20)!)
    ok(await visitCalls(team, cancelled).cancel())
    await advanceClock(team, 15 * SECONDS_PER_DAY)
    const [one] = await listAppointments(team, moved)
    assert.deepEqual(
      one!.events.map(({ status }) => status),
      ['scheduled', 'scheduled', 'in_progress', 'completed'],
    )
    assert.equal(one!.events[2]!.created_at, all.at(-1)!.start)
    assert.deepEqual(
      (await listAppointments(team, cancelled)).map(({ event_status }) => event_status),
      ['cancelled'],
    )
  })

  test('an appointment that is started early still ends at its end', async () => {
    const team = await createTestTeam()
    const id = await homeOrder(team)
    const slot = (await slots(team)).at(-1)!
    await bookSlot(team, id, slot)
    ok(await managementHeaders(team).put(`/visit/${id}/progress`, { status: 'in_progress' }))
    await advanceClock(team, 15 * SECONDS_PER_DAY)
    const { status, events } = ok(await visitCalls(team, id).read())
    assert.deepEqual([status, events.at(-1).created_at], ['completed', slot.end])
  })
})

const Due = T.Object({ due_at: T.String() })

test('the second step of a simulation runs at least its delay after the first', async () => {
  const team = await createTestTeam()
  const { id } = await createOrder(team)
  await start(team, id, { delay: '60' })
  // Late in a second: a delay counted from the start of the second would end too early.
  const isLate = (): boolean => systemNow().getMilliseconds() >= 500 && systemNow().getMilliseconds() <= 800
  await eventually(isLate, 'it is late in a second')
  const before = systemNow()
  await team.settle()
  const rows = await team.db.queries.many(
    Due,
    sql`select to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at from job where team_id = ${team.team}`,
  )
  assert.equal(rows.length, 1)
  const left_ms = new Date(rows[0]!.due_at).getTime() - before.getTime()
  assert.ok(left_ms >= 60_000, `the second step is due after ${left_ms} ms`)
})
