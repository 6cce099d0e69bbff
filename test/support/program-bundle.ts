// The program and typebox in few files, for the programs and processes of a run: loading 750 sources and 370 files of typebox costs each of
// them half a second of a processor. The sources see their own addresses, so that what they read beside themselves, and their worker
// threads, are the same. `relative-imports.js` has both loaded.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, stop, type BuildOptions, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/drawbridge-tests/', import.meta.url))

const plugin: Plugin = {
  name: 'addresses of the sources',
  setup({ onLoad, onResolve }) {
    // Other packages are fewer files, or find files of their own beside themselves.
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^typebox(\/|$)/.test(path) ? undefined : { path, external: true },
    )
    onLoad({ filter: /\/src\/.*\.[jt]s$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined
      const address = JSON.stringify(pathToFileURL(path).href)
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', address)
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
}

/** A bundle that no run has used for so long is deleted. */
const UNUSED_MS = 86_400_000

/**
 * Writes the files of a bundle, if there are none of this content: runs that go on at the same time share them, since a test runs tests.
 * @returns the address of their folder
 */
async function bundle(name: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    outdir: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
    write: false,
  })
  await stop()
  const hash = createHash('sha256')
  for (const { path, contents } of outputFiles) hash.update(path).update(contents)
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(folder)) utimesSync(folder, new Date(), new Date())
  else {
    const draft = `${folder}.${process.pid}`
    for (const { path, contents } of outputFiles) {
      const file = join(draft, relative(root, path))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, contents)
    }
    try {
      renameSync(draft, folder)
    } catch {
      // Another run was faster.
      assert(existsSync(folder))
      rmSync(draft, { recursive: true })
    }
  }
  for (const other of readdirSync(cache).filter((file) => file.startsWith(`${name}-`)))
    if (statSync(join(cache, other)).mtimeMs < Date.now() - UNUSED_MS)
      rmSync(join(cache, other), { recursive: true, force: true })
  return pathToFileURL(`${folder}/`).href
}

/** What `src/cli/entry.js` imports. */
export const bundleProgram = (): Promise<string> =>
  bundle('program', { entryPoints: ['src/cli/main.ts', 'src/cli/commands/start.ts'], outbase: 'src', plugins: [plugin] })

/** What sources and tests import of typebox. */
export const bundleTypebox = (): Promise<string> =>
  bundle('typebox', {
    entryPoints: ['typebox', 'typebox/schema', 'typebox/value'].map((name) => ({ in: name, out: name })),
  })
