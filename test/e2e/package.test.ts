// The package that `npm pack` makes, installed in an empty folder: it starts, answers and has its files.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { once } from 'node:events'

const MADE_FROM = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'bin',
  'deploy',
  'docs',
  'migrations',
  'package.json',
  'scripts',
  'src',
]

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-package-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** npm, on the Node of this test. */
function npm(cwd: string, ...args: string[]): string {
  const { PATH, HOME, TMPDIR } = process.env
  const env = {
    HOME,
    ...(TMPDIR && { TMPDIR }),
    PATH: `${dirname(process.execPath)}:${PATH}`,
    npm_config_loglevel: 'error',
    npm_config_update_notifier: 'false',
  }
  return execFileSync('npm', args, { cwd, encoding: 'utf8', env, timeout: 120_000 })
}

describe('the package', () => {
  const installed = join(folder, 'installed')
  const program = join(installed, 'node_modules/@drawbridge-server/drawbridge')

  before(() => {
    // A copy of the checkout: the files that are made while it is packed would be in the way of other tests.
    const checkout = join(folder, 'checkout')
    mkdirSync(checkout)
    for (const name of MADE_FROM) cpSync(name, join(checkout, name), { recursive: true, verbatimSymlinks: true })
    const file = npm(checkout, 'pack', '--pack-destination', folder).trim().split('\n').at(-1)!
    assert(!existsSync(join(checkout, 'dist')), 'what was made for the package is removed')
    mkdirSync(dirname(program), { recursive: true })
    execFileSync('tar', ['xzf', join(folder, file), '-C', folder])
    cpSync(join(folder, 'package'), program, { recursive: true })
    // As npm installs it: what it depends on stands beside it. This checkout has the same packages.
    const packages = dirname(dirname(createRequire(import.meta.url).resolve('fastify/package.json')))
    for (const name of readdirSync(packages).filter((one) => one !== '.cache'))
      if (name !== '@drawbridge-server') symlinkSync(join(packages, name), join(installed, 'node_modules', name))
  })

  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(program, 'bin/drawbridge.mjs'), ...args], { cwd: installed, encoding: 'utf8' })

  test('holds no TypeScript, no tests and no lock', () => {
    const files = readdirSync(program, { recursive: true, encoding: 'utf8' })
    assert(files.includes('dist/src/cli/entry.js') && files.includes('LICENSE'))
    assert.deepEqual(
      files.filter((name) => /\.ts$|\.test\.js$|package-lock/.test(name)),
      [],
    )
  })

  test('prints its version and its help', () => {
    assert.match(run('version'), /^\d+\.\d+\.\d+\n$/)
    assert.match(run('help'), /^drawbridge \d/)
  })

  test('starts in an empty folder, answers, draws a document, and stops', async (t) => {
    const child = spawn(process.execPath, [join(program, 'bin/drawbridge.mjs'), 'start'], {
      cwd: installed,
      env: {
        PATH: process.env.PATH,
        ...(process.env.TMPDIR && { TMPDIR: process.env.TMPDIR }),
        PORT: '0',
        CELLS: 'sandbox-us',
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
    assert.match(await (await ask('/docs')).text(), /Drawbridge API/)
    await (await ask('/docs/api-reference.js')).arrayBuffer()
    assert.match(run('status', '--url', url!, '--key', key!), /ready\n.*valid\n/)
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
  })
})
