import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectedResults } from '../catalog/lab-tests.ts'
import type { DiagnosticReport, ReportedResult } from '../links/diagnostic-report.ts'
import { updateOrder } from '../orders/change-order.ts'
import type { Order } from '../orders/schema.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  SECONDS_PER_DAY,
  kit,
  orderOf,
  advanceClock,
  createOrder,
  registration,
  tenantOf,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam, guard, type TestTeam, type Reply } from '../../../test/support/server.ts'
import { expectations, type ExpectedResult } from './expected-results.ts'
import { receiveReport } from './results.ts'

const TO_LAB = ['requisition_created', 'transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab']
const UPDATED = 'labtest.order.updated'
const CRITICAL = 'labtest.result.critical'

/** A team with a kit at the laboratory. */
async function atLab(
  changes: Record<string, unknown> = {},
): Promise<{ team: TestTeam; order: Order; expected: ExpectedResult[] }> {
  const team = await createTestTeam()
  const order = await createOrder(team, changes)
  await advanceTo(team, order.id, ...TO_LAB)
  const markers = await team.db.tx(team.tenant, (tx) => expectedResults(tx, order.lab_test.id))
  return { team, order, expected: expectations(markers) }
}

const measured = ({ name, slug, provider_id, loinc, loinc_slug, source_markers }: ExpectedResult) => ({
  name,
  slug,
  provider_id,
  loinc,
  loinc_slug,
  source_markers,
})

const numeric = (item: ExpectedResult, result = '5', more: Partial<ReportedResult> = {}): ReportedResult => ({
  ...measured(item),
  type: 'numeric',
  result,
  unit: 'mg/dL',
  reference_range: '1-10',
  flag: '',
  notes: null,
  ...more,
})

const unordered = (slug: string, more: Partial<ReportedResult> = {}): ReportedResult => ({
  ...numeric({
    name: slug,
    slug,
    provider_id: null,
    loinc: null,
    loinc_slug: null,
    required: false,
    definition: null,
    source_markers: [],
  }),
  source_markers: null,
  ...more,
})

const report = (results: ReportedResult[], more: Partial<DiagnosticReport> = {}): DiagnosticReport => ({
  status: 'final',
  amended: false,
  specimen_number: 'SPEC-1',
  collected_at: '2030-01-02T08:00:00+00:00',
  received_at: '2030-01-03T08:00:00Z',
  reported_at: '2030-01-04T10:00:00+02:00',
  performing_laboratory: null,
  results,
  missing: [],
  ...more,
})

const deliver = ({ db, tenant }: TestTeam, id: string, given: DiagnosticReport) =>
  db.tx(tenant, (tx) => updateOrder(tx, id, (open) => receiveReport(tx, open, given)))

const resultOf = ({ api }: TestTeam, id: string): Promise<Reply> => api.get(`/v3/order/${id}/result`)

const Body = T.Object({ body: T.String() })
/** The critical result events of the team, oldest first. */
const criticalEvents = async ({ db, team }: TestTeam) =>
  (await db.queries.many(Body, sql`select body from event where team_id = ${team} and type = ${CRITICAL} order by id`)).map(
    ({ body }) => JSON.parse(body),
  )

test('an order without a report has no result in any form', async () => {
  const { team, order } = await atLab()
  for (const form of ['result', 'result/metadata', 'result/pdf']) {
    const { status, body, headers } = await team.api.get(`/v3/order/${order.id}/${form}`, { accept: 'application/pdf' })
    assert.equal(status, 404)
    assert.deepEqual(body, { detail: 'No result is available for this order' })
    assert.match(headers.get('content-type')!, /^application\/json/)
  }
})

test('reading a result of another team or of an unknown order returns 404', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const stranger = await createTestTeam()
  for (const form of ['result', 'result/metadata', 'result/pdf']) {
    const { status, body } = await stranger.api.get(`/v3/order/${order.id}/${form}`)
    assert.deepEqual([status, body], [404, { detail: 'Order not found' }])
  }
  for (const form of ['result', 'result/pdf']) {
    const { status, body } = await stranger.api.get(`/v3/order_transaction/${order.order_transaction.id}/${form}`)
    assert.deepEqual([status, body], [404, { detail: 'Order transaction not found' }])
  }
})

