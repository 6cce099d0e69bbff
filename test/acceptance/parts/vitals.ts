// Every timeseries of the SDK is read, with data where a phone or a file can bring some. Phones post by calls that the SDK does not have.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

const DAY = '2026-01-31'
const at = { start_date: `${DAY}T09:30:00Z`, end_date: `${DAY}T09:40:00Z`, type: 'watch' }
const IMPORTED_MS_MAX = 60_000

/** By the name in the path of reads: the unit; with `as`, the name in the path of posts. */
const posted: Record<
  string,
  { unit: string; as?: string; metadata?: Record<string, string>; value?: number; storedValue?: number }
> = {
  afib_burden: { unit: '%' },
  basal_body_temperature: { unit: '°C' },
  blood_oxygen: { unit: '%' },
  body_temperature: { unit: '°C', as: 'temperature' },
  caffeine: { unit: 'g' },
  calories_active: { unit: 'kcal' },
  calories_basal: { unit: 'kcal' },
  daylight_exposure: { unit: 'min' },
  distance: { unit: 'm' },
  fall: { unit: 'count' },
  floors_climbed: { unit: 'count' },
  forced_expiratory_volume_1: { unit: 'L' },
  forced_vital_capacity: { unit: 'L' },
  glucose: { unit: 'mmol/L' },
  handwashing: { unit: 'count' },
  heart_rate_alert: { unit: 'count', metadata: { type: 'irregular_rhythm' }, storedValue: 1 },
  heart_rate_recovery_one_minute: { unit: 'count' },
  heartrate: { unit: 'bpm' },
  hrv: { unit: 'rmssd', as: 'heartrate_variability' },
  inhaler_usage: { unit: 'count' },
  mindfulness_minutes: { unit: 'min' },
  peak_expiratory_flow_rate: { unit: 'L/min' },
  respiratory_rate: { unit: 'bpm' },
  sleep_apnea_alert: { unit: 'count' },
  sleep_breathing_disturbance: { unit: 'count', metadata: { category: 'elevated' } },
  stand_duration: { unit: 'min' },
  stand_hour: { unit: 'count', value: 0, storedValue: 1 },
  steps: { unit: 'count' },
  uv_exposure: { unit: 'index' },
  vo2_max: { unit: 'mL/kg/min' },
  water: { unit: 'ml' },
  wheelchair_push: { unit: 'count' },
}

/** By the name in the path of reads: the list in the record of a body that has its samples, and the unit. */
const ofBodies: Record<string, [list: string, unit: string]> = {
  body_fat: ['body_fat_percentage', '%'],
  body_mass_index: ['body_mass_index', 'index'],
  body_weight: ['body_mass', 'kg'],
  lean_body_mass: ['lean_body_mass', 'kg'],
  waist_circumference: ['waist_circumference', 'cm'],
}

/** Those that neither a phone nor a file brings. */
const ofOthers = ['body_temperature_delta', 'cholesterol', 'ige', 'igg', 'note', 'stress_level', 'workout_duration']

interface Range {
  userId: string
  startDate: string
  endDate: string
}
interface Sample {
  value: number
  unit: string
  type?: string | null
}
type Reads = Record<string, ((range: Range) => Promise<unknown>) | undefined>
type Groups = Record<string, { data: Sample[] }[]>

/** The method for a timeseries: `vo2Max` for `vo2_max`. */
const methodOf = (resource: string): string => resource.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

