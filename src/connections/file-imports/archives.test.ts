// Archives as services export them: whatever they hold is imported or counted.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { documents, exportXml, importFile, reading, record, values } from '../../../test/support/file-imports.ts'
import { fileId, fitBytes } from '../../../test/support/fit-files.ts'
import { MINUTES, record as fitRecord, session, T, whole } from '../../../test/support/fit-runs.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { zipBytes } from '../../../test/support/zip.ts'

const fit = fitBytes([fileId(), ...MINUTES.map((minute) => fitRecord(minute)), session(whole)])
const gpx = Buffer.from(
  '<gpx><trk><trkseg><trkpt lat="45" lon="7"><time>2026-02-01T07:00:00Z</time></trkpt><trkpt lat="45.001" lon="7"><time>2026-02-01T07:01:00Z</time></trkpt></trkseg></trk></gpx>',
)
const tcx = Buffer.from(
  '   <TrainingCenterDatabase><Activities><Activity Sport="Biking"><Lap StartTime="2026-02-01T08:00:00Z"><TotalTimeSeconds>60</TotalTimeSeconds></Lap></Activity></Activities></TrainingCenterDatabase>',
)
const rate = exportXml(record('HeartRate', 61, 'count/min', '2026-01-31 08:00:00 +0000'))
const zip = (files: Record<string, string | Buffer>) =>
  zipBytes(Object.entries(files).map(([name, content]) => ({ name, content: [content] })))

async function read(file: Buffer) {
  const { summaries, samples, skipped, error } = await reading(file)
  const starts = (summaries.workouts ?? []).map(({ record: { document } }) =>
    String((document as { time_start: string }).time_start).slice(11, 16),
  )
  return { starts, rates: values(samples.heartrate), skipped, error }
}

describe('an archive', () => {
  test('reads files compressed with gzip completely, and counts other files of the archive', async () => {
    const files = {
      'activities/1.fit.gz': gzipSync(fit),
      'activities/2.GPX.GZ': gzipSync(gpx),
      'activities/3.tcx.gz': gzipSync(tcx),
      'activities.csv': 'Activity ID\n1\n',
      'media/1.jpg': 'x',
      'media/2.JPG': 'x',
      profile: 'x',
      'media/': '',
      '__MACOSX/activities/._1.fit.gz': 'x',
    }
    const { starts, skipped, error } = await read(await zip(files))
    assert.deepEqual([starts, error], [['06:00', '07:00', '08:00'], null])
    assert.deepEqual(skipped, { unsupported: { csv: 1, jpg: 2, file: 1 } })
  })

  test('may have packed and plain files, by their content and not by their names', async () => {
    const { starts, skipped } = await read(
      await zip({ '1.fit.gz': gzipSync(fit), '2.gpx': gpx, '3.tcx': gzipSync(tcx), '4.fit.gz': fit }),
    )
    assert.deepEqual([starts, skipped], [['06:00', '07:00', '08:00', '06:00'], {}])
  })

  test('counts files that are damaged, cut off or empty, and reads the other files and the valid part of a file that is cut off', async () => {
    const packed = gzipSync(fit)
    const files = {
      '1.fit.gz': packed.subarray(0, -20),
      '2.fit.gz': Buffer.concat([packed.subarray(0, 20), Buffer.from('broken')]),
      '3.fit.gz': gzipSync(''),
      '4.gpx': '',
      '5.tcx.gz': Buffer.from([0x1f]),
      '6.gpx': gpx,
    }
    const { starts, skipped, error } = await read(await zip(files))
    assert.deepEqual([starts, error], [['06:00', '07:00'], null])
    assert.deepEqual(skipped, { malformed: { fit: 3, gpx: 1, tcx: 1 } })
  })

  test('may have archives, which are read as it is', async () => {
    const inner = { 'DI_CONNECT/1.fit': fit, '2.tcx.gz': gzipSync(tcx), 'notes.txt': 'x' }
    const { starts, skipped, error } = await read(
      await zip({ 'Part1.zip': await zip(inner), 'Part2.ZIP': await zip({ 'a.jpg': 'x' }), '3.gpx': gpx }),
    )
    assert.deepEqual([starts, error], [['07:00', '06:00', '08:00'], null])
    assert.deepEqual(skipped, { unsupported: { txt: 1, jpg: 1 } })
    assert.deepEqual((await read(await zip({ 'only.zip': await zip({ '1.gpx': gpx }) }))).starts, ['07:00'])
    const export_xml = await zip({ 'apple_health_export/export.xml': rate })
    assert.equal((await read(await zip({ 'export.zip': export_xml }))).rates.length, 1)
    assert.deepEqual((await read(gzipSync(await zip({ '1.gpx': gpx })))).starts, ['07:00'])
  })

  test('counts archives in it that are too deep, damaged, empty, encrypted or too many', async () => {
    const two = await zip({ '2.zip': await zip({ '1.gpx': gpx }), '2.gpx': gpx })
    const deep = await read(await zip({ '1.zip': two }))
    assert.deepEqual([deep.starts, deep.skipped], [['07:00'], { unsupported: { zip: 1 } }])
    const faulty = { 'a.zip': 'no archive', 'b.zip': await zip({}), 'c.zip': two.subarray(0, -30), '3.gpx': gpx }
    const damaged = await read(await zip(faulty))
    assert.deepEqual([damaged.starts, damaged.skipped, damaged.error], [['07:00'], { malformed: { zip: 3 } }, null])
    const one = await zip({ '1.gpx': gpx })
    const many = await read(await zip(Object.fromEntries(Array.from({ length: 203 }, (_, i) => [`${i}.zip`, one]))))
    assert.deepEqual([many.starts.length, many.skipped], [200, { too_many: { zip: 3 } }])
    const none = await read(await zip({ '1.zip': await zip({ '1.csv': 'x' }) }))
    assert.deepEqual([none.skipped, none.error], [{ unsupported: { csv: 1 } }, 'unknown_format'])
  })

  test('has more content than the limit also if archives in it have packed it', async () => {
    const bomb = await zip({ '1.gpx': Buffer.concat([Buffer.from('<gpx>'), Buffer.alloc(70 * 1024 ** 2, ' ')]) })
    const { starts, error } = await read(await zip({ '1.fit': fit, '2.zip': bomb, '3.zip': await zip({ '3.gpx': gpx }) }))
    assert.deepEqual([starts, error], [['06:00'], 'too_large'])
  })

  test('may have XML of another kind next to activities, and activities in XML', async () => {
    const files = {
      'profile.xml': '<profile><name>Testa</name></profile>',
      '1.fit': fit,
      'run.xml': gpx,
      'large.xml': `<a>${'x'.repeat(300_000)}</a>`,
    }
    const { starts, skipped, error } = await read(await zip(files))
    assert.deepEqual([starts, skipped, error], [['06:00', '07:00'], { unsupported: { xml: 2 } }, null])
    assert.equal((await read(await zip({ 'profile.xml': '<profile/>' }))).error, 'unknown_format')
  })

  test('of an Apple Health export may also have activities, and other XML that is larger', async () => {
    const files = {
      'apple_health_export/export.xml': rate,
      'apple_health_export/export_cda.xml': '<ClinicalDocument/>',
      'apple_health_export/workout-routes/route_1.gpx': gpx,
      'apple_health_export/clinical-records/1.json': '{}',
      'notes.xml': `<a>${' '.repeat(10_000)}</a>`,
      '1.fit.gz': gzipSync(fit),
      'ride.gpx': gpx,
    }
    const { starts, rates, skipped, error } = await read(await zip(files))
    assert.deepEqual([starts, rates.length, error], [['06:00', '07:00'], 12, null])
    assert.deepEqual(skipped, { unsupported: { WorkoutRoute: 1, clinical_document: 1, json: 1, xml: 1 } })
  })

  test('has more content than the limit also if gzip has packed it', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from('<gpx>'), Buffer.alloc(70 * 1024 ** 2, ' ')]))
    const { starts, error } = await read(await zip({ '1.fit': fit, '2.gpx.gz': bomb, '3.gpx': gpx }))
    assert.deepEqual([starts, error], [['06:00'], 'too_large'])
  })
})

