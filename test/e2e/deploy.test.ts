// The systemd unit that comes with the program: systemd understands it, and it keeps the program in.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const unit = readFileSync(join(root, 'deploy/drawbridge@.service'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'drawbridge-unit-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Exposure that systemd-analyze gives to the unit, of 0 to 10. The network, the compiler of V8 and sockets cost 1.4. */
const EXPOSURE_MAX = 1.6

function analyze(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { cwd: folder, encoding: 'utf8', timeout: 30_000 })
  return { status, said: stdout + stderr }
}

test('systemd accepts the unit, and finds little that the process is exposed to', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error) {
    assert.notEqual(process.env.CI_SYSTEMD, 'required', 'CI has no systemd-analyze')
    return t.skip('systemd-analyze is not installed')
  }
  // The programs that the unit starts are looked for: here they are in this folder.
  const here = unit.replaceAll('/opt/drawbridge', root)
  writeFileSync(join(folder, 'drawbridge@.service'), here)
  assert.deepEqual(analyze('verify', './drawbridge@start.service'), { status: 0, said: '' })

  writeFileSync(join(folder, 'drawbridge.service'), here)
  const threshold = `--threshold=${EXPOSURE_MAX * 10}`
  const { status, said } = analyze('security', '--offline=true', '--no-pager', threshold, './drawbridge.service')
  assert.equal(status, 0, said)
})

test('the unit starts the program again after a failure, and leaves the embedded database to the program when it stops', () => {
  for (const line of ['Restart=on-failure', 'KillMode=mixed', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'LimitCORE=0'])
    assert.ok(unit.split('\n').includes(line), line)
})
