import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rangeOf } from './ranges.ts'
import { isUnit } from './units.ts'
import { flagOf, numberOf, partFlag, valueKind } from './values.ts'

describe('values as reports print them', () => {
  test('numbers have separators, decimal commas, exponents and powers of ten', () => {
    for (const [text, value] of [
      ['5.4', 5.4],
      ['1,234.5', 1234.5],
      ['45,000', 45_000],
      ['1,79,294', 179_294],
      ['12,45,000.5', 1_245_000.5],
      ['5,4', 5.4],
      ['.8', 0.8],
      ['1.2e3', 1200],
      ['2.5 x 10^3', 2500],
      ['1,2 × 10⁵', 120_000],
      ['3x10⁻²', 0.03],
      ['10^5', 100_000],
      ['10⁵', 100_000],
      ['−2', -2],
      ['1 234', 1234],
      ['12 345,6', 12_345.6],
      ["1'234", 1234],
      ['250 000', 250_000],
    ] as const)
      assert.equal(numberOf(text), value, text)
    for (const text of ['', 'H', '1.2.3', '12/05/2024', '5-6', '1,23,45', '12 34', '0 123', '1 2345'])
      assert.equal(numberOf(text), undefined, text)
  })

  test('the kind of a value follows from its text', () => {
    const kinds = {
      '95': 'number',
      '<0.01': 'comparator',
      '<1:40': 'comparator',
      '97/100': 'ratio',
      '10-20': 'interval',
      'Non-Reactive': 'word',
      '2+': 'word',
      Glucose: undefined,
    }
    for (const [text, kind] of Object.entries(kinds)) assert.equal(valueKind(text), kind, text)
  })

  test('a flag at a value is parted from it', () => {
    assert.deepEqual(partFlag('120H'), { value: '120', flag: 'high' })
    assert.deepEqual(partFlag('3.1 (L)'), { value: '3.1', flag: 'low' })
    assert.deepEqual(partFlag('*5.9'), { value: '5.9', flag: 'marked' })
    assert.deepEqual(partFlag('7 -'), { value: '7', flag: 'low' })
    assert.equal(partFlag('2 +').value, '2 +')
    assert.deepEqual(partFlag('1+A'), { value: '1+', flag: 'abnormal' })
    assert.equal(partFlag('7 - 20').value, '7 - 20')
    assert.deepEqual(partFlag('168 High'), { value: '168', flag: 'high' })
    assert.deepEqual(partFlag('Positive (!)'), { value: 'Positive', flag: 'marked' })
    assert.deepEqual(partFlag('DETECTED (A)'), { value: 'DETECTED', flag: 'abnormal' })
    assert.equal(partFlag('RH (A)').value, 'RH (A)')
    assert.deepEqual(partFlag('Trace (Abn)'), { value: 'Trace', flag: 'abnormal' })
    assert.deepEqual(partFlag('Positive'), { value: 'Positive' })
    assert.deepEqual(partFlag('L130'), { value: '130', flag: 'low' })
    assert.deepEqual(partFlag('11.2!!'), { value: '11.2', flag: 'critical' })
    for (const value of ['L1', 'H2', 'L1-L4']) assert.deepEqual(partFlag(value), { value }, value)
    for (const marked of ['180 (1)', '180 [2]', '180²']) assert.deepEqual(partFlag(marked), { value: '180' }, marked)
    for (const value of ['30 (1+)', '10⁵', '12 (40)']) assert.deepEqual(partFlag(value), { value }, value)
    assert.equal(flagOf('[HH]'), 'critical_high')
    assert.equal(flagOf('At Risk'), 'abnormal')
    assert.equal(flagOf('Needs attention'), 'abnormal')
  })

  test('units are recognized in many spellings, and other words are not units', () => {
    for (const unit of [
      'mg/dL',
      'x10E3/uL',
      '10^9/L',
      'mL/min/1.73 m2',
      '%',
      '% of total Hgb',
      '% (calc)',
      'fL',
      '/cumm',
      'mIU/L',
      'µmol/L',
      'K/uL',
      'cells/mcL',
      'mmol/mol',
      '/hpf',
      'Leu/µL',
      'Ery/μL',
      'iu/L',
      'mu/L',
      'x E9/L',
      '× E12/L',
      'mm at 1 hr',
      'mmat 1hr',
      'mL/min/1.73m**2',
      'nm',
      'kg/m2',
    ])
      assert.equal(isUnit(unit), true, unit)
    for (const word of ['Glucose', 'H', '95', 'Serum', 'Page', '70-99', 'E9']) assert.equal(isUnit(word), false, word)
  })
})

describe('reference ranges', () => {
  const bounds = (text: string) => {
    const range = rangeOf(text)
    return range && [range.min, range.max]
  }
  test('one range has one or two bounds, a unit, brackets or a label around it', () => {
    assert.deepEqual(bounds('70-99'), [70, 99])
    assert.deepEqual(bounds('(3.5 to 5.1)'), [3.5, 5.1])
    assert.deepEqual(bounds('<5.7'), [null, 5.7])
    assert.deepEqual(bounds('Up to 40'), [null, 40])
    assert.deepEqual(bounds('≥ 60'), [60, null])
    assert.deepEqual(bounds('Reference: 4.8 – 5.6 %'), [4.8, 5.6])
    for (const text of ['70 a 99', '70 à 99', '70÷99', '[70 ; 99]']) assert.deepEqual(bounds(text), [70, 99], text)
    assert.deepEqual(bounds('(-2) - (+3)'), [-2, 3])
    assert.deepEqual(bounds('Negative'), [null, null])
    assert.equal(bounds('printed elsewhere'), undefined)
  })
})

test('bounds may be open, written with or, and in capitals', () => {
  const bounds = (text: string) => {
    const range = rangeOf(text)
    return range && [range.min, range.max]
  }
  assert.deepEqual(bounds('40-'), [40, null])
  assert.deepEqual(bounds('-30'), [null, 30])
  assert.deepEqual(bounds('> OR = 50 mg/dL'), [50, null])
  assert.deepEqual(bounds('( Normal : 0 - 6 mg/L )'), [0, 6])
  assert.deepEqual(bounds('200-393 MG/DL'), [200, 393])
  assert.deepEqual(bounds('50 or higher'), [50, null])
  assert.deepEqual(bounds('5.6 and below'), [null, 5.6])
  assert.deepEqual(bounds('100 or less mg/dL'), [null, 100])
})
