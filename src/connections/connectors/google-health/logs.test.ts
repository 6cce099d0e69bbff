// Food, drinks and alerts at a server that speaks the public protocol of the Google Health API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { GoogleHealthPeer } from '../../../../test/support/vendors/google-health.ts'
import {
  collectAll,
  assertFailure,
  plainHttp,
  listRecords,
  REDIRECT,
  listSamples,
} from '../../../../test/support/vendors/vendor-server.ts'
import type { PullRequest } from '../connector.ts'
import { googleHealth } from './google-health.ts'
import { notifiedTypes } from './webhooks.ts'

const app = { application: { packageName: 'com.example.diary' }, recordingMethod: 'MANUAL' }

/** An interval in Phoenix, with the civil times that Google adds. */
function interval(startTime: string, endTime = startTime) {
  const civil = (time: string) => {
    const local = new Date(Date.parse(time) - 7 * 3_600_000)
    const [year, month, day] = local.toISOString().slice(0, 10).split('-').map(Number)
    return { date: { year, month, day }, time: { hours: local.getUTCHours(), minutes: local.getUTCMinutes() } }
  }
  const offsets = { startUtcOffset: '-25200s', endUtcOffset: '-25200s' }
  return { startTime, endTime, ...offsets, civilStartTime: civil(startTime), civilEndTime: civil(endTime) }
}

const food = (
  time: string,
  mealType: string,
  foodDisplayName: string,
  nutrients: Record<string, number>,
  overrides: object = {},
) => ({
  dataSource: app,
  nutritionLog: {
    interval: interval(time),
    mealType,
    food: 'foods/1',
    foodDisplayName,
    nutrients: Object.entries(nutrients).map(([nutrient, grams]) => ({ nutrient, quantity: { grams } })),
    ...overrides,
  },
})
const drink = (time: string, milliliters: number, dataSource: object = app) => ({
  dataSource,
  hydrationLog: { interval: interval(time), amountConsumed: { milliliters, userProvidedUnit: 'MILLILITER' } },
})

async function linkAccount(scopes: readonly string[] = googleHealth.scopes) {
  const peer = await new GoogleHealthPeer().start()
  const [coffee, bread] = ['2026-01-31T15:10:00Z', '2026-01-31T15:00:00Z']
  peer.points.set('nutrition-log', [
    food(
      coffee,
      'BREAKFAST',
      'Fictional coffee',
      { CAFFEINE: 0.095, CARBOHYDRATES: 2, POTASSIUM: 0.116, FOLATE: 0.000_02 },
      { energy: { kcal: 12 } },
    ),
    food(
      bread,
      'BREAKFAST',
      'Fictional bread',
      { PROTEIN: 6, CARBOHYDRATES: 99, CHOLESTEROL: 0.01, VITAMIN_B12: 0.000_002, TRANS_FAT: 1, FOLATE: 1, FOLIC_ACID: 0.000_03 },
      { energy: { kcal: 180 }, totalCarbohydrate: { grams: 34 }, totalFat: { grams: 2.5 } },
    ),
    food(bread, 'BREAKFAST', 'Fictional jam', {}, { totalCarbohydrate: { grams: 10 } }),
    // In Phoenix it is still the day before.
    food('2026-01-31T04:00:00Z', 'ANYTIME', '', { constructor: 1, SUGAR: -1 }, { energy: { kcal: 90 } }),
    {
      dataSource: app,
      nutritionLog: {
        mealType: 'LUNCH',
        foodDisplayName: 'At no time',
        interval: { civilStartTime: interval(bread).civilStartTime },
      },
    },
  ])
  peer.points.set('hydration-log', [
    drink('2026-01-31T16:00:00Z', 250),
    drink('2026-01-31T16:00:00Z', 150),
    drink('2026-01-31T16:00:00Z', 500, { application: { packageName: 'com.example.bottle' } }),
    drink('2026-01-20T16:00:00Z', 1),
  ])
  peer.points.set('irregular-rhythm-notification', [
    {
      dataSource: { device: { formFactor: 'WATCH', manufacturer: 'Fictional' }, recordingMethod: 'PASSIVELY_MEASURED' },
      irregularRhythmNotification: {
        interval: interval('2026-01-31T09:00:00Z', '2026-01-31T10:15:00Z'),
        alertWindows: [],
        medicalDeviceInfo: { deviceModel: 'Fictional Watch 9', algorithmVersion: '1.0' },
      },
    },
  ])
  const code = peer.agree([...scopes], REDIRECT)
  const asked = { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms }
  const { access_token } = await googleHealth.exchange(plainHttp, peer.app(), asked)
  const range = { from_ms: Date.parse('2026-01-30T12:00:00Z'), to_ms: Date.parse('2026-01-31T12:00:00Z'), time_zone: null }
  const pull = (resource: PullRequest['resource']) =>
    collectAll(googleHealth.pull(plainHttp, peer.app(), access_token, { ...range, resource }))
  return { peer, pull }
}

