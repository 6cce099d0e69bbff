// Messages in HL7 from their bytes to the result of the order: what laboratories send, and what goes wrong on the way.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toOru } from '../../../test/support/hl7-reports.ts'
import { messageFor, observation, observedTest, receiveBytes } from '../../../test/support/link-messages.ts'
import { linkedOrder } from '../../../test/support/linked-orders.ts'
import { acceptedOrder } from '../../../test/support/results.ts'
import { getOrder } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { examplePdf } from '../fulfillment/schema.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { listIssues } from './issues.ts'

/** An order of a link, to which messages go as bytes. */
async function hl7Order(changes: ProfileOptions = {}) {
  const linked = await linkedOrder(changes)
  const sendBytes = (bytes: Uint8Array) => receiveBytes(linked.team, linked.account, bytes)
  const status = async (id: string) => (await getOrder(linked.team, id)).last_event.status.split('.').at(-1)
  return { ...linked, sendBytes, statusOf: status }
}

const glucose = (value: string, fields = {}) => observedTest({ code: 'GLU', observations: [observation('GLU', value, fields)] })

/** A PDF with so many bytes. */
function pdfOf(length: number): Buffer {
  const whole = Buffer.from(examplePdf, 'base64')
  const end = whole.lastIndexOf('startxref')
  const padding = Buffer.concat([Buffer.from('%'), Buffer.alloc(length - whole.length - 2, 0x41), Buffer.from('\n')])
  return Buffer.concat([whole.subarray(0, end), padding, whole.subarray(end)])
}

describe('a message in HL7', () => {
  test('completes its order and is stored as it came', async () => {
    const { order, complete, sendBytes, status, result } = await hl7Order()
    const message = complete('5.0', { notes: 'Sample arrived warm.' })
    message.tests[0]!.notes = 'Slightly hemolyzed.'
    const receipt = await sendBytes(toOru(message))
    assert.deepEqual([receipt.state, receipt.error, receipt.order_id], ['applied', null, order.id])
    assert.equal(await status(), 'completed')
    const { results, sample_information } = await result()
    assert(results.every((item: { result: string }) => item.result === '5.0'))
    const [sample] = Object.values(sample_information) as { clinical_information: { information: string } }[]
    assert.equal(
      sample!.clinical_information.information,
      `Sample arrived warm.\n\n${message.tests[0]!.name}: Slightly hemolyzed.`,
    )
  })

  test('is the same in every character set, with any delimiters and ends of lines', async () => {
    const delimiters = { field: '$', component: '%', repetition: '*', escape: '!', subcomponent: '@', truncation: '' }
    for (const options of [
      { charset: '8859/9', line_end: '\r\n' },
      { charset: 'UNICODE UTF-8', line_end: '\n' },
      { charset: 'WINDOWS-1252', delimiters },
      { charset: 'UNICODE UTF-16' },
    ]) {
      const { order, sendBytes, result } = await hl7Order()
      const name = 'Gl\u00fckose | ^ & ~ \\ $ % *'
      await sendBytes(
        toOru(
          messageFor(order, [observedTest({ code: 'GLU', observations: [{ ...observation('GLU', '>100 & \u00fc'), name }] })]),
          options,
        ),
      )
      const [item] = (await result()).results
      assert.deepEqual([item.name, item.result], [name, '>100 & \u00fc'], options.charset)
    }
  })

  test('whose bytes are not of its character set fails whole', async () => {
    const { order, sendBytes, team } = await hl7Order()
    const bytes = toOru(messageFor(order, [glucose('5', { notes: 'Gr\u00f6\u00dfe' })]), { charset: '8859/1' })
    const withoutSet = Buffer.from(bytes.toString('latin1').replace('|8859/1\r', '\r'), 'latin1')
    const receipt = await sendBytes(withoutSet)
    assert.deepEqual([receipt.state, receipt.error], ['failed', 'The message is not text of the character set UNICODE UTF-8'])
    assert.equal((await getOrder(team, order.id)).interpretation, null)
  })

  test('is a repetition with the same bytes, and one of its own with the same control id', async () => {
    const { order, sendBytes, result } = await hl7Order()
    const message = messageFor(order, [glucose('5')])
    assert.equal((await sendBytes(toOru(message))).isRepetition, false)
    assert.equal((await sendBytes(toOru(message))).isRepetition, true)
    const other = await sendBytes(toOru({ ...message, tests: [glucose('6')] }))
    assert.deepEqual([other.isRepetition, other.state], [false, 'applied'])
    assert.equal((await result()).results[0].result, '6')
  })

  test('about an unknown order, or with another day of birth, is for a person', async () => {
    const { team, order, sendBytes } = await hl7Order()
    const unknown = { placer: ['NOBODY'], filler: ['NOTHING'] }
    assert.equal((await sendBytes(toOru(messageFor(order, [glucose('5')], { numbers: unknown })))).state, 'review')
    const { patient } = messageFor(order, [])
    assert.equal(
      (await sendBytes(toOru(messageFor(order, [glucose('5')], { patient: { ...patient, dob: '19010101' } })))).state,
      'review',
    )
    assert.equal((await getOrder(team, order.id)).interpretation, null)
  })

  test('with the results of two orders gives each order its own', async () => {
    const { team, account, order, sendBytes } = await hl7Order()
    const second = await acceptedOrder(team, 'walk_in_test', { lab_account_id: account })
    const [first, other] = [order, second].map((item, i) => toOru(messageFor(item, [glucose(`${i + 1}`)])).toString())
    const both = Buffer.from(`${first!}${other!.split('\r').slice(2).join('\r')}`)
    assert.equal((await sendBytes(both)).state, 'applied')
    for (const [i, { id }] of [order, second].entries()) {
      const { results } = (await team.api.get(`/v3/order/${id}/result`)).body
      assert.deepEqual(
        results.map(({ result }: { result: string }) => result),
        [`${i + 1}`],
      )
    }
  })
})

