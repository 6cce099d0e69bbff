// The permissions of health stores by the names that phones send, and the resources that need them. Only values and pure functions. A line
// has a resource and the permissions of which one suffices; with `+` all of them are needed. Source: the public clients
// (github.com/tryVital/vital-ios 1.8, vital-android 5.0), Apple's and Google's names of types.
import type { Resource } from '../../wearables/resources/resources.ts'

const apple = `
profile BiologicalSex DateOfBirth WheelchairUse Height
body BodyFatPercentage BodyMass BodyMassIndex WaistCircumference LeanBodyMass
weight BodyMass
fat BodyFatPercentage
body_mass_index BodyMassIndex
lean_body_mass LeanBodyMass
waist_circumference WaistCircumference
workouts Workout
workout_stream Workout
workout_distance Workout
workout_swimming_stroke Workout
activity StepCount BasalEnergyBurned ActiveEnergyBurned FlightsClimbed DistanceWalkingRunning VO2Max AppleExerciseTime DistanceWheelchair PushCount
sleep SleepAnalysis
sleep_cycle SleepAnalysis
glucose BloodGlucose
blood_pressure + BloodPressureSystolic BloodPressureDiastolic
heartrate HeartRate
hrv HeartRateVariabilitySDNN
steps StepCount
calories_active ActiveEnergyBurned
calories_basal BasalEnergyBurned
distance DistanceWalkingRunning DistanceWheelchair
floors_climbed FlightsClimbed
wheelchair_push PushCount
water DietaryWater
caffeine DietaryCaffeine
meal DietaryBiotin DietaryEnergyConsumed DietaryCarbohydrates DietaryFiber DietarySugar DietaryFatTotal DietaryFatMonounsaturated DietaryFatPolyunsaturated DietaryFatSaturated DietaryCholesterol DietaryProtein DietaryVitaminA DietaryThiamin DietaryRiboflavin DietaryNiacin DietaryPantothenicAcid DietaryVitaminB6 DietaryVitaminB12 DietaryVitaminC DietaryVitaminD DietaryVitaminE DietaryVitaminK DietaryFolate DietaryCalcium DietaryChloride DietaryIron DietaryMagnesium DietaryPhosphorus DietaryPotassium DietarySodium DietaryZinc DietaryChromium DietaryCopper DietaryIodine DietaryManganese DietaryMolybdenum DietarySelenium
carbohydrates DietaryCarbohydrates
insulin_injection InsulinDelivery
blood_oxygen OxygenSaturation
respiratory_rate RespiratoryRate
vo2_max VO2Max
menstrual_cycle MenstrualFlow
electrocardiogram Electrocardiogram
electrocardiogram_voltage Electrocardiogram
heart_rate_alert IrregularHeartRhythmEvent HighHeartRateEvent LowHeartRateEvent
heart_rate_recovery_one_minute HeartRateRecoveryOneMinute
afib_burden AtrialFibrillationBurden
body_temperature BodyTemperature
basal_body_temperature BasalBodyTemperature
mindfulness_minutes MindfulSession
stand_hour AppleStandHour
stand_duration AppleStandTime
sleep_apnea_alert SleepApneaEvent
sleep_breathing_disturbance AppleSleepingBreathingDisturbances
forced_expiratory_volume_1 ForcedExpiratoryVolume1
forced_vital_capacity ForcedVitalCapacity
peak_expiratory_flow_rate PeakExpiratoryFlowRate
inhaler_usage InhalerUsage
fall NumberOfTimesFallen
uv_exposure UVExposure
daylight_exposure TimeInDaylight
handwashing HandwashingEvent`

