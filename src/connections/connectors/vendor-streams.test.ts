// What vendors say of workouts and recordings beyond their sums: streams, ways on a map, electrocardiograms, devices and raw records.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DexcomPeer } from '../../../test/support/vendors/dexcom.ts'
import { compareAnswers, noDescriptions, readDescription } from '../../../test/support/vendors/descriptions.ts'
import { OuraPeer, ouraWorkout } from '../../../test/support/vendors/oura.ts'
import { PolarPeer } from '../../../test/support/vendors/polar.ts'
import { StravaPeer } from '../../../test/support/vendors/strava.ts'
import { nameOf, pullResource, streamsOf } from '../../../test/support/vendors/pulled.ts'
import { listRecords, listSamples } from '../../../test/support/vendors/vendor-server.ts'
import { WhoopPeer, whoopSleep } from '../../../test/support/vendors/whoop.ts'
import { linkedToWithings } from '../../../test/support/vendors/withings-records.ts'
import { dexcom } from './dexcom/dexcom.ts'
import { oura } from './oura/oura.ts'
import { polar } from './polar/polar.ts'
import { strava } from './strava/strava.ts'
import { whoop } from './whoop/whoop.ts'

const START = '2026-01-31T09:00:00Z'
const SECOND = Date.parse(START) / 1000
describe('Strava', () => {
  async function peerWith(overrides: object) {
    const peer = await new StravaPeer().start()
    const activity = { name: 'A fictional run', sport_type: 'Run', timezone: '(GMT+00:00) UTC', elapsed_time: 4 }
    peer.activities.push({ id: 1, athlete: { id: 7 }, start_date: START, start_date_local: START, ...activity, ...overrides })
    return peer
  }
  const data = (...values: unknown[]) => ({ data: values, series_type: 'time', original_size: values.length, resolution: 'high' })

  test('the stream of an activity follows it, with the steps of both feet, places, and gaps where a list says nothing', async () => {
    const peer = await peerWith({
      device_name: 'Fictional Watch 5',
      map: { id: 'a1', polyline: '_p~iF~ps|U_ulLnnqC', summary_polyline: 'a polyline has no space' },
    })
    peer.streams.set(1, {
      time: data(0, 1, 3),
      heartrate: data(120, 121, 0),
      cadence: data(80, 81, 82),
      watts: data(200, 210, 220),
      velocity_smooth: data(2.5, 2.6, 2.7),
      altitude: data(10.5, 10.6, 10.7),
      distance: data(0, 2.5, 7.5),
      temp: data(4, 4, 5),
      latlng: data([60.1, 24.9], [60.2, 25], [95, 25]),
    })
    const parts = await pullResource(strava, peer, '7', 'workouts')
    assert.deepEqual(parts.map(nameOf), ['workouts', 'stream'])
    const [workout] = listRecords(parts, 'workouts')
    assert.deepEqual(workout!.document.map, { polyline: '_p~iF~ps|U_ulLnnqC', summary_polyline: null })
    assert.equal(workout!.device!.model, 'Fictional Watch 5')
    assert.equal(workout!.raw!.device_name, 'Fictional Watch 5')
    assert.deepEqual(streamsOf(parts), [
      {
        key: '1',
        time: [SECOND, SECOND + 1, SECOND + 3],
        lists: {
          heartrate: [120, 121, null],
          power: [200, 210, 220],
          cadence: [160, 162, 164],
          velocity_smooth: [2.5, 2.6, 2.7],
          altitude: [10.5, 10.6, 10.7],
          distance: [0, 2.5, 7.5],
          temperature: [4, 4, 5],
          lat: [60.1, 60.2, null],
          lng: [24.9, 25, null],
        },
      },
    ])
    if (noDescriptions) return
    peer.answers.splice(0, 99, ...peer.answers.filter(({ operation }) => operation === 'getActivityStreams'))
    const { differences, operations } = compareAnswers(readDescription('strava/strava-v3.swagger-merged.json'), peer.answers)
    assert.deepEqual([differences, operations.size], [[], 1])
  })

  test('an activity that was entered by hand is asked for no stream, and one without a stream is a workout still', async () => {
    const byHand = await peerWith({ manual: true })
    assert.deepEqual((await pullResource(strava, byHand, '7', 'workouts')).map(nameOf), ['workouts'])
    assert.equal(byHand.requestsTo('/api/v3/activities/1/streams').length, 0)
    assert.deepEqual((await pullResource(strava, await peerWith({}), '7', 'workouts')).map(nameOf), ['workouts'])
  })
})

