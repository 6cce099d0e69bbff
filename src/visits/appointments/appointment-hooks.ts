// Who is told that an appointment is over, in the transaction that ends it, however that came about. Modules above this one say in
// app/modules.ts that they want to know; this module does not know them.
import type { Tx } from '../../platform/db/transaction.ts'
import type { Appointment } from './schema.ts'

export type AppointmentEnding = (tx: Tx, appointment: Appointment) => void | Promise<void>

let endings: readonly AppointmentEnding[] = []

/** Say who is told, once for the process, before the first appointment ends. */
export function setAppointmentEndings(list: readonly AppointmentEnding[]): void {
  endings = list
}

export async function tellEnding(tx: Tx, appointment: Appointment): Promise<void> {
  for (const ending of endings) await ending(tx, appointment)
}
