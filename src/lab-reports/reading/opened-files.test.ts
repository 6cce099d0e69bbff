import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../platform/runtime/problem.ts'
import { FileProcesses } from './opened-files.ts'

const tasks = new URL('../../../test/support/child-process-tasks.ts', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'opened-files-'))
after(() => rmSync(folder, { recursive: true }))
const reads = [fileURLToPath(new URL('./', tasks)), folder]

test('ten files of one team that take long delay no other team, and an eleventh gets 429', async () => {
  const processes = new FileProcesses({ reads })
  const path = join(folder, 'release')
  const slow = Array.from({ length: 10 }, () => processes.run<number>('slow', tasks, 'blockUntilExists', path))
  await assert.rejects(
    processes.run('slow', tasks, 'blockUntilExists', path),
    (error) => error instanceof Problem && error.status === 429,
  )
  assert.deepEqual(await processes.run('other', tasks, 'reverseBytes', Uint8Array.of(1, 2)), Uint8Array.of(2, 1))
  writeFileSync(path, '')
  assert.deepEqual(
    await Promise.all(slow),
    Array.from({ length: 10 }, () => 1),
  )
  await processes.close()
})

test('a file whose process gets no processor time is not reported as damaged: the answer is 503', async () => {
  const processes = new FileProcesses({ open_ms_max: 4_000, reads })
  await assert.rejects(
    processes.run('team', tasks, 'blockUntilExists', join(folder, 'never')),
    (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '5',
  )
  await processes.close()
})

test('a file that no process takes any more gets 503 with Retry-After', async () => {
  const processes = new FileProcesses()
  await processes.close()
  await assert.rejects(
    processes.run('team', tasks, 'blockUntilExists', folder),
    (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '2',
  )
})
