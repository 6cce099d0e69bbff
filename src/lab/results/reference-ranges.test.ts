import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import type { ResultType } from '../links/diagnostic-report.ts'
import { compareToRange, interpret, parseNumber, parseRange, mostSevere, type Range } from './reference-ranges.ts'

const below = (value: number): Range => ({ low: null, high: { value, inclusive: false } })
const atMost = (value: number): Range => ({ low: null, high: { value, inclusive: true } })
const above = (value: number): Range => ({ low: { value, inclusive: false }, high: null })
const atLeast = (value: number): Range => ({ low: { value, inclusive: true }, high: null })
const within = (low: number, high: number): Range => ({
  low: { value: low, inclusive: true },
  high: { value: high, inclusive: true },
})

const readable: [string, Range][] = [
  ['<5.7', below(5.7)],
  ['<=5.7', atMost(5.7)],
  ['>60', above(60)],
  ['>=60', atLeast(60)],
  ['65-99', within(65, 99)],
  ['0.40-4.50', within(0.4, 4.5)],
  ['< OR = 5', atMost(5)],
  ['> OR = 40', atLeast(40)],
  ['< or = 5', atMost(5)],
  ['>Or=40', atLeast(40)],
  ['<OR=5', atMost(5)],
  ['< = 5', atMost(5)],
  ['≤5', atMost(5)],
  ['≥ 40', atLeast(40)],
  ['  < 5.7  ', below(5.7)],
  ['\u00a0>\u00a060\u2003', above(60)],
  ['65 - 99', within(65, 99)],
  ['65 – 99', within(65, 99)],
  ['65—99', within(65, 99)],
  ['-5.0 - +2.0', within(-5, 2)],
  ['−5.0-2.0', within(-5, 2)],
  ['-5--2', within(-5, -2)],
  ['+1-+2', within(1, 2)],
  ['<-0.5', below(-0.5)],
  ['.5-1.5', within(0.5, 1.5)],
  ['<.5', below(0.5)],
  ['0.-5.', within(0, 5)],
  ['<1,100', below(1100)],
  ['1,000-12,345,678.5', within(1000, 12345678.5)],
  ['7-7', within(7, 7)],
  ['0-0', within(0, 0)],
  ['65-99 mg/dL', within(65, 99)],
  ['4.0-5.6%', within(4, 5.6)],
  ['<150, fasting', below(150)],
  ['<5.', below(5)],
  ['3.8-10.8 10*3/uL', within(3.8, 10.8)],
  ['<200 - desirable', below(200)],
  ['>60 mL/min/1.73m2', above(60)],
]

const unreadable: (string | null)[] = [
  null,
  '',
  ' ',
  '<',
  '<=',
  '-',
  '5',
  '< OR 5',
  '<<5',
  '=5',
  '=<5',
  '5-',
  '<.',
  'Negative',
  'Not Detected',
  'see note: <5',
  'up to 5',
  '5 to 10',
  '<1:40',
  '< 1:40',
  '1-2:3',
  '<1/40',
  '<10^3',
  '<1e3',
  '<1E+3',
  '<10³',
  '<5½',
  '<1⁄2',
  '2020-01-02',
  '5-10-15',
  '>5-10',
  '<5 - 10',
  '10-5',
  '<1,23',
  '<1.2.3',
  '<1.234,5',
  '<１２',
  '<٣',
  '\u0000<5',
  '\u202e<5',
  '＜5',
  'NaN-NaN',
  '<Infinity',
]

test('every form of a reference range is parsed', () => {
  for (const [text, range] of readable) assert.deepEqual(parseRange(text), range, text)
})

test('a text that is no reference range is not parsed as one', () => {
  for (const text of unreadable) assert.equal(parseRange(text), undefined, String(text))
})

test('a range is parsed in any letter case and with surrounding spaces', () => {
  for (const [text, range] of readable)
    for (const variant of [text.toUpperCase(), text.toLowerCase(), `\t ${text} \n`]) assert.deepEqual(parseRange(variant), range)
})

