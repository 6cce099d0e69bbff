// FIT, TCX and GPX files.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FitBaseType, FitEncoder, type FitEncoderField } from 'fit-file-parser/encoder'
import type { IncomingSample } from '../../../wearables/ingestion/ingest.ts'
import { zipBytes } from '../../../../test/support/zip.ts'
import { Batches, type Batch } from '../batches.ts'
import { readFile } from '../read-file.ts'
import { ReadError, type ReadSummary } from '../reading.ts'

const NOW_MS = Date.parse('2026-02-10T00:00:00Z')
const START = new Date('2026-01-31T09:00:00Z')

async function reading(file: string | Uint8Array) {
  const bytes = Buffer.from(file as string)
  const rates: IncomingSample[] = []
  const samples: { provider: string; resource: string; sample: IncomingSample }[] = []
  const workouts: (ReadSummary & { provider: string })[] = []
  const take = async (batch: Batch) => {
    if ('samples' in batch) {
      const { provider, resource } = batch
      rates.push(...batch.samples)
      samples.push(...batch.samples.map((sample) => ({ provider, resource, sample })))
    } else workouts.push(...batch.summaries.map((summary) => ({ ...summary, provider: batch.provider })))
  }
  const batches = new Batches('manual', take)
  const stored = { size: bytes.length, read: async (start: number) => bytes.subarray(start) }
  const error: unknown = await readFile(stored, batches, { now_ms: NOW_MS }, { read_bytes: 0, content_bytes: 0 }).then(
    () => null,
    (error: unknown) => error,
  )
  if (error !== null && !(error instanceof ReadError)) throw error
  const documents = workouts.map(({ record }) => record.document as Record<string, unknown> & { sport: { name: string } })
  return { rates, samples, workouts, documents, skipped: batches.skips, error: error?.code ?? null }
}
const beats = (rates: IncomingSample[]) => rates.map(({ at_ms, value }) => [new Date(at_ms).toISOString().slice(11, 19), value])

const u8 = (number: number, value: number): FitEncoderField => ({ number, size: 1, baseType: FitBaseType.Uint8, value })
const u16 = (number: number, value: number): FitEncoderField => ({ number, size: 2, baseType: FitBaseType.Uint16, value })
const u32 = (number: number, value: number): FitEncoderField => ({ number, size: 4, baseType: FitBaseType.Uint32, value })
const i16 = (number: number, value: number): FitEncoderField => ({ number, size: 2, baseType: FitBaseType.Sint16, value })
const i32 = (number: number, value: number): FitEncoderField => ({ number, size: 4, baseType: FitBaseType.Sint32, value })
const choice = (number: number, value: number): FitEncoderField => ({ number, size: 1, baseType: FitBaseType.Enum, value })

/** A run of ten minutes from a Garmin watch that shows the time of Phoenix. */
function fitFile(start = START): Uint8Array {
  const at = (seconds: number) => FitEncoder.toFitTimestamp(new Date(start.getTime() + seconds * 1000))
  const encoder = new FitEncoder()
  encoder.writeMessage(0, [choice(0, 4), u16(1, 1), u16(2, 3113), u32(4, at(0))])
  for (const [seconds, bpm] of [
    [0, 100],
    [300, 140],
    [600, 255],
  ])
    encoder.writeMessage(20, [
      u32(253, at(seconds!)),
      u8(3, bpm!),
      // 45° north, and 90° east: a half and a quarter of the circle, in 2³¹ parts of a half circle.
      i32(0, 2 ** 29),
      i32(1, 2 ** 30),
      u16(2, (100 + 500) * 5),
      u8(4, 80),
      u32(5, seconds! * 250),
      u16(6, 2500),
      u16(7, 210),
    ])
  encoder.writeMessage(18, [
    u32(253, at(600)),
    u32(2, at(0)),
    choice(5, 1),
    choice(6, 3),
    u32(7, 600_000),
    u32(8, 580_000),
    u32(9, 200_000),
    u16(11, 150),
    u8(16, 120),
    u8(17, 140),
  ])
  encoder.writeMessage(34, [u32(253, at(600)), u32(5, at(600 - 7 * 3600)), u16(1, 1)])
  return encoder.close()
}

