// The program and typebox in few files, for the programs and processes of a run: loading 750 sources and 370 files of typebox costs each of
// them half a second of a processor. The sources see their own addresses, so that what they read beside themselves, and their worker
// threads, are the same. `relative-imports.js` has both loaded.
import { build, stop, type BuildOptions, type Plugin } from 'esbuild'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = new URL('../../node_modules/.cache/drawbridge-tests/', import.meta.url)

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

/** Writes the files of a bundle again. @returns the address of their folder */
async function bundle(name: string, options: BuildOptions): Promise<string> {
  const folder = new URL(`${name}/`, cache)
  rmSync(folder, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    outdir: fileURLToPath(folder),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
  })
  await stop()
  return folder.href
}

/** What `src/cli/entry.js` imports. */
export const bundleProgram = (): Promise<string> =>
  bundle('program', { entryPoints: ['src/cli/main.ts', 'src/cli/commands/start.ts'], outbase: 'src', plugins: [plugin] })

/** What sources and tests import of typebox. */
export const bundleTypebox = (): Promise<string> =>
  bundle('typebox', {
    entryPoints: ['typebox', 'typebox/schema', 'typebox/value'].map((name) => ({ in: name, out: name })),
  })
