// What messages of links do to the result of an order over time: corrections, time limits, documents.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messageFor, observation, observedTest } from '../../../test/support/link-messages.ts'
import { linkedOrder } from '../../../test/support/linked-orders.ts'
import { advanceClock, getOrder } from '../../../test/support/orders.ts'
import { deliveryFor, receiveOverLink } from '../../../test/support/results.ts'
import { examplePdf } from '../fulfillment/schema.ts'
import { assignToTeam } from '../result-matching/operator-reviews.ts'

const DAY_S = 86_400
const pdf = Buffer.from(examplePdf, 'base64')

describe('a corrected value', () => {
  const glucose = (value: string, reported_at: string, status = 'F') =>
    observedTest({ code: 'GLU', reported_at, observations: [observation('GLU', value, { unit: 'mg/dL', status })] })

  for (const reports of ['incremental', 'cumulative'] as const)
    test(`has the final value that it replaces, over a link with ${reports} reports`, async () => {
      const { order, send, result } = await linkedOrder({ results: { reports } })
      const first = async () => (await result()).results[0]
      await send(messageFor(order, [glucose('80', '20300104100000-0500', 'P')]))
      await send(messageFor(order, [glucose('81', '20300104110000-0500')]))
      assert.equal((await first()).previous, undefined, 'a preliminary value is not corrected')
      await send(messageFor(order, [glucose('91', '20300104120000-0500', 'C')]))
      const previous = { result: '81', unit: 'mg/dL', timestamp: '2030-01-04T16:00:00+00:00' }
      assert.deepEqual([(await first()).result, (await first()).previous], ['91', previous])
      await send(messageFor(order, [glucose('91', '20300104130000-0500', 'C')]))
      assert.deepEqual((await first()).previous, previous, 'the same value again replaces nothing')
      await send(messageFor(order, [glucose('92', '20300104140000-0500', 'C')]))
      assert.equal((await first()).previous.result, '91')
    })
})

describe('a partial result', () => {
  test('is completed after the days of the profile without a report, with the rest as missing', async () => {
    const { team, order, complete, send, status, result } = await linkedOrder({ results: { completes_after_days: 3 } })
    const { tests, ...message } = complete()
    assert(tests.length > 1, 'the order has several tests')
    await send({ ...message, tests: [tests[0]] })
    await advanceClock(team, 2 * DAY_S)
    // A report that says nothing new begins the time again.
    await send({ ...message, control_id: '2', tests: [tests[0]] })
    await advanceClock(team, 2 * DAY_S)
    assert.equal(await status(), 'partial_results')
    await advanceClock(team, DAY_S)
    assert.equal(await status(), 'completed')
    const { results, missing_results, metadata } = await result()
    assert.deepEqual([results.length, metadata.status], [tests[0]!.observations.length, 'final'])
    assert(missing_results.length > 0)
    const { events } = await getOrder(team, order.id)
    await advanceClock(team, 10 * DAY_S)
    assert.deepEqual((await getOrder(team, order.id)).events, events)
    await send({ ...message, control_id: '3', tests })
    assert.equal(await status(), 'corrected')
  })

  test('is not completed without a word of the profile', async () => {
    const { team, complete, send, status } = await linkedOrder()
    const { tests, ...message } = complete()
    await send({ ...message, tests: [tests[0]] })
    await advanceClock(team, 400 * DAY_S)
    assert.equal(await status(), 'partial_results')
  })
})

