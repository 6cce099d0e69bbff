// Meals and menstrual cycles of Apple Health exports: as they are read, and as they are stored beside what a phone has sent.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents, exportXml, exportZip, importFile, metadata, reading, record } from '../../../../test/support/file-imports.ts'
import { storedTypes } from '../../../../test/support/samples.ts'
import { createTestTeam } from '../../../../test/support/server.ts'
import { list, postSummary } from '../../../../test/support/summaries.ts'

const NOON = '2026-01-31 12:00:00 +0100'
const EVENING = '2026-01-31 19:00:00 +0100'
const APP = { sourceName: 'Fictional Food', device: '' }
const nutrient = (type: string, value: number, unit: string, start: string, food?: string, overrides = {}) =>
  record(`Dietary${type}`, value, unit, start, {
    ...APP,
    content: food === undefined ? '' : metadata('HKFoodType', food),
    ...overrides,
  })

const dinner = [
  nutrient('EnergyConsumed', 1255.2, 'kJ', EVENING, 'Soup'),
  nutrient('EnergyConsumed', 120, 'Cal', EVENING, 'Bread'),
  nutrient('Carbohydrates', 25, 'g', EVENING, 'Bread'),
  nutrient('FatTotal', 4, 'g', EVENING, 'Soup'),
  nutrient('Cholesterol', 80, 'mg', EVENING, 'Soup'),
  nutrient('VitaminA', 0.5, 'mg', EVENING, 'Soup'),
  nutrient('VitaminB12', 2.4, 'mcg', EVENING, 'Soup'),
  nutrient('Sodium', 1.2, 'g', EVENING, 'Soup'),
  nutrient('Copper', 300, 'mcg', EVENING, 'Soup'),
  nutrient('Water', 250, 'mL', EVENING, 'Soup'),
]

describe('meals of an Apple Health export', () => {
  test('have the foods that one source recorded at one instant, in the units of meals', async () => {
    const other = nutrient('EnergyConsumed', 90, 'kcal', EVENING, undefined, { sourceName: 'Another Fictional' })
    const { summaries, samples, skipped } = await reading(
      exportXml(...dinner, other, nutrient('EnergyConsumed', 200, 'kcal', NOON)),
    )
    const meals = documents(summaries.meal)
    assert.deepEqual(
      meals.map(({ timestamp, calendar_date, name, energy }) => [timestamp, calendar_date, name, energy]),
      [
        ['2026-01-31T11:00:00+00:00', '2026-01-31', 'Meal', { unit: 'kcal', value: 200 }],
        ['2026-01-31T18:00:00+00:00', '2026-01-31', 'Meal', { unit: 'kcal', value: 420 }],
        ['2026-01-31T18:00:00+00:00', '2026-01-31', 'Meal', { unit: 'kcal', value: 90 }],
      ],
    )
    const [, meal] = meals as { macros: Record<string, unknown>; micros: object; data: Record<string, { energy: object }> }[]
    const { carbs, cholesterol, water, protein, fats } = meal!.macros
    assert.deepEqual([carbs, cholesterol, water, protein, (fats as { total: number }).total], [25, 0.08, 250, null, 4])
    assert.deepEqual(meal!.micros, {
      minerals: { sodium: 1200 },
      trace_elements: { copper: 0.3 },
      vitamins: { vitamin_a: 500, vitamin_b12: 2.4 },
    })
    assert.deepEqual(Object.keys(meal!.data).toSorted(), ['Bread', 'Soup'])
    assert.deepEqual(meal!.data.Bread!.energy, { unit: 'kcal', value: 120 })
    assert.deepEqual([samples.carbohydrates!.length, samples.water!.length, skipped], [1, 1, {}])
  })

  test('amounts that are not masses, values that are not numbers, and nutrients that meals do not show are left out', async () => {
    const { summaries, samples, skipped } = await reading(
      exportXml(
        nutrient('Protein', 5, 'furlong', NOON),
        nutrient('Carbohydrates', 5, 'furlong', NOON),
        nutrient('Fiber', 0, 'g', NOON).replace(' value="0"', ' value="0x10"'),
        nutrient('constructor', 1, 'g', NOON),
        nutrient('Caffeine', 80, 'mg', NOON),
      ),
    )
    assert.deepEqual([summaries.meal, samples.caffeine!.length], [undefined, 1])
    assert.deepEqual(skipped, {
      unknown_unit: { DietaryProtein: 1, DietaryCarbohydrates: 1 },
      invalid_value: { DietaryFiber: 1 },
      unsupported: { Dietaryconstructor: 1 },
    })
  })

  test('are left out as a whole if an export has more of them than fit into memory', async () => {
    const many = Array.from({ length: 100_001 }, (_, i) => {
      const at = new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString()
      return nutrient('Protein', 1, 'g', `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`)
    })
    const { summaries, skipped } = await reading(exportXml(...many))
    assert.deepEqual([summaries.meal, skipped], [undefined, { too_many: { meals: 1 } }])
  })

  test('are stored once for any number and order of exports, and change when a food is added', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await importFile(team, user, await exportZip(exportXml(...dinner)))
    const { meals } = await list(team, 'meal', user)
    assert.deepEqual(
      meals.map((meal: { energy: unknown; source: { app_id: unknown } }) => [meal.energy, meal.source.app_id]),
      [[{ unit: 'kcal', value: 420 }, 'Fictional Food']],
    )
    const again = await importFile(team, user, exportXml(...dinner.toReversed()))
    assert.deepEqual(
      [again.resources.meal, again.updated, again.created],
      [{ accepted: 1, created: 0, updated: 0, dropped: 0 }, 0, 0],
    )
    assert.deepEqual((await list(team, 'meal', user)).meals, meals)
    const longer = await importFile(team, user, exportXml(...dinner, nutrient('Protein', 7, 'g', EVENING, 'Bread')))
    assert.deepEqual(longer.resources.meal, { accepted: 1, created: 0, updated: 1, dropped: 0 })
    const emitted = (await storedTypes(team)).filter((type) => type.includes('.meal.'))
    assert.deepEqual(emitted, ['daily.data.meal.created', 'historical.data.meal.created', 'daily.data.meal.updated'])
  })

  test('that a phone has sent are left as they are', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const amount = { value: 420, unit: 'kcal', start_date: '2026-01-31T18:00:00Z', end_date: '2026-01-31T18:00:00Z' }
    await postSummary(team, 'meal', user, [{ healthkit: { source_bundle: 'com.example.food', energy_total: [amount] } }])
    const { skipped } = await importFile(team, user, exportXml(...dinner, nutrient('Protein', 7, 'g', NOON)))
    assert.equal(skipped.already_there.meal, 1)
    const { meals } = await list(team, 'meal', user)
    assert.deepEqual(meals.map(({ source }: { source: { app_id: string } }) => source.app_id).toSorted(), [
      'Fictional Food',
      'com.example.food',
    ])
  })
})

