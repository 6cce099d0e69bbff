// Manually entered reports, and uploaded documents of the laboratory.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getOrder } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import {
  a1c,
  staffAction,
  orderAtLab,
  details,
  staffActionOk,
  finalReport,
  lowLevelStatuses,
  createAcceptedOrder,
  production,
  createTestWith,
} from '../../../test/support/fulfillment.ts'
import { examplePdf } from './schema.ts'

const team = await production()
const readResult = async (owner: TestTeam, { id }: { id: string }) => (await owner.api.get(`/v3/order/${id}/result`)).body
const readResultPdf = (owner: TestTeam, { id }: { id: string }) => owner.api.get(`/v3/order/${id}/result/pdf`)

/** An accepted walk-in order of these markers. */
async function createAcceptedOrderOf(...provider_ids: string[]) {
  const order = await createAcceptedOrder(team, 'walk_in_test', {
    lab_test_id: await createTestWith(team, 'walk_in_test', ...provider_ids),
  })
  await staffActionOk(team, order, 'accept')
  return order
}

describe('entering a report', () => {
  test('a report is checked against ranges, flags and units, and omitted results are missing', async () => {
    const order = await createAcceptedOrderOf('MAN-TSH', 'MAN-LIPID')
    const { expected_results } = await details(team, order)
    assert.deepEqual(expected_results[0], {
      analyte: 'tsh',
      name: 'TSH',
      loinc: '3016-3',
      type: 'numeric',
      unit: 'u[IU]/mL',
      required: true,
    })
    const results = [
      { analyte: '3016-3', value: '7.1', unit: 'µIU/mL', reference_range: '0.40-4.50', flag: 'H' },
      { analyte: 'triglycerides', value: '> 1,000', reference_range: '<150', flag: 'HH', notes: 'Repeated.' },
      { analyte: 'hdl-cholesterol', value: '55', reference_range: '>=40' },
    ]
    const missing = [{ analyte: 'ldl-cholesterol', failure: 'missing_result_calc_failure', note: 'Triglycerides too high.' }]
    await staffActionOk(team, order, 'result', { status: 'final', results, missing })
    const shown = await readResult(team, order)
    assert.deepEqual(
      shown.results.map((result: Record<string, unknown>) => [
        result.slug,
        result.result,
        result.type,
        result.unit,
        result.interpretation,
      ]),
      [
        ['tsh', '7.1', 'numeric', 'µIU/mL', 'abnormal'],
        ['triglycerides', '>1000', 'range', 'mg/dL', 'critical'],
        ['hdl-cholesterol', '55', 'numeric', 'mg/dL', 'normal'],
      ],
    )
    assert.deepEqual(shown.missing_results[0].inferred_failure_type, 'missing_result_calc_failure')
    assert(shown.missing_results.some(({ slug }: { slug: string }) => slug === 'cholesterol-total'))
    const { interpretation, has_missing_results } = await getOrder(team, order.id)
    assert.deepEqual([interpretation, has_missing_results], ['critical', true])
    assert((await team.events(order.id)).includes('labtest.result.critical'))
  })

  test('an invalid report is rejected with all field errors and changes nothing', async () => {
    const order = await createAcceptedOrderOf('MAN-A1C', 'MAN-TSH')
    const { status, body } = await staffAction(team, order, 'result', {
      status: 'final',
      reported_at: '2100-01-31T00:00:00Z',
      results: [{ ...a1c, unit: 'mmol/mol' }, { analyte: 'ferritin', value: '1' }, { analyte: 'tsh', value: 'see note' }, a1c],
      missing: [{ analyte: 'tsh', failure: 'unknown_failure' }],
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc }: { loc: (string | number)[] }) => loc.join('.')),
      [
        'body.results.0.unit',
        'body.results.1.analyte',
        'body.results.2.value',
        'body.results.3.analyte',
        'body.missing.0.analyte',
        'body.reported_at',
      ],
    )
    assert.equal((await team.api.get(`/v3/order/${order.id}/result`)).status, 404)
    assert.equal((await lowLevelStatuses(team, order)).length, 2)
  })

  test('partial reports are accepted, and each emits one event', async () => {
    const order = await createAcceptedOrderOf('MAN-A1C', 'MAN-TSH')
    const partial = { status: 'partial', results: [a1c] }
    const whole = { status: 'final', results: [a1c, { analyte: 'tsh', value: '2.1' }] }
    for (const report of [partial, partial, whole, whole]) await staffActionOk(team, order, 'result', report)
    assert.deepEqual((await lowLevelStatuses(team, order)).slice(2), [
      'sample_with_lab.walk_in_test.partial_results',
      'completed.walk_in_test.completed',
    ])
    assert.deepEqual((await readResult(team, order)).missing_results, [])
  })

  test('a partial report of a kit is readable and does not change the status', async () => {
    const order = await orderAtLab(team)
    await staffActionOk(team, order, 'result', { status: 'partial', results: [a1c] })
    assert.equal((await readResult(team, order)).metadata.status, 'partial')
    assert.equal((await lowLevelStatuses(team, order)).at(-1), 'sample_with_lab.testkit.delivered_to_lab')
  })

  test('a final report can be changed by an amended report only', async () => {
    const order = await orderAtLab(team)
    const amended = { status: 'final', amended: true, results: [{ ...a1c, value: '6.1' }] }
    assert.equal((await staffAction(team, order, 'result', amended)).status, 400)
    await staffActionOk(team, order, 'result', finalReport)
    const { status, body } = await staffAction(team, order, 'result', { ...amended, amended: false })
    assert.deepEqual([status, body], [400, { detail: 'Transition from completed to completed is not allowed' }])
    await staffActionOk(team, order, 'result', amended)
    assert.equal((await staffActionOk(team, order, 'result', amended)).changed, false)
    await staffActionOk(team, order, 'result', { ...amended, results: [{ ...a1c, value: '6.2' }] })
    assert.deepEqual((await lowLevelStatuses(team, order)).slice(-3), [
      'completed.testkit.completed',
      'completed.testkit.corrected',
      'completed.testkit.corrected',
    ])
    assert.equal((await readResult(team, order)).results[0].result, '6.2')
  })

  test('a report without results is a sample that could not be tested', async () => {
    const order = await orderAtLab(team)
    await staffActionOk(team, order, 'result', { status: 'final', results: [] })
    assert.equal((await lowLevelStatuses(team, order)).at(-1), 'failed.testkit.sample_error')
  })

  test('a report for a kit that has not arrived is rejected', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    await staffActionOk(team, order, 'accept')
    const { status, body } = await staffAction(team, order, 'result', finalReport)
    assert.deepEqual([status, body], [400, { detail: 'Transition from requisition_created to completed is not allowed' }])
    assert.equal((await team.api.get(`/v3/order/${order.id}/result`)).status, 404)
  })
})