describe('the document of a report', () => {
  test('is shown with its report, and goes with the next report that has none', async () => {
    const { team, account, order } = await linkedOrder()
    const delivery = await deliveryFor(team, order, { lab_slug: 'quest' })
    const shown = async () => (await team.api.get(`/v3/order/${order.id}/result/pdf`)).body
    await receiveOverLink(delivery, { account_id: account, pdf })
    assert(pdf.equals(await shown()))
    const other = Buffer.concat([pdf, Buffer.from('\n')])
    await receiveOverLink(
      { ...delivery, message_id: '2', report: { ...delivery.report, follows_final: true } },
      { account_id: account, pdf: other },
    )
    assert(other.equals(await shown()), 'a report that says nothing new may bring a document')
    const amended = {
      ...delivery.report,
      amended: true,
      results: delivery.report.results.map((item) => ({ ...item, result: '6' })),
    }
    await receiveOverLink({ ...delivery, message_id: '3', report: amended }, { account_id: account })
    assert(!other.equals(await shown()) && !pdf.equals(await shown()))
  })

  test('waits with its result for a decision, and is shown once that is accepted', async () => {
    const { team, account, order } = await linkedOrder()
    const delivery = await deliveryFor(team, order, { lab_slug: 'quest', sample_id: 'FICTIONAL-UNKNOWN' })
    const { raw_result_id, status } = await receiveOverLink(delivery, { account_id: account, pdf })
    assert.equal(status, 'pending_customer_review')
    const accepted = await team.api.post(`/v3/unmatched_result/${raw_result_id}/accept`, { order_id: order.id })
    assert.equal(accepted.status, 200)
    assert(pdf.equals((await team.api.get(`/v3/order/${order.id}/result/pdf`)).body))
  })

  test('of a result without a team is shown once an operator has assigned it', async () => {
    const { team, account, order } = await linkedOrder()
    const delivery = await deliveryFor(team, order, { lab_slug: 'quest', account_number: 'FICTIONAL-OTHER' })
    const { raw_result_id } = await receiveOverLink(delivery, { account_id: account, pdf })
    const receipt = await team.db.txOnWholeCell(team.tenant, (tx) => assignToTeam(tx, raw_result_id))
    assert.equal(receipt!.order_id, order.id)
    assert(pdf.equals((await team.api.get(`/v3/order/${order.id}/result/pdf`)).body))
  })

  const pdfOf = (name: string) => Buffer.concat([pdf, Buffer.from(`% ${name}\n`)])
  /** The text of a PDF that `pdfOf` has made. */
  const nameOf = (bytes: Buffer) => bytes.toString('latin1').trimEnd().split('% ').at(-1)
  const documentOf = (name: string, changes: { filler?: string; test?: string } = {}) => ({
    code: 'DOC',
    name: 'Report',
    type: 'PDF',
    content: pdfOf(name).toString('base64'),
    ...changes,
  })
  const panel = (code: string, value: string, reported_at = '20300104100000') =>
    observedTest({ code, reported_at, observations: [observation(code, value)] })

  test('of an incremental message that newer ones have overtaken replaces none, and is not shown', async () => {
    const { team, order, send } = await linkedOrder()
    const path = `/v3/order/${order.id}/result`
    const report = (hour: string, value: string, filler: string) => {
      const time = `20300104${hour}0000-0500`
      const documents = [documentOf(value, { filler, test: 'A' })]
      return { ...messageFor(order, [panel('A', value, time)], { documents }), sent_at: time, control_id: time + filler }
    }
    const shown = async () => {
      const { documents } = (await team.api.get(`${path}/documents`)).body
      return [
        nameOf((await team.api.get(`${path}/pdf`)).body),
        ...documents.map((item: Record<string, unknown>) => [item.report_number, item.is_of_latest_report]),
      ]
    }
    await send(report('12', '3', 'F-A'))
    await send(report('11', '2', 'F-A'))
    assert.deepEqual(await shown(), ['3', ['F-A', true]])
    await send(report('10', '1', 'F-B'))
    assert.deepEqual(await shown(), ['3', ['F-B', false], ['F-A', true]])
    await send(report('13', '4', 'F-A'))
    assert.deepEqual(await shown(), ['4', ['F-A', true], ['F-B', false]])
  })

  test('of each panel is there, the newest of each report, and the last one is the PDF of the result', async () => {
    const { team, order, send } = await linkedOrder()
    const path = `/v3/order/${order.id}/result`
    const list = async () => {
      const { documents } = (await team.api.get(`${path}/documents`)).body
      return Promise.all(
        documents.map(async (item: Record<string, unknown>) => [
          item.report_number,
          item.test_code,
          nameOf((await team.api.get(`${path}/documents/${String(item.id)}`)).body),
          item.is_of_latest_report,
          item.is_result_pdf,
        ]),
      )
    }
    const shown = async () => nameOf((await team.api.get(`${path}/pdf`)).body)
    assert.equal((await team.api.get(`${path}/documents`)).body.documents.length, 0)
    const a = documentOf('A', { filler: 'F-A', test: 'A' })
    const graph = documentOf('graph of A', { filler: 'F-A', test: 'A' })
    await send(messageFor(order, [panel('A', '1')], { documents: [a, graph] }))
    assert.deepEqual(await list(), [
      ['F-A', 'A', 'graph of A', true, true],
      ['F-A', 'A', 'A', true, false],
    ])
    await send(messageFor(order, [panel('B', '2')], { documents: [documentOf('B', { filler: 'F-B', test: 'B' })] }))
    assert.deepEqual(await list(), [
      ['F-B', 'B', 'B', true, true],
      ['F-A', 'A', 'graph of A', false, false],
      ['F-A', 'A', 'A', false, false],
    ])
    assert.equal(await shown(), 'B')
    const corrected = [documentOf('A corrected', { filler: 'F-A', test: 'A' }), documentOf('loose')]
    await send(messageFor(order, [panel('A', '3', '20300105100000')], { documents: corrected }))
    assert.deepEqual(await list(), [
      [null, null, 'loose', true, true],
      ['F-A', 'A', 'A corrected', true, false],
      ['F-B', 'B', 'B', false, false],
      ['F-A', 'A', 'graph of A', false, false],
    ])
    await send(messageFor(order, [panel('C', '4')]))
    assert.deepEqual(
      (await list()).map((item) => (item as unknown[]).slice(3)),
      [1, 2, 3, 4].map(() => [false, false]),
    )
    assert.equal((await team.api.get(`${path}/pdf`)).body.subarray(0, 4).toString(), '%PDF')
    assert.notEqual(await shown(), 'loose')
  })

  test('that waits for a decision loses none of several, and none is there for another order or team', async () => {
    const { team, order, send } = await linkedOrder()
    const documents = [
      documentOf('A', { filler: 'F-A' }),
      { code: 'BAD', name: 'no PDF', type: 'PDF', content: 'AAAA' },
      documentOf('B', { filler: 'F-B' }),
    ]
    const numbers = { placer: ['FICTIONAL-UNKNOWN'] }
    const { state, raw_result_id } = await send(messageFor(order, [panel('A', '1')], { documents, numbers }))
    assert.equal(state, 'review')
    const accepted = await team.api.post(`/v3/unmatched_result/${raw_result_id}/accept`, { order_id: order.id })
    assert.equal(accepted.status, 200, JSON.stringify(accepted.body))
    const { body } = await team.api.get(`/v3/order/${order.id}/result/documents`)
    assert.deepEqual(
      body.documents.map((item: { report_number: string }) => item.report_number),
      ['F-B', 'F-A'],
    )
    const other = await linkedOrder()
    const [{ id }] = body.documents
    for (const [reader, order_id] of [
      [other.team, order.id],
      [other.team, other.order.id],
      [team, other.order.id],
    ] as const)
      assert.equal((await reader.api.get(`/v3/order/${order_id}/result/documents/${id}`)).status, 404)
    assert.equal((await other.team.api.get(`/v3/order/${order.id}/result/documents`)).status, 404)
  })
})
