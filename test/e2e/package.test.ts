// The package that `npm pack` makes, installed in an empty folder: it starts, answers and has its files.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { once } from 'node:events'
import { parse } from 'yaml'
import { eventually } from '../support/eventually.ts'
import { signalGroup, start, stopAll, type ServerProcess } from '../support/program.ts'
import { glucoseReport } from '../support/uploaded-reports.ts'

const MADE_FROM = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'bin',
  'console',
  'deploy',
  'docs',
  'migrations',
  'package.json',
  'scripts',
  'src',
]

const REPORT_MS_MAX = 60_000
/** Teams of tests are in both environments of a region. */
const CELLS = 'sandbox-us,production-us'
/** Deliveries that fail are repeated at once. */
const QUICK = { WEBHOOK_SCHEDULE: '0,0' }

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-package-'))
after(stopAll)
after(() => rmSync(folder, { recursive: true, force: true }))

/** npm or npx, on the Node of this test. */
function run(program: 'npm' | 'npx', cwd: string, args: string[], settings: Record<string, string> = {}): string {
  const { PATH, HOME, TMPDIR } = process.env
  const env = {
    HOME,
    ...(TMPDIR && { TMPDIR }),
    PATH: `${dirname(process.execPath)}:${PATH}`,
    npm_config_loglevel: 'error',
    npm_config_update_notifier: 'false',
    ...settings,
  }
  return execFileSync(program, args, { cwd, encoding: 'utf8', env, timeout: 120_000 })
}

