// The chain of the access log: concurrent writes, detection of changes, exports, and deletion of old days.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { storedFiles as files } from '../../../test/support/report-files.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { exportLines, verifyLog, type LineFilter } from './access-archive.ts'
import { leaveLine, lineOf, type Access } from './access-line.ts'
import { AccessLog, appendLines } from './access-log.ts'
import type { Position } from './log-days.ts'
import { dropOldDays } from './log-retention.ts'
import type { Db } from '../db/database.ts'
import { createLog } from '../telemetry/log.ts'

/** Each suite uses the log of a cell of its own. */
const pool = (cell: string) => cells.db(cell).pool

const accessOf = (overrides: Partial<Access> = {}): Access => ({
  at: new Date(),
  request: 'fictional-1',
  key: randomUUID(),
  org: randomUUID(),
  team: null,
  operation: 'get_order',
  objects: [randomUUID()],
  users: [randomUUID()],
  address: '192.0.2.1',
  outcome: 200,
  ...overrides,
})

const logAccess = (db: Db, count: number, overrides: Partial<Access> = {}) =>
  appendLines(
    db,
    Array.from({ length: count }, () => lineOf(accessOf(overrides))),
  )

/** A complete export. */
async function exportLog(db: Db, filter: LineFilter = {}): Promise<{ seq: number; hash: string; line: Access; text: string }[]> {
  let text = ''
  for await (const piece of exportLines(db, files, filter)) text += piece
  const lines = text.split('\n').filter(Boolean)
  return lines.map((line) => ({ ...JSON.parse(line), text: line.slice(line.indexOf('"line":') + 7, -1) }))
}

/** Gives a line another text and a hash that matches it. */
function hashAgain(seq: number): string {
  return `update access_log l set line = x.line, hash = sha256((select hash from access_log where seq = ${seq - 1}) || convert_to(x.line, 'UTF8'))
    from (select replace(line, '"outcome":200', '"outcome":404') as line from access_log where seq = ${seq}) x where l.seq = ${seq}`
}

/** Gives a line another text, and this and all later lines matching hashes. */
function rewritten(seq: number): string {
  return `update access_log set line = replace(line, '"outcome":200', '"outcome":404') where seq = ${seq};
   update access_log l set hash = x.hash
   from (select seq, access_chain(sha256(''), line) over (order by seq rows unbounded preceding) as hash from access_log) x where x.seq = l.seq;
   update access_day set hash = (select hash from access_log order by seq desc limit 1) where seq > 0`
}

