// Messages that nobody should send: whatever the bytes, reading ends soon and with the documented error. MUTATIONS sets the number of random ones
// (10,000 took 10 s); a quadratic pattern would need hours for the long ones.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { line, RESULT_HEADER, RESULT_ORDER, RESULT_PATIENT, RESULT_REQUEST } from '../../../test/support/hl7-lines.ts'
import { profileWith, toProfile } from '../../../test/support/link-messages.ts'
import { readDocuments } from '../links/link-documents.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { interpretMessage } from '../result-matching/interpret-message.ts'
import { describeMessage } from './describe-message.ts'
import { FrameReader, frameOf } from './frame-reader.ts'
import { readHeader, readMessage, splitMessages } from './read-message.ts'

const MUTATIONS = Number(process.env.MUTATIONS ?? 1000)
const profiles = [
  profileWith({}),
  profileWith({
    text: { charset: '8859/1', decimal_mark: ',' },
    results: {
      documents: 'ST',
      has_footer: true,
      performing_laboratory: 'ZPS',
      status_from: 'result',
      loinc_without_system: true,
      comment_codes: ['C'],
      flags: { '*': 'A' },
    },
    order_number: { pattern: '*{number}-*', prefix: 'X', fields: ['OBR-20', 'PID-18', 'SPM-2.1'] },
  }),
].map(toProfile)

/** Everything that is done with the bytes of a message, from its header to its documents. @returns the number of orders */
function readWhole(bytes: Buffer): number {
  let count = 0
  readHeader(bytes)
  describeMessage(bytes)
  for (const profile of profiles)
    try {
      for (const part of splitMessages(bytes).messages) {
        const message = readMessage(part, profile)
        if (message.kind === 'answer') continue
        for (const item of message.messages) {
          readDocuments(item)
          interpretMessage(item, { account_id: '', lab_slug: '', profile })
          count++
        }
      }
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error
    }
  return count
}

const pdf = Buffer.from('%PDF-1.4').toString('base64')
const sources = [
  [
    RESULT_HEADER,
    RESULT_PATIENT,
    RESULT_ORDER,
    RESULT_REQUEST,
    'NTE|1||Comment \\T\\ more~second',
    'OBX|1|NM|2093-3^Cholesterol^LN^CHOL^Total^L||1.182,5|mg/dL|<200|N~A|||F|||20300103083000+0100',
    'OBX|2|CWE|ORG|1|E^E. coli^L||||||F',
    'OBX|3|SN|S||>^100|||H|||C||||S1^Site',
    `OBX|4|ED|DOC||^application^pdf^Base64^${pdf}||||||F`,
    `OBX|5|ST|DOC||${pdf}||||||F`,
    line('OBR', { 1: '2', 2: '4711', 3: 'F-2', 4: 'SUSC', 25: 'F', 26: 'ORG^1', 29: '4711^F-1' }),
    'OBX|1|SN|AMP||>=^32|ug/mL||R|||F',
    line('SPM', { 1: '1', 2: '4711^S-9', 4: 'SER', 17: '20300103', 18: '20300104' }),
    'ZPS|1|S1|Site|1 Street^^City|555|x|17^Example^Ada|m|99D9999999',
  ].join('\r'),
  [
    'FHS|^~\\&|A',
    'BHS|^~\\&|A',
    'MSH|^~\\&|A|B|||203001041015||ORU^R01|1|P|2.3',
    line('OBR', { 1: '1', 2: '4711', 4: 'GLU', 25: 'F' }),
    'OBX|1|NM|GLU||5,0||||||F',
    'BTS|1',
    'FTS|1',
  ].join('\r\n'),
  [
    'MSH|^~\\&|A|B|||20300104||ORL^O22^ORL_O22|1|P|2.5.1',
    'MSA|AE|9|no',
    'ERR|||207^x|E|||d|u',
    'ORC|UA|1|2||CA',
    'OBR|1|1|2|A',
  ].join('\n'),
  '{"sender":"A","control_id":"1","sent_at":"20300104101500","numbers":{},"tests":[{"code":"A","name":"A","status":"F","observations":[]}]}',
].map((text) => Buffer.from(text))

/** Numbers from 0 to below 1 that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const SPECIAL = Buffer.from('|^~\\&\r\n\v\x1c\0"{}[]MSHOBXNTE0123456789.,-+<>ABCFPX \xfc\xff\xe4', 'latin1')

/** Bytes with some of them changed, deleted, doubled, moved or cut off. */
function mutate(bytes: Buffer, random: () => number): Buffer {
  let result = Buffer.from(bytes)
  const position = () => Math.floor(random() * (result.length + 1))
  for (let change = 0; change <= random() * 6; change++) {
    const [start, end] = [position(), position()].sort((a, b) => a - b) as [number, number]
    const special = Buffer.of(SPECIAL[Math.floor(random() * SPECIAL.length)]!)
    const kind = Math.floor(random() * 6)
    if (kind === 0 && result.length > 0) result[Math.min(start, result.length - 1)] = special[0]!
    else if (kind === 1) result = Buffer.concat([result.subarray(0, start), special, result.subarray(start)])
    else if (kind === 2) result = Buffer.concat([result.subarray(0, start), result.subarray(Math.min(end, start + 20))])
    else if (kind === 3 && result.length < 20_000) result = Buffer.concat([result, result.subarray(start, end)])
    else if (kind === 4) result = Buffer.concat([result.subarray(0, start), result.subarray(end), result.subarray(start, end)])
    else if (random() < 0.2) result = result.subarray(0, start)
  }
  return result
}

