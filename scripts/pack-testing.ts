// Makes `drawbridge-server-testing-VERSION.tgz` in the current folder: the client for tests of other programs (docs/TESTING.md), as JavaScript
// with types, without dependencies. Its version is that of the server.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { withoutTypes, withScriptNames } from './strip-types.ts'

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string; license: string }
const manifest = {
  name: '@drawbridge-server/testing',
  version,
  description: 'A team with its own data, key, events and clock for each test of a program that calls Drawbridge.',
  license,
  type: 'module',
  engines: { node: '>=20' },
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
}
/** `npm run check` finds the errors of the types. */
const TSC =
  'node_modules/typescript/bin/tsc --ignoreConfig --noCheck --declaration --emitDeclarationOnly --allowImportingTsExtensions --target es2022 --module nodenext --types node --rootDir src/testing'

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-testing-package-'))
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  for (const file of ['LICENSE', 'docs/TESTING.md']) cpSync(file, join(folder, basename(file).replace('TESTING', 'README')))
  for (const path of globSync('src/testing/*.ts').filter((name) => !name.endsWith('.test.ts')))
    writeFileSync(join(folder, basename(path).replace(/\.ts$/, '.js')), withoutTypes(path))
  execFileSync(process.execPath, [...TSC.split(' '), '--outDir', folder, 'src/testing/index.ts'], { stdio: 'inherit' })
  for (const path of globSync(join(folder, '*.d.ts'))) writeFileSync(path, withScriptNames(readFileSync(path, 'utf8')))
  execFileSync('npm', ['pack', folder, '--pack-destination', resolve('.')], { stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true })
}
