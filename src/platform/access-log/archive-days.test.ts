// Closed days of the access log in stored files: what is moved and when, one chain over database and files, and what happens if a process, a
// file or its storage fails in between.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { accessRow, appendDay, dayAgo, emptyLog } from '../../../test/support/access-days.ts'
import { asOwner, cells } from '../../../test/support/server.ts'
import { s3Server } from '../../../test/support/s3-server.ts'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { sql } from '../db/sql.ts'
import { T } from '../schema/schema.ts'
import { DiskStorage } from '../stored-files/disk-storage.ts'
import type { FileStorage } from '../stored-files/file-storage.ts'
import { S3Storage } from '../stored-files/s3-storage.ts'
import { deleteFilesAfter, StoredFiles } from '../stored-files/stored-files.ts'
import { exportLines, verifyLog } from './access-archive.ts'
import { DayArchiver } from './archive-days.ts'
import { dropOldDays } from './log-retention.ts'

const db = cells.db('production-eu')
const SCHEMA = 'production_eu'
const DATABASE_DAYS = 30
const users = Array.from({ length: 5 }, () => randomUUID())
const team = randomUUID()

const folder = await mkdtemp(join(tmpdir(), 'access-log-'))
after(() => rm(folder, { recursive: true }))
const disk = new DiskStorage(folder)
const filesIn = (storage: FileStorage) => new StoredFiles({ kind: () => 'disk', storages: () => ({ disk: storage }) })
const files = filesIn(disk)
/** Files of two or three lines. */
const archiver = (store: StoredFiles = files) => new DayArchiver(store, { file_bytes: 800 })

const createRow = (user: string, index: number): string => accessRow({ user, team, request: `fictional-${index}` })

/** A log with seven lines in each of these days, and one of today; there are no files. */
async function createLog(daysAgo = [40, 35, 33]): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
  await emptyLog(db, { database_days: DATABASE_DAYS })
  for (const days of daysAgo) await appendDay(db, dayAgo(days), users.concat(users[0]!, users[1]!).map(createRow))
  await appendDay(db, dayAgo(0), [createRow(users[0]!, 7)])
}

const isStopped = () => false
/** Works as the worker does until there is nothing to do. */
async function archiveAll(worker = archiver()): Promise<number> {
  let steps = 0
  while ((await worker.overdueFor(db)) !== undefined) {
    const done = await worker.remove(db, cells.control, isStopped)
    if (done === 0) break
    steps += done
  }
  return steps
}
const endLease = () =>
  db.queries.run(sql`update access_archive_lease set leased_until = statement_timestamp() - interval '1 second'`)

async function exportLog(filter = {}, store = files): Promise<string> {
  let text = ''
  for await (const piece of exportLines(db, store, filter)) text += piece
  return text
}
const count = async (table: string): Promise<number> =>
  (await db.pool.query(`select count(*)::int as n from ${SCHEMA}.${table}`)).rows[0].n
const archive = async (): Promise<{ first_seq: number; path: string; day: string }[]> => {
  const { rows } = await db.pool.query(
    `select first_seq::int, day::text, set_id || '/' || name as path from ${SCHEMA}.access_archive order by first_seq`,
  )
  return rows.map(({ path, ...row }) => ({ ...row, path: join(folder, path) }))
}
const faultOf = async (store = files): Promise<string> => (await verifyLog(db, store)).fault ?? 'nothing was found'

beforeEach(() => createLog())

