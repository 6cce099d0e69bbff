// Measurements of Withings: groups of values taken at one instant. Source: measure, getmeas.
import { localDay, midnight } from '../answers.ts'
import { idOf, instantOfSeconds, readList, readNumber, rawValues, type Values } from '../reading.ts'
import { SampleBatches, offsetAt } from '../vendor-records.ts'
import { typeWithDetails, type SensorLocation } from '../../../wearables/resources/sample-details.ts'
import type { SourceType, TimeseriesName } from '../../../wearables/resources/timeseries.ts'
import type { Document } from '../../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { deviceIn, placeOf } from './withings-devices.ts'

/** Types of measures that are asked for. */
export const measureTypes = {
  weight: 1,
  fat_free: 5,
  fat: 6,
  diastolic: 9,
  systolic: 10,
  pulse: 11,
  oxygen: 54,
  body_temperature: 71,
  skin_temperature: 73,
  muscle: 76,
  hydration: 77,
  bone: 88,
  vo2_max: 123,
  visceral_fat: 170,
} as const
type MeasureName = keyof typeof measureTypes
const nameOf = new Map<number, MeasureName>(
  Object.entries(measureTypes).map(([name, type]) => [type as number, name as MeasureName]),
)

/** Real measures; 2 is what a user wants to reach. */
const REAL = 1
/** Another person may have stood on the scale; a value from the creation of the account may be wrong. */
const NOT_OF_THE_USER = new Set([1, 4])
const MANUAL = 2

/** Values are whole numbers with a power of ten. */
function valueOf({ value, unit }: Values): number | null {
  const [mantissa, power] = [readNumber(value), readNumber(unit)]
  if (mantissa === null || power === null || Math.abs(power) > 20) return null
  return readNumber(Number(`${mantissa}e${power}`))
}

export interface MeasureGroup {
  id: string
  at_ms: number
  is_manual: boolean
  values: Partial<Record<MeasureName, number>>
  /** As it was sent: it names the device. */
  record: Values
}

/** The groups in a body that are known to be the user's. */
export function groupsIn({ measuregrps }: Values): MeasureGroup[] {
  return readList(measuregrps).flatMap((group) => {
    const [id, at_ms, attrib] = [idOf(group.grpid), instantOfSeconds(group.date), readNumber(group.attrib)]
    if (id === null || at_ms === null || group.category !== REAL || NOT_OF_THE_USER.has(attrib ?? 0)) return []
    const values: MeasureGroup['values'] = {}
    for (const measure of readList(group.measures)) {
      const name = nameOf.get(readNumber(measure.type) ?? 0)
      const value = valueOf(measure)
      if (name !== undefined && value !== null) values[name] = value
    }
    return [{ id, at_ms, is_manual: attrib === MANUAL, values, record: group }]
  })
}

const bodyMeasures = ['weight', 'fat', 'fat_free', 'muscle', 'hydration', 'bone', 'visceral_fat'] as const

/** What a scale has measured, as a record of the body; undefined for a group of another device. */
export function toBody(
  { id, at_ms, is_manual, values, record }: MeasureGroup,
  zone: string | null,
): IncomingSummary<'body'> | undefined {
  if (bodyMeasures.every((name) => values[name] === undefined)) return undefined
  const calendar_date = localDay(at_ms, offsetAt(zone, at_ms))
  const { weight } = values
  const percent = (mass: number | undefined) =>
    mass === undefined || weight === undefined || weight <= 0 ? null : (mass / weight) * 100
  const measured: Document<'body'> = {
    weight: weight ?? null,
    fat: values.fat ?? null,
    water_percentage: percent(values.hydration),
    muscle_mass_percentage: percent(values.muscle),
    bone_mass_percentage: percent(values.bone),
    visceral_fat_index: values.visceral_fat ?? null,
    lean_body_mass_kilogram: values.fat_free ?? null,
  }
  const source_type: SourceType = is_manual ? 'app' : 'scale'
  const raw = rawValues(record)
  return {
    key: id,
    source_type,
    app_id: null,
    device: is_manual ? null : deviceIn(record, source_type),
    ...(raw && { raw }),
    calendar_date,
    document: { date: midnight(calendar_date), calendar_date, ...measured },
  }
}

const single = {
  weight: ['body_weight', 'scale'],
  fat: ['body_fat', 'scale'],
  fat_free: ['lean_body_mass', 'scale'],
  oxygen: ['blood_oxygen', 'watch'],
  vo2_max: ['vo2_max', 'watch'],
} as const satisfies Partial<Record<MeasureName, [TimeseriesName, SourceType]>>

/**
 * The temperature in a group, with the place where it was measured: that of the body, else that of the skin, which a thermometer measures first. Without
 * the place a temperature of the skin would pass for one of the body.
 */
function temperatureIn({ body_temperature, skin_temperature }: MeasureGroup['values'], place: SensorLocation | null) {
  const value = body_temperature ?? (place === null ? undefined : skin_temperature) ?? null
  return { value, type: typeWithDetails('body_temperature', null, { sensor_location: place }) }
}

/** The samples of a group. A pulse is of the device that measured something else at the same time. */
export function addSamples(
  batches: SampleBatches,
  { at_ms, is_manual, values, record }: MeasureGroup,
  zone: string | null,
): void {
  const offset_s = offsetAt(zone, at_ms)
  const common = (type: SourceType) =>
    is_manual
      ? { at_ms, offset_s, source_type: 'app' as const }
      : { at_ms, offset_s, source_type: type, device: deviceIn(record, type) }
  for (const [name, [resource, type]] of Object.entries(single))
    batches.add(resource, { ...common(type), value: values[name as keyof typeof single] ?? null })
  const { systolic, diastolic, pulse } = values
  const is_cuff = systolic !== undefined && diastolic !== undefined
  if (is_cuff) batches.add('blood_pressure', { ...common('cuff'), value: systolic, second: diastolic })
  const place = is_manual ? null : placeOf(record)
  batches.add('body_temperature', { ...common(place === 'wrist' ? 'watch' : 'unknown'), ...temperatureIn(values, place) })
  const type: SourceType = is_cuff ? 'cuff' : values.weight === undefined ? 'unknown' : 'scale'
  batches.add('heartrate', { ...common(type), value: pulse ?? null })
}
