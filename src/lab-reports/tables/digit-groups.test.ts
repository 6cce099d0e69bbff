// Numbers whose groups of digits are parted by spaces and apostrophes, in tables and in lines without names of columns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, line, pageOfTexts, type Text } from '../../../test/support/browser-pages.ts'
import { understand } from '../reading/read-report.ts'

const read = (texts: readonly Text[]) =>
  understand([pageOfTexts(texts)]).results.map(
    ({ test_name, value, units, min_reference_range: min, max_reference_range: max }) => [test_name, value, units, min, max],
  )
const readLine = (text: string) => read([[100, 36, text]])[0]

test('groups of digits in a cell of a table are one number', () => {
  assert.deepEqual(
    read([
      ...HEADER,
      ...line(120, 'Ferritin', '1 234', 'ug/L', '30 - 300'),
      ...line(140, 'Platelets', '250 000', '/uL', '150 000 - 400 000'),
      ...line(160, 'NT-proBNP', "12'345", 'ng/L', '< 1 250'),
    ]),
    [
      ['Ferritin', '1 234', 'ug/L', 30, 300],
      ['Platelets', '250 000', '/uL', 150_000, 400_000],
      ['NT-proBNP', "12'345", 'ng/L', null, 1250],
    ],
  )
})

test('groups of digits in a line are one number in front of a unit, and with a zero in front', () => {
  assert.deepEqual(readLine('Ferritin 1 234 ug/L 30 - 300'), ['Ferritin', '1 234', 'ug/L', 30, 300])
  assert.deepEqual(readLine('Platelets 250 000 /uL 150 000 - 400 000'), ['Platelets', '250 000', '/uL', 150_000, 400_000])
  assert.deepEqual(readLine('Leukocytes: 12 500 /uL'), ['Leukocytes', '12 500', '/uL', null, null])
  assert.deepEqual(
    read([[100, 36, 'WBC 12 500 /uL Platelets 250 000 /uL']]).map(([name, value]) => [name, value]),
    [
      ['WBC', '12 500'],
      ['Platelets', '250 000'],
    ],
  )
})

test('a result and the bound or the former result behind it are two numbers', () => {
  assert.deepEqual(readLine('Sodium 140 135 - 145 mmol/L')?.slice(0, 2), ['Sodium', '140'])
  assert.deepEqual(readLine('Ferritin 110 100 to 400 ug/L')?.slice(0, 2), ['Ferritin', '110'])
  assert.deepEqual(readLine('Sodium 140 138 (135 - 145)')?.slice(0, 2), ['Sodium', '140'])
})

test('a name that stands next to its result in another column ends before the groups of its digits', () => {
  assert.deepEqual(
    read([
      ...HEADER,
      ...line(120, 'Glucose', '95', 'mg/dL', '70 - 99'),
      [140, 36, 'Thrombocytes (automated impedance count) 250 000'],
      [140, 320, '/uL'],
      [140, 420, '150 000 - 400 000'],
    ])[1],
    ['Thrombocytes (automated impedance count)', '250 000', '/uL', 150_000, 400_000],
  )
})