describe('reading', () => {
  test(`ends with the documented error, or none, for ${MUTATIONS} mutations of messages`, () => {
    assert.deepEqual(sources.map(readWhole), [2, 2, 0, 2])
    const random = createRandom(43)
    let whole = 0
    for (let i = 0; i < MUTATIONS; i++) {
      const bytes = mutate(sources[i % sources.length]!, random)
      try {
        if (readWhole(bytes) > 0) whole++
      } catch (error) {
        throw new Error(`mutation ${i}: ${JSON.stringify(bytes.toString('latin1'))}`, { cause: error })
      }
    }
    // Otherwise the mutations would test the first checks only.
    assert(whole > MUTATIONS / 10, `${whole} messages are readable`)
  })

  const MILLION = 1_000_000
  const messageWith = (value: string, type = 'ST') =>
    Buffer.from([RESULT_HEADER, RESULT_PATIENT, RESULT_ORDER, RESULT_REQUEST, `OBX|1|${type}|A||${value}||||||F`].join('\r'))
  const longTexts: [name: string, bytes: () => Buffer][] = [
    ['spaces before a letter', () => messageWith(`${' '.repeat(MILLION - 10)}x`, 'TX')],
    ['line feeds', () => messageWith(`x${'\n'.repeat(MILLION - 10)}x`)],
    ['digits before signs', () => messageWith(`${'1'.repeat(MILLION - 10)},,1`)],
    ['signs', () => messageWith('1,'.repeat(MILLION / 2 - 5))],
    ['escape characters', () => messageWith('\\'.repeat(MILLION - 10))],
    ['half escape sequences', () => messageWith('\\X'.repeat(MILLION / 2 - 5))],
    ['hexadecimal digits', () => messageWith(`\\X${'0'.repeat(MILLION - 10)}`)],
    ['components', () => messageWith('^'.repeat(MILLION * 3), 'CWE')],
    ['subcomponents', () => messageWith('&'.repeat(MILLION - 10), 'CWE')],
    ['repetitions', () => messageWith('~'.repeat(MILLION - 10), 'TX')],
    ['coded repetitions', () => messageWith('a^b~'.repeat(MILLION / 10), 'CWE')],
    ['pieces of a document', () => messageWith('~'.repeat(MILLION * 5), 'ED')],
    ['fields', () => Buffer.concat([messageWith('1'), Buffer.from('|'.repeat(MILLION * 3))])],
    ['segments', () => Buffer.concat([messageWith('1'), Buffer.from('\rNTE|1||x'.repeat(MILLION / 10))])],
    [
      'lines of one result',
      () => Buffer.concat([messageWith('1', 'TX'), Buffer.from('\rOBX|1|TX|A||some text of a line||||||F'.repeat(9999))]),
    ],
    [
      'observations',
      () =>
        Buffer.from(
          messageWith('1').toString() + Array.from({ length: 9999 }, (_, i) => `\rOBX|1|NM|A${i}||${i}||||||F`).join(''),
        ),
    ],
    [
      'ordered tests',
      () =>
        Buffer.concat([
          messageWith('1'),
          Buffer.from(Array.from({ length: MILLION / 10 }, (_, i) => `\rOBR|1||F${i}|A`).join('')),
        ]),
    ],
    ['patients', () => Buffer.concat([messageWith('1'), Buffer.from('\rPID|1\rOBX|1|ED|A'.repeat(MILLION / 10))])],
    ['blank lines', () => Buffer.concat([Buffer.from('\r'.repeat(MILLION * 3)), messageWith('1')])],
    ['line feeds before a header', () => Buffer.concat([Buffer.from('\n'.repeat(MILLION * 3)), messageWith('1')])],
    ['NUL', () => Buffer.alloc(MILLION * 3)],
    ['headers', () => Buffer.from('MSH|^~\\&|A|B|||1||ORU|1|P|2.3\r'.repeat(900) + 'MSH'.repeat(MILLION))],
    [
      'half names of sites',
      () => Buffer.concat([messageWith('1'), Buffer.from(`\rZPS|1|S|N|${'99D'.repeat(MILLION)}|${'1 '.repeat(MILLION)}`)]),
    ],
    ['text that is not Base64', () => messageWith(`JVBER${'A'.repeat(MILLION * 3)}*`, 'ED')],
    ['an opening bracket', () => Buffer.from('{'.repeat(MILLION))],
    ['bytes that are not characters', () => Buffer.concat([messageWith('1'), Buffer.alloc(MILLION * 3, 0xff)])],
    ['start bytes of frames', () => Buffer.from('\vMSH'.repeat(MILLION))],
  ]
  for (const [name, bytes] of longTexts)
    test(`takes time in proportion to the length for ${name}`, { timeout: 60_000 }, () => {
      const message = bytes()
      readWhole(message)
      const frames = new FrameReader({ bytesMax: 33_554_432, endsWithoutReturn: false }).push(frameOf(message))
      assert.equal(frames.at(-1)!.kind, 'message')
    })
})
