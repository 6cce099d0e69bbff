// The files beside the one of an Apple Health export: routes of workouts and electrocardiograms.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exportXml, record } from '../../../../test/support/file-imports.ts'
import { zipBytes } from '../../../../test/support/zip.ts'
import { Batches } from '../batches.ts'
import { readFile } from '../read-file.ts'
import { ReadError, type ReadSummary } from '../reading.ts'

const FROM = '2026-01-31 09:00:00 +0100'
const SECOND = Date.parse('2026-01-31T08:00:00Z') / 1000
const FOLDER = 'apple_health_export'

async function reading(xml: string, files: Record<string, string>) {
  const entries = Object.entries(files).map(([name, content]) => ({ name: `${FOLDER}/${name}`, content: [content] }))
  const bytes = await zipBytes([{ name: `${FOLDER}/export.xml`, content: [xml] }, ...entries])
  const summaries: ReadSummary[] = []
  const batches = new Batches('manual', async (batch) => {
    if ('kind' in batch) summaries.push(...batch.summaries)
  })
  const stored = { size: bytes.length, read: async (start: number) => bytes.subarray(start) }
  const context = { now_ms: Date.parse('2026-02-10T00:00:00Z') }
  const error: unknown = await readFile(stored, batches, context, { read_bytes: 0, content_bytes: 0 }).then(
    () => null,
    (error: unknown) => error,
  )
  if (error !== null && !(error instanceof ReadError)) throw error
  const of = (kind: string) => summaries.filter((summary) => summary.kind === kind)
  return { of, skipped: batches.skips, error: error?.code ?? null }
}

describe('routes of workouts', () => {
  const workout = (...paths: string[]) =>
    `<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Fictional" startDate="${FROM}" endDate="2026-01-31 09:30:00 +0100">${paths
      .map((path) => `<WorkoutRoute sourceName="Fictional"><FileReference path="${path}"/></WorkoutRoute>`)
      .join('')}</Workout>`
  const point = (second: number, lat: number) =>
    `<trkpt lon="24.9" lat="${lat}"><ele>10.5</ele><time>2026-01-31T08:00:0${second}Z</time><extensions><speed>2.5</speed><course>1</course></extensions></trkpt>`
  const route = (...points: string[]) =>
    `<?xml version="1.0"?><gpx version="1.1" creator="Apple Health Export"><trk><name>Route</name><trkseg>${points.join('')}</trkseg></trk></gpx>`

  test('are streams and maps of the workouts that name them, also if one has several', async () => {
    const { of, skipped, error } = await reading(
      exportXml(
        workout('/workout-routes/route_1.gpx', '/workout-routes/route_2.gpx'),
        record('HeartRate', 61, 'count/min', FROM),
      ),
      {
        'workout-routes/route_1.gpx': route(point(0, 60.1), point(1, 60.2)),
        'workout-routes/route_2.gpx': route(point(5, 60.3)),
        'workout-routes/route_3.gpx': route(point(6, 60.4)),
      },
    )
    assert.equal(error, null)
    const [run, ...others] = of('workouts')
    assert.deepEqual([others, skipped], [[], { unsupported: { WorkoutRoute: 1 } }])
    assert.equal(run!.stream!.key, run!.record.key)
    assert.deepEqual(run!.stream!.time, [SECOND, SECOND + 1, SECOND + 5])
    assert.deepEqual(run!.stream!.lists, {
      lat: [60.1, 60.2, 60.3],
      lng: [24.9, 24.9, 24.9],
      altitude: [10.5, 10.5, 10.5],
      velocity_smooth: [2.5, 2.5, 2.5],
    })
    assert.match((run!.record.document as { map: { polyline: string } }).map.polyline, /^_hymJ_h~vC/)
  })

  test('that are missing or damaged leave their workouts as they are', async () => {
    const { of, skipped } = await reading(exportXml(workout('/workout-routes/none.gpx'), workout('/workout-routes/bad.gpx')), {
      'workout-routes/bad.gpx': 'no xml at all',
    })
    assert.deepEqual(
      of('workouts').map(({ stream }) => stream),
      [undefined, undefined],
    )
    assert.equal(skipped.malformed!.WorkoutRoute, 1)
  })
})