describe('Polar', () => {
  const session = (id: string, sport: string, overrides: object = {}) => ({
    identifier: { id },
    startTime: '2026-01-31T09:00:00',
    timezoneOffsetMinutes: 0,
    durationMillis: 4000,
    sport: { id: sport },
    deviceId: 'ABC123',
    product: { modelName: 'Fictional V3' },
    ...overrides,
  })
  const samples = (type: string, ...values: unknown[]) => ({ type, intervalMillis: 2000, values })
  const exercise = {
    startTime: '2026-01-31T09:00:00',
    distanceMeters: 10,
    durationMillis: 4000,
    ascentMeters: 12,
    samples: {
      samples: [samples('HEART_RATE', 120, 'NaN', 124), samples('SPEED', 9, 9, 9), samples('CADENCE', 80, null, 82)],
    },
    routes: { route: { wayPoints: [{ latitude: 60.1, longitude: 24.9, altitude: 10, elapsedMillis: 0 }] } },
  }

  test('samples and routes of a day become streams, speeds in m/s, and sports have the names of the catalog', async () => {
    const peer = await new PolarPeer().start()
    peer.sports.push(
      { id: { id: '27' }, name: 'TRAIL_RUNNING', localizedNames: { en: { longName: 'Trail running' } } },
      { id: '17', name: 'TREADMILL_RUNNING' },
      { id: {}, name: 'NOBODY' },
    )
    peer.storedValues.set('training-sessions/list', [
      session('session-1', '27', { exercises: [exercise] }),
      session('session-2', '17'),
      session('session-3', '4711'),
      session('session-4', '2'),
    ])
    const parts = await pullResource(polar, peer, peer.user, 'workouts')
    assert.deepEqual(parts.map(nameOf), ['workouts', 'stream', 'workouts', 'workouts', 'workouts'])
    const workouts = listRecords(parts, 'workouts')
    assert.deepEqual(
      workouts.map(({ document }) => (document.sport as { slug: string }).slug),
      ['trail_running', 'indoor_running', 'other', 'cycling'],
    )
    const { device, raw, document } = workouts[0]!
    assert.deepEqual([device!.model, device!.device_id, document.total_elevation_gain], ['Fictional V3', 'ABC123', 12])
    assert.deepEqual([raw!.sport, raw!.exercises], [{ id: '27' }, undefined])
    assert.deepEqual(streamsOf(parts), [
      {
        key: 'session-1',
        time: [SECOND, SECOND + 2, SECOND + 4],
        lists: {
          heartrate: [120, null, 124],
          velocity_smooth: [2.5, 2.5, 2.5],
          cadence: [80, null, 82],
          lat: [60.1, null, null],
          lng: [24.9, null, null],
          altitude: [10, null, null],
        },
      },
    ])
    if (noDescriptions) return
    const compared = compareAnswers(readDescription('polar/dynamic-v4.openapi-reconstructed.yaml'), peer.answers)
    assert.deepEqual(compared.differences, [])
  })

  test('without the scope of the catalog a workout has another sport', async () => {
    const peer = await new PolarPeer().start()
    peer.storedValues.set('training-sessions/list', [session('session-1', '27')])
    const scopes = polar.scopes.filter((scope) => scope !== 'sports:read')
    const [workout] = listRecords(await pullResource(polar, peer, peer.user, 'workouts', scopes), 'workouts')
    assert.equal((workout!.document.sport as { slug: string }).slug, 'other')
  })
})

describe('Withings', () => {
  const at = (text: string) => Date.parse(text) / 1000

  test('an electrocardiogram is asked for by its id, and says no more than the vendor does of the rhythm', async () => {
    const { peer, pull } = await linkedToWithings()
    const recording = (signalid: number, afib: number, time: string) => ({
      deviceid: 'fictional-ecg',
      model: 91,
      ecg: { signalid, afib },
      heart_rate: 61,
      timestamp: at(time),
      modified: at(time),
      signal: [1000, -500, 250],
    })
    peer
      .store('363')
      .recordings.push(
        recording(48, 1, '2026-01-30T09:00:00Z'),
        recording(49, 0, '2026-01-30T10:00:00Z'),
        recording(50, 2, '2026-01-30T11:00:00Z'),
      )
    const parts = await pull('electrocardiogram')
    const records = listRecords(parts, 'electrocardiogram')
    assert.deepEqual(
      records.map(({ key, source_type, document }) => [key, source_type, document.classification]),
      [
        ['48', 'watch', 'atrial_fibrillation'],
        ['49', 'watch', null],
        ['50', 'watch', 'inconclusive'],
      ],
    )
    assert.deepEqual(records[0]!.device, {
      source_type: 'watch',
      manufacturer: 'Withings',
      model: 'Move ECG',
      version: null,
      device_id: 'fictional-ecg',
    })
    const samples = listSamples(parts, 'electrocardiogram_voltage').slice(0, 3)
    assert.deepEqual(
      samples.map(({ at_ms, value }) => [at_ms - at('2026-01-30T09:00:00Z') * 1000, value]),
      [
        [0, 1],
        [2, -0.5],
        [4, 0.25],
      ],
    )
    if (noDescriptions) return
    const { differences, operations } = compareAnswers(readDescription('withings/withings.openapi.yaml'), peer.answers)
    assert.deepEqual([differences, operations.has('heartv2-list'), operations.has('heartv2-get')], [[], true, true])
  })

  test("the recording of a watch during a workout is the workout's stream; records name their devices", async () => {
    const { peer, pull } = await linkedToWithings()
    const entry = (overrides: object) => ({ deviceid: 'fictional-device', model_id: 93, duration: 60, ...overrides })
    Object.assign(peer.store('363').intraday, {
      [at('2026-01-31T09:00:00Z')]: entry({ heart_rate: 120, steps: 160, distance: 150 }),
      [at('2026-01-31T09:01:00Z')]: entry({ heart_rate: 0, steps: 170, distance: 155 }),
      [at('2026-01-31T09:45:00Z')]: entry({ heart_rate: 90 }),
    })
    const parts = await pull('workouts')
    const [stream, ...others] = streamsOf(parts)
    assert.deepEqual(others, [])
    assert.deepEqual(stream, {
      key: '3001',
      time: [SECOND, SECOND + 60, SECOND + 120],
      lists: { heartrate: [120, null, null], cadence: [160, 170, null], distance: [null, 150, 305] },
    })
    assert.equal(listRecords(parts, 'workouts')[0]!.device!.model, 'Activite Steel HR Sport Edition')
    const [rate] = listSamples(await pull('steps'), 'heartrate')
    assert.deepEqual([rate!.device!.model, rate!.device!.device_id], ['ScanWatch', 'fictional-device'])
    const [scale] = listRecords(await pull('body'), 'body')
    assert.deepEqual([scale!.device!.device_id, scale!.raw!.grpid], ['fictional-device', 1001])
  })
})

