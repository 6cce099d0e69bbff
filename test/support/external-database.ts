// A database of its own for programs that are given DATABASE_URL, on the PostgreSQL of the tests.
import { randomUUID } from 'node:crypto'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import type { Connection } from '../../src/platform/embedded-postgres/cluster.ts'
import { onDatabase } from './program.ts'
import { testDataDir, testSettings } from '../setup.ts'

export interface ExternalDatabase {
  connection: Connection
  /** What programs are given as DATABASE_URL. */
  url: string
  /** To be called when no program uses it any more. */
  close(): Promise<void>
}

/** An empty database. */
export async function createExternalDatabase(): Promise<ExternalDatabase> {
  const server = await openEmbedded({ dataDir: testDataDir, ownership: 'if-free', log: () => {}, settings: testSettings })
  const database = `external_${process.pid}_${randomUUID().slice(0, 8)}`
  await onDatabase(server.connection, (client) => client.query(`create database ${database}`))
  const connection = { ...server.connection, database }
  const { user, password, host, port } = connection
  return {
    connection,
    url: `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    async close() {
      // In a run of many files the database goes with all others at the end (docs/decisions/tests.md).
      if (server.owner) await onDatabase(server.connection, (client) => client.query(`drop database ${database} with (force)`))
      await server.stop()
    },
  }
}
