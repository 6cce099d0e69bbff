import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textQuality } from './text-quality.ts'

const BOX = { left: 0, top: 0, right: 10, bottom: 10 }
const KNOWN = new Set(['glucose', 'sodium', 'result'])
const qualityOf = (text: string) =>
  textQuality(
    {
      number: 1,
      width: 612,
      height: 792,
      source: 'text',
      words: text
        .split(/\s+/u)
        .filter(Boolean)
        .map((word) => ({ text: word, box: BOX, confidence: 1 })),
    },
    { isKnown: (word) => KNOWN.has(word), isUnit: (unit) => unit === 'mg/dL' },
  )

test('text in a wrong encoding is garbage, however few letters it has; dotted lines are not', () => {
  const line = 'Sodium .................................................... 140 mmol/L [ 135 - 145 ]'
  assert.equal(qualityOf(`${line}\n`.repeat(8)), 'good')
  assert.equal(qualityOf('#$%&xq ()zwq *+wrtz vbn,- ./:; '.repeat(10)), 'garbage')
  assert.equal(qualityOf('!&= $%&( )*+, -./: ;<=> ?@^_ '.repeat(10)), 'garbage')
  assert.equal(qualityOf('Scanned by Fictional Software'), 'none')
  assert.equal(qualityOf(''), 'none')
})

test('numbers of glyphs in place of letters are garbage', () => {
  assert.equal(qualityOf('(cid:42)(cid:79)(cid:88)(cid:70)(cid:82) 105 '.repeat(6)), 'garbage')
})

test('text of which almost no word is one that reports print is garbage, unless it is short', () => {
  const unknown = 'Gluvone Sufium renalt Fictipnal '
  assert.equal(qualityOf(unknown.repeat(10)), 'garbage')
  assert.equal(qualityOf(unknown.repeat(7)), 'good')
  assert.equal(qualityOf(`${unknown.repeat(10)} Glucose Sodium Result Glucose`), 'good')
})
