// What messages mean by the profile of their link.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messageFor, observation, observedTest, profileWith, toProfile } from '../../../test/support/link-messages.ts'
import type { LinkMessage, Observation, ObservedTest } from '../links/link-message.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import type { Order } from '../orders/schema.ts'
import { interpretMessage } from './interpret-message.ts'

const order = { id: 'order-1', sample_id: '4711' } as Order
const interpret = (message: LinkMessage, options: ProfileOptions = {}) =>
  interpretMessage(message, { account_id: 'account-1', lab_slug: 'quest', profile: toProfile(profileWith(options)) })
const report = (tests: ObservedTest[], options: ProfileOptions = {}, changes: Partial<LinkMessage> = {}) =>
  interpret(messageFor(order, tests, changes), options).report
const reportItem = (item: Partial<Observation>, options: ProfileOptions = {}, status = 'F') =>
  report([observedTest({ code: '100', status, observations: [{ ...observation('A', '5'), ...item }] })], options)

describe('a message by its profile', () => {
  test('has the status of a result from the result, from its test, or from the first that has one', () => {
    const states = (status_from: 'both' | 'test' | 'result', status: string, ofTest: string) => {
      const item = observation('A', '5')
      const observations = [status ? { ...item, status } : { code: 'A', name: 'A', value: '5' }]
      const test100 = observedTest({ code: '100', observations })
      const { results, ordered_tests } = report([{ ...test100, status: ofTest }], { results: { status_from } })
      return [results[0]?.state, ordered_tests![0]!.state]
    }
    assert.deepEqual(states('both', 'P', 'F'), ['preliminary', 'final'])
    assert.deepEqual(states('both', '', 'P'), ['preliminary', 'unfinished'])
    assert.deepEqual(states('test', 'P', 'F'), ['final', 'final'])
    assert.deepEqual(states('test', 'F', 'P'), ['preliminary', 'unfinished'])
    assert.deepEqual(states('result', 'F', 'P'), ['final', 'final'])
    assert.deepEqual(states('result', 'P', 'F'), ['preliminary', 'unfinished'])
    assert.throws(() => states('result', '', 'F'), { message: 'tests.0.observations.0.status: is not supported' })
    assert.throws(() => states('both', 'F', 'Z'), { message: 'tests.0.status: is not supported' })
  })

  test('says that a test was not performed by the words of the laboratory', () => {
    const missing = (value: string, not_performed_words?: string[]) =>
      reportItem({ value }, not_performed_words ? { results: { not_performed_words } } : {}).missing.map(({ note }) => note)
    for (const value of ['TNP', 'tnp', ' TNP ', 'TNP.', 'TNP, hemolyzed', 'TNP - QNS', 'DNP'])
      assert.deepEqual(missing(value), [value], value)
    for (const value of ['TNPX', 'TNP1', 'TNP elsewhere', '5', 'see TNP']) assert.deepEqual(missing(value), [], value)
    assert.deepEqual(missing('CANCELED', ['CANCELED']), ['CANCELED'])
    assert.deepEqual(missing('TNP', ['CANCELED']), [])
    assert.equal(reportItem({ value: 'TNP: QNS' }).missing[0]!.failure, 'quantity_not_sufficient_failure')
  })

  test('has flags as received, unless the profile gives them a meaning', () => {
    const flag = (text: string) => reportItem({ flag: text }, { results: { flags: { '*': 'A' } } }).results[0]!.flag
    assert.deepEqual(['*', 'H', '**', ''].map(flag), ['A', 'H', '**', ''])
    assert.deepEqual([' * ', ' H '].map(flag), ['A', 'H'])
  })

  test('keeps codes, units and flags that are names of what every object has', () => {
    const item = { ...observation('toString', '5'), unit: 'valueOf', flag: 'hasOwnProperty' }
    const { results, ordered_tests } = report([observedTest({ code: 'constructor', observations: [item] })])
    const [result] = results
    assert.deepEqual(
      [ordered_tests![0]!.code, result!.provider_id, result!.unit, result!.flag],
      ['constructor', 'toString', 'valueOf', 'hasOwnProperty'],
    )
  })

  test('has the codes and the units of the catalog for those of the laboratory', () => {
    const codes = {
      tests: { '100': 'LIPID' },
      results: [
        { code: 'A', provider_id: 'CHOL', loinc: '2093-3', unit: 'mg/dL' },
        { code: 'ORG', provider_id: 'ORGANISM' },
      ],
      units: { 'MG/DL': 'mg/dL' },
    }
    const parent = { code: 'ORG', sub_id: '1' }
    const tests = [
      observedTest({ code: '100', parent, observations: [observation('A', '5'), observation('B', '6', { unit: 'MG/DL' })] }),
    ]
    const { results, ordered_tests } = report(tests, { codes })
    assert.deepEqual(
      results.map(({ provider_id, loinc, unit, ordered_test, parent: organism }) => [
        provider_id,
        loinc,
        unit,
        ordered_test!.code,
        organism,
      ]),
      [
        ['CHOL', '2093-3', 'mg/dL', 'LIPID', { code: 'ORGANISM', sub_id: '1' }],
        ['B', null, 'mg/dL', 'LIPID', { code: 'ORGANISM', sub_id: '1' }],
      ],
    )
    assert.equal(ordered_tests![0]!.code, 'LIPID')
    const cancelled = report([observedTest({ code: '100', status: 'X', notes: 'QNS', observations: [] })], { codes })
    assert.deepEqual(
      cancelled.missing.map(({ provider_id, note, failure }) => [provider_id, note, failure]),
      [['LIPID', 'QNS', 'quantity_not_sufficient_failure']],
    )
    // What the laboratory says itself counts first.
    assert.equal(reportItem({ loinc: '1-8' }, { codes }).results[0]!.loinc, '1-8')
  })

  test('has values of lists as such, and times never as numbers', () => {
    const value = (item: Partial<Observation>) => {
      const { type, result } = reportItem(item).results[0]!
      return [type, result]
    }
    assert.deepEqual(value({ value: '1', value_kind: 'coded' }), ['coded_value', '1'])
    assert.deepEqual(value({ value: '2030', value_kind: 'text' }), ['comment', '2030'])
    assert.deepEqual(value({ value: '2030' }), ['numeric', '2030'])
    const prose = `1,234 ${'word '.repeat(1000)}`
    assert.deepEqual(value({ value: prose }), ['comment', prose])
    assert.deepEqual(value({ value: ' Red ', value_kind: 'coded' }), ['coded_value', ' Red '])
    assert.deepEqual(value({ value: ' 2030 ', value_kind: 'text' }), ['comment', ' 2030 '])
  })

  test('has the comments on tests and on the whole, and none of a test that is missing for the same reason', () => {
    const tests = [
      observedTest({ code: '100', notes: 'Hemolyzed', observations: [observation('A', '5')] }),
      observedTest({ code: '200', status: 'X', notes: 'QNS', observations: [] }),
    ]
    assert.deepEqual(report(tests, {}, { notes: 'Footer' }).comments, [
      { ordered_test: null, name: null, text: 'Footer' },
      { ordered_test: { code: '100', filler: 'F-100' }, name: 'Test 100', text: 'Hemolyzed' },
    ])
  })

  test('is of the time of its tests if it has none itself, and of no time that is wrong', () => {
    const tests = [observedTest({ code: '100', reported_at: '20300104100000', observations: [observation('A', '5')] })]
    const reportedAt = (sent_at: string) => report(tests, {}, { sent_at }).reported_at
    assert.equal(reportedAt('20300104101500'), '2030-01-04T10:15:00-05:00')
    for (const sent_at of ['', '20300104']) assert.equal(reportedAt(sent_at), '2030-01-04T10:00:00-05:00')
    assert.throws(() => reportedAt('20301399'), { message: 'sent_at (MSH-7): must be a time' })
    // In summer, by the zone of the profile.
    assert.equal(reportedAt('20300704101500'), '2030-07-04T10:15:00-04:00')
    assert.equal(reportedAt('20300704101500+0100'), '2030-07-04T10:15:00+01:00')
  })

  test('with a document alone says nothing of results, and another document makes another message', () => {
    const documents = (content: string) => [{ code: 'DOC', name: 'Report', type: 'PDF', content }]
    const delivery = (content: string) => interpret(messageFor(order, [], { control_id: '1', documents: documents(content) }))
    assert.deepEqual([delivery('AA==').report.status, delivery('AA==').report.has_document], ['partial', true])
    assert.notDeepEqual(delivery('AA==').documents, delivery('AQ==').documents)
    assert.deepEqual(delivery('AA=='), delivery('AA=='))
    assert.throws(() => interpret(messageFor(order, [])), { message: 'tests: the message reports none' })
  })
})
