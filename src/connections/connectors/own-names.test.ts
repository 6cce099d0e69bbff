// Texts from outside under which every object of JavaScript has something: they are names like any other that is not known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCanonicalUnit } from '../../wearables/ingestion/phone-units.ts'
import { toAmount, healthKitNutrients } from '../../wearables/summaries/nutrients.ts'
import { nightOf } from './google-health/data-points.ts'
import { toProfile } from './oura/oura-records.ts'

const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty']

test('a sex or a stage of sleep with the name of a member of every object is unknown', () => {
  for (const name of names) {
    const { gender, sex } = toProfile({ biological_sex: name }).document
    assert.deepEqual([gender, sex], [null, null])
    const interval = { startTime: '2026-01-31T01:00:00Z', endTime: '2026-01-31T02:00:00Z' }
    const night = nightOf({
      name: 'users/me/dataTypes/sleep/dataPoints/fictional',
      sleep: { interval, stages: [{ ...interval, type: name }] },
    })
    assert.deepEqual(night?.cycle?.document.stage_type, [-1])
  }
})

test('a unit with the name of a member of every object is unknown', () => {
  for (const name of names) {
    assert.equal(toCanonicalUnit('manual', 'glucose', 5.5, name), undefined)
    for (const one of Object.values(healthKitNutrients)) assert.equal(toAmount(one, 2, name), undefined)
  }
})