describe('days that are older than the retention in the database', () => {
  test('move to files, one file at a time, and export and check stay as they were', async () => {
    const whole = await exportLog()
    const { head } = await verifyLog(db, files)
    assert.equal(await archiveAll(), 12)
    assert.deepEqual([await count('access_log'), await count('access_archive')], [1, 9])
    assert.equal(await exportLog(), whole)
    const { rows } = await db.pool.query(
      `select seq::int, encode(hash, 'hex') as hash from ${SCHEMA}.access_day where seq in (7, 14)`,
    )
    assert.deepEqual(await verifyLog(db, files, rows), { lines: 22, oldestDay: dayAgo(40), head, fault: undefined })
    assert.match(
      (await verifyLog(db, files, [{ seq: 3, hash: 'ff' }])).fault!,
      /^line 3 has another hash than the one that was noted/,
    )
    for (const filter of [{ user: users[1] }, { team }, { firstDay: dayAgo(36), lastDay: dayAgo(34) }, { user: randomUUID() }])
      assert.equal(
        await exportLog(filter),
        whole
          .split(/(?<=\n)/)
          .filter((line) => !('user' in filter) || line.includes(filter.user!))
          .filter((line) => !('firstDay' in filter) || line.includes(`"day":"${dayAgo(35)}"`))
          .join(''),
      )
    assert.equal(await archiveAll(), 0)
  })

  test('are in files that any tool can unpack and verify', async () => {
    await archiveAll()
    let hash = createHash('sha256').digest()
    let seq = 0
    for (const { path } of (await archive()).filter(({ day }) => day === dayAgo(40))) {
      const [header, ...lines] = gunzipSync(await readFile(path))
        .toString()
        .trimEnd()
        .split('\n')
      assert.deepEqual(JSON.parse(header!), {
        format: 'drawbridge-access-log-1',
        day: dayAgo(40),
        first_seq: seq + 1,
        last_seq: (seq += lines.length),
        previous_hash: hash.toString('hex'),
      })
      for (const line of lines) hash = createHash('sha256').update(hash).update(line).digest()
    }
    const { rows } = await db.pool.query(`select seq::int, encode(hash, 'hex') as hash from ${SCHEMA}.access_day where seq = 7`)
    assert.deepEqual(rows, [{ seq, hash: hash.toString('hex') }])
  })

  test('are not written to files any more when they are due for deletion', async () => {
    await asOwner(`update ${SCHEMA}.access_log_retention set days = 34`)
    await archiveAll()
    assert.deepEqual(new Set((await archive()).map(({ day }) => day)), new Set([dayAgo(33)]))
    assert.equal(await dropOldDays(db), 2)
    assert.equal(await faultOf(), 'nothing was found')
  })

  test('stay where they are without a retention in the database, and so does the last day however old it is', async () => {
    await asOwner(`update ${SCHEMA}.access_log_retention set database_days = null`)
    assert.equal(await archiveAll(), 0)
    await asOwner(`update ${SCHEMA}.access_log_retention set database_days = ${DATABASE_DAYS}`)
    await asOwner(`delete from ${SCHEMA}.access_log where day > $1`, [dayAgo(33)])
    await asOwner(`delete from ${SCHEMA}.access_day where day > $1`, [dayAgo(33)])
    await archiveAll()
    assert.deepEqual(
      [await count('access_log'), new Set((await archive()).map(({ day }) => day))],
      [7, new Set([dayAgo(40), dayAgo(35)])],
    )
    // A clock that was set back appends to that day.
    await appendDay(db, dayAgo(50), [createRow(users[0]!, 8)])
    assert.equal(await count('access_log'), 8)
  })

  test('are deleted with their files when the whole retention ends, and not before', async () => {
    await archiveAll()
    assert.equal(await dropOldDays(db), 0)
    await asOwner(`update ${SCHEMA}.access_log_retention set days = 36`)
    assert.equal(await dropOldDays(db), 1)
    await files.cleanup.remove(db, cells.control, isStopped)
    assert.equal((await readdir(folder)).length, await count('access_archive'))
    assert.deepEqual([await faultOf(), (await verifyLog(db, files)).oldestDay], ['nothing was found', dayAgo(35)])
  })
})

