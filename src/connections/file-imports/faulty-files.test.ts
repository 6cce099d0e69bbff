// Faulty and hostile files: a documented error, what could be read is stored and reported, memory stays bounded. One file of each kind of
// end is imported, in a thread of its own; others are read by the same code, in the process of the test.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { exportXml, importFile, reading, record, values } from '../../../test/support/file-imports.ts'
import { createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { zipBytes } from '../../../test/support/zip.ts'
import { ImportRunner } from './run-import.ts'

const FROM = '2026-01-31 08:00:00 +0000'
const rate = (value: string | number = 61, start = FROM) => record('HeartRate', value, 'count/min', start)
/** Heart rates of so many minutes from the beginning of January on. */
const rates = (count: number, value: string | number = 61): string[] =>
  Array.from({ length: count }, (_, i) => {
    const at = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString()
    return rate(value, `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`)
  })
const archive = (xml: string, overrides = {}) => zipBytes([{ name: 'export.xml', content: [xml], ...overrides }])

interface Shown {
  status: string
  error: { code: string } | null
  accepted: number
}
const outcome = ({ status, error, accepted }: Shown) => [status, error?.code ?? null, accepted]

/** What is read of a file: the error, and the heart rates. */
async function readOf(file: string | Buffer): Promise<[error: string | null, rates: number[]]> {
  const { samples, error } = await reading(file)
  return [error, values(samples.heartrate)]
}

describe('a faulty file', () => {
  // Not while files are loaded: connections that are opened meanwhile can time out.
  let team: TestTeam
  before(async () => void (team = await createTestTeam()))

  test('fails if the file has no known format', async () => {
    const user = await team.user()
    assert.deepEqual(outcome(await importFile(team, user, '<html>')), ['failed', 'unknown_format', 0])
    for (const file of ['PK', '\0\0\0\0\0\0\0\0\0\0\0\0\0\0', '{}', await zipBytes([{ name: 'a.txt', content: ['x'] }])])
      assert.deepEqual(await readOf(file), ['unknown_format', []], JSON.stringify(file))
    const cut = (await archive(exportXml(rate()))).subarray(0, -10)
    const damaged = await importFile(team, user, cut)
    assert.deepEqual(outcome(damaged), ['failed', 'damaged', 0])
    assert.equal(damaged.error.message, 'The file is damaged.')
    for (const broken of [Buffer.from('PK\x03\x04garbage that is no archive'), Buffer.from('PK\x05\x06')])
      assert.deepEqual(await readOf(broken), ['damaged', []])
  })

  test('that is an archive which names places behind its end is damaged, and the next import of the team runs', async () => {
    const user = await team.user()
    const zip = await archive(exportXml(rate()))
    const directory = zip.indexOf('PK\x01\x02', 0, 'latin1')
    const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1')
    // The place of the file in its entry, and that of the directory at the end.
    for (const at of [directory + 42, end + 16]) {
      const changed = Buffer.from(zip)
      changed.writeUInt32LE(zip.length + 1000, at)
      assert.deepEqual(outcome(await importFile(team, user, changed)), ['failed', 'damaged', 0])
    }
    assert.deepEqual(outcome(await importFile(team, user, zip)), ['completed', null, 1])
  })

  test('that is encrypted, or does not match its checksum, is reported', async () => {
    assert.deepEqual(await readOf(await archive(exportXml(rate()), { isEncrypted: true })), ['encrypted', []])
    const changed = await archive(exportXml(rate()), { crc32: 1 })
    assert.deepEqual(outcome(await importFile(team, await team.user(), changed)), ['partial', 'damaged', 1])
  })

  test('that is cut off is imported as far as it goes, and the rest of a longer one afterwards', async () => {
    const user = await team.user()
    const xml = exportXml(...rates(6000))
    const cut = await importFile(team, user, xml.slice(0, xml.length / 2))
    assert.deepEqual([cut.status, cut.error.code], ['partial', 'truncated'])
    assert.equal(cut.error.message, 'The file ends too early. What it has was imported.')
    assert(cut.created > 2500 && cut.created < 3500, String(cut.created))
    const whole = await importFile(team, user, xml)
    assert.deepEqual([whole.status, whole.accepted, whole.created, whole.updated], ['completed', 6000, 6000 - cut.created, 0])
  })

  test('with values that are not numbers and with impossible times stores the rest', async () => {
    const wrong = ['NaN', 'Infinity', '-Infinity', '1e999', '0x1', 'sixty'].map((value) => rate(value))
    const times = ['9999-12-31 23:59:59 +0000', '0000-01-01 00:00:00 +0000', '2026-13-01 00:00:00 +0000', 'yesterday', ''].map(
      (time) => rate(61, time),
    )
    const { samples, error, skipped } = await reading(exportXml(...wrong, ...times, rate(62)))
    assert.deepEqual([error, values(samples.heartrate)], [null, [62]])
    assert.deepEqual(skipped, { invalid_value: { HeartRate: 6 }, invalid_time: { HeartRate: 5 } })
  })

  test('with entities and control characters expands nothing', async () => {
    const bomb = `<!DOCTYPE HealthData [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
    const inside = record('HeartRate', 60, 'count/min', FROM, { sourceName: '&b;&f;' })
    const read = await reading(bomb + exportXml(inside, rate(62)).replace(/^[^]*?\]>\n/, ''))
    assert.deepEqual([read.error, values(read.samples.heartrate)], [null, [62]])
    assert.deepEqual(read.skipped, { malformed: { HeartRate: 1 } })
    assert(!JSON.stringify(read).includes('root:'))
  })

  test('that grows a thousandfold when it is unpacked is read in bounded memory', async () => {
    const user = await team.user()
    const blank = ' '.repeat(1024 * 1024)
    const content = function* (prefix: string, block: string, times: number, suffix: string) {
      yield prefix
      for (let i = 0; i < times; i++) yield block
      yield suffix
    }
    const [before, after] = exportXml(rate(), '\n', rate(62, '2026-01-31 09:00:00 +0000')).split('\n\n\n') as [string, string]
    const zip = (block: string, open = '', close = '') =>
      zipBytes([{ name: 'export.xml', content: content(before + open, block, 12, close + after) }])
    assert.deepEqual(outcome(await importFile(team, user, await zip(blank))), ['partial', 'damaged', 1])
    // A comment of tags is one piece that the parser has to hold; it has the limits of the thread.
    const lines = `${'<a '.repeat(100)}\n`.repeat(3000)
    const shown = await importFile(team, user, await zip(lines, '<!-- ', ' -->'))
    assert.equal(shown.accepted, 2, JSON.stringify(shown.error))
  })

  test('whose content is more than 64 MiB and more than a hundred times the file is read up to that limit', async () => {
    const [before, after] = exportXml(rate(), '\n', rate(62, '2026-01-31 09:00:00 +0000')).split('\n\n\n') as [string, string]
    const element = `<x>${' '.repeat(60_000)}</x>\n`.repeat(16)
    const content = function* (blocks: number) {
      yield before
      for (let i = 0; i < blocks; i++) yield element
      yield after
    }
    const zip = (blocks: number) => zipBytes([{ name: 'export.xml', content: content(blocks) }], { level: 1 })
    assert.deepEqual(await readOf(await zip(75)), ['too_large', [61]])
    assert.deepEqual(await readOf(await zip(65)), [null, [61, 62]])
  })

  test('of deep, wide and countless elements ends with an error or is read', async () => {
    assert.deepEqual(await readOf(exportXml('<a>'.repeat(1000), rate())), ['damaged', []])
    const wide = exportXml(rate(), `<Record ${'x="1" '.repeat(400_000)}/>`)
    assert.equal((await reading(wide)).error, 'damaged')
    const many = exportXml(...Array.from({ length: 20 }, () => `<x/>`.repeat(20_000)), rate())
    assert.deepEqual(await readOf(many), [null, [61]])
  })

  test('names at most 100 kinds of records of its own, and a bounded number of sources', async () => {
    const user = await team.user()
    const kinds = Array.from({ length: 300 }, (_, i) => record(`HKFictional${i}`, 1, 'count', FROM))
    const odd = record('HK__proto__&lt;b&gt;', 1, 'count', FROM)
    const shown = await importFile(team, user, exportXml(...kinds, odd, rate()))
    assert.equal(Object.keys(shown.skipped.unsupported).length, 101)
    assert.equal(shown.skipped.unsupported.other, 201)
    const sources = Array.from({ length: 1010 }, (_, i) => record('HeartRate', 61, 'count/min', FROM, { sourceName: `S${i}` }))
    const limited = await reading(exportXml(...sources))
    assert.deepEqual([limited.samples.heartrate!.length, limited.skipped], [1000, { too_many: { sources: 10 } }])
  })

  test('that takes more memory than a thread may have ends with an error', async () => {
    const runner = new ImportRunner({ vault, thread_mb_max: 60 })
    const user = await team.user()
    const comment = function* () {
      yield exportXml(rate()).replace('</HealthData>', '<!-- ')
      // As much as is unpacked of a small file.
      for (let i = 0; i < 75; i++) yield `${'<a '.repeat(100)}\n`.repeat(3000)
    }
    const zip = await zipBytes([{ name: 'export.xml', content: comment() }], { level: 1 })
    const { body } = await team.api.post(`/v2/user/${user}/file_import`, zip)
    const context = {
      tenant: team.tenant,
      tx: <R>(work: Parameters<typeof team.db.tx<R>>[1]) => team.db.tx(team.tenant, work),
    }
    await runner.handlers.first.run(context, { import_id: body.id })
    const shown = (await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body
    assert.deepEqual([shown.status, shown.error?.code], ['failed', 'too_complex'])
  })
})
