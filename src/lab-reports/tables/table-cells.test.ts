// What a cell holds: results, units and flags, also without the spaces between them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOf, splitCell } from './table-cells.ts'

const parts = (text: string) => {
  let left = 0
  const words = text.split(' ').map((word) => {
    const box = { left, right: left + word.length * 5, top: 0, bottom: 10 }
    left = box.right + 3
    return { text: word, box, confidence: 1 }
  })
  return splitCell(cellOf(words)).map((cell) => `${cell.kind} ${cell.text}`)
}

test('a result, its unit and its flag are apart, also where spaces are left out', () => {
  assert.deepEqual(parts('5.9 g/dL (HIGH)'), ['value 5.9', 'unit g/dL', 'flag (HIGH)'])
  assert.deepEqual(parts('5.9g/dL (HIGH)'), ['value 5.9', 'unit g/dL', 'flag (HIGH)'])
  assert.deepEqual(parts('12 mg/dL(LOW)'), ['value 12', 'unit mg/dL', 'flag (LOW)'])
  assert.deepEqual(parts('<12mg/dL(L)'), ['value <12', 'unit mg/dL', 'flag (L)'])
  assert.deepEqual(parts('95mg/dL'), ['value 95', 'unit mg/dL'])
  assert.deepEqual(parts('12mm/1st hr'), ['value 12', 'unit mm/1st hr'])
  assert.deepEqual(parts('5.2x10³/µL'), ['value 5.2', 'unit x10³/µL'])
  assert.deepEqual(parts('5.2×10⁹/L'), ['value 5.2', 'unit ×10⁹/L'])
  assert.deepEqual(parts('1.2x10⁵ copies/mL'), ['value 1.2x10⁵', 'unit copies/mL'])
})

test('a name keeps the text that is attached to its numbers', () => {
  for (const name of ['Vitamin C 500mg', 'Vitamin B12', 'Factor V(L)', 'CA 19-9', 'H1N1 2009'])
    assert.deepEqual(parts(name), [`text ${name}`])
})

test('how long something took is part of the text that says it', () => {
  for (const text of ['No growth after 48 hours', 'No growth in 5 days', 'Incubated for 24 hrs', 'Repeat within 2 weeks'])
    assert.deepEqual(parts(text), [`text ${text}`])
  assert.deepEqual(parts('Bleeding time 4 min'), ['text Bleeding time', 'value 4', 'unit min'])
})

test('a flag in front of a range and behind one in brackets stands for itself', () => {
  const [value, range] = ['value 11.2', 'range 8.5-10.5']
  for (const flag of ['!', '*', '↑', '*H*', 'H']) {
    const behind = parts(`Calcium 11.2 mg/dL ${flag} 8.5-10.5`)
    assert.deepEqual(behind, ['text Calcium', value, 'unit mg/dL', `flag ${flag}`, range], flag)
  }
  assert.deepEqual(parts('Iron 5 umol/L (10-30) Low'), ['text Iron', 'value 5', 'unit umol/L', 'range (10-30)', 'value Low'])
  assert.deepEqual(parts('Sodium 140 (135 - 145) mmol/L').slice(1), ['value 140', 'range (135 - 145)', 'unit mmol/L'])
})

test('a power of ten alone is a result, and behind a number part of its unit', () => {
  assert.deepEqual(parts('10^5 CFU/mL'), ['value 10^5', 'unit CFU/mL'])
  assert.deepEqual(parts('10⁵ CFU/mL'), ['value 10⁵', 'unit CFU/mL'])
  assert.deepEqual(parts('5.2 10^9/L'), ['value 5.2', 'unit 10^9/L'])
  assert.deepEqual(parts('5.2 x 10^9 /L'), ['value 5.2', 'unit x 10^9 /L'])
  assert.deepEqual(parts('5.2 10^9 zz/L'), ['text 5.2 10^9 zz/L'])
})