const HEALTH = { sourceName: 'Fictional Cycles', device: '' }
/** A record of a day, as Apple Health writes it: at noon in UTC. */
const onDay = (type: string, value: string | undefined, day: string, content = '', overrides = {}) =>
  record(`HKCategoryTypeIdentifier${type}`, value && `HKCategoryValue${value}`, '', `${day} 13:00:00 +0100`, {
    ...HEALTH,
    content,
    ...overrides,
  })
const begins = (yes: boolean) => metadata('HKMenstrualCycleStart', yes ? '1' : '0')
const flow = (value: string, day: string, isFirst = false, overrides = {}) =>
  onDay('MenstrualFlow', `MenstrualFlow${value}`, day, begins(isFirst), overrides)

const cycle = [
  flow('Light', '2026-01-03', true),
  flow('Heavy', '2026-01-04'),
  flow('Medium', '2026-01-05'),
  flow('None', '2026-01-06'),
  onDay('CervicalMucusQuality', 'CervicalMucusQualityEggWhite', '2026-01-14'),
  onDay('OvulationTestResult', 'OvulationTestResultLuteinizingHormoneSurge', '2026-01-15'),
  onDay('IntermenstrualBleeding', 'NotApplicable', '2026-01-16'),
  onDay('SexualActivity', 'NotApplicable', '2026-01-17', metadata('HKSexualActivityProtectionUsed', '1')),
  onDay('SexualActivity', 'NotApplicable', '2026-01-18'),
  onDay('PregnancyTestResult', 'PregnancyTestResultNegative', '2026-01-28'),
  onDay('ProgesteroneTestResult', 'ProgesteroneTestResultPositive', '2026-01-22'),
  onDay('IrregularMenstrualCycles', 'NotApplicable', '2026-01-29'),
  onDay('Contraceptive', 'ContraceptiveIntrauterineDevice', '2026-01-20', '', { end: '4001-01-01 01:00:00 +0100' }),
  record('BasalBodyTemperature', 97.7, 'degF', '2026-01-13 13:00:00 +0100', HEALTH),
]
const second = [onDay('MenstrualFlow', 'VaginalBleedingLight', '2026-01-30', begins(true)), flow('Light', '2026-02-02')]

