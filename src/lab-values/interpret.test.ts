import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../test/support/any-text.ts'
import {
  comparable,
  interpret,
  mostSevere,
  statementOfCode,
  statementOfFlag,
  type Interpretation,
  type Judgment,
} from './interpret.ts'
import type { Patient } from './ranges.ts'
import { flagOf } from './values.ts'

const woman: Patient = { sex: 'female', age: { years: 40, months: 480, weeks: 2087, days: 14_610 } }

/** A result without a flag, as a link or a report states it. */
function judge(result: string, reference: string | null, flag = '', unit: string | null = null): Judgment {
  const { value, range } = comparable(result, reference === null ? [] : [reference], woman, { unit, name: 'Analyte' })
  return interpret(value, range, statementOfCode(flag))
}

test('a range in another unit than the result decides nothing', () => {
  assert.equal(judge('5', '70-99 mg/dL', '', 'mmol/L').interpretation, 'unknown')
  assert.equal(judge('0.2', '0-3 mg/dL', '', 'mg/L').interpretation, 'unknown')
  assert.equal(judge('6', '3.8-10.8 x10E3/uL', '', 'K/uL').interpretation, 'normal')
  assert.equal(judge('90', '70-99 mg/dL', '', 'MG/DL').interpretation, 'normal')
  assert.equal(judge('90', '70-99 mg/dL', '', 'unheard of').interpretation, 'normal')
  assert.equal(judge('166', '<130 (calc)', '', 'mg/dL').interpretation, 'abnormal')
  assert.equal(judge('1.7', '1.0-2.5 (Calculated)', '', null).interpretation, 'normal')
})

test('judges arbitrary text in bounded time without non-finite bounds', () => {
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
    `${'Negative/'.repeat(20_000)}Trace`,
    '\ud800<5',
    '<5\u0301',
    '🩸'.repeat(60),
  ]
  for (const text of hostile) assertSound(text)
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,+-<>= OR:eE^≤'), maxLength: 250 }), assertSound))
  fc.assert(fc.property(anyText({ maxLength: 250 }), assertSound))
})

function assertSound(text: string): void {
  const { range } = comparable(text, [text], woman, { unit: null, name: 'Analyte' })
  for (const bound of [range?.min, range?.max]) assert.ok(bound == null || Number.isFinite(bound))
  for (const reference of [text, '1-2', 'Negative', '<1:40']) judge(text, reference)
  judge('5', text)
}

