/**
 * The server process of the embedded PostgreSQL: its settings and its log; start it, wait until it responds, stop it. This file never
 * decides who owns the server.
 */
import { type ChildProcess, type StdioOptions } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { environment, errorCode } from './account.ts'
import { clusterFolder, type Connection, type ClusterHome } from './cluster.ts'
import { terminate, processExists, type Running } from './processes.ts'

const pollInterval_ms = 10
/** A server that has recovered from a crash writes a file before it accepts the first connection. */
const DISK_FULL = '53100'
const connect_ms_max = 3_000
/** Replaying the log after a crash may take long, but it ends. */
const recovery_ms_max = 600_000
const logSize_bytes_max = 5_000_000

/**
 * PostgreSQL logs events of the server, but no errors, statements, parameters and details of sessions, because they contain data. A dead
 * client's statement ends soon, so that it does not block the next start.
 */
const defaults: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '150',
  jit: 'off',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_level: 'replica',
  max_wal_size: '1GB',
  checkpoint_timeout: '5min',
  checkpoint_completion_target: '0.9',
  client_connection_check_interval: '2s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_duration: 'off',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_transaction_sample_rate: '0',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_lock_waits: 'off',
  log_checkpoints: 'off',
  log_connections: '',
  log_disconnections: 'off',
  log_temp_files: '-1',
  log_autovacuum_min_duration: '-1',
}

/** Starts a server that outlives us. It may still fail: see `lastFailure` if it is not alive. */
export function startPostmaster(
  { dataDir, binaries, run }: ClusterHome,
  connection: Connection,
  logFile: string,
  settings: Record<string, string>,
): Running {
  const socket = { listen_addresses: '', port: `${connection.port}`, unix_socket_directories: quoteSetting(connection.host) }
  const all = Object.entries({ ...defaults, ...settings, ...socket }).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const log = fs.openSync(logFile, 'a', 0o600)
  const stdio: StdioOptions = ['ignore', log, log]
  const args = ['-D', clusterFolder(dataDir), ...all]
  const child = run(binaries.postgres, args, { detached: true, stdio, cwd: '/', env: environment })
  fs.closeSync(log)
  child.once('error', (error) => fs.appendFileSync(logFile, `FATAL:  ${binaries.postgres} cannot be run (${errorCode(error)})\n`))
  child.unref()
  return { pid: child.pid, isAlive: () => isRunning(child) }
}

const isRunning = (child: ChildProcess) => child.pid !== undefined && child.exitCode === null && child.signalCode === null

/** A path as one member of a list setting. */
const quoteSetting = (path: string) => `"${path.replaceAll('"', '""')}"`

/** Renames a log that has become too long; returns the size of the remaining one. */
export function rotateLog(logFile: string): number {
  const size = fs.statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (size <= logSize_bytes_max) return size
  fs.renameSync(logFile, `${logFile}.1`)
  return 0
}

/** The server's message for clients that connect while it starts or ends. */
const NOT_YET = /FATAL: +the database system is /

/** The reason why the server failed: its last error after `offset_bytes` of the log, which a full disk may have cut off. */
export function lastFailure(logFile: string, offset_bytes: number): string {
  const added = fs.readFileSync(logFile).subarray(offset_bytes).toString()
  const complaint = added.split('\n').findLast((line) => /(FATAL|PANIC):/.test(line) && !NOT_YET.test(line))
  const reason = complaint?.replace(/^.*?(FATAL|PANIC):\s*/, '') ?? 'it gave no reason'
  const cut_off = added !== '' && !added.endsWith('\n')
  return cut_off ? `${reason}... (the log ends in the middle of a line: is its disk full?)` : reason
}

/** The contents of the postmaster's pid file on this folder; it may be dead. A negative pid is a stand-alone backend's. */
export function readPidFile(folder: string): { pid: number; socketFolder: string } | undefined {
  try {
    const lines = fs.readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number.parseInt(lines[0] ?? '', 10), socketFolder: lines[4] ?? '' }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Removes it only if it is malformed or names a live process of another kind: PostgreSQL checks dead ones itself, and more precisely. */
export function removeStalePidFile(folder: string, pid: number): void {
  if (!(pid > 0) || processExists(pid)) fs.rmSync(join(folder, 'postmaster.pid'), { force: true })
}

/** Fast shutdown, immediate shutdown, kill: the first for at most `timeout_ms`, the others for 5 s each. Errors: the server survives all three. */
export function stopPostmaster(server: Running, timeout_ms: number): Promise<void> {
  return terminate(server, [
    ['SIGINT', timeout_ms],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ])
}

/** One attempt; closes a client that it does not return. */
export async function tryConnect(connection: Connection, application: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    application_name: application,
    ssl: false,
    options: '-c idle_session_timeout=0 -c statement_timeout=0 -c transaction_timeout=0',
    connectionTimeoutMillis: connect_ms_max,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => {})
    throw error
  }
}

/** The server has responded and refuses permanently: it is neither starting nor stopping (class 57P), nor too busy (53). */
export function isServerRefusal(error: unknown): boolean {
  const code = errorCode(error)
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(57P|53)/.test(code)
}

/**
 * Connects as soon as the server accepts connections. `gone`: its process ended. `full`: it accepts no connection until its disk has room.
 * `silent`: no response for `silence_ms`, or it is not ready after ten minutes. Errors: it refuses us.
 */
export async function waitUntilReady(
  connection: Connection,
  application: string,
  server: Running,
  silence_ms: number,
): Promise<pg.Client | 'gone' | 'full' | 'silent'> {
  const start = performance.now()
  let heard = start
  while (performance.now() - heard < silence_ms && performance.now() - start < recovery_ms_max) {
    if (!server.isAlive()) return 'gone'
    try {
      return await tryConnect(connection, application)
    } catch (error) {
      if (isServerRefusal(error)) throw error
      if (errorCode(error) === DISK_FULL) return 'full'
      if (/^(57P|53)/.test(errorCode(error))) heard = performance.now()
    }
    await sleep(pollInterval_ms)
  }
  return 'silent'
}
