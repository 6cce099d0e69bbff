// Messages as segments and fields: delimiters, escape sequences, ends of lines, character sets.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acknowledge } from './acknowledgment.ts'
import { splitBatch } from './batch.ts'
import { Hl7Message, readHl7 } from './hl7-message.ts'
import { readHl7Header, unknownHeader } from './message-header.ts'
import { writeSegments, type Hl7Fields } from './writer.ts'

const HEADER = 'MSH|^~\\&|LAB^1.2^ISO|SITE|APP|CLINIC|20300101120000||ORU^R01^ORU_R01|A1|P|2.5.1'
const parse = (...lines: string[]) => new Hl7Message([HEADER, ...lines].join('\r'), 'UNICODE UTF-8')

describe('a message', () => {
  test('has texts by segment, field, repetition, component and subcomponent', () => {
    const message = parse('PID|1||77^^^LAB~88^^^SSA||Doe&van&Doe^Jane', 'OBX|1|NM|A', 'OBX|2|NM|B^C')
    const paths = [
      'MSH-1',
      'MSH-2',
      'MSH-3',
      'MSH-3.2',
      'MSH-9.2',
      'PID-3',
      'PID-3[2].4',
      'PID-5',
      'PID-5.1.3',
      'PID-5.2',
      'OBX[2]-3.2',
    ]
    assert.deepEqual(
      paths.map((path) => message.get(path)),
      ['|', '^~\\&', 'LAB', '1.2', 'R01', '77', 'SSA', 'Doe&van&Doe', 'Doe', 'Jane', 'C'],
    )
    for (const path of ['PID-99', 'ZZZ-1', 'PID-5.9', 'PID-3[9]', 'OBX[3]-1']) assert.equal(message.get(path), '')
    assert.throws(() => message.get('PID'), /is not a path/u)
  })

  test('has no value where the sender writes null', () => {
    assert.equal(parse('PID|""|x^""').get('PID-1'), '')
    assert.equal(parse('PID|""|x^""').get('PID-2.2'), '')
  })

  test('is decoded once, after it is split', () => {
    const text = (value: string) => parse(`NTE|1||${value}`).get('NTE-3')
    for (const [value, expected] of [
      ['a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f', 'a|b^c&d~e\\f'],
      ['\\E\\F\\E\\', '\\F\\'],
      ['one\\.br\\two\\.sp2\\three', 'one\ntwo\n\nthree'],
      ['a\\.sk3\\b\\.in+4\\c', 'a   bc'],
      ['\\H\\high\\N\\', 'high'],
      ['\\X41\\\\X4D\\', 'AM'],
      ['\\XC3BC\\', 'ü'],
      // Without a meaning, or not of the character set: left as they are.
      ['\\XFC\\', '\\XFC\\'],
      ['\\Z01\\ \\P\\ \\q\\ C:\\temp\\F\\', '\\Z01\\ \\P\\ \\q\\ C:\\temp|'],
      ['50 \\ 60', '50 \\ 60'],
    ] as const)
      assert.equal(text(value), expected)
  })

  test('has the delimiters that its header declares', () => {
    const message = new Hl7Message('MSH$%*!@$LAB%X$SITE\rPID$a%b*c@d%e!F!', 'ASCII')
    assert.deepEqual(
      [message.get('MSH-3.2'), message.get('PID-1.2'), message.get('PID-1[2].1.2'), message.get('PID-1[2].2')],
      ['X', 'b', 'd', 'e$'],
    )
    const few = new Hl7Message('MSH|^|LAB^X|SITE\rPID|a~b&c\\F\\', 'ASCII')
    assert.deepEqual([few.get('MSH-3.2'), few.get('PID-1')], ['X', 'a~b&c\\F\\'])
    for (const header of ['MSH', 'MSH|^^', 'MSH|^~A&|', 'MSH|^~\\&#!|', 'MSHa^~\\&a', 'MSH|é|', 'MSH|\u{1f600}|'])
      assert.throws(() => new Hl7Message(header, 'ASCII'), { name: 'UnreadableMessage', message: /delimiters/u }, header)
  })

  test('ends its segments with CR, LF or both, and a line feed within text stays', () => {
    const lines = [HEADER, 'NTE|1||one', 'NTE|2||two']
    for (const end of ['\r', '\n', '\r\n', '\n\r', '\r\r', '\r\n\r\n']) {
      const { segments } = new Hl7Message(lines.join(end) + end, 'ASCII')
      assert.deepEqual(
        segments.map(({ id, number }) => [id, number]),
        [
          ['MSH', 1],
          ['NTE', 2],
          ['NTE', 3],
        ],
      )
      assert.deepEqual([segments[1]!.get(3), segments[2]!.get(3)], ['one', 'two'])
    }
    const mixed = new Hl7Message(`\n ${HEADER}\rNTE|1||one\n\ntwo\nNTE|2||three\r\x1a`, 'ASCII')
    assert.deepEqual([mixed.get('NTE-3'), mixed.get('NTE[2]-3')], ['one\n\ntwo', 'three'])
  })

  test('with a line that is no segment, or without a header, is unreadable', () => {
    assert.throws(() => parse('NTE|1||one', 'two'), { message: 'Line 3 is not a segment' })
    assert.throws(() => parse('NTE^1'), { message: 'Line 2 is not a segment' })
    for (const text of ['', ' ', 'PID|1', '{}', 'XMSH|^~\\&'])
      assert.throws(() => new Hl7Message(text, 'ASCII'), { message: 'The message does not begin with a header' })
  })
})