describe("the laboratory's own document", () => {
  const own = Buffer.from(examplePdf, 'base64')

  test('an uploaded document is shown instead of the generated one, until another report replaces the one it belongs to', async () => {
    const order = await orderAtLab(team)
    await staffActionOk(team, order, 'result', finalReport)
    assert.notDeepEqual((await readResultPdf(team, order)).body, own)
    assert.equal((await staffActionOk(team, order, 'result/pdf', { pdf: examplePdf })).changed, true)
    assert.equal((await staffActionOk(team, order, 'result/pdf', { pdf: examplePdf })).changed, false)
    const { status, body, headers } = await readResultPdf(team, order)
    assert.deepEqual([status, body, headers.get('content-type')], [200, own, 'application/pdf'])
    // Nor is it shown while its user is deleted.
    await team.api.delete(`/v2/user/${order.user_id}`)
    assert.equal((await readResultPdf(team, order)).status, 404)
    await team.api.post(`/v2/user/undo_delete?user_id=${order.user_id}`)
    assert.deepEqual((await readResultPdf(team, order)).body, own)
    await staffActionOk(team, order, 'result', { status: 'final', amended: true, results: [{ ...a1c, value: '6.1' }] })
    const drawn = (await readResultPdf(team, order)).body
    assert(drawn.length > own.length)
  })

  test('a document uploaded before the first report is shown from that report on', async () => {
    const order = await orderAtLab(team)
    await staffActionOk(team, order, 'result/pdf', { pdf: examplePdf })
    assert.equal((await readResultPdf(team, order)).status, 404)
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual((await readResultPdf(team, order)).body, own)
  })

  test('an upload accepts line breaks in Base64, and a current PDF with a cross-reference stream', async () => {
    const order = await orderAtLab(team)
    const object = '1 0 obj\n<</Type/XRef/Root 2 0 R/Size 3/Length 0>>\nstream\nendstream\nendobj\n'
    const modern = Buffer.from(`%PDF-1.7\n${object}startxref\n9\n%%EOF\n`)
    await staffActionOk(team, order, 'result/pdf', { pdf: modern.toString('base64').replace(/(.{40})/g, '$1\n') })
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual((await readResultPdf(team, order)).body, modern)
  })

  const text = own.toString('latin1')
  const wrong: Record<string, Buffer> = {
    'that is empty': Buffer.from(' '),
    'that is something else': Buffer.from('<html>%PDF</html>'),
    'that was cut off': own.subarray(0, -20),
    'whose table is elsewhere': Buffer.from(text.replace(/startxref\n\d+/, 'startxref\n3'), 'latin1'),
    'whose table is beyond its end': Buffer.from(text.replace(/startxref\n\d+/, 'startxref\n99999'), 'latin1'),
    'whose trailer has no root': Buffer.from(text.replace('/Root 1 0 R', ''), 'latin1'),
    'that is too large': Buffer.concat([own.subarray(0, -60), Buffer.alloc(10_000_000, 32), own.subarray(-60)]),
  }
  for (const [what, bytes] of Object.entries(wrong))
    test(`an uploaded document ${what} is rejected, and the stored one is kept`, async () => {
      const order = await orderAtLab(team)
      await staffActionOk(team, order, 'result', finalReport)
      await staffActionOk(team, order, 'result/pdf', { pdf: examplePdf })
      const { status, body } = await staffAction(team, order, 'result/pdf', { pdf: bytes.toString('base64') })
      assert.equal(status, 400)
      assert.equal(typeof body.detail, 'string')
      assert.deepEqual((await readResultPdf(team, order)).body, own)
    })

  test('an upload that is not Base64, or for an order that is not at the laboratory, is rejected', async () => {
    const order = await orderAtLab(team)
    const pdf = Buffer.from(examplePdf, 'base64').toString('base64').replace(/=+$/, '')
    for (const other of [
      '%PDF-1.4',
      '====',
      `${pdf}A===`,
      `=${pdf}`,
      `${pdf.slice(0, -4)}AA=A`,
      `${pdf.slice(0, -4)}A-_A`,
      `${pdf}é`,
    ]) {
      const { status, body } = await staffAction(team, order, 'result/pdf', { pdf: other })
      assert.deepEqual([status, body.detail], [400, 'pdf must be a Base64-encoded document'], other.slice(-8))
    }
    const early = await createAcceptedOrder(team, 'testkit')
    assert.deepEqual((await staffAction(team, early, 'result/pdf', { pdf: examplePdf })).body, {
      detail: 'An order in status ordered has no result yet',
    })
  })
})
