// The sample of every type of event has the shape of the event it stands for.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventTypes } from '../src/webhooks/catalogue.ts'
import { sampleBody } from '../src/webhooks/samples.ts'

const scene = { team_id: '00000000-0000-4000-8000-0000000000aa', at_text: '2030-01-31T08:00:00+00:00' }
const sample = (name: string) => sampleBody(name, scene)

describe('the sample of an event', () => {
  test('of a timeseries has the unit of its resource', () => {
    const units: Record<string, string[]> = {
      count: [
        'steps',
        'floors_climbed',
        'fall',
        'wheelchair_push',
        'stand_hour',
        'heart_rate_alert',
        'heart_rate_recovery_one_minute',
        'inhaler_usage',
        'sleep_apnea_alert',
        'sleep_breathing_disturbance',
        'handwashing',
        'workout_swimming_stroke',
      ],
      kcal: ['calories_active', 'calories_basal'],
      m: ['distance', 'workout_distance'],
      min: ['workout_duration', 'stand_duration', 'mindfulness_minutes', 'daylight_exposure'],
      bpm: ['heartrate', 'respiratory_rate'],
      rmssd: ['hrv'],
      '%': ['blood_oxygen', 'afib_burden', 'fat', 'stress_level'],
      mmHg: ['blood_pressure'],
      'mmol/L': ['glucose', 'cholesterol'],
      FSU: ['ige', 'igg'],
      'mL/kg/min': ['vo2_max'],
      mV: ['electrocardiogram_voltage'],
      L: ['forced_expiratory_volume_1', 'forced_vital_capacity'],
      'L/min': ['peak_expiratory_flow_rate'],
      kg: ['weight', 'lean_body_mass'],
      '°C': ['body_temperature', 'body_temperature_delta', 'basal_body_temperature'],
      index: ['body_mass_index', 'uv_exposure'],
      cm: ['waist_circumference'],
      ml: ['water'],
      g: ['caffeine', 'carbohydrates'],
      unit: ['insulin_injection'],
      text: ['note'],
    }
    const unitOf = new Map(Object.entries(units).flatMap(([unit, names]) => names.map((name) => [name, unit])))
    for (const { name, family, resource } of eventTypes) {
      if (family !== 'timeseries') continue
      const { data } = sample(name) as { data: { data: { unit: string }[] } }
      assert.deepEqual([resource, data.data.map(({ unit }) => unit)], [resource, [unitOf.get(resource!)]])
    }
  })
})