const healthConnect = `
profile HEIGHT
body BODY_FAT WEIGHT
workouts EXERCISE
activity ACTIVE_CALORIES_BURNED BASAL_METABOLIC_RATE TOTAL_CALORIES_BURNED STEPS DISTANCE FLOORS_CLIMBED VO2_MAX
sleep SLEEP
glucose BLOOD_GLUCOSE
blood_pressure BLOOD_PRESSURE
heartrate HEART_RATE
steps STEPS
calories_active ACTIVE_CALORIES_BURNED
calories_basal BASAL_METABOLIC_RATE
distance DISTANCE
water HYDRATION
hrv HEART_RATE_VARIABILITY
blood_oxygen OXYGEN_SATURATION
respiratory_rate RESPIRATORY_RATE
vo2_max VO2_MAX
meal NUTRITION
menstrual_cycle MENSTRUATION`

/** The names of the data types of Samsung Health, in lower case without what stands before the last point. */
const samsung = `
profile body_composition user_profile
body body_composition
workouts exercise
activity activity_summary steps floors_climbed body_composition exercise
sleep sleep
glucose blood_glucose
blood_pressure blood_pressure
heartrate heart_rate
steps steps
calories_active activity_summary
calories_basal body_composition
distance activity_summary
water water_intake
blood_oxygen blood_oxygen
vo2_max exercise
meal nutrition`

interface Requirement {
  resource: Resource
  needsAll: boolean
  names: string[]
}

const requirements = (text: string): Requirement[] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [resource = '', ...names] = line.split(' ')
      const needsAll = names[0] === '+'
      return { resource: resource as Resource, needsAll, names: needsAll ? names.slice(1) : names }
    })

const ofSamsung = requirements(samsung)
/** `read:com.samsung.HeartRateType` is `readheartrate`: the names of its types have several spellings. */
const normalizeName = (text: string): string =>
  text
    .replace(/^(\w+:)(?:\w+\.)+/, '$1')
    .replace(/[^a-z0-9]/gi, '')
    .toLowerCase()
    .replace(/type$/, '')
const samsungNames = new Map(
  ofSamsung.flatMap(({ names }) => names.map((name) => [normalizeName(`read:${name}`), name] as const)),
)

/** What a phone calls a permission to read, and what the lists above call it; undefined for another text. */
const readers: Record<string, { requirements: Requirement[]; nameIn: (text: string) => string | undefined }> = {
  apple_health_kit: {
    requirements: requirements(apple),
    nameIn: (text) =>
      text === 'HKWorkoutTypeIdentifier'
        ? 'Workout'
        : /^HK(?:Quantity|Category|Characteristic|Data)TypeIdentifier(\w+)$/.exec(text)?.[1],
  },
  health_connect: {
    requirements: requirements(healthConnect),
    nameIn: (text) => /^android\.permission\.health\.(?:READ_)?(\w+)$/.exec(text)?.[1],
  },
  samsung_health: { requirements: ofSamsung, nameIn: (text) => samsungNames.get(normalizeName(text)) },
}

/**
 * The resources of a provider that permissions allow, which a phone names in the words of its health store, or as resources. Other names,
 * such as permissions to write, allow nothing.
 * @returns undefined if nothing in the list is such a name: the phone has not said what it was granted. An empty list says that it has nothing.
 */
export function resourcesAllowed(
  provider: string,
  resources: readonly Resource[],
  grantedPermissions: readonly string[],
): ReadonlySet<Resource> | undefined {
  const all = new Set(grantedPermissions)
  const { requirements = [], nameIn = () => undefined } = readers[provider] ?? {}
  const names = new Set(grantedPermissions.flatMap((text) => nameIn(text) ?? []))
  const allowed = new Set<Resource>(resources.filter((resource) => all.has(resource)))
  for (const { resource, needsAll, names: needed } of requirements)
    if (needed[needsAll ? 'every' : 'some']((name) => names.has(name))) allowed.add(resource)
  const hasNone = grantedPermissions.length === 0 && requirements.length > 0
  return allowed.size || names.size || hasNone ? allowed : undefined
}

/** Which permissions the resources of a provider need. */
export const permissionNames = (provider: string): readonly Requirement[] => readers[provider]?.requirements ?? []
