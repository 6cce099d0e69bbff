// Laboratories that report test by test: reports that add to earlier ones, and the end of an order.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { atLab, deliver, getResult, numeric, report, unorderedResult } from '../../../test/support/reports.ts'
import { getOrder } from '../../../test/support/orders.ts'
import type { DiagnosticReport, OrderedTest, ReportedResult } from '../links/diagnostic-report.ts'
import type { ExpectedResult } from './expected-results.ts'
import { getResultPdf } from './results.ts'
import type { LabResults } from './schema.ts'

const [EARLY, NOON, LATE] = ['2030-01-04T08:00:00Z', '2030-01-04T12:00:00Z', '2030-01-04T18:00:00Z']

/** A report as a laboratory sends it when a test is done. */
const increment = (results: ReportedResult[], overrides: Partial<DiagnosticReport> = {}): DiagnosticReport =>
  report(results, { scope: 'incremental', follows_final: true, ordered_tests: [], reported_at: NOON, ...overrides })

const ofTest = (item: ExpectedResult, state: OrderedTest['state'] = 'final', reported_at = NOON) => {
  const [{ provider_id } = { provider_id: null }] = item.source_markers
  return { code: provider_id!, filler: null, state, reported_at }
}

/** Expected results of different markers. */
function byMarker(expected: ExpectedResult[]): ExpectedResult[][] {
  const markers = new Map<number, ExpectedResult[]>()
  for (const item of expected) {
    const { marker_id } = item.source_markers[0]!
    markers.set(marker_id, [...(markers.get(marker_id) ?? []), item])
  }
  return [...markers.values()]
}

async function order() {
  const { team, order: created, expected } = await atLab()
  const read = async () => (await getResult(team, created.id)).body
  return {
    team,
    id: created.id,
    expected,
    send: (increment: DiagnosticReport) => deliver(team, created.id, increment),
    status: async () => (await getOrder(team, created.id)).last_event.status.split('.').at(-1),
    statuses: async () => (await getOrder(team, created.id)).events.map(({ status }) => status.split('.').at(-1)),
    read,
    values: async () => (await read()).results.map(({ slug, result }: { slug: string; result: string }) => [slug, result]),
  }
}