describe('a process that ends in the middle', () => {
  /** A storage that fails at one of its calls, before or after it has done what it was asked. */
  function failingAt(call: number, isBefore: boolean): FileStorage {
    let calls = 0
    const fail = async <R>(work: () => Promise<R>): Promise<R> => {
      const isFailing = ++calls === call
      if (isFailing && isBefore) throw new Error('fictional end')
      const result = await work()
      if (isFailing) throw new Error('fictional end')
      return result
    }
    return {
      put: (key, bytes) => fail(() => disk.put(key, bytes)),
      get: (key) => fail(() => disk.get(key)),
      remove: (key) => disk.remove(key),
      close: async () => {},
    }
  }

  test('at any step loses no line and doubles none, and another one continues', async () => {
    // A day with three files: each file is written, then each is read.
    for (let call = 1; call <= 6; call++)
      for (const isBefore of [true, false]) {
        await createLog([40])
        const whole = await exportLog()
        await assert.rejects(archiveAll(archiver(filesIn(failingAt(call, isBefore)))), /fictional end/)
        assert.equal(await exportLog(), whole)
        assert.equal(await faultOf(), 'nothing was found')
        // The lease of the process that has ended.
        assert.equal(await archiver().remove(db, cells.control, isStopped), 0)
        await endLease()
        await archiveAll()
        assert.equal(await exportLog(), whole)
        assert.deepEqual([await faultOf(), await count('access_archive'), await count('access_log')], ['nothing was found', 3, 1])
        // A file that was written and not recorded is left to the hour.
        const { rows } = await db.pool.query(
          `select count(*)::int as n from ${SCHEMA}.stored_file where is_of_cell and delete_at is not null`,
        )
        assert.equal(rows[0].n, call <= 3 ? 1 : 0)
      }
  })

  test('leaves a file that is deleted after an hour, and that no one keeps then', async () => {
    await assert.rejects(archiveAll(archiver(filesIn(failingAt(1, false)))), /fictional end/)
    await db.queries.run(sql`update stored_file set delete_at = delete_at - interval '1 hour 1 second' where is_of_cell`)
    await files.cleanup.remove(db, cells.control, isStopped)
    assert.deepEqual(await readdir(folder), [])
  })

  test('is continued by several workers at once, and each line is recorded once', async () => {
    const whole = await exportLog()
    const workers = [archiver(), archiver(), archiver()]
    await eventuallyHolds(async () => {
      await Promise.allSettled(
        workers.map(async (worker) => {
          // None waits for the others.
          await endLease()
          await worker.remove(db, cells.control, isStopped)
        }),
      )
      assert.equal(await count('access_log'), 1)
    })
    assert.equal(await exportLog(), whole)
    assert.deepEqual([await faultOf(), await count('access_archive')], ['nothing was found', 9])
  })

  test('in the middle of an export changes nothing of it: the day continues in its files', async () => {
    const whole = await exportLog()
    let text = ''
    for await (const piece of exportLines(db, files, {})) {
      text += piece
      await archiveAll()
    }
    assert.equal(text, whole)
  })
})

describe('readers of the log', () => {
  test('delay the table of a day, whose files are not read again for that', async () => {
    let reads = 0
    const counting: FileStorage = {
      put: (key, bytes) => disk.put(key, bytes),
      get: (key) => (reads++, disk.get(key)),
      remove: (key) => disk.remove(key),
      close: async () => {},
    }
    await createLog([40])
    const worker = archiver(filesIn(counting))
    const reader = await db.pool.connect()
    try {
      await reader.query('begin')
      await reader.query('select count(*) from access_log')
      for (const _ of [1, 2]) {
        await assert.rejects(archiveAll(worker), { code: '55P03' })
        await endLease()
      }
    } finally {
      await reader.query('rollback')
      reader.release()
    }
    await archiveAll(worker)
    assert.deepEqual([reads, await count('access_log'), await faultOf()], [3, 1, 'nothing was found'])
  })
})