describe('the package', { timeout: 240_000 }, () => {
  const installed = join(folder, 'installed')
  const program = join(installed, 'node_modules/@drawbridge-server/drawbridge')
  const client = join(installed, 'node_modules/@drawbridge-server/testing')

  before(() => {
    // A copy of the checkout: the files that are made while it is packed would be in the way of other tests.
    const checkout = join(folder, 'checkout')
    mkdirSync(checkout)
    // What the build needs: npm reads all that is installed before it packs.
    for (const name of ['typescript', '@types/node']) {
      mkdirSync(dirname(join(checkout, 'node_modules', name)), { recursive: true })
      symlinkSync(resolve('node_modules', name), join(checkout, 'node_modules', name))
    }
    for (const name of MADE_FROM) cpSync(name, join(checkout, name), { recursive: true, verbatimSymlinks: true })
    const unpack = (file: string, target: string) => {
      mkdirSync(target, { recursive: true })
      execFileSync('tar', ['xzf', file, '-C', target, '--strip-components=1'])
    }
    const file = run('npm', checkout, ['pack', '--pack-destination', folder]).trim().split('\n').at(-1)!
    assert(!existsSync(join(checkout, 'dist')), 'what was made for the package is removed')
    unpack(join(folder, file), program)
    run('npm', checkout, ['run', 'pack:testing'])
    unpack(globSync(join(checkout, 'drawbridge-server-testing-*.tgz'))[0]!, client)
    // As npm installs it: what it depends on stands beside it. This checkout has the same packages.
    const packages = dirname(dirname(createRequire(import.meta.url).resolve('fastify/package.json')))
    for (const name of readdirSync(packages).filter((packageName) => packageName !== '.cache'))
      if (!['@drawbridge-server', '.bin'].includes(name)) symlinkSync(join(packages, name), join(installed, 'node_modules', name))
    mkdirSync(join(installed, 'node_modules/.bin'))
    for (const name of readdirSync(join(packages, '.bin')))
      symlinkSync(join(packages, '.bin', name), join(installed, 'node_modules/.bin', name))
    symlinkSync(join(program, 'bin/drawbridge.mjs'), join(installed, 'node_modules/.bin/drawbridge'))
    for (const name of readdirSync('examples/testing'))
      cpSync(join('examples/testing', name), join(installed, name), { recursive: true })
  })

  const drawbridge = (...args: string[]) =>
    execFileSync(process.execPath, [join(program, 'bin/drawbridge.mjs'), ...args], { cwd: installed, encoding: 'utf8' })

  test('holds no TypeScript, no tests, no client for tests and no lock', () => {
    const files = readdirSync(program, { recursive: true, encoding: 'utf8' })
    assert(files.includes('dist/src/cli/entry.js') && files.includes('LICENSE'))
    assert.deepEqual(
      files.filter((name) => /\.ts$|\.test\.js$|package-lock|src\/testing\b/.test(name)),
      [],
    )
  })

  test('holds the built console, with every file that its manifest names', () => {
    const dist = join(program, 'dist/console/dist')
    const { script, style, imports, files } = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as Record<
      'script' | 'style',
      string
    > &
      Record<'imports' | 'files', string[]>
    const packed = new Set(readdirSync(join(dist, 'assets')))
    const named = [script, style, ...imports, ...files]
    assert.deepEqual(
      named.flatMap((name) => [name, `${name}.br`, `${name}.gz`]).filter((name) => !packed.has(name)),
      [],
    )
  })

  test('the client for tests is a package of its own, with types and without dependencies', () => {
    const { dependencies, optionalDependencies, scripts, version } = JSON.parse(
      readFileSync(join(client, 'package.json'), 'utf8'),
    ) as Record<string, unknown>
    assert.deepEqual([dependencies, optionalDependencies, scripts], [undefined, undefined, undefined])
    assert.equal(`${String(version)}\n`, drawbridge('version'))
    const files = readdirSync(client)
    assert(files.includes('index.js') && files.includes('index.d.ts') && files.includes('README.md') && files.includes('LICENSE'))
    assert.deepEqual(
      files.filter((name) => /(?<!\.d)\.ts$|\.test\./.test(name)),
      [],
    )
  })

  test('the client for tests names the missing package if the server is not installed', () => {
    const alone = join(folder, 'alone')
    mkdirSync(join(alone, 'node_modules/@drawbridge-server'), { recursive: true })
    cpSync(client, join(alone, 'node_modules/@drawbridge-server/testing'), { recursive: true })
    const script = "import { Drawbridge } from '@drawbridge-server/testing'\nawait Drawbridge.start()"
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: alone,
      encoding: 'utf8',
    })
    assert.notEqual(status, 0)
    assert.match(stderr, /needs the package @drawbridge-server\/drawbridge, which is not installed/)
  })

  test('prints its version and its help', () => {
    assert.match(drawbridge('version'), /^\d+\.\d+\.\d+\n$/)
    assert.match(drawbridge('help'), /^drawbridge \d/)
  })

  test('starts in an empty folder, answers, draws a document, reads a lab report, and stops', async (t) => {
    const child = spawn(process.execPath, [join(program, 'bin/drawbridge.mjs'), 'start'], {
      cwd: installed,
      env: {
        PATH: process.env.PATH,
        ...(process.env.TMPDIR && { TMPDIR: process.env.TMPDIR }),
        PORT: '0',
        CELLS,
        LOG_LEVEL: 'silent',
        STOP_DELAY: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    let out = ''
    for await (const text of child.stdout.setEncoding('utf8')) {
      out += text
      if (out.includes('Try it:')) break
    }
    const [, url] = /listening on (\S+)/.exec(out)!
    const [, key] = /Sandbox key +(\S+)/.exec(out)!
    const ask = async (path: string, body?: unknown) => {
      const headers = { 'x-service-api-key': key!, ...(body !== undefined && { 'content-type': 'application/json' }) }
      const response = await fetch(url + path, {
        headers,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
      assert.equal(response.status, 200, path)
      return response
    }
    const { user_id } = (await (await ask('/v2/user', { client_user_id: 'packed' })).json()) as { user_id: string }
    assert.match(user_id, /^[0-9a-f-]{36}$/)
    const [lab_test] = (await (await ask('/v3/lab_tests?collection_method=testkit')).json()) as { id: string }[]
    // Documents are drawn by threads, which load files of their own.
    assert.match(await (await ask(`/v3/lab_test/${lab_test!.id}/collection_instruction_pdf`)).text(), /^%PDF-/)
    // Reports are opened and read by child processes, which may read the program only.
    assert.equal(await statusOfReport(url!, key!, user_id), 'completed')
    assert.match(await (await ask('/docs')).text(), /Drawbridge API/)
    await (await ask('/docs/api-reference.js')).arrayBuffer()
    const [, script] = /<script type="module" src="([^"]+)"/.exec(await (await ask('/console')).text())!
    await (await ask(script!)).arrayBuffer()
    assert.match(drawbridge('status', '--url', url!, '--key', key!), /ready\n.*valid\n/)
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
  })

  test('is run by npx from its file in an empty folder', () => {
    // Its dependencies are links above the folder in which npx unpacks it: from a registry they are 200 MB.
    const [home, empty, light] = ['npx-home', 'npx-empty', 'npx-file'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    for (const path of [home, empty, light]) mkdirSync(path)
    symlinkSync(join(installed, 'node_modules'), join(home, 'node_modules'))
    // Nor what the program has compiled, and the thousand files that the version does not need.
    const isNeeded = (path: string) => !/\/dist\/(node_modules|docs|migrations|src\/(?!cli\b|platform\b)[^/]+)$/.test(path)
    cpSync(program, join(light, 'package'), { recursive: true, filter: isNeeded })
    const manifest = join(light, 'package/package.json')
    const { dependencies, optionalDependencies, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>
    assert(dependencies && optionalDependencies)
    writeFileSync(manifest, JSON.stringify(rest))
    execFileSync('tar', ['czf', join(empty, 'drawbridge.tgz'), '-C', light, 'package'])
    const printed = run('npx', empty, ['--offline', '--yes', './drawbridge.tgz', 'version'], { HOME: home })
    assert.equal(printed, `${String(rest.version)}\n`)
    assert.deepEqual(readdirSync(empty), ['drawbridge.tgz'])
    // What ran is what npx has unpacked.
    const [unpacked] = globSync('.npm/_npx/*/node_modules/@drawbridge-server/drawbridge/dist', { cwd: home })
    assert(unpacked !== undefined && !realpathSync(join(home, unpacked)).startsWith(realpathSync(program)))
  })

  /** A program in the folder in which the package is installed. @returns its output */
  async function runThere(program: string, args: string[], settings: Record<string, string> = {}): Promise<string> {
    const { stdout, err, exitStatus } = start({ program, args, cwd: installed, settings: { NODE_OPTIONS: '', ...settings } })
    assert.equal(await exitStatus, 0, stdout() + err())
    return stdout()
  }

  test('has types for the modules that tests import', async () => {
    const [file, wrong] = ['types.mts', 'wrong.mts'].map((name) => join(installed, name)) as [string, string]
    writeFileSync(file, USE_OF_TYPES)
    writeFileSync(wrong, `${USE_OF_TYPES}team.advance(new Date())\n`)
    const tsc = [
      join(installed, 'node_modules/typescript/bin/tsc'),
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
    ]
    const args = [...tsc, '--pretty', 'false', '--types', 'node', file, wrong]
    const { stdout, exitStatus } = start({ program: process.execPath, args, cwd: installed, settings: { NODE_OPTIONS: '' } })
    assert.notEqual(await exitStatus, 0)
    // One error, and in the file that has one.
    assert.match(stdout(), /^wrong\.mts\(\d+,14\): error TS2345: [^\n]*\n$/)
  })

  const [current, older = current] = nodes() as [NodeOfMachine, NodeOfMachine?]
  /** Vitest and what it needs are 50 MB. */
  const examplesOn = (node: string, settings: Record<string, string> = {}) => {
    mkdirSync(join(installed, 'node_modules/vitest'), { recursive: true })
    writeFileSync(join(installed, 'node_modules/vitest/package.json'), '{"type":"module","exports":"./index.js"}')
    writeFileSync(join(installed, 'node_modules/vitest/index.js'), IN_PLACE_OF_VITEST)
    writeFileSync(join(installed, 'run.mjs'), RUN_EXAMPLES)
    return runThere(node, ['run.mjs'], settings)
  }

  test(`runs the examples of node:test and Vitest on Node ${older.version}, those of Vitest with functions of node:test`, async () => {
    assert.match(await examplesOn(older.path), /# pass 4\n# fail 0\n/)
  })

  describe('with the server that the workflow of GitHub Actions starts', () => {
    const steps = new Map(
      (parse(readFileSync('examples/testing/github-actions.yaml', 'utf8')) as Workflow).jobs.python.steps.map(
        ({ name, run: script }) => [name, script],
      ),
    )
    let server: ServerProcess
    before(async () => {
      server = start({
        program: 'bash',
        args: ['-ec', `${steps.get('Start the server')}\ncat status.txt\nwait`],
        cwd: installed,
        settings: { PORT: '0', CELLS, STOP_DELAY: '0', ...QUICK },
      })
      await server.says(/valid\n/)
    })
    after(() => signalGroup(server.child.pid!, 'SIGTERM') && server.exitStatus)

    test('runs the example of pytest', async () => {
      const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0
      assert.equal(steps.get('Run the tests'), 'python -m pytest')
      const args = hasPytest ? ['-m', 'pytest', '-p', 'no:cacheprovider', 'pytest'] : ['-c', WITHOUT_PYTEST]
      const printed = await runThere('python3', args, { PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: 'pytest' })
      assert.match(printed, /2 passed/)
    })

    // Otherwise it has run them above.
    if (older !== current)
      test(`runs the examples of node:test and Vitest on Node ${current.version}`, async () => {
        assert.match(await examplesOn(current.path, { RUNNING: 'yes' }), /# pass 4\n# fail 0\n/)
      })
  })
})

interface Workflow {
  jobs: { python: { steps: { name?: string; run?: string }[] } }
}

interface NodeOfMachine {
  version: string
  path: string
}

/** The Node of this test, and an older one if the machine has it. */
/** How a report that is uploaded has ended. */
async function statusOfReport(url: string, key: string, user_id: string): Promise<string> {
  const page = await glucoseReport()
  const form = new FormData()
  form.append('user_id', user_id)
  form.append('file', new Blob([new Uint8Array(page)], { type: 'application/pdf' }), 'report.pdf')
  const headers = { 'x-service-api-key': key }
  const reply = await fetch(`${url}/lab_report/v1/parser/job`, { method: 'POST', headers, body: form })
  const { id, ...rest } = (await reply.json()) as { id?: string }
  assert.equal(reply.status, 200, JSON.stringify(rest))
  return eventually(
    async () => {
      const response = await fetch(`${url}/lab_report/v1/parser/job/${id}`, { headers })
      const { status } = (await response.json()) as { status: string }
      return /^(upload_pending|started)$/.test(status) ? undefined : status
    },
    'the job has ended',
    REPORT_MS_MAX,
  )
}

function nodes(): NodeOfMachine[] {
  const path = process.env
    .PATH!.split(':')
    .filter((folder) => !folder.includes('node_modules') && existsSync(join(folder, 'node')))
  const found = path.map((folder) => join(folder, 'node')).map((node) => ({ version: versionOf(node), path: node }))
  return [
    { version: process.versions.node, path: process.execPath },
    ...found.filter(({ version }) => Number(version.split('.')[0]) < 24).slice(0, 1),
  ]
}

function versionOf(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8', env: {} }).trim()
}

const USE_OF_TYPES = `
import { Drawbridge, type TestTeam, type Delivery } from '@drawbridge-server/testing'
const drawbridge: Drawbridge = await Drawbridge.connect({ url: 'http://127.0.0.1:8080' })
const team: TestTeam = await drawbridge.createTeam({ region: 'eu' })
const delivery: Delivery = await (await team.createReceiver()).waitFor('labtest.order.created')
export const team_id: string = delivery.body.team_id
`

const IN_PLACE_OF_VITEST = `
import assert from 'node:assert/strict'
export { afterEach, beforeEach, test } from 'node:test'
export const expect = (actual) => ({ toBe: (expected) => assert.equal(actual, expected) })
`

/** One server for all examples: one that runs, or one on the data of the server before. */
const RUN_EXAMPLES = `
import { spawn } from 'node:child_process'
import { Drawbridge } from '@drawbridge-server/testing'
const drawbridge = process.env.RUNNING
  ? await Drawbridge.connect({ dataDir: 'data' })
  : await Drawbridge.start({ dataDir: 'data', settings: ${JSON.stringify({ CELLS, ...QUICK })} })
Object.assign(process.env, {
  DRAWBRIDGE_URL: drawbridge.url,
  DRAWBRIDGE_ORG_ID: drawbridge.orgId,
  DRAWBRIDGE_MANAGEMENT_KEY: drawbridge.managementKey,
})
const teardown = await (await import('./vitest/setup.mjs')).default()
const files = ['node-test/orders.test.mjs', 'vitest/orders.test.mjs']
const tests = spawn(process.execPath, ['--test', '--test-reporter=tap', ...files], { stdio: 'inherit' })
process.exitCode = await new Promise((ended) => tests.on('exit', ended))
await teardown()
await drawbridge.stop()
`

const WITHOUT_PYTEST = `
import drawbridge, test_orders
tests = [test for name, test in vars(test_orders).items() if name.startswith("test_")]
for test in tests:
    team = drawbridge.create_team()
    test(team)
    team.delete()
print(len(tests), "passed")
`