describe('a result code', () => {
  test('that the catalog does not know has one issue of its link, and its result is stored as it came', async () => {
    const { team, account, order, sendBytes, result } = await hl7Order()
    const local = (value: string) =>
      toOru(messageFor(order, [observedTest({ code: 'ODD-1', status: 'P', observations: [observation('ODD-1', value)] })]))
    for (const value of ['5', '6']) assert.equal((await sendBytes(local(value))).state, 'applied')
    assert.equal((await result()).results.find(({ provider_id }: { provider_id: string }) => provider_id === 'ODD-1').result, '6')
    const listed = async () =>
      (await team.db.plainTx((tx) => listIssues(tx, { account_id: account }))).data
        .filter(({ reason }) => reason === 'unknown_code')
        .map(({ source, detail, count, state }) => [source, detail, count, state])
    assert.deepEqual(await listed(), [['code ODD-1', 'Analyte ODD-1', 1, 'open']])
    const known = (await team.api.get('/v3/lab_tests/markers?lab_slug=quest&size=1')).body.markers[0].provider_id as string
    const coded = toOru(
      messageFor(order, [
        observedTest({
          code: known,
          status: 'P',
          observations: [observation(known, '1'), observation('ODD-2', '2', { loinc: '2345-7' })],
        }),
      ]),
    )
    assert.equal((await sendBytes(coded)).state, 'applied')
    assert.equal((await listed()).length, 1)
  })

  test('of a hostile laboratory opens no more than 200 issues of its link', async () => {
    const { team, account, order, sendBytes } = await hl7Order()
    for (let i = 0; i < 12; i++) {
      const observations = Array.from({ length: 30 }, (_, n) => observation(`ODD-${i}-${n}`, '1'))
      await sendBytes(toOru(messageFor(order, [observedTest({ code: `ODD-${i}`, status: 'P', observations })])))
    }
    const { data } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account, limit: 250 }))
    assert.equal(data.filter(({ reason }) => reason === 'unknown_code').length, 200)
  })
})

describe('a number', () => {
  test('with another decimal mark than the profile says is shown as text, and is one issue of its link', async () => {
    const { team, account, order, sendBytes, result } = await hl7Order()
    for (const value of ['5,1', '5,2', '5.3']) {
      const observations = [observation('ODD-1', value)]
      await sendBytes(toOru(messageFor(order, [observedTest({ code: 'ODD-1', status: 'P', observations })])))
      const shown = (await result()).results.find(({ provider_id }: { provider_id: string }) => provider_id === 'ODD-1')
      assert.deepEqual([shown.result, shown.value], value === '5.3' ? ['5.3', 5.3] : [value, -1])
    }
    const { data } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account, reason: ['decimal_mark'] }))
    assert.deepEqual(
      data.map(({ count, detail }) => [count, detail]),
      [[2, 'ODD-1 Analyte ODD-1']],
    )
  })
})

