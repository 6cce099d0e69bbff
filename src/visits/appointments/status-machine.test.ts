// Tests every pair of statuses for every type of appointment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  appointmentStatuses,
  appointmentTypes,
  eventStatuses,
  isFinal,
  canTransition,
  statusByEvent,
  type EventStatus,
} from './status-machine.ts'

/** Source: lab-testing.md 17.3, in rows; `reserved` → `reserved` is ours. */
const allowed: Record<EventStatus, EventStatus[]> = {
  pending: ['reserved', 'scheduled', 'cancelled'],
  reserved: ['reserved', 'scheduled', 'cancelled'],
  scheduled: ['scheduled', 'in_progress', 'completed', 'cancelled'],
  in_progress: ['completed', 'cancelled'],
  completed: [],
  cancelled: [],
}

for (const type of appointmentTypes)
  for (const from of eventStatuses)
    for (const to of eventStatuses)
      test(`the status machine of ${type} ${allowed[from].includes(to) ? 'allows' : 'rejects'} ${from} → ${to}`, () =>
        assert.equal(canTransition(type, from, to), allowed[from].includes(to)))

test('each type of appointment begins with its own statuses', () => {
  const starts = (type: (typeof appointmentTypes)[number]) =>
    eventStatuses.filter((target) => canTransition(type, undefined, target))
  assert.deepEqual(starts('phlebotomy'), ['pending', 'scheduled'])
  assert.deepEqual(starts('patient_service_center'), ['pending', 'reserved', 'scheduled'])
})

test('every event status maps to one status, and two event statuses are final', () => {
  assert.deepEqual(new Set(eventStatuses.map((status) => statusByEvent[status])), new Set(appointmentStatuses))
  assert.deepEqual(eventStatuses.filter(isFinal), ['completed', 'cancelled'])
})
