// A generated Apple Health export, with the traits of real ones: a malformed DTD, several sources of one quantity, devices as texts with
// commas and pointers, correlations, workouts with statistics, nights of phone and watch. The same size and seed give the same bytes.
const DAY_MS = 86_400_000
/** About what a day of a person with a watch takes. */
export const BYTES_PER_DAY = 536_000
const BLOCK = 64 * 1024

const PROLOG = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary|ClinicalRecord|Audiogram|VisionPrescription)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
>
<!ELEMENT Record ((MetadataEntry|HeartRateVariabilityMetadataList)*)>
<!ATTLIST Record
  type          CDATA #REQUIRED
  unit          CDATA #IMPLIED
  value         CDATA #IMPLIED
<!ELEMENT WorkoutEvent ((MetadataEntry)*)
<!ATTLIST WorkoutEvent
  type CDATA #REQUIRED
]>
`

const WATCH =
  'sourceName="Fictional’s Apple&#160;Watch" sourceVersion="9.1" device="&lt;&lt;HKDevice: 0x283c4d5e0&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:9.1, creation date:2026-01-01 00:00:00 +0000&gt;"'
const PHONE =
  'sourceName="Fictional’s iPhone" sourceVersion="16.1" device="&lt;&lt;HKDevice: 0x283c4d6f0&gt;, name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,5, software:16.1&gt;"'
const SCALE = 'sourceName="Fictional Scale" sourceVersion="5"'

const text = (ms: number): string => {
  const local = new Date(ms - 7 * 3_600_000).toISOString()
  return `${local.slice(0, 10)} ${local.slice(11, 19)} -0700`
}

export interface ExportOptions {
  days: number
  seed?: number
  /** The last day, `2026-01-31`. */
  lastDay?: string
}

/** Blocks of an `export.xml`, about 64 kB each. */
export function* appleExport({ days, seed = 1, lastDay = '2026-01-31' }: ExportOptions): Generator<string> {
  let state = seed >>> 0 || 1
  const random = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const last = Date.parse(`${lastDay}T07:00:00Z`)
  const first = last - (days - 1) * DAY_MS
  let block = `${PROLOG}<HealthData locale="en_US">\n <ExportDate value="${text(last + DAY_MS)}"/>\n <Me HKCharacteristicTypeIdentifierDateOfBirth="1980-01-31" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale" HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"/>\n`
  const record = (
    type: string,
    source: string,
    unit: string,
    value: string | number,
    start: number,
    end = start,
    content = '',
  ) => {
    const times = `creationDate="${text(end)}" startDate="${text(start)}" endDate="${text(end)}"`
    block += ` <Record type="HKQuantityTypeIdentifier${type}" ${source} unit="${unit}" ${times} value="${value}"${content ? `>\n${content} </Record>\n` : '/>\n'}`
  }
  /** A quantity that a source measures so many times a day. */
  function* quantity(
    type: string,
    source: string,
    unit: string,
    count: number,
    value: () => string | number,
    length_ms = 0,
    content?: () => string,
  ): Generator<string> {
    const step = Math.floor(DAY_MS / count / 1000) * 1000
    for (let day = first; day <= last; day += DAY_MS)
      for (let i = 0; i < count; i++) {
        const at = day + i * step + random(Math.max(1, (step - length_ms) / 2000)) * 1000
        record(type, source, unit, value(), at, at + length_ms, content?.())
        if (block.length >= BLOCK) {
          yield block
          block = ''
        }
      }
  }
  const motion = () => `  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="${random(3)}"/>\n`
  const tenths = (n: number) => (n / 10).toFixed(1)
  yield* quantity('HeartRate', WATCH, 'count/min', 420, () => 55 + random(70), 0, motion)
  yield* quantity('StepCount', PHONE, 'count', 50, () => 1 + random(200), 240_000)
  yield* quantity('StepCount', WATCH, 'count', 70, () => 1 + random(200), 300_000)
  yield* quantity('DistanceWalkingRunning', WATCH, 'km', 70, () => (random(200) / 1000).toFixed(4), 300_000)
  yield* quantity('ActiveEnergyBurned', WATCH, 'Cal', 340, () => (random(9000) / 1000).toFixed(3), 60_000)
  yield* quantity('BasalEnergyBurned', WATCH, 'Cal', 150, () => (random(15_000) / 1000).toFixed(3), 480_000)
  yield* quantity(
    'HeartRateVariabilitySDNN',
    WATCH,
    'ms',
    6,
    () => tenths(200 + random(600)),
    60_000,
    () => {
      const beat = (i: number) => `   <InstantaneousBeatsPerMinute bpm="${60 + random(20)}" time="6:00:0${i},00 AM"/>\n`
      return `  <HeartRateVariabilityMetadataList>\n${beat(0)}${beat(1)}${beat(2)}  </HeartRateVariabilityMetadataList>\n`
    },
  )
  yield* quantity('OxygenSaturation', WATCH, '%', 8, () => (0.94 + random(6) / 100).toFixed(2))
  yield* quantity('FlightsClimbed', PHONE, 'count', 6, () => 1 + random(3), 60_000)
  yield* quantity('AppleExerciseTime', WATCH, 'min', 20, () => 1, 60_000)
  yield* quantity('BodyMass', SCALE, 'kg', 1, () => tenths(700 + random(30)))
  for (let day = first; day <= last; day += DAY_MS) {
    const night = day - 2 * 3_600_000
    const sleep = (value: string, source: string, from_min: number, to_min: number) => {
      const [at, to] = [night + from_min * 60_000, night + to_min * 60_000]
      block += ` <Record type="HKCategoryTypeIdentifierSleepAnalysis" ${source} creationDate="${text(to)}" startDate="${text(at)}" endDate="${text(to)}" value="HKCategoryValueSleepAnalysis${value}"/>\n`
    }
    sleep('InBed', PHONE, 0, 480)
    for (const [i, value] of [
      'AsleepCore',
      'AsleepDeep',
      'AsleepCore',
      'AsleepREM',
      'Awake',
      'AsleepCore',
      'AsleepREM',
    ].entries())
      sleep(value, WATCH, 10 + i * 60, 70 + i * 60)
    const [at, end] = [day + 9 * 3_600_000, day + 9 * 3_600_000 + 1_800_000]
    block += ` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="28.5" durationUnit="min" ${WATCH} creationDate="${text(end)}" startDate="${text(at)}" endDate="${text(end)}">\n  <MetadataEntry key="HKElevationAscended" value="1800 cm"/>\n  <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" startDate="${text(at)}" endDate="${text(end)}" sum="310.5" unit="Cal"/>\n  <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" startDate="${text(at)}" endDate="${text(end)}" sum="5.1" unit="km"/>\n </Workout>\n`
    const date = text(at).slice(0, 10)
    block += ` <ActivitySummary dateComponents="${date}" activeEnergyBurned="${300 + random(400)}" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="Cal" appleExerciseTime="30" appleStandHours="11"/>\n`
    if (block.length >= BLOCK) {
      yield block
      block = ''
    }
  }
  yield `${block}</HealthData>\n`
}

/** The options of an export of about so many bytes. */
export const ofSize = (bytes: number): ExportOptions => ({ days: Math.max(1, Math.round(bytes / BYTES_PER_DAY)) })
