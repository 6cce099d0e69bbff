import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DecimalMark } from './profile/text-options.ts'
import { hasOtherMark, readLinkTime, readValue, withDecimalPoints } from './link-texts.ts'

const values: [text: string, mark: DecimalMark, type: string, result: string][] = [
  ['1,234', '.', 'numeric', '1234'],
  ['1,234', ',', 'numeric', '1.234'],
  ['1.234', '.', 'numeric', '1.234'],
  ['1.234', ',', 'numeric', '1234'],
  ['1.234.567,8', ',', 'numeric', '1234567.8'],
  ['1,234,567.8', '.', 'numeric', '1234567.8'],
  ['8,4', ',', 'numeric', '8.4'],
  ['8,4', '.', 'comment', '8,4'],
  ['8.4', ',', 'comment', '8.4'],
  ['1,23,456', '.', 'comment', '1,23,456'],
  ['-0,5', ',', 'numeric', '-0.5'],
  ['5', '.', 'numeric', '5'],
  ['< 0,2', ',', 'range', '<0.2'],
  ['≥ 1.000', ',', 'range', '>=1000'],
  ['>100', '.', 'range', '>100'],
  ['3 - 5', '.', 'range', '3-5'],
  ['1:80', '.', 'comment', '1:80'],
  ['Negative, 2 repeats', ',', 'comment', 'Negative, 2 repeats'],
  ['Fictional species, 10,5 CFU', ',', 'comment', 'Fictional species, 10,5 CFU'],
  ['.5', '.', 'numeric', '.5'],
  ['-.5', '.', 'numeric', '-.5'],
  ['<.05', '.', 'range', '<.05'],
  [',5', ',', 'numeric', '.5'],
  ['< ,05', ',', 'range', '<.05'],
  [',5', '.', 'comment', ',5'],
  ['.5', ',', 'comment', '.5'],
  ['..5', '.', 'comment', '..5'],
  ['5.', '.', 'comment', '5.'],
  ['.', '.', 'comment', '.'],
  ['', '.', 'comment', ''],
  [' 5,0 ', ',', 'numeric', '5.0'],
  ['  No growth ', '.', 'comment', '  No growth '],
  [' 8,4', '.', 'comment', ' 8,4'],
]
for (const [text, mark, type, result] of values)
  test(`the value "${text}" with the decimal mark ${mark} is the ${type} "${result}"`, () =>
    assert.deepEqual(readValue(text, mark), { type, result }))

const ranges: [text: string, mark: DecimalMark, shown: string][] = [
  ['1,234 - 2,000', ',', '1.234 - 2.000'],
  ['1,234 - 2,000', '.', '1234 - 2000'],
  ['1.000-2.500,5', ',', '1000-2500.5'],
  ['M: 3,9 .. 5,3; F: 3,6 .. 5,0', ',', 'M: 3.9 .. 5.3; F: 3.6 .. 5.0'],
  ['< 5.0', '.', '< 5.0'],
  ['valid from 01.03.2030', ',', 'valid from 01.03.2030'],
]
for (const [text, mark, shown] of ranges)
  test(`the range "${text}" with the decimal mark ${mark} is "${shown}"`, () =>
    assert.equal(withDecimalPoints(text, mark), shown))

const marks: [text: string, mark: DecimalMark, isOther: boolean][] = [
  ['5,1', '.', true],
  ['<0,3', '.', true],
  ['4,0 - 5,6', '.', true],
  ['1.234,5', '.', true],
  ['5.1', ',', true],
  ['>= 1,234.5', ',', true],
  ['1,234', '.', false],
  ['1.234', ',', false],
  ['.5', '.', false],
  ['.5', ',', true],
  ['<,05', '.', true],
  ['5.1', '.', false],
  ['5', ',', false],
  ['01.03.2030', ',', false],
  ['1:80', '.', false],
  ['Negative, 2,5 repeats', '.', false],
  ['5,1 - 6.2', '.', false],
  ['', '.', false],
]
for (const [text, mark, isOther] of marks)
  test(`"${text}" ${isOther ? 'contradicts' : 'does not contradict'} the decimal mark ${mark}`, () =>
    assert.equal(hasOtherMark(text, mark), isOther))

describe('a time of a message', () => {
  const zone = 'Europe/Berlin'
  const time = (text: string, offset?: string) => readLinkTime(text, zone, offset)?.time

  test('has its own offset, else that of the message, else that of the zone, in summer and in winter', () => {
    assert.equal(time('20300701081500-0500', '+0300'), '2030-07-01T08:15:00-05:00')
    assert.equal(time('20300701081500', '+0300'), '2030-07-01T08:15:00+03:00')
    assert.equal(time('20300701081500'), '2030-07-01T08:15:00+02:00')
    assert.equal(time('20300101081500.123'), '2030-01-01T08:15:00+01:00')
    assert.equal(time('203001010815'), '2030-01-01T08:15:00+01:00')
    assert.equal(time('2030010108'), '2030-01-01T08:00:00+01:00')
    assert.equal(readLinkTime('20300101081500', 'Pacific/Apia')?.time, '2030-01-01T08:15:00+13:00')
    assert.equal(readLinkTime('20300101081500', 'America/St_Johns')?.time, '2030-01-01T08:15:00-03:30')
  })

  test('without a time of day stays a day', () => assert.equal(time('20300701', '+0300'), '2030-07-01'))

  test('that the clocks show twice is the first one, and one that they skip is the time that they would show', () => {
    assert.equal(time('20301027023000'), '2030-10-27T02:30:00+02:00')
    assert.equal(time('20301027033000'), '2030-10-27T03:30:00+01:00')
    assert.equal(time('20300331023000'), '2030-03-31T03:30:00+02:00')
  })

  test('that does not exist is none', () => {
    for (const text of [
      '',
      '2030',
      '203001',
      '20300230',
      '20301301',
      '2030010125',
      '20300101086100',
      '20300101081500+2500',
      'today',
    ])
      assert.equal(time(text), undefined, text)
  })
})
