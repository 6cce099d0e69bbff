// The segments of a message over a link, as its page reads them from the text of the API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSegments } from '../../console/pages/link-message/segments.ts'
import { describeMessage } from '../../src/lab/hl7/describe-message.ts'

const HEADER = 'MSH|^~\\&|LIS|LAB|||20300104||ORU^R01|C1|P|2.5.1'
const read = (text: string) => readSegments(describeMessage(Buffer.from(text)))

test('a value with lines that look like segments and fields stays one value', () => {
  const segments = read(`${HEADER}\rOBX|1|FT|A||one\\.br\\PID  Patient\\.br\\  PID-5 Name: x\rZZZ|a: b||""`)!
  assert.deepEqual(
    segments.map(({ name }) => name),
    ['MSH  Message header', 'OBX  Observation', 'ZZZ'],
  )
  assert.deepEqual(segments[1]!.fields.at(-1), { label: 'OBX-5 Value', value: 'one\nPID  Patient\n  PID-5 Name: x' })
  assert.deepEqual(segments[2]!.fields, [
    { label: 'ZZZ-1', value: 'a: b' },
    { label: 'ZZZ-3', value: '""' },
  ])
})

test('a batch has its notes and the segments of its messages', () => {
  const segments = read(`BHS|^~\\&\r${HEADER}\rNTE|1||a\r${HEADER}\rNTE|1||b\rBTS|3\r`)!
  assert.deepEqual(
    segments.map(({ name }) => name.split('  ')[0]),
    ['Batch of 2 messages', 'BTS-1 announces 3 messages, and 2 came', 'MSH', 'NTE', 'MSH', 'NTE'],
  )
})

test('the end of a message that is cut anywhere is said', () => {
  for (let length = 0; length < 40; length++) {
    const segments = read(`${HEADER}\rNTE|1||${'y'.repeat(length)}\r${`NTE|1||${'x'.repeat(3000)}\r`.repeat(400)}`)!
    assert.deepEqual(segments.at(-1), { name: '… the rest is not shown', fields: [] })
  }
})

test('what is not a message of segments is left as it is, also if it looks like one', () => {
  for (const text of ['', 'no message', '{"sender": "LIS"}', 'MSH  Message header\n  MSH-3 Sending application: LIS'])
    assert.equal(read(text), undefined)
})
