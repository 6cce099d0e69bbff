// TCX and GPX files in the spellings of the programs that write them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents, reading, values } from '../../../../test/support/file-imports.ts'
import { instantOf } from './tracks.ts'

const gpx = (...segments: string[]) =>
  `<?xml version="1.0"?><gpx creator="Fictional" xmlns:gpxtpx="x" xmlns:gpxdata="y" xmlns:ns3="z"><trk><type>running</type>${segments
    .map((points) => `<trkseg>${points}</trkseg>`)
    .join('')}</trk></gpx>`
const timeOfMinute = (minute: number) => `2026-02-01T06:${String(minute).padStart(2, '0')}:00Z`
const point = (minute: number, lat: number, { lng = 7, time = timeOfMinute(minute), inside = '' } = {}) =>
  `<trkpt lat="${lat}" lon="${lng}"><time>${time}</time>${inside}</trkpt>`
const activity = (...laps: string[]) =>
  `<TrainingCenterDatabase><Activities><Activity Sport="Running"><Id>x</Id>${laps.join('')}</Activity></Activities></TrainingCenterDatabase>`
const lap = (start: string | number, content: string, ...tracks: string[]) =>
  `<Lap StartTime="${typeof start === 'number' ? timeOfMinute(start) : start}">${content}${tracks.map((points) => `<Track>${points}</Track>`).join('')}</Lap>`
const totals = (seconds: number | undefined, meters?: number, mean?: number, max?: number) =>
  [
    seconds === undefined ? '' : `<TotalTimeSeconds>${seconds}</TotalTimeSeconds>`,
    meters === undefined ? '' : `<DistanceMeters>${meters}</DistanceMeters>`,
    mean === undefined ? '' : `<AverageHeartRateBpm><Value>${mean}</Value></AverageHeartRateBpm>`,
    max === undefined ? '' : `<MaximumHeartRateBpm><Value>${max}</Value></MaximumHeartRateBpm>`,
  ].join('')
const place = (lat: number, lng = 7) =>
  `<Position><LatitudeDegrees>${lat}</LatitudeDegrees><LongitudeDegrees>${lng}</LongitudeDegrees></Position>`
const trackpoint = (minute: number, { lat, meters, bpm }: { lat?: number; meters?: number; bpm?: number } = {}) =>
  `<Trackpoint><Time>${timeOfMinute(minute)}</Time>${lat === undefined ? '' : place(lat)}${meters === undefined ? '' : `<DistanceMeters>${meters}</DistanceMeters>`}${
    bpm === undefined ? '' : `<HeartRateBpm><Value>${bpm}</Value></HeartRateBpm>`
  }</Trackpoint>`

async function read(file: string) {
  const { samples, summaries, skipped, error } = await reading(file)
  const [workout] = summaries.workouts ?? []
  const [shown] = documents(summaries.workouts)
  return { rates: values(samples.heartrate), lists: workout?.stream?.lists ?? {}, shown, skipped, error }
}
const minutes = (track: Record<string, unknown> | undefined) => [
  String(track?.time_start).slice(11, 16),
  String(track?.time_end).slice(11, 16),
]

test('times are read in the spellings of programs, and other texts are not times', () => {
  const six = Date.parse('2026-02-01T06:00:00Z')
  for (const text of [
    '2026-02-01T06:00:00Z',
    ' 2026-02-01T06:00:00Z ',
    '2026-02-01T06:00:00.000000Z',
    '2026-02-01 06:00:00Z',
    '2026-02-01 06:00:00 UTC',
    '2026-02-01T06:00:00',
    '2026-02-01t06:00:00z',
    '2026-02-01T06:00Z',
    '2026-2-1T6:00:00Z',
    '2026/02/01 06:00:00',
    '20260201T060000Z',
    '2026-02-01T09:00:00+03',
    '2026-02-01T09:00:00+03:00',
    '2026-02-01T09:00:00+0300',
    '2026-02-01T09:00:00 +3',
    '2026-02-01T02:30:00-03:30',
    '2026-02-01T02:30:00\u221203:30',
  ])
    assert.equal(instantOf(text), six, text)
  assert.equal(instantOf('2026-02-01T06:00:00,75Z'), six + 750)
  assert.equal(instantOf('2026-01-31T24:00:00Z'), Date.parse('2026-02-01T00:00:00Z'))
  for (const text of [
    undefined,
    '',
    '2026-02-01',
    '06:00:00Z',
    '2026-02-30T06:00:00Z',
    '2026-13-01T06:00:00Z',
    '2026-02-01T25:00:00Z',
    '2026-02-01T06:61:00Z',
    '2026-02-01T06:00:00+19:00',
    '2026-02-01T06:00:00ZZ',
    '01/02/2026 06:00:00',
    'yesterday',
  ])
    assert.equal(instantOf(text), undefined, text)
})

