// Imports of several teams in a process that runs fewer at once than there are.
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { Payload, cells, waitForJobs, queue, stopWorkers, waitUntil, working } from '../../../test/support/jobs.ts'
import { countHeartRates } from '../../../test/support/heavy-posts.ts'
import { exportXml, record, upload } from '../../../test/support/file-imports.ts'
import { cells as testCells, createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { runLongWork } from '../../platform/runtime/long-work.ts'
import { eraseImports } from './imports.ts'
import { ImportTurn, ImportRunner, type ImportOptions } from './run-import.ts'

// Data that is stored notifies higher modules.
cells.db('sandbox-us').hooks = testCells.db('sandbox-us').hooks

afterEach(stopWorkers)

const heartRate = (i: number) => {
  const at = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString()
  return record('HeartRate', 61, 'count/min', `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`)
}
const exportOf = (count: number) => Buffer.from(exportXml(...Array.from({ length: count }, (_, i) => heartRate(i))))
const small = exportOf(1)
/** Heart rates of five batches. */
const LONG = 22_000
const long = exportOf(LONG)

const startImport = async (team: TestTeam, file: Buffer, user_id?: string): Promise<{ id: string; user_id: string }> => {
  const user = user_id ?? (await team.user())
  return { id: (await upload(team, user, file)).body.id, user_id: user }
}
const countFinished = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.pool.query('select count(*)::integer as n from file_import where team_id = $1 and finished_at is not null', [team]))
    .rows[0].n
const readImport = async (team: TestTeam, { id, user_id }: { id: string; user_id: string }) =>
  (await team.api.get(`/v2/user/${user_id}/file_import/${id}`)).body

const WHOLE = { first: { ms: 300_000, bytes: Infinity }, further: { ms: 300_000, bytes: Infinity } }
/** A first turn ends after its first or second batch, and a further one after as much time as it took to read again. */
const SHORT = { first: { ms: 300_000, bytes: 1 }, further: { ms: 300_000, bytes: 1 } }

/** Whether some whole batches are stored, and not all. */
const isPart = (count: number): boolean => count > 0 && count < LONG && count % 5000 === 0

/** Runs imports. */
function runs(turn_limits?: ImportOptions['turn_limits'], wait_ms?: number) {
  const runner = new ImportRunner({ vault, ...(turn_limits && { turn_limits }), ...(wait_ms && { wait_ms }) })
  after(() => runner.stop())
  return runner.handlers
}

/** Runs imports when the test lets them, and says whose turns have begun, in this order: `1` the first one of a team, `1+` a further one. */
function runsWhenLet(teams: TestTeam[], handlers: ReturnType<typeof runs>) {
  const begun: { turn: string; go: () => void }[] = []
  const { promise: all, resolve: letAll } = Promise.withResolvers<void>()
  const waiting = (Object.keys(handlers) as (keyof typeof handlers)[]).map((phase) => {
    const { job, run } = handlers[phase]
    return defineHandler(job, async (context, payload) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const team = teams.findIndex(({ team }) => team === context.tenant.team)
      begun.push({ turn: `${team}${phase === 'first' ? '' : '+'}`, go: resolve })
      await Promise.race([promise, all])
      await run(context, payload)
    })
  })
  return { waiting, begun, letAll, order: () => begun.map(({ turn }) => turn).join() }
}

