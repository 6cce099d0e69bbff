// Colons of pictures that were misread or not seen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withColons } from './colons.ts'

/** Words of lines as `Name : Result`, of which `-` is not there. */
function read(...lines: string[]): string[] {
  const words = lines.flatMap((line, index) =>
    line.split(' ').flatMap((text, column) => {
      const left = [50, 150, 170][column]!
      const box = { left, right: left + (column === 1 ? 2 : text.length * 5), top: index * 14, bottom: index * 14 + 8 }
      return text === '-' ? [] : [{ text, box, confidence: 0.9 }]
    }),
  )
  return withColons(words)
    .toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)
    .map(({ text }) => text)
}

const LINES = ['Colour : Yellow', 'Albumin : Nil', 'Sugar : Nil', 'Casts : Nil']

test('a letter where other lines of a picture have a colon is one', () => {
  assert.deepEqual(
    read(...LINES, 'Bacteria 8 Few'),
    [...LINES, 'Bacteria : Few'].flatMap((line) => line.split(' ')),
  )
  assert.deepEqual(read(...LINES, 'Crystals B Few').at(-2), ':')
})

test('a result without its colon gets one where other lines of a picture have one', () => {
  assert.deepEqual(read('Pus - 8', ...LINES), ['Pus', ':', '8', ...LINES.flatMap((line) => line.split(' '))])
})

test('words elsewhere, lines without a name and pictures with few colons stay as they are', () => {
  assert.deepEqual(read(...LINES, '- - Few'), [...LINES.flatMap((line) => line.split(' ')), 'Few'])
  assert.deepEqual(read('Colour : Yellow', 'Albumin : Nil', 'Bacteria 8 Few').slice(-3), ['Bacteria', '8', 'Few'])
  assert.deepEqual(read(...LINES, 'Count 8 -').slice(-2), ['Count', '8'])
})