test('a final report completes the order and appears in it', async () => {
  const { team, order, expected } = await atLab()
  const before = await team.events(order.id)
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  assert.deepEqual((await team.events(order.id)).slice(before.length), [UPDATED])
  const shown = await orderOf(team, order.id)
  assert.equal(shown.last_event.status, 'completed.testkit.completed')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['normal', false])
  const { status, body } = await resultOf(team, order.id)
  assert.equal(status, 200)
  assert.equal(body.results.length, expected.length)
  assert.deepEqual(body.missing_results, [])
  assert.deepEqual(body.order_transaction, shown.order_transaction)
  assert.equal(body.order_transaction.status, 'completed')
})

test('a result shows patient, laboratory and times', async () => {
  const physician = { first_name: 'Phyllis', last_name: 'Imaginary', npi: '1234567893' }
  const { team, order, expected } = await atLab({ physician, clinical_notes: 'Fasting since noon' })
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const { body } = await resultOf(team, order.id)
  const { medical_director } = Object.values(body.sample_information['SPEC-1'].performing_laboratories)[0] as Record<
    string,
    string
  >
  assert.ok(medical_director)
  assert.match(body.metadata.clia_number, /^\w+$/)
  assert.deepEqual(body.metadata, {
    age: '39',
    dob: '1990-01-31',
    'clia_#': body.metadata.clia_number,
    clia_number: body.metadata.clia_number,
    patient: 'Testa Fictional',
    provider: 'Phyllis Imaginary',
    laboratory: order.lab_test.lab!.name,
    date_reported: '2030-01-04T08:00:00+00:00',
    date_collected: '2030-01-02T08:00:00+00:00',
    specimen_number: 'SPEC-1',
    date_received: '2030-01-03T08:00:00+00:00',
    status: 'final',
    interpretation: 'normal',
    patient_id: order.user_id,
    account_id: null,
  })
  const lab = order.lab_test.lab!
  const { performing_laboratories, ...sample } = body.sample_information['SPEC-1']
  assert.deepEqual(sample, {
    sample_id: 'SPEC-1',
    control_number: null,
    date_collected: '2030-01-02T08:00:00+00:00',
    date_received: '2030-01-03T08:00:00+00:00',
    date_reported: '2030-01-04T08:00:00+00:00',
    clinical_information: { fasting: order.lab_test.fasting, notes: 'Fasting since noon', information: null, total_volume: null },
  })
  assert.equal(performing_laboratories[lab.slug].address.first_line, lab.first_line_address)
  const metadata = await team.api.get(`/v3/order/${order.id}/result/metadata`)
  assert.deepEqual([metadata.status, metadata.body], [200, body.metadata])
})