test('Oura: the heart rates during a workout are its stream, unless the user has not allowed them', async () => {
  const peer = await new OuraPeer().start()
  const workout = ouraWorkout('2026-01-31')
  peer.put('oura-user', 'workout', workout)
  const start_ms = Date.parse(workout.start_datetime as string)
  const rate = (after_s: number, bpm: number) => {
    const timestamp_unix = start_ms + after_s * 1000
    return { timestamp: new Date(timestamp_unix).toISOString(), timestamp_unix, bpm, source: 'workout' }
  }
  peer.heartRates.set('oura-user', [rate(-60, 80), rate(0, 120), rate(60, 130)])
  const [stream] = streamsOf(await pullResource(oura, peer, 'oura-user', 'workouts'))
  assert.deepEqual([stream!.time, stream!.lists], [[start_ms / 1000, start_ms / 1000 + 60], { heartrate: [120, 130] }])
  const scopes = oura.scopes.filter((scope) => scope !== 'heartrate')
  assert.deepEqual((await pullResource(oura, peer, 'oura-user', 'workouts', scopes)).map(nameOf), [
    'workouts',
    'workout_duration',
  ])
})

test('WHOOP: heart rates of a night come with it; an application that is not given them has nights still', async () => {
  const night = 'ecfc6a15-4661-442f-a9a4-f160dd7afae8'
  const peer = await new WhoopPeer().start()
  peer.put('activity/sleep', whoopSleep(night, 1, '2026-01-30T20:00:00.000Z', '2026-01-31T04:00:00.000Z'))
  const hr = (timestamp: string, value: number) => ({ timestamp, hr: value })
  peer.streams.set(night, [
    hr('2026-01-30T20:00:00.000Z', 55),
    hr('2026-01-30T20:00:10.000Z', 0),
    hr('2026-01-31T05:00:00.000Z', 70),
  ])
  const parts = await pullResource(whoop, peer, '10129', 'sleep')
  assert.deepEqual(parts.map(nameOf), ['sleep', 'heartrate'])
  assert.deepEqual(
    listSamples(parts, 'heartrate').map(({ value, source_type }) => [value, source_type]),
    [[55, 'watch']],
  )
  assert.equal(listRecords(parts, 'sleep')[0]!.raw!.id, night)
  peer.givesStreams = false
  assert.deepEqual((await pullResource(whoop, peer, '10129', 'sleep')).map(nameOf), ['sleep'])
  if (noDescriptions) return
  const compared = compareAnswers(readDescription('whoop/whoop-v2.openapi.yaml'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.has('getSleepStream')], [[], true])
})

test('Dexcom: a value names its transmitter', async () => {
  const peer = await new DexcomPeer().start()
  const times = { systemTime: '2026-01-31T09:00:00Z', displayTime: '2026-01-31T09:00:00Z' }
  peer.values.push({ recordId: 'r', ...times, value: 100, transmitterId: 'fictional', transmitterGeneration: 'g6Pro' } as never)
  const [value] = listSamples(await pullResource(dexcom, peer, peer.user, 'glucose'), 'glucose')
  const { manufacturer, model, device_id } = value!.device!
  assert.deepEqual([manufacturer, model, device_id], ['Dexcom', 'G6Pro', 'fictional'])
})