describe('heart rates of a GPX file', () => {
  for (const inside of [
    '<extensions><hr>90</hr></extensions>',
    '<extensions><gpxtpx:TrackPointExtension><gpxtpx:hr> 90 </gpxtpx:hr></gpxtpx:TrackPointExtension></extensions>',
    '<extensions><ns3:TrackPointExtension><ns3:hr>90.0</ns3:hr></ns3:TrackPointExtension></extensions>',
    '<extensions><gpxdata:hr>90</gpxdata:hr></extensions>',
    '<extensions><heartrate>90</heartrate></extensions>',
    '<extensions><gpxdata:HeartRate>90</gpxdata:HeartRate></extensions>',
    '<extensions><heart_rate>90</heart_rate></extensions>',
    '<extensions><bpm>90</bpm></extensions>',
    '<bpm>90 bpm</bpm>',
    '<extensions><HeartRateBpm><Value>90</Value></HeartRateBpm></extensions>',
    '<extensions><gpxtpx:TrackPointExtension gpxtpx:hr="90"/></extensions>',
    '<extensions><HeartRate value="90" unit="bpm"/></extensions>',
  ])
    test(`are read of ${inside.replaceAll(/<\/?extensions>/g, '')}`, async () => {
      const { rates, lists, shown } = await read(gpx(point(0, 45, { inside }) + point(1, 45.001, { inside })))
      assert.deepEqual([rates, lists.heartrate, shown!.average_hr], [[90, 90], [90, 90], 90])
    })

  test('are absent for 0, for words, and outside of points', async () => {
    const inside = '<extensions><hr>0</hr><bpm>n/a</bpm></extensions>'
    const file = gpx(point(0, 45, { inside }) + point(1, 45.001)).replace(
      '<trkseg>',
      '<extensions><hr>150</hr></extensions><trkseg>',
    )
    const { rates, shown } = await read(file)
    assert.deepEqual([rates, shown!.average_hr], [[], null])
  })
})

describe('a GPX file', () => {
  test('has neither a way nor time in motion between two segments', async () => {
    const file = gpx(
      [0, 1, 2].map((i) => point(i, 45 + i / 1000)).join(''),
      [22, 23, 24].map((i) => point(i, 45.1 + (i - 22) / 1000)).join(''),
    )
    const { shown, lists } = await read(file)
    assert.deepEqual([shown!.distance, shown!.moving_time, ...minutes(shown)], [444.8, 240, '06:00', '06:24'])
    assert.deepEqual(lists.distance, [0, 111.2, 222.4, 222.4, 333.6, 444.8])
    // A segment without a time or a point is none.
    assert.equal((await read(gpx(point(0, 45) + point(1, 45.001), '', '<trkpt lat="50" lon="7"/>'))).shown!.moving_time, null)
  })

  test('has no place for a point with a placeholder or with only one coordinate', async () => {
    for (const [lat, lng] of [
      [0, 0],
      [0.000001, 0],
      [90, -80],
      [-90, 0],
      [91, 7],
      [45, 181],
      [180, 180],
    ] as const) {
      const { shown, lists } = await read(gpx(point(0, lat, { lng }) + point(1, 45) + point(2, 45.001) + point(3, 45.002)))
      assert.deepEqual([lists.lat, lists.lng, shown!.distance], [[null, 45, 45.001, 45.002], [null, 7, 7, 7], 222.4])
      assert(!JSON.stringify(shown!.map).includes('"??'), 'the line begins at no false place')
    }
    // On the equator and on the prime meridian there are places.
    assert.deepEqual((await read(gpx(point(0, 0) + point(1, 0.001)))).lists.lat, [0, 0.001])
    assert.deepEqual((await read(gpx(point(0, 51, { lng: 0 }) + point(1, 51.001, { lng: 0 })))).lists.lng, [0, 0])
  })
})

