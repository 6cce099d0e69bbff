// What the writer of HL7 makes, read by python-hl7 and by our own reader: both find the same texts, those that were to be written.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acknowledge } from '../../src/lab/hl7/acknowledgment.ts'
import { encodeText } from '../../src/lab/hl7/charsets.ts'
import { STANDARD_DELIMITERS, type Delimiters } from '../../src/lab/hl7/escapes.ts'
import { readHl7 } from '../../src/lab/hl7/hl7-message.ts'
import { readHl7Header } from '../../src/lab/hl7/message-header.ts'
import { writeSegments, type Hl7Fields } from '../../src/lab/hl7/writer.ts'
import { readAllByPython, skipWithoutPythonHl7, type PythonSegment } from './python-peers.ts'

/** Characters that have a meaning in HL7, and others. */
const ALPHABET = [
  '|',
  '^',
  '~',
  '\\',
  '&',
  '#',
  '$',
  '%',
  '*',
  '!',
  '@',
  'F',
  'S',
  'T',
  'E',
  'X',
  '0',
  ' ',
  'a',
  '\u00fc',
  '\u0141',
  '"',
  '.',
  'br',
]

function createTexts(seed: number): () => string {
  let state = seed
  const next = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * limit)
  }
  return () =>
    Array.from({ length: 1 + next(12) }, () => ALPHABET[next(ALPHABET.length)]!)
      .join('')
      .trim() || 'x'
}

interface Written {
  segments: Hl7Fields[]
  bytes: Buffer
}

/** A message in which every kind of part has a text. */
function writeMessage(text: () => string, delimiters: Delimiters): Written {
  const segments: Hl7Fields[] = [
    ['MSH', text(), [text(), text()], undefined, undefined, '20300104'],
    ['PID', '1', undefined, [text(), undefined, [text(), text()]], { repetitions: [[text(), text()], text()] }],
    ['OBX', '1', 'ST', [text(), text()], undefined, text()],
    ['NTE', '1', undefined, text()],
    ['ZZZ', undefined, { repetitions: [text(), [text(), [text(), text()]]] }, text()],
  ]
  return { segments, bytes: encodeText(writeSegments(segments, delimiters), 'UNICODE UTF-8') }
}

/** Every text that was written, with its place. */
function listTexts(
  segments: readonly Hl7Fields[],
): [segment: number, field: number, repetition: number, component: number, part: number, text: string][] {
  return segments.flatMap(([id, ...fields], s) =>
    fields.flatMap((field, f) => {
      const values = typeof field === 'object' && 'repetitions' in field ? field.repetitions : [field]
      return values.flatMap((value, r) =>
        [value].flat(1).flatMap((component, c) =>
          (typeof component === 'object' ? component : [component]).flatMap((text, p) => {
            const number = f + (id === 'MSH' ? 3 : 1)
            return text ? [[s, number, r, c, p, text] as [number, number, number, number, number, string]] : []
          }),
        ),
      )
    }),
  )
}

describe('messages that the writer makes', { skip: skipWithoutPythonHl7 }, () => {
  test('have every text at its place for python-hl7 and for our reader, with any delimiters', async () => {
    const others = { field: '$', component: '%', repetition: '*', escape: '!', subcomponent: '@', truncation: '' }
    const text = createTexts(43)
    const written = Array.from({ length: 300 }, (_, i) => writeMessage(text, i % 2 ? others : STANDARD_DELIMITERS))
    const read = await readAllByPython(written.map(({ bytes }) => bytes))
    let count = 0
    for (const [i, { segments, bytes }] of written.entries()) {
      const own = readHl7(bytes, { charset: 'UNICODE UTF-8' })
      assert.equal(own.segments.length, segments.length)
      assert.equal(read[i]!.length, segments.length)
      for (const [s, field, r, c, p, expected] of listTexts(segments)) {
        const place = `${segments[s]![0]}-${field}(${r}).${c}.${p} of message ${i}`
        assert.equal(read[i]![s]!.fields[field]?.[r]?.[c]?.[p], expected, `python-hl7: ${place}`)
        assert.equal(own.segments[s]!.get(field, c + 1, { repetition: r + 1, subcomponent: p + 1 }), expected, place)
        count++
      }
    }
    assert(count > 4000, `${count} texts`)
  })

  test('have line breaks and controls as escape sequences, which no reader takes for the end of a segment', async () => {
    const hostile = 'one\rOBX|1\ntwo\vthree\x1cfour\0'
    const bytes = encodeText(
      writeSegments([
        ['MSH', 'A'],
        ['NTE', '1', undefined, hostile],
        ['ZZZ', 'end'],
      ]),
      'UNICODE UTF-8',
    )
    const [segments] = await readAllByPython([bytes])
    assert.deepEqual(
      segments!.map(({ name }) => name),
      ['MSH', 'NTE', 'ZZZ'],
    )
    assert.equal(readHl7(bytes).get('NTE-3'), hostile.replace('\r', '\n'))
  })

  test('are acknowledgments that name the message of the sender', async () => {
    const headers = [
      'MSH|^~\\&|LIS^1.2^ISO|LAB|APP|CLINIC|20300104101500||ORU^R01^ORU_R01|A-1|P|2.5.1',
      'MSH|^~\\&|LIS|LAB|APP||20300104101500||ORU^R01|A-2|T|2.3',
      'MSH$%~!@$LIS$LAB$$$20300104101500$$ORU%R01$A-3$P$2.4',
    ]
    const answers = headers.map((header) =>
      acknowledge(readHl7Header(Buffer.from(`${header}\r`)), {
        code: 'AE',
        text: 'No | order ^ here',
        controlId: 'B-1',
        sentAt: '20300104101501+0000',
      }),
    )
    const read = await readAllByPython(answers)
    const at = (segments: readonly PythonSegment[], name: string, field: number, component = 0) =>
      segments.find((segment) => segment.name === name)?.fields[field]?.[0]?.[component]?.[0]
    assert.deepEqual(
      read.map((segments) => [
        at(segments, 'MSH', 5),
        at(segments, 'MSH', 9),
        at(segments, 'MSH', 12),
        at(segments, 'MSA', 1),
        at(segments, 'MSA', 2),
        at(segments, 'MSA', 3),
      ]),
      [
        ['LIS', 'ACK', '2.5.1', 'AE', 'A-1', 'No | order ^ here'],
        ['LIS', 'ACK', '2.3', 'AE', 'A-2', 'No | order ^ here'],
        ['LIS', 'ACK', '2.4', 'AE', 'A-3', 'No | order ^ here'],
      ],
    )
    assert.deepEqual([at(read[0]!, 'ERR', 8), at(read[1]!, 'ERR', 8)], ['No | order ^ here', undefined])
  })
})
