// Where the database of the tests lives and how it runs.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const testDataDir = join(tmpdir(), `drawbridge-tests-${process.getuid?.() ?? 0}`)

/**
 * For tests only: a crash of the machine may lose their databases. None lives long enough to be vacuumed, and one that is being vacuumed
 * cannot be dropped by us.
 */
export const testSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  autovacuum: 'off',
}