describe('a TCX file', () => {
  test('ends when its last lap ends, and moves as long as its laps', async () => {
    const laps = [lap(0, totals(300, 1000)), lap(25, totals(300, 1000))]
    const { shown } = await read(activity(...laps))
    assert.deepEqual([...minutes(shown), shown!.moving_time, shown!.distance], ['06:00', '06:30', 600, 2000])
    const withPoints = [lap(0, totals(300), trackpoint(0) + trackpoint(4)), lap(25, totals(300), trackpoint(25) + trackpoint(26))]
    assert.deepEqual(minutes((await read(activity(...withPoints))).shown), ['06:00', '06:30'])
    // A pause in the last lap: its points go on after the time in motion.
    const paused = lap(0, totals(300), trackpoint(0) + trackpoint(2), trackpoint(7) + trackpoint(10))
    assert.deepEqual(minutes((await read(activity(paused))).shown), ['06:00', '06:10'])
  })

  test('has the heart rates of its laps, each for its time', async () => {
    const laps = [lap(0, totals(300, 1000, 130, 150)), lap(5, totals(900, 3000, 150, 171)), lap(20, totals(0))]
    const { shown } = await read(activity(...laps))
    assert.deepEqual([shown!.average_hr, shown!.max_hr], [145, 171])
    const rated = (mean?: number, max?: number) =>
      activity(
        lap(0, totals(60, 200, 120, 140), trackpoint(0, { bpm: 100 }) + trackpoint(1, { bpm: 130 })),
        lap(1, totals(60, 200, mean, max), trackpoint(2, { bpm: 190 })),
      )
    assert.deepEqual(await read(rated(180, 195)).then(({ shown: one }) => [one!.average_hr, one!.max_hr]), [150, 195])
    // Not every lap says it: the points say more.
    assert.deepEqual(await read(rated()).then(({ shown: one }) => [one!.average_hr, one!.max_hr]), [140, 190])
    assert.deepEqual(
      await read(activity(lap(0, totals(60, 200, 0, 0)))).then(({ shown: one }) => [one!.average_hr, one!.max_hr]),
      [null, null],
    )
  })

  test('has a distance that begins at 0, also where it continues from an earlier leg', async () => {
    const points = [0, 44.12, 88.24, 132.35].map((meters, i) => trackpoint(i, { meters: 40_330 + meters })).join('')
    for (const total of [132.35, undefined]) {
      const { lists, shown } = await read(activity(lap(0, totals(180, total), points)))
      assert.deepEqual([lists.distance, shown!.distance], [[0, 44.12, 88.24, 132.35], 132.35])
    }
    // What was covered before the first point stays, and a counter that begins again is left as it is.
    const late = [500, 700, 900].map((meters, i) => trackpoint(i + 2, { meters })).join('')
    assert.deepEqual((await read(activity(lap(0, totals(240, 900), late)))).lists.distance, [500, 700, 900])
    const again = [4000, 0, 200].map((meters, i) => trackpoint(i, { meters })).join('')
    assert.deepEqual((await read(activity(lap(0, totals(240, 200), again)))).lists.distance, [4000, 0, 200])
  })

  test('measures the way of laps that follow each other, and not across a pause', async () => {
    const track = (minute: number, lat: number) => trackpoint(minute, { lat }) + trackpoint(minute + 1, { lat: lat + 0.001 })
    const following = activity(lap(0, totals(120), track(0, 45)), lap(2, totals(120), track(2, 45.002)))
    assert.equal((await read(following)).shown!.distance, 333.6)
    const paused = activity(lap(0, totals(60), track(0, 45)), lap(20, totals(60), track(20, 45.1)))
    assert.equal((await read(paused)).shown!.distance, 222.4)
    const inLap = activity(lap(0, totals(120), track(0, 45), track(20, 45.1)))
    assert.equal((await read(inLap)).shown!.distance, 222.4)
    const unsaid = activity(lap(0, '', track(0, 45), track(20, 45.1)))
    assert.equal((await read(unsaid)).shown!.moving_time, 120)
  })

  test('has times with blanks around them, and a heart rate without an element of its own', async () => {
    const { shown } = await read(activity(lap('2026-02-01T06:00:00Z ', totals(1200, 5000))))
    assert.deepEqual([...minutes(shown), shown!.distance], ['06:00', '06:20', 5000])
    const bare = trackpoint(0).replace('</Trackpoint>', '<HeartRateBpm>99</HeartRateBpm></Trackpoint>')
    assert.deepEqual((await read(activity(lap(0, totals(60), bare)))).rates, [99])
  })
})
