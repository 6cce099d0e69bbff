// A locked order: an order that a transaction locks, changes in memory and writes once. The only writer of an order's status.
//
// Invariant: nothing else updates lab_order. To change an order, call `updateOrder` (change-order.ts), which passes a `LockedOrder`.
import { utcDate, iso } from '../../platform/runtime/clock.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { emit } from '../../platform/queue/outbox.ts'
import { countRows } from '../../platform/db/list-counts.ts'
import { sql } from '../../platform/db/sql.ts'
import { verifiedUserId, type UserIdentity } from '../../people/users/users.ts'
import { collectionZone } from './collection-zone.ts'
import { lifecycleOf, closedStatuses, type LifecycleName } from './lifecycle.ts'
import { nextStatuses, publishedStatus, type Lifecycle } from './status-machine.ts'
import type { Order } from './schema.ts'

/** Data stored with an order and not shown. */
export interface InternalData {
  /** The order was created for a future date. Only then may the date be changed later. */
  scheduled: boolean
  /** The lab account requires an ordering physician: the registration of the kit must name one. */
  physician_required: boolean
  /** `YYYY-MM-DD`: the expected delivery date of the parcel with the kit. */
  arrives_on?: string
  [fact: string]: unknown
}

/** Allocates ids for an order's next events, above its existing ones: ids increase along its events. */
export const eventIds = (tx: Tx, count: number, aboveId?: number): Promise<number[]> =>
  tx.allocateIds('order_event_id', count, aboveId)

/** Prefix of the published statuses of a shipped kit. */
const KIT_SENT = 'collecting_sample.testkit.'

/** In these statuses the sample is in transit to the laboratory or has arrived. */
const COLLECTED_STATUSES = new Set(['transit_lab', 'delivered_to_lab', 'draw_completed'])

export class LockedOrder {
  /** The order as the API shows it. Changes are written at the end of the transaction. */
  readonly order: Order
  readonly internalData: InternalData
  readonly lifecycle: LifecycleName
  lowLevelStatus: string
  /** Low-level statuses entered in this transaction, in order. */
  readonly transitions: string[] = []
  readonly #tx: Tx
  /** The other orders of the transaction. They show this order's status too and are written with it. */
  readonly #siblings: Order[]
  readonly #cycle: Lifecycle
  readonly #eventIds: readonly number[]
  #eventIdsUsed = 0
  #collectedAt: Date | undefined
  #isMarkedChanged = false
  #clientUserId: string
  /** Whether the order's user is deleted. The order is then hidden from the team, and the patient gets no messages. */
  readonly isHidden: boolean
  /** The event type of the last transition, not emitted yet. It is emitted with the written text, or before the next change of the order. */
  #pendingEvent: string | undefined

  constructor(
    tx: Tx,
    parts: {
      order: Order
      internalData: InternalData
      lifecycle: LifecycleName
      lowLevelStatus: string
      client_user_id: string
      /** The user is deleted and the order therefore hidden. Default: false. */
      user_deleted?: boolean
      /** Reserved for the events of this transaction. */
      ids: readonly number[]
      siblings?: Order[]
    },
  ) {
    this.#tx = tx
    this.order = parts.order
    this.internalData = parts.internalData
    this.lifecycle = parts.lifecycle
    this.lowLevelStatus = parts.lowLevelStatus
    this.#cycle = lifecycleOf(parts.lifecycle)
    this.#clientUserId = parts.client_user_id
    this.isHidden = parts.user_deleted ?? false
    this.#eventIds = parts.ids
    this.#siblings = parts.siblings ?? []
  }

  /** The client user id of the order's user. */
  get clientUserId(): string {
    return this.#clientUserId
  }

  /** Whether it has a new status or was marked as changed. */
  get isChanged(): boolean {
    return this.#isMarkedChanged || this.transitions.length > 0
  }

  /** Notes that `order` or `internalData` was changed without a new status. */
  markChanged(): void {
    this.#isMarkedChanged = true
  }

