// Builds `dist/`, the program as a package holds it: Node strips no types of files below `node_modules`. `npm pack` runs it before, and
// removes `dist/` afterwards. With `--without-types`, as for an image that nobody imports from, it needs no packages for development.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const TARGET = 'dist'
/** Beside the sources: what they read. */
const FILES = ['package.json', 'migrations', 'docs']

/** Relative imports, and the files of threads: `./x.ts` is `./x.js` there. */
const toJavaScript = (text: string): string =>
  text
    .replace(/((?:from|import) |import\()'(\.{1,2}\/[^']*)\.ts'/g, "$1'$2.js'")
    .replace(/new URL\('([^']*)\.ts', import\.meta\.url\)/g, "new URL('$1.js', import.meta.url)")

rmSync(TARGET, { recursive: true, force: true })
for (const file of FILES) cpSync(file, join(TARGET, file), { recursive: true })
for (const file of globSync('src/**/*', { withFileTypes: true })) {
  if (!file.isFile() || file.name.endsWith('.test.ts')) continue
  const path = join(file.parentPath, file.name)
  const target = join(TARGET, path)
  mkdirSync(dirname(target), { recursive: true })
  if (file.name.endsWith('.ts')) {
    const text = readFileSync(path, 'utf8')
    writeFileSync(target.replace(/\.ts$/, '.js'), toJavaScript(stripTypeScriptTypes(text, { mode: 'strip' })))
  } else if (file.name.endsWith('.js')) writeFileSync(target, toJavaScript(readFileSync(path, 'utf8')))
  else cpSync(path, target)
}

/** The types of what others import, `exports` in package.json. `npm run check` finds their errors. */
const TSC =
  'node_modules/typescript/bin/tsc --ignoreConfig --noCheck --declaration --emitDeclarationOnly --allowImportingTsExtensions'
const OPTIONS = `--target es2022 --module nodenext --types node --rootDir src --outDir ${TARGET}/src src/testing/index.ts`
if (!process.argv.includes('--without-types')) {
  execFileSync(process.execPath, `${TSC} ${OPTIONS}`.split(' '), { stdio: 'inherit' })
  for (const file of globSync(join(TARGET, 'src/testing/*.d.ts'))) writeFileSync(file, toJavaScript(readFileSync(file, 'utf8')))
}