test('a worker that was stopped until its lease was over neither extends nor ends the lease of another', async () => {
  const lease = async () =>
    String((await db.pool.query(`select leased_until::text from ${SCHEMA}.access_archive_lease`)).rows[0].leased_until)
  // Another worker claims the archive while this one writes a file, and while it reads one.
  for (const step of ['writes', 'reads'] as const) {
    await createLog([40])
    let other: string | undefined
    const claimForOther = async () => {
      if (other !== undefined) return
      await db.queries.run(sql`update access_archive_lease set leased_until = statement_timestamp() + interval '30 seconds'`)
      other = await lease()
    }
    if (step === 'reads') for (let file = 0; file < 3; file++) await archiver().remove(db, cells.control, isStopped)
    const whenClaimed = async <R>(work: () => Promise<R>): Promise<R> => {
      await claimForOther()
      return work()
    }
    const storage: FileStorage = {
      put: (key, bytes) => whenClaimed(() => disk.put(key, bytes)),
      get: (key) => whenClaimed(() => disk.get(key)),
      remove: (key) => disk.remove(key),
      close: async () => {},
    }
    await archiver(filesIn(storage)).remove(db, cells.control, isStopped)
    assert.notEqual(other, undefined)
    assert.equal(await lease(), other, step)
    await endLease()
  }
})

test('a clock that was ahead keeps no worker from archiving', async () => {
  await db.queries.run(sql`insert into access_archive_lease (leased_until) values (statement_timestamp() + interval '1 year')`)
  assert.equal(await archiveAll(), 12)
})

test('a day is not dropped if its files are others than those that were read', async () => {
  await createLog([40])
  const worker = archiver()
  for (let file = 0; file < 3; file++) await worker.remove(db, cells.control, isStopped)
  const day = dayAgo(40)
  const { rows } = await db.pool.query(`select array_agg(set_id order by first_seq) as set_ids from access_archive`)
  const ids = rows[0].set_ids as string[]
  for (const [read, isDone] of [
    [ids.slice(1), false],
    [ids.toReversed(), false],
    [ids.with(1, randomUUID()), false],
    [null, false],
    [ids, true],
  ] as const)
    assert.equal((await db.pool.query(`select archive_access_log_day($1, $2) as done`, [day, read])).rows[0].done, isDone)
  assert.equal(await faultOf(), 'nothing was found')
})

describe('a storage that fails', () => {
  test('keeps the days in the database until it works again', async () => {
    const peer = await s3Server()
    const { url: endpoint, ...keys } = peer
    const s3 = new S3Storage({ ...keys, endpoint, prefix: '', virtual_hosts: false })
    const inPeer = new StoredFiles({ kind: () => 's3', storages: () => ({ s3 }) })
    after(() => inPeer.close())
    const whole = await exportLog()
    peer.next.push(403)
    await assert.rejects(archiveAll(archiver(inPeer)), /^StorageUnavailable: PUT was answered 403/)
    assert.equal(await count('access_log'), 22)
    await endLease()
    await archiveAll(archiver(inPeer))
    assert.equal(await exportLog({}, inPeer), whole)
    peer.next.push(403)
    await assert.rejects(verifyLog(db, inPeer), /^StorageUnavailable: GET was answered 403/)
    assert.equal(await faultOf(inPeer), 'nothing was found')
  })

  test('and has another file than was written, before the day is dropped, gets it again', async () => {
    const worker = archiver()
    for (let file = 0; file < 3; file++) await worker.remove(db, cells.control, isStopped)
    const [, { path }] = (await archive()) as [unknown, { path: string }]
    await truncate(path, 20)
    await assert.rejects(archiveAll(worker), /with the lines 4 to 6 of .* has been changed: its digest does not fit/)
    assert.deepEqual([await count('access_archive'), await count('access_log')], [1, 22])
    await endLease()
    await archiveAll(worker)
    assert.deepEqual([await faultOf(), await count('access_archive')], ['nothing was found', 9])
  })
})