test('each type of result is shown in its form', async () => {
  const { team, order, expected } = await atLab()
  const [first, second, third, fourth, ...rest] = expected
  await deliver(
    team,
    order.id,
    report([
      numeric(first!, '11.5', { flag: 'H', notes: 'Repeated' }),
      numeric(second!, '>2000', { type: 'range', reference_range: '<1,100' }),
      numeric(third!, 'Positive', { type: 'comment', reference_range: 'Negative', unit: null, flag: 'POS', notes: 'Weakly so' }),
      numeric(fourth!, 'NOT_DETECTED', { type: 'coded_value', reference_range: null, unit: null }),
      unordered('extra', { flag: 'IND' }),
      ...rest.map((item) => numeric(item)),
    ]),
  )
  const { body } = await resultOf(team, order.id)
  const [a, b, c, d, extra] = body.results
  const common = {
    timestamp: '2030-01-04T08:00:00+00:00',
    performing_laboratory: order.lab_test.lab!.slug,
    source_sample_id: 'SPEC-1',
  }
  assert.deepEqual(a, {
    ...common,
    ...measured(first!),
    value: 11.5,
    result: '11.5',
    type: 'numeric',
    unit: 'mg/dL',
    notes: 'Repeated',
    reference_range: '1-10',
    min_range_value: 1,
    max_range_value: 10,
    is_above_max_range: true,
    is_below_min_range: false,
    interpretation: 'abnormal',
    source_interpretation: 'H',
  })
  assert.deepEqual(b, {
    ...common,
    ...measured(second!),
    value: -1,
    result: '>2000',
    type: 'range',
    unit: 'mg/dL',
    notes: '>2000',
    reference_range: '<1,100',
    min_range_value: null,
    max_range_value: 1100,
    is_above_max_range: true,
    is_below_min_range: false,
    interpretation: 'abnormal',
    source_interpretation: '',
  })
  assert.deepEqual(c, {
    ...common,
    ...measured(third!),
    value: -1,
    result: 'Positive',
    type: 'comment',
    unit: null,
    notes: 'Positive\nWeakly so',
    reference_range: 'Negative',
    min_range_value: null,
    max_range_value: null,
    is_above_max_range: null,
    is_below_min_range: null,
    interpretation: 'abnormal',
    source_interpretation: 'POS',
  })
  assert.deepEqual([d.value, d.notes, d.interpretation], [-1, null, 'normal'])
  assert.deepEqual([extra.source_markers, extra.interpretation, extra.source_interpretation], [null, 'unknown', 'IND'])
  assert.equal(body.metadata.interpretation, 'abnormal')
})

test('the report-level interpretation overrides the marker interpretations', async () => {
  const { team, order, expected } = await atLab()
  await deliver(
    team,
    order.id,
    report(
      expected.map((item) => numeric(item)),
      { interpretation: 'unknown' },
    ),
  )
  assert.equal((await orderOf(team, order.id)).interpretation, 'unknown')
  assert.equal((await resultOf(team, order.id)).body.metadata.interpretation, 'unknown')
})

test('the performing laboratory is shown if it differs from the ordering one', async () => {
  const { team, order, expected } = await atLab()
  const elsewhere = {
    id: 'elsewhere',
    name: 'Elsewhere Laboratory',
    clia: '99D0000001',
    phone_number: null,
    medical_director: 'Ann Invented, MD',
    address: null,
  }
  await deliver(
    team,
    order.id,
    report(
      expected.map((item) => numeric(item)),
      { performing_laboratory: elsewhere },
    ),
  )
  const { body } = await resultOf(team, order.id)
  assert.equal(body.metadata['clia_#'], '99D0000001')
  assert.equal(body.metadata.laboratory, order.lab_test.lab!.name)
  assert.equal(body.results[0].performing_laboratory, 'elsewhere')
  assert.deepEqual(Object.keys(body.sample_information['SPEC-1'].performing_laboratories), ['elsewhere'])
})

test('a partial result is readable, emits no event, and is replaced by the final result', async () => {
  const { team, order, expected } = await atLab()
  const before = await team.events(order.id)
  await deliver(team, order.id, report([numeric(expected[0]!, '50')], { status: 'partial' }))
  assert.deepEqual(await team.events(order.id), before)
  const shown = await orderOf(team, order.id)
  assert.equal(shown.last_event.status, 'sample_with_lab.testkit.delivered_to_lab')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['abnormal', false])
  const partial = (await resultOf(team, order.id)).body
  assert.deepEqual([partial.metadata.status, partial.results.length, partial.missing_results], ['partial', 1, []])
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const final = (await resultOf(team, order.id)).body
  assert.deepEqual([final.metadata.status, final.results.length], ['final', expected.length])
  assert.equal((await orderOf(team, order.id)).interpretation, 'normal')
})

