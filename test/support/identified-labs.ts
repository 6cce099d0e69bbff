// Gives the laboratories of a program's production cells an identity, as an operator does before the first order.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { labRows } from '../../src/lab/catalog/data-files.ts'
import { testIdentity } from './lab-identities.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Imports a catalog file with an identity for every laboratory. A server on the database may keep running. @param env its settings */
export async function identifyLabs(env: Record<string, string | undefined>, cells: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'identities-'))
  try {
    const file = join(folder, 'labs.json')
    const labs = labRows().map((lab) => ({ ...lab, ...testIdentity(lab.slug) }))
    writeFileSync(file, JSON.stringify({ format: 'drawbridge-catalog-1', labs }))
    for (const cell of cells)
      await run(process.execPath, ['src/cli/entry.js', 'catalog', 'import', file, '--cell', cell], {
        cwd: root,
        env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...env },
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