/** result, reference range, interpretation, above, below */
const judged: [string, string | null, Interpretation, boolean | null, boolean | null][] = [
  ['5.7', '<5.7', 'abnormal', true, false],
  ['5.6', '<5.7', 'normal', false, false],
  ['5.7', '<=5.7', 'normal', false, false],
  ['5.7', 'less than 5.7', 'abnormal', true, false],
  ['5.7', 'up to 5.7', 'normal', false, false],
  ['5.71', '<=5.7', 'abnormal', true, false],
  ['60', '>60', 'abnormal', false, true],
  ['60', 'more than 60', 'abnormal', false, true],
  ['60', 'at least 60', 'normal', false, false],
  ['60.1', '>60', 'normal', false, false],
  ['60', '>=60', 'normal', false, false],
  ['59', '>=60', 'abnormal', false, true],
  ['65', '65-99', 'normal', false, false],
  ['99', '65-99', 'normal', false, false],
  ['64', '65-99', 'abnormal', false, true],
  ['100', '65-99', 'abnormal', true, false],
  ['1,200', '<1,100', 'abnormal', true, false],
  ['-6', '-5.0 - +2.0', 'abnormal', false, true],
  ['5', '< OR = 5', 'normal', false, false],
  ['6.9', '0.4 to 4.5', 'abnormal', true, false],
  ['160', 'up to 100', 'abnormal', true, false],
  ['160', 'maximum 100', 'abnormal', true, false],
  ['8', '3 through 7', 'abnormal', true, false],
  ['110', 'Optimal: <100; Near optimal: 100-129', 'abnormal', true, false],
  ['0.5', 'Neg: <0.91 Equiv: 0.91-1.09 Pos: >1.09', 'normal', false, false],
  ['1.5', 'Neg: <0.91 Equiv: 0.91-1.09 Pos: >1.09', 'abnormal', true, false],
  ['20', 'more than 40', 'abnormal', false, true],
  ['5,4', '4,0 - 5,6', 'normal', false, false],
  ['5.4', '4,0 - 5,6', 'normal', false, false],
  ['1,234', '0,5 - 4,5', 'normal', false, false],
  ['1.234', '1.000,0 - 2.000,0', 'normal', false, false],
  ['1.234', '1,000-2,000', 'unknown', null, null],
  ['5.4 %', '4.0-5.6 %', 'normal', false, false],
  ['140 mmol/L', '135-145 mmol/L', 'normal', false, false],
  ['5', null, 'unknown', null, null],
  ['5', '', 'unknown', null, null],
  ['5', 'see note', 'unknown', null, null],
  ['5', 'Smokers: <10', 'unknown', null, null],
  ['5', 'Negative', 'unknown', null, null],
  ['TNP', '65-99', 'unknown', null, null],
  ['see note', null, 'unknown', null, null],
  ['50', '<40 low; >60 high', 'unknown', null, null],
  ['6.0', 'Normal: <5.7; Prediabetes: 5.7-6.4; Diabetes: >6.4', 'abnormal', true, false],
  ['5', '3-8 follicular; 2-6 luteal', 'unknown', null, null],
  ['<0.2', '<3.0', 'normal', false, false],
  ['<0.2', '0.4-4.5', 'abnormal', false, true],
  ['<5', '65-99', 'abnormal', false, true],
  ['less than 5', '65-99', 'abnormal', false, true],
  ['<10', '0-10', 'normal', false, false],
  ['>2000', '<1100', 'abnormal', true, false],
  ['>2000', '200-1100', 'abnormal', true, false],
  ['>500', '200-1100', 'unknown', null, false],
  ['>500', '<1100', 'unknown', null, false],
  ['>1100', '200-1100', 'abnormal', true, false],
  ['>=1100', '200-1100', 'unknown', null, false],
  ['>=1100', '<1100', 'abnormal', true, false],
  ['>=1101', '200-1100', 'abnormal', true, false],
  ['<0.5', '<0.5', 'normal', false, false],
  ['<=0.5', '<0.5', 'unknown', null, false],
  ['<=0.5', '<=0.5', 'normal', false, false],
  ['<0.5', '>=0.5', 'abnormal', false, true],
  ['<0.5', '0.5-2', 'abnormal', false, true],
  ['<=0.5', '0.5-2', 'unknown', false, null],
  ['<=0.5', '>0.5', 'abnormal', false, true],
  ['<3', '0.5-2', 'unknown', null, null],
  ['<1', '-2-2', 'unknown', false, null],
  ['3-5', '0-10', 'normal', false, false],
  ['3-5', '4-10', 'unknown', false, null],
  ['3-5', '0-4', 'unknown', null, false],
  ['3-5', '6-10', 'abnormal', false, true],
  ['3-5', '0-2', 'abnormal', true, false],
  ['5-6', '<5', 'abnormal', true, false],
  ['5-6', '<=5', 'unknown', null, false],
  ['about 5', '0-4', 'unknown', null, null],
  ['5', '0-4', 'abnormal', true, false],
  ['Positive', '0-4', 'unknown', null, null],
]

test('a result without a flag is judged by its range only if that is certain, and is unknown otherwise', () => {
  for (const [result, reference, interpretation, isAbove, isBelow] of judged)
    assert.deepEqual(judge(result, reference), { interpretation, isAbove, isBelow }, `${result} against ${reference}`)
})