test('any two ascending decimals joined by a hyphen form a range', () => {
  const decimal = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 4 }))
  fc.assert(
    fc.property(decimal, decimal, ([a, aDecimals], [b, bDecimals]) => {
      const [low, high] = [(a / 10 ** aDecimals).toFixed(aDecimals), (b / 10 ** bDecimals).toFixed(bDecimals)]
      const expected = Number(low) <= Number(high) ? within(Number(low), Number(high)) : undefined
      assert.deepEqual(parseRange(`${low}-${high}`), expected)
    }),
  )
})

test('parses arbitrary text in bounded time without non-finite bounds', () => {
  const digits = '9'.repeat(100_000)
  const hostile = [
    digits,
    `<${digits}`,
    `${digits}-${digits}`,
    `<${'1,111'.repeat(20_000)}`,
    `<${' '.repeat(100_000)}5`,
    `${'1'.repeat(50_000)} ${'-'.repeat(50_000)}`,
    '< OR '.repeat(20_000),
    `<${'9'.repeat(150)}`,
    `${'1,'.repeat(90)}1-2`,
    `1${' '.repeat(190)}-`,
    '\ud800<5',
    '<5\u0301',
    '🩸'.repeat(60),
  ]
  for (const text of hostile) assertSound(text)
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,+-<>= OR:eE^≤'), maxLength: 250 }), assertSound))
  fc.assert(fc.property(anyText({ maxLength: 250 }), assertSound))
})

function assertSound(text: string): void {
  const range = parseRange(text)
  for (const bound of [range?.low, range?.high]) assert.ok(!bound || Number.isFinite(bound.value))
  const value = parseNumber(text)
  assert.ok(value === undefined || Number.isFinite(value))
}

test('a number is parsed only if it stands alone', () => {
  const numbers: [string, number][] = [
    ['30.4', 30.4],
    [' 30.4 ', 30.4],
    ['.5', 0.5],
    ['5.', 5],
    ['0', 0],
    ['-2.5', -2.5],
    ['+2.5', 2.5],
    ['1,234', 1234],
    ['1,234,567.89', 1234567.89],
  ]
  for (const [text, value] of numbers) assert.equal(parseNumber(text), value, text)
  for (const text of ['', '.', '<5', '5 mg', '1e3', '0x10', '1,23', '1 2', 'TNP', '٣', 'NaN', '5-6', '9'.repeat(201)])
    assert.equal(parseNumber(text), undefined, text)
})

/** type, result, reference range, above, below */
const held: [ResultType, string, string | null, boolean | null, boolean | null][] = [
  ['numeric', '5.7', '<5.7', true, false],
  ['numeric', '5.6', '<5.7', false, false],
  ['numeric', '5.7', '<=5.7', false, false],
  ['numeric', '5.71', '<=5.7', true, false],
  ['numeric', '60', '>60', false, true],
  ['numeric', '60.1', '>60', false, false],
  ['numeric', '60', '>=60', false, false],
  ['numeric', '59', '>=60', false, true],
  ['numeric', '65', '65-99', false, false],
  ['numeric', '99', '65-99', false, false],
  ['numeric', '64', '65-99', false, true],
  ['numeric', '100', '65-99', true, false],
  ['numeric', '1,200', '<1,100', true, false],
  ['numeric', '-6', '-5.0 - +2.0', false, true],
  ['numeric', '5', '< OR = 5', false, false],
  ['numeric', '5', null, null, null],
  ['numeric', '5', 'Negative', null, null],
  ['numeric', 'TNP', '65-99', null, null],
  ['numeric', '<5', '65-99', null, null],
  ['range', '>2000', '<1100', true, false],
  ['range', '>2000', '200-1100', true, false],
  ['range', '>500', '200-1100', null, false],
  ['range', '>500', '<1100', null, false],
  ['range', '>1100', '200-1100', true, false],
  ['range', '>=1100', '200-1100', null, false],
  ['range', '>=1100', '<1100', true, false],
  ['range', '>=1101', '200-1100', true, false],
  ['range', '<0.5', '<0.5', false, false],
  ['range', '<=0.5', '<0.5', null, false],
  ['range', '<=0.5', '<=0.5', false, false],
  ['range', '<0.5', '>=0.5', false, true],
  ['range', '<0.5', '0.5-2', false, true],
  ['range', '<=0.5', '0.5-2', false, null],
  ['range', '<=0.5', '>0.5', false, true],
  ['range', '<3', '0.5-2', null, null],
  ['range', '3-5', '0-10', false, false],
  ['range', '3-5', '4-10', false, null],
  ['range', '3-5', '0-4', null, false],
  ['range', '3-5', '6-10', false, true],
  ['range', '3-5', '0-2', true, false],
  ['range', '5-6', '<5', true, false],
  ['range', '5-6', '<=5', null, false],
  ['range', 'about 5', '0-4', null, null],
  ['range', '5', '0-4', null, null],
  ['range', '>5', 'Negative', null, null],
  ['comment', 'Positive', 'Negative', null, null],
  ['comment', '5', '0-4', null, null],
  ['coded_value', 'DETECTED', '0-4', null, null],
]

