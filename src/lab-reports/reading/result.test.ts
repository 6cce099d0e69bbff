// The type of a result and what its range says of it. Source: the tables of lab-testing.md 25.3.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { interpretResult, typeOf, type ResultType } from './result.ts'

describe('the type of a result', () => {
  const types: Record<ResultType, string[]> = {
    numeric: ['5.4', '1e-3', '-2.1', '1,234.5', '4.5 x10^3', ' 7 '],
    range: ['<50', '≥2000', '10-20', '0 - 2', '<50%', '10-20%', '10% - 20%', '>= 60', 'up to 40', '< 0.01 %'],
    percentage: ['20%', '5.4 %', '20% of cells'],
    ratio: ['97/100', '120 / 80'],
    duration: ['3h', '12 min', '10:00', '45 sec', '2:30', '12:30:15'],
    boolean: ['yes', 'No', 'TRUE', 'false', 'Positive', 'negative'],
    comment: ['1:80', '1:40', '1:16', '1:1280', '10:75', 'Not detected', 'See note', 'A Positive', ''],
  }
  for (const [type, values] of Object.entries(types))
    test(`is ${type} as the table says`, () => {
      for (const value of values) assert.equal(typeOf(value), type, value)
    })
})

describe('the range of a result', () => {
  const judged = (value: string, min: number | null, max: number | null) => {
    const range = { min, max, text: '', word: null }
    const { interpretation, is_above_max_range, is_below_min_range } = interpretResult(value, { range, flag: null })
    return [interpretation, is_above_max_range, is_below_min_range]
  }
  const [NORMAL, ABOVE, BELOW, UNKNOWN] = [
    ['normal', false, false],
    ['abnormal', true, false],
    ['abnormal', false, true],
    ['unknown', null, null],
  ]
  const judge = (expected: unknown, cases: [value: string, min: number | null, max: number | null][]) => {
    for (const one of cases) assert.deepEqual(judged(...one), expected, one.join(' '))
  }

  test('has bounds that belong to it', () => {
    judge(NORMAL, [
      ['70', 70, 99],
      ['99', 70, 99],
      ['85%', 80, 90],
    ])
    judge(ABOVE, [['99.1', 70, 99]])
    judge(BELOW, [['69.9', 70, 99]])
  })

  test('decides on a comparator where all that it can be is on one side', () => {
    judge(BELOW, [
      ['<50', 50, 100],
      ['≤49', 50, 100],
      ['<50%', 50, 100],
    ])
    judge(ABOVE, [
      ['>100', 50, 100],
      ['≥101', 50, 100],
    ])
    judge(NORMAL, [
      ['<5', null, 10],
      ['<10', 0, 10],
      ['≤10', 0, 10],
      ['>90', 60, null],
      ['≥60', 60, null],
    ])
  })

  test('leaves open a comparator that can be inside and outside', () => {
    judge(UNKNOWN, [
      ['≤50', 50, 100],
      ['≥100', 50, 100],
      ['<60', 50, 100],
      ['>60', 50, 100],
      ['<1', -2, 2],
      ['<11', null, 10],
    ])
  })

  test('decides on an interval as on all that is in it', () => {
    judge(ABOVE, [['10-20', 0, 2]])
    judge(BELOW, [['1-2', 3, 5]])
    judge(NORMAL, [['0-2', 0, 5]])
    judge(UNKNOWN, [
      ['4-6', 0, 5],
      ['2-3', 3, 5],
    ])
  })

  test('says nothing of words and titers', () => {
    judge(UNKNOWN, [
      ['1:80', 0, 40],
      ['Trace', 0, 40],
    ])
  })
})