describe('a change', () => {
  let list: Awaited<ReturnType<typeof archive>>
  beforeEach(async () => {
    await archiveAll()
    list = await archive()
  })
  const repack = async (path: string, change: (text: string) => string) => {
    const bytes = gzipSync(change(gunzipSync(await readFile(path)).toString()))
    await writeFile(path, bytes)
    return createHash('sha256').update(bytes).digest()
  }
  const fourth = /the file \S+\.jsonl\.gz with the lines 4 to 6 of /
  const changes: [string, () => Promise<unknown>, RegExp][] = [
    ['a file that is gone', () => rm(list[1]!.path), new RegExp(`^${fourth.source}\\S+ is missing`)],
    ['a file that is shorter', () => truncate(list[1]!.path, 100), /lines 4 to 6 of \S+ has been changed: its digest/],
    [
      'another text',
      () => repack(list[1]!.path, (text) => text.replace('"outcome":200', '"outcome":404')),
      /lines 4 to 6 of .* digest/,
    ],
    [
      'two files that change places',
      async () => {
        await rename(list[1]!.path, `${list[1]!.path}.old`)
        await rename(list[4]!.path, list[1]!.path)
        await rename(`${list[1]!.path}.old`, list[4]!.path)
      },
      /lines 4 to 6 of .* digest/,
    ],
    [
      'another text with its digest in the database',
      async () =>
        asOwner(`update ${SCHEMA}.access_archive set digest = $1 where first_seq = 4`, [
          await repack(list[1]!.path, (text) => text.replace('"outcome":200', '"outcome":404')),
        ]),
      /lines 4 to 6 of \S+ has been changed: it ends with another hash/,
    ],
    [
      'a line less with its digest in the database',
      async () =>
        asOwner(`update ${SCHEMA}.access_archive set digest = $1 where first_seq = 4`, [
          await repack(list[1]!.path, (text) => text.split('\n').toSpliced(2, 1).join('\n')),
        ]),
      /lines 4 to 6 of \S+ has been changed: it does not have these lines/,
    ],
    [
      'the keys of the users of a file, which searches use',
      () => asOwner(`update ${SCHEMA}.access_archive set user_keys = user_keys[2:] where first_seq = 4`),
      /lines 4 to 6 of \S+ is listed with other users/,
    ],
    [
      'the record of a file, gone',
      () => asOwner(`delete from ${SCHEMA}.access_archive where first_seq = 4`),
      /^line 4 of \S+ is missing: the file .* does not continue the log/,
    ],
    [
      'the last record of a day, gone',
      () => asOwner(`delete from ${SCHEMA}.access_archive where first_seq = 7`),
      /^line 7 of \S+ is missing: no file has it/,
    ],
    [
      'a day that is said to be archived',
      () => asOwner(`update ${SCHEMA}.access_day set archived_at = now() where seq = 22`),
      /^line 22 of \S+ is missing: no file has it/,
    ],
  ]
  for (const [what, make, fault] of changes)
    test(`is detected: ${what}`, async () => {
      assert.equal(await faultOf(), 'nothing was found')
      await make()
      assert.match(await faultOf(), fault)
    })

  test('is found only in days that are checked, and known lines of others are an error', async () => {
    const whole = await verifyLog(db, files)
    await rm(list[1]!.path)
    assert.match((await verifyLog(db, files, [], dayAgo(40))).fault!, /lines 4 to 6 of \S+ is missing/)
    const later = await verifyLog(db, files, [whole.head], dayAgo(39))
    assert.deepEqual(later, { ...whole, lines: 15, oldestDay: dayAgo(35) })
    await assert.rejects(
      verifyLog(db, files, [{ seq: 7, hash: 'ff' }], dayAgo(39)),
      /^Error: line 7 was noted, and its day .* not checked/,
    )
    await asOwner(`update ${SCHEMA}.access_day set dropped_at = day + 2000, retention_days = 1 where seq = 14`)
    assert.match((await verifyLog(db, files, [], dayAgo(34))).fault!, /^line 8 is missing: the day \S+ is gone/)
  })

  test('in the database is not hidden by the archive: the day stays there, and others go on', async () => {
    await createLog()
    await asOwner(`update ${SCHEMA}.access_log set line = replace(line, '"outcome":200', '"outcome":404') where seq = 10`)
    await asOwner(
      `insert into ${SCHEMA}.access_log select day, 100, team_id, users, line, hash from ${SCHEMA}.access_log where seq = 21`,
    )
    const worker = archiver()
    await assert.rejects(archiveAll(worker), /^BrokenDay: the day is not archived: line 10 of \S+ has been changed/)
    await endLease()
    await assert.rejects(archiveAll(worker), /has lines that are not part of the chain/)
    assert.deepEqual(new Set((await archive()).map(({ day }) => day)), new Set([dayAgo(40), dayAgo(33)]))
    assert.match(await faultOf(), /^line 10 of \S+ has been changed/)
  })
})

