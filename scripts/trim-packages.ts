// Removes from installed packages what the program never reads: the image of Dockerfile has a Node of its own and needs no source maps, no
// type declarations and one of the builds of onnxruntime-web. Only for a folder that is an image's: tests and editors read the rest.
import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { positionals } = parseArgs({ allowPositionals: true })
const [folder] = positionals
if (folder === undefined) throw new Error('usage: node scripts/trim-packages.ts FOLDER/node_modules')

const REMOVED = [
  '.cache',
  '.bin/node',
  'node-bin-*',
  'node-{linux,darwin}-*',
  '**/*.{js,mjs,cjs}.map',
  '**/*.d.{ts,mts,cts}',
  '**/*.d.{ts,mts,cts}.map',
  'onnxruntime-web/dist/*',
]
/** What is imported from folders of which most is removed. A release of the package that has other names ends the build here. */
const KEPT = ['ort.wasm.bundle.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'].map((name) =>
  join('onnxruntime-web/dist', name),
)

const missing = KEPT.filter((path) => !existsSync(join(folder, path)))
if (missing.length) throw new Error(`${missing.join(', ')} of ${folder} is missing`)
let removed = 0
for (const path of globSync(REMOVED, { cwd: folder })) {
  if (KEPT.includes(path)) continue
  rmSync(join(folder, path), { recursive: true, force: true })
  removed++
}
process.stdout.write(`removed ${removed} files and folders\n`)