describe('a batch', () => {
  test('of ten is ten messages, each applied by itself', async () => {
    const { team, order, sendBytes, result } = await hl7Order()
    const messages = Array.from({ length: 10 }, (_, i) => {
      const code = `A${i}`
      return toOru(messageFor(order, [observedTest({ code, status: 'P', observations: [observation(code, `${i}`)] })]))
    })
    const batch = (count: number) =>
      Buffer.concat([Buffer.from('FHS|^~\\&|LIS\rBHS|^~\\&|LIS\r'), ...messages, Buffer.from(`BTS|${count}\rFTS|1\r`)])
    assert.equal((await sendBytes(batch(10))).state, 'applied')
    assert.equal((await result()).results.length, 10)
    const wrong = await sendBytes(batch(11))
    assert.equal(wrong.state, 'applied')
    assert.deepEqual(await readIssues(team, wrong), [['count_mismatch', 'BTS-1 announces 11 messages, and 10 came']])
  })

  test('has its right messages applied and its wrong ones reported', async () => {
    const { order, sendBytes, result } = await hl7Order()
    const good = (code: string) =>
      toOru(messageFor(order, [observedTest({ code, status: 'P', observations: [observation(code, '5')] })]))
    const bad = Buffer.from(good('BAD').toString().replace('|BAD^', '|^'))
    const undecodable = Buffer.from(good('X').toString().replace('Test X', 'Test \u00ff'), 'latin1')
    const receipt = await sendBytes(
      Buffer.concat([Buffer.from('BHS|^~\\&|LIS\r'), good('A'), bad, undecodable, good('B'), Buffer.from('BTS|4\r')]),
    )
    assert.equal(receipt.state, 'failed')
    assert.match(receipt.error!, /is not text of the character set UNICODE UTF-8/u)
    assert.deepEqual((await result()).results.map(({ provider_id }: { provider_id: string }) => provider_id).slice(0, 1), ['A'])
  })
})

/** The issues of a message: reason and detail. */
const readIssues = async ({ db }: TestTeam, { message_id }: { message_id: string }) =>
  (await listIssues(db.queries, {})).data
    .filter((issue) => issue.message_id === message_id)
    .map(({ reason, detail }) => [reason, detail])

describe('a document in a message', () => {
  for (const megabytes of [1, 10])
    test(`of ${megabytes} MB is the PDF of the result`, async () => {
      const { team, order, sendBytes } = await hl7Order()
      const pdf = pdfOf(megabytes * 1_000_000)
      const documents = [{ code: 'DOC', name: 'Report', type: 'PDF', content: pdf.toString('base64') }]
      const receipt = await sendBytes(toOru(messageFor(order, [glucose('5')], { documents })))
      assert.deepEqual([receipt.state, receipt.error], ['applied', null])
      assert(pdf.equals((await team.api.get(`/v3/order/${order.id}/result/pdf`)).body))
    })

  test('that is no PDF is reported, and the results are applied', async () => {
    const { team, order, sendBytes, result } = await hl7Order()
    for (const [content, error] of [
      [Buffer.from('no PDF').toString('base64'), 'documents.0: The document is not a PDF'],
      ['####', 'documents.0: The document is not Base64'],
    ] as const) {
      const documents = [{ code: 'DOC', name: 'Report', type: 'PDF', content }]
      const receipt = await sendBytes(toOru(messageFor(order, [glucose('5')], { documents })))
      assert.equal(receipt.state, 'applied')
      assert.deepEqual(await readIssues(team, receipt), [['document_refused', error]])
    }
    assert.equal((await result()).results[0].result, '5')
  })

  test('without results completes its order without missing results', async () => {
    const { order, sendBytes, status, result, expected } = await hl7Order()
    const codes = [...new Set(expected.map((item) => item.source_markers[0]!.provider_id!))]
    const tests = codes.map((code) => observedTest({ code, observations: [] }))
    await sendBytes(
      toOru(messageFor(order, tests, { documents: [{ code: 'DOC', name: 'Report', type: 'PDF', content: examplePdf }] })),
    )
    assert.equal(await status(), 'completed')
    assert.deepEqual([(await result()).results, (await result()).missing_results], [[], []])
  })
})