describe('incremental reports', () => {
  test('add their results to those of earlier reports, each with the time of its own report', async () => {
    const { expected, send, read, values, status } = await order()
    const [first, second] = expected
    await send(increment([numeric(first!, '5')], { reported_at: EARLY }))
    await send(increment([numeric(second!, '6')], { reported_at: LATE }))
    assert.deepEqual(await values(), [
      [first!.slug, '5'],
      [second!.slug, '6'],
    ])
    const { results, metadata } = await read()
    assert.deepEqual(
      results.map(({ timestamp, state }: { timestamp: string; state: string }) => [timestamp, state]),
      [
        ['2030-01-04T08:00:00+00:00', 'final'],
        ['2030-01-04T18:00:00+00:00', 'final'],
      ],
    )
    assert.deepEqual([metadata.status, await status()], ['partial', 'delivered_to_lab'])
  })

  test('complete the order only when every ordered test is final, cancelled or has all of its results', async () => {
    const { expected, send, status, read } = await order()
    const markers = byMarker(expected)
    assert(markers.length > 1, 'the kit has several markers')
    for (const [i, items] of markers.entries()) {
      assert.equal(await status(), 'delivered_to_lab', `${i} of ${markers.length} tests are final`)
      await send(increment(items.map((item) => numeric(item))))
    }
    assert.equal(await status(), 'completed')
    const { metadata, missing_results } = await read()
    assert.deepEqual([metadata.status, missing_results], ['final', []])
  })

  test('of a final message with preliminary results do not complete the order', async () => {
    const { expected, send, status, read } = await order()
    const [first, ...rest] = expected
    await send(increment([numeric(first!, '5', { state: 'preliminary' }), ...rest.map((item) => numeric(item))]))
    assert.deepEqual([await status(), (await read()).metadata.status], ['delivered_to_lab', 'partial'])
    await send(increment([numeric(first!, '5.5', { state: 'final' })], { reported_at: LATE }))
    assert.deepEqual([await status(), (await read()).metadata.status], ['completed', 'final'])
    assert.equal((await read()).results[0].state, 'final')
  })

  test('with a test that the laboratory calls unfinished do not complete the order', async () => {
    const { expected, send, status } = await order()
    const all = expected.map((item) => numeric(item))
    await send(increment(all, { ordered_tests: [ofTest(expected[0]!, 'unfinished')] }))
    assert.equal(await status(), 'delivered_to_lab')
    await send(increment([], { ordered_tests: [ofTest(expected[0]!, 'final', LATE)], reported_at: LATE }))
    assert.equal(await status(), 'completed')
  })

  test('complete the order with missing results if its tests are final or cancelled without them', async () => {
    const { expected, send, status, read } = await order()
    const [first, ...rest] = byMarker(expected)
    await send(increment(first!.map((item) => numeric(item))))
    await send(increment([], { ordered_tests: rest.map(([item]) => ofTest(item!, 'cancelled')) }))
    assert.equal(await status(), 'completed')
    assert.equal((await read()).missing_results.length, rest.flat().filter(({ required }) => required).length)
  })

  test('complete the order when the laboratory says so', async () => {
    const { expected, send, status } = await order()
    await send(increment([numeric(expected[0]!)], { completes_order: true }))
    assert.equal(await status(), 'completed')
  })

  test('that arrive late do not replace a newer value', async () => {
    const { expected, send, values } = await order()
    await send(increment([numeric(expected[0]!, '7')], { reported_at: LATE }))
    await send(increment([numeric(expected[0]!, '5')], { reported_at: EARLY }))
    assert.deepEqual(await values(), [[expected[0]!.slug, '7']])
  })

  test('of a completed order add tests and correct results, and say which results they correct', async () => {
    const { expected, send, status, read, statuses } = await order()
    await send(increment(expected.map((item) => numeric(item))))
    assert.equal(await status(), 'completed')
    await send(increment([unorderedResult('reflex')], { reported_at: LATE }))
    assert.equal(await status(), 'corrected')
    assert.equal((await read()).results.length, expected.length + 1)
    await send(increment([numeric(expected[0]!, '9')], { reported_at: LATE }))
    const { results } = await read()
    assert.deepEqual([results[0].result, results[0].state, results[1].state], ['9', 'corrected', 'final'])
    assert.deepEqual((await statuses()).slice(-3), ['completed', 'corrected', 'corrected'])
  })

  test('that say nothing new change no status and emit no event', async () => {
    const { team, expected, send, statuses } = await order()
    const all = expected.map((item) => numeric(item))
    await send(increment(all))
    const [before, events] = [await statuses(), await team.events()]
    await send(increment(all, { reported_at: LATE }))
    assert.deepEqual([await statuses(), await team.events()], [before, events])
  })

  test('withdraw a result, and an older report does not bring it back', async () => {
    const { expected, send, values } = await order()
    const [first, second] = expected
    await send(increment([numeric(first!), numeric(second!)]))
    const { type: _, result: __, unit: ___, reference_range: ____, flag: _____, notes: ______, ...withdrawn } = numeric(first!)
    await send(increment([], { withdrawn_results: [withdrawn], reported_at: LATE }))
    assert.deepEqual(await values(), [[second!.slug, '5']])
    await send(increment([numeric(first!)], { reported_at: EARLY }))
    assert.deepEqual(await values(), [[second!.slug, '5']])
  })

  test('keep results of one code apart by their sub-ids and by the tests that they belong to', async () => {
    const { send, read } = await order()
    const isolate = (sub_id: string, result: string) =>
      unorderedResult('organism', { type: 'comment', result, sub_id, provider_id: 'ORG' })
    await send(increment([isolate('1', 'Fictional alpha'), isolate('2', 'Fictional beta')]))
    const ofTube = (filler: string, result: string) =>
      unorderedResult('glucose', { result, ordered_test: { code: 'OGTT', filler } })
    await send(increment([ofTube('F1', '90'), ofTube('F2', '140')], { reported_at: LATE }))
    await send(increment([isolate('2', 'Fictional gamma')], { reported_at: LATE }))
    assert.deepEqual(
      (await read()).results.map(({ result, sub_id }: { result: string; sub_id?: string }) => [result, sub_id]),
      [
        ['Fictional alpha', '1'],
        ['Fictional gamma', '2'],
        ['90', undefined],
        ['140', undefined],
      ],
    )
  })

  test('show the laboratory and the state of each result, in the response and in print', async () => {
    const { team, id, expected, send, read } = await order()
    const north = {
      id: 'North',
      name: 'Fictional North',
      clia: '99D0000002',
      phone_number: null,
      medical_director: null,
      address: null,
    }
    const organism = { provider_id: 'ORG', sub_id: '2', performing_laboratory: north }
    const results = [
      numeric(expected[0]!),
      unorderedResult('organism', { ...organism, type: 'comment', result: 'Fictional species', state: 'preliminary' }),
      unorderedResult('fictional-cillin', { parent: { code: 'ORG', sub_id: '2' } }),
    ]
    await send(increment(results))
    const { results: shown, sample_information, metadata } = await read()
    const { performing_laboratories } = Object.values(sample_information as LabResults['sample_information'])[0]!
    assert.equal(shown[1].performing_laboratory, 'North')
    assert.deepEqual(
      [performing_laboratories!.North!.name, performing_laboratories!.North!.clia_number, metadata.laboratory],
      ['Fictional North', '99D0000002', performing_laboratories![shown[0].performing_laboratory]!.name],
    )
    const { report: printed } = await team.db.read(team.tenant, (tx) => getResultPdf(tx, id))
    const notes = printed.panels.flatMap((panel) => panel.results).map((result) => result.notes)
    assert.deepEqual(notes, [
      null,
      'Preliminary result.\nPerformed by Fictional North, CLIA 99D0000002.',
      'Of Fictional species.',
    ])
  })

  test('name results without a slug by the code or the LOINC code that only one expected result has', async () => {
    const { expected, send, read, status } = await order()
    const all = expected.map((item) => ({ ...numeric(item), slug: '', name: 'LABNAME', loinc_slug: null, source_markers: null }))
    await send(increment([...all, { ...unorderedResult('x'), slug: '', name: 'Fictional Add-on' }]))
    const { results } = await read()
    assert.deepEqual(
      results.map(({ slug }: { slug: string }) => slug),
      [...expected.map(({ slug }) => slug), 'fictional-add-on'],
    )
    assert.equal(results[0].source_markers[0].marker_id, expected[0]!.source_markers[0]!.marker_id)
    assert.equal(await status(), 'completed')
  })

  test('do not name a result by the code of another test, or against its LOINC code', async () => {
    const { expected, send, read, status } = await order()
    const single = expected.find((item) => item.provider_id !== null && item.loinc !== null)!
    const named = (overrides: Partial<ReportedResult>) => ({
      ...unorderedResult('x', { provider_id: single.provider_id, ...overrides }),
      name: 'Fictional Analyte',
      slug: '',
    })
    const other = { code: 'OTHER', filler: null }
    const own = { code: single.source_markers[0]!.provider_id!, filler: null }
    await send(
      increment([
        named({ ordered_test: other }),
        named({ ordered_test: own, loinc: '00000-0' }),
        named({ ordered_test: own, sub_id: '1' }),
      ]),
    )
    assert.deepEqual(
      (await read()).results.map(({ slug, loinc }: { slug: string; loinc: string | null }) => [slug, loinc]),
      [
        ['fictional-analyte', null],
        ['fictional-analyte', '00000-0'],
        [single.slug, single.loinc],
      ],
    )
    assert.deepEqual(
      (await read()).results.map(({ source_markers }: { source_markers: { provider_id: string }[] | null }) =>
        source_markers?.map(({ provider_id }) => provider_id),
      ),
      [undefined, [own.code], [own.code]],
    )
    assert.equal(await status(), 'delivered_to_lab')
  })
})

describe('cumulative reports', () => {
  test('with ordered tests complete the order only when all of them are done, and replace the earlier report', async () => {
    const { expected, send, status, values } = await order()
    const markers = byMarker(expected)
    const cumulative = (items: ExpectedResult[], overrides: Partial<DiagnosticReport> = {}) =>
      increment(
        items.map((item) => numeric(item)),
        { scope: 'cumulative', ...overrides },
      )
    await send(cumulative(markers[0]!))
    assert.equal(await status(), 'delivered_to_lab')
    await send(cumulative(expected))
    assert.deepEqual([await status(), (await values()).length], ['completed', expected.length])
  })
})
