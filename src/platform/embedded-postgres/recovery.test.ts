import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import pg from 'pg'
import { isServerFor } from './processes.ts'
import {
  queryOnce,
  failure,
  openPostgres,
  peer,
  postmasterPid,
  stopAllOn,
  scratch,
  removeScratchFolders,
  waitUntil,
} from '../../../test/support/embedded-postgres.ts'

const pathOf = (name: string) => join(scratch, name)
const openAndStop = async (dataDir: string) => (await openPostgres(dataDir)).stop()
const initFolders = (dataDir: string) => fs.globSync('postgres.init-*', { cwd: dataDir })

/** A statement that is still running when this returns. */
async function startStatement(connection: pg.ClientConfig, statement: string): Promise<{ pid: number; exit: Promise<unknown> }> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return { pid: rows[0]?.pid ?? 0, exit: client.query(statement).catch((error: unknown) => error) }
}

after(removeScratchFolders)

/** Order matters: the first test creates one cluster, the first test that uses another cluster creates it. */
describe('embedded PostgreSQL after SIGKILL', { concurrency: 1 }, () => {
  const [dataDir, other] = [pathOf('data'), pathOf('other')]
  afterEach(() => Promise.all([stopAllOn(dataDir), stopAllOn(other)]))

  test('recovers from an interrupted first start', async () => {
    for (const then of [
      () => initFolders(dataDir).length,
      () => fs.globSync('postgres.init-*/cluster/base/1/*', { cwd: dataDir }).length,
    ]) {
      const killed = peer(dataDir)
      await waitUntil(then)
      await killed.kill()
    }
    const { connection, stop } = await openPostgres(dataDir)
    assert.deepEqual(initFolders(dataDir), [])
    assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
    await stop()
  })

  test('the server outlives its owner, and the next owner takes it over', async () => {
    const first = await openPostgres(dataDir)
    await queryOnce(first.connection, 'create table if not exists bed as select 7 as number')
    const server = postmasterPid(dataDir)
    await first.kill()
    assert.equal(server.isAlive(), true)

    const second = await openPostgres(dataDir)
    assert.equal(second.owner, true)
    assert.equal(postmasterPid(dataDir).pid, server.pid)
    assert.deepEqual(await queryOnce(second.connection, 'select number from bed'), { number: 7 })
    await second.stop()
    assert.equal(server.isAlive(), false)
  })

  test('a killed owner whose server was starting is followed by an owner that serves', async () => {
    const killed = peer(dataDir)
    await waitUntil(() => fs.existsSync(join(dataDir, 'postgres/postmaster.pid')))
    await killed.kill()
    const { connection, stop } = await openPostgres(dataDir)
    assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
    await stop()
  })

  test('when the server is killed its owner notices it, and the next start recovers although an old statement still runs', async () => {
    const first = await openPostgres(dataDir, { settings: {} })
    await queryOnce(first.connection, 'create table if not exists bed as select 7 as number')
    const straggler = await startStatement(
      first.connection,
      'select count(*) from generate_series(1, 1e5) a, generate_series(1, 1e5) b',
    )
    process.kill(postmasterPid(dataDir).pid, 'SIGKILL')
    assert.match((await first.waitForMessage('lost')).message, /has ended unexpectedly/)
    await first.kill()
    assert.ok(fs.existsSync(join(dataDir, 'postgres/run/.s.PGSQL.5432.lock')))
    const cluster = join(dataDir, 'postgres')
    assert.equal(isServerFor(straggler.pid, cluster), true)

    const second = await openPostgres(dataDir, { settings: {} })
    await straggler.exit
    assert.equal(isServerFor(straggler.pid, cluster), false)
    assert.deepEqual(await queryOnce(second.connection, 'select number from bed'), { number: 7 })
    await second.stop()
  })

  test('when one connection crashes the server, its owner stays owner, and the log does not contain the statement', async () => {
    const owner = await openPostgres(dataDir)
    const victim = await startStatement(owner.connection, `select pg_sleep(60), 'zzsecret'`)
    process.kill(victim.pid, 'SIGKILL')
    await victim.exit
    await owner.waitForMessage('log')
    const holders = `select count(*)::int as holders from pg_locks where locktype = 'advisory' and granted`
    assert.deepEqual(await queryOnce(owner.connection, holders), { holders: 1 })
    await owner.stop()
    const log = fs.readFileSync(join(dataDir, 'postgres.log'), 'utf8')
    assert.match(log, /was terminated by signal 9/)
    assert.doesNotMatch(log, /zzsecret|pg_sleep/)
  })

  test('ignores a stale pid file that names an unrelated process', async () => {
    const otherCluster = await openPostgres(other)
    const file = join(dataDir, 'postgres/postmaster.pid')
    const run = join(dataDir, 'postgres/run')
    const rest = `${join(dataDir, 'postgres')}\n1700000000\n5432\n${run}\n\n  1234567         1\nready   \n`
    for (const pid of [process.pid, postmasterPid(other).pid, '']) {
      fs.writeFileSync(file, `${pid}\n${rest}`)
      fs.writeFileSync(join(run, '.s.PGSQL.5432.lock'), `${process.pid}\n${rest}`)
      await openAndStop(dataDir)
    }
    fs.writeFileSync(file, '')
    await openAndStop(dataDir)
    assert.deepEqual(await queryOnce(otherCluster.connection, 'select 1 as one'), { one: 1 })
    assert.equal(postmasterPid(other).isAlive(), true)
    await otherCluster.stop()
  })
})

describe('embedded PostgreSQL with an unresponsive server', { concurrency: 2 }, () => {
  const [dataDir, other] = [pathOf('data'), pathOf('other')]

  test('an orphan that does not respond is stopped and replaced', async () => {
    const first = await openPostgres(dataDir)
    const server = postmasterPid(dataDir)
    process.kill(server.pid, 'SIGSTOP')
    await first.kill()
    const { connection, stop } = await openPostgres(dataDir)
    assert.equal(server.isAlive(), false)
    assert.deepEqual(await queryOnce(connection, 'select 1 as one'), { one: 1 })
    await stop()
  })

  test('a server whose ownership is held beyond the reach of file locks is not disturbed', async () => {
    const first = await openPostgres(other)
    await first.kill()
    const remote = new pg.Client({ ...first.connection, application_name: 'drawbridge 4242' })
    await remote.connect()
    await waitUntil(async () => (await remote.query('select pg_try_advisory_lock($1, 1) as mine', [0x64726177])).rows[0]?.mine)
    const { name, message } = await failure(other)
    assert.deepEqual([name, message.includes('(process 4242)')], ['DataDirInUse', true])
    const guest = await openPostgres(other, { ownership: 'if-free' })
    assert.equal(guest.owner, false)
    await guest.stop()
    assert.equal(postmasterPid(other).isAlive(), true)
    await remote.end()
  })
})
