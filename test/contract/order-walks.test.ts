// Whatever happens to orders, in whatever order: their events follow their tables, their transactions are what their orders make of them,
// every step emitted an event, and no appointment disagrees with its order. 30 walks of 100 operations (`WALKS` for another number), each
// walk with a team of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lifecycleOf, closedStatuses, type LifecycleName } from '../../src/lab/orders/lifecycle.ts'
import { nextStatuses, toLowLevelStatus, publishedStatus } from '../../src/lab/orders/status-machine.ts'
import { transactionStatus } from '../../src/lab/orders/locked-order.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { switchOption } from '../../src/tenancy/teams/teams.ts'
import { assertAgreement } from '../support/appointments.ts'
import { patient, registration, shipping } from '../support/orders.ts'
import { receiveResult, deliveryFor, reportedPatient } from '../support/results.ts'
import { avenue, street, usAddress } from '../support/home-visits.ts'
import { cells, createTestTeam, guard, type TestTeam, type Reply } from '../support/server.ts'

const WALKS = Number(process.env.WALKS ?? 30)
const STEPS = 100

/** What is done: to which of the team's orders, and three numbers that choose the rest. */
interface Act {
  name: keyof typeof acts
  order: number
  a: number
  b: number
}

interface Walk {
  team: TestTeam
  users: string[]
  tests: Record<string, string>
  orders: string[]
  /** Keys of free times, of service centers and of visits, as they were offered once. */
  keys: { psc: string[]; visit: string[] }
}

const itemAt = <X>(list: readonly X[], n: number): X => list[n % list.length]!
const methods = ['walk_in_test', 'at_home_phlebotomy', 'on_site_collection', 'testkit'] as const

/** Nothing that is asked is a fault of the server; what is refused is refused by the rules. */
function sound(reply: Reply, ...also: number[]): Reply {
  assert.ok([200, 400, 404, 422, ...also].includes(reply.status), `${reply.status} ${JSON.stringify(reply.body)}`)
  return reply
}

const read = async ({ team }: Walk, id: string): Promise<Order> => (await team.api.get(`/v3/order/${id}`)).body as Order

