// Removes from installed packages what no program reads: source maps, the header files of Node, and the builds of onnxruntime-web for browsers.
// npm runs it after an installation in this folder, whichever Node there is. With `--image`, as for Dockerfile: also Node, since an image has
// its own, and type declarations, which editors and checks read elsewhere.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({ options: { image: { type: 'boolean', default: false } }, allowPositionals: true })
const [folder] = positionals
if (folder === undefined) throw new Error('usage: node scripts/trim-packages.mjs [--image] FOLDER/node_modules')

/** What is imported from the folder of onnxruntime-web. A release of the package that has other names ends the installation here. */
const BUILDS = 'onnxruntime-web/dist/'
const IMPORTED = ['ort.wasm.bundle.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'].map(
  (name) => BUILDS + name,
)
const missing = existsSync(join(folder, BUILDS)) ? IMPORTED.filter((path) => !existsSync(join(folder, path))) : []
if (missing.length) throw new Error(`${missing.join(', ')} of ${folder} is missing`)

const NEVER_READ = [/\.[cm]?js\.map$/, /^node-[^/]+\/include\//, new RegExp(`^${BUILDS}`)]
const NOT_IN_IMAGES = [/\.d\.[cm]?ts(?:\.map)?$/, /^\.cache\//, /^\.bin\/node$/, /^node-(?:bin-|linux-|darwin-)/]
const patterns = values.image ? [...NEVER_READ, ...NOT_IN_IMAGES] : NEVER_READ

let removed = 0
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isDirectory()) continue
  const path = join(entry.parentPath ?? entry.path, entry.name)
  const name = path.slice(join(folder, '/').length).replaceAll(sep, '/')
  if (IMPORTED.includes(name) || !patterns.some((pattern) => pattern.test(name))) continue
  rmSync(path, { force: true })
  removed++
}
process.stdout.write(`removed ${removed} files that no program reads from ${folder}\n`)
