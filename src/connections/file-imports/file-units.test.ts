// The factors of units in files beside those of UCUM.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { convertUnits } from '../../../test/support/ucum.ts'
import { dimensions, toCanonical, type Dimension } from './file-units.ts'

/** The unit of UCUM that a unit of files means, where they are not the same: `st` is a stere there, `ft` a femtoton. */
const meant: Record<string, string> = {
  mcg: 'ug',
  lb: '[lb_av]',
  st: '[stone_av]',
  oz: '[oz_av]',
  mi: '[mi_i]',
  ft: '[ft_i]',
  yd: '[yd_i]',
  in: '[in_i]',
  Cal: '[Cal]',
  fl_oz_us: '[foz_us]',
  fl_oz_imp: '[foz_br]',
  cup_us: '[cup_us]',
  cup_imp: '10.[foz_br]',
  pt_us: '[pt_us]',
  pt_imp: '[pt_br]',
  hr: 'h',
  'count/min': '/min',
  'count/s': '/s',
  'count/hr': '/h',
  bpm: '/min',
  mmHg: 'mm[Hg]',
  cmAq: 'cm[H2O]',
  'mL/min·kg': 'mL/min/kg',
  'mL/kg·min': 'mL/kg/min',
  'mL/(kg*min)': 'mL/(kg.min)',
  degC: 'Cel',
  '°C': 'Cel',
  degF: '[degF]',
  '°F': '[degF]',
}
const ucumOf = (unit: string): string => meant[unit] ?? unit

/** The unit of each dimension; none for numbers without a unit and percentages, which Apple writes as fractions. */
const canonical: Record<Exclude<Dimension, 'count' | 'index' | 'percent' | 'celsius'>, string> = {
  kilogram: 'kg',
  gram: 'g',
  microgram: 'ug',
  meter: 'm',
  centimeter: 'cm',
  kilocalorie: 'kcal',
  milliliter: 'mL',
  liter: 'L',
  literPerMinute: 'L/min',
  minute: 'min',
  second: 's',
  millisecond: 'ms',
  perMinute: '/min',
  pressure: 'mm[Hg]',
  oxygen: 'mL/kg/min',
  glucose: 'mmol/L',
}
const GLUCOSE = 180.182

describe('units in files', () => {
  for (const [dimension, unit] of Object.entries(canonical) as [keyof typeof canonical, string][])
    test(`of the dimension ${dimension} have the factors of UCUM`, () => {
      for (const sent of Object.keys(dimensions[dimension])) {
        const expected = convertUnits(
          3,
          ucumOf(sent),
          unit,
          ucumOf(sent) === unit || dimension !== 'glucose' ? undefined : GLUCOSE,
        )
        const value = toCanonical(dimension, 3, sent)!
        // UCUM has the column of mercury with six digits.
        assert(Math.abs(value / expected - 1) < 1e-5, `${sent}: ${value} for ${expected}`)
      }
    })

  test('of temperatures are converted as UCUM converts them', () => {
    for (const sent of [...Object.keys(dimensions.celsius), 'degF', '°F', 'K'])
      for (const value of [-40, 36.6, 98.6])
        assert(
          Math.abs(toCanonical('celsius', value, sent)! - convertUnits(value, ucumOf(sent), 'Cel')) < 1e-9,
          `${value} ${sent}`,
        )
  })
})