describe('the character set of a message', () => {
  const withSet = (set: string) => `${HEADER}||||||${set}\rPID|1||||`
  const name = (bytes: Buffer, charset?: string) => readHl7(bytes, charset === undefined ? {} : { charset }).get('PID-5')

  test('is the one that it declares', () => {
    assert.equal(name(Buffer.from(`${withSet('UNICODE UTF-8')}Łącka`)), 'Łącka')
    assert.equal(name(Buffer.from(`${withSet('8859/9')}`.concat('\u00ddnci'), 'latin1')), 'İnci')
    const kanji = Buffer.concat([Buffer.from(withSet('~ISO IR87')), Buffer.from('1b24423b33452d4e47467c1b2842', 'hex')])
    assert.match(name(kanji), /^山.+/u)
  })

  test('of kanji is decoded before the message is split, because their bytes contain delimiters', () => {
    const sugar = Buffer.concat([Buffer.from(withSet('~ISO IR87')), Buffer.from('1b2442457c1b2842', 'hex'), Buffer.from('|M')])
    const message = readHl7(sugar)
    assert.deepEqual([message.get('PID-5').length, message.get('PID-6')], [1, 'M'])
  })

  test('without a declaration is that of the profile, else ASCII', () => {
    const latin = Buffer.from(`${HEADER}\rPID|1||||Müller`, 'latin1')
    assert.equal(name(latin, '8859/1'), 'Müller')
    assert.throws(() => name(latin), { message: 'The message is not text of the character set ASCII' })
    assert.throws(() => name(latin, 'UNICODE UTF-8'), { message: 'The message is not text of the character set UNICODE UTF-8' })
  })

  test('is that of the profile if declarations are to be ignored', () => {
    const wrong = Buffer.from(`${withSet('ASCII')}Müller`, 'latin1')
    assert.equal(readHl7(wrong, { charset: '8859/1', ignoresDeclaredCharset: true }).get('PID-5'), 'Müller')
  })

  test('is recognized by a byte order mark or by zeros', () => {
    const text = `${HEADER}\rPID|1||||Łącka`
    const marked = [Buffer.from(`\uFEFF${text}`), Buffer.from(`\uFEFF${text}`, 'utf16le'), Buffer.from(text, 'utf16le')]
    for (const bytes of marked) assert.equal(name(bytes), 'Łącka')
  })
})

