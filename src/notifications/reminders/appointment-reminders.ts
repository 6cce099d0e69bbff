// Reminders of a PSC appointment that was booked here, at fixed times before its current start. Source: lab-testing.md 23.
import { readAppointment } from '../../visits/appointments/locked-appointment.ts'
import type { Appointment } from '../../visits/appointments/schema.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { appointmentReminders, textMessage } from '../messages/message-rules.ts'
import { recordMessages } from '../messages/messages.ts'
import { lockOrderToRemind, remindersDisabled, wasSent } from './reminders.ts'

/** Reads the appointment after it was saved, and schedules its reminders. */
const plan = defineJob('messages.plan_appointment_reminders', T.Object({ order_id: T.String() }))

const remind = defineJob(
  'messages.remind_appointment',
  T.Object({ order_id: T.String(), start_at: T.String(), turn: T.Integer() }),
)

/** Schedules reminders after an appointment was confirmed or rescheduled. Queues messages.plan_appointment_reminders. */
export function planAppointmentReminders(tx: Tx, { id, lab_test }: Order, low: string): void {
  if (low !== 'appointment_scheduled' || lab_test.method !== 'walk_in_test' || remindersDisabled(tx)) return
  enqueue(tx, plan, { order_id: id })
}

const dueAt = (start_at: string, turn: number): Date => addSeconds(new Date(start_at), -appointmentReminders[turn - 1]!)

async function findStart(tx: Tx, order_id: string): Promise<string | undefined> {
  const text = await readAppointment(tx, order_id)
  const { start_at, event_status } = text === undefined ? ({} as Partial<Appointment>) : (JSON.parse(text) as Appointment)
  return event_status === 'scheduled' && start_at ? start_at : undefined
}

/** Skips reminders whose time is past. Queues messages.remind_appointment. */
export const planAppointmentRemindersHandler = defineHandler(plan, (context, { order_id }) =>
  context.tx(async (tx) => {
    const start_at = await findStart(tx, order_id)
    if (start_at === undefined) return
    for (const turn of appointmentReminders.keys()) {
      const at = dueAt(start_at, turn + 1)
      if (at > tx.now) enqueue(tx, remind, { order_id, start_at, turn: turn + 1 }, at)
    }
  }),
)

/** @param smsEnabled whether a gateway is configured */
export const remindAppointmentHandler = (smsEnabled: boolean) =>
  defineHandler(remind, (context, { order_id, start_at, turn }) =>
    context.tx(async (tx) => {
      const found = await lockOrderToRemind(tx, order_id, 'appointment_scheduled')
      // The appointment was rescheduled or cancelled in the meantime.
      if (!found || (await findStart(tx, order_id)) !== start_at) return
      const kind = `appointment_reminder_${turn}`
      if (await wasSent(tx, order_id, kind, dueAt(start_at, turn))) return
      if (found.bySms) recordMessages(tx, found.order, kind, textMessage, smsEnabled)
    }),
  )