const acts = {
  place: async (walk: Walk, { a, b }: Act) => {
    const { body } = sound(
      await walk.team.api.post('/v3/order', {
        user_id: itemAt(walk.users, b),
        lab_test_id: walk.tests[itemAt(methods, a)],
        patient_details: patient,
        patient_address: a % 3 ? street : avenue,
        ...(b % 4 === 0 && { activate_by: '2100-01-31' }),
      }),
    )
    walk.orders.push(body.order.id)
  },
  kit: async (walk: Walk) => {
    const ordered = { user_id: walk.users[0], lab_test_id: walk.tests.testkit, shipping_details: shipping }
    walk.orders.push(sound(await walk.team.api.post('/v3/order/testkit', ordered)).body.order.id)
  },
  import: async (walk: Walk, { a, b }: Act) => {
    const { status, body } = sound(
      await walk.team.api.post('/v3/order/import', {
        user_id: itemAt(walk.users, b),
        billing_type: 'client_bill',
        order_set: { lab_test_ids: [walk.tests[itemAt(methods, a)]] },
        collection_method: itemAt(methods, a),
        patient_details: patient,
        patient_address: { ...street, receiver_name: '' },
        sample_id: `FICTIONAL-${b % 40}`,
      }),
    )
    if (status === 200) walk.orders.push(body.order.id)
  },
  register: async (walk: Walk, { order }: Act) => {
    const { sample_id } = await read(walk, itemAt(walk.orders, order))
    sound(await walk.team.api.post('/v3/order/testkit/register', registration(sample_id ?? 'none')))
  },
  cancel: async (walk: Walk, { order }: Act) =>
    void sound(await walk.team.api.post(`/v3/order/${itemAt(walk.orders, order)}/cancel`)),
  draw: async (walk: Walk, { order }: Act) =>
    void sound(await walk.team.api.patch(`/v3/order/${itemAt(walk.orders, order)}/draw_completed`)),
  schedule: async (walk: Walk, { order, a }: Act) =>
    void sound(
      await walk.team.api.patch(`/v3/order/${itemAt(walk.orders, order)}`, {
        activate_by: a % 2 ? null : `2100-0${1 + (a % 9)}-01`,
      }),
    ),
  simulate: async (walk: Walk, { order, a, b }: Act) => {
    const { id, lab_test } = await read(walk, itemAt(walk.orders, order))
    const names = (Object.entries(lifecycles()) as [LifecycleName, string][]).filter(([, method]) => method === lab_test.method)
    const cycle = lifecycleOf(itemAt(names, b)[0])
    const target = publishedStatus(cycle, itemAt(Object.keys(cycle.steps), a))
    sound(
      await walk.team.api.post(`/v3/order/${id}/test?delay=${b % 3}${a % 4 ? '' : `&final_status=${target}`}`, {
        interpretation: itemAt(['normal', 'abnormal', 'critical'], b),
        has_missing_results: b % 5 === 0,
      }),
    )
  },
  book: async (walk: Walk, { order, a }: Act) => {
    const { id, lab_test } = await read(walk, itemAt(walk.orders, order))
    const atHome = lab_test.method === 'at_home_phlebotomy'
    const booking_key = itemAt(atHome ? walk.keys.visit : walk.keys.psc, a)
    sound(await walk.team.api.post(`/v3/order/${id}/${atHome ? 'phlebotomy' : 'psc'}/appointment/book`, { booking_key }))
  },
  request: async (walk: Walk, { order }: Act) => {
    const asked = { address: usAddress(avenue), provider: 'phlebfinders' }
    sound(await walk.team.api.post(`/v3/order/${itemAt(walk.orders, order)}/phlebotomy/appointment/request`, asked))
  },
  move: async (walk: Walk, { order, a }: Act) => {
    const { id, lab_test } = await read(walk, itemAt(walk.orders, order))
    const atHome = lab_test.method === 'at_home_phlebotomy'
    const booking_key = itemAt(atHome ? walk.keys.visit : walk.keys.psc, a)
    sound(await walk.team.api.patch(`/v3/order/${id}/${atHome ? 'phlebotomy' : 'psc'}/appointment/reschedule`, { booking_key }))
  },
  callOff: async (walk: Walk, { order }: Act) => {
    const { id, lab_test } = await read(walk, itemAt(walk.orders, order))
    const kind = lab_test.method === 'at_home_phlebotomy' ? 'phlebotomy' : 'psc'
    const [reason] = (await walk.team.api.get(`/v3/order/${kind}/appointment/cancellation-reasons`)).body
    const named = kind === 'psc' ? { cancellationReasonId: reason.id } : { cancellation_reason_id: reason.id }
    sound(await walk.team.api.patch(`/v3/order/${id}/${kind}/appointment/cancel`, named))
  },
  report: async (walk: Walk, { order, a, b }: Act) => {
    const found = await read(walk, itemAt(walk.orders, order))
    const delivery = await deliveryFor(walk.team, found)
    const { report } = delivery
    if (a % 3 === 0) report.status = 'partial'
    if (a % 5 === 0) report.results = report.results.slice(1)
    if (b % 7 === 0) delivery.sample_id = 'FICTIONAL-0'
    if (b % 4 === 0) delivery.patient = { ...reportedPatient, last_name: 'Other' }
    await receiveResult(walk.team, delivery)
  },
  review: async (walk: Walk, { order, a }: Act) => {
    const { data } = sound(await walk.team.api.get('/v3/unmatched_result')).body as { data: { id: string }[] }
    if (data.length === 0) return
    const path = `/v3/unmatched_result/${itemAt(data, a).id}`
    const attached = a % 3 ? { order_id: itemAt(walk.orders, order) } : {}
    const { status, body } = sound(
      a % 4
        ? await walk.team.api.post(`${path}/accept`, attached)
        : await walk.team.api.post(`${path}/resolve`, { action: 'reject' }),
    )
    if (status === 200 && body.order_transaction && !walk.orders.includes(body.id)) walk.orders.push(body.id)
  },
  work: (walk: Walk) => walk.team.settle(),
  wait: async (walk: Walk, { a }: Act) =>
    void sound(await walk.team.api.post('/v1/sandbox/clock/advance', { seconds: 1 + (a % 200_000) })),
}

/** Free times as they are offered at the beginning; later some are past. */
async function listOfferedKeys({ api }: TestTeam): Promise<Walk['keys']> {
  const keysOf = ({ body }: Reply): string[] =>
    (body as { slots: { slots: { booking_key: string }[] }[] }).slots.flatMap((day) => day.slots.map((slot) => slot.booking_key))
  return {
    psc: keysOf(sound(await api.post('/v3/order/psc/appointment/availability?lab=quest&zip_code=85004'))),
    visit: keysOf(sound(await api.post('/v3/order/phlebotomy/appointment/availability', usAddress(street)))),
  }
}

