// Builds the console, and `dist/`, the program as a package holds it. `npm pack` runs it before, and removes `dist/` afterwards. The client for tests is a
// package of its own (pack-testing.ts).
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withoutTypes } from './strip-types.ts'

const TARGET = 'dist'
/** Beside the sources: what they read. */
const FILES = ['package.json', 'migrations', 'docs', 'console/dist']

// The build of an image has the bundle from another stage, and no esbuild.
if (existsSync('console/build.ts')) execFileSync(process.execPath, ['console/build.ts', '--optional'], { stdio: 'inherit' })
if (!existsSync('console/dist/manifest.json')) throw new Error('the console has not been built: console/dist is missing')

rmSync(TARGET, { recursive: true, force: true })
for (const file of FILES) cpSync(file, join(TARGET, file), { recursive: true })
for (const file of globSync('src/**/*', { withFileTypes: true })) {
  const path = join(file.parentPath, file.name)
  if (!file.isFile() || path.endsWith('.test.ts') || path.startsWith('src/testing/')) continue
  const target = join(TARGET, path)
  mkdirSync(dirname(target), { recursive: true })
  if (/\.[jt]s$/.test(path)) writeFileSync(target.replace(/\.ts$/, '.js'), withoutTypes(path))
  else cpSync(path, target)
}
