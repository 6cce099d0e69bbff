// The command that imports a file, against a server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exportXml, exportZip, record } from '../../../test/support/file-imports.ts'
import { createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { importFile } from './import-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-import-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const rate = (value: number, time: string) => record('HeartRate', value, 'count/min', `2026-01-31 ${time} +0000`)

describe('drawbridge import', () => {
  // Not while files are loaded: connections that are opened meanwhile can time out.
  let team: TestTeam
  before(async () => void (team = await createTestTeam()))
  const path = join(folder, 'export.zip')
  const run = async (user: string, file = path, isTerminal = false) => {
    let printed = ''
    const typed = { args: [file], values: { user, url, key: team.key } }
    // No worker runs here: while the command waits, the jobs of the team run.
    const pause = () => team.settle()
    await importFile(typed, { env: {}, printNow: (text) => void (printed += text), isTerminal }, pause).catch((error: Error) => {
      printed += `error: ${error.message}\n`
    })
    return printed
  }

  test('sends a file and prints its progress and its result', async () => {
    const user = await team.user()
    writeFileSync(
      path,
      await exportZip(exportXml(rate(61, '09:00:00'), record('Unknown', 1, 'count', '2026-01-31 09:00:00 +0000'))),
    )
    const printed = (await run(user)).split('\n')
    assert.match(printed[0]!, /^sending 0\.0 MB$/)
    assert.deepEqual(printed.slice(-5), [
      'completed 100 %, 1 new, 0 changed',
      '1 accepted, 0 out of bounds',
      'skipped: unsupported Unknown 1',
      'skipped: unsupported clinical_document 1',
      '',
    ])
  })

  test('sends a large file in parts', async () => {
    const user = await team.user()
    const large = join(folder, 'export.xml')
    writeFileSync(large, exportXml(rate(61, '09:00:00'), ...Array.from({ length: 30_000 }, () => `<x>${' '.repeat(300)}</x>`)))
    assert.match(await run(user, large), /^sending 9\.\d MB\n[^]*completed 100 %, 1 new/)
  })

  test('draws a bar in one line of a terminal', async () => {
    writeFileSync(path, await exportZip(exportXml(rate(62, '09:00:00'))))
    const [first, bar, last, ...rest] = (await run(await team.user(), path, true)).split('\n')
    assert.match(first!, /^sending 0\.0 MB$/)
    const drawn = bar!.split('\r\u001b[K')
    assert.deepEqual(
      [drawn[0], drawn[1], drawn.at(-1)],
      ['', `sending    [${'#'.repeat(30)}] 100 %`, `completed  [${'#'.repeat(30)}] 100 %, 1 new, 0 changed`],
    )
    assert.deepEqual([last, ...rest], ['1 accepted, 0 out of bounds', 'skipped: unsupported clinical_document 1', ''])
  })

  test('says that it repeats a request which the server could not answer, and prints the import as JSON', async () => {
    let failed = 0
    const faulty = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      if (request.method === 'GET' && !failed++) return response.writeHead(503).end()
      const { method = '', url: path } = request
      const headers = { 'x-service-api-key': team.key }
      const answer = await fetch(url + path, { method, headers, ...(method !== 'GET' && { body }) })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(faulty, 'listening')
    after(() => faulty.close())
    const behind = `http://127.0.0.1:${(faulty.address() as { port: number }).port}`
    writeFileSync(path, await exportZip(exportXml(rate(63, '09:00:00'))))
    const printed = async (json: boolean) => {
      let text = ''
      const typed = { args: [path], values: { user: await team.user(), url: behind, key: team.key, json } }
      await importFile(typed, { env: {}, printNow: (part) => void (text += part) }, () => team.settle())
      return text
    }
    assert.match(await printed(false), /^sending 0\.0 MB\nserver responded 503; retrying\n[^]*completed 100 %, 1 new/)
    const { status, created } = JSON.parse(await printed(true))
    assert.deepEqual([failed > 1, status, created], [true, 'completed', 1])
  })

  test('says why a file is not imported', async () => {
    const user = await team.user()
    writeFileSync(path, 'no file of health data')
    assert.match(await run(user), /failed 0 %[^]*error: The file is neither an Apple Health export/)
    assert.match(await run(user, join(folder, 'absent')), /^error: The file cannot be read \(ENOENT\)/)
    assert.match(await run('00000000-0000-4000-8000-000000000000'), /error: The server rejected the request: 404 /)
    await assert.rejects(
      importFile({ args: [], values: {} }, { env: {}, printNow: () => {} }),
      /import needs --user and one file/,
    )
  })
})
