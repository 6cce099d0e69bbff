import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Frame } from './frame.ts'

/** The values of a Bind message of the unnamed statement, all sent as text or all as bytes. */
function valuesOf(bytes: Buffer): (string | null)[] {
  // Type, length, two empty names.
  let at = 1 + 4 + 2
  at += 2 + 2 * bytes.readUInt16BE(at)
  const count = bytes.readUInt16BE(at)
  at += 2
  return Array.from({ length: count }, () => {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length === -1) return null
    at += length
    return bytes.toString('utf8', at - length, at)
  })
}

test('Texts of any length and of characters of one to four bytes are sent whole', () => {
  const frame = new Frame()
  for (const character of ['a', 'é', '漢', '😀'])
    for (const count of [1, 5460, 5461, 8191, 8192, 16_383, 16_384, 16_385, 100_000]) {
      const text = character.repeat(count)
      const values = ['before', text, null, text, 'behind']
      frame.run('', values, true)
      frame.sync()
      const bytes = frame.take()
      assert.deepEqual(valuesOf(bytes), values, `${count} of ${character}`)
      // Type and length of the last message, Sync.
      assert.deepEqual([...bytes.subarray(-5)], [83, 0, 0, 0, 4])
    }
})

test('A message with long texts takes no more than twice the memory of its bytes', () => {
  const frame = new Frame()
  const text = 'a'.repeat(200_000)
  frame.run(
    '',
    Array.from({ length: 8 }, () => text),
    false,
  )
  const bytes = frame.take()
  assert(bytes.buffer.byteLength <= 2 * bytes.length + 40_000, `${bytes.buffer.byteLength} bytes for ${bytes.length}`)
})
