// The units in which the published clients send each timeseries. Source: github.com/tryVital/vital-ios 1.8, vital-android 5.0.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findConversion } from '../../wearables/ingestion/phone-units.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { resourceOf, sentTimeseries } from './schema.ts'

const units = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(': ') as [TimeseriesName, string])

const ios = units(`
  afib_burden: %
  basal_body_temperature: °C
  blood_oxygen: %
  blood_pressure: mmHg
  body_fat: %
  body_mass_index: index
  body_temperature: °C
  body_weight: kg
  caffeine: mg
  calories_active: kcal
  calories_basal: kcal
  daylight_exposure: minute
  distance: meter
  fall: count
  floors_climbed: count
  forced_expiratory_volume_1: L
  forced_vital_capacity: L
  glucose: mmol/L
  handwashing: count
  heart_rate_alert: count
  heart_rate_recovery_one_minute: count
  heartrate: bpm
  hrv: rmssd
  inhaler_usage: count
  lean_body_mass: kg
  mindfulness_minutes: minute
  peak_expiratory_flow_rate: L/min
  respiratory_rate: bpm
  sleep_apnea_alert: count
  sleep_breathing_disturbance: count
  stand_duration: minute
  stand_hour: count
  steps: count
  uv_exposure: count
  vo2_max: mL/kg/min
  waist_circumference: centimeter
  water: mL
  wheelchair_push: count`)

const android = units(`
  blood_oxygen: %
  blood_pressure: mmHg
  body_fat: percent
  body_mass_index: index
  body_temperature: °C
  body_weight: kg
  calories_active: kJ
  calories_basal: kJ
  distance: m
  glucose: mmol/L
  heartrate: bpm
  hrv: rmssd
  lean_body_mass: kg
  respiratory_rate: bpm
  vo2_max: mL/kg/min
  water: ml`)

describe('the units of the published clients', () => {
  test('are known for each timeseries, and only milligrams of caffeine are converted', () => {
    for (const [provider, sent] of [
      ['apple_health_kit', ios],
      ['health_connect', android],
      ['samsung_health', android],
    ] as const)
      for (const [resource, unit] of sent)
        assert.deepEqual(
          findConversion(provider, resource, unit),
          { factor: resource === 'caffeine' ? 0.001 : 1, offset: 0 },
          `${resource} in ${unit} of ${provider}`,
        )
    // Health Connect and Samsung Health count steps and floors without a unit, and Health Connect has glucose in its own unit.
    for (const resource of ['steps', 'floors_climbed'] as const) assert(findConversion('health_connect', resource, ''))
    assert.equal(findConversion('health_connect', 'glucose', 'mg/dL')!.factor.toFixed(4), '0.0555')
  })

  test('are taken from each timeseries that has a post of its own', () => {
    const listed = new Set(ios.map(([resource]) => resource))
    const notSent = ['carbohydrates', 'insulin_injection', 'note', 'workout_duration']
    const missing = sentTimeseries.map(resourceOf).filter((resource) => !listed.has(resource) && !notSent.includes(resource))
    assert.deepEqual(missing, [])
  })
})