describe('a file that gzip has packed', () => {
  test('is read by its content', async () => {
    for (const [file, start] of [
      [fit, '06:00'],
      [gpx, '07:00'],
      [tcx, '08:00'],
    ] as const)
      assert.deepEqual((await read(gzipSync(file))).starts, [start])
    assert.deepEqual((await read(gzipSync(rate))).rates, [61])
  })

  test('that is cut off, damaged or of another content has an error', async () => {
    const packed = gzipSync(Buffer.concat([fit, Buffer.alloc(1000, 7)]))
    assert.deepEqual((await read(packed.subarray(0, -9))).error, 'truncated')
    const changed = Buffer.from(gzipSync(rate))
    changed[changed.length - 6]! ^= 1
    assert.equal((await read(changed)).error, 'damaged')
    for (const other of [gzipSync('text'), gzipSync(await zip({ '1.csv': 'x' })), gzipSync(''), brotliCompressSync(fit)])
      assert.equal((await read(other)).error, 'unknown_format')
  })

  test('that is cut off is read as far as it goes', async () => {
    const seconds = Array.from({ length: 20_000 }, (_, i) => fitRecord(0, [[7, 'uint16', (i * 7919) % 1000]], T + i))
    const packed = gzipSync(fitBytes([fileId(), ...seconds]))
    const { summaries, error } = await reading(packed.subarray(0, packed.length / 2))
    const [workout] = documents(summaries.workouts ?? []) as { time_start: string; time_end: string }[]
    assert.deepEqual([workout?.time_start.slice(11, 16), error], ['06:00', 'truncated'])
    assert(workout!.time_end > '2026-02-01T07')
    const archive = await read(await zip({ '1.fit.gz': packed.subarray(0, packed.length / 2) }))
    assert.deepEqual([archive.starts, archive.skipped], [['06:00'], { malformed: { fit: 1 } }])
  })

  test('is imported by the server', async () => {
    const team = await createTestTeam()
    const shown = await importFile(team, await team.user(), gzipSync(fit))
    assert.deepEqual([shown.status, shown.format, shown.progress, shown.resources.workouts.created], ['completed', 'fit', 1, 1])
  })
})
