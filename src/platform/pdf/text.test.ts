import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { UNKNOWN_CHARACTER, isPrintable, unprintableClasses } from './characters.ts'
import { embeddableFont, fontStyles } from './fonts.ts'
import {
  TRUNCATION_NOTICE,
  parseEpochMs,
  truncate,
  formatTimestamp,
  formatNotation,
  toPrintable,
  formatUnit,
  wrap,
} from './text.ts'

/** Every character one unit wide. */
const measure = (text: string) => text.length

const units = {
  '10*3/uL': '10^3/µL',
  '10*9/L': '10^9/L',
  'x10E3/uL': 'x10E3/µL',
  'Thousand/uL': 'Thousand/µL',
  'u[IU]/mL': 'µIU/mL',
  'm[IU]/L': 'mIU/L',
  '[IU]/L': 'IU/L',
  'ug/dL': 'µg/dL',
  'umol/L': 'µmol/L',
  'mL/min/{1.73_m2}': 'mL/min/1.73 m²',
  'mL/min/1.73m2': 'mL/min/1.73 m²',
  'mm[Hg]': 'mmHg',
  '[pH]': 'pH',
  '/[HPF]': '/HPF',
  'ng/mL{FEU}': 'ng/mL FEU',
  '{copies}/mL': 'copies/mL',
  '{#}/uL': '/µL',
  '%{HbA1c}': '% HbA1c',
  "[arb'U]/mL": 'arb U/mL',
  Cel: '°C',
  '[degF]': '°F',
  'meq/L': 'mEq/L',
  'mosm/kg': 'mOsm/kg',
  'mg/dL': 'mg/dL',
  'U/L': 'U/L',
  '1': '',
}
for (const [coded, printed] of Object.entries(units))
  test(`the unit ${coded} is printed as ${printed || 'nothing'}`, () => assert.equal(formatUnit(coded), printed))

const characters = {
  '≥60 ≤ 2 − 1 ≈ 3': '≥60 ≤ 2 − 1 ≈ 3',
  '≧60 ⩽ 2 ∼ 3': '≥60 ≤ 2 ~ 3',
  'β-hCG, α1': 'β-hCG, α1',
  '5 μg and 5 µg': '5 μg and 5 µg',
  '10⁹ 10⁻³ m² 10¹²': '10⁹ 10⁻³ m² 10¹²',
  'CO₂ ℃ ㎍': 'CO₂ ℃ µg',
  'Łucja Nováková Şahin Nguyễn': 'Łucja Nováková Şahin Nguyễn',
  'Ελένη Жукова Їжак': 'Ελένη Жукова Їжак',
  '“so” – … €': '“so” – … €',
  '检验 ≮': '\ufffd\ufffd \ufffd',
  שלום: '\ufffd\ufffd\ufffd\ufffd',
  'a\u200bb\u202ec\u0007d\u00ade\ttab': 'abcde tab',
  'one\r\ntwo\n\n\n\nthree ': 'one\ntwo\n\nthree',
}
for (const [given, printed] of Object.entries(characters))
  test(`${JSON.stringify(given)} is printed as ${JSON.stringify(printed)}`, () => assert.equal(toPrintable(given, 100), printed))

test('every printable character is in each style of the embedded font', () => {
  for (let code = 0x20; code < 0x10000; code++) {
    const char = String.fromCharCode(code)
    if (!isPrintable(char)) continue
    for (const style of fontStyles)
      assert(embeddableFont(style).hasGlyphForCodePoint(code), `${style} lacks U+${code.toString(16)}`)
    assert.doesNotMatch(char, /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]|\p{Script=Hebrew}|\p{Script=Arabic}/u)
  }
  for (const char of 'Az09 ÄßŁř Ωβς ЖїЂ ≤≥µ×½⁹₂→') assert(isPrintable(char), char)
})

test('an error names the kinds of characters that documents cannot print, and not the characters', () => {
  assert.deepEqual(unprintableClasses('Größe β ≤ 5 Жук'), [])
  assert.deepEqual(unprintableClasses('李 and ひ 🧪 李'), ['Chinese characters', 'Japanese characters', 'emoji'])
  assert.deepEqual(unprintableClasses('שלום سلام 서울 ไทย'), [
    'Hebrew characters',
    'Arabic characters',
    'Korean characters',
    'Thai characters',
  ])
  assert.deepEqual(unprintableClasses('ქართული'), ['letters of a script other than Latin, Greek and Cyrillic'])
})