  /** Whether the lifecycle allows the transition to a status now. */
  canTransitionTo(targetStatus: string): boolean {
    return nextStatuses(this.#cycle, this.lowLevelStatus).includes(targetStatus)
  }

  /** Assigns the order to another user. Later events and results belong to that user. */
  assignToUser(user: { user_id: string; client_user_id: string }): void {
    this.#emitPendingEvent()
    this.#tx.concerns(user.user_id)
    this.order.user_id = user.user_id
    this.#clientUserId = user.client_user_id
  }

  /**
   * Changes the status. Emits labtest.order.updated with the order at that time; for partial results only if the team enabled that event.
   * Errors: 400 the lifecycle has no such transition.
   */
  transitionTo(targetStatus: string, status_detail: string | null = null): void {
    if (!this.canTransitionTo(targetStatus))
      throw badRequest(`Transition from ${this.lowLevelStatus} to ${targetStatus} is not allowed`)
    const silent = targetStatus === 'partial_results' && this.#tx.tenant.settings.partial_webhooks_enabled !== true
    this.#addTransition(targetStatus, status_detail, silent ? undefined : 'labtest.order.updated')
  }

  /** Records when the sample was taken; results can be expected from then on. The first call wins. */
  setCollectedAt(time: Date): void {
    this.#collectedAt ??= time
  }

  /**
   * Computes the days on which results are expected from the turnaround of the test, counted from the day of collection at the place of
   * collection, once the sample was taken. It changes no days that are set. Source: lab-testing.md 3.6.
   */
  async expectResults(): Promise<void> {
    const { order } = this
    const { common_tat_days, worst_case_tat_days } = order.lab_test
    const isDue = order.expected_result_by_date === null && common_tat_days !== null
    const isWorstDue = order.worst_case_result_by_date === null && worst_case_tat_days !== null
    if (!this.#collectedAt || !(isDue || isWorstDue)) return
    const day_ms = Date.parse(dayIn(this.#collectedAt, await collectionZone(this.#tx, order)))
    const addDays = (days: number | null) => (days === null ? null : utcDate(new Date(day_ms + days * DAY_MS)))
    order.expected_result_by_date ??= addDays(common_tat_days)
    order.worst_case_result_by_date ??= addDays(worst_case_tat_days)
  }

  /** Sets or clears the detail of the present status. Emits labtest.order.updated. */
  setStatusDetail(status_detail: string | null): void {
    this.#addTransition(this.lowLevelStatus, status_detail, 'labtest.order.updated')
  }

  /** Sets the first status of a new order. Emits labtest.order.created. */
  setInitialStatus(): void {
    this.#addTransition(this.#cycle.start, null, 'labtest.order.created')
  }

  /** Emits an event about this order to its team. Emits `type`. */
  emitEvent(type: string, data: unknown): void {
    this.#emitPendingEvent()
    const { id, user_id } = this.order
    emit(this.#tx, { type, object_id: id, user_id, client_user_id: this.#clientUserId, data: JSON.stringify(data) })
  }

  #addTransition(low: string, status_detail: string | null, type: string | undefined): void {
    this.#emitPendingEvent()
    this.#pendingEvent = type
    this.transitions.push(low)
    const { order } = this
    const now = iso(this.#tx.now)
    const event = { id: this.#nextId(), created_at: now, status: publishedStatus(this.#cycle, low), status_detail }
    this.lowLevelStatus = low
    order.events.push(event)
    order.last_event = event
    order.status = this.#cycle.steps[low]![0]
    order.updated_at = now
    if (COLLECTED_STATUSES.has(low)) this.setCollectedAt(this.#tx.now)
    const entry = order.order_transaction.orders.find(({ id }) => id === order.id)!
    entry.low_level_status = low
    entry.low_level_status_created_at = now
    entry.updated_at = now
    order.order_transaction.status = transactionStatus(order.order_transaction.orders.map((member) => member.low_level_status))
  }

  #nextId(): number {
    const id = this.#eventIds[this.#eventIdsUsed++]
    if (id === undefined) throw new Error('more status transitions in one transaction than reserved event ids')
    return id
  }

  /** Emits the pending event of the last transition, with the order as it is now. */
  #emitPendingEvent(document?: string): void {
    const type = this.#pendingEvent
    if (type === undefined) return
    this.#pendingEvent = undefined
    const { id, user_id } = this.order
    emit(this.#tx, {
      type,
      object_id: id,
      user_id,
      client_user_id: this.#clientUserId,
      data: document ?? JSON.stringify(this.order),
    })
  }

  /** The order as JSON text, as it will be written. */
  #document(): string {
    const document = JSON.stringify(this.order)
    this.#emitPendingEvent(document)
    return document
  }

  /** Inserts a new order and counts it. @param demographics see `verifiedUserId` */
  insert(lab_id: number, user: UserIdentity, demographics?: string): string {
    const { order } = this
    this.#tx.concerns(order.user_id, order.id)
    const document = this.#document()
    const found = this.#columns()
    this.#tx.defer(sql`
      insert into lab_order (id, team_id, user_id, transaction_id, lifecycle_name, lab_test_id, lab_id, method, low_level_status, status_at, sample_id,
                             activate_by, patient_name, patient_dob, recipient_name, created_at, updated_at, document, internal_data,
                             status_detail, kit_sent, lab_account_id)
      select ${order.id}, ${this.#tx.team}, ${verifiedUserId(this.#tx, user, demographics)}, ${order.order_transaction.id}, ${this.lifecycle}, ${order.lab_test.id}, ${lab_id},
              ${order.lab_test.method}, ${this.lowLevelStatus}, ${order.last_event.created_at}, ${order.sample_id}, ${order.activate_by},
              ${found.patient_name}, ${found.patient_dob}, ${found.recipient_name}, ${order.created_at}, ${order.updated_at}, ${document},
              ${JSON.stringify(this.internalData)}, ${order.last_event.status_detail}, ${found.kit_sent},
              ${order.lab_account_id}`)
    countRows(this.#tx, 'orders', 1)
    return document
  }

  /** Writes a changed order. */
  update(): string {
    const { order } = this
    order.updated_at = iso(this.#tx.now)
    const document = this.#document()
    const found = this.#columns()
    this.#tx.defer(sql`
      update lab_order
      set user_id = ${order.user_id}, low_level_status = ${this.lowLevelStatus}, status_at = ${order.last_event.created_at}, sample_id = ${order.sample_id},
          activate_by = ${order.activate_by}, interpretation = ${order.interpretation}, patient_name = ${found.patient_name},
          patient_dob = ${found.patient_dob}, recipient_name = ${found.recipient_name}, updated_at = ${order.updated_at},
          document = ${document}, internal_data = ${JSON.stringify(this.internalData)},
          status_detail = ${order.last_event.status_detail}, kit_sent = ${found.kit_sent}
      where id = ${order.id} and team_id = ${this.#tx.team}`)
    for (const sibling of this.#siblings) {
      const changed = { ...sibling, order_transaction: order.order_transaction }
      this.#tx.defer(
        sql`update lab_order set document = ${JSON.stringify(changed)} where id = ${sibling.id} and team_id = ${this.#tx.team}`,
      )
    }
    return document
  }

  #columns() {
    const { patient_details: patient, shipping_details: shipping, patient_address: address } = this.order
    return {
      patient_name: patient ? `${patient.first_name ?? ''} ${patient.last_name ?? ''}`.trim() : null,
      patient_dob: patient?.dob ?? null,
      recipient_name: shipping?.receiver_name ?? (address?.receiver_name || null),
      kit_sent: this.order.events.some(({ status }) => status.startsWith(KIT_SENT)),
    }
  }
}

/** The status of an order transaction. Source: lab-testing.md 12. */
export function transactionStatus(lowLevelStatuses: string[]): 'active' | 'completed' | 'cancelled' {
  if (lowLevelStatuses.every((low) => low === 'cancelled' || low === 'do_not_process')) return 'cancelled'
  return lowLevelStatuses.every((low) => closedStatuses.has(low)) ? 'completed' : 'active'
}

/** Only a rejected cancellation has this body. Source: lab-testing.md 11. */
export const cancelNotAllowed = (status: string): Problem =>
  new Problem(400, { error: 'Bad Request', message: `Transition from ${status} to cancelled is not allowed`, status_code: 400 })
