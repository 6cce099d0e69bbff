/**
 * The embedded PostgreSQL: one server and one owning process for a data folder. Opening it again works after any process was killed; a
 * server that another Drawbridge owns is never disturbed. The owner holds two locks while it runs: an exclusive lock on
 * `<dataDir>/server.lock`, without which no process touches files or processes, and an advisory lock in the database. The operating system
 * and PostgreSQL release them when the owner ends.
 */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { findServerAccount, errorCode, findBinaries } from './account.ts'
import * as cluster from './cluster.ts'
import * as postmaster from './postmaster.ts'
import { terminateOrphans, isServerFor, type Running } from './processes.ts'

export interface Embedded {
  /** pg settings of the application's role, which is not a superuser */
  connection: cluster.Connection
  /** this process started or took over the server and must stop it */
  owner: boolean
  /** owner: fast shutdown, waits until the server has ended, releases the folder; otherwise only disconnects */
  stop(): Promise<void>
  /** resolves with a sentence if the database becomes unavailable while we own or use it */
  connectionLost: Promise<string>
}

export interface EmbeddedOptions {
  dataDir: string
  /** `required`: fail unless this process becomes the owner; `if-free`: use another process's server if there is one */
  ownership: 'required' | 'if-free'
  log: (message: string) => void
  /** PostgreSQL settings that extend or replace ours */
  settings?: Record<string, string>
}

export class DataDirInUse extends Error {
  override name = 'DataDirInUse'
}

interface Server extends Running {
  client: pg.Client
  connection: cluster.Connection
}

/** Two keys: their space is separate from that of advisory locks with one key. */
const ownershipLockKeys = [0x64726177, 1]
const takeLock = 'select pg_try_advisory_lock($1, $2) as mine'
const lockHolder = `select application_name as holder from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and classid = $1::int::oid and objid = $2::int::oid and objsubid = 2`

const sqliteBusy = 5
const sqliteFull = 13
const application = `drawbridge ${process.pid}`
const lockWait_ms = 2_000
const attachWait_ms = 60_000
const startRetry_ms = 10_000
const responseTimeout_ms = 3_000
const startResponseTimeout_ms = 30_000
const reconnectTimeout_ms = 10_000
const roomRetry_ms = 1_000
const orphanShutdown_ms = 10_000
const shutdown_ms = 30_000

/**
 * Opens the embedded PostgreSQL; creates the data folder and the cluster if there are none. Errors: DataDirInUse; no binaries for this
 * platform, folder not writable, other major version, no usable account, a server that does not start: each a plain Error whose sentence
 * says what to do.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const binaries = findBinaries()
  const account = findServerAccount(cluster.clusterFolder(options.dataDir))
  const dataDir = cluster.prepareDataDir(options.dataDir, account)
  const required = options.ownership === 'required'
  for (const until = performance.now() + (required ? lockWait_ms : attachWait_ms); ; await sleep(20)) {
    const lock = tryLock(dataDir)
    if (lock) {
      try {
        return await takeOwnership(cluster.locateCluster(dataDir, binaries, account), lock, options)
      } catch (error) {
        lock.close()
        throw error
      }
    }
    const other = required ? undefined : await attach(dataDir, options.log)
    if (other) return other
    if (performance.now() > until) throw inUse(dataDir, ownerOf(dataDir), required ? '' : ', whose PostgreSQL does not answer')
  }
}

/**
 * Deletes the cluster of a data folder; the next opening creates a new one. Errors: DataDirInUse; the folder cannot be locked or deleted.
 */
export async function removeCluster(dataDir: string): Promise<void> {
  const lock = tryLock(dataDir)
  if (!lock) throw inUse(dataDir, ownerOf(dataDir))
  try {
    const folder = cluster.clusterFolder(dataDir)
    const { pid = 0 } = postmaster.readPidFile(folder) ?? {}
    // What a killed predecessor left running.
    const isAlive = () => isServerFor(Math.abs(pid), folder)
    if (isAlive()) await postmaster.stopPostmaster({ pid: Math.abs(pid), isAlive }, orphanShutdown_ms)
    await terminateOrphans(folder)
    // The next opening removes what an interrupted deletion leaves of it.
    const removed = join(dataDir, `postgres.init-removed-${process.pid}`)
    fs.renameSync(folder, removed)
    fs.rmSync(removed, { recursive: true, force: true, maxRetries: 5 })
  } finally {
    lock.close()
  }
}

function inUse(dataDir: string, owner: string, advice = ''): DataDirInUse {
  return new DataDirInUse(`The data folder ${dataDir} is in use by another Drawbridge (process ${owner})${advice}.`)
}