test('counts and international units inside a name or a range are spelled like units', () => {
  assert.equal(
    formatNotation('White cells 10*3/uL, 0.4-4.0 u[IU]/mL, unit usage'),
    'White cells 10^3/µL, 0.4-4.0 µIU/mL, unit usage',
  )
})

test('any text ends up in characters of the embedded font and within its length', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 80 }), fc.integer({ min: 2, max: 60 }), (text, chars_max) => {
      const printed = toPrintable(text, chars_max)
      assert.deepEqual(
        [...printed].filter((char) => !isPrintable(char) && char !== UNKNOWN_CHARACTER),
        [],
      )
      assert.ok(printed.length <= chars_max)
    }),
  )
})

test('a short text that is cut ends with an ellipsis, a long one says so', () => {
  assert.equal(toPrintable('abcdef', 4), 'abc…')
  assert.equal(toPrintable('x'.repeat(600), 500), `${'x'.repeat(500)}… ${TRUNCATION_NOTICE}`)
  assert.ok(toPrintable(`${' '.repeat(5000)}lost`, 500).endsWith(TRUNCATION_NOTICE))
})

test('lines break at blanks, then after a seam of a long word, then anywhere', () => {
  assert.deepEqual(wrap('one two three', 8, measure, 9), ['one two', 'three'])
  assert.deepEqual(wrap('a trimethoprim-sulfa', 14, measure, 9), ['a', 'trimethoprim-', 'sulfa'])
  assert.deepEqual(wrap('abcdefgh', 3, measure, 9), ['abc', 'def', 'gh'])
  assert.deepEqual(wrap('a\n\nb', 3, measure, 9), ['a', '', 'b'])
  assert.deepEqual(wrap('', 3, measure, 9), [''])
})

test('wrapping loses no character and keeps every line inside its width', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const clean = toPrintable(text, 200)
      const lines = wrap(clean, width, measure, 1000)
      assert.equal(lines.join('').replace(/\s/g, ''), clean.replace(/\s/g, ''))
      assert.ok(lines.every((line) => line.length <= width))
    }),
  )
})

test('the last permitted line says that there was more', () => {
  assert.deepEqual(wrap('one two three', 5, measure, 2), ['one', 'two …'])
  assert.deepEqual(wrap('a '.repeat(40), 60, measure, 1), ['a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a…'])
  assert.equal(wrap('x\n'.repeat(40), 60, measure, 10).at(-1), TRUNCATION_NOTICE)
  assert.equal(truncate('abcdef', 4, measure), 'abc…')
})

test('an instant in ISO form is spelled out with its own offset, any other text stays', () => {
  assert.equal(formatTimestamp('2030-01-02T09:30:00+00:00'), 'Jan 2, 2030 09:30 UTC')
  assert.equal(formatTimestamp('2030-12-31T23:59:59.123456-08:00'), 'Dec 31, 2030 23:59 UTC-08:00')
  assert.equal(formatTimestamp('2030-01-02 09:30'), 'Jan 2, 2030 09:30')
  assert.equal(formatTimestamp('1985-03-14'), 'Mar 14, 1985')
  assert.equal(formatTimestamp('14/03/1985'), '14/03/1985')
  assert.equal(formatTimestamp('2030-13-45'), '2030-13-45')
})

test('an instant without a zone counts as UTC, and an unreadable one as zero', () => {
  assert.equal(parseEpochMs('2030-01-04T16:05:00-08:00'), Date.UTC(2030, 0, 5, 0, 5))
  assert.equal(parseEpochMs('2030-01-04T16:05:00-0800'), Date.UTC(2030, 0, 5, 0, 5))
  assert.equal(parseEpochMs('2030-01-04 16:05'), Date.UTC(2030, 0, 4, 16, 5))
  assert.equal(parseEpochMs('2030-01-04'), Date.UTC(2030, 0, 4))
  assert.equal(parseEpochMs('yesterday'), 0)
})