describe('the writer', () => {
  test('escapes every text, so that it is read back as it was', () => {
    const hostile = 'a|b^c~d\\e&f\rOBX|9\n\x0b\x1c\x00"ü'
    const segments: Hl7Fields[] = [
      ['MSH', 'APP', [['x', hostile]]],
      [
        'PID',
        undefined,
        hostile,
        [hostile, undefined, [undefined, hostile], undefined],
        { repetitions: [hostile, undefined, [undefined, 'x']] },
        '',
      ],
      ['ZZZ'],
    ]
    const text = writeSegments(segments)
    assert(Buffer.from(text).every((byte) => byte >= 0x20 || byte === 0x0d))
    const message = new Hl7Message(text, 'UNICODE UTF-8')
    const expected = hostile.replace('\r', '\n')
    assert.equal(message.segments.length, 3)
    assert.deepEqual(
      ['MSH-3', 'MSH-4.1.2', 'PID-1', 'PID-2', 'PID-3', 'PID-3.3.2', 'PID-4', 'PID-4[2]', 'PID-4[3].2'].map((path) =>
        message.get(path),
      ),
      ['APP', expected, '', expected, expected, expected, expected, '', 'x'],
    )
    assert.equal(message.find('PID')!.fieldCount, 4)
  })
})

describe('the header', () => {
  test('is read from a message whose rest cannot be read', () => {
    const bytes = Buffer.concat([Buffer.from(`${HEADER}\r`), Buffer.from([0xff, 0xfe]), Buffer.from('\rjunk')])
    const { sendingApplication, sendingFacility, messageCode, triggerEvent, controlId, version, isBatch } = readHl7Header(bytes)
    assert.deepEqual(
      [sendingApplication, sendingFacility, messageCode, triggerEvent, controlId, version, isBatch],
      ['LAB^1.2^ISO', 'SITE', 'ORU', 'R01', 'A1', '2.5.1', false],
    )
  })

  test('of a batch has the id of the batch and the type of its first message', () => {
    const bytes = Buffer.from(`FHS|^~\\&|LAB|SITE|||20300101||||F1\rBHS|^~\\&\r${HEADER}\rBTS|1\rFTS|1\r`)
    const { controlId, messageCode, version, isBatch } = readHl7Header(bytes)
    assert.deepEqual([controlId, messageCode, version, isBatch], ['F1', 'ORU', '2.5.1', true])
  })
})

describe('an acknowledgment', () => {
  const answer = { code: 'AA', controlId: 'R1', sentAt: '20300101120001+0000' } as const
  const answerTo = (header: string, changes = {}) =>
    acknowledge(readHl7Header(Buffer.from(`${header}\r`, 'latin1'), { charset: '8859/1' }), { ...answer, ...changes }).toString(
      'latin1',
    )

  test('names the message, in the version and the delimiters of the sender, and is addressed to the sender', () => {
    assert.equal(
      answerTo(HEADER),
      'MSH|^~\\&|APP|CLINIC|LAB^1.2^ISO|SITE|20300101120001+0000||ACK^R01^ACK|R1|P|2.5.1\rMSA|AA|A1\r',
    )
    assert.equal(
      answerTo('MSH$%~!@$LAB$SITE$APP$CLINIC$20300101$$ORU%R01$9%8!F!$T$2.3'),
      'MSH$%~!@$APP$CLINIC$LAB$SITE$20300101120001+0000$$ACK$R1$T$2.3\rMSA$AA$9%8!F!\r',
    )
    assert.match(answerTo('MSH|^~\\&|LAB||||20300101||ORU^R01|7|P|2.4^USA'), /\|ACK\^R01\|R1\|P\|2\.4\^USA\rMSA\|AA\|7\r$/u)
  })

  test('says why a message is refused, also as an error segment from version 2.5 on', () => {
    const changes = { code: 'AE', text: 'The order | is unknown' }
    assert.match(
      answerTo(HEADER, changes),
      /MSA\|AE\|A1\|The order \\F\\ is unknown\rERR\|\|\|207\^.+\|E\|\|\|\|The order \\F\\ is unknown\r$/u,
    )
    assert.match(answerTo('MSH|^~\\&|LAB||||20300101||ORU^R01|7|P|2.3', changes), /\rMSA\|AE\|7\|The order \\F\\ is unknown\r$/u)
  })

  test('is in the character set of the sender', () => {
    const header = 'MSH|^~\\&|LABÜ||||20300101||ORU^R01|7|P|2.5.1||||||8859/1'
    assert.match(answerTo(header), /^MSH\|\^~\\&\|\|\|LABÜ\|.+\|8859\/1\rMSA/u)
  })

  test('of a message that declares few delimiters has others for its own text', () => {
    const text = answerTo('MSH|^|LAB||||20300101||ORU^R01|7|P|2.3', { code: 'AR', text: 'a^b' })
    assert.equal(new Hl7Message(text, 'ASCII').get('MSA-3'), 'a^b')
  })

  test('answers bytes without a header', () => {
    const text = acknowledge(unknownHeader(), { ...answer, code: 'AR', text: 'no header' }).toString()
    assert.deepEqual(
      ['MSA-1', 'MSA-2', 'MSA-3'].map((path) => new Hl7Message(text, 'ASCII').get(path)),
      ['AR', '', 'no header'],
    )
  })
})

