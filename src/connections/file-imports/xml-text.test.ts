// XML in other encodings than UTF-8.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents, exportXml, exportZip, reading, record, values } from '../../../test/support/file-imports.ts'
import { encodingOf, textOf } from './xml.ts'

const gpx = (encoding?: string, sport = 'v\u00e9lo') =>
  `<?xml version="1.0"${encoding === undefined ? '' : ` encoding="${encoding}"`}?><gpx creator="Fictional"><trk><type>${sport}</type><trkseg><trkpt lat="45" lon="7"><time>2026-02-01T06:00:00Z</time></trkpt></trkseg></trk></gpx>`
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16le = (text: string) => Buffer.from(text, 'utf16le')
const utf16be = (text: string) => utf16le(text).swap16()

/** The sport of the workout in a file, or the error. */
async function sportOf(file: Buffer): Promise<unknown> {
  const { summaries, error } = await reading(file)
  const [shown] = documents(summaries.workouts)
  return shown ? (shown.sport as { name: string }).name : error
}

describe('XML is read in its encoding', () => {
  for (const [name, file, sport = 'V\u00e9lo'] of [
    ['UTF-8 without a declaration', Buffer.from(gpx())],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${gpx('UTF-8')}`)],
    ['UTF-16, little-endian', utf16le(`\uFEFF${gpx('UTF-16')}`)],
    ['UTF-16, big-endian', utf16be(`\uFEFF${gpx('utf-16')}`)],
    ['UTF-16 without a byte order mark', utf16le(gpx('UTF-16LE'))],
    ['UTF-16, big-endian, without a byte order mark', utf16be(gpx())],
    ['ISO-8859-1', latin1(gpx('ISO-8859-1'))],
    ['ISO-8859-1 in small letters and single quotes', latin1(gpx('iso-8859-1').replaceAll('"', "'"))],
    ['windows-1252', latin1(gpx('windows-1252', 'v\x80lo')), 'V\u20aclo'],
    ['ISO-8859-2', latin1(gpx('ISO-8859-2', 'w\xea')), 'W\u0119'],
    ['Shift_JIS', latin1(gpx('Shift_JIS', '\x83\x89\x83\x93')), '\u30e9\u30f3'],
    ['UTF-8 that declares UTF-16, as programs write what they have made as text', Buffer.from(gpx('utf-16'))],
    ['UTF-8 with a byte order mark that declares another encoding', Buffer.from(`\uFEFF${gpx('ISO-8859-1')}`)],
    ['ASCII that has characters in UTF-8', Buffer.from(gpx('US-ASCII'))],
  ] as [name: string, file: Buffer, sport?: string][])
    test(name, async () => assert.equal(await sportOf(file), sport))

  test('is read in blocks of any size', async () => {
    const text = gpx('UTF-16', 'v\u00e9lo \ud83d\ude80')
    for (const bytes of [utf16be(`\uFEFF${text}`), Buffer.from(text), utf16le(`\uFEFF${text}${' '.repeat(1000)}`)])
      for (const size of [1, 3, 1023, 1024, 5000]) {
        const blocks = (async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
        })()
        let whole = ''
        for await (const part of textOf(blocks)) whole += part
        assert.equal(whole.trim(), text, String(size))
      }
  })

  test('also an export of Apple Health', async () => {
    const xml = exportXml(record('HeartRate', 61, 'count/min', '2026-01-31 08:00:00 +0000', { sourceName: 'L\u00e9a' })).replace(
      'UTF-8',
      'UTF-16',
    )
    const { samples } = await reading(utf16le(`\uFEFF${xml}`))
    assert.deepEqual([values(samples.heartrate), samples.heartrate![0]!.app_id], [[61], 'L\u00e9a'])
    const packed = await exportZip(utf16be(`\uFEFF${xml}`) as unknown as string)
    assert.deepEqual(values((await reading(packed)).samples.heartrate), [61])
  })
})

describe('XML in no known encoding is refused', () => {
  for (const [name, file] of [
    ['bytes that are not UTF-8', latin1(gpx())],
    ['bytes that are not UTF-8 beside ASCII', latin1(gpx('us-ascii'))],
    ['an encoding that is not known', Buffer.from(gpx('UTF-7'))],
    ['an encoding of no name', Buffer.from(gpx('x-fictional'))],
    [
      'UTF-32',
      Buffer.concat(
        [...`\uFEFF${gpx()}`].map((character) =>
          Buffer.from([character.charCodeAt(0) & 0xff, character.charCodeAt(0) >> 8, 0, 0]),
        ),
      ),
    ],
    ['half a surrogate pair', utf16le(`\uFEFF${gpx('UTF-16', 'v\ud800lo')}`)],
  ] as const)
    test(name, async () => assert.equal(await sportOf(Buffer.from(file)), 'invalid_encoding'))

  test('and the text before the byte in earlier blocks was read', async () => {
    const many = Array.from({ length: 2000 }, (_, i) =>
      record('HeartRate', 60, 'count/min', `2026-01-31 08:${String(i % 60).padStart(2, '0')}:00 +0000`),
    )
    const broken = latin1(
      exportXml(...many, record('HeartRate', 62, 'count/min', '2026-01-31 09:00:00 +0000', { sourceName: 'L\xe9a' })),
    )
    const { samples, error } = await reading(broken)
    assert.equal(error, 'invalid_encoding')
    assert(samples.heartrate!.length > 1900 && values(samples.heartrate).every((value) => value === 60))
    assert(!JSON.stringify(samples).includes('\uFFFD'))
  })
})

test('an encoding is known by the first bytes, however few there are', () => {
  for (const bytes of [[], [0x3c], [0xff], [0xef, 0xbb], [0x3c, 0x3f]]) assert.equal(encodingOf(Buffer.from(bytes)), 'utf-8')
})