describe('a FIT file', () => {
  test('has a stream, with the steps of both feet', async () => {
    const { workouts, documents } = await reading(fitFile())
    const second = START.getTime() / 1000
    const { key, ...stream } = workouts[0]!.stream!
    assert.equal(key, workouts[0]!.record.key)
    assert.deepEqual(stream, {
      time: [second, second + 300, second + 600],
      lists: {
        heartrate: [100, 140, null],
        cadence: [160, 160, 160],
        power: [210, 210, 210],
        velocity_smooth: [2.5, 2.5, 2.5],
        altitude: [100, 100, 100],
        distance: [0, 750, 1500],
        lat: [45, 45, 45],
        lng: [90, 90, 90],
      },
    })
    assert.equal((documents[0]!.map as { polyline: string }).polyline, '_atqG_cidP????')
  })

  test('is a workout with its heart rates, in the zone that the watch shows', async () => {
    const { workouts, documents, rates, error } = await reading(fitFile())
    assert.equal(error, null)
    assert.equal(workouts[0]!.provider, 'garmin')
    const [shown] = documents
    assert.deepEqual(
      [shown!.sport.name, shown!.time_start, shown!.time_end, shown!.moving_time, shown!.distance, shown!.calories],
      ['Trail Running', '2026-01-31T09:00:00+00:00', '2026-01-31T09:10:00+00:00', 580, 2000, 150],
    )
    assert.deepEqual([shown!.average_hr, shown!.max_hr, shown!.timezone_offset], [120, 140, -7 * 3600])
    // 255 says that there is no value.
    assert.deepEqual(beats(rates), [
      ['09:00:00', 100],
      ['09:05:00', 140],
    ])
  })

  test('of a day of a watch has levels of stress, in its zone, without values that could not be measured', async () => {
    const at = (seconds: number) => FitEncoder.toFitTimestamp(new Date(START.getTime() + seconds * 1000))
    const encoder = new FitEncoder()
    encoder.writeMessage(0, [choice(0, 32), u16(1, 1), u16(2, 3113), u32(4, at(0))])
    encoder.writeMessage(103, [u32(253, at(0)), u32(0, at(-7 * 3600))])
    for (const [seconds, level] of [
      [0, 25],
      [180, -1],
      [360, 101],
      [540, 100],
      [2_592_000, 30],
    ])
      encoder.writeMessage(227, [i16(0, level!), u32(1, at(seconds!))])
    const { samples, skipped, error, workouts } = await reading(encoder.close())
    assert.deepEqual([error, workouts], [null, []])
    assert.deepEqual(
      samples.map(({ provider, resource, sample }) => [
        provider,
        resource,
        new Date(sample.at_ms).toISOString().slice(11, 19),
        sample.value,
        sample.zone_s,
      ]),
      [
        ['garmin', 'stress_level', '09:00:00', 25, -7 * 3600],
        ['garmin', 'stress_level', '09:09:00', 100, -7 * 3600],
      ],
    )
    assert.deepEqual(skipped, { invalid_time: { stress_level: 1 } })
  })

  test('may consist of several files, one after another', async () => {
    const second = fitFile(new Date('2026-01-31T12:00:00Z'))
    const { documents } = await reading(Buffer.concat([fitFile(), second]))
    assert.deepEqual(
      documents.map(({ time_start }) => time_start),
      ['2026-01-31T09:00:00+00:00', '2026-01-31T12:00:00+00:00'],
    )
  })

  test('that is cut off or does not match its checksum is rejected', async () => {
    const file = fitFile()
    assert.equal((await reading(file.subarray(0, -20))).error, 'truncated')
    const changed = Buffer.from(file)
    changed[40]! ^= 0xff
    assert.equal((await reading(changed)).error, 'damaged')
  })

  test('of a size that is larger than the file, and every cut of it, ends with an error', async () => {
    const file = Buffer.from(fitFile())
    const said = Buffer.from(file)
    said.writeUInt32LE(0xffff_ffff, 4)
    assert.equal((await reading(said)).error, 'truncated')
    for (let length = 12; length < file.length; length += 7) assert((await reading(file.subarray(0, length))).error)
  })
})

const tcx = (
  points: string,
  lap = '<TotalTimeSeconds>600</TotalTimeSeconds><DistanceMeters>5000</DistanceMeters><Calories>150</Calories>',
) =>
  `    <?xml version="1.0"?><TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities><Activity Sport="Biking"><Id>2026-01-31T09:00:00Z</Id><Lap StartTime="2026-01-31T09:00:00Z">${lap}<AverageHeartRateBpm><Value>120</Value></AverageHeartRateBpm><Track>${points}</Track></Lap><Creator><Name>Garmin Edge 530</Name></Creator></Activity></Activities></TrainingCenterDatabase>`
const tcxPoint = (time: string, bpm: number) =>
  `<Trackpoint><Time>${time}</Time><DistanceMeters>9</DistanceMeters><HeartRateBpm><Value>${bpm}</Value></HeartRateBpm><Extensions><ns3:TPX xmlns:ns3="x"><ns3:Watts>200</ns3:Watts></ns3:TPX></Extensions></Trackpoint>`

