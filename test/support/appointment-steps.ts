// Steps of an appointment in code, below the API, and what its order and its events then show.
import assert from 'node:assert/strict'
import { Problem } from '../../src/platform/runtime/problem.ts'
import { listAppointments, createBooking, applyAppointmentEvent, type Method } from './appointments.ts'
import { getOrder } from './orders.ts'
import type { TestTeam } from './server.ts'
import {
  assertReschedulable,
  cancelAppointment,
  confirmAppointment,
  rescheduleAppointment,
} from '../../src/visits/appointments/appointments.ts'

export const methods: Method[] = ['walk_in_test', 'at_home_phlebotomy']

/** Low-level statuses of an order after its first. */
export const lows = async (team: TestTeam, id: string): Promise<string[]> =>
  (await getOrder(team, id)).events.map(({ status }) => status.split('.').at(-1)!).slice(1)
export const statuses = async (team: TestTeam, id: string): Promise<string[]> =>
  (await listAppointments(team, id)).at(-1)!.events.map(({ status }) => status)

export const cancel = (team: TestTeam, id: string) =>
  applyAppointmentEvent(team, id, (tx, lockedOrder, lockedAppointment) =>
    cancelAppointment(tx, lockedOrder, lockedAppointment, { data: { origin: 'patient' } }),
  )
export const confirm = (team: TestTeam, id: string) =>
  applyAppointmentEvent(team, id, (tx, lockedOrder, lockedAppointment) => confirmAppointment(tx, lockedOrder, lockedAppointment))
export const move = (team: TestTeam, id: string, method: Method, hours = 96) =>
  applyAppointmentEvent(team, id, (tx, lockedOrder, lockedAppointment) => {
    assertReschedulable(lockedOrder, lockedAppointment)
    const { start_at, end_at } = createBooking(tx.now, method, hours)
    return rescheduleAppointment(
      tx,
      lockedOrder,
      lockedAppointment,
      { start_at, end_at },
      { origin: 'patient', is_reschedule: true },
    )
  })

export const assertRefused = (detail: string) => (error: unknown) => {
  assert(error instanceof Problem)
  assert.deepEqual([error.status, error.body], [400, { detail }])
  return true
}
