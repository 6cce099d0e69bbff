import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DiskStorage } from './disk-storage.ts'
import { StorageUnavailable } from './file-storage.ts'

const folder = await mkdtemp(join(tmpdir(), 'stored-files-'))
after(() => rm(folder, { recursive: true }))

test('files are written whole, replaced, read and deleted, and unfinished files leave nothing', async () => {
  const storage = new DiskStorage(join(folder, 'new'))
  assert.equal(await storage.get('a/file-1'), undefined)
  await storage.put('a/file-1', Buffer.from('earlier'))
  await storage.put('a/file-1', Buffer.from('text'))
  await storage.put('a/file-10', Buffer.from('other'))
  assert.deepEqual(await storage.get('a/file-1'), Buffer.from('text'))
  assert.deepEqual(await readdir(join(folder, 'new/a')), ['file-1', 'file-10'])
  // What a process leaves that is killed while it writes.
  await writeFile(join(folder, 'new/a/file-1.tmp-of-a-killed-process'), 'te')
  await storage.remove('a/file-1')
  assert.deepEqual(await readdir(join(folder, 'new/a')), ['file-10'])
  await storage.remove('a/file-10')
  await storage.remove('a/file-10')
  assert.deepEqual(await readdir(join(folder, 'new')), [])
})

test('files and folders are closed to other accounts', async () => {
  const storage = new DiskStorage(join(folder, 'closed'))
  await storage.put('a/file-0', Buffer.from('text'))
  const modes = await Promise.all(
    ['', 'a', 'a/file-0'].map(async (path) => (await stat(join(folder, 'closed', path))).mode & 0o777),
  )
  assert.deepEqual(modes, [0o700, 0o700, 0o600])
})

test('a folder that cannot be used is an error that names it and holds no bytes', async () => {
  const path = join(folder, 'file')
  await writeFile(path, '')
  const storage = new DiskStorage(path)
  const text = new RegExp(`^a file could not be \\w+ in ${path} \\(E\\w+\\)$`)
  for (const work of [() => storage.put('a/1', Buffer.from('secret')), () => storage.remove('a/1'), () => storage.get('a/1')])
    await assert.rejects(work, (error) => error instanceof StorageUnavailable && text.test(error.message))
})
