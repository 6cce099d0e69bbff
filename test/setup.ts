// Where the database of the tests lives and how it runs.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { renameSync } from 'node:fs'
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
  max_connections: '400',
  autovacuum: 'off',
}

/**
 * Has ext4 place each folder within this one apart from the others, as those at the top of a disk. Otherwise it makes files where some have
 * just been deleted, and looks at each such place for each new file: a copy of a cluster takes 0.9 s of a processor in place of 0.1. Without
 * `chattr`, or on another file system, nothing changes. The place depends on the name, which has to be another one each time.
 */
export const placeFoldersApart = (folder: string): void => void spawnSync('chattr', ['+T', folder], { stdio: 'ignore' })

/**
 * Takes a folder away at once, and has another process delete it that nobody waits for: a disk that discards blocks needs ten seconds for the
 * files of a cluster.
 */
export function removeLater(folder: string): void {
  const removed = `${folder}.removed-${randomUUID()}`
  renameSync(folder, removed)
  spawn('rm', ['-rf', removed], { detached: true, stdio: 'ignore' }).unref()
}
