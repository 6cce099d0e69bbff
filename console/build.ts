// Builds the console into `console/dist/` in two seconds: JavaScript modules and one style sheet with hashed names, each also compressed, and
// the manifest that the server reads.
//   --watch     builds again after each change, without minifying
//   --optional  does nothing where esbuild is not installed, as in an installation without development packages
//   --types     writes the types of the API alone
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BuildOptions, BuildResult, Metafile, OutputFile } from 'esbuild'
import { writeApiTypes } from './api/generate-types.ts'

/** What the server needs to serve the bundle (src/platform/http/console-pages.ts). */
interface Manifest {
  /** The module that the page loads. */
  script: string
  style: string
  /** Modules that the first one imports statically: the page loads them at the same time. */
  imports: string[]
  /** Every file below `assets/`. */
  files: string[]
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const TARGET = join(FOLDER, 'dist')
const isWatching = process.argv.includes('--watch')

const OPTIONS = {
  absWorkingDir: FOLDER,
  entryPoints: { main: 'main.tsx' },
  outdir: TARGET,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17.2'],
  jsx: 'automatic',
  minify: !isWatching,
  sourcemap: isWatching ? 'inline' : false,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': isWatching ? '"development"' : '"production"' },
  metafile: true,
  write: false,
  logLevel: 'warning',
} satisfies BuildOptions

await main()

async function main(): Promise<void> {
  if (process.argv.includes('--types')) return writeApiTypes()
  if (process.argv.includes('--optional') && !isInstalled('esbuild'))
    return void process.stdout.write('the console is not built: esbuild is not installed\n')
  return build()
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

async function build(): Promise<void> {
  const esbuild = await import('esbuild')
  if (!isWatching) return writeBundle(await esbuild.build(OPTIONS))
  await writeApiTypes()
  const context = await esbuild.context({
    ...OPTIONS,
    plugins: [
      {
        name: 'write the bundle',
        setup: ({ onEnd }) =>
          onEnd(async (result) => {
            if (result.outputFiles) await writeBundle(result as BuildResult<typeof OPTIONS>)
          }),
      },
    ],
  })
  await context.watch()
}

/** Writes the bundle beside the one before and takes its place, so that a server never sees half of it. */
async function writeBundle({ outputFiles, metafile }: BuildResult<typeof OPTIONS>): Promise<void> {
  const { outputs } = metafile
  const [mainPath, main] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === 'main.tsx')!
  // The style sheet of the entry has those of the lazy modules too.
  const stylePath = main.cssBundle!
  const isServed = ({ path }: OutputFile): boolean => path.endsWith('.js') || basename(path) === basename(stylePath)
  const files = outputFiles.filter(isServed)
  const manifest: Manifest = {
    script: basename(mainPath),
    style: basename(stylePath),
    imports: staticImports(outputs, mainPath).map((path) => basename(path)),
    files: files.map(({ path }) => basename(path)),
  }
  const draft = `${TARGET}-${randomUUID()}`
  mkdirSync(join(draft, 'assets'), { recursive: true })
  await Promise.all(files.map(({ path, contents }) => writeCompressed(join(draft, 'assets', basename(path)), contents)))
  writeFileSync(join(draft, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`)
  replaceTarget(draft)
  process.stdout.write(`built the console: ${files.length} files\n`)
}

function replaceTarget(draft: string): void {
  const old = `${TARGET}-${randomUUID()}`
  if (existsSync(TARGET)) renameSync(TARGET, old)
  renameSync(draft, TARGET)
  rmSync(old, { recursive: true, force: true })
}

/** The modules that a module needs before it can run, without itself. */
function staticImports(outputs: Metafile['outputs'], entry: string): string[] {
  const paths = new Set([entry])
  for (const path of paths)
    for (const { kind, path: imported } of outputs[path]?.imports ?? []) if (kind === 'import-statement') paths.add(imported)
  paths.delete(entry)
  return [...paths]
}

async function writeCompressed(path: string, contents: Uint8Array): Promise<void> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: isWatching ? 1 : constants.BROTLI_MAX_QUALITY } }
  writeFileSync(path, contents)
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(contents, quality))
  writeFileSync(`${path}.gz`, await promisify(gzip)(contents))
}