test('results that a final report omits or that the laboratory could not measure are missing', async () => {
  const { team, order, expected } = await atLab()
  const [silent, refused, ...rest] = expected
  const missing = [{ ...measured(refused!), failure: 'quantity_not_sufficient_failure' as const, note: 'Half a drop' }]
  await deliver(
    team,
    order.id,
    report(
      rest.map((item) => numeric(item)),
      { missing },
    ),
  )
  const { body } = await resultOf(team, order.id)
  assert.deepEqual(body.missing_results, [
    { ...measured(refused!), inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Half a drop' },
    { ...measured(silent!), inferred_failure_type: 'unknown_failure', note: null },
  ])
  assert.equal((await orderOf(team, order.id)).has_missing_results, true)
})

test('a result with an unknown name but the expected code is not missing', async () => {
  const { team, order, expected } = await atLab()
  const [first, ...rest] = expected
  assert.ok(first!.loinc)
  const renamed = numeric(first!, '5', { name: "The laboratory's name", slug: 'of-the-laboratory' })
  await deliver(team, order.id, report([renamed, ...rest.map((item) => numeric(item))]))
  assert.deepEqual((await resultOf(team, order.id)).body.missing_results, [])
})

test('an order without any reportable result fails and lists the missing results', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report([]))
  const shown = await orderOf(team, order.id)
  assert.equal(shown.last_event.status, 'failed.testkit.sample_error')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['unknown', true])
  const { body } = await resultOf(team, order.id)
  assert.deepEqual([body.results, body.missing_results.length], [[], expected.length])
})

test('a final report after the final one corrects the result', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  for (const value of ['50', '60']) {
    await deliver(
      team,
      order.id,
      report(
        expected.map((item) => numeric(item, value)),
        { amended: true },
      ),
    )
    const shown = await orderOf(team, order.id)
    assert.equal(shown.last_event.status, 'completed.testkit.corrected')
    assert.equal(shown.interpretation, 'abnormal')
    assert.equal((await resultOf(team, order.id)).body.results[0].result, value)
  }
})

test('a report for an order that is not at the laboratory is rejected and changes nothing', async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  const before = await team.events(order.id)
  for (const [status, target] of [
    ['final', 'completed'],
    ['partial', 'partial_results'],
  ] as const)
    await assert.rejects(deliver(team, order.id, report([unordered('any', { flag: 'CRIT' })], { status })), {
      status: 400,
      body: { detail: `Transition from ordered to ${target} is not allowed` },
    })
  assert.deepEqual(await team.events(order.id), before)
  assert.equal((await resultOf(team, order.id)).status, 404)
  assert.deepEqual(await orderOf(team, order.id), order)
})

test('a late partial report does not replace the final one', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  await assert.rejects(deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' })), { status: 400 })
  assert.equal((await resultOf(team, order.id)).body.metadata.status, 'final')
})

test('a report with more results than can be printed is rejected', async () => {
  const { team, order } = await atLab()
  const results = Array.from({ length: 2001 }, (_, i) => unordered(`result-${i}`))
  await assert.rejects(deliver(team, order.id, report(results)), { status: 400 })
})

test('emits a critical event immediately, also for a partial result', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report([numeric(expected[0]!, '99', { flag: 'HH' })], { status: 'partial' }))
  const [event, ...others] = await criticalEvents(team)
  assert.deepEqual(others, [])
  const { created_at } = event.data
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const user = await team.api.get(`/v2/user/${order.user_id}`)
  assert.deepEqual(event, {
    event_type: CRITICAL,
    team_id: team.team,
    user_id: order.user_id,
    client_user_id: user.body.client_user_id,
    data: {
      order_id: order.id,
      sample_id: 'SPEC-1',
      status: 'partial',
      interpretation: 'critical',
      team_id: team.team,
      user_id: order.user_id,
      created_at,
      updated_at: created_at,
    },
  })
})

