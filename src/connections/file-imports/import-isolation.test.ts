// A large import beside the requests of other teams.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { cells, stopWorkers, working } from '../../../test/support/jobs.ts'
import { exportXml, record, upload } from '../../../test/support/file-imports.ts'
import { sentSample, post, read } from '../../../test/support/samples.ts'
import { cells as testCells, createTestTeam, vault } from '../../../test/support/server.ts'
import { zipBytes } from '../../../test/support/zip.ts'
import { ImportRunner } from './run-import.ts'

// Data that is stored notifies higher modules.
cells.db('sandbox-us').hooks = testCells.db('sandbox-us').hooks

afterEach(stopWorkers)

const SAMPLES = 40_000
const BATCH = 5000
/** Batches that may be stored while one request of another team is answered. */
const BATCHES_MAX = 4

const two = (n: number) => String(n).padStart(2, '0')
function rates(): string {
  const all: string[] = []
  for (let i = 0; i < SAMPLES; i++) {
    const [day, hour, minute] = [1 + Math.floor(i / 7200), Math.floor((i % 7200) / 300), Math.floor((i % 300) / 5)]
    all.push(
      record(
        'HeartRate',
        60 + (i % 40),
        'count/min',
        `2026-01-${two(day)} ${two(hour)}:${two(minute)}:${two((i % 5) * 12)} -0700`,
      ),
    )
  }
  return exportXml(...all)
}

test('an import of a team is not felt by another: each of its requests is answered while few batches are stored', async () => {
  const [importing, other] = [await createTestTeam(), await createTestTeam()]
  const [person, user_id] = [await importing.user(), await other.user()]
  const file = await zipBytes([{ name: 'apple_health_export/export.xml', content: [Buffer.from(rates())] }], { level: 1 })
  const { id } = (await upload(importing, person, file)).body
  const runner = new ImportRunner({ vault })
  after(() => runner.stop())
  const state = async () => {
    const { status, accepted } = (await importing.api.get(`/v2/user/${person}/file_import/${id}`)).body
    return { isOver: !['queued', 'importing'].includes(status), status, accepted: accepted as number }
  }
  working(Object.values(runner.handlers))
  let [answered, before] = [0, 0]
  for (let now = await state(); !now.isOver; now = await state()) {
    if (now.accepted > 0) {
      assert.ok(now.accepted - before <= BATCHES_MAX * BATCH, `${now.accepted - before} samples were stored during one request`)
      answered++
    }
    before = now.accepted
    assert.equal(
      (await post(other, user_id, 'heartrate', [sentSample(`09:00:${two(answered % 60)}`, 60 + (answered % 50))])).status,
      200,
    )
    assert.equal((await read(other, user_id, 'heartrate')).groups.apple_health_kit.length, 1)
  }
  const { status, accepted } = await state()
  assert.deepEqual([status, accepted], ['completed', SAMPLES])
  assert.ok(answered >= 3, `${answered} requests were answered meanwhile`)
})