const ownerFile = (dataDir: string) => join(dataDir, 'server.pid')

function ownerOf(dataDir: string): string {
  return fs.existsSync(ownerFile(dataDir)) ? fs.readFileSync(ownerFile(dataDir), 'utf8').trim() : 'unknown'
}

/** Node has no file locks; an exclusive transaction of SQLite is one, and ends with the process in every case. */
function tryLock(dataDir: string): DatabaseSync | undefined {
  const file = join(dataDir, 'server.lock')
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock?.close()
    const { errcode, message } = error as { errcode?: number; message: string }
    if (errcode === sqliteBusy) return undefined
    if (errcode === sqliteFull) throw new Error(`The file ${file} cannot be locked, since its disk is full: make room there.`)
    throw new Error(`The file ${file} cannot be locked (${message}): start as the account that owns it, or set DATA_DIR.`)
  }
}

async function attach(dataDir: string, log: (message: string) => void): Promise<Embedded | undefined> {
  const folder = cluster.clusterFolder(dataDir)
  const running = postmaster.readPidFile(folder)
  const connection = running?.socketFolder ? cluster.connectionFor(dataDir, running.socketFolder) : undefined
  if (!running || !connection) return undefined
  try {
    const client = await postmaster.tryConnect(connection, application)
    const { pid } = running
    const seen = isServerFor(pid, folder)
    const isAlive = () => !seen || isServerFor(pid, folder)
    return watchServer({ pid, isAlive, client, connection }, dataDir, undefined, log)
  } catch (error) {
    if (postmaster.isServerRefusal(error)) throw toStartError(dataDir, error)
    return undefined
  }
}

function toStartError(dataDir: string, error: unknown): Error {
  const code = errorCode(error)
  const file = cluster.passwordFile(dataDir)
  const advice = code.startsWith('28') ? `: restore the correct ${file}, or delete it to have a new one created` : ''
  return new Error(`PostgreSQL on ${dataDir} rejected the connection (SQLSTATE ${code})${advice}.`)
}

async function takeOwnership(home: cluster.ClusterHome, lock: DatabaseSync, options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir } = home
  fs.rmSync(ownerFile(dataDir), { force: true })
  fs.writeFileSync(ownerFile(dataDir), `${process.pid}\n`)
  const server = await serve(home, options)
  try {
    if (server.pid !== undefined && (await claimDataDir(server.client))) return watchServer(server, dataDir, lock, options.log)
  } catch (error) {
    await postmaster.stopPostmaster(server, shutdown_ms)
    throw new Error(
      `Lost the connection to PostgreSQL on ${dataDir} during startup (${errorCode(error)}): see postgres.log there.`,
    )
  }

  // The file lock did not exclude the other process: it runs on another machine or in another container.
  const { rows } = await server.client.query<{ holder: string }>(lockHolder, ownershipLockKeys)
  if (options.ownership === 'if-free') {
    lock.close()
    return watchServer(server, dataDir, undefined, options.log)
  }
  await server.client.end()
  throw inUse(dataDir, rows[0]?.holder.split(' ').at(-1) ?? 'unknown')
}

/** PostgreSQL releases the lock of a killed predecessor when its server process notices. */
async function claimDataDir(client: pg.Client): Promise<boolean> {
  for (const until = performance.now() + lockWait_ms; ; await sleep(50)) {
    const { rows } = await client.query<{ mine: boolean }>(takeLock, ownershipLockKeys)
    if (rows[0]?.mine) return true
    if (performance.now() > until) return false
  }
}

async function serve(home: cluster.ClusterHome, options: EmbeddedOptions): Promise<Server> {
  await cluster.prepareCluster(home)
  const logFile = join(home.dataDir, 'postgres.log')
  for (const until = performance.now() + startRetry_ms; ; await sleep(200)) {
    const server = (await adoptRunningServer(home, options.log)) ?? (await start(home, logFile, options))
    if (typeof server !== 'string') return server
    // A server that a predecessor started just before it was killed was faster than ours, or an old one has not quite ended.
    const passing = /already exists|still in use/.test(server) && performance.now() < until
    if (!passing) throw new Error(`PostgreSQL failed to start: ${server} (see ${logFile}).`)
  }
}

