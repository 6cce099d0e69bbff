import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convert, readUnit } from './ucum-units.ts'

const canonical = (text: string): string => readUnit(text)[0]?.canonical ?? '?'
const kind = (text: string): string => readUnit(text)[0]?.kind ?? '?'

test('every spelling of a unit becomes one', () => {
  const spellings: Record<string, string[]> = {
    '10*3/uL': [
      '10^3/uL',
      'x10E3/µL',
      'x10E3/uL',
      'K/uL',
      'thou/mm3',
      '10*3/uL',
      'Thousand/uL',
      'x10(3)/uL',
      'k/mm3',
      'THOU/MCL',
      'x 10^3 / μL',
      '10³/µL',
      'K/µL',
      'Th/cumm',
    ],
    '10*9/L': ['10*9/L', '10~9/L', '10^9/L', 'x10^9/L', '10E9/L', 'x E9/L', '×10⁹/L', 'Giga/L', 'bil/L'],
    '10*6/uL': ['Million/uL', 'M/uL', 'x10E6/uL', 'mill/cumm', '10^6/mm^3', 'mil/mcL'],
    '10*12/L': ['10^12/L', 'T/L', 'x10E12/L', '10*12/L'],
    '/uL': ['cells/uL', '/cumm', '/mm3', 'cells/cu.mm', '#/uL', '/µL'],
    'mg/dL': ['mg/dl', 'MG/DL', 'mg / dL', 'mg%', 'mg/dL (calc)'],
    'g/dL': ['g/dl', 'gm/dL', 'gms/dl', 'G/DL', 'g%', 'gm%'],
    'ug/dL': ['mcg/dL', 'µg/dL', 'ug/dl', 'μg/dl'],
    'u[IU]/mL': ['µIU/mL', 'uIU/mL', 'UIU/ML', 'u[IU]/mL', 'mcIU/mL'.replace('mcI', 'uI')],
    'm[IU]/L': ['mIU/L', 'MIU/L', 'mIU/l'],
    "[GPL'U]/mL": ['GPL U/mL', 'GPLU/mL', 'gpl u/ml'],
    'mL/min/{1.73_m2}': [
      'mL/min/1.73m2',
      'mL/min/1.73 m²',
      'mL/min/1.73',
      'ml/min/1.73m^2',
      'mL/min/{1.73_m2}',
      'mL/min per 1.73 m2',
    ],
    '%': ['%', '% (calc)', '% of total Hgb', 'percent'],
    'U/L': ['U/L', 'u/l', 'Units/L', 'U / L'],
    '[IU]/L': ['IU/L', 'iu/l', '[IU]/L'],
    'mmol/L': ['mmol/L', 'MMOL/L', 'mmol/l'],
    'meq/L': ['mEq/L', 'MEQ/L'],
    '/[HPF]': ['/hpf', '/HPF', 'cells/hpf', 'per HPF', '/[HPF]', '/H.P.F.'],
    '/[LPF]': ['/LPF', '/lpf', 'casts/LPF'],
    'mm/h': ['mm/hr', 'mm/h', 'mm/1st hr', 'mm/hour', 'mm at 1 hr'],
    'mg/g{creat}': ['mg/g', 'mg/g creat', 'mg/g{creat}', 'mg/g cr'],
    'mg/(24.h)': ['mg/24h', 'mg/24 hr', 'mg/24 hours', 'mg/day', 'mg/d', 'mg/(24.h)'],
    fL: ['fL', 'FL', 'fl', 'um3'],
    pg: ['pg', 'PG'],
    'ng/mL': ['ng/mL', 'NG/ML', 'ng/ml FEU'.replace(' FEU', '')],
    s: ['sec', 'seconds', 's', 'Secs.'],
    'mm[Hg]': ['mmHg', 'mm Hg', 'mm[Hg]'],
    'mosm/kg': ['mOsm/kg', 'mosmol/kg', 'mOsm/kg H2O'],
    'k[IU]/L': ['kIU/L', 'KIU/L'],
  }
  for (const [unit, texts] of Object.entries(spellings)) for (const text of texts) assert.equal(canonical(text), unit, text)
})

test('units of one number and different quantities are distinguished', () => {
  assert.deepEqual(
    [
      'mg/dL',
      'mmol/L',
      'U/L',
      'IU/mL',
      '10^9/L',
      '%',
      'mmol/mol',
      'mg/g',
      'mg/24 h',
      'mL/min',
      's',
      '/hpf',
      'index',
      'pg',
      'pg/mL',
    ].map(kind),
    [
      'mass_volume',
      'substance_volume',
      'catalytic_volume',
      'arbitrary_volume',
      'count_volume',
      'fraction',
      'ifcc_fraction',
      'creatinine_ratio',
      'mass_time',
      'clearance',
      'time',
      'count_area',
      'index',
      'entitic_mass',
      'mass_volume',
    ],
  )
})

test('G/L has two readings, cells first; g/L is grams', () => {
  assert.deepEqual(
    readUnit('G/L').map((unit) => unit.canonical),
    ['10*9/L', 'g/L'],
  )
  assert.deepEqual(
    readUnit('g/L').map((unit) => unit.canonical),
    ['g/L'],
  )
})

test('a text that is not a known unit has no reading', () => {
  for (const text of [
    '',
    ' ',
    null,
    undefined,
    'see note',
    'abc/def',
    '10^99/uL',
    'mg/',
    '/',
    'constructor',
    '__proto__',
    'x'.repeat(10_000),
    '%'.repeat(30),
    '10^3/',
  ])
    assert.deepEqual(readUnit(text), [], String(text).slice(0, 20))
})

test('values convert between units of one kind, and not between kinds', () => {
  const between = (value: number, source: string, target: string): number | undefined =>
    convert(value, readUnit(source)[0]!, readUnit(target)[0]!)
  assert.ok(Math.abs(between(1.2, 'mg/L', 'mg/dL')! - 0.12) < 1e-12)
  assert.ok(Math.abs(between(250, 'K/uL', '10^9/L')! - 250) < 1e-9)
  assert.ok(Math.abs(between(7200, '/cumm', '10^3/uL')! - 7.2) < 1e-9)
  assert.ok(Math.abs(between(2.5, 'lakhs/cumm', '10^3/uL')! - 250) < 1e-9)
  assert.ok(Math.abs(between(0.43, 'L/L', '%')! - 43) < 1e-9)
  assert.equal(between(5, 'mmol/L', 'mg/dL'), undefined)
  assert.equal(between(5, 'index', 'index'), 5)
})
