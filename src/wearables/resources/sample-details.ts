// Fields that samples of some timeseries have in addition to value and type. A sample is stored with one text for its type: with details that text
// is a JSON list, of the type and then the details in the order that is given here. Only values and two pure functions.
// Source: users-wearables.md 10.
import type { TimeseriesName } from './timeseries.ts'

/** Where on the body a temperature is measured. */
export const sensorLocations = [
  'armpit',
  'body',
  'ear',
  'finger',
  'gastrointestinal',
  'mouth',
  'rectum',
  'toe',
  'eardrum',
  'temporal_artery',
  'forehead',
  'wrist',
] as const
export type SensorLocation = (typeof sensorLocations)[number]
export const intensities = ['low', 'medium', 'high'] as const
export type Intensity = (typeof intensities)[number]
export const deliveryModes = ['basal', 'bolus'] as const
export const deliveryForms = ['standard', 'extended'] as const
export const bolusPurposes = ['meal', 'correction', 'mixed', 'unknown'] as const
export const noteTags = ['food', 'exercise', 'insulin_injection', 'unspecified'] as const

const locations = ['sensor_location'] as const
const detailFields = {
  body_temperature: locations,
  body_temperature_delta: locations,
  workout_duration: ['intensity'],
  insulin_injection: ['delivery_mode', 'delivery_form', 'bolus_purpose'],
  // The text of a note, which is its value, and its tags.
  note: ['content', 'tags'],
} as const satisfies Partial<Record<TimeseriesName, readonly string[]>>

/** The names of the details of a timeseries, in the order in which they are stored; empty for most. */
export const detailsOf = (resource: TimeseriesName): readonly string[] =>
  Object.hasOwn(detailFields, resource) ? detailFields[resource as keyof typeof detailFields] : []

export type Details = Readonly<Record<string, string | readonly string[] | null>>

/** The text that a sample with details is stored with. Without any detail it is the type itself. */
export function typeWithDetails(resource: TimeseriesName, type: string | null, details: Details): string | null {
  const values = detailsOf(resource).map((name) => details[name] ?? null)
  return values.every((value) => value === null) ? type : JSON.stringify([type, ...values])
}

/** The type and the details of a stored sample; all details are null if it was stored without. */
export function readDetails(resource: TimeseriesName, storedText: string | null): { type: string | null; details: Details } {
  const names = detailsOf(resource)
  const given =
    names.length && storedText?.startsWith('[') ? (JSON.parse(storedText) as (string | string[] | null)[]) : [storedText]
  return { type: given[0] as string | null, details: Object.fromEntries(names.map((name, i) => [name, given[i + 1] ?? null])) }
}