test('foods of one app, local day and kind of meal are a meal, with nutrients in the units of meals', async () => {
  const { pull } = await linkAccount()
  const [breakfast, other, ...none] = listRecords(await pull('meal'), 'meal')
  assert.deepEqual(none, [])
  assert.deepEqual(
    [breakfast, other].map((meal) => [meal!.key, meal!.calendar_date, meal!.source_type, meal!.app_id, meal!.document.name]),
    [
      ['2026-01-31 Breakfast com.example.diary', '2026-01-31', 'app', 'com.example.diary', 'Breakfast'],
      ['2026-01-30 Meal com.example.diary', '2026-01-30', 'app', 'com.example.diary', 'Meal'],
    ],
  )
  interface ShownFood {
    energy: { value: number } | null
    macros: Record<string, number | null> & { fats: Record<string, number | null> }
  }
  const { timestamp, energy, micros } = breakfast!.document
  const { macros, data } = breakfast!.document as unknown as ShownFood & { data: Record<string, ShownFood> }
  assert.deepEqual([timestamp, energy], ['2026-01-31T15:00:00+00:00', { unit: 'kcal', value: 192 }])
  const { carbs, protein, cholesterol, sugar, fats } = macros
  assert.deepEqual([carbs, protein, cholesterol, sugar, fats.total], [46, 6, 0.01, null, 2.5])
  assert.deepEqual(micros, {
    minerals: { potassium: 116 },
    trace_elements: null,
    vitamins: { vitamin_b12: 2, folic_acid: 50 },
  })
  assert.deepEqual(Object.keys(data).toSorted(), ['Fictional bread', 'Fictional coffee', 'Fictional jam'])
  assert.deepEqual([data['Fictional bread']!.macros.carbs, data['Fictional coffee']!.energy!.value], [34, 12])
  assert.deepEqual([other!.document.energy, other!.document.macros], [{ unit: 'kcal', value: 90 }, null])
})

test('carbohydrates and caffeine come with meals, in grams, and amounts of one instant are added up', async () => {
  const { pull } = await linkAccount()
  const parts = await pull('meal')
  const shown = (resource: string) =>
    listSamples(parts, resource).map(({ at_ms, value, zone_s, source_type }) => [
      new Date(at_ms).toISOString(),
      value,
      zone_s,
      source_type,
    ])
  assert.deepEqual(shown('carbohydrates'), [
    ['2026-01-31T15:10:00.000Z', 2, -25_200, 'app'],
    ['2026-01-31T15:00:00.000Z', 44, -25_200, 'app'],
  ])
  assert.deepEqual(shown('caffeine'), [['2026-01-31T15:10:00.000Z', 0.095, -25_200, 'app']])
})

test('drinks of one instant and app are added up, in milliliters, and drinks of other apps are kept apart', async () => {
  const { pull } = await linkAccount()
  assert.deepEqual(
    listSamples(await pull('water'), 'water').map(({ at_ms, value, app_id }) => [new Date(at_ms).toISOString(), value, app_id]),
    [
      ['2026-01-31T16:00:00.000Z', 400, 'com.example.diary'],
      ['2026-01-31T16:00:00.000Z', 500, 'com.example.bottle'],
    ],
  )
})

test('an alert of an irregular rhythm has its type, its interval and its device', async () => {
  const { pull } = await linkAccount()
  const [alert, ...none] = listSamples(await pull('heart_rate_alert'), 'heart_rate_alert')
  assert.deepEqual(none, [])
  assert.deepEqual(
    [alert!.value, alert!.type, alert!.length_ms, alert!.source_type, alert!.device?.model],
    [1, 'irregular_rhythm', 4_500_000, 'watch', 'Fictional Watch 9'],
  )
})

test('food and alerts have scopes of their own, and Google notifies of food and drinks', async () => {
  const { pull } = await linkAccount(googleHealth.scopes.filter((scope) => !/nutrition|irn/.test(scope)))
  for (const resource of ['meal', 'water', 'heart_rate_alert'] as const) await assertFailure(pull(resource), 'scope_missing')
  for (const type of ['nutrition-log', 'hydration-log']) assert(notifiedTypes.includes(type), type)
})

test('food, drinks and alerts of the Google Health test server agree with the official description', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  peer.points.get('nutrition-log')!.splice(3)
  for (const resource of ['meal', 'water', 'heart_rate_alert'] as const) await pull(resource)
  const compared = compareAnswers(readDescription('google-health/health-v4.openapi-converted.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 2])
})
