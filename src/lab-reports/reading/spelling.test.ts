import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spell, spelledPage } from './spelling.ts'

const BOX = { left: 0, top: 0, right: 10, bottom: 10 }

test('words of pictures are spelled as names of results and units are', () => {
  const read: [read: string, spelled: string][] = [
    ['Cholestero!', 'Cholesterol'],
    ['Chiolesterol', 'Cholesterol'],
    ['VITAMlN', 'VITAMIN'],
    ['Vitarmin', 'Vitamin'],
    ['Hemog1obin', 'Hemoglobin'],
    ['(Calcu1ated)', '(Calculated)'],
    ['mg/ciL', 'mg/dL'],
    ['mg/cll', 'mg/dL'],
    ['rng/dL.', 'mg/dL'],
    ['pg/mt.', 'pg/mL'],
    ['g/cL', 'g/dL'],
    ['p9', 'pg'],
    ['L.', 'L'],
    ['8UN', 'BUN'],
    ['x10~9/L', 'x10^9/L'],
    ['x109/L', 'x10^9/L'],
    ['B12.', 'B12'],
    ['Cholesterol.', 'Cholesterol'],
    ['120.', '120'],
    ['Norma', 'Normal'],
    ['TOTA', 'TOTAL'],
    ['lgE', 'IgE'],
    ['Oto19', '0to19'],
  ]
  assert.deepEqual(
    read.map(([text]) => [text, spell(text)]),
    read,
  )
})

test('names, numbers and words that reports spell so stay as they are', () => {
  const same = [
    'Leucocyte',
    'Leukocyte',
    'Haemoglobin',
    'Hemoglobin',
    'mg/L',
    'mg/dL',
    'µmol/L',
    'U/L',
    '4.29',
    '25-OH',
    'T3',
    'Fauxman',
    'HbA1c',
    '/cumm',
    'Oct',
    '<0.5',
    'Total',
    'pH',
    '10^3/uL',
    'BUN',
    'A1c',
    'I',
    'Abs.',
    'B12',
    'T4,Free',
  ]
  assert.deepEqual(same.map(spell), same)
})

test('only words of pictures are spelled, and no word that was read for certain', () => {
  const page = (source: 'text' | 'ocr', confidence: number) => ({
    number: 1,
    width: 100,
    height: 100,
    source,
    words: [{ text: 'Cholestero!', box: BOX, confidence }],
  })
  const texts = [page('text', 0.5), page('ocr', 0.99), page('ocr', 0.5)].map((item) => spelledPage(item).words[0]!.text)
  assert.deepEqual(texts, ['Cholestero!', 'Cholestero!', 'Cholesterol'])
})

test('a unit without its last letter gets it back, but a gram in a day stays one', () => {
  const page = (...texts: string[]) => ({
    number: 1,
    width: 100,
    height: 100,
    source: 'ocr' as const,
    words: texts.map((text) => ({ text, box: BOX, confidence: 0.99 })),
  })
  const read = (...texts: string[]) => spelledPage(page(...texts)).words.map(({ text }) => text)
  assert.deepEqual(read('mg/d', 'U/', 'G/I', 'µmol/i', 'mg/dL', 'g/l', 'mg/mmol', 'AND/OR'), [
    'mg/dl',
    'U/l',
    'G/l',
    'µmol/l',
    'mg/dL',
    'g/l',
    'mg/mmol',
    'AND/OR',
  ])
  assert.deepEqual(read('24h', 'g/d'), ['24h', 'g/d'])
})

test('a weak ampersand is a percent sign', () => {
  const sign = (confidence: number) =>
    spelledPage({ number: 1, width: 100, height: 100, source: 'ocr', words: [{ text: '&', box: BOX, confidence }] }).words[0]!
      .text
  assert.deepEqual([sign(0.3), sign(0.99)], ['%', '&'])
})
