// Simulates carriers, laboratory and results for a sandbox order. It uses the same functions as production and owns only the plan of a
// waiting simulation.
import { expectedResults } from '../../lab/catalog/lab-tests.ts'
import { labLinkFor } from '../../lab/links/links.ts'
import { activationTime } from '../../lab/orders/send-to-lab.ts'
import { isFinal } from '../../lab/orders/status-machine.ts'
import { lifecycleOf } from '../../lab/orders/lifecycle.ts'
import { orderRescheduled, orderStepped } from '../../lab/orders/order-hooks.ts'
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import { findAndLockOrder, saveOrder, lockOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { Interpretation } from '../../lab/orders/schema.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { collectionZone } from '../../lab/orders/collection-zone.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { enqueue, defineHandler, defineJob, type Handler } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { isRedrawable } from '../../lab/results/redraws.ts'
import { receiveReport } from '../../lab/results/results.ts'
import { isRegistered, kitOf, moveKit, getShipment, updateTracking } from '../../lab/testkits/shipments.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { generateReport } from './generate-report.ts'
import { isReachable, nextStep, findTarget, type OrderPosition } from './simulation-path.ts'
import type { SimulationFlags } from './schema.ts'

const Plan = T.Object({
  order_id: T.String(),
  target: T.String(),
  delay_s: T.Integer(),
  interpretation: Interpretation,
  result_types: Nullable(T.Array(T.String())),
  has_missing_results: T.Boolean(),
  /** Whether the simulation waits until the appointment begins: if the caller has set neither a final status nor a delay. */
  awaits_visit: T.Optional(T.Boolean()),
})
type Plan = Static<typeof Plan>

/** Runs one step of a simulation and queues the next. */
const simulateStep = defineJob('simulator.step', Plan)

/** Checks whether the instant that a simulation waits for has come. */
const wakeSimulation = defineJob('simulator.wake', T.Object({ order_id: T.String() }))

const DEFAULT_TARGET = 'completed'
/** Transit time that the simulated carrier announces for a parcel to the patient. */
const TRANSIT_TIME_S = 3 * 86_400

/**
 * Starts a simulation of an order. Each step is a job with its own transaction and event. A simulation waits for the date of an order, and
 * for the start of an appointment unless the query sets a final status or a delay. Queues simulator.step.
 * Errors: 400 the collection method has no such status, or the order cannot reach it; 404 not a sandbox team, or unknown order.
 */
export async function startSimulation(
  tx: Tx,
  order_id: string,
  query: { final_status?: string; delay?: number },
  flags: SimulationFlags,
): Promise<{ status: string; message: string }> {
  assertSandbox(tx.tenant)
  const lockedOrder = await lockOrder(tx, order_id, "Order doesn't exist")
  const target = query.final_status === undefined ? DEFAULT_TARGET : findTarget(lockedOrder.lifecycle, query.final_status)
  if (target === undefined) throw badRequest("final_status is not a status of this order's lifecycle")
  if (isFinal(lifecycleOf(lockedOrder.lifecycle), lockedOrder.lowLevelStatus))
    throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} can no longer change`)
  if (!isReachable(positionOf(lockedOrder), target) || (target === REDRAW && !isRedrawable(tx.tenant, lockedOrder.order)))
    throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} cannot reach ${target}`)
  enqueue(tx, simulateStep, {
    order_id,
    target,
    delay_s: query.delay ?? 0,
    interpretation: flags.interpretation ?? 'normal',
    result_types: flags.result_types?.length ? flags.result_types : null,
    has_missing_results: flags.has_missing_results ?? false,
    awaits_visit: query.final_status === undefined && !query.delay,
  })
  return { status: 'success', message: 'Order simulation started' }
}

const positionOf = (lockedOrder: LockedOrder): OrderPosition => ({
  lifecycle: lockedOrder.lifecycle,
  lowLevelStatus: lockedOrder.lowLevelStatus,
  registered: isRegistered(lockedOrder),
  pastStatuses: lockedOrder.order.events.map((event) => event.status.split('.').at(-1)!),
})

