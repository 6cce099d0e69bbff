import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  SECONDS_PER_DAY,
  kit,
  getOrder,
  advanceClock,
  createOrder,
  registration,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { TO_LAB, atLab, toMeasured, numeric, unorderedResult, report, deliver, getResult } from '../../../test/support/reports.ts'

const UPDATED = 'labtest.order.updated'

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
  const shown = await getOrder(team, order.id)
  assert.equal(shown.last_event.status, 'completed.testkit.completed')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['normal', false])
  const { status, body } = await getResult(team, order.id)
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
  const { body } = await getResult(team, order.id)
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
    clinical_information: { notes: 'Fasting since noon', information: null, total_volume: null },
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
      unorderedResult('extra', { flag: 'IND' }),
      ...rest.map((item) => numeric(item)),
    ]),
  )
  const { body } = await getResult(team, order.id)
  const [a, b, c, d, extra] = body.results
  const common = {
    timestamp: '2030-01-04T08:00:00+00:00',
    performing_laboratory: order.lab_test.lab!.slug,
    source_sample_id: 'SPEC-1',
  }
  assert.deepEqual(a, {
    ...common,
    ...toMeasured(first!),
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
    ...toMeasured(second!),
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
    ...toMeasured(third!),
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
  assert.deepEqual([d.value, d.notes, d.interpretation], [-1, null, 'unknown'])
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
  assert.equal((await getOrder(team, order.id)).interpretation, 'unknown')
  assert.equal((await getResult(team, order.id)).body.metadata.interpretation, 'unknown')
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
  const { body } = await getResult(team, order.id)
  assert.equal(body.metadata['clia_#'], '99D0000001')
  assert.equal(body.metadata.laboratory, order.lab_test.lab!.name)
  assert.equal(body.results[0].performing_laboratory, 'elsewhere')
  assert.deepEqual(Object.keys(body.sample_information['SPEC-1'].performing_laboratories), ['elsewhere'])
})

test('a report with more results than can be printed is rejected', async () => {
  const { team, order } = await atLab()
  const results = Array.from({ length: 2001 }, (_, i) => unorderedResult(`result-${i}`))
  await assert.rejects(deliver(team, order.id, report(results)), { status: 400 })
})

test("the result of a registered kit names the patient who registered it and the kit's barcode", async () => {
  const team = await createTestTeam()
  const order = await kit(team)
  await team.api.post('/v3/order/testkit/register', registration(order.sample_id))
  await advanceTo(team, order.id, 'transit_lab', 'delivered_to_lab')
  await deliver(team, order.id, report([unorderedResult('any')]))
  const { body } = await getResult(team, order.id)
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
  assert.deepEqual((await team.api.get(path)).body, (await getResult(team, order.id)).body)
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const { status, body } = await team.api.get(path)
  assert.deepEqual([status, body], [200, (await getResult(team, order.id)).body])
  assert.equal(body.metadata.status, 'final')
})

test('the results of a deleted user are erased after the grace period and not before', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const other = await createOrder(team)
  await advanceTo(team, other.id, ...TO_LAB)
  await deliver(team, other.id, report([unorderedResult('any')]))
  await team.api.delete(`/v2/user/${order.user_id}`)
  await advanceClock(team, 6 * SECONDS_PER_DAY)
  assert.equal((await getResult(team, order.id)).status, 404)
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

test('a result without markers from the link belongs to the markers ordered under its name or code', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => ({ ...numeric(item), source_markers: null }))))
  const { results } = (await getResult(team, order.id)).body
  assert.deepEqual(
    results.map((result: { source_markers: unknown }) => result.source_markers),
    expected.map(({ source_markers }) => source_markers),
  )
})
