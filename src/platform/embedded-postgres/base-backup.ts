/**
 * Copies the cluster of a running embedded PostgreSQL as the archive that `pg_basebackup` gets: complete and consistent while others write.
 * PostgreSQL recovers from it when it first starts on it.
 */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import pg from 'pg'
import { clusterFolder, superuserConnection } from './cluster.ts'
import { errorCode } from './account.ts'
import { readPidFile } from './postmaster.ts'
import { systemNow } from '../runtime/clock.ts'

/** Write-ahead log that the copy needs is kept until the connection ends. */
const KEEP_LOG = 'CREATE_REPLICATION_SLOT drawbridge_backup TEMPORARY PHYSICAL (RESERVE_WAL true)'
const COPY = "BASE_BACKUP (LABEL 'drawbridge', CHECKPOINT 'fast', WAL true, MANIFEST 'no', PROGRESS false)"

/** The first byte of each part of the copy; other parts announce archives and progress. */
const ARCHIVE_DATA = 'd'.charCodeAt(0)

interface Connection {
  query(text: string): void
  stream: { pause(): void; resume(): void }
}

/** The command as node-postgres runs it: rows, then the archive in parts. node-postgres itself reads no archives. */
class BaseBackup {
  readonly archive: Readable
  #connection: Connection | undefined

  constructor() {
    this.archive = new Readable({ read: () => this.#connection?.stream.resume(), highWaterMark: 1 << 20 })
  }
  submit(connection: Connection): void {
    this.#connection = connection
    connection.query(COPY)
  }
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // node-postgres reuses the memory of a part.
    if (chunk[0] === ARCHIVE_DATA && !this.archive.push(Buffer.from(chunk.subarray(1)))) this.#connection!.stream.pause()
  }
  handleReadyForQuery(): void {
    if (!this.archive.destroyed) this.archive.push(null)
  }
  handleError(error: Error): void {
    this.archive.destroy(error)
  }
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
}

/**
 * Runs `take` on the archive (tar) of the cluster, and then disconnects.
 * @returns what `take` returns, and when the copy was complete
 * @throws Error if the server refuses, is busy with another backup, or ends
 */
export async function withBaseBackup<R>(
  dataDir: string,
  take: (archive: Readable) => Promise<R>,
): Promise<{ result: R; completed_at: Date }> {
  const host = readPidFile(clusterFolder(dataDir))?.socketFolder
  const connection = host === undefined ? undefined : superuserConnection(dataDir, host)
  if (!connection) throw new Error(`No PostgreSQL runs on ${dataDir}.`)
  const settings: pg.ClientConfig & { replication: string } = {
    ...connection,
    ssl: false,
    application_name: `drawbridge backup ${process.pid}`,
    replication: 'true',
  }
  const client = new pg.Client(settings)
  const backup = new BaseBackup()
  client.on('error', (error) => backup.archive.destroy(error))
  try {
    await client.connect()
    await client.query(KEEP_LOG)
    client.query(backup as never)
    const result = await take(backup.archive)
    if (!backup.archive.readableEnded) await once(backup.archive, 'end')
    return { result, completed_at: systemNow() }
  } catch (error) {
    if (errorCode(error) === '42710') throw new Error(`Another backup of ${dataDir} is being made.`)
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}
