// Documents within messages of HL7: in one piece or several, in observations, texts or segments of their own.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  line,
  readLinkMessage,
  readLinkMessages,
  RESULT_HEADER as HEADER,
  RESULT_ORDER as ORDER,
  RESULT_PATIENT as PATIENT,
  RESULT_REQUEST as REQUEST,
} from '../../../test/support/hl7-lines.ts'
import { FrameReader, frameOf } from './frame-reader.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'

describe('documents', () => {
  const pdf = Buffer.from('%PDF-1.7 fictional \u00e4 report')
  const base64 = pdf.toString('base64')
  const documents = (lines: string[], results: NonNullable<ProfileOptions['results']> = {}) => {
    const message = readLinkMessage([ORDER, REQUEST, 'OBX|1|NM|A||1||||||F', ...lines], { results })
    assert.deepEqual(
      message.tests[0]!.observations.map(({ code }) => code),
      ['A'],
    )
    return (message.documents ?? []).map(({ type, content }) => [type, Buffer.from(content, 'base64').equals(pdf)])
  }
  const whole = [['PDF', true]]

  test('are in observations of the type ED, whatever components the sender leaves out', () => {
    for (const text of [
      `^application^pdf^Base64^${base64}`,
      `^^PDF^BASE64^${base64}`,
      `PDF^Base64^${base64}`,
      `PDF^^^^${base64}`,
      `LIS^AP^pdf^Hex^${pdf.toString('hex')}`,
    ])
      assert.deepEqual(documents([`OBX|2|ED|DOC^Report||${text}||||||F`]), whole, text.slice(0, 20))
    assert.deepEqual(documents([`OBX|2|ED|DOC^Report||^application^pdf^Base64^${base64}||||||F`], { documents: 'none' }), [])
    assert.deepEqual(documents([`OBX|2|ED|DOC^Report||^application^pdf^Base64^${base64}||||||X`]), [])
  })

  test('are joined from several segments or repetitions, cut anywhere or encoded piece by piece', () => {
    const pieces = [base64.slice(0, 7), base64.slice(7, 20), base64.slice(20)]
    const encoded = [pdf.subarray(0, 4), pdf.subarray(4, 11), pdf.subarray(11)].map((part) => part.toString('base64'))
    for (const texts of [pieces, encoded]) {
      assert.deepEqual(documents(texts.map((text, i) => `OBX|${i}|ED|DOC||^application^pdf^Base64^${text}||||||F`)), whole)
      assert.deepEqual(
        documents([`OBX|2|ED|DOC||${texts.map((text) => `^application^pdf^Base64^${text}`).join('~')}||||||F`]),
        whole,
      )
    }
    const two = documents([...pieces, ...pieces].map((text, i) => `OBX|${i}|ED|DOC||^application^pdf^Base64^${text}||||||F`))
    assert.deepEqual(two, [...whole, ...whole])
  })

  test('have the number and the code of their test, and those of two tests are two', () => {
    const ed = (text: string) => `OBX|2|ED|DOC||^application^pdf^Base64^${text}||||||F`
    const message = readLinkMessage([
      ORDER,
      'OBR|1|4711|F-1|100^One',
      ed(base64.slice(0, 12)),
      ed(base64.slice(12)),
      'OBR|2|4711|F-2|200^Two',
      ed(base64),
    ])
    assert.deepEqual(
      message.documents!.map(({ filler, test: code, content }) => [filler, code, Buffer.from(content, 'base64').equals(pdf)]),
      [
        ['F-1', '100', true],
        ['F-2', '200', true],
      ],
    )
  })

  test('are in texts or segments ZEF by the profile', () => {
    const lines = [base64.slice(0, 12), base64.slice(12)]
    assert.deepEqual(documents([`OBX|2|ST|DOC||${base64}||||||F`], { documents: 'ST' }), whole)
    assert.deepEqual(
      documents(
        lines.map((text) => `OBX|2|TX|DOC||${text}||||||F`),
        { document_codes: ['DOC'] },
      ),
      whole,
    )
    assert.deepEqual(documents([`OBX|2|FT|DOC||${lines.join('\\.br\\')}||||||F`], { document_codes: ['DOC'] }), whole)
    assert.deepEqual(documents([`ZEF|1|${base64}`], { documents: 'ZEF' }), whole)
  })

  test('are of a report without results, and of no order if a message has several', () => {
    const [message] = readLinkMessages(
      [HEADER, PATIENT, ORDER, REQUEST, `OBX|1|ED|DOC^Report||^application^pdf^Base64^${base64}||||||F`].join('\r'),
    )
    assert.deepEqual([message!.tests[0]!.observations, message!.documents!.length], [[], 1])
    const loose = `OBX|1|ED|DOC^Report||^application^pdf^Base64^${base64}||||||F`
    assert.equal(readLinkMessages([HEADER, PATIENT, loose].join('\r'))[0]!.documents!.length, 1)
    const orders = ['1', '2'].map((id) => line('OBR', { 1: '1', 2: id, 3: `F-${id}`, 4: '100', 25: 'F' }))
    assert.throws(() => readLinkMessages([HEADER, PATIENT, loose, ...orders].join('\r')), {
      message: 'The document in line 3 does not belong to one of the orders',
    })
  })

  test('are documents also behind the specimen of a test with results', () => {
    const lines = ['SPM|1|^S-1||SER', `OBX|2|ED|DOC||^application^pdf^Base64^${base64}||||||F`]
    assert.deepEqual(documents(lines), whole)
  })

  test('that are elsewhere are none', () => {
    assert.deepEqual(documents(['OBX|2|RP|DOC||https://lab.example/r.pdf^^application^pdf||||||F']), [])
  })

  test('of 10 MB take less than 80 MB of memory, from the chunks of a connection to the file', () => {
    const content = Buffer.alloc(9_900_000, 0x41)
    const message = [
      HEADER,
      PATIENT,
      ORDER,
      REQUEST,
      `OBX|1|ED|DOC||^application^pdf^Base64^${content.toString('base64')}||||||F`,
    ].join('\r')
    const frame = frameOf(Buffer.from(message))
    const memory = () => {
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = memory()
    const frames = new FrameReader({ bytesMax: 33_554_432, endsWithoutReturn: false })
    const [read] = Array.from({ length: Math.ceil(frame.length / 65_536) }, (_, i) =>
      frames.push(frame.subarray(i * 65_536, (i + 1) * 65_536)),
    ).flat()
    const [neutral] = readLinkMessages(read!.bytes)
    const file = Buffer.from(neutral!.documents![0]!.content, 'base64')
    const bytes = memory() - before
    assert(file.equals(content))
    assert(bytes < 80_000_000, `${bytes} bytes`)
  })
})
