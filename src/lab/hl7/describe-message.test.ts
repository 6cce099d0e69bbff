// Messages as people read them: every one, with the names of its parts, and no character that was not sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeMessage } from './describe-message.ts'
import { segmentNames } from './segment-names.ts'

const HEADER = 'MSH|^~\\&|LIS|LAB|||20300104||ORU^R01|C1|P|2.5.1'

test('a message has the names of its segments and fields, and texts without escape sequences', () => {
  const bytes = Buffer.from(
    [HEADER, 'OBX|1|FT|A^Alpha||one\\.br\\two \\T\\ three||||||F', 'NTE|1||""', 'ZZZ|x\u0001||y'].join('\r'),
  )
  assert.equal(
    describeMessage(bytes),
    `MSH  Message header
  MSH-1 Field separator: |
  MSH-2 Encoding characters: ^~\\&
  MSH-3 Sending application: LIS
  MSH-4 Sending facility: LAB
  MSH-7 Time of message: 20300104
  MSH-9 Message type: ORU^R01
  MSH-10 Control id: C1
  MSH-11 Processing id: P
  MSH-12 Version: 2.5.1
OBX  Observation
  OBX-1 Set id: 1
  OBX-2 Type of value: FT
  OBX-3 Observation: A^Alpha
  OBX-5 Value: one
    two & three
  OBX-11 Status: F
NTE  Comment
  NTE-1 Set id: 1
  NTE-3 Comment: ""
ZZZ
  ZZZ-1: x<01>
  ZZZ-3: y`,
  )
})

test('a batch shows its messages and what is wrong with it', () => {
  const text = describeMessage(Buffer.from(`BHS|^~\\&\r${HEADER}\rNTE|1||a\r${HEADER}\rNTE|1||b\rBTS|3\r`))
  assert.match(text, /^Batch of 2 messages\n\nBTS-1 announces 3 messages, and 2 came\n\nMSH /u)
  assert.equal(text.match(/NTE-3 Comment: [ab]/gu)!.length, 2)
})

test('bytes that cannot be read are shown as bytes, with the reason', () => {
  const bytes = Buffer.concat([Buffer.from(`${HEADER}\rNTE|1||M`), Buffer.from([0xfc, 0x00]), Buffer.from('ller\rline')])
  assert.equal(
    describeMessage(bytes),
    `The message is not text of the character set ASCII.\n${HEADER}\nNTE|1||M<FC><00>ller\nline`,
  )
  assert.equal(describeMessage(Buffer.from('\u007b"a": 1}')), 'The message does not begin with a header.\n{"a": 1}')
  assert.equal(describeMessage(Buffer.alloc(0)), 'The message does not begin with a header.\n')
})

test('long values and long messages are cut, which the text says', () => {
  const value = 'A'.repeat(5_000_000)
  const text = describeMessage(Buffer.from(`${HEADER}\rOBX|1|ED|DOC||${value}||||||F`))
  assert.match(text, /: A{4000} … 5000000 characters\n {2}OBX-11 Status: F$/u)
  const many = describeMessage(Buffer.from(`${HEADER}\r${HEADER}\r${`NTE|1||${'x'.repeat(3000)}\r`.repeat(1000)}`))
  assert(many.endsWith('\n… the rest is not shown'))
})

test('no field of a named segment has two names, and names have no field behind the last one', () => {
  for (const [id, segment] of Object.entries(segmentNames)) {
    const names = segment!.fields.filter(Boolean)
    assert.equal(new Set(names).size, names.length, id)
    assert(segment!.fields.at(-1), id)
  }
})