/** Returns when the appointment of an order begins; undefined if it has none. */
export type AppointmentStart = (tx: Tx, lockedOrder: LockedOrder) => Promise<string | undefined>

export const simulationHandlers = (appointmentStart: AppointmentStart): Handler[] => [
  defineHandler(simulateStep, (context, plan) =>
    context.tx(async (tx) => {
      const lockedOrder = await findAndLockOrder(tx, plan.order_id)
      // Erased with its user meanwhile.
      if (lockedOrder) await step(tx, lockedOrder, plan, appointmentStart)
    }),
  ),
  defineHandler(wakeSimulation, (context, { order_id }) =>
    context.tx(async (tx) => {
      const lockedOrder = await findAndLockOrder(tx, order_id)
      const plan = lockedOrder && (await unpark(tx, order_id))
      if (plan) await step(tx, lockedOrder, plan, appointmentStart)
    }),
  ),
]

/** Takes the next step, or waits for its condition. Writes lab_order, simulation. Queues simulator.step or simulator.wake. */
async function step(tx: Tx, lockedOrder: LockedOrder, plan: Plan, appointmentStart: AppointmentStart): Promise<void> {
  const next = nextStep(positionOf(lockedOrder), plan.target)
  if (next === undefined) return
  if (next === 'wait') return waitForInput(tx, plan)
  const at = await stepTime(tx, lockedOrder, next, plan, appointmentStart)
  if (at > tx.now) {
    await waitForInput(tx, plan)
    return enqueue(tx, wakeSimulation, { order_id: plan.order_id }, at)
  }
  await applyStep(tx, lockedOrder, next, plan)
  await saveOrder(tx, lockedOrder)
  if (next !== plan.target) enqueue(tx, simulateStep, plan, addSeconds(tx.now, plan.delay_s))
}

/** Statuses in which the order was not sent to its laboratory yet. */
const UNSENT = new Set(['ordered', 'awaiting_registration'])

/**
 * Returns when a step can be taken: an order for a date is not sent before it, and a draw does not happen before the appointment begins.
 */
async function stepTime(
  tx: Tx,
  lockedOrder: LockedOrder,
  next: string,
  plan: Plan,
  appointmentStart: AppointmentStart,
): Promise<Date> {
  if (UNSENT.has(lockedOrder.lowLevelStatus) && next !== 'cancelled') return activationTime(tx, lockedOrder.order.activate_by)
  if (next !== 'draw_completed' || !plan.awaits_visit) return tx.now
  const start_at = await appointmentStart(tx, lockedOrder)
  return start_at ? new Date(start_at) : tx.now
}

/** Does what a carrier or laboratory would do for an order to reach `next`. */
export async function applyStep(tx: Tx, lockedOrder: LockedOrder, next: string, plan: Plan): Promise<void> {
  if (next === 'requisition_created') lockedOrder.order.sample_id ??= newSampleId(tx, lockedOrder)
  if (REPORT_STATUSES.has(next)) return deliverReport(tx, lockedOrder, next, plan)
  if (lockedOrder.order.details.type !== 'testkit') return lockedOrder.transitionTo(next)
  if (next === 'requisition_created') getShipment(tx, lockedOrder)
  if (next === 'transit_customer')
    updateTracking(tx, lockedOrder, 'outbound', {
      ...trackingNumber(lockedOrder, 'outbound'),
      arrives_on: dayIn(addSeconds(tx.now, TRANSIT_TIME_S), await collectionZone(tx, lockedOrder.order)),
    })
  if (next === 'transit_lab' || next === 'delivered_to_lab') ensureInbound(tx, lockedOrder)
  moveKit(lockedOrder, next)
}

const REDRAW = 'redraw_available'
/** Statuses that follow from a report of the laboratory. The results module decides which of them the final report leads to. */
const REPORT_STATUSES = new Set(['partial_results', 'completed', 'corrected', REDRAW])

