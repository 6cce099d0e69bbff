// Streams and electrocardiograms of files through the whole server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportXml, importFile } from '../../../test/support/file-imports.ts'
import { storedTypes } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { zipBytes } from '../../../test/support/zip.ts'

const SECOND = Date.parse('2026-01-31T08:00:00Z') / 1000

test('the stream of an imported workout and the voltages of an electrocardiogram can be read, and importing them again changes nothing', async () => {
  const point = (second: number) =>
    `<trkpt lat="60.${second + 1}" lon="24.9"><ele>10</ele><time>2026-01-31T08:00:0${second}Z</time></trkpt>`
  const workout = `<Workout workoutActivityType="HKWorkoutActivityTypeHiking" sourceName="Fictional" startDate="2026-01-31 09:00:00 +0100" endDate="2026-01-31 09:30:00 +0100"><WorkoutRoute><FileReference path="/workout-routes/route_1.gpx"/></WorkoutRoute></Workout>`
  const recording = [
    'Name,Testa Fictional',
    'Date of Birth,"Jan 1, 1980"',
    'Recorded Date,2026-01-31 10:00:00 +0100',
    'Classification,Sinus Rhythm',
    'Symptoms,',
    'Software Version,2.0',
    'Device,"Watch6,1"',
    'Sample Rate,500 hertz',
    'Unit,µV',
    '1000',
    '-500',
  ]
  const file = await zipBytes([
    { name: 'apple_health_export/export.xml', content: [exportXml(workout)] },
    {
      name: 'apple_health_export/workout-routes/route_1.gpx',
      content: [`<gpx><trk><trkseg>${point(0)}${point(1)}</trkseg></trk></gpx>`],
    },
    { name: 'apple_health_export/electrocardiograms/ecg_1.csv', content: [recording.join('\n')] },
  ])
  const team = await createTestTeam()
  const user_id = await team.user()
  const first = await importFile(team, user_id, file)
  assert.deepEqual(
    [first.status, first.skipped, Object.keys(first.resources).toSorted()],
    ['completed', {}, ['electrocardiogram', 'electrocardiogram_voltage', 'workout_stream', 'workouts']],
  )
  const range = 'start_date=2026-01-30&end_date=2026-02-01'
  const [shown] = (await team.api.get(`/v2/summary/workouts/${user_id}?${range}`)).body.workouts
  assert.equal(typeof shown.map.polyline, 'string')
  const stream = (await team.api.get(`/v2/timeseries/workouts/${shown.id}/stream`)).body
  assert.deepEqual(
    [stream.time, stream.lat, stream.altitude],
    [
      [SECOND, SECOND + 1],
      [60.1, 60.2],
      [10, 10],
    ],
  )
  const [ecg] = (await team.api.get(`/v2/summary/electrocardiogram/${user_id}?${range}`)).body.electrocardiogram
  assert.deepEqual([ecg.classification, ecg.voltage_sample_count, ecg.source_device_model], ['sinus_rhythm', 2, 'Watch6,1'])
  const { groups } = (await team.api.get(`/v2/timeseries/${user_id}/electrocardiogram_voltage/grouped?${range}`)).body
  assert.deepEqual(
    groups.apple_health_kit[0].data.map(({ value }: { value: number }) => value),
    [1, -0.5],
  )
  const before = await storedTypes(team)
  assert(before.includes('daily.data.workout_stream.created') && before.includes('historical.data.workout_stream.created'))
  const again = await importFile(team, user_id, file)
  assert.deepEqual([again.created, again.updated], [0, 0])
})
