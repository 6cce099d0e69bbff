// Hooks on appointments. Modules above this one register functions here; this module does not import them.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Appointment } from './schema.ts'

/** Runs after an appointment was completed or cancelled, for any reason. */
export const appointmentEnded = hookPoint<[appointment: Appointment]>('appointment.ended')