/** Returns the server that a killed predecessor left running. Undefined: there is none, so a new one can be started. */
async function adoptRunningServer(
  { dataDir, binaries }: cluster.ClusterHome,
  log: (message: string) => void,
): Promise<Server | undefined> {
  const folder = cluster.clusterFolder(dataDir)
  const left = postmaster.readPidFile(folder)
  const connection = left && cluster.connectionFor(dataDir, left.socketFolder || cluster.socketFolder(dataDir))
  if (left && isServerFor(Math.abs(left.pid), folder)) {
    const { pid } = left
    if (pid < 0) throw new Error(`A single-user PostgreSQL (process ${-pid}) is using ${folder}: stop it first.`)
    const server = { pid, isAlive: () => isServerFor(pid, folder) }
    const client = connection && (await connectToServer(dataDir, connection, server, responseTimeout_ms))
    if (connection && client && typeof client !== 'string') {
      const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`)
      if (rows[0]?.version === binaries.version) {
        log(`adopting the PostgreSQL left running by a killed Drawbridge (process ${pid})`)
        return { ...server, client, connection }
      }
    }
    log(`stopping the unresponsive PostgreSQL left running by a killed Drawbridge (process ${pid})`)
    await postmaster.stopPostmaster(server, orphanShutdown_ms)
  } else if (left) {
    // It may run where we cannot see its process.
    const client = connection && (await postmaster.tryConnect(connection, application).catch(() => undefined))
    if (client) return { client, connection, pid: undefined, isAlive: () => true }
    postmaster.removeStalePidFile(folder, Math.abs(left.pid))
  }
  await terminateOrphans(folder)
  return undefined
}

async function connectToServer(dataDir: string, connection: cluster.Connection, server: Running, timeout_ms: number) {
  try {
    return await postmaster.waitUntilReady(connection, application, server, timeout_ms)
  } catch (error) {
    throw toStartError(dataDir, error)
  }
}

/** A new server, or the reason why there is none. */
async function start(home: cluster.ClusterHome, logFile: string, options: EmbeddedOptions): Promise<Server | string> {
  const host = cluster.socketFolder(home.dataDir)
  if (!cluster.connectionFor(home.dataDir, host)) await cluster.renewPassword(home)
  const connection = cluster.connectionFor(home.dataDir, host)
  if (!connection) return 'there is no password for it'
  cluster.prepareSocketFolder(host, home.account)
  const logged_bytes = postmaster.rotateLog(logFile)
  const server = postmaster.startPostmaster(home, connection, logFile, options.settings ?? {})
  try {
    const client = await connectToServer(home.dataDir, connection, server, startResponseTimeout_ms)
    if (typeof client !== 'string') return { ...server, client, connection }
  } catch (error) {
    await postmaster.stopPostmaster(server, shutdown_ms)
    throw error
  }
  // Read before stopping, which may fail for a reason of its own.
  const failure = postmaster.lastFailure(logFile, logged_bytes)
  await postmaster.stopPostmaster(server, shutdown_ms)
  return failure
}

/** Watches the server through the connection that holds the ownership; reconnects if only that connection was lost. */
function watchServer(server: Server, dataDir: string, lock: DatabaseSync | undefined, log: (message: string) => void): Embedded {
  const { connection } = server
  const onLost = Promise.withResolvers<string>()
  let client = server.client
  let stopping: Promise<void> | undefined

  const watch = () => client.once('end', () => void reconnect().then((loss) => loss && !stopping && onLost.resolve(loss)))
  async function reconnect(): Promise<string | undefined> {
    try {
      const awaited = { ...server, isAlive: () => !stopping && server.isAlive() }
      let answer = await connectToServer(dataDir, connection, awaited, reconnectTimeout_ms)
      // Existing connections still work, and disk space may become free again.
      for (; answer === 'full'; answer = await connectToServer(dataDir, connection, awaited, reconnectTimeout_ms))
        await sleep(roomRetry_ms)
      if (answer === 'gone') return `PostgreSQL on ${dataDir} has ended unexpectedly.`
      if (answer === 'silent') return `PostgreSQL on ${dataDir} no longer answers.`
      client = answer
      if (stopping) return void client.end()
      if (lock && !(await claimDataDir(client))) return `Another Drawbridge has taken ${dataDir} over.`
      watch()
      log('reconnected to PostgreSQL after it closed the connection')
      return undefined
    } catch (error) {
      return `PostgreSQL on ${dataDir} was lost (${errorCode(error)}).`
    }
  }
  async function releaseServer(): Promise<void> {
    try {
      if (lock) await postmaster.stopPostmaster(server, shutdown_ms)
      await client.end()
    } finally {
      if (lock) fs.rmSync(ownerFile(dataDir), { force: true })
      lock?.close()
    }
  }
  watch()
  return { connection, owner: lock !== undefined, connectionLost: onLost.promise, stop: () => (stopping ??= releaseServer()) }
}