describe('a TCX file', () => {
  test('may begin with spaces, and is a workout with its heart rates', async () => {
    const { documents, rates, workouts } = await reading(
      tcx(tcxPoint('2026-01-31T09:00:00Z', 100) + tcxPoint('2026-01-31T09:10:00.500Z', 140)),
    )
    const [shown] = documents
    assert.equal(workouts[0]!.provider, 'garmin')
    assert.deepEqual(
      [
        shown!.sport.name,
        shown!.time_start,
        shown!.time_end,
        shown!.moving_time,
        shown!.distance,
        shown!.calories,
        shown!.max_hr,
      ],
      ['Cycling', '2026-01-31T09:00:00+00:00', '2026-01-31T09:10:00+00:00', 600, 5000, 150, 140],
    )
    assert.deepEqual(beats(rates), [
      ['09:00:00', 100],
      ['09:10:00', 140],
    ])
  })

  test('has a stream, whose points may have a place and a speed', async () => {
    const place = '<Position><LatitudeDegrees>60.1</LatitudeDegrees><LongitudeDegrees>24.9</LongitudeDegrees></Position>'
    const more =
      '<AltitudeMeters>10</AltitudeMeters><Cadence>90</Cadence><Extensions><x:TPX xmlns:x="x"><x:Speed>8</x:Speed></x:TPX></Extensions>'
    const point = `<Trackpoint>${place}<Time>2026-01-31T09:00:01Z</Time>${more}</Trackpoint>`
    const { workouts } = await reading(tcx(tcxPoint('2026-01-31T09:00:00Z', 100) + point))
    const second = START.getTime() / 1000
    const { time, lists } = workouts[0]!.stream!
    assert.deepEqual(time, [second, second + 1])
    assert.deepEqual(lists, {
      heartrate: [100, null],
      distance: [9, null],
      power: [200, null],
      lat: [null, 60.1],
      lng: [null, 24.9],
      altitude: [null, 10],
      // The sport is cycling: turns of the crank.
      cadence: [null, 90],
      velocity_smooth: [null, 8],
    })
  })

  test('and a FIT file of the same activity are the same workout', async () => {
    const [a, b] = [await reading(fitFile()), await reading(tcx(tcxPoint('2026-01-31T09:00:00Z', 100)))]
    assert.equal(a.workouts[0]!.record.key, b.workouts[0]!.record.key)
  })
})

const gpx = (points: string, creator = 'StravaGPX') =>
  `<?xml version="1.0"?><gpx creator="${creator}" xmlns:gpxtpx="x" xmlns:ns2="y"><trk><name>Fictional</name><type>trail_running</type><trkseg>${points}</trkseg></trk></gpx>`
const gpxPoint = (time: string, heart = '') =>
  `<trkpt lat="1" lon="2"><time>${time}</time><extensions>${heart}</extensions></trkpt>`

describe('a GPX file', () => {
  test('has heart rates under names of several vendors, times without a zone are in UTC', async () => {
    const { documents, rates, workouts } = await reading(
      gpx(
        gpxPoint('2026-01-31T09:00:00Z', '<gpxtpx:TrackPointExtension><gpxtpx:hr>100</gpxtpx:hr></gpxtpx:TrackPointExtension>') +
          gpxPoint('2026-01-31T09:05:00', '<ns2:hr>120</ns2:hr>') +
          gpxPoint('2026-01-31T11:10:00+02:00', '<heartrate/>'),
      ),
    )
    assert.equal(workouts[0]!.provider, 'strava')
    assert.deepEqual(
      [documents[0]!.sport.name, documents[0]!.time_end, documents[0]!.average_hr],
      ['Trail Running', '2026-01-31T09:10:00+00:00', 110],
    )
    assert.deepEqual(beats(rates), [
      ['09:00:00', 100],
      ['09:05:00', 120],
    ])
  })

  test('has a distance that is measured along its places', async () => {
    const point = (minute: number, place: string) =>
      `<trkpt ${place}><time>2026-01-31T09:0${minute}:00Z</time><ele>10</ele></trkpt>`
    const places = ['lat="45" lon="7"', 'lat="45.01" lon="7"', 'lat="95" lon="7"', 'lat="45.01" lon="7.01"']
    const { documents, workouts } = await reading(gpx(places.map((place, minute) => point(minute, place)).join('')))
    // A hundredth of a degree is 1,111.9 m north and 786.1 m east there; a place that cannot be is none.
    assert.deepEqual(workouts[0]!.stream!.lists.distance, [0, 1111.9, null, 1898.1])
    assert.equal(documents[0]!.distance, 1898.1)
  })

  test('that ends too early is read as far as it goes; one of a route without times is left out', async () => {
    const cut = gpx(gpxPoint('2026-01-31T09:00:00Z') + gpxPoint('2026-01-31T09:05:00Z')).split('</trkseg>')[0]!
    const { documents, error } = await reading(cut)
    assert.deepEqual([documents[0]!.time_end, error], ['2026-01-31T09:05:00+00:00', 'truncated'])
    const route = await reading(gpx('<trkpt lat="1" lon="2"/>'))
    assert.deepEqual([route.documents.length, route.skipped], [0, { invalid_time: { workouts: 1 } }])
  })
})

test('an archive of activities is read whole; unreadable files are counted', async () => {
  const zip = await zipBytes([
    { name: 'activities/1.fit', content: [Buffer.from(fitFile())] },
    { name: 'activities/2.GPX', content: [gpx(gpxPoint('2026-01-31T11:00:00Z'), 'Unknown program')] },
    { name: 'activities/3.fit', content: ['broken'] },
    { name: '__MACOSX/activities/._1.fit', content: ['x'] },
    { name: 'notes.txt', content: ['x'] },
  ])
  const { workouts, skipped, error } = await reading(zip)
  assert.deepEqual(
    workouts.map(({ provider }) => provider),
    ['garmin', 'manual'],
  )
  assert.deepEqual([skipped, error], [{ malformed: { fit: 1 }, unsupported: { txt: 1 } }, null])
})
