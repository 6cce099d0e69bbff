// README.md: its first order is taken out of it and run, twice, against a server with demo data. test/docs runs every block of it once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { demoIn, stopAll, folder, root, serving, start, type Server } from '../support/program.ts'

after(stopAll)

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const dataDir = folder('readme')
const settings = () => ({ URL: server.url, KEY: demoIn(dataDir).api_keys['sandbox-us']! })
let server: Server

before(async () => {
  server = await serving(dataDir, { CELLS: 'sandbox-us', LOG_LEVEL: 'silent' })
})
after(() => server.end('SIGTERM'))

/** The code of a section, of one language, without what says where the server is. */
const blocks = (section: string, language: string): string => {
  const text = readme.split(/^## /m).find((part) => part.startsWith(section))!
  const found = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))]
  return found.map(([, code]) => code!.replace(/^export (URL|KEY)=.*\n/gm, '')).join('')
}

async function run(program: string, args: string[], cwd = root): Promise<string> {
  const { stdout, err, exitStatus } = start({ program, args, settings: settings(), cwd })
  assert.equal(await exitStatus, 0, err() + stdout())
  return stdout()
}

describe('the first order of the README', { concurrency: 2, timeout: 120_000 }, () => {
  // CI installs it; with CI_READERS=required its absence is a failure.
  const skip = spawnSync('curl', ['--version']).error && process.env.CI_READERS !== 'required' && 'curl is not installed'
  test('reaches its result in the shell without moving the clock, also the second time', { skip }, async () => {
    const cwd = folder('readme-shell')
    mkdirSync(cwd)
    const script = `set -euo pipefail\n${blocks('A first order', 'sh')}`
    for (let turn = 0; turn < 2; turn++) {
      const printed = await run('bash', ['-c', script], cwd)
      assert.equal(printed.match(/'completed\.walk_in_test\.completed'/g)?.length, 2, printed)
      assert.match(printed, /slug: /)
    }
    const headers = { 'x-service-api-key': settings().KEY }
    const clock = (await (await fetch(`${server.url}/v1/sandbox/clock`, { headers })).json()) as { offset_s?: number }
    assert.equal(clock.offset_s, 0, JSON.stringify(clock))
    assert.ok(existsSync(join(cwd, 'report.pdf')) && statSync(join(cwd, 'report.pdf')).size > 1000)
    assert.equal(readFileSync(join(cwd, 'report.pdf'), 'latin1').slice(0, 5), '%PDF-')
  })

  test('reaches its result with the SDK, also the second time', async () => {
    for (let turn = 0; turn < 2; turn++) {
      const printed = await run(process.execPath, ['--input-type=module', '-e', blocks('The same with the SDK', 'js')])
      assert.match(printed, /slug: /)
    }
  })
})

test('a server with demo data has no limit of users', async () => {
  const headers = { 'x-service-api-key': settings().KEY, 'content-type': 'application/json' }
  for (let n = 0; n < 60; n++) {
    const body = JSON.stringify({ client_user_id: `one-of-many-${n}` })
    assert.equal((await fetch(`${server.url}/v2/user`, { method: 'POST', headers, body })).status, 200)
  }
})
