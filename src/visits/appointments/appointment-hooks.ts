// What happens to appointments, for modules above this one: they hook on it, and this module does not know them.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Appointment } from './schema.ts'

/** An appointment is over, however that came about. */
export const appointmentEnded = hookPoint<[appointment: Appointment]>('appointment.ended')