test('a critical result emits one event, and another result that turns critical emits another', async () => {
  const { team, order, expected } = await atLab()
  const reportWith = (criticalCount: number, more: Partial<DiagnosticReport> = {}) =>
    report(
      expected.map((item, i) => numeric(item, '5', { flag: i < criticalCount ? 'CRIT' : '' })),
      more,
    )
  const eventsAfter = async (given: DiagnosticReport): Promise<string[]> => {
    const before = await team.events(order.id)
    await deliver(team, order.id, given)
    return (await team.events(order.id)).slice(before.length)
  }
  assert.deepEqual(await eventsAfter(reportWith(0, { status: 'partial' })), [])
  assert.deepEqual(await eventsAfter(reportWith(1, { status: 'partial' })), [CRITICAL])
  assert.deepEqual(await eventsAfter(reportWith(1, { status: 'partial' })), [])
  assert.deepEqual(await eventsAfter(reportWith(1)), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(2, { amended: true })), [CRITICAL, UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(2, { amended: true })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true, interpretation: 'critical' })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true, interpretation: 'critical' })), [CRITICAL, UPDATED])
})

test('a critical event has the times of the first and of the latest report', async () => {
  const { team, order, expected } = await atLab()
  const later = new Date('2040-01-01T00:00:00Z')
  await deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' }))
  await team.db.tx(
    team.tenant,
    (tx) => updateOrder(tx, order.id, (open) => receiveReport(tx, open, report([numeric(expected[0]!, '99', { flag: 'HH' })]))),
    later,
  )
  const [{ data }] = await criticalEvents(team)
  assert.equal(data.updated_at, '2040-01-01T00:00:00+00:00')
  assert.ok(data.created_at < data.updated_at)
})

test("the result of a registered kit names the patient who registered it and the kit's barcode", async () => {
  const team = await createTestTeam()
  const order = await kit(team)
  await team.api.post('/v3/order/testkit/register', registration(order.sample_id))
  await advanceTo(team, order.id, 'transit_lab', 'delivered_to_lab')
  await deliver(team, order.id, report([unordered('any')]))
  const { body } = await resultOf(team, order.id)
  assert.equal(body.metadata.patient, 'Testa Fictional')
  assert.deepEqual(Object.keys(body.sample_information), [order.sample_id])
  assert.equal(body.results[0].source_sample_id, order.sample_id)
  const { headers } = await team.api.get(`/v3/order/${order.id}/result/pdf`)
  assert.equal(headers.get('content-disposition'), `attachment; filename="${order.sample_id}.pdf"`)
})

test('the results of an order and of its transaction are available as PDF', async () => {
  const { team, order, expected } = await atLab()
  await deliver(
    team,
    order.id,
    report(
      expected.map((item) => numeric(item)),
      { missing: [] },
    ),
  )
  const { id } = order.order_transaction
  for (const [path, name] of [
    [`/v3/order/${order.id}/result/pdf`, order.id],
    [`/v3/order_transaction/${id}/result/pdf`, id],
  ]) {
    const { status, body, headers } = await team.api.get(path!)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/pdf')
    assert.equal(headers.get('content-disposition'), `attachment; filename="${name}.pdf"`)
    assert.equal(body.subarray(0, 5).toString('latin1'), '%PDF-')
  }
})

test('the result of a transaction is that of its order, and is final once the transaction is completed', async () => {
  const { team, order, expected } = await atLab()
  const path = `/v3/order_transaction/${order.order_transaction.id}/result`
  assert.deepEqual((await team.api.get(path)).body, { detail: 'No result is available for this order transaction' })
  await deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' }))
  assert.deepEqual((await team.api.get(path)).body, (await resultOf(team, order.id)).body)
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const { status, body } = await team.api.get(path)
  assert.deepEqual([status, body], [200, (await resultOf(team, order.id)).body])
  assert.equal(body.metadata.status, 'final')
})

test('the results of a deleted user are erased after the grace period and not before', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const other = await createOrder(team)
  await advanceTo(team, other.id, ...TO_LAB)
  await deliver(team, other.id, report([unordered('any')]))
  await team.api.delete(`/v2/user/${order.user_id}`)
  await advanceClock(team, 6 * SECONDS_PER_DAY)
  assert.equal((await resultOf(team, order.id)).status, 404)
  const { n } = await team.db.queries.one(
    T.Object({ n: T.Integer() }),
    sql`select count(*) as n from lab_result where order_id = ${order.id}`,
  )
  assert.equal(n, 1)
  await advanceClock(team, 2 * SECONDS_PER_DAY)
  const left = await team.db.queries.many(
    T.Object({ order_id: T.String() }),
    sql`select order_id from lab_result where team_id = ${team.team}`,
  )
  assert.deepEqual(left, [{ order_id: other.id }])
})

