// The types of records in an Apple Health export, and the timeseries that they feed. Source: users-wearables.md 10, 16.7.
import { sensorLocationOf } from '../../mobile-sdk/phone-samples.ts'
import { typeWithDetails } from '../../../wearables/resources/sample-details.ts'
import type { TimeseriesName } from '../../../wearables/resources/timeseries.ts'
import type { Dimension } from '../file-units.ts'

/** By the part of the type after `HKQuantityTypeIdentifier`. */
export const quantities: Record<string, [TimeseriesName, Dimension]> = {
  HeartRate: ['heartrate', 'perMinute'],
  StepCount: ['steps', 'count'],
  DistanceWalkingRunning: ['distance', 'meter'],
  DistanceWheelchair: ['distance', 'meter'],
  ActiveEnergyBurned: ['calories_active', 'kilocalorie'],
  BasalEnergyBurned: ['calories_basal', 'kilocalorie'],
  FlightsClimbed: ['floors_climbed', 'count'],
  OxygenSaturation: ['blood_oxygen', 'percent'],
  BodyMass: ['body_weight', 'kilogram'],
  BodyFatPercentage: ['body_fat', 'percent'],
  BodyMassIndex: ['body_mass_index', 'index'],
  LeanBodyMass: ['lean_body_mass', 'kilogram'],
  WaistCircumference: ['waist_circumference', 'centimeter'],
  BloodGlucose: ['glucose', 'glucose'],
  BodyTemperature: ['body_temperature', 'celsius'],
  BasalBodyTemperature: ['basal_body_temperature', 'celsius'],
  RespiratoryRate: ['respiratory_rate', 'perMinute'],
  HeartRateVariabilitySDNN: ['hrv', 'millisecond'],
  VO2Max: ['vo2_max', 'oxygen'],
  DietaryWater: ['water', 'milliliter'],
  DietaryCaffeine: ['caffeine', 'gram'],
  DietaryCarbohydrates: ['carbohydrates', 'gram'],
  InsulinDelivery: ['insulin_injection', 'count'],
  AppleStandTime: ['stand_duration', 'minute'],
  TimeInDaylight: ['daylight_exposure', 'minute'],
  UVExposure: ['uv_exposure', 'index'],
  PushCount: ['wheelchair_push', 'count'],
  ForcedExpiratoryVolume1: ['forced_expiratory_volume_1', 'liter'],
  ForcedVitalCapacity: ['forced_vital_capacity', 'liter'],
  PeakExpiratoryFlowRate: ['peak_expiratory_flow_rate', 'literPerMinute'],
  InhalerUsage: ['inhaler_usage', 'count'],
  NumberOfTimesFallen: ['fall', 'count'],
  HeartRateRecoveryOneMinute: ['heart_rate_recovery_one_minute', 'perMinute'],
  AtrialFibrillationBurden: ['afib_burden', 'percent'],
  AppleSleepingBreathingDisturbances: ['sleep_breathing_disturbance', 'index'],
}

/** What a delivery of insulin was for, by `HKInsulinDeliveryReason`, and the kind of insulin that serves it. */
const insulinTypes = new Map<string | undefined, string | null>(
  [
    { reason: '1', type: 'long_acting', delivery_mode: 'basal' },
    { reason: '2', type: 'rapid_acting', delivery_mode: 'bolus' },
  ].map(({ reason, type, delivery_mode }) => [reason, typeWithDetails('insulin_injection', type, { delivery_mode })]),
)

/** Metadata that says what a record measures. */
export const kindKeys = ['HKInsulinDeliveryReason', 'HKBodyTemperatureSensorLocation'] as const

/**
 * The type of a sample, with its details; null if it has none. Undefined if it must have one and has not: readers of insulin require it,
 * and Apple Health stores no delivery without its reason.
 */
export function findKind(type: string, metadata: Record<string, string>): string | null | undefined {
  if (type === 'InsulinDelivery') return insulinTypes.get(metadata.HKInsulinDeliveryReason)
  if (type !== 'BodyTemperature') return null
  return typeWithDetails('body_temperature', null, { sensor_location: sensorLocationOf(metadata) })
}

/** Quantities that are parts of a summary of the body. */
export const bodyFields = {
  body_weight: 'weight',
  body_fat: 'fat',
  body_mass_index: 'body_mass_index',
  waist_circumference: 'waist_circumference_centimeter',
  lean_body_mass: 'lean_body_mass_kilogram',
} as const satisfies Partial<Record<TimeseriesName, string>>

/** What a category record says: the timeseries, its value and type. `minutes`: the value is the duration. */
interface Category {
  resource: TimeseriesName
  value: 'one' | 'minutes'
  /** By the value in the file; or the same for all. */
  type: Record<string, string> | string | null
}

/** By the part of the type after `HKCategoryTypeIdentifier`. */
export const categories: Record<string, Category> = {
  AppleStandHour: {
    resource: 'stand_hour',
    value: 'one',
    type: { HKCategoryValueAppleStandHourStood: 'stood', HKCategoryValueAppleStandHourIdle: 'idle' },
  },
  MindfulSession: { resource: 'mindfulness_minutes', value: 'minutes', type: null },
  HandwashingEvent: { resource: 'handwashing', value: 'one', type: null },
  HighHeartRateEvent: { resource: 'heart_rate_alert', value: 'one', type: 'high_heart_rate' },
  LowHeartRateEvent: { resource: 'heart_rate_alert', value: 'one', type: 'low_heart_rate' },
  IrregularHeartRhythmEvent: { resource: 'heart_rate_alert', value: 'one', type: 'irregular_rhythm' },
  SleepApneaEvent: { resource: 'sleep_apnea_alert', value: 'one', type: null },
}

/** What a record of sleep says, by its value in the file. */
export const sleepValues = {
  HKCategoryValueSleepAnalysisInBed: 'in_bed',
  HKCategoryValueSleepAnalysisAsleep: 'asleep',
  HKCategoryValueSleepAnalysisAsleepUnspecified: 'asleep',
  HKCategoryValueSleepAnalysisAsleepCore: 'light',
  HKCategoryValueSleepAnalysisAsleepDeep: 'deep',
  HKCategoryValueSleepAnalysisAsleepREM: 'rem',
  HKCategoryValueSleepAnalysisAwake: 'awake',
} as const
export type SleepValue = (typeof sleepValues)[keyof typeof sleepValues]

const QUANTITY = 'HKQuantityTypeIdentifier'
const CATEGORY = 'HKCategoryTypeIdentifier'

/** A type without what all of its kind begin with; types of other kinds stay as they are. */
export const shortType = (type: string): string =>
  type.startsWith(QUANTITY)
    ? type.slice(QUANTITY.length)
    : type.startsWith(CATEGORY)
      ? type.slice(CATEGORY.length)
      : type.replace(/^HKCorrelationTypeIdentifier/, '')
