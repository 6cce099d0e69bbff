// Playing the world for a sandbox order: carriers, laboratory, results. It uses the same functions as production and owns only the
// plan of a simulation that waits.
import { findAppointment } from '../../visits/appointments/open-appointment.ts'
import { expectedResults } from '../../lab/catalog/lab-tests.ts'
import { linkTo } from '../../lab/links/links.ts'
import { activation } from '../../lab/orders/send-to-lab.ts'
import { isFinal } from '../../lab/orders/status-machine.ts'
import { lifecycleOf } from '../../lab/orders/lifecycle.ts'
import { orderRescheduled, orderStepped } from '../../lab/orders/order-hooks.ts'
import { on, type Hook } from '../../platform/db/hooks.ts'
import { findOpenOrder, finish, openOrder } from '../../lab/orders/change-order.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { Interpretation } from '../../lab/orders/schema.ts'
import { day, iso, plusSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { enqueue, handle, job } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { isRedrawable } from '../../lab/results/redraws.ts'
import { receiveReport } from '../../lab/results/results.ts'
import { isRegistered, kitOf, moveKit, shipmentOf, track } from '../../lab/testkits/shipments.ts'
import { assertSandbox } from '../clock/clock.ts'
import { generateReport } from './generate-report.ts'
import { isReachable, nextStep, targetOf, type Place } from './status-route.ts'
import type { SimulationFlags } from './schema.ts'

const Plan = T.Object({
  order_id: T.String(),
  target: T.String(),
  delay_s: T.Integer(),
  interpretation: Interpretation,
  result_types: Nullable(T.Array(T.String())),
  has_missing_results: T.Boolean(),
  /** Whether a visit is waited for until it begins: where the caller has named neither an end nor a delay. */
  awaits_visit: T.Optional(T.Boolean()),
})
type Plan = Static<typeof Plan>

/** One step of a simulation; queues the next. */
export const simulateStep = job('simulator.step', Plan)

/** A simulation that waits for an instant looks again whether it has come. */
export const wakeSimulation = job('simulator.wake', T.Object({ order_id: T.String() }))

const DEFAULT_TARGET = 'completed'
/** How long the simulated carrier says that a parcel takes to the patient. */
const ON_ITS_WAY_S = 3 * 86_400

/**
 * Start a simulation of an order; the steps follow as jobs, each with its own transaction and event. An order for a date waits for it, and
 * a visit is waited for until it begins unless the query says where the simulation ends or how fast it goes. Queues simulator.step.
 * 400: no such status for this kind of order, or it cannot get there from where it is. 404: not a sandbox team, or no such order.
 */
export async function startSimulation(
  tx: Tx,
  order_id: string,
  query: { final_status?: string; delay?: number },
  flags: SimulationFlags,
): Promise<{ status: string; message: string }> {
  assertSandbox(tx.tenant)
  const open = await openOrder(tx, order_id, "Order doesn't exist")
  const target = query.final_status === undefined ? DEFAULT_TARGET : targetOf(open.lifecycle, query.final_status)
  if (target === undefined) throw badRequest('final_status is not a status of this kind of order')
  if (isFinal(lifecycleOf(open.lifecycle), open.lowStatus))
    throw badRequest(`An order that is ${open.lowStatus} does not change any more`)
  if (!isReachable(placeOf(open), target) || (target === REDRAW && !isRedrawable(tx.tenant, open.order)))
    throw badRequest(`An order that is ${open.lowStatus} cannot become ${target}`)
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

const placeOf = (open: OpenOrder): Place => ({
  lifecycle: open.lifecycle,
  low_status: open.lowStatus,
  registered: isRegistered(open),
  past: open.order.events.map((event) => event.status.split('.').at(-1)!),
})

export const stepHandler = handle(simulateStep, (context, plan) =>
  context.tx(async (tx) => {
    const open = await findOpenOrder(tx, plan.order_id)
    // Erased with its user meanwhile.
    if (open) await step(tx, open, plan)
  }),
)

export const wakeHandler = handle(wakeSimulation, (context, { order_id }) =>
  context.tx(async (tx) => {
    const open = await findOpenOrder(tx, order_id)
    const plan = open && (await unpark(tx, order_id))
    if (plan) await step(tx, open, plan)
  }),
)

/** Take the next step, or wait for what it needs. Writes lab_order, simulation. Queues simulator.step or simulator.wake. */
async function step(tx: Tx, open: OpenOrder, plan: Plan): Promise<void> {
  const next = nextStep(placeOf(open), plan.target)
  if (next === undefined) return
  if (next === 'wait') return park(tx, plan)
  const at = await instantOf(tx, open, next, plan)
  if (at > tx.now) {
    await park(tx, plan)
    return enqueue(tx, wakeSimulation, { order_id: plan.order_id }, at)
  }
  await take(tx, open, next, plan)
  await finish(tx, open)
  if (next !== plan.target) enqueue(tx, simulateStep, plan, plusSeconds(tx.now, plan.delay_s))
}

/** Statuses of an order that its laboratory has not been sent yet. */
const UNSENT = new Set(['ordered', 'awaiting_registration'])

/** When a step can be taken: an order for a date is not sent before its day, and a visit draws no blood before it begins. */
async function instantOf(tx: Tx, open: OpenOrder, next: string, plan: Plan): Promise<Date> {
  if (UNSENT.has(open.lowStatus) && next !== 'cancelled') return activation(tx, open.order.activate_by)
  if (next !== 'draw_completed' || !plan.awaits_visit) return tx.now
  const start_at = (await findAppointment(tx, open))?.appointment.start_at
  return start_at ? new Date(start_at) : tx.now
}

/** What the world does for an order to become `next`. */
export async function take(tx: Tx, open: OpenOrder, next: string, plan: Plan): Promise<void> {
  if (next === 'requisition_created') open.order.sample_id ??= barcodeOf(tx, open)
  if (REPORTED.has(next)) return deliver(tx, open, next, plan)
  if (open.order.details.type !== 'testkit') return open.advance(next)
  if (next === 'requisition_created') shipmentOf(tx, open)
  if (next === 'transit_customer')
    track(tx, open, 'outbound', { ...parcel(open, 'outbound'), arrives_on: day(plusSeconds(tx.now, ON_ITS_WAY_S)) })
  if (next === 'transit_lab' || next === 'delivered_to_lab') ensureInbound(tx, open)
  moveKit(open, next)
}

const REDRAW = 'redraw_available'
/** Statuses that a report of the laboratory brings about. Which of them the final report leads to is for results to say. */
const REPORTED = new Set(['partial_results', 'completed', 'corrected', REDRAW])

/** The laboratory has taken the order and given it a number. */
const barcodeOf = (tx: Tx, { order }: OpenOrder): string | null =>
  linkTo(tx.tenant, order.lab_test.lab!.slug)?.barcode(order.id) ?? null

function ensureInbound(tx: Tx, open: OpenOrder): void {
  if (!kitOf(open).shipment?.inbound_tracking_number) track(tx, open, 'inbound', parcel(open, 'inbound'))
}

/** A made-up tracking number that is the same for the same order. */
function parcel(open: OpenOrder, way: 'outbound' | 'inbound') {
  const digits = BigInt(`0x${open.order.id.replaceAll('-', '').slice(12)}`)
    .toString()
    .slice(0, 18)
    .padStart(18, '0')
  const number = `${way === 'outbound' ? '94' : '92'}${digits}`
  return { number, url: `https://tracking.example/${number}`, courier: 'usps' }
}

async function deliver(tx: Tx, open: OpenOrder, next: string, plan: Plan): Promise<void> {
  const expected = await expectedResults(tx, open.order.lab_test.id)
  const now = iso(tx.now)
  const when = (...lows: string[]) =>
    open.order.events.findLast((event) => lows.some((low) => event.status.endsWith(`.${low}`)))?.created_at ?? now
  const report = generateReport(
    open.order,
    expected,
    {
      interpretation: plan.interpretation,
      result_types: plan.result_types as never,
      has_missing_results: plan.has_missing_results || next === REDRAW,
      partial: next === 'partial_results',
      amended: next === 'corrected',
    },
    { collected: when('transit_lab', 'delivered_to_lab', 'draw_completed'), received: when('delivered_to_lab'), reported: now },
  )
  await receiveReport(tx, open, report)
}

/** Wait for the registration, the visit or a date. Writes simulation. */
async function park(tx: Tx, plan: Plan): Promise<void> {
  await tx.run(sql`
    insert into simulation (order_id, team_id, plan) values (${plan.order_id}, ${tx.team}, ${JSON.stringify(plan)})
    on conflict (order_id) do update set plan = excluded.plan`)
}

const Parked = T.Object({ plan: Plan })

/** The plan of a simulation that waits, which does so no longer; the order's lock is its lock. Writes simulation. */
async function unpark(tx: Tx, order_id: string): Promise<Plan | undefined> {
  const parked = await tx.maybe(
    Parked,
    sql`delete from simulation where order_id = ${order_id} and team_id = ${tx.team} returning plan`,
  )
  return parked?.plan
}

const AWAITED = new Set(['registered', 'appointment_pending', 'appointment_scheduled', 'appointment_cancelled'])

/** Something happened that a simulation may have waited for: it goes on, or waits anew. Queues simulator.step or simulator.wake. */
export const orderHooks: Hook[] = [
  on(orderStepped, (tx, open, low) => {
    if (AWAITED.has(low)) return goOn(tx, open.order.id)
  }),
  on(orderRescheduled, async (tx, { order }) => {
    const parked = await tx.maybe(Parked, sql`select plan from simulation where order_id = ${order.id} and team_id = ${tx.team}`)
    if (parked) enqueue(tx, wakeSimulation, { order_id: order.id }, activation(tx, order.activate_by))
  }),
]

async function goOn(tx: Tx, order_id: string): Promise<void> {
  const plan = await unpark(tx, order_id)
  if (plan) enqueue(tx, simulateStep, plan, plusSeconds(tx.now, plan.delay_s))
}