describe('concurrent writes of several processes', () => {
  const db = cells.db('sandbox-eu')

  test('form one chain without gaps and duplicates', async () => {
    const team = await createTestTeam('sandbox-eu')
    const processes = Array.from({ length: 4 }, () => new AccessLog({ mode: 'strict', log: createLog('silent') }))
    const wanted: string[] = []
    const made = (i: number): Access => {
      const request = `fictional-${i}`
      wanted.push(request)
      return accessOf({ request, team: team.team })
    }
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const log = processes[i % 4]!
        if (i % 3) return log.addRead(db, made(i))
        return db.tx(team.tenant, async (tx) => log.addChange(db, tx, made(i)))
      }),
    )
    await Promise.all(processes.map((log) => log.stop()))
    const { lines, fault, head } = await verifyLog(db, files)
    assert.deepEqual([fault, lines, head.seq], [undefined, 200, 200])
    const found = (await exportLog(db)).map(({ line }) => line.request!)
    assert.deepEqual(found.toSorted(), wanted.toSorted())
  })

  test('are completed by another process when the process that left a line has ended', async () => {
    const { head } = await verifyLog(db, files)
    await db.plainTx(async (tx) => leaveLine(tx, lineOf(accessOf())))
    assert.deepEqual(await appendLines(db), { count: 1, isMore: false })
    assert.deepEqual(await appendLines(db), { count: 0, isMore: false })
    assert.equal((await verifyLog(db, files)).head.seq, head.seq + 1)
  })

  test('are appended in steps that each stay within the statement timeout, however many lines are left', async () => {
    const { head } = await verifyLog(db, files)
    const { users, text } = lineOf(accessOf())
    await db.pool.query('insert into access_line (users, line) select $1, $2 from generate_series(1, 45000)', [users, text])
    assert.deepEqual(await appendLines(db, [lineOf(accessOf())]), { count: 20_001, isMore: true })
    assert.deepEqual(await appendLines(db), { count: 20_000, isMore: true })
    assert.deepEqual(await appendLines(db), { count: 5000, isMore: false })
    const { fault, head: end } = await verifyLog(db, files)
    assert.deepEqual([fault, end.seq], [undefined, head.seq + 45_001])
  })

  test('begin a day with its first line, and not before', async () => {
    const { users, text } = lineOf(accessOf())
    const client = await db.pool.connect()
    const append = async (lines: string) =>
      (await client.query<{ n: number }>(`select append_access_log_on('2100-01-01', $1)::int as n`, [lines])).rows[0]!.n
    const state = async () =>
      (
        await client.query<{ days: number; table: string | null }>(
          `select count(*)::int as days, to_regclass('access_log_21000101')::text as table from access_day where day = '2100-01-01'`,
        )
      ).rows[0]
    try {
      await client.query('begin; set local role none')
      assert.equal(await append(''), 0)
      assert.deepEqual(await state(), { days: 0, table: null })
      assert.equal(await append(`\t${users}\t${text}`), 1)
      assert.deepEqual(await state(), { days: 1, table: 'access_log_21000101' })
      assert.equal(await append(''), 0)
      assert.deepEqual(await state(), { days: 1, table: 'access_log_21000101' })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

describe('an export', () => {
  const db = cells.db('production-us')
  const [user, team] = [randomUUID(), randomUUID()]
  before(async () => {
    await logAccess(db, 3)
    await logAccess(db, 2, { users: [randomUUID(), user] })
    await logAccess(db, 1, { team })
    await logAccess(db, 2500)
  })

  test('contains every line with the input of its hash, so that a reader can verify it', async () => {
    const lines = await exportLog(db)
    assert.deepEqual(
      lines.map(({ seq }) => seq),
      Array.from({ length: 2506 }, (_, i) => i + 1),
    )
    let hash = createHash('sha256').digest()
    for (const { text, hash: said } of lines) {
      hash = createHash('sha256').update(hash).update(text).digest()
      assert.equal(hash.toString('hex'), said)
    }
  })

  test('can be filtered by user, team and days', async () => {
    assert.deepEqual(
      (await exportLog(db, { user })).map(({ seq }) => seq),
      [4, 5],
    )
    assert.deepEqual(
      (await exportLog(db, { team })).map(({ seq }) => seq),
      [6],
    )
    assert.equal((await exportLog(db, { team, user })).length, 0)
    assert.equal((await exportLog(db, { lastDay: '2020-01-01' })).length, 0)
    assert.equal((await exportLog(db, { firstDay: '2020-01-01' })).length, 2506)
  })
})

describe('a change of written lines', () => {
  const db = cells.db('production-eu')
  let noted: Position
  before(async () => {
    for (let i = 0; i < 20; i++) await logAccess(db, 1, { users: [randomUUID(), randomUUID()] })
    noted = (await verifyLog(db, files)).head
    await logAccess(db, 5)
  })

  const number = '20200131'
  /** Changes that are possible with write access to the database, and the expected message of the check. */
  const changes: [string, string, RegExp][] = [
    [
      'the text of a line',
      `update access_log set line = replace(line, '"outcome":200', '"outcome":404') where seq = 7`,
      /^line 7 .*changed/,
    ],
    ['a line with a new hash', hashAgain(7), /^line 8 .*changed/],
    ['the users of a line', `update access_log set users = users[1:1] where seq = 9`, /^line 9 .*columns/],
    ['the team of a line', `update access_log set team_id = gen_random_uuid() where seq = 9`, /^line 9 .*columns/],
    ['a line that is gone', `delete from access_log where seq = 11`, /^line 11 .*missing/],
    ['the last line, gone', `delete from access_log where seq = 25`, /^line 25 .*missing/],
    [
      'a line more',
      `insert into access_log select day, 26, team_id, users, line, hash from access_log where seq = 25`,
      /^line 26 .*not part/,
    ],
    [
      'two lines that change places',
      `update access_log set seq = 1000 where seq = 3; update access_log set seq = 3 where seq = 4; update access_log set seq = 4 where seq = 1000`,
      /^line 3 .*changed/,
    ],
    ['the lines of a day, gone', `delete from access_log`, /^line 1 .*missing/],
    ['the hash of a day', `update access_day set hash = sha256('x') where seq > 0`, /^line 25 .*another hash/],
    ['another beginning', `update access_day set hash = sha256('x') where seq = 0`, /beginning/],
    [
      'a day without lines in the log',
      `create table access_log_${number} partition of access_log for values from ('2020-01-31') to ('2020-02-01')`,
      new RegExp(`access_log_${number}`),
    ],
    [
      'the end of the log, with the day set back',
      `delete from access_log where seq > 15; update access_day set seq = 15, hash = (select hash from access_log where seq = 15) where seq > 0`,
      /^line 20 is missing: it was noted/,
    ],
    ['a whole chain that is new', rewritten(7), /^line 20 has another hash than the one that was noted/],
  ]
  for (const [what, statements, fault] of changes)
    test(`is detected: ${what}`, async () => {
      const client = await db.pool.connect()
      try {
        await client.query('begin')
        // Runs as the owner of the tables: an attacker does not use the program.
        await client.query('set local role none')
        await client.query(statements)
        const within = { ...db, queries: queriesOf(client) } as unknown as Db
        assert.match((await verifyLog(within, files, [noted])).fault ?? 'nothing was found', fault)
      } finally {
        await client.query('rollback')
        client.release()
      }
      assert.equal((await verifyLog(db, files, [noted])).fault, undefined)
    })

  test('is not detected if the whole chain is rewritten and no position was recorded, as the documentation says', async () => {
    const client = await db.pool.connect()
    try {
      await client.query('begin')
      await client.query('set local role none')
      await client.query(rewritten(7))
      const within = { ...db, queries: queriesOf(client) } as unknown as Db
      assert.equal((await verifyLog(within, files)).fault, undefined)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

/** Statements of one connection, so that the check sees the change that is rolled back afterwards. */
function queriesOf(client: {
  query: (text: { text: string; values: unknown[] }) => Promise<{ rows: unknown[]; rowCount: number | null }>
}) {
  const many = async (_row: unknown, { text, values }: { text: string; values: unknown[] }) =>
    (await client.query({ text, values })).rows
  return {
    many,
    maybe: async (...args: Parameters<typeof many>) => (await many(...args))[0],
    one: async (...args: Parameters<typeof many>) => (await many(...args))[0],
  }
}

describe('expired days', () => {
  const db = cells.db('sandbox-us')
  /** Lines of earlier days, appended at that time. */
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
  const day = (days: number) => ago(days).toISOString().slice(0, 10)
  /** Runs statements as the owner of the tables: the program may not. */
  const asOwner = async (statements: string) => {
    const client = await pool('sandbox-us').connect()
    try {
      await client.query(`begin; set local role none; ${statements}; commit`)
    } finally {
      client.release()
    }
  }
  const keepDays = (days: number) => asOwner(`update access_log_retention set days = ${days}`)
  const sealedOn = (time: Date) =>
    asOwner(
      `select append_access_log_on('${time.toISOString().slice(0, 10)}', e'\\t{}\\t' || '${lineOf(accessOf({ at: time, users: [] })).text}')`,
    )

  test('are deleted whole, and the remaining chain continues from their last hash', async () => {
    for (const days of [5, 5, 4, 3, 3, 1]) await sealedOn(ago(days))
    const noted = { seq: 3, hash: (await exportLog(db)).find(({ seq }) => seq === 3)!.hash }
    await keepDays(3)
    assert.equal(await dropOldDays(db), 2)
    assert.equal(await dropOldDays(db), 0)
    await logAccess(db, 1)
    const { fault, lines, oldestDay, head } = await verifyLog(db, files)
    assert.deepEqual([fault, lines, oldestDay, head.seq], [undefined, 4, day(3), 7])
    assert.deepEqual(
      (await exportLog(db)).map(({ seq }) => seq),
      [4, 5, 6, 7],
    )
    assert.equal(
      (await verifyLog(db, files, [{ seq: 3, hash: noted.hash }])).fault,
      `line 3 is missing: it was noted, and its day ${day(4)} was deleted`,
    )
    assert.match((await verifyLog(db, files, [{ seq: 1, hash: 'ff' }])).fault!, /^line 1 is missing: it was noted/)
  })

  test('are refused by the database while they are younger than the retention', async () => {
    const before = await verifyLog(db, files)
    for (const call of [`('${day(3)}')`, `('${day(1)}')`, `('${day(0)}')`, `('${day(-1)}')`])
      await assert.rejects(db.pool.query(`select drop_access_log_day${call}`), { code: '42501' }, call)
    for (const change of [
      'update access_log_retention set days = 1',
      'insert into access_log_retention (id, days) values (false, 1)',
      `update access_day set dropped_at = now()`,
      `drop table access_log_${day(1).replaceAll('-', '')}`,
    ])
      await assert.rejects(db.pool.query(change), { code: '42501' }, change)
    assert.deepEqual(await verifyLog(db, files), before)
  })

  test('stay while a reader reads the log', async () => {
    await keepDays(2)
    const reader = await db.pool.connect()
    try {
      await reader.query('begin')
      await reader.query('select count(*) from access_log')
      await assert.rejects(dropOldDays(db), { code: '55P03' })
    } finally {
      await reader.query('rollback')
      reader.release()
    }
    assert.equal((await exportLog(db))[0]!.seq, 4)
    assert.equal(await dropOldDays(db), 1)
    assert.deepEqual([(await verifyLog(db, files)).fault, (await exportLog(db))[0]!.seq], [undefined, 6])
  })

  test('are detected if they were deleted before the retention had ended', async () => {
    const client = await db.pool.connect()
    const faultAfter = async (change: string) => {
      await client.query('begin')
      await client.query(`set local role none; ${change}`)
      const { fault } = await verifyLog({ ...db, queries: queriesOf(client) } as never, files)
      await client.query('rollback')
      return fault
    }
    const drop = `
      delete from access_log where day = '${day(1)}';
      update access_day set dropped_at = now(), retention_days = 2 where day = '${day(1)}'`
    try {
      assert.equal(await faultAfter(drop), `the day ${day(1)} was deleted before its retention had ended`)
    } finally {
      client.release()
    }
  })

  test('leave a detectable gap if a day in the middle is deleted', async () => {
    await sealedOn(ago(-1))
    await asOwner(`
      drop table access_log_${day(0).replaceAll('-', '')};
      update access_day set dropped_at = day + 10, retention_days = 2 where day = '${day(0)}'`)
    assert.match((await verifyLog(db, files)).fault!, /^line 7 is missing: the day .* is gone/)
  })

  test('with a clock that was set back leave no gap: lines stay in the order of their numbers', async () => {
    await sealedOn(ago(-2))
    await sealedOn(ago(0))
    const { rows } = await pool('sandbox-us').query(
      'select max(day)::text as day, count(*)::int as n from access_log where seq > 8',
    )
    assert.deepEqual(rows[0], { day: ago(-2).toISOString().slice(0, 10), n: 2 })
  })
})