describe('electrocardiograms', () => {
  const file = (head: string[], values: string[]) => [...head, '', '', ...values, ''].join('\n')
  const english = [
    'Name,Testa Fictional',
    'Date of Birth,"Jan 1, 1980"',
    `Recorded Date,${FROM}`,
    'Classification,Atrial Fibrillation',
    'Symptoms,',
    'Software Version,2.0',
    'Device,"Watch6,1"',
    'Sample Rate,500 hertz',
    '',
    'Lead,Lead I',
    'Unit,µV',
  ]

  test('have their voltages in millivolts, their result and their watch', async () => {
    const { of, skipped } = await reading(exportXml(), {
      'electrocardiograms/ecg_2026-01-31.csv': file(english, ['-8.5', '1000', '250.25']),
    })
    assert.deepEqual(skipped, {})
    const [found] = of('electrocardiogram')
    const { session_start, classification, voltage_sample_count, sampling_frequency_hz, algorithm_version } = found!.record
      .document as Record<string, unknown>
    assert.deepEqual(
      [session_start, classification, voltage_sample_count, sampling_frequency_hz, algorithm_version],
      ['2026-01-31T08:00:00+00:00', 'atrial_fibrillation', 3, 500, '2.0'],
    )
    assert.deepEqual([found!.record.calendar_date, found!.record.device!.model], ['2026-01-31', 'Watch'])
    assert.deepEqual(
      found!.voltages!.map(({ at_ms, value, zone_s }) => [at_ms - SECOND * 1000, value, zone_s]),
      [
        [0, -0.0085, 3600],
        [2, 1, 3600],
        [4, 0.25025, 3600],
      ],
    )
    assert.equal(JSON.stringify(found).includes('Testa'), false)
  })

  test('quirk 15: are in the language of the phone, with its separators', async () => {
    const spanish = english
      .map((line) => line.replace(',', ';'))
      .map((line) => line.replace('500 hertz', '511,5 hercios').replace('Atrial Fibrillation', 'Ritmo sinusal'))
    const { of } = await reading(exportXml(), { 'electrocardiograms/ecg_1.csv': file(spanish, ['-8,5', '10']) })
    const { document } = of('electrocardiogram')[0]!.record
    const { classification, sampling_frequency_hz } = document as Record<string, unknown>
    assert.deepEqual([classification, sampling_frequency_hz], ['sinus_rhythm', 511.5])
    assert.equal(of('electrocardiogram')[0]!.voltages![0]!.value, -0.0085)
  })

  test('records without a time, a rate or voltages are counted and left out, and an unknown result is stored as absent', async () => {
    const { of, skipped } = await reading(exportXml(), {
      'electrocardiograms/ecg_1.csv': 'Nombre;Testa\nRitmo Sinusal',
      'electrocardiograms/ecg_2.csv': file(english.slice(3), ['1']),
      'electrocardiograms/ecg_3.csv': file(english.slice(0, 7), ['1']),
      'electrocardiograms/ecg_4.csv': file(
        english.map((line) => line.replace('Atrial Fibrillation', 'Fictional')),
        ['1', 'x', '3'],
      ),
    })
    assert.deepEqual(skipped, {
      no_value: { Electrocardiogram: 1 },
      invalid_time: { Electrocardiogram: 1 },
      invalid_value: { Electrocardiogram: 1 },
    })
    const [found] = of('electrocardiogram')
    assert.equal((found!.record.document as Record<string, unknown>).classification, null)
    assert.deepEqual(
      found!.voltages!.map(({ value }) => value),
      [0.001, 0.003],
    )
  })
})
