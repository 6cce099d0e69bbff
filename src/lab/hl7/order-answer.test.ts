// Answers of laboratories to order messages.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { readOrderAnswer } from './order-answer.ts'

const read = (...segments: string[]) =>
  readOrderAnswer(Buffer.from(['MSH|^~\\&|LIS|LAB|DB|CLINIC|20300102||X|A1|P|2.5.1', ...segments, ''].join('\r')))

describe('the answer to an order', () => {
  test('is the code and the control id of an acknowledgment', () => {
    assert.deepEqual(read('MSA|AA|C-1'), { code: 'AA', control_id: 'C-1', text: null, orders: [] })
    for (const code of ['AA', 'AE', 'AR', 'CA', 'CE', 'CR']) assert.equal(read(`MSA|${code}|C-1`).code, code)
  })

  test('has what the laboratory says in MSA, in ERR of each version and in NTE, each text once', () => {
    assert.equal(
      read('MSA|AE|C-1|Unknown account', 'ERR||ORC^1^2|204^Unknown key identifier^HL70357|E||||No such account').text,
      'Unknown account\nORC-1-2: No such account',
    )
    assert.equal(read('MSA|AR|C-1', 'ERR||OBR^1|103^Table value not found^HL70357|E').text, 'OBR-1: Table value not found')
    assert.equal(read('MSA|AE|C-1', 'ERR|PID^1^5^101&Required field missing&HL70357').text, 'Required field missing')
    assert.equal(read('MSA|AE|C-1|Same', 'ERR|||207^Same|E', 'NTE|1||A note').text, 'Same\nA note')
  })

  test('has the numbers, the status and the reason of each order', () => {
    const { orders } = read(
      'MSA|AA|C-1',
      'PID|1||P',
      'ORC|OK|PL-1|FI-1^LAB|GR-1|IP',
      'OBR|1|PL-1|FI-1',
      'SPM|1|S-1^ACC-1',
      'ORC|UA|||||||||||||||QNS^Quantity not sufficient',
      'OBR|2|PL-2|FI-2',
      'NTE|1||Collect again',
    )
    assert.deepEqual(orders, [
      { control: 'OK', placer: 'PL-1', filler: 'FI-1', group: 'GR-1', accessions: ['ACC-1'], status: 'IP', text: null },
      {
        control: 'UA',
        placer: 'PL-2',
        filler: 'FI-2',
        group: '',
        accessions: [],
        status: '',
        text: 'Quantity not sufficient\nCollect again',
      },
    ])
  })

  test('has the specimen of each order also where specimens come first', () => {
    const { orders } = read(
      'MSA|AA|C-1',
      'SPM|1|S-1^ACC-1',
      'ORC|OK|PL-1',
      'OBR|1',
      'ORC|OK|PL-2',
      'SPM|2|S-2^ACC-2',
      'ORC|OK|PL-3',
    )
    assert.deepEqual(
      orders.map(({ placer, accessions }) => [placer, accessions]),
      [
        ['PL-1', ['ACC-1']],
        ['PL-2', ['ACC-1']],
        ['PL-3', ['ACC-2']],
      ],
    )
  })

  test('is unreadable without MSA or with another code', () => {
    for (const segment of ['PID|1', 'MSA||C-1', 'MSA|XX|C-1']) assert.throws(() => read(segment), UnreadableMessage)
  })
})