/** The laboratory has accepted the order and assigned it a number. */
const newSampleId = (tx: Tx, { order }: LockedOrder): string | null =>
  labLinkFor(tx.tenant, order.lab_test.lab!.slug)?.barcode(order.id) ?? null

function ensureInbound(tx: Tx, lockedOrder: LockedOrder): void {
  if (!kitOf(lockedOrder).shipment?.inbound_tracking_number)
    updateTracking(tx, lockedOrder, 'inbound', trackingNumber(lockedOrder, 'inbound'))
}

/** A fictional tracking number that is the same for the same order. */
function trackingNumber(lockedOrder: LockedOrder, direction: 'outbound' | 'inbound') {
  const digits = BigInt(`0x${lockedOrder.order.id.replaceAll('-', '').slice(12)}`)
    .toString()
    .slice(0, 18)
    .padStart(18, '0')
  const number = `${direction === 'outbound' ? '94' : '92'}${digits}`
  return { number, url: `https://tracking.example/${number}`, courier: 'usps' }
}

async function deliverReport(tx: Tx, lockedOrder: LockedOrder, next: string, plan: Plan): Promise<void> {
  const expected = await expectedResults(tx, lockedOrder.order.lab_test.id)
  const now = iso(tx.now)
  const at = (...lows: string[]) =>
    lockedOrder.order.events.findLast((event) => lows.some((low) => event.status.endsWith(`.${low}`)))?.created_at ?? now
  const report = generateReport(
    lockedOrder.order,
    expected,
    {
      interpretation: plan.interpretation,
      result_types: plan.result_types as never,
      has_missing_results: plan.has_missing_results || next === REDRAW,
      partial: next === 'partial_results',
      amended: next === 'corrected',
    },
    {
      collected_at: at('transit_lab', 'delivered_to_lab', 'draw_completed'),
      received_at: at('delivered_to_lab'),
      reported_at: now,
    },
  )
  await receiveReport(tx, lockedOrder, report)
}

/** Waits for the registration, the appointment or a date. Writes simulation. */
async function waitForInput(tx: Tx, plan: Plan): Promise<void> {
  await tx.run(sql`
    insert into simulation (order_id, team_id, plan) values (${plan.order_id}, ${tx.team}, ${JSON.stringify(plan)})
    on conflict (team_id, order_id) do update set plan = excluded.plan`)
}

const WaitingSimulation = T.Object({ plan: Plan })

/** Deletes and returns the plan of a waiting simulation; the order's lock also locks it. Writes simulation. */
async function unpark(tx: Tx, order_id: string): Promise<Plan | undefined> {
  const parked = await tx.maybe(
    WaitingSimulation,
    sql`delete from simulation where order_id = ${order_id} and team_id = ${tx.team} returning plan`,
  )
  return parked?.plan
}

const AWAITED = new Set(['registered', 'appointment_pending', 'appointment_scheduled', 'appointment_cancelled'])

/** Runs after an event that a simulation may wait for: the simulation continues or waits again. Queues simulator.step or simulator.wake. */
export const orderHooks: Hook[] = [
  defineHook(orderStepped, (tx, lockedOrder, low) => {
    if (AWAITED.has(low)) return goOn(tx, lockedOrder.order.id)
  }),
  defineHook(orderRescheduled, async (tx, { order }) => {
    const parked = await tx.maybe(
      WaitingSimulation,
      sql`select plan from simulation where order_id = ${order.id} and team_id = ${tx.team}`,
    )
    if (parked) enqueue(tx, wakeSimulation, { order_id: order.id }, activationTime(tx, order.activate_by))
  }),
]

async function goOn(tx: Tx, order_id: string): Promise<void> {
  const plan = await unpark(tx, order_id)
  if (plan) enqueue(tx, simulateStep, plan, addSeconds(tx.now, plan.delay_s))
}
