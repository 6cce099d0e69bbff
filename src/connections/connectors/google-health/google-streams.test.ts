// What the Google Health API says of workouts and recordings beyond their sums, against a server that speaks its public protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { GoogleHealthPeer } from '../../../../test/support/vendors/google-health.ts'
import { nameOf, pullResource, streamsOf } from '../../../../test/support/vendors/pulled.ts'
import { listRecords, listSamples } from '../../../../test/support/vendors/vendor-server.ts'
import { googleHealth } from './google-health.ts'

const START = '2026-01-31T09:00:00Z'
const SECOND = Date.parse(START) / 1000

describe('Google Health: workouts and electrocardiograms', () => {
  const times = { startTime: START, startUtcOffset: '3600s', endTime: '2026-01-31T09:30:00Z', endUtcOffset: '3600s' }
  const dataSource = { device: { formFactor: 'WATCH', displayName: 'Fictional watch', manufacturer: 'Fictional' } }
  const device = { source_type: 'watch', manufacturer: 'Fictional', model: 'Fictional watch', version: null, device_id: null }
  const nameIn = (type: string, id: string) => `users/1/dataTypes/${type}/dataPoints/${id}`

  async function peerWithRun() {
    const peer = await new GoogleHealthPeer().start()
    const exercise = {
      exerciseType: 'RUNNING',
      interval: { ...times, civilStartTime: { date: { year: 2026, month: 1, day: 31 } } },
    }
    peer.points.set('exercise', [{ name: nameIn('exercise', '81'), dataSource, exercise }])
    const point = (second: number, values: string) =>
      `<Trackpoint><Time>2026-01-31T09:00:0${second}.000Z</Time>${values}</Trackpoint>`
    const place = (lat: number) =>
      `<Position><LatitudeDegrees>${lat}</LatitudeDegrees><LongitudeDegrees>24.9</LongitudeDegrees></Position>`
    const speed = '<Extensions><ns3:TPX><ns3:Speed>2.5</ns3:Speed><ns3:Watts>210</ns3:Watts></ns3:TPX></Extensions>'
    peer.tracks.set(
      '81',
      `<TrainingCenterDatabase><Activities><Activity Sport="Running"><Track>
        ${point(0, `${place(60.1)}<AltitudeMeters>10.5</AltitudeMeters><HeartRateBpm><Value>120</Value></HeartRateBpm>`)}
        ${point(1, `${place(60.2)}<DistanceMeters>2.5</DistanceMeters><Cadence>80</Cadence>${speed}`)}
        <Trackpoint><Time>yesterday</Time>`,
    )
    return peer
  }

  test('the track of a workout becomes its stream and its way, and its device and record are kept', async () => {
    const parts = await pullResource(googleHealth, await peerWithRun(), '1', 'workouts')
    assert.deepEqual(parts.map(nameOf), ['workouts', 'stream'])
    const [run] = listRecords(parts, 'workouts')
    assert.deepEqual(run!.device, device)
    assert.equal((run!.raw!.exercise as { exerciseType: string }).exerciseType, 'RUNNING')
    assert.equal((run!.document.map as { polyline: string }).polyline, '_hymJ_h~vC_pR?')
    assert.deepEqual(streamsOf(parts), [
      {
        key: '81',
        time: [SECOND, SECOND + 1],
        lists: {
          lat: [60.1, 60.2],
          lng: [24.9, 24.9],
          altitude: [10.5, null],
          heartrate: [120, null],
          distance: [null, 2.5],
          cadence: [null, 80],
          velocity_smooth: [null, 2.5],
          power: [null, 210],
        },
      },
    ])
  })

  test('workouts of a user who does not share locations have no streams', async () => {
    const peer = await peerWithRun()
    const scopes = googleHealth.scopes.filter((scope) => !scope.includes('location'))
    const parts = await pullResource(googleHealth, peer, '1', 'workouts', scopes)
    assert.deepEqual(parts.map(nameOf), ['workouts'])
  })

  test('an electrocardiogram has its voltages in millivolts, one for each sample', async () => {
    const peer = await new GoogleHealthPeer().start()
    const electrocardiogram = {
      interval: { ...times, endTime: START },
      beatsPerMinuteAvg: '61',
      samplingFrequencyHertz: 250,
      millivoltsScalingFactor: 1000,
      leadNumber: 1,
      resultClassification: 'INCONCLUSIVE_LOW_HEART_RATE',
      waveformSamples: [100, -50, 25],
      medicalDeviceInfo: { deviceModel: 'Fictional ECG', firmwareVersion: '1.2', algorithmVersion: '3' },
    }
    const late = { ...electrocardiogram, interval: { ...times, startTime: '2026-02-03T09:00:00Z' } }
    const odd = { ...electrocardiogram, samplingFrequencyHertz: 1e9 }
    const point = (id: string, value: object) => ({ name: nameIn('electrocardiogram', id), dataSource, electrocardiogram: value })
    peer.points.set('electrocardiogram', [point('94', late), point('91', electrocardiogram), point('92', odd)])
    const parts = await pullResource(googleHealth, peer, '1', 'electrocardiogram')
    const [record, ...others] = listRecords(parts, 'electrocardiogram')
    assert.deepEqual(others, [])
    const { session_start, session_end, classification, inconclusive_cause, ...document } = record!.document
    assert.deepEqual([record!.key, record!.calendar_date, session_start], ['91', '2026-01-31', '2026-01-31T09:00:00+00:00'])
    assert.deepEqual(
      [session_end, classification, inconclusive_cause],
      ['2026-01-31T09:00:00+00:00', 'inconclusive', 'low_heart_rate'],
    )
    const { voltage_sample_count, heart_rate_mean, sampling_frequency_hz, algorithm_version, source_device_model } = document
    assert.deepEqual([voltage_sample_count, heart_rate_mean, sampling_frequency_hz], [3, 61, 250])
    assert.deepEqual([algorithm_version, source_device_model, record!.device!.version], ['3', 'Fictional ECG', '1.2'])
    assert.equal(JSON.stringify(record!.raw).includes('waveformSamples'), false)
    const samples = listSamples(parts, 'electrocardiogram_voltage')
    assert.deepEqual(
      samples.map(({ at_ms, value, zone_s }) => [at_ms - SECOND * 1000, value, zone_s]),
      [
        [0, 0.1, 3600],
        [4, -0.05, 3600],
        [8, 0.025, 3600],
      ],
    )
    if (noDescriptions) return
    const compared = compareAnswers(readDescription('google-health/health-v4.openapi-converted.json'), peer.answers)
    assert.deepEqual(compared.differences, [])
  })
})