test("a critical result is also sent by email to the team's configured address, without patient data", async () => {
  const { team, order, expected } = await atLab()
  const to = `critical-${order.id}@clinic.example`
  await team.manage.patch(`/team/${team.team}`, { sandbox: { critical_result_notification_email: to } })
  guard.invalidate(team.team)
  await team.db.tx(await tenantOf(team), (tx) =>
    updateOrder(tx, order.id, (open) =>
      receiveReport(tx, open, report(expected.map((item, i) => numeric(item, '5', { flag: i === 0 ? 'HH' : '' })))),
    ),
  )
  const mails = await team.db.queries.many(
    T.Object({ subject: T.String(), body: T.String() }),
    sql`select subject, body from mail where recipient = ${to}`,
  )
  assert.equal(mails.length, 1)
  assert(mails[0]!.body.includes(order.id))
  assert.doesNotMatch(mails[0]!.subject + mails[0]!.body, /Testa|Fictional|1990/)
})

test('a signal of the multi-cancer test makes all results of that test critical, and none of other tests', async () => {
  const { team, order, expected } = await atLab()
  const coded = (slug: string, provider_id: string, result: string, more: Partial<ReportedResult> = {}) =>
    unordered(slug, { provider_id, result, type: 'coded_value', unit: null, reference_range: null, ...more })
  await deliver(
    team,
    order.id,
    report([
      coded('galleri-cancer-signal', '86038987', 'DETECTED'),
      coded('galleri-cancer-origin', '86038987_1', 'A_PLACE_NOBODY_KNOWS'),
      coded('galleri-comment-1', '86038987_3', 'See the report', { type: 'comment' }),
      ...expected.map((item) => numeric(item)),
    ]),
  )
  const { results, metadata } = (await resultOf(team, order.id)).body
  assert.deepEqual(
    results
      .slice(0, 4)
      .map((r: { result: string; value: number; interpretation: string }) => [r.result, r.value, r.interpretation]),
    [
      ['DETECTED', -1, 'critical'],
      ['A_PLACE_NOBODY_KNOWS', -1, 'critical'],
      ['See the report', -1, 'critical'],
      ['5', 5, 'normal'],
    ],
  )
  assert.equal(metadata.interpretation, 'critical')
})

test('a result without markers from the link belongs to the markers ordered under its name or code', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => ({ ...numeric(item), source_markers: null }))))
  const { results } = (await resultOf(team, order.id)).body
  assert.deepEqual(
    results.map((result: { source_markers: unknown }) => result.source_markers),
    expected.map(({ source_markers }) => source_markers),
  )
})

test('every partial report emits an event for a team that enabled these events', async () => {
  const team = await createTestTeam()
  await team.manage.patch(`/team/${team.team}`, { sandbox: { partial_webhooks_enabled: true } })
  guard.invalidate(team.team)
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
  await advanceTo(team, order.id, 'requisition_created')
  const tenant = await tenantOf(team)
  const markers = await team.db.tx(tenant, (tx) => expectedResults(tx, order.lab_test.id))
  const [first] = expectations(markers)
  for (let n = 0; n < 2; n++)
    await team.db.tx(tenant, (tx) =>
      updateOrder(tx, order.id, (open) => receiveReport(tx, open, report([numeric(first!)], { status: 'partial' }))),
    )
  const shown = await orderOf(team, order.id)
  assert.deepEqual(
    shown.events.slice(-2).map(({ status }) => status),
    ['sample_with_lab.walk_in_test.partial_results', 'sample_with_lab.walk_in_test.partial_results'],
  )
  assert.deepEqual((await team.events(order.id)).slice(-2), [UPDATED, UPDATED])
  assert.equal((await resultOf(team, order.id)).body.metadata.status, 'partial')
})