describe('a batch', () => {
  const message = (id: number) => `MSH|^~\\&|LAB|SITE|||20300101||ORU^R01|${id}|P|2.5.1\rOBX|1|ST|A||MSH|`
  const ids = (bytes: Buffer) => splitBatch(bytes).messages.map((part) => readHl7(part, { charset: '8859/1' }).get('MSH-10'))
  const ten = Array.from({ length: 10 }, (_, i) => message(i)).join('\r')

  test('has its messages, whatever ends its lines', () => {
    for (const end of ['\r', '\n', '\r\n']) {
      const text = `FHS|^~\\&|LAB\rBHS|^~\\&|LAB\r${ten}\rBTS|10\rFTS|1\r`.replaceAll('\r', end)
      assert.deepEqual(ids(Buffer.from(text)), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
      assert.deepEqual(splitBatch(Buffer.from(text)).faults, [])
    }
    for (const text of [`\uFEFFBHS|^~\\&\r${ten}\rBTS|10`, `${ten}\r`])
      assert.equal(splitBatch(Buffer.from(text, 'utf16le')).messages.length, 10)
  })

  test('reports counts that differ, and trailers that are absent', () => {
    const faults = (text: string) => splitBatch(Buffer.from(text)).faults
    assert.deepEqual(faults(`FHS|^~\\&\rBHS|^~\\&\r${ten}\rBTS|96\rFTS|31\r`), [
      'BTS-1 announces 96 messages, and 10 came',
      'FTS-1 announces 31 batches, and 1 came',
    ])
    assert.deepEqual(faults(`FHS|^~\\&\rBHS|^~\\&\r${ten}\r`), [
      '1 BHS and 0 BTS: the file may be incomplete',
      '1 FHS and 0 FTS: the file may be incomplete',
    ])
    assert.deepEqual(faults(`BHS|^~\\&\r${ten}\rBTS|Doe\r`), ['BTS-1 announces an invalid number of messages, and 10 came'])
    assert.deepEqual(faults(`BHS|^~\\&\r${message(1)}\rBTS|1\rBHS|^~\\&\r${message(2)}\r${message(3)}\rBTS|2`), [])
  })

  test('that is one message is that message', () => {
    const { messages, isBatch, faults } = splitBatch(Buffer.from(message(1)))
    assert.deepEqual([messages.length, messages[0]!.toString(), isBatch, faults], [1, message(1), false, []])
  })

  test('is decoded message by message', () => {
    const bytes = Buffer.from(`${message(1)}\r${message(2)}\u00ff\r${message(3)}`, 'latin1')
    const states = splitBatch(bytes).messages.map((part) => {
      try {
        return readHl7(part).get('MSH-10')
      } catch (error) {
        return (error as Error).name
      }
    })
    assert.deepEqual(states, ['1', 'UndecodableMessage', '3'])
  })

  test('without a message, or with too many, is unreadable', () => {
    assert.throws(() => splitBatch(Buffer.from('FHS|^~\\&\rBHS|^~\\&\rBTS|0\rFTS|1')), {
      message: 'The batch contains no message',
    })
    assert.throws(() => splitBatch(Buffer.from(`${message(1)}\r`.repeat(1001))), { message: /has 1001 messages/u })
    assert.throws(() => splitBatch(Buffer.from('{}')), { message: 'The message does not begin with a header' })
  })
})
