// README.md and docs/: every block of shell, JavaScript and TypeScript is run, page by page, against one server with demo data.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { freePort } from '../support/free-ports.ts'
import { identifyLabs } from '../support/identified-labs.ts'
import { demoIn, folder, root, serving, start, stopAll, type Server } from '../support/program.ts'
import { readPdf, skipWithoutPdfTools } from '../support/pdf-reader.ts'
import { blocksOf, faultOf, isRun, createScript, type Block } from './pages.ts'

/** Records of decisions show what was measured and considered; nobody follows them. */
const pages = ['README.md', ...globSync('docs/**/*.md').sort()].filter((path) => !path.startsWith('docs/decisions/'))
const blocks = new Map(pages.map((path) => [path, blocksOf(path)]))
const dataDir = folder('pages')
/** A block may wait for something without end. */
const PAGE_S_MAX = 150
/** Those that pages name. Each further one costs the server, and each command on the database, time of a processor. */
const CELLS = 'sandbox-us,production-us'
let server: Server
/** What a reader has from the server of `npm start`. */
const GIVEN = ['URL', 'KEY', 'MANAGEMENT_KEY', 'ORG', 'ORG_ID', 'TEAM', 'TEAM_ID']

/** The client for tests as pages import it: that of this checkout. */
function linkPackage(modules: string): void {
  const folder = join(modules, '@drawbridge-server/testing')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@drawbridge-server/testing', type: 'module', exports: './index.mjs' }),
  )
  writeFileSync(join(folder, 'index.mjs'), `export * from ${JSON.stringify(join(root, 'src/testing/index.ts'))}\n`)
}

/** A folder like that of a reader: a checkout in which a server has been started. */
function readersFolder(name: string): string {
  const cwd = folder(`page-${name}`)
  const modules = join(cwd, 'node_modules')
  mkdirSync(modules, { recursive: true })
  symlinkSync(resolve('bin'), join(cwd, 'bin'))
  symlinkSync(dataDir, join(cwd, 'data'))
  for (const entry of globSync('{*,@*/*,.bin}', { cwd: 'node_modules' }).filter((name) => !/^@[^/]*$/.test(name))) {
    if (entry.startsWith('@')) mkdirSync(join(modules, entry.split('/')[0]!), { recursive: true })
    symlinkSync(resolve('node_modules', entry), join(modules, entry))
  }
  linkPackage(modules)
  return cwd
}

describe('the pages', { concurrency: 2, timeout: 240_000 }, () => {
  before(async () => {
    server = await serving(dataDir, { CELLS, LOG_LEVEL: 'silent', WEBHOOK_SCHEDULE: '0,0,0' })
    await identifyLabs({ DATA_DIR: dataDir, CELLS }, ['production-us'])
  })
  after(async () => {
    await server?.end('SIGTERM')
    await stopAll()
  })

  test('have blocks that are run, and a reason next to each block that is not', () => {
    const faults = [...blocks].flatMap(([path, list]) =>
      list.flatMap((block) => {
        const fault = faultOf(block)
        return fault === undefined ? [] : [`${path}:${block.line}: ${fault}`]
      }),
    )
    assert.deepEqual(faults, [])
    const all = [...blocks.values()].flat()
    assert(all.filter(isRun).length > 40, `${all.filter(isRun).length} blocks are run`)
  })

  test('say where a reader has the address, keys and ids of their examples from', () => {
    const unexplained = [...blocks].flatMap(([path, list]) => {
      const code = list.map((block) => block.code).join('')
      const used = GIVEN.filter((name) => new RegExp(`\\$\\{?${name}\\b`).test(code) && !new RegExp(`\\b${name}=`).test(code))
      return used.length && !/\((?:\.\.\/)+README\.md#a-first-order\)/.test(readFileSync(path, 'utf8'))
        ? [`${path}: ${used}`]
        : []
    })
    assert.deepEqual(unexplained, [])
  })

  const followed = [...blocks].filter(([, list]) => list.some(isRun))
  const movesClock = (list: Block[]) => list.some(({ language, code }) => language === 'sh' && code.includes('clock/advance'))
  // CI installs it; with CI_READERS=required its absence is a failure.
  const skip = spawnSync('curl', ['--version']).error && process.env.CI_READERS !== 'required' && 'curl is not installed'
  const canBeFollowed = (path: string, list: Block[]) =>
    test(`${path} can be followed from its first block to its last`, { skip }, () => follow(path, list))

  for (const [path, list] of followed.filter(([, blocksOfPage]) => !movesClock(blocksOfPage))) canBeFollowed(path, list)
  // The demo's team has one clock, which one request at a time moves.
  describe('and those that move the clock of the demo, one after another:', { concurrency: 1 }, () => {
    for (const [path, list] of followed.filter(([, blocksOfPage]) => movesClock(blocksOfPage))) canBeFollowed(path, list)
  })
})

async function follow(path: string, list: Block[]): Promise<void> {
  const demo = demoIn(dataDir)
  const port = await freePort()
  const settings = {
    CELLS,
    URL: server.url,
    KEY: demo.api_keys['sandbox-us']!,
    PRODUCTION_KEY: demo.api_keys['production-us']!,
    MANAGEMENT_KEY: demo.management_key,
    ORG: demo.org_id,
    ORG_ID: demo.org_id,
    TEAM: demo.teams.us!,
    TEAM_ID: demo.teams.us!,
    PORT: String(port),
    PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
    DRAWBRIDGE_URL: server.url,
    DRAWBRIDGE_ORG_ID: demo.org_id,
    DRAWBRIDGE_MANAGEMENT_KEY: demo.management_key,
  }
  const cwd = readersFolder(path.replaceAll(/\W/g, '-'))
  const { stdout, err, exitStatus } = start({
    program: 'timeout',
    args: [String(PAGE_S_MAX), 'bash', '-c', createScript(list, { url: server.url, port })],
    settings,
    cwd,
  })
  const code = await exitStatus
  const line = /@(\d+)\n(?![\s\S]*@\d+\n)/.exec(err())?.[1]
  assert.equal(code, 0, `${path}:${line} ended with ${code}\n${stdout().slice(-3000)}\n${err().slice(-3000)}`)
  checks[path]?.(stdout(), cwd)
}

/** What a page leads to, beyond blocks that do not fail. */
const checks: Record<string, (output: string, cwd: string) => void> = {
  'docs/FULFILLMENT.md': (output, cwd) => {
    assert.match(output, /manual +identity set +1 accounts +Fictional Laboratory/)
    assert.match(output, /\[ \[ 'Hemoglobin A1c', '6.1', 'abnormal' \] \]\nFictional Laboratory\n/)
    if (skipWithoutPdfTools) return
    for (const name of ['requisition.pdf', 'first-report.pdf', 'report.pdf']) {
      const { text } = readPdf(readFileSync(join(cwd, name)))
      for (const words of ['Fictional Laboratory', '1 Sample Way, Phoenix, AZ 85004', 'CLIA 99D0000001'])
        assert(text.includes(words), `${name} has ${words}:\n${text}`)
    }
  },
}