test('no value lies both above and below a range', () => {
  const number = fc.integer({ min: -50, max: 50 })
  const form = fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '-'), number, number)
  const text = ([sign, a, b]: [string, number, number]) => (sign === '-' ? `${Math.min(a, b)}-${Math.max(a, b)}` : `${sign}${a}`)
  fc.assert(
    fc.property(form, form, number, (reference, result, value) => {
      const all = judge(text(result), text(reference))
      assert.ok(!(all.isAbove && all.isBelow))
      // A single value inside the interval must not contradict what is said of the whole interval.
      const one = judge(String(value), text(result))
      if (one.interpretation !== 'normal' || (value < 0 && result[0].startsWith('<'))) return
      const single = judge(String(value), text(reference))
      for (const key of ['isAbove', 'isBelow'] as const) if (all[key] !== null) assert.equal(all[key], single[key])
    }),
  )
})

test("the laboratory's flag determines the interpretation, in any spelling", () => {
  const meanings = {
    normal: ['N', 'n', 'Normal', 'NEG'],
    abnormal: ['H', 'L', 'A', 'AA', 'POS', 'pos', ' h ', 'High', 'low', 'abnormal', 'H*'],
    critical: ['HH', 'LL', 'C', 'CRIT', 'PANIC', 'Panic', 'hh', 'critical', 'Critical High'],
  }
  for (const [meaning, flags] of Object.entries(meanings))
    for (const flag of flags)
      for (const result of ['5', '500', '0.1', 'Reactive', 'see note'])
        assert.equal(judge(result, '1-10', flag).interpretation, meaning, flag)
})

test('after an unknown flag no result is normal', () => {
  for (const flag of ['IND', '?', '*', '**', '†', '#', 'constructor', '__proto__', 'toString']) {
    assert.equal(judge('5', '1-10', flag).interpretation, 'unknown', flag)
    assert.equal(judge('5', null, flag).interpretation, 'unknown', flag)
    assert.equal(judge('50', '1-10', flag).interpretation, 'abnormal', flag)
  }
})

test('a star next to a result marks it as abnormal, and a dagger refers to a note', () => {
  assert.equal(statementOfFlag(flagOf('*')!), 'abnormal')
  assert.equal(statementOfFlag(flagOf('†')!), null)
})

test('the overall interpretation is the most severe one', () => {
  assert.equal(mostSevere(['normal', 'critical', 'abnormal', 'unknown']), 'critical')
  assert.equal(mostSevere(['unknown', 'abnormal', 'normal']), 'abnormal')
  assert.equal(mostSevere(['normal', 'unknown']), 'unknown')
  assert.equal(mostSevere(['normal', 'normal']), 'normal')
  assert.equal(mostSevere([]), 'unknown')
})

test('nothing where a result up to a bound is expected is normal, and undecided where more is expected', () => {
  for (const [result, reference] of [
    ['Nil', '0 - 5'],
    ['None seen', '0-10'],
    ['Non-Reactive', '<1.00'],
    ['Negative', 'Less than 1:80'],
    ['1:40', '< 1:80'],
    ['4.2', 'Optimum < 5.0'],
  ] as const)
    assert.equal(judge(result, reference).interpretation, 'normal', `${result} ${reference}`)
  for (const [result, reference] of [
    ['Negative', '>=10'],
    ['Nil', '3 - 8'],
    ['Positive', '<1.00'],
    ['Nil', '1:80'],
  ] as const)
    assert.equal(judge(result, reference).interpretation, 'unknown', `${result} ${reference}`)
})

test('the bound from which on a patient is immune is what is expected', () => {
  for (const reference of ['Immune: > 10', '>=10.0 = Immune', '> 10 (Immune)']) {
    assert.equal(judge('38', reference).interpretation, 'normal', reference)
    assert.equal(judge('4', reference).interpretation, 'abnormal', reference)
  }
  assert.equal(judge('38', 'Non-immune: <10').interpretation, 'unknown')
})