test('a result is above or below its range only if that is certain', () => {
  for (const [type, result, reference, is_above_max_range, is_below_min_range] of held)
    assert.deepEqual(
      compareToRange(type, result, parseRange(reference)),
      { is_above_max_range, is_below_min_range },
      `${type} ${result} against ${reference}`,
    )
})

test('no value lies both above and below a range', () => {
  const number = fc.integer({ min: -50, max: 50 })
  const form = fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '-'), number, number)
  const text = ([sign, a, b]: [string, number, number]) => (sign === '-' ? `${Math.min(a, b)}-${Math.max(a, b)}` : `${sign}${a}`)
  fc.assert(
    fc.property(form, form, number, (reference, result, value) => {
      const range = parseRange(text(reference))
      const asRange = compareToRange('range', text(result), range)
      assert.ok(!(asRange.is_above_max_range && asRange.is_below_min_range))
      // A single value inside the interval must not contradict the flags of the whole interval.
      const values = parseRange(text(result))!
      if (values.low && value < values.low.value + (values.low.inclusive ? 0 : 1)) return
      if (values.high && value > values.high.value - (values.high.inclusive ? 0 : 1)) return
      const one = compareToRange('numeric', String(value), range)
      for (const key of ['is_above_max_range', 'is_below_min_range'] as const)
        if (asRange[key] !== null) assert.equal(asRange[key], one[key])
    }),
  )
})

const inside = { is_above_max_range: false, is_below_min_range: false }
const high = { is_above_max_range: true, is_below_min_range: false }
const low = { is_above_max_range: false, is_below_min_range: true }
const untold = { is_above_max_range: null, is_below_min_range: null }

test("the laboratory's flag determines the interpretation, in any spelling", () => {
  const meanings = {
    normal: ['N', 'n', 'Normal', 'NEG'],
    abnormal: ['H', 'L', 'A', 'AA', 'POS', 'pos', ' h ', 'High', 'low', 'abnormal'],
    critical: ['HH', 'LL', 'C', 'CRIT', 'PANIC', 'Panic', 'hh', 'critical'],
  }
  for (const [meaning, flags] of Object.entries(meanings))
    for (const flag of flags)
      for (const position of [inside, high, low, untold]) assert.equal(interpret(flag, position), meaning, flag)
})

test('without a flag, a result out of range is abnormal and any other is normal', () => {
  for (const blank of ['', ' ']) {
    assert.equal(interpret(blank, high), 'abnormal')
    assert.equal(interpret(blank, low), 'abnormal')
    assert.equal(interpret(blank, inside), 'normal')
    assert.equal(interpret(blank, untold), 'normal')
  }
})

test('an unknown flag is never normal', () => {
  for (const flag of ['IND', '?', '*', 'constructor', '__proto__']) {
    assert.equal(interpret(flag, inside), 'unknown')
    assert.equal(interpret(flag, untold), 'unknown')
    assert.equal(interpret(flag, high), 'abnormal')
  }
})

test('the overall interpretation is the most severe one', () => {
  assert.equal(mostSevere(['normal', 'critical', 'abnormal', 'unknown']), 'critical')
  assert.equal(mostSevere(['unknown', 'abnormal', 'normal']), 'abnormal')
  assert.equal(mostSevere(['normal', 'unknown']), 'unknown')
  assert.equal(mostSevere(['normal', 'normal']), 'normal')
  assert.equal(mostSevere([]), 'unknown')
})
