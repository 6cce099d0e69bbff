// Reports of several teams in a process that parses one at a time.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { Payload, cells, queue, stopWorkers, waitUntil, working } from '../../../test/support/jobs.ts'
import { reportFiles } from '../../../test/support/report-files.ts'
import { cells as testCells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { glucoseReport, readJob, uploadReport } from '../../../test/support/uploaded-reports.ts'
import { ReportParser } from './run-job.ts'

// What is stored notifies higher modules.
cells.db('sandbox-us').hooks = testCells.db('sandbox-us').hooks

afterEach(stopWorkers)

test('reports of a team do not hold up that of another: it waits in the queue and is next', async () => {
  const [busy, other] = [await createTestTeam(), await createTestTeam()]
  const bytes = await glucoseReport()
  const upload = async (team: TestTeam, user_id: string): Promise<string> =>
    (await uploadReport(team, [{ bytes }], { user_id })).body.id as string
  const user = await busy.user()
  const ids = [await upload(busy, user), await upload(busy, user)]
  const parser = new ReportParser(() => ({
    files: reportFiles,
    processes: 1,
    files_kept_days: 1,
    ocr_models: undefined,
    log: { warn: () => {} },
  }))
  const begun: string[] = []
  const { promise: open, resolve } = Promise.withResolvers<void>()
  const quick = defineJob('test.quick', Payload)
  const held = {
    ...parser.handler,
    run: async (...[context, payload]: Parameters<typeof parser.handler.run>) => {
      begun.push(context.tenant.team)
      await open
      await parser.handler.run(context, payload)
    },
  }
  working([held, defineHandler(quick, async () => {})])
  try {
    await waitUntil('a report is parsed', () => begun.length === 1)
    const third = await upload(other, await other.user())
    await queue(other, 1, quick)
    await waitUntil('the job after that of the other report is done', async () => {
      const { rows } = await other.db.pool.query('select from job where team_id = $1 and name = $2', [other.team, quick.name])
      return rows.length === 0
    })
    assert.deepEqual(begun, [busy.team])
    resolve()
    for (const [team, id] of [
      [busy, ids[0]!],
      [other, third],
      [busy, ids[1]!],
    ] as const)
      await waitUntil('a report is completed', async () => (await readJob(team, id)).status === 'completed')
  } finally {
    resolve()
    await parser.stop()
  }
  assert.deepEqual(begun, [busy.team, other.team, busy.team])
})
