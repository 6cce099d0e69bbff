// What breaks readers of Apple Health exports, by its content, with the numbers that field-2026.md 6 gives it. Quirk 15 is tested in
// `apple-files.test.ts`.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readDetails } from '../../../wearables/resources/sample-details.ts'
import { documents, exportXml, metadata, PHONE, reading, record, values, WATCH } from '../../../../test/support/file-imports.ts'
import { zipBytes } from '../../../../test/support/zip.ts'

const FROM = '2026-01-31 08:00:00 -0700'
const rate = (value: string | number = 61, overrides = {}) => record('HeartRate', value, 'count/min', FROM, overrides)
/** An instant of the day, in minutes after midnight at the place. */
const minute = (n: number, day = '2026-01-31') =>
  `${day} ${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}:00 -0700`

describe('an Apple Health export', () => {
  test('quirk 1: is found under the name that it has in the language of the phone, in any folder', async () => {
    for (const name of ['apple_health_export/exportación.xml', 'Export.xml', 'Daten/exportation.xml']) {
      const zip = await zipBytes([
        { name: name.replace('.xml', '_cda.xml'), content: [`<a>${' '.repeat(5000)}</a><b/>`] },
        { name: `__MACOSX/${name}`, content: ['x'.repeat(9000)] },
        { name, content: [exportXml(rate())] },
      ])
      assert.deepEqual(values((await reading(zip)).samples.heartrate), [61], name)
    }
  })

  test('quirk 2: has a DTD without its last sign and with misplaced parts', async () => {
    const dtd =
      '<!DOCTYPE HealthData [\n<!ELEMENT Record ((MetadataEntry)*)\n<!ATTLIST Record\n  type CDATA #REQUIRED\n<!ENTITY x "y">\n]\n'
    const xml = exportXml(rate()).replace(/<!DOCTYPE[^]*?\]>\n/, dtd)
    assert.deepEqual(values((await reading(xml)).samples.heartrate), [61])
  })

  test('quirk 3: has control characters in attributes', async () => {
    const { samples, skipped } = await reading(exportXml(rate(61, { sourceName: 'Ficti\u000bonal\u0000' })))
    assert.equal(samples.heartrate![0]!.app_id, 'Ficti onal')
    assert.deepEqual(skipped, {})
  })

  test('quirk 4: comes with a document for hospitals that has several roots and is not read', async () => {
    const zip = await zipBytes([
      { name: 'apple_health_export/export.xml', content: [exportXml(rate())] },
      { name: 'apple_health_export/export_cda.xml', content: [`<ClinicalDocument/><ClinicalDocument/>${'x'.repeat(9000)}`] },
    ])
    const { samples, error } = await reading(zip)
    assert.deepEqual([values(samples.heartrate), error], [[61], null])
  })

  test('quirk 5: has attributes with spaces in their names: their record is left out and counted, and reading continues', async () => {
    const broken = rate(60).replace('<Record ', '<Record Withings Link="x" ')
    const inside = rate(59, { content: '<MetadataEntry Withings Link="x" key="a" value="b"/>' })
    const { samples, skipped, error } = await reading(exportXml(broken, inside, rate()))
    assert.deepEqual([values(samples.heartrate), skipped, error], [[61], { malformed: { HeartRate: 2 } }, null])
  })

  test('quirk 6: has the offsets of the phone at the time of the export, and the zone of the place in the metadata wins', async () => {
    const { samples } = await reading(exportXml(rate(), rate(62, { content: metadata('HKTimeZone', 'Europe/Berlin') })))
    assert.deepEqual(
      samples.heartrate!.map(({ at_ms, zone_s }) => [new Date(at_ms).toISOString(), zone_s]),
      [
        ['2026-01-31T15:00:00.000Z', -7 * 3600],
        ['2026-01-31T15:00:00.000Z', 3600],
      ],
    )
  })

  test('quirk 7: has the totals of workouts in attributes, in statistics or nowhere, and durations without pauses', async () => {
    const workout = (hour: number, attributes: string, content = '') =>
      `<Workout workoutActivityType="HKWorkoutActivityTypeTraditionalStrengthTraining" sourceName="Fictional" startDate="${minute(hour * 60)}" endDate="${minute(hour * 60 + 60)}" ${attributes}>${content}</Workout>`
    const statistics = (type: string, attributes: string) =>
      `<WorkoutStatistics type="HKQuantityTypeIdentifier${type}" ${attributes}/>`
    const { summaries } = await reading(
      exportXml(
        workout(
          6,
          'duration="50" durationUnit="min" totalDistance="5" totalDistanceUnit="km" totalEnergyBurned="300" totalEnergyBurnedUnit="Cal"',
        ),
        workout(
          8,
          '',
          statistics('ActiveEnergyBurned', 'sum="836.8" unit="kJ"') +
            statistics('DistanceCycling', 'sum="1" unit="mi"') +
            statistics('HeartRate', 'average="120.4" maximum="150" unit="count/min"'),
        ),
        workout(10, ''),
      ),
    )
    const shown = ['moving_time', 'distance', 'calories', 'average_hr', 'max_hr', 'time_start', 'time_end']
    assert.deepEqual(
      documents(summaries.workouts).map((document) => shown.map((name) => document[name])),
      [
        [3000, 5000, 300, null, null, '2026-01-31T13:00:00+00:00', '2026-01-31T14:00:00+00:00'],
        [null, 1609.344, 200, 120, 150, '2026-01-31T15:00:00+00:00', '2026-01-31T16:00:00+00:00'],
        [null, null, null, null, null, '2026-01-31T17:00:00+00:00', '2026-01-31T18:00:00+00:00'],
      ],
    )
    assert.deepEqual(documents(summaries.workouts)[0]!.sport, {
      ...(documents(summaries.workouts)[0]!.sport as object),
      name: 'Strength Training',
      slug: 'strength_training',
    })
  })

  test('has insulin with the reason of its delivery, which says the type; without one it is skipped', async () => {
    const insulin = (value: number, content = '') => record('InsulinDelivery', value, 'IU', minute(value), { content })
    const reason = (text: string) => metadata('HKInsulinDeliveryReason', text)
    const { samples, skipped } = await reading(
      exportXml(insulin(1, reason('1')), insulin(2, reason('2')), insulin(3, reason('constructor')), insulin(4)),
    )
    assert.deepEqual(
      samples.insulin_injection!.map(({ value, type }) => [value, readDetails('insulin_injection', type).type]),
      [
        [1, 'long_acting'],
        [2, 'rapid_acting'],
      ],
    )
    const modes = samples.insulin_injection!.map(({ type }) => readDetails('insulin_injection', type).details.delivery_mode)
    assert.deepEqual(modes, ['basal', 'bolus'])
    assert.deepEqual(skipped, { invalid_value: { InsulinDelivery: 2 } })
  })

  test('has temperatures with their place, and distances by wheelchair, which count in the day', async () => {
    const temperature = (number: string) =>
      record('BodyTemperature', 36.6, 'degC', minute(Number(number)), {
        content: metadata('HKBodyTemperatureSensorLocation', number),
      })
    const distances = record('DistanceWheelchair', 1.2, 'km', minute(1)) + record('DistanceWalkingRunning', 30, 'm', minute(9))
    const { samples, summaries } = await reading(exportXml(temperature('3'), temperature('40'), distances))
    const places = samples.body_temperature!.map(({ type }) => readDetails('body_temperature', type).details.sensor_location)
    assert.deepEqual(places, ['ear', null])
    assert.deepEqual(
      samples.distance!.map(({ value, sport }) => [value, sport]),
      [
        [1200, 'wheelchair_pushing'],
        [30, null],
      ],
    )
    assert.equal(documents(summaries.activity)[0]!.distance, 1230)
  })

  test('quirk 8: has the members of a correlation a second time at the top level', async () => {
    const systolic = record('BloodPressureSystolic', 118, 'mmHg', FROM)
    const diastolic = record('BloodPressureDiastolic', 76, 'mmHg', FROM)
    const caffeine = record('DietaryCaffeine', 95, 'mg', FROM)
    const correlation = (type: string, content: string) =>
      `<Correlation type="HKCorrelationTypeIdentifier${type}" startDate="${FROM}" endDate="${FROM}">${content}</Correlation>`
    const { samples } = await reading(
      exportXml(systolic, diastolic, caffeine, correlation('BloodPressure', systolic + diastolic), correlation('Food', caffeine)),
    )
    assert.deepEqual(
      samples.blood_pressure!.map(({ value, second }) => [value, second]),
      [[118, 76]],
    )
    assert.deepEqual(values(samples.caffeine), [0.095])
  })

  test('quirk 9: has one day from several sources, whose steps are kept apart and counted once in the day', async () => {
    const steps = (source: object, value: number, start: number, end: number) =>
      record('StepCount', value, 'count', minute(start), { end: minute(end), ...source })
    const { samples, summaries } = await reading(
      exportXml(
        // Watch 2506 and phone 1919: 54 of the phone's steps were made without the watch.
        steps(WATCH, 2506, 480, 600),
        steps(PHONE, 1865, 480, 600),
        steps(PHONE, 54, 660, 670),
      ),
    )
    assert.deepEqual(values(samples.steps), [2506, 1865, 54])
    assert.deepEqual(
      samples.steps!.map(({ source_type }) => source_type),
      ['watch', 'phone', 'phone'],
    )
    assert.deepEqual(
      documents(summaries.activity).map(({ calendar_date, steps: total }) => [calendar_date, total]),
      [['2026-01-31', 2560]],
    )
  })

  test('quirk 10: has devices as texts with commas and a pointer that changes: they are one source', async () => {
    const device = (pointer: string, software: string) =>
      `&lt;&lt;HKDevice: ${pointer}&gt;, name:Watch, of Testa, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:${software}&gt;`
    const read = (...devices: string[]) => reading(exportXml(...devices.map((text, i) => rate(61 + i, { device: text }))))
    const { samples } = await read(device('0x283c', '9.6'), device('0x283c4', '9.7'))
    const again = await read(device('0x10b2f', '9.6'), device('0x0', '9.7'))
    assert.deepEqual(again.samples.heartrate, samples.heartrate)
    const sources = samples.heartrate!.map(({ source_type, app_id }) => `${source_type} ${app_id}`)
    assert.deepEqual(sources, ['watch Fictional Watch', 'watch Fictional Watch'])
    assert.deepEqual(
      samples.heartrate!.map((sample) => [sample.device!.manufacturer, sample.device!.model, sample.device!.version]),
      [
        ['Apple Inc.', 'Watch', '9.6'],
        ['Apple Inc.', 'Watch', '9.7'],
      ],
    )
  })

  test('quirk 11: has types of other names, values that are texts, and records without a value', async () => {
    const stood = record('HKCategoryTypeIdentifierAppleStandHour', 'HKCategoryValueAppleStandHourStood', '', FROM)
    const { samples, skipped } = await reading(
      exportXml(
        record('HKDataTypeSleepDurationGoal', 8, 'hr', FROM),
        stood,
        record('HKCategoryTypeIdentifierMindfulSession', undefined, '', minute(480), { end: minute(490) }),
        rate('').replace(' value=""', ''),
      ),
    )
    assert.deepEqual([samples.stand_hour![0]!.value, samples.stand_hour![0]!.type], [1, 'stood'])
    assert.deepEqual(values(samples.mindfulness_minutes), [10])
    assert.deepEqual(skipped, { unsupported: { HKDataTypeSleepDurationGoal: 1 }, no_value: { HeartRate: 1 } })
  })

  test('quirk 12: has metadata with units in the text, and keys that repeat', async () => {
    const inside = [
      metadata('HKElevationAscended', '418 cm'),
      metadata('HKElevationAscended', '900 cm'),
      metadata('HKAverageMETs', '8.9 kcal/hr·kg'),
    ]
    const { summaries } = await reading(
      exportXml(
        `<Workout workoutActivityType="HKWorkoutActivityTypeHiking" startDate="${FROM}" endDate="${minute(540)}">${inside.join('')}</Workout>`,
      ),
    )
    assert.equal(documents(summaries.workouts)[0]!.total_elevation_gain, 4.18)
  })

  test('quirk 13: has intervals of sleep of phone and watch that overlap: stages, else sleep, else time in bed', async () => {
    const sleep = (value: string, day: string, start: number, end: number, source: object) =>
      record('HKCategoryTypeIdentifierSleepAnalysis', `HKCategoryValueSleepAnalysis${value}`, '', minute(start, day), {
        end: minute(end, day),
        ...source,
      })
    const { summaries, skipped } = await reading(
      exportXml(
        sleep('InBed', '2026-01-29', 0, 480, PHONE),
        sleep('InBed', '2026-01-30', 0, 480, PHONE),
        sleep('Asleep', '2026-01-30', 30, 450, PHONE),
        sleep('InBed', '2026-01-31', 0, 480, PHONE),
        sleep('InBed', '2026-01-31', 5, 475, WATCH),
        sleep('AsleepUnspecified', '2026-01-31', 10, 470, WATCH),
        sleep('AsleepCore', '2026-01-31', 10, 200, WATCH),
        sleep('AsleepDeep', '2026-01-31', 200, 260, WATCH),
        sleep('Awake', '2026-01-31', 260, 270, WATCH),
        sleep('AsleepREM', '2026-01-31', 270, 400, WATCH),
      ),
    )
    const shown = ['calendar_date', 'duration', 'total', 'light', 'deep', 'rem', 'awake']
    assert.deepEqual(
      documents(summaries.sleep).map((document) => shown.map((name) => document[name])),
      [
        ['2026-01-29', 480 * 60, 0, 0, 0, 0, 0],
        ['2026-01-30', 420 * 60, 420 * 60, 420 * 60, 0, 0, 0],
        ['2026-01-31', 390 * 60, 380 * 60, 190 * 60, 60 * 60, 130 * 60, 10 * 60],
      ],
    )
    assert.deepEqual(skipped, { duplicate: { SleepAnalysis: 1 } })
  })

  test('quirk 14: has percentages as fractions, and Cal for kilocalories', async () => {
    const { samples } = await reading(
      exportXml(
        record('OxygenSaturation', 0.97, '%', FROM),
        record('OxygenSaturation', 98, '%', FROM),
        record('BodyFatPercentage', 0.213, '%', FROM),
        record('ActiveEnergyBurned', 12.5, 'Cal', FROM),
        record('ActiveEnergyBurned', 41.84, 'kJ', FROM),
        record('BodyMass', 150, 'lb', FROM),
        record('BodyMass', 10, 'st', FROM),
        record('BloodGlucose', 5.5, 'mmol&lt;180.1558800000541&gt;/L', FROM),
        record('BloodGlucose', 90.091, 'mg/dL', FROM),
        record('BodyTemperature', 98.6, 'degF', FROM),
        record('DistanceWalkingRunning', 0.5, 'mi', FROM),
        record('DietaryWater', 8, 'fl_oz_us', FROM),
        record('StepCount', 5, 'furlong', FROM),
      ),
    )
    assert.deepEqual(values(samples.blood_oxygen), [97, 98])
    assert.deepEqual(values(samples.body_fat), [21.3])
    assert.deepEqual(values(samples.calories_active), [12.5, 10])
    assert.deepEqual(values(samples.body_weight), [68.0388555, 63.5029318])
    assert.deepEqual(values(samples.glucose), [5.5, 5])
    assert.deepEqual(values(samples.body_temperature), [37])
    assert.deepEqual(values(samples.distance), [804.672])
    assert.deepEqual(values(samples.water), [236.5882365])
    assert.equal(samples.steps, undefined)
  })

  test('quirk 16: comes as zip64, empty, cut off, or packed again by its owner: the readable part is read, and the rest is reported', async () => {
    const xml = exportXml(...Array.from({ length: 3000 }, (_, i) => record('HeartRate', 60, 'count/min', minute(i % 1440))))
    const again = [{ name: 'My data/2026/export.xml', content: [xml] }]
    assert.equal((await reading(await zipBytes(again, { zip64: true }))).samples.heartrate!.length, 3000)
    assert.equal((await reading(await zipBytes([]))).error, 'empty')
    assert.equal((await reading('')).error, 'empty')
    const zip = await zipBytes(again)
    assert.equal((await reading(zip.subarray(0, zip.length / 2))).error, 'damaged')
    const cut = await reading(xml.slice(0, xml.length / 2))
    assert.equal(cut.error, 'truncated')
    assert(cut.samples.heartrate!.length > 1000 && cut.samples.heartrate!.length < 2000)
  })

  test('quirk 17: comes again, longer: its records have the same keys', async () => {
    const workout = `<Workout workoutActivityType="HKWorkoutActivityTypeHiking" sourceName="Fictional" startDate="${FROM}" endDate="${minute(540)}"/>`
    const night = record('HKCategoryTypeIdentifierSleepAnalysis', 'HKCategoryValueSleepAnalysisAsleepCore', '', minute(0), {
      end: minute(300),
    })
    const more = record('HKCategoryTypeIdentifierSleepAnalysis', 'HKCategoryValueSleepAnalysisAsleepREM', '', minute(300), {
      end: minute(400),
    })
    const keys = async (...elements: string[]) => {
      const { summaries } = await reading(exportXml(...elements))
      return [summaries.workouts![0]!.record.key, summaries.sleep![0]!.record.key]
    }
    assert.deepEqual(await keys(workout, night), await keys(more, night, rate(), workout))
  })
})