export const vitals = ({ sdk, user, passthrough }: Customer): void =>
  void describe('samples of every timeseries', () => {
    const reads = sdk.vitals as unknown as Reads
    const post = async (path: string, data: unknown) => {
      const { status, body } = await passthrough(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data }),
      })
      assert.equal(status, 200, JSON.stringify(body))
    }
    const rangeOf = (userId: string): Range => ({ userId, startDate: DAY, endDate: DAY })

    /** The samples as groups; those of the plain list, if there is one, are the same. */
    async function samplesOf(userId: string, resource: string): Promise<Sample[]> {
      const method = methodOf(resource)
      const { groups } = (await reads[`${method}Grouped`]!(rangeOf(userId))) as { groups: Groups }
      const samples = Object.values(groups).flatMap((list) => list.flatMap(({ data }) => data))
      if (reads[method]) assert.deepEqual(await reads[method](rangeOf(userId)), samples, resource)
      return samples
    }
    const pairs = (samples: Sample[]) => samples.map(({ value, unit }) => [value, unit])

    test('that phones post are read in groups and in the plain list, in its unit', async () => {
      const { userId } = await user()
      for (const [resource, { unit, as = resource, metadata = {}, value = 7, storedValue = value }] of Object.entries(posted)) {
        await post(`/v2/timeseries/${userId}/${as}`, [{ value, unit, ...at, metadata }])
        assert.deepEqual(pairs(await samplesOf(userId, resource)), [[storedValue, unit]], resource)
      }
      assert.equal((await samplesOf(userId, 'stand_hour'))[0]!.type, 'stood')
      assert.equal((await samplesOf(userId, 'heart_rate_alert'))[0]!.type, 'irregular_rhythm')
    })

    test('that come with the body are read in groups and in the plain list, in its unit', async () => {
      const { userId } = await user()
      const sent = Object.values(ofBodies).map(([list, unit]) => [list, [{ value: 21.5, unit, ...at }]])
      await post(`/v2/summary/body/${userId}`, Object.fromEntries(sent))
      for (const [resource, [, unit]] of Object.entries(ofBodies))
        assert.deepEqual(pairs(await samplesOf(userId, resource)), [[21.5, unit]], resource)
    })

    test('that come with blood pressures and electrocardiograms are read in the plain list', async () => {
      const { userId } = await user()
      const value = (number: number) => ({ value: number, unit: 'mmHg', ...at })
      await post(`/v2/timeseries/${userId}/blood_pressure`, [{ systolic: value(118), diastolic: value(76) }])
      const [pressure] = await sdk.vitals.bloodPressure(rangeOf(userId))
      assert.deepEqual([pressure!.systolic, pressure!.diastolic, pressure!.unit], [118, 76, 'mmHg'])
      const recording = { id: 'ecg-0001', session_start: at.start_date, session_end: `${DAY}T09:30:30Z`, voltage_sample_count: 1 }
      const voltage_data = { session_start_offset_millisecond: [0], lead1: [0.01] }
      await post(`/v2/summary/electrocardiogram/${userId}`, [{ electrocardiogram: recording, voltage_data }])
      assert.deepEqual(pairs(await samplesOf(userId, 'electrocardiogram_voltage')), [[0.01, 'mV']])
    })

    test('that come with the streams of workouts are read in groups', async () => {
      const { userId } = await user()
      const part = (...value: number[]) => [{ anchor: at.start_date, value, start_offset: [0], end_offset: [5] }]
      const stream = { components: { distance: part(12), swimming_stroke_count: part(4) } }
      await post(`/v2/summary/workouts/${userId}`, [{ id: 'workout-0001', sport: 'Swimming', ...at, type: undefined, stream }])
      assert.deepEqual(pairs(await samplesOf(userId, 'workout_distance')), [[12, 'm']])
      assert.deepEqual(pairs(await samplesOf(userId, 'workout_swimming_stroke')), [[4, 'count']])
    })

    test('that a file brings are read in groups', async () => {
      const { userId } = await user()
      const path = `/v2/user/${userId}/file_import`
      const record = (type: string, unit: string, value: number, fields = '') =>
        `<Record type="HKQuantityTypeIdentifier${type}" sourceName="Fictional" unit="${unit}" startDate="2026-01-31 09:30:00 +0000" endDate="2026-01-31 09:30:00 +0000" value="${value}">${fields}</Record>`
      const file = `<?xml version="1.0"?><HealthData locale="en_US">${record('DietaryCarbohydrates', 'g', 40)}${record('InsulinDelivery', 'IU', 5, '<MetadataEntry key="HKInsulinDeliveryReason" value="2"/>')}</HealthData>`
      const headers = { 'content-type': 'application/octet-stream' }
      const { body } = await passthrough(path, { method: 'POST', headers, body: file })
      const until = performance.now() + IMPORTED_MS_MAX
      for (let status = ''; status !== 'completed';) {
        assert(performance.now() < until, `the import is still ${status}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
        status = ((await passthrough(`${path}/${(body as { id: string }).id}`)).body as { status: string }).status
      }
      assert.deepEqual(pairs(await samplesOf(userId, 'carbohydrates')), [[40, 'g']])
      const insulin = await samplesOf(userId, 'insulin_injection')
      assert.deepEqual([...pairs(insulin), insulin[0]!.type], [[5, 'unit'], 'rapid_acting'])
    })

    test('that neither a phone nor a file brings are none for a user', async () => {
      const { userId } = await user()
      for (const resource of ofOthers) assert.deepEqual(await samplesOf(userId, resource), [], resource)
    })
  })