test('a day with a line that a file cannot hold stays in the database', async () => {
  await emptyLog(db, { database_days: DATABASE_DAYS })
  const line = JSON.stringify({ team, users: [] }, null, 1)
  await db.pool.query('insert into access_line (team_id, users, line) values ($1, $2, $3)', [team, '{}', line])
  await appendDay(db, dayAgo(40), [])
  await appendDay(db, dayAgo(0), [createRow(users[0]!, 0)])
  await assert.rejects(archiveAll(), /^BrokenDay: the day is not archived: line 1 of \S+ has a line break/)
  assert.deepEqual([await count('access_log'), await faultOf()], [2, 'nothing was found'])
})

describe('the files', () => {
  test('are invisible to connections of teams, and no eraser of others deletes them', async () => {
    await archiveAll()
    const tenant = { team, org: team, cell: 'production-eu', clock_offset_s: 0, settings: {} }
    const { rows } = await db.pool.query(`select set_id from ${SCHEMA}.access_archive`)
    const set_ids = rows.map(({ set_id }) => set_id as string)
    await db.tx(tenant, async (tx) => {
      assert.deepEqual(await tx.many(T.Object({}), sql`select from access_archive`), [])
      await deleteFilesAfter(tx, set_ids, -1, { isOfCell: true })
    })
    await db.plainTx((tx) => deleteFilesAfter(tx, set_ids, -1))
    await files.cleanup.remove(db, cells.control, isStopped)
    await assert.rejects(db.pool.query(`delete from ${SCHEMA}.stored_file where is_of_cell`), { code: '23503' })
    assert.equal(await faultOf(), 'nothing was found')
  })

  test('cannot be forgotten, replaced or added by the role of the program once they are the only proof', async () => {
    await archiveAll()
    const day = dayAgo(40)
    for (const [statement, code] of [
      [`select forget_access_log_files('${day}', 1)`, '42501'],
      [`delete from access_archive`, '42501'],
      [`update access_archive set digest = ''`, '42501'],
      [`update access_day set archived_at = null`, '42501'],
    ] as const)
      await assert.rejects(db.pool.query(statement), { code }, statement)
    const { rows } = await db.pool.query(
      `select add_access_log_file(a) as added, archive_access_log_day('${dayAgo(0)}', '{}') as archived from access_archive a where first_seq = 1`,
    )
    assert.deepEqual(rows, [{ added: false, archived: false }])
  })

  test('are refused with hashes that are not those of the log', async () => {
    const file = (first: number, last: number, previous: string, hash: string) =>
      `select add_access_log_file(row(${first}, ${last}, '${dayAgo(40)}', ${previous}, ${hash}, gen_random_uuid(), 'a', 1, '', '{}')::access_archive)`
    for (const call of [
      file(1, 7, `sha256('x')`, `(select hash from access_log where seq = 7)`),
      file(1, 7, `sha256('')`, `sha256('x')`),
      file(1, 8, `sha256('')`, `(select hash from access_log where seq = 8)`),
    ])
      await assert.rejects(db.pool.query(call), { code: '23514' }, call)
    // There is no such file.
    await assert.rejects(db.pool.query(file(1, 7, `sha256('')`, `(select hash from access_log where seq = 7)`)), {
      code: '23503',
    })
  })
})
