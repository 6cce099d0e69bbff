// A sample of each timeseries as its batches contain it, with the unit and the special fields of the resource.
// Source: events.md 4.2; users-wearables.md 10.
import { resourceNameOf, timeseriesNames, timeseriesOf, type TimeseriesName } from './timeseries.ts'

/** The kinds of measurements, and the fields that only samples of one timeseries have. */
const otherFields: Partial<Record<TimeseriesName, Record<string, unknown>>> = {
  workout_duration: { intensity: 'medium' },
  stand_hour: { type: 'stood' },
  glucose: { type: 'automatic' },
  cholesterol: { type: 'cholesterol/total' },
  ige: { type: 'dairy' },
  igg: { type: 'dairy' },
  electrocardiogram_voltage: { type: 'lead_1' },
  heart_rate_alert: { type: 'high_heart_rate' },
  body_temperature: { sensor_location: 'mouth' },
  body_temperature_delta: { sensor_location: 'wrist' },
  sleep_breathing_disturbance: { type: 'not_elevated' },
  insulin_injection: { type: 'rapid_acting', delivery_mode: 'bolus', delivery_form: 'standard', bolus_purpose: 'meal' },
  note: { tags: ['food'] },
}

/** A sample of a timeseries, by the name in the type of its event, at an instant, an ISO 8601 text. */
export function exampleSample(resource: string, instant: string): Record<string, unknown> {
  const measured = { timestamp: instant, timezone_offset: 0, id: null, type: null }
  if (resource === 'blood_pressure')
    return { ...measured, unit: 'mmHg', systolic: 120, diastolic: 80, grouping: ['cuff', null, null, null] }
  const name = timeseriesNames.find((timeseries) => resourceNameOf(timeseries) === resource)
  if (!name) throw new Error(`the timeseries ${resource} has no sample`)
  const { unit, example, isInterval } = timeseriesOf(name)
  return { ...measured, unit, value: example, ...(isInterval && { start: instant, end: instant }), ...otherFields[name] }
}
