// A port that is taken is noticed before anything is made.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { stopAll, folder, outcome } from '../support/program.ts'

after(stopAll)

for (const setting of ['PORT', 'OPERATOR_PORT'])
  test(`a start whose ${setting} is in use fails with one error message and creates no database`, async () => {
    const dataDir = folder(`busy-${setting.toLowerCase()}`)
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const refused = await outcome('start', { DATA_DIR: dataDir, PORT: '0', [setting]: String(port), LOG_LEVEL: 'silent' })
    other.close()
    const err = `drawbridge: Port ${port} is already in use. Set ${setting} to a free port (${setting}=0 selects one).\n`
    assert.deepEqual(refused, { code: 1, stdout: '', err })
    assert.equal(existsSync(dataDir), false)
  })
