// A locked appointment: its order is locked, it is changed in memory and then saved. This file is the only writer of appointments;
// appointments.ts applies the changes to the order.
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { emit } from '../../platform/queue/outbox.ts'
import { T, withNulls, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { isFinal, canTransition, statusByEvent, type EventStatus } from './status-machine.ts'
import { Appointment, InternalData, type EventData } from './schema.ts'
import { hookPoint } from '../../platform/db/hooks.ts'

/** Runs after an appointment was completed or cancelled, for any reason. */
export const appointmentEnded = hookPoint<[appointment: Appointment]>('appointment.ended')

/** The properties of a new appointment. */
export interface Booking extends Pick<
  Appointment,
  'type' | 'provider' | 'address' | 'location' | 'iana_timezone' | 'start_at' | 'end_at'
> {
  /** Generated unless the provider assigns one. */
  id?: string
  /** The provider's id of the appointment; defaults to the appointment's own id. */
  provider_id?: string
  external_id?: string | null
  /** The site of the laboratory; null for at-home appointments. */
  site_code: string | null
  appointment_notes?: string | null | undefined
  internalData: Pick<InternalData, 'movable' | 'tier' | 'price'> & Partial<Pick<InternalData, 'cancellable'>>
}

const RESCHEDULABLE_STATUSES = new Set<EventStatus>(['scheduled', 'reserved'])

export class LockedAppointment {
  /** The appointment as the API shows it; `save` writes changes made here. */
  readonly appointment: Appointment
  readonly internalData: InternalData
  site_code: string | null
  readonly #tx: Tx
  readonly #order: LockedOrder
  #isStored: boolean

  constructor(
    tx: Tx,
    order: LockedOrder,
    parts: { appointment: Appointment; internalData: InternalData; site_code: string | null; isStored: boolean },
  ) {
    this.#tx = tx
    this.#order = order
    this.appointment = parts.appointment
    this.internalData = parts.internalData
    this.site_code = parts.site_code
    this.#isStored = parts.isStored
  }

  /** Whether the appointment may change to a status now. */
  canTransitionTo(targetStatus: EventStatus): boolean {
    const { type, event_status, events } = this.appointment
    return canTransition(type, events.length ? event_status : undefined, targetStatus)
  }

  /**
   * Changes the status. Emits labtest.appointment.updated with the appointment after this transition, and labtest.appointment.created
   * before the first.
   * Errors: 400 the status machine does not allow the transition.
   */
  transitionTo(targetStatus: EventStatus, data: EventData = null): void {
    const { appointment } = this
    if (!this.canTransitionTo(targetStatus))
      throw badRequest(`Transition of an appointment from ${appointment.event_status} to ${targetStatus} is not allowed`)
    const isFirst = appointment.events.length === 0
    appointment.events.push({ created_at: iso(this.#tx.now), status: targetStatus, data })
    appointment.event_status = targetStatus
    appointment.event_data = data
    appointment.status = statusByEvent[targetStatus]
    appointment.can_reschedule =
      this.internalData.movable && !this.internalData.awaits_provider && RESCHEDULABLE_STATUSES.has(targetStatus)
    if (isFirst) this.#emitEvent('labtest.appointment.created')
    this.#emitEvent('labtest.appointment.updated')
  }

  #emitEvent(type: string): void {
    const { id, user_id } = this.appointment
    const client_user_id = this.#order.clientUserId
    emit(this.#tx, { type, object_id: id, user_id, client_user_id, data: JSON.stringify(this.appointment) })
  }

  /** Saves the appointment, and its id on the order; runs the hooks when it is over. Writes appointment. */
  async save(): Promise<void> {
    const { appointment: a, internalData } = this
    const [document, hidden] = [JSON.stringify(a), JSON.stringify(internalData)]
    const now = iso(this.#tx.now)
    if (this.#isStored)
      await this.#tx.run(sql`
        update appointment
        set event_status = ${a.event_status}, site_code = ${this.site_code}, start_at = ${a.start_at}, end_at = ${a.end_at},
            provider_id = ${a.provider_id}, updated_at = ${now}, document = ${document}, internal_data = ${hidden}
        where id = ${a.id} and team_id = ${this.#tx.team}`)
    else
      await this.#tx.run(sql`
        insert into appointment (id, team_id, order_id, type, provider, provider_id, site_code, event_status, start_at, end_at, created_at,
                                 updated_at, document, internal_data)
        values (${a.id}, ${this.#tx.team}, ${a.order_id}, ${a.type}, ${a.provider}, ${a.provider_id}, ${this.site_code}, ${a.event_status},
                ${a.start_at}, ${a.end_at}, ${now}, ${now}, ${document}, ${hidden})`)
    this.#isStored = true
    if (isFinal(a.event_status)) await this.#tx.notify(appointmentEnded, a)
    const { data } = this.#order.order.details
    if (!data || !('appointment_id' in data)) return
    data.appointment_id = a.event_status === 'cancelled' ? null : a.id
    data.updated_at = now
  }
}

/** Creates a new appointment of an order, in memory. */
export function newAppointment(tx: Tx, lockedOrder: LockedOrder, booking: Booking): LockedAppointment {
  const { order } = lockedOrder
  const id = booking.id ?? tx.uuid()
  const appointment = withNulls(Appointment, {
    ...booking,
    id,
    user_id: order.user_id,
    order_id: order.id,
    order_transaction_id: order.order_transaction.id,
    status: 'pending',
    provider_id: booking.provider_id ?? id,
    can_reschedule: false,
    event_status: 'pending',
    events: [],
  })
  const internalData = withNulls(InternalData, { cancellable: true, ...booking.internalData, awaits_provider: false })
  return new LockedAppointment(tx, lockedOrder, { appointment, internalData, site_code: booking.site_code, isStored: false })
}

const Row = T.Object({ document: T.String(), internal_data: T.String(), site_code: T.Union([T.String(), T.Null()]) })

const lockRow = (tx: Tx, lockedOrder: LockedOrder, row: Static<typeof Row>): LockedAppointment =>
  new LockedAppointment(tx, lockedOrder, {
    appointment: JSON.parse(row.document) as Appointment,
    internalData: JSON.parse(row.internal_data) as InternalData,
    site_code: row.site_code,
    isStored: true,
  })

/** Returns the appointment of a locked order that was not cancelled. The lock of the order also locks the appointment. */
export async function findAppointment(tx: Tx, lockedOrder: LockedOrder): Promise<LockedAppointment | undefined> {
  const row = await tx.maybe(
    Row,
    sql`
    select document, internal_data, site_code from appointment
    where order_id = ${lockedOrder.order.id} and team_id = ${tx.team} and event_status <> 'cancelled'`,
  )
  return row && lockRow(tx, lockedOrder, row)
}

/** When the appointment of an order begins; undefined where it has none, or no time yet. */
export const appointmentStart = async (tx: Tx, lockedOrder: LockedOrder): Promise<string | undefined> =>
  (await findAppointment(tx, lockedOrder))?.appointment.start_at ?? undefined

const EndedRow = T.Object({ event_status: T.String() })

/** Returns the appointment of a locked order, to be changed. Errors: 400 the order never had one, or it was cancelled. */
export async function requireAppointment(tx: Tx, lockedOrder: LockedOrder): Promise<LockedAppointment> {
  const lockedAppointment = await findAppointment(tx, lockedOrder)
  if (lockedAppointment) return lockedAppointment
  const ended = await tx.maybe(
    EndedRow,
    sql`select event_status from appointment where order_id = ${lockedOrder.order.id} and team_id = ${tx.team} limit 1`,
  )
  throw badRequest(ended ? 'This appointment has already been cancelled.' : "This order doesn't have an appointment yet.")
}

const Document = T.Object({ document: T.String() })

/** Returns the appointment of an order as JSON text; undefined if there is none or all are cancelled. */
export const readAppointment = async (tx: Tx, order_id: string): Promise<string | undefined> =>
  (
    await tx.lookup(
      Document,
      sql`
      select document from appointment where order_id = ${order_id} and team_id = ${tx.team} and event_status <> 'cancelled'`,
    )
  )?.document

const Found = T.Object({ order_id: T.String() })

/** Returns the order of an appointment that was not cancelled. */
export const orderOfAppointment = async (tx: Tx, id: string): Promise<string | undefined> =>
  (
    await tx.maybe(
      Found,
      sql`select order_id from appointment where id = ${id} and team_id = ${tx.team} and event_status <> 'cancelled'`,
    )
  )?.order_id