describe('menstrual cycles of an Apple Health export', () => {
  test('reach from one record of flow that begins a cycle to the day before the next, with all that was recorded between', async () => {
    const { summaries, samples, skipped } = await reading(exportXml(...second, ...cycle))
    const [first, next] = documents(summaries.menstrual_cycle)
    assert.deepEqual(first, {
      period_start: '2026-01-03',
      period_end: '2026-01-05',
      cycle_end: '2026-01-29',
      is_predicted: false,
      menstrual_flow: [
        { date: '2026-01-03', flow: 'light' },
        { date: '2026-01-04', flow: 'heavy' },
        { date: '2026-01-05', flow: 'medium' },
        { date: '2026-01-06', flow: 'none' },
      ],
      cervical_mucus: [{ date: '2026-01-14', quality: 'egg_white' }],
      intermenstrual_bleeding: [{ date: '2026-01-16' }],
      contraceptive: [{ date: '2026-01-20', type: 'iud' }],
      detected_deviations: [{ date: '2026-01-29', deviation: 'irregular_menstrual_cycles' }],
      ovulation_test: [{ date: '2026-01-15', test_result: 'luteinizing_hormone_surge' }],
      home_pregnancy_test: [{ date: '2026-01-28', test_result: 'negative' }],
      home_progesterone_test: [{ date: '2026-01-22', test_result: 'positive' }],
      sexual_activity: [
        { date: '2026-01-17', protection_used: true },
        { date: '2026-01-18', protection_used: null },
      ],
      basal_body_temperature: [{ date: '2026-01-13', value: 36.5 }],
    })
    assert.deepEqual([next!.period_start, next!.period_end, next!.cycle_end], ['2026-01-30', '2026-02-02', null])
    assert.deepEqual([samples.basal_body_temperature!.length, skipped], [1, {}])
  })

  test('belong to each source; one record may cover a period, and a source may mark each day as a beginning', async () => {
    const other = { sourceName: 'Other Fictional' }
    const { summaries, skipped } = await reading(
      exportXml(
        onDay('IntermenstrualBleeding', 'NotApplicable', '2026-01-01'),
        flow('Medium', '2026-01-03', true, { end: '2026-01-08 00:00:00 +0000' }),
        ...['2026-01-10', '2026-01-11', '2026-01-11', '2026-01-12'].map((day) => flow('Medium', day, true, other)),
        flow('Purple', '2026-01-20'),
        onDay('OvulationTestResult', 'OvulationTestResultconstructor', '2026-01-20'),
        onDay('CervicalMucusQuality', 'CervicalMucusQualityDry', '2026-01-20', '', { sourceName: 'Without flow' }),
      ),
    )
    assert.deepEqual(
      summaries.menstrual_cycle!.map(({ record: { app_id, document } }) => {
        const { period_start, period_end, menstrual_flow } = document as Record<string, unknown>
        return [app_id, period_start, period_end, (menstrual_flow as unknown[]).length]
      }),
      [
        ['Fictional Cycles', '2026-01-03', '2026-01-07', 1],
        ['Other Fictional', '2026-01-10', '2026-01-12', 3],
      ],
    )
    assert.deepEqual(skipped, {
      no_value: { MenstrualCycle: 2 },
      invalid_value: { MenstrualFlow: 1, OvulationTestResult: 1 },
    })
  })

  test('have the days of the place that a record names, or else of UTC', async () => {
    const at = (start: string, zone: string) =>
      record('HKCategoryTypeIdentifierMenstrualFlow', 'HKCategoryValueMenstrualFlowLight', '', start, {
        ...HEALTH,
        content: begins(true) + zone,
      })
    const days = async (...elements: string[]) =>
      documents((await reading(exportXml(...elements))).summaries.menstrual_cycle).map(({ period_start }) => period_start)
    // Noon in UTC, seen from a phone in Auckland.
    assert.deepEqual(await days(at('2026-01-04 01:00:00 +1300', '')), ['2026-01-03'])
    assert.deepEqual(await days(at('2026-01-03 13:00:00 +0000', metadata('HKTimeZone', 'Pacific/Auckland'))), ['2026-01-04'])
  })

  test('are stored once, and a longer export ends the cycle that was the last one', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const first = await importFile(team, user, exportXml(...cycle))
    assert.deepEqual(first.resources.menstrual_cycle, { accepted: 1, created: 1, updated: 0, dropped: 0 })
    const { menstrual_cycle: before } = await list(team, 'menstrual_cycle', user)
    assert.deepEqual([before.length, before[0].cycle_end, before[0].source_app_id], [1, null, 'Fictional Cycles'])
    const again = await importFile(team, user, exportXml(...cycle.toReversed()))
    assert.deepEqual([again.created, again.updated], [0, 0])
    assert.deepEqual((await list(team, 'menstrual_cycle', user)).menstrual_cycle, before)
    const longer = await importFile(team, user, exportXml(...cycle, ...second))
    assert.deepEqual(longer.resources.menstrual_cycle, { accepted: 2, created: 1, updated: 1, dropped: 0 })
    const { menstrual_cycle: after } = await list(team, 'menstrual_cycle', user)
    assert.deepEqual(
      after.map(({ id, cycle_end }: Record<string, unknown>) => [id === before[0].id, cycle_end]),
      [
        [true, '2026-01-29'],
        [false, null],
      ],
    )
  })

  test('that a phone has sent are left as they are, also if its day is the one before', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const sent = { source_bundle: 'com.example.cycles', cycle: { period_start: '2026-01-02' } }
    await postSummary(team, 'menstrual_cycle', user, [sent])
    const { skipped, resources } = await importFile(team, user, exportXml(...cycle, ...second))
    assert.deepEqual([skipped, resources.menstrual_cycle.created], [{ already_there: { menstrual_cycle: 1 } }, 1])
  })
})
