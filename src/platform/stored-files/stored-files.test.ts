// Stored files: what is kept, what is deleted and when, in each storage, and what happens when a storage fails.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { cells } from '../../../test/support/server.ts'
import { s3Server } from '../../../test/support/s3-server.ts'
import { sql } from '../db/sql.ts'
import type { StorageKind } from './file-storage.ts'
import { openStorages } from './open-storages.ts'
import { deleteFilesAfter, findFiles, keepFiles, StoredFiles } from './stored-files.ts'

const db = cells.db('sandbox-us')
const report_folder = await mkdtemp(join(tmpdir(), 'stored-files-'))
after(() => rm(report_folder, { recursive: true }))
const peer = await s3Server()
const { url: endpoint, ...keys } = peer
const storages = openStorages({
  report_storage: 'disk',
  report_folder,
  s3: { ...keys, endpoint, prefix: 'files/', virtual_hosts: false },
})
const filesIn = (kind: StorageKind) => new StoredFiles({ kind: () => kind, storages: () => storages })
const text = (value: string) => Buffer.from(value)
const listFound = (set_id: string, ...names: string[]) => db.plainTx((tx) => findFiles(tx, set_id, names))
const readBytes = async (files: StoredFiles, set_id: string, name: string) => {
  const [file] = await listFound(set_id, name)
  return file && files.read(file)
}
/** Deletes everything that is due. */
async function cleanUp(files: StoredFiles): Promise<void> {
  while ((await files.cleanup.overdueFor(db, cells.control)) !== undefined)
    if (!(await files.cleanup.remove(db, cells.control, () => false))) return
}
async function storeFiles(files: StoredFiles, ...names: string[]): Promise<string> {
  const set_id = randomUUID()
  const all = names.map((name) => ({ name, bytes: text(`bytes of ${name}`) }))
  await db.plainTx((tx) => files.reserve(tx, set_id, all))
  await files.write(set_id, all)
  return set_id
}

describe('stored files', () => {
  for (const kind of ['disk', 's3', 'database'] as const)
    test(`in the storage "${kind}" are kept until their time is set, and then deleted with their rows`, async () => {
      const files = filesIn(kind)
      const set_id = await storeFiles(files, 'file-0', 'file-1')
      assert.equal(await db.plainTx((tx) => keepFiles(tx, set_id)), 2)
      await cleanUp(files)
      // Another setting for new files changes nothing of those that there are.
      assert.deepEqual(await readBytes(filesIn('database'), set_id, 'file-1'), text('bytes of file-1'))
      assert.equal(await readBytes(files, set_id, 'file-2'), undefined)
      await db.plainTx((tx) => deleteFilesAfter(tx, [set_id], 3600))
      await cleanUp(files)
      assert.equal((await listFound(set_id, 'file-0', 'file-1')).length, 2)
      const [file] = await listFound(set_id, 'file-0')
      await db.plainTx((tx) => deleteFilesAfter(tx, [set_id], 0))
      await cleanUp(files)
      assert.deepEqual(await listFound(set_id, 'file-0', 'file-1'), [])
      if (kind !== 'database') assert.equal(await files.read(file!), undefined)
    })

  test('that no one keeps are deleted after an hour', async () => {
    const files = filesIn('disk')
    const set_id = await storeFiles(files, 'file-0')
    await cleanUp(files)
    assert.equal((await listFound(set_id, 'file-0')).length, 1)
    await db.queries.run(sql`update stored_file set delete_at = delete_at - interval '1 hour 1 second' where set_id = ${set_id}`)
    await cleanUp(files)
    assert.deepEqual(await listFound(set_id, 'file-0'), [])
    assert.equal(await storages.disk!.get(`${set_id}/file-0`), undefined)
  })

  test('whose storage fails keep their rows and are deleted later; others are deleted at once', async () => {
    const [onDisk, inStore] = [filesIn('disk'), filesIn('s3')]
    const [one, other] = [await storeFiles(inStore, 'file-0'), await storeFiles(onDisk, 'file-0')]
    await db.plainTx((tx) => deleteFilesAfter(tx, [one, other], 0))
    peer.next.push(503)
    await assert.rejects(
      inStore.cleanup.remove(db, cells.control, () => false),
      /^StorageUnavailable: DELETE was answered 503/,
    )
    assert.deepEqual(await listFound(other, 'file-0'), [])
    assert.equal(peer.objects.has(`files/${one}/file-0`), true)
    // Another worker leaves it alone for ten minutes.
    assert.equal(await inStore.cleanup.overdueFor(db, cells.control), undefined)
    await db.plainTx((tx) => deleteFilesAfter(tx, [one], 0))
    await cleanUp(inStore)
    assert.deepEqual([await listFound(one, 'file-0'), peer.objects.has(`files/${one}/file-0`)], [[], false])
  })

  test('in a storage that the process has no settings of are neither read nor deleted, and the error says so', async () => {
    const set_id = await storeFiles(filesIn('s3'), 'file-0')
    const without = new StoredFiles({ kind: () => 'disk', storages: () => ({ disk: storages.disk! }) })
    const [file] = await listFound(set_id, 'file-0')
    await assert.rejects(without.read(file!), /the storage "s3", which this process has no settings of/)
    await db.plainTx((tx) => deleteFilesAfter(tx, [set_id], 0))
    await assert.rejects(
      without.cleanup.remove(db, cells.control, () => false),
      /has no settings of/,
    )
    assert.equal((await listFound(set_id, 'file-0')).length, 1)
  })
})
