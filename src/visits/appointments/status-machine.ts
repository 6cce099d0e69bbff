// The status machines of appointments, as data. Source: lab-testing.md 17.2, 17.3.

export const appointmentTypes = ['phlebotomy', 'patient_service_center'] as const
export type AppointmentType = (typeof appointmentTypes)[number]

export const eventStatuses = ['pending', 'reserved', 'scheduled', 'completed', 'cancelled', 'in_progress'] as const
export type EventStatus = (typeof eventStatuses)[number]

export const appointmentStatuses = ['confirmed', 'pending', 'reserved', 'in_progress', 'completed', 'cancelled'] as const
export type AppointmentStatus = (typeof appointmentStatuses)[number]

/** The appointment status of each event status. */
export const statusByEvent: Record<EventStatus, AppointmentStatus> = {
  pending: 'pending',
  reserved: 'reserved',
  scheduled: 'confirmed',
  in_progress: 'in_progress',
  completed: 'completed',
  cancelled: 'cancelled',
}

interface AppointmentMachine {
  starts: readonly EventStatus[]
  /** Status → the next statuses; a status without any is final. */
  steps: Record<EventStatus, readonly EventStatus[]>
}

/** Unsourced: `reserved` → `reserved` when a reserved appointment is rescheduled; `scheduled` → `completed`; `in_progress` at a PSC. */
const steps: AppointmentMachine['steps'] = {
  pending: ['scheduled', 'reserved', 'cancelled'],
  reserved: ['reserved', 'scheduled', 'cancelled'],
  scheduled: ['scheduled', 'in_progress', 'completed', 'cancelled'],
  in_progress: ['completed', 'cancelled'],
  completed: [],
  cancelled: [],
}

const machines: Record<AppointmentType, AppointmentMachine> = {
  phlebotomy: { starts: ['pending', 'scheduled'], steps },
  patient_service_center: { starts: ['pending', 'reserved', 'scheduled'], steps },
}

/** Whether an appointment may change from one status to another; `undefined` for a new appointment. */
export const canTransition = (
  type: AppointmentType,
  currentStatus: EventStatus | undefined,
  targetStatus: EventStatus,
): boolean => (currentStatus === undefined ? machines[type].starts : machines[type].steps[currentStatus]).includes(targetStatus)

export const isFinal = (status: EventStatus): boolean => status === 'completed' || status === 'cancelled'