describe('imports of several teams', () => {
  test('run in turn: many imports of two teams do not hold up that of a third', async () => {
    const teams = [await createTestTeam(), await createTestTeam(), await createTestTeam()]
    const [first, second, third] = teams as [TestTeam, TestTeam, TestTeam]
    for (const team of [first, first, second, second]) await startImport(team, small)
    const { waiting, begun, letAll, order } = runsWhenLet(teams, runs(WHOLE))
    working(waiting)
    try {
      await waitUntil('an import runs', () => begun.length === 1)
      await startImport(third, small)
      for (let turn = 0; turn < 3; turn++) {
        begun[turn]!.go()
        await waitUntil('the next import runs', () => begun.length === turn + 2)
      }
      // The next import of a team is queued as the one before ends, after those of the other teams.
      assert.equal(order(), '0,1,2,0')
    } finally {
      letAll()
    }
    await waitUntil('all are imported', async () => (await Promise.all(teams.map(countFinished))).join() === '2,2,1')
    assert.equal(begun.length, 5)
  })

  test('let a query of their team wait while a batch is stored, and no query of another team', async () => {
    const [busy, other] = [await createTestTeam(), await createTestTeam()]
    const [person, others] = [await busy.user(), await other.user()]
    const track = await startImport(busy, small)
    const holder = await busy.db.pool.connect()
    let query: ReturnType<typeof countHeartRates> | undefined
    let isAnswered = false
    try {
      await holder.query('begin')
      // What is stored of a user refers to the row of the user.
      await holder.query('select from "user" where id = $1 for update', [track.user_id])
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
      working(Object.values(runs(WHOLE)))
      const blocked = 'select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))'
      await waitUntil('the batch waits for the row', async () => {
        return (await busy.db.pool.query(blocked, [rows[0]!.pid])).rowCount === 1
      })
      query = countHeartRates(busy, person).finally(() => (isAnswered = true))
      for (let n = 0; n < 5; n++) assert.equal((await countHeartRates(other, others)).status, 200)
      assert.equal(isAnswered, false)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
    assert.equal((await query).status, 200)
    await waitUntil('the file is imported', async () => (await countFinished(busy)) === 1)
  })

  test('do not wait for one whose team does other long work', async () => {
    const [busy, other] = [await createTestTeam(), await createTestTeam()]
    await startImport(busy, small)
    const { promise, resolve } = Promise.withResolvers<void>()
    const longWork = runLongWork(busy.team, () => promise)
    try {
      working(Object.values(runs(WHOLE, 100)))
      await waitUntil('the import of the busy team has had its first turn', async () => {
        const { rows } = await busy.db.pool.query('select turns, batches from file_import where team_id = $1', [busy.team])
        return rows[0].turns > 0 && rows[0].batches === 0
      })
      await startImport(other, small)
      await waitUntil('the file of the other team is imported', async () => (await countFinished(other)) === 1)
      assert.equal(await countFinished(busy), 0)
    } finally {
      resolve()
    }
    await longWork
    await waitUntil('the file of the busy team is imported', async () => (await countFinished(busy)) === 1)
  })

  test('that are small begin before the second turn of a long one', async () => {
    const teams = [await createTestTeam(), await createTestTeam()]
    const [busy, other] = teams as [TestTeam, TestTeam]
    const imports = [await startImport(busy, long), await startImport(busy, long)]
    const { waiting, begun, letAll, order } = runsWhenLet(teams, runs(SHORT))
    working(waiting)
    try {
      await waitUntil('a long import runs', () => begun.length === 1)
      const track = await startImport(other, small)
      begun[0]!.go()
      await waitUntil('the small one and the rest of the long one run', () => begun.length === 3)
      assert.deepEqual(begun.map(({ turn }) => turn).toSorted(), ['0', '0+', '1'])
      const { accepted } = await readImport(busy, imports[0]!)
      assert.ok(isPart(accepted), `${accepted} samples are stored`)
      // The rest of the long one waits; the small one ends, and the other long one has its first turn.
      begun.find(({ turn }) => turn === '1')!.go()
      await waitUntil('the small one is imported', async () => (await readImport(other, track)).status === 'completed')
      await waitUntil('the other long one runs', () => begun.length === 4)
      assert.equal(order().at(-1), '0')
    } finally {
      letAll()
    }
    await waitUntil('all are imported', async () => (await countFinished(busy)) === 2)
    for (const one of imports) {
      const { status, accepted, created, updated } = await readImport(busy, one)
      assert.deepEqual([status, accepted, created, updated], ['completed', LONG, LONG, 0])
    }
  })

  test('that are long have their further turns one after the other, and each continues where it was', async () => {
    const teams = [await createTestTeam(), await createTestTeam()]
    const imports = await Promise.all(teams.map((team) => startImport(team, long)))
    const { waiting, begun, letAll, order } = runsWhenLet(teams, runs(SHORT))
    working(waiting)
    const acceptedOf = () => Promise.all(teams.map(async (team, i) => (await readImport(team, imports[i]!)).accepted as number))
    const furtherTurns = () => begun.filter(({ turn }) => turn.endsWith('+'))
    try {
      await waitUntil('a first turn begins', () => begun.length === 1)
      begun[0]!.go()
      await waitUntil('the other first turn and a further one begin', () => begun.length === 3)
      begun.find(({ turn }, i) => i > 0 && !turn.endsWith('+'))!.go()
      await waitUntil('the other import waits for its further turn', async () => {
        const rows = await Promise.all(teams.map((team) => team.jobs()))
        return rows.every((jobs) => jobs.join() === 'file_imports.resume')
      })
      const before = await acceptedOf()
      assert.ok(before.every(isPart), `${before.join()} samples are stored`)
      furtherTurns()[0]!.go()
      await waitUntil('the further turn of the other begins', () => furtherTurns().length === 2)
      assert.equal(new Set(furtherTurns().map(({ turn }) => turn)).size, 2, order())
      const after = await acceptedOf()
      assert.equal(after.filter((count, i) => count > before[i]!).length, 1)
    } finally {
      letAll()
    }
    for (const [i, team] of teams.entries()) {
      await waitUntil('it is imported', async () => (await countFinished(team)) === 1)
      const { status, accepted, created, updated } = await readImport(team, imports[i]!)
      assert.deepEqual([status, accepted, created, updated], ['completed', LONG, LONG, 0])
    }
  })

  test('of one user run one after another, so that the later file wins', async () => {
    const team = await createTestTeam()
    const first = await startImport(team, long)
    const second = await startImport(team, small, first.user_id)
    const { waiting, begun, letAll } = runsWhenLet([team], runs(SHORT))
    working(waiting)
    try {
      await waitUntil('the first turn begins', () => begun.length === 1)
      begun[0]!.go()
      await waitUntil('the rest and the other import begin', () => begun.length === 3)
      begun.find(({ turn }, i) => i > 0 && !turn.endsWith('+'))!.go()
      await waitUntil('the other one has had its turn', async () => !(await team.jobs()).includes('file_imports.run'))
      assert.equal(await countFinished(team), 0)
    } finally {
      letAll()
    }
    await waitUntil('both are imported', async () => (await countFinished(team)) === 2)
    assert.deepEqual(
      (await Promise.all([first, second].map((importedFile) => readImport(team, importedFile)))).map(({ accepted }) => accepted),
      [LONG, 1],
    )
  })

  test('that wait for a thread take no slot of other jobs', async () => {
    const teams = await Promise.all(Array.from({ length: 4 }, () => createTestTeam()))
    for (const team of teams) await startImport(team, small)
    const { promise: open, resolve } = Promise.withResolvers<void>()
    const { job } = runs().first
    let waiting = 0
    const stuck = defineHandler(job, async () => {
      waiting++
      await open
    })
    const quick = defineJob('test.quick', Payload)
    const other = await createTestTeam()
    working([stuck, defineHandler(quick, async () => {})])
    await waitUntil('an import runs', () => waiting === 1)
    await queue(other, 3, quick)
    await waitUntil('the other jobs are done', async () => {
      const { rows } = await other.db.pool.query('select from job where team_id = $1', [other.team])
      return rows.length === 0
    })
    assert.equal(waiting, 1)
    resolve()
    for (const team of teams) await waitForJobs(team)
    assert.equal(waiting, 4)
  })

  test('go on with the next one of the team after an earlier one was erased', async () => {
    const team = await createTestTeam()
    const { user_id } = await startImport(team, small)
    await startImport(team, small)
    await team.db.tx(team.tenant, (tx) => eraseImports(tx, user_id))
    working(Object.values(runs()))
    await waitUntil('the other one has ended', async () => (await countFinished(team)) === 1)
  })
})

test('the turn of an import counts from its first new batch, and is at least as long as reading again took', () => {
  let now_ms = 0
  const turn = (turns = 1) => {
    now_ms = 0
    return new ImportTurn({ ms: 1000, bytes: 100 }, turns, () => now_ms)
  }
  const after = (turn: ImportTurn, ms: number, bytes: number): boolean => {
    now_ms += ms
    return turn.isOver(bytes)
  }
  const quick = turn()
  quick.batch(0)
  assert.deepEqual([after(quick, 999, 99), after(quick, 0, 100), after(quick, 1, 0)], [false, true, true])
  const late = turn(1)
  now_ms = 1500
  late.batch(1000)
  assert.deepEqual([after(late, 1499, 1100), after(late, 1, 1000)], [false, true])
  // Without a batch the next turn has twice the time.
  const [second, third] = [turn(1), turn(2)]
  second.startReading()
  third.startReading()
  assert.deepEqual([after(second, 1999, 9999), after(second, 1, 0)], [false, true])
  now_ms = 0
  assert.deepEqual([after(third, 3999, 9999), after(third, 1, 0)], [false, true])
})

test('the turn of an import whose thread starts late begins with its first question', () => {
  let now_ms = 0
  const turn = new ImportTurn({ ms: 1000, bytes: 100 }, 0, () => now_ms)
  now_ms = 9000
  turn.startReading()
  assert.equal(turn.isOver(0), false)
  now_ms = 9999
  turn.startReading()
  assert.equal(turn.isOver(0), false)
  now_ms = 10_000
  assert.equal(turn.isOver(0), true)
})
