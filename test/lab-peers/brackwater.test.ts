// A fictional laboratory that is known by its description alone (brackwater.md). Its profile (brackwater.profile.json) was made from the
// description with the table in docs/LAB_LINKS.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { readMessage } from '../../src/lab/hl7/read-message.ts'
import { writeOrder } from '../../src/lab/link-orders/order-message.ts'
import { LinkProfile } from '../../src/lab/links/profile/link-profile.ts'
import { readProfileFile, wholeProfile } from '../../src/lab/links/profile/read-profile.ts'
import { interpretMessage } from '../../src/lab/result-matching/interpret-message.ts'
import { fullContent } from '../support/requisition-contents.ts'
import { readByPython, skipWithoutPythonHl7, textAt } from './python-peers.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const profile = wholeProfile(readProfileFile(JSON.parse(read('brackwater.profile.json'))))

describe('a laboratory that is known by its description alone', () => {
  test('gets orders as its description demands them', { skip: skipWithoutPythonHl7 }, async () => {
    const { order } = fullContent
    const content = {
      ...fullContent,
      order: { ...order, sample_id: 'DBL0000004711' },
      patient: { ...fullContent.patient!, first_name: 'Zoë', last_name: 'Müller-Łącka' },
    }
    const [message] = writeOrder({
      action: 'new',
      content,
      profile,
      client_user_id: 'P-1',
      filler_number: null,
      processing_id: 'T',
      now: new Date('2030-07-04T12:00:00Z'),
      newControlId: () => '1',
    })
    const { segments } = await readByPython(message!.bytes, 'ascii')
    const names = segments.map(({ name }) => name)
    assert.deepEqual(
      ['MSH-3', 'MSH-4', 'MSH-5', 'MSH-6', 'MSH-9', 'MSH-9.2', 'MSH-11', 'MSH-12', 'MSH-18'].map(
        (place) => textAt(segments, place) || '',
      ),
      ['CLIENT', 'BW4711', 'BRACKLIS', 'BWD', 'ORM', 'O01', 'T', '2.3', ''],
    )
    assert.deepEqual(
      ['PID-5', 'PID-5.2', 'PID-2', 'PID-3'].map((place) => textAt(segments, place)),
      ['MUELLER-LACKA', 'ZOE', order.user_id, order.user_id],
    )
    assert.match(textAt(segments, 'PID-13')!, /^\d{10}$/)
    assert.deepEqual([textAt(segments, 'OBR-4'), textAt(segments, 'OBR-4.4')], ['', fullContent.tests[0]!.code])
    assert.match(textAt(segments, 'ORC-2')!, /^[A-Z0-9]{1,16}$/)
    assert.deepEqual([textAt(segments, 'ORC-2'), textAt(segments, 'OBR-27.6')], [textAt(segments, 'OBR-2'), 'S'])
    assert.deepEqual(
      names.filter((name) => ['IN1', 'GT1', 'DG1', 'OBX', 'SPM'].includes(name)),
      [],
    )
    assert(names.includes('NTE'))
  })

  test('is understood in its example: number, values, times, notes, and what is no result', () => {
    const text = /```text\n(MSH[^`]*)```/.exec(read('brackwater.md'))![1]!.replaceAll('\n', '\r')
    const { sample_id, patient, report } = interpret(text)
    assert.equal(sample_id, 'DBL4711')
    assert.deepEqual(patient, { first_name: 'TESTA', last_name: 'FICTIONAL', dob: '1990-01-31', gender: 'female' })
    const [result] = report.results
    assert.deepEqual(
      [
        report.results.length,
        result!.provider_id,
        result!.loinc,
        result!.result,
        result!.unit,
        result!.reference_range,
        result!.flag,
      ],
      [1, 'CRE1', '2160-0', '1.9', 'mg/dL', '0.5-1.1', 'A'],
    )
    assert.deepEqual([result!.state, result!.notes], ['final', 'Result confirmed by repeat analysis'])
    assert.equal(report.collected_at, '2030-07-04T08:15:00-05:00')
    assert.equal(report.completes_order, true)
    assert.match(JSON.stringify(report), /Testa Example, MD/)
  })

  test('is understood where its status, its letters and its words differ from others', () => {
    const segments = [
      'MSH|^~\\&|BRACKLIS|BWD|CLIENT|BW4711|20300704153000||ORU^R01|889124|P|2.3',
      'PID|1|P-1|P-1||FICTIONAL^ZO\u00cb||19900131|F',
      'ORC|RE|DBL4711-02|88-1235',
      'OBR|1|DBL4711-02|88-1235|^^^GHB^HEMOGLOBIN A1C|||20300104081500|||||||20300104120000||||||||20300104152500|||F',
      'OBX|1|NM|GHB1^HEMOGLOBIN A1C^L||5.4|%|4.0-5.6||||P',
      'OBR|2|DBL4711-02|88-1235|^^^TSHR^TSH|||20300104081500|||||||20300104120000||||||||20300104152500|||F',
      'OBX|1|ST|TSH1^TSH^L||CANC||||||F',
      'NTE|1|L|Quantity not sufficient',
      'OBX|2|ED|PDFREP^REPORT^L||^application^pdf^Base64^JVBERi0xLjcK||||||F',
      'NTE|1|L|Brackwater Diagnostics, 1 Sample Way, Duluth MN 55802',
    ]
    const { patient, report, documents } = interpret(segments.map((segment) => `${segment}\r`).join(''))
    assert.equal(patient!.first_name, 'ZO\u00cb')
    assert.deepEqual(
      report.results.map(({ result, state }) => [result, state]),
      [['5.4', 'preliminary']],
    )
    assert.deepEqual(
      report.missing.map(({ provider_id, failure }) => [provider_id, failure]),
      [['TSH1', 'quantity_not_sufficient_failure']],
    )
    assert.equal(report.collected_at, '2030-01-04T08:15:00-06:00')
    assert.equal(report.completes_order, false)
    assert.equal(documents?.length, 1)
    assert.doesNotMatch(JSON.stringify([report.results, report.missing]), /Sample Way/)
  })
})

test('the guide names options of profiles that exist', () => {
  const guide = readFileSync(new URL('../../docs/LAB_LINKS.md', import.meta.url), 'utf8')
  const groups = Object.entries(LinkProfile.properties as Record<string, { properties: object }>)
  const names = [...guide.matchAll(/`(\w+)\.(\w+)(?=[.`=])/gu)].filter(([, group]) => groups.some(([name]) => name === group))
  assert(names.length > 25, String(names.length))
  for (const [, group, option] of names)
    assert(Object.keys(groups.find(([name]) => name === group)![1].properties).includes(option!), `${group}.${option}`)
})

/** What a message in ISO 8859-1 means by the profile. */
function interpret(text: string) {
  const message = readMessage(Buffer.from(text, 'latin1'), profile)
  assert(message.kind === 'results' && message.messages.length === 1)
  return interpretMessage(message.messages[0]!, { account_id: 'account', lab_slug: 'quest', profile })
}
