// The run of the suite itself: what `npm test -- --grep` answers.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-run-test-'))
// PostgreSQL's account has to pass.
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true }))

/** A run with a database of its own. */
function runTests(...args: string[]): Promise<{ code: unknown; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, ['test/run.ts', ...args], { env: { ...env, TMPDIR: folder }, timeout: 120_000 }, (error, output) =>
      resolve({ code: error?.code ?? 0, output }),
    )
  })
}

test('a run without a title that matches the pattern fails with an error message', async () => {
  const none = await runTests('--grep', 'no such title', 'src/platform/net/network.test.ts')
  assert.equal(none.code, 1, none.output)
  assert.match(none.output, /No test was run: none has a title that matches \/no such title\//)
})
