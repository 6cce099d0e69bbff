import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { comparable } from './interpret.ts'
import type { Patient } from './ranges.ts'

const woman: Patient = { sex: 'female', age: { years: 40, months: 480, weeks: 2087, days: 14_610 } }

function bounds(reference: string, unit: string | null = null): unknown[] | undefined {
  const { range } = comparable('', [reference], woman, { unit, name: 'Analyte' })
  if (!range || range.isConditional || (range.min === null && range.max === null)) return undefined
  return [range.min, range.isMinOpen ? 'open' : 'closed', range.max, range.isMaxOpen ? 'open' : 'closed']
}

const rangeBelow = (value: number) => [null, 'closed', value, 'open']
const atMost = (value: number) => [null, 'closed', value, 'closed']
const rangeAbove = (value: number) => [value, 'open', null, 'closed']
const atLeast = (value: number) => [value, 'closed', null, 'closed']
const rangeWithin = (low: number, high: number) => [low, 'closed', high, 'closed']

const readable: [string, unknown[]][] = [
  ['<5.7', rangeBelow(5.7)],
  ['<=5.7', atMost(5.7)],
  ['>60', rangeAbove(60)],
  ['>=60', atLeast(60)],
  ['65-99', rangeWithin(65, 99)],
  ['0.40-4.50', rangeWithin(0.4, 4.5)],
  ['< OR = 5', atMost(5)],
  ['> OR = 40', atLeast(40)],
  ['< or = 5', atMost(5)],
  ['>Or=40', atLeast(40)],
  ['<OR=5', atMost(5)],
  ['< = 5', atMost(5)],
  ['=<5', atMost(5)],
  ['≤5', atMost(5)],
  ['≥ 40', atLeast(40)],
  ['  < 5.7  ', rangeBelow(5.7)],
  ['\u00a0>\u00a060\u2003', rangeAbove(60)],
  ['>\u00a0100', rangeAbove(100)],
  ['65 - 99', rangeWithin(65, 99)],
  ['65 – 99', rangeWithin(65, 99)],
  ['65—99', rangeWithin(65, 99)],
  ['-5.0 - +2.0', rangeWithin(-5, 2)],
  ['−5.0-2.0', rangeWithin(-5, 2)],
  ['-5--2', rangeWithin(-5, -2)],
  ['+1-+2', rangeWithin(1, 2)],
  ['<-0.5', rangeBelow(-0.5)],
  ['.5-1.5', rangeWithin(0.5, 1.5)],
  ['<.5', rangeBelow(0.5)],
  ['0.-5.', rangeWithin(0, 5)],
  ['<1,100', rangeBelow(1100)],
  ['1,000-12,345,678.5', rangeWithin(1000, 12345678.5)],
  ['7-7', rangeWithin(7, 7)],
  ['0-0', rangeWithin(0, 0)],
  ['65-99 mg/dL', rangeWithin(65, 99)],
  ['4.0-5.6%', rangeWithin(4, 5.6)],
  ['4.0% - 5.6%', rangeWithin(4, 5.6)],
  ['<150, fasting', rangeBelow(150)],
  ['<5.', rangeBelow(5)],
  ['3.8-10.8 10*3/uL', rangeWithin(3.8, 10.8)],
  ['<200 - desirable', rangeBelow(200)],
  ['>60 mL/min/1.73m2', rangeAbove(60)],
  ['0.4 to 4.5', rangeWithin(0.4, 4.5)],
  ['0.4 TO 4.5 mIU/L', rangeWithin(0.4, 4.5)],
  ['from 0.4 to 4.5', rangeWithin(0.4, 4.5)],
  ['between 0.4 and 4.5', rangeWithin(0.4, 4.5)],
  ['up to 100', atMost(100)],
  ['Up To 100 U/L', atMost(100)],
  ['at most 100', atMost(100)],
  ['no more than 100', atMost(100)],
  ['100 or less', atMost(100)],
  ['less than or equal to 100', atMost(100)],
  ['less than 100', rangeBelow(100)],
  ['below 100', rangeBelow(100)],
  ['under 100', rangeBelow(100)],
  ['at least 40', atLeast(40)],
  ['not less than 40', atLeast(40)],
  ['40 or higher', atLeast(40)],
  ['40 and above', atLeast(40)],
  ['greater than or equal to 40', atLeast(40)],
  ['more than 40', rangeAbove(40)],
  ['More than 40 mg/dL', rangeAbove(40)],
  ['above 40', rangeAbove(40)],
  ['greater than 40', rangeAbove(40)],
  ['> 3.5 and < 5.1', [3.5, 'open', 5.1, 'open']],
  ['>=3.5 - <5.1', [3.5, 'closed', 5.1, 'open']],
  ['0,4 - 4,5', rangeWithin(0.4, 4.5)],
  ['<1,23', rangeBelow(1.23)],
  ['<1.234,5', rangeBelow(1234.5)],
  ['0,125-0,500', rangeWithin(0.125, 0.5)],
  ['150\u00a0000 - 400\u202f000', rangeWithin(150_000, 400_000)],
  ['Reference range: 70 - 99', rangeWithin(70, 99)],
  ['(70-99)', rangeWithin(70, 99)],
  ['Normal: <5.7; Prediabetes: 5.7-6.4; Diabetes: >6.4', rangeBelow(5.7)],
  ['Male: 13.5-17.5 Female: 12.0-15.5', rangeWithin(12, 15.5)],
  ['Adults: 3.5-5.1', rangeWithin(3.5, 5.1)],
]