const lifecycles = (): Record<string, string> => ({
  testkit: 'testkit',
  registrable_testkit: 'testkit',
  walk_in_test: 'walk_in_test',
  at_home_phlebotomy: 'at_home_phlebotomy',
  on_site_collection: 'on_site_collection',
})

const anAct = fc.record<Act>({
  name: fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[])),
  order: fc.nat(1000),
  a: fc.nat(200_000),
  b: fc.nat(1000),
})

const Row = T.Object({ id: T.String(), lifecycle_name: T.String(), low_level_status: T.String(), document: T.String() })
const EmittedEvent = T.Object({ object_id: T.String(), type: T.String(), body: T.String() })

/** Every order of the team against its table and its transaction. */
async function assertSound({ team }: Walk): Promise<void> {
  const rows = await team.db.queries.many(
    Row,
    sql`select id, lifecycle_name, low_level_status, document from lab_order where team_id = ${team.team}`,
  )
  const emitted = await team.db.queries.many(
    EmittedEvent,
    sql`select object_id, type, body from event where team_id = ${team.team} order by id`,
  )
  const lows = new Map(rows.map(({ id, low_level_status }) => [id, low_level_status]))
  for (const { id, lifecycle_name: lifecycle, low_level_status, document } of rows) {
    const order = JSON.parse(document) as Order
    const cycle = lifecycleOf(lifecycle)
    const steps = order.events.map(({ status }) => toLowLevelStatus(status.split('.').at(-1)!))
    assert.deepEqual(
      order.events.map(({ status }) => status),
      steps.map((low) => publishedStatus(cycle, low)),
    )
    assert.equal(steps[0], cycle.start)
    for (const [i, low] of steps.entries())
      if (i > 0 && !(order.events[i]!.status_detail === 'fulfillment_error' && low === steps[i - 1]))
        assert.ok(nextStatuses(cycle, steps[i - 1]!).includes(low), `${lifecycle}: ${steps[i - 1]} → ${low}`)
    assert.deepEqual([order.last_event, low_level_status], [order.events.at(-1), steps.at(-1)])
    assert.deepEqual(
      order.events.map((event) => event.id),
      order.events.map((event) => event.id).toSorted((x, y) => x - y),
    )
    const { orders, status } = order.order_transaction
    for (const member of orders) assert.equal(member.low_level_status, lows.get(member.id), member.id)
    assert.equal(status, transactionStatus(orders.map((member) => lows.get(member.id)!)))
    assert.equal(
      status === 'active',
      orders.some((member) => !closedStatuses.has(lows.get(member.id)!)),
    )
    // Every step emitted one event, with the order as of then; this team receives no events for partial results.
    const mine = emitted.filter((event) => event.object_id === id && event.type.startsWith('labtest.order.'))
    assert.deepEqual(
      mine.map(({ body }) => (JSON.parse(body) as { data: Order }).data.last_event),
      order.events.filter(({ status: shown }) => !shown.endsWith('.partial_results')),
    )
    assert.deepEqual(
      mine.map(({ type }) => type),
      mine.map((_, i) => (i === 0 ? 'labtest.order.created' : 'labtest.order.updated')),
    )
  }
}

test('random operation sequences keep order, transaction and events consistent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anAct, { minLength: STEPS, maxLength: STEPS }), async (list) => {
      const team = await createTestTeam()
      const tests = Object.fromEntries(await Promise.all(methods.map(async (method) => [method, await team.test(method)])))
      const users = await Promise.all([0, 1, 2].map(() => team.user()))
      const walk: Walk = { team, users, tests, orders: [], keys: await listOfferedKeys(team) }
      for (const option of ['redraws', 'pre_requisition_scheduling'])
        if (list.length % 2 || list[0]!.b % 2)
          await cells.db(team.cell).plainTx((tx) => switchOption(tx, team.team, option, true))
      guard.invalidate(team.team)
      for (const method of [0, 1, 2, 3]) await acts.place(walk, { name: 'place', order: 0, a: method, b: 1 })
      await acts.kit(walk)
      for (const act of list) await acts[act.name](walk, act)
      await team.settle()
      await assertSound(walk)
      await assertAgreement(team)
    }),
    { numRuns: WALKS, endOnFailure: process.env.SHRINK === undefined },
  )
})
