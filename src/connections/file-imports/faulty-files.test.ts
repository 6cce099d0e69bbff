// Faulty and hostile files: a documented error, what could be read is stored and reported, memory stays bounded.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exportXml, imported, record } from '../../../test/support/file-imports.ts'
import { read } from '../../../test/support/samples.ts'
import { createTestTeam, vault } from '../../../test/support/server.ts'
import { zipBytes } from '../../../test/support/zip.ts'
import { ImportRunner } from './run-import.ts'

const FROM = '2026-01-31 08:00:00 +0000'
const rate = (value: string | number = 61, from = FROM) => record('HeartRate', value, 'count/min', from)
/** Heart rates of so many minutes from the beginning of January on. */
const rates = (count: number, value: string | number = 61): string[] =>
  Array.from({ length: count }, (_, i) => {
    const at = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString()
    return rate(value, `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`)
  })
const archive = (xml: string, more = {}) => zipBytes([{ name: 'export.xml', content: [xml], ...more }])

interface Shown {
  status: string
  error: { code: string } | null
  accepted: number
}
const outcome = ({ status, error, accepted }: Shown) => [status, error?.code ?? null, accepted]

describe('a faulty file', async () => {
  const team = await createTestTeam()

  test('that is no file of a known format fails', async () => {
    const user = await team.user()
    for (const file of ['', 'PK', '\0\0\0\0\0\0\0\0\0\0\0\0\0\0', '<html>', '{}'].slice(1))
      assert.deepEqual(outcome(await imported(team, user, file)), ['failed', 'unknown_format', 0], JSON.stringify(file))
    for (const broken of [
      Buffer.from('PK\x03\x04garbage that is no archive'),
      (await archive(exportXml(rate()))).subarray(0, -10),
      Buffer.from('PK\x05\x06'),
    ])
      assert.deepEqual(outcome(await imported(team, user, broken)), ['failed', 'damaged', 0])
    assert.deepEqual(outcome(await imported(team, user, await zipBytes([{ name: 'a.txt', content: ['x'] }]))), [
      'failed',
      'unknown_format',
      0,
    ])
  })

  test('that is encrypted, or does not match its checksum, is reported', async () => {
    const user = await team.user()
    const encrypted = await archive(exportXml(rate()), { isEncrypted: true })
    assert.deepEqual(outcome(await imported(team, user, encrypted)), ['failed', 'encrypted', 0])
    const changed = await archive(exportXml(rate()), { crc32: 1 })
    assert.deepEqual(outcome(await imported(team, user, changed)), ['partial', 'damaged', 1])
  })

  test('that is cut off is imported as far as it goes, and the rest of a longer one afterwards', async () => {
    const user = await team.user()
    const xml = exportXml(...rates(6000))
    const cut = await imported(team, user, xml.slice(0, xml.length / 2))
    assert.deepEqual([cut.status, cut.error.code], ['partial', 'truncated'])
    assert(cut.created > 2500 && cut.created < 3500, String(cut.created))
    const whole = await imported(team, user, xml)
    assert.deepEqual([whole.status, whole.accepted, whole.created, whole.updated], ['completed', 6000, 6000 - cut.created, 0])
  })

  test('with values that are no numbers and times beyond all bounds stores the rest', async () => {
    const user = await team.user()
    const wrong = ['NaN', 'Infinity', '-Infinity', '1e999', '0x1', 'sixty'].map((value) => rate(value))
    const times = ['9999-12-31 23:59:59 +0000', '0000-01-01 00:00:00 +0000', '2026-13-01 00:00:00 +0000', 'yesterday', ''].map(
      (at) => rate(61, at),
    )
    const shown = await imported(team, user, exportXml(...wrong, ...times, rate(62)))
    assert.deepEqual(outcome(shown), ['completed', null, 1])
    assert.deepEqual(shown.skipped, { invalid_value: { HeartRate: 6 }, invalid_time: { HeartRate: 5 } })
  })

  test('with entities and control characters expands nothing', async () => {
    const user = await team.user()
    const bomb = `<!DOCTYPE HealthData [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
    const inside = record('HeartRate', 60, 'count/min', FROM, { sourceName: '&b;&f;' })
    const shown = await imported(team, user, bomb + exportXml(inside, rate(62)).replace(/^[^]*?\]>\n/, ''))
    assert.deepEqual(outcome(shown), ['completed', null, 1])
    assert.deepEqual(shown.skipped, { malformed: { HeartRate: 1 } })
    const { groups } = await read(team, user, 'heartrate')
    assert(!JSON.stringify(groups).includes('root:'))
  })

  test('that grows a thousandfold when it is unpacked is read in bounded memory', async () => {
    const user = await team.user()
    const blank = ' '.repeat(1024 * 1024)
    const content = function* (before: string, block: string, times: number, after: string) {
      yield before
      for (let i = 0; i < times; i++) yield block
      yield after
    }
    const [before, after] = exportXml(rate(), '\n', rate(62, '2026-01-31 09:00:00 +0000')).split('\n\n\n') as [string, string]
    const zip = (block: string, open = '', close = '') =>
      zipBytes([{ name: 'export.xml', content: content(before + open, block, 12, close + after) }])
    assert.deepEqual(outcome(await imported(team, user, await zip(blank))), ['partial', 'damaged', 1])
    // A comment of tags is one piece that the parser has to hold; it has the limits of the thread.
    const lines = `${'<a '.repeat(100)}\n`.repeat(3000)
    const shown = await imported(team, user, await zip(lines, '<!-- ', ' -->'))
    assert.equal(shown.accepted, 2, JSON.stringify(shown.error))
  })

  test('whose content is more than 64 MiB and more than a hundred times the file is read up to that limit', async () => {
    const user = await team.user()
    const [before, after] = exportXml(rate(), '\n', rate(62, '2026-01-31 09:00:00 +0000')).split('\n\n\n') as [string, string]
    const element = `<x>${' '.repeat(60_000)}</x>\n`.repeat(16)
    const content = function* (blocks: number) {
      yield before
      for (let i = 0; i < blocks; i++) yield element
      yield after
    }
    const zip = (blocks: number) => zipBytes([{ name: 'export.xml', content: content(blocks) }])
    assert.deepEqual(outcome(await imported(team, user, await zip(75))), ['partial', 'too_large', 1])
    assert.deepEqual(outcome(await imported(team, user, await zip(65))), ['completed', null, 2])
  })

  test('of deep, wide and countless elements ends with an error or is read', async () => {
    const user = await team.user()
    const deep = exportXml('<a>'.repeat(1000), rate())
    assert.deepEqual(outcome(await imported(team, user, deep)), ['failed', 'damaged', 0])
    const wide = exportXml(rate(), `<Record ${'x="1" '.repeat(400_000)}/>`)
    assert.equal((await imported(team, user, wide)).error.code, 'damaged')
    const many = exportXml(...Array.from({ length: 20 }, () => `<x/>`.repeat(20_000)), rate())
    assert.deepEqual(outcome(await imported(team, user, many)), ['completed', null, 1])
  })

  test('names at most 100 kinds of records of its own, and a bounded number of sources', async () => {
    const user = await team.user()
    const kinds = Array.from({ length: 300 }, (_, i) => record(`HKFictional${i}`, 1, 'count', FROM))
    const odd = record('HK__proto__&lt;b&gt;', 1, 'count', FROM)
    const shown = await imported(team, user, exportXml(...kinds, odd, rate()))
    assert.equal(Object.keys(shown.skipped.unsupported).length, 101)
    assert.equal(shown.skipped.unsupported.other, 201)
    const sources = Array.from({ length: 1010 }, (_, i) => record('HeartRate', 61, 'count/min', FROM, { sourceName: `S${i}` }))
    const limited = await imported(team, user, exportXml(...sources))
    assert.deepEqual([limited.accepted, limited.skipped], [1000, { too_many: { sources: 10 } }])
  })

  test('that takes more memory than a thread may have ends with an error', async () => {
    const runner = new ImportRunner({ vault, thread_mb_max: 80 })
    const user = await team.user()
    const comment = function* () {
      yield exportXml(rate()).replace('</HealthData>', '<!-- ')
      for (let i = 0; i < 200; i++) yield `${'<a '.repeat(100)}\n`.repeat(3000)
    }
    const zip = await zipBytes([{ name: 'export.xml', content: comment() }])
    const { body } = await team.api.post(`/v2/user/${user}/file_import`, zip)
    const context = {
      tenant: team.tenant,
      tx: <R>(work: Parameters<typeof team.db.tx<R>>[1]) => team.db.tx(team.tenant, work),
    }
    await runner.handler.run(context, { import_id: body.id })
    const shown = (await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body
    assert.deepEqual([shown.status, shown.error?.code], ['failed', 'too_complex'])
  })
})