const unreadable: string[] = [
  '',
  ' ',
  '<',
  '<=',
  '-',
  '5',
  '< OR 5',
  '<<5',
  '=5',
  '<.',
  'Negative',
  'Not Detected',
  'see note: <5',
  'Smokers: <5',
  'Male: 13.5-17.5',
  'Follicular: 3-8; Luteal: 2-5',
  '<40 low; >60 high',
  '<1:40',
  '< 1:40',
  '1-2:3',
  '<1/40',
  '<10^3',
  '<10³',
  '<5½',
  '<1⁄2',
  '2020-01-02',
  '5-10-15',
  '>5-10',
  '<5 - 10',
  '10-5',
  '<1.2.3',
  '<１２',
  '<٣',
  '\u202e<5',
  'NaN-NaN',
  '<Infinity',
]

test('every form of a reference range is read, in numbers and in words', () => {
  for (const [text, range] of readable) assert.deepEqual(bounds(text), range, text)
})

test('a text that is not a reference range of this patient has no bounds', () => {
  for (const text of unreadable) assert.equal(bounds(text), undefined, text)
})

test('a range is read in any letter case and with surrounding spaces', () => {
  for (const [text, range] of readable)
    for (const variant of [text.toUpperCase(), text.toLowerCase(), `\t ${text} \n`])
      assert.deepEqual(bounds(variant), range, JSON.stringify(variant))
})

test('the unit of the result is not part of its range, in any spelling', () => {
  assert.deepEqual(bounds('0.4-4.5 m[IU]/L', 'm[IU]/L'), rangeWithin(0.4, 4.5))
  assert.deepEqual(bounds('<0.5 ug/mL{FEU}', 'ug/mL{FEU}'), rangeBelow(0.5))
})

test('a condition of a range is met where the name of the test repeats it, and undecided otherwise', () => {
  const range = (name: string) => comparable('5', ['3.7-9.5 (morning)'], woman, { unit: null, name }).range
  assert.equal(range('Cortisol, Morning')?.isConditional, undefined)
  assert.equal(range('Cortisol')?.isConditional, true)
})

test('any two ascending decimals joined by a hyphen or "to" form a range', () => {
  const decimal = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 2 }))
  fc.assert(
    fc.property(decimal, decimal, fc.constantFrom('-', ' - ', ' to '), ([a, aDecimals], [b, bDecimals], sign) => {
      const [low, high] = [(a / 10 ** aDecimals).toFixed(aDecimals), (b / 10 ** bDecimals).toFixed(bDecimals)]
      const expected = Number(low) <= Number(high) ? rangeWithin(Number(low), Number(high)) : undefined
      assert.deepEqual(bounds(`${low}${sign}${high}`), expected)
    }),
  )
})
