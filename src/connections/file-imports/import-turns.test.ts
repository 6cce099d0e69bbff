// Imports of several teams in a process that runs fewer at once than there are.
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { Payload, cells, gone, queue, stopWorkers, until, working } from '../../../test/support/jobs.ts'
import { exportXml, record, upload } from '../../../test/support/file-imports.ts'
import { cells as testCells, createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { eraseImports } from './imports.ts'
import { ImportRunner } from './run-import.ts'

// Data that is stored notifies higher modules.
cells.of('sandbox-us').hooks = testCells.of('sandbox-us').hooks

afterEach(stopWorkers)

const file = Buffer.from(exportXml(record('HeartRate', 61, 'count/min', '2026-01-31 09:00:00 +0000')))

async function uploads(team: TestTeam, count: number): Promise<string[]> {
  const user_id = await team.user()
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await upload(team, user_id, file)).body.id)
  return ids
}
const finished = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.pool.query('select count(*)::integer as n from file_import where team_id = $1 and finished_at is not null', [team]))
    .rows[0].n

/** Runs imports. */
function runs() {
  const runner = new ImportRunner({ vault })
  after(() => runner.stop())
  return runner.handler
}

/** Runs imports when the test lets them, and says whose have come to run, in this order. */
function runsWhenLet(teams: TestTeam[]) {
  const begun: { team: number; go: () => void }[] = []
  const { promise: all, resolve: letAll } = Promise.withResolvers<void>()
  const { job, run } = runs()
  const handler = defineHandler(job, async (context, payload) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push({ team: teams.findIndex(({ team }) => team === context.tenant.team), go: resolve })
    await Promise.race([promise, all])
    await run(context, payload)
  })
  return { handler, begun, letAll, order: () => begun.map(({ team }) => team).join() }
}

describe('imports of several teams', () => {
  test('run in turn: many imports of two teams do not hold up that of a third', async () => {
    const teams = [await createTestTeam(), await createTestTeam(), await createTestTeam()]
    const [first, second, third] = teams as [TestTeam, TestTeam, TestTeam]
    await uploads(first, 2)
    await uploads(second, 2)
    const { handler, begun, letAll, order } = runsWhenLet(teams)
    working([handler])
    try {
      await until('two imports run', () => begun.length === 2)
      assert.deepEqual(begun.map(({ team }) => team).toSorted(), [0, 1])
      await uploads(third, 1)
      // The next import of its team is queued as it ends, after that of the third team.
      const [ending, other] = begun.map(({ team }) => team) as [number, number]
      begun[0]!.go()
      await until('a third import runs', () => begun.length === 3)
      assert.equal(order(), [ending, other, 2].join())
      begun[2]!.go()
      await until('a fourth import runs', () => begun.length === 4)
      assert.equal(order(), [ending, other, 2, ending].join())
    } finally {
      letAll()
    }
    await until('all are imported', async () => (await Promise.all(teams.map(finished))).join() === '2,2,1')
    assert.equal(begun.length, 5)
  })

  test('that wait for a thread take no slot of other jobs', async () => {
    const teams = await Promise.all(Array.from({ length: 4 }, () => createTestTeam()))
    for (const team of teams) await uploads(team, 1)
    const { promise: open, resolve } = Promise.withResolvers<void>()
    const { job } = runs()
    let waiting = 0
    const stuck = defineHandler(job, async () => {
      waiting++
      await open
    })
    const quick = defineJob('test.quick', Payload)
    const other = await createTestTeam()
    working([stuck, defineHandler(quick, async () => {})])
    await until('two imports run', () => waiting === 2)
    await queue(other, 3, quick)
    await until('the other jobs are done', async () => {
      const { rows } = await other.db.pool.query('select from job where team_id = $1', [other.team])
      return rows.length === 0
    })
    assert.equal(waiting, 2)
    resolve()
    for (const team of teams) await gone(team)
    assert.equal(waiting, 4)
  })

  test('go on with the next one of the team after an earlier one was erased', async () => {
    const team = await createTestTeam()
    const [first, second] = [await team.user(), await team.user()]
    await upload(team, first, file)
    await upload(team, second, file)
    await team.db.tx(team.tenant, (tx) => eraseImports(tx, first))
    working([runs()])
    await until('the other one has ended', async () => (await finished(team)) === 1)
  })
})
