import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOf, LineBuffer, linesOf, joinBlocks } from './line-buffer.ts'

const joinAll = (buffer: LineBuffer): string => joinBlocks(buffer.take(Infinity)).toString()

test('lines of any length and script are read back in order', () => {
  const lines = ['', 'a', 'ü𝄞', 'long '.repeat(50_000), ...Array.from({ length: 1000 }, (_, i) => `${i} `.repeat(40))]
  const buffer = new LineBuffer()
  for (const line of lines) assert.equal(buffer.add(line), Buffer.byteLength(line) + 1)
  assert.equal(buffer.lines, lines.length)
  assert.equal(joinAll(buffer), lines.map((line) => `${line}\n`).join(''))
  assert.equal(buffer.lines, 0)
})

test('lines can be removed from the beginning and returned', () => {
  const buffer = new LineBuffer()
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} `.padEnd(100, '.'))
  for (const line of lines) buffer.add(line)
  const taken = buffer.take(100_000)
  const [count, bytes] = [linesOf(taken), bytesOf(taken)]
  assert(bytes >= 100_000 && bytes < 200_000 && count === bytes / 101)
  assert.equal(buffer.lines, lines.length - count)
  buffer.add('last')
  buffer.putBack(taken)
  assert.equal(buffer.lines, lines.length + 1)
  assert.equal(joinAll(buffer), [...lines, 'last'].map((line) => `${line}\n`).join(''))
})
