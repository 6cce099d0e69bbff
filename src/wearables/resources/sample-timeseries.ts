// A sample of each timeseries as its batches contain it, with the unit and the special fields of the resource.
// Source: events.md 4.2; users-wearables.md 10.

interface Sampled {
  unit: string
  value: number | string
  /** Whether it lasts from `start` to `end`; otherwise it has one instant. */
  isInterval?: true
  /** Which kind of measurement it is; null unless given. */
  type?: string
  otherFields?: Record<string, unknown>
}

const point = (unit: string, value: number, type?: string): Sampled => ({ unit, value, ...(type !== undefined && { type }) })
const interval = (unit: string, value: number, otherFields: Partial<Sampled> = {}): Sampled => ({
  unit,
  value,
  isInterval: true,
  ...otherFields,
})

/** By the name in the type of the event. */
const sampled: Readonly<Record<string, Sampled>> = {
  calories_active: interval('kcal', 12.5),
  // The reference calls these three points, and its prose intervals.
  calories_basal: point('kcal', 68),
  floors_climbed: point('count', 2),
  water: point('ml', 250),
  distance: interval('m', 410),
  steps: interval('count', 512),
  workout_duration: interval('min', 30, { otherFields: { intensity: 'medium' } }),
  fall: interval('count', 1),
  wheelchair_push: interval('count', 40),
  stand_duration: interval('min', 5),
  stand_hour: interval('count', 1, { type: 'stood' }),
  heartrate: point('bpm', 62),
  hrv: point('rmssd', 48),
  blood_oxygen: point('%', 97),
  glucose: point('mmol/L', 5.2, 'automatic'),
  cholesterol: point('mmol/L', 4.6, 'cholesterol/total'),
  ige: point('FSU', 0.2, 'dairy'),
  igg: point('FSU', 0.2, 'dairy'),
  respiratory_rate: point('bpm', 14),
  vo2_max: interval('mL/kg/min', 41.5),
  electrocardiogram_voltage: point('mV', 0.12, 'lead_1'),
  afib_burden: interval('%', 1),
  heart_rate_alert: interval('count', 1, { type: 'high_heart_rate' }),
  heart_rate_recovery_one_minute: interval('count', 28),
  forced_expiratory_volume_1: interval('L', 3.4),
  forced_vital_capacity: interval('L', 4.2),
  peak_expiratory_flow_rate: interval('L/min', 480),
  inhaler_usage: interval('count', 1),
  weight: point('kg', 68.4),
  fat: point('%', 24),
  body_temperature: interval('°C', 36.7, { otherFields: { sensor_location: 'mouth' } }),
  body_temperature_delta: interval('°C', 0.2, { otherFields: { sensor_location: 'wrist' } }),
  basal_body_temperature: interval('°C', 36.4),
  body_mass_index: interval('index', 22.8),
  lean_body_mass: interval('kg', 52),
  waist_circumference: interval('cm', 78),
  stress_level: point('%', 21),
  mindfulness_minutes: interval('min', 10),
  sleep_apnea_alert: interval('count', 1),
  sleep_breathing_disturbance: interval('count', 3, { type: 'not_elevated' }),
  uv_exposure: interval('index', 4),
  daylight_exposure: interval('min', 25),
  handwashing: interval('count', 1),
  caffeine: interval('g', 0.08),
  carbohydrates: interval('g', 45),
  insulin_injection: interval('unit', 4, {
    type: 'rapid_acting',
    otherFields: { delivery_mode: 'bolus', delivery_form: 'standard', bolus_purpose: 'meal' },
  }),
  note: { unit: 'text', value: 'A fictional note', isInterval: true, otherFields: { tags: ['food'] } },
  workout_distance: interval('m', 1200),
  workout_swimming_stroke: interval('count', 20),
}

/** A sample of a timeseries at an instant, an ISO 8601 text. */
export function exampleSample(resource: string, instant: string): Record<string, unknown> {
  const measured = { timestamp: instant, timezone_offset: 0, id: null }
  if (resource === 'blood_pressure')
    return { ...measured, type: null, unit: 'mmHg', systolic: 120, diastolic: 80, grouping: ['cuff', null, null, null] }
  const known = sampled[resource]
  if (!known) throw new Error(`the timeseries ${resource} has no sample`)
  const { unit, value, isInterval, type = null, otherFields: more } = known
  return { ...measured, type, unit, value, ...(isInterval && { start: instant, end: instant }), ...more }
}
