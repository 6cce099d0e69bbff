// The units of timeseries beside those of UCUM.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertUnits, isUcum } from '../../../test/support/ucum.ts'
import { timeseriesNames, timeseriesOf } from '../resources/timeseries.ts'
import { toCanonicalUnit } from './phone-units.ts'

/** Units that the API has names of its own for, with those of UCUM that mean the same; null where there is none. */
const ownNames: Record<string, string | null> = {
  '°C': 'Cel',
  mmHg: 'mm[Hg]',
  bpm: '/min',
  rmssd: 'ms',
  unit: '[IU]',
  count: '1',
  index: null,
  stage: null,
  text: null,
  // Of an assay of antibodies.
  FSU: null,
}

test('units of timeseries are units of UCUM, or listed as names of the API', () => {
  const units = new Set(timeseriesNames.map((name) => timeseriesOf(name).unit))
  const others = [...units].filter((unit) => !isUcum(unit))
  assert.deepEqual(others.toSorted(), Object.keys(ownNames).toSorted())
  for (const [own, unit] of Object.entries(ownNames)) if (unit !== null) assert(isUcum(unit), own)
})

test('values that phones send in other units are converted as UCUM converts them', () => {
  const isNear = (value: number, expected: number) => assert(Math.abs(value / expected - 1) < 1e-5, `${value} for ${expected}`)
  // The molecular weight of glucose.
  isNear(toCanonicalUnit('manual', 'glucose', 99, 'mg/dL')!, convertUnits(99, 'mg/dL', 'mmol/L', 180.182))
  isNear(toCanonicalUnit('manual', 'caffeine', 80, 'mg')!, convertUnits(80, 'mg', timeseriesOf('caffeine').unit))
})
