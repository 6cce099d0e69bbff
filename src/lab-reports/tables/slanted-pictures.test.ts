// Rows of pictures whose lines are slanted, and whose signs, flags and names stand aside of their columns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { picture, readIn } from '../../../test/support/pictures-of-tables.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import type { Word } from '../pages/page.ts'
import { readRows } from './rows.ts'
import { runsOfLine, textOf } from './runs.ts'
import { readLinesOfPage } from './tables.ts'

test('rows of a picture with known names and whole results are not one, though the second result has no room in its column', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Reference Range'],
      ['Protein', 'Negative', 'Negative'],
      ['Glucose', 'Negative', 'Negative'],
      ['Blood', '* Trace', 'Negative'],
      ['Leucocytes', 'Negative', 'Negative'],
    ],
    0,
    [40, 200, 320],
  )
  for (const word of page.words) if (word.box.top > 100 && word.box.top < 120) word.box.bottom += 5
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Protein', 'Negative'],
      ['Glucose', 'Negative'],
      ['Blood', 'Trace'],
      ['Leucocytes', 'Negative'],
    ],
  )
})

test('a colon in front of results is in their column, wherever the picture has it', () => {
  const cells = (name: string, value: string, range: string) => [name, ':', value, range]
  const page = picture(
    [
      ['Test', 'Result', '', 'Normal Range'],
      cells('Sodium', '140 mmol/L', '136 - 145'),
      cells('Potassium', '4.1 mmol/L', '3.5 - 5.1'),
      cells('Chloride', '101 mmol/L', '98 - 107'),
    ],
    0,
    [40, 200, 212, 320],
  )
  assert.deepEqual(
    readIn(page).map(([name, value, unit, range]) => [name, value, unit, range]),
    [
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
  )
})

test('rows of a slanted picture are apart, though ranges reach into the row above', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
      ['Calcium', '2.4', 'mmol/L', '2.2 - 2.6'],
    ],
    0,
  )
  // Each column is higher than the one before it; the last reaches 2 points into the names above.
  for (const { box } of page.words) {
    const rise = box.left < 190 ? 0 : box.left < 250 ? 3 : box.left < 310 ? 6 : 9.5
    if (box.top > 75) Object.assign(box, { top: box.top - rise, bottom: box.bottom - rise })
  }
  assert.deepEqual(
    readIn(page).map(([name, value, , range]) => [name, value, range]),
    [
      ['Sodium', '140', '136 - 145'],
      ['Potassium', '4.1', '3.5 - 5.1'],
      ['Chloride', '101', '98 - 107'],
      ['Calcium', '2.4', '2.2 - 2.6'],
    ],
  )
})

test('rows of a picture whose ranges stand halfway between two rows have their own name, result, unit and range', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Kappa Light Chain, Free', '22.4', 'mg/L', '3.3 - 19.4'],
      ['Lambda Light Chain, Free', '15.1', 'mg/L', '5.7 - 26.3'],
      ['Kappa/Lambda Ratio', '1.48', '', '0.26 - 1.65'],
      ['CA 19-9', '22', 'U/mL', '<35'],
      ['CEA', '2.1', 'ng/mL', '<5.0'],
    ],
    0,
  )
  // Each column is lower than the one before it.
  for (const { box } of page.words) {
    const drop = box.left < 190 ? 0 : box.left < 250 ? 5 : box.left < 310 ? 7 : 11.5
    if (box.top > 75) Object.assign(box, { top: box.top + drop, bottom: box.bottom + drop })
  }
  assert.deepEqual(
    readIn(page).map(([name, value, unit, range]) => [name, value, unit, range]),
    [
      ['Kappa Light Chain, Free', '22.4', 'mg/L', '3.3 - 19.4'],
      ['Lambda Light Chain, Free', '15.1', 'mg/L', '5.7 - 26.3'],
      ['Kappa/Lambda Ratio', '1.48', null, '0.26 - 1.65'],
      ['CA 19-9', '22', 'U/mL', '<35'],
      ['CEA', '2.1', 'ng/mL', '<5.0'],
    ],
  )
})

test('the end of a name that reaches below the first day is part of it, and no result', () => {
  const page = picture(
    [
      ['Date', '', '02/05/24', '11/08/24', '', ''],
      ['Lab No', '', '88120417', '88310552', 'Units', 'Reference'],
      ['Sodium', '', '139', '140', 'mmol/L', '135 - 145'],
      ['Bilirubin', 'Total', '11', '9', 'umol/L', '0 - 20'],
    ],
    0,
    [40, 97, 150, 210, 280, 340],
  )
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Sodium', '139'],
      ['Sodium', '140'],
      ['Bilirubin Total', '11'],
      ['Bilirubin Total', '9'],
    ],
  )
})

test('a word that is a flag below the column of units is the flag, and the unit stays', () => {
  const page = picture(
    [
      ['Test', 'Result', '', 'Unit', 'Reference Range'],
      ['Glucose', '132', 'High', 'mg/dL', '70 - 100'],
      ['Urea', '15', '', 'mg/dL', '7 - 20'],
    ],
    0,
    [40, 160, 225, 260, 320],
  )
  assert.deepEqual(
    readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed }).map(({ unit, flag }) => [unit, flag]),
    [
      ['mg/dL', 'high'],
      ['mg/dL', null],
    ],
  )
})

test('a heading that drifts with the rows of a slanted picture is one', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Reference Range'],
      ['Sodium', '140 mmol/L', '136 - 145'],
      ['Potassium', '4.1 mmol/L', '3.5 - 5.1'],
      ['Chloride', '101 mmol/L', '98 - 107'],
      ['Calcium', '2.4 mmol/L', '2.2 - 2.6'],
      ['RAPID SEROLOGY.', '', ''],
      ['RPR', 'Non-Reactive', 'Non-Reactive'],
    ],
    0,
    [40, 200, 340],
  )
  for (const { box } of page.words) {
    const drift = Math.max(0, (box.top - 80) / 3)
    Object.assign(box, { left: box.left + drift, right: box.right + drift })
  }
  assert.equal(readIn(page).at(-1)![4], 'RAPID SEROLOGY')
})

test('a category below names in a picture is no part of them', () => {
  const page = picture(
    [
      ['Biomarker', 'Your result', 'Reference'],
      ['hs-CRP|Cardiovascular', '0.4 mg/L', '<1.0'],
      ['Apolipoprotein B|Cardiovascular', '97 mg/dL', '<90'],
      ['Uric Acid|Metabolic & hormones', '7.9 mg/dL', '3.8 - 8.4'],
      ['Homocysteine|Metabolic& hormones', '13.2 umol/L', '<10.4'],
      ['TSH|Metabolic & hormones', '2.1 mIU/L', '0.4 - 4.5'],
    ],
    0,
    [40, 160, 320],
  )
  for (const { box } of page.words)
    if (box.left > 150 && box.top > 75) Object.assign(box, { top: box.top + 6, bottom: box.bottom + 6 })
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['hs-CRP', '0.4'],
      ['Apolipoprotein B', '97'],
      ['Uric Acid', '7.9'],
      ['Homocysteine', '13.2'],
      ['TSH', '2.1'],
    ],
  )
})

test('words in capitals with brackets and digits, and behind a comma, have as wide spaces as letters that are higher', () => {
  const runsIn = (...texts: string[]) => {
    const page = picture([texts], 0)
    for (const { box } of page.words) box.bottom -= 4.4
    const [line] = readLinesOfPage(page)
    return runsOfLine(line!, { usual: 0.3, widest: 0.45 }).map(textOf)
  }
  assert.deepEqual(runsIn('RANDOM URINE (W/CREATININE)'), ['RANDOM URINE (W/CREATININE)'])
  assert.deepEqual(runsIn('VITAMIN B12 SERUM'), ['VITAMIN B12 SERUM'])
  assert.deepEqual(runsIn('Ratio, Random'), ['Ratio, Random'])
  assert.deepEqual(runsIn('SODIUM 140'), ['SODIUM', '140'])
})

test('descriptions below most names of a picture are no parts of them, though some are known with theirs', () => {
  const page = picture(
    [
      ['Marker', 'Your result', 'Units', 'Lab range'],
      ['FSH|Follicle stimulating hormone', '6.2', 'mIU/mL', '3.5 - 12.5'],
      ['LH|Luteinizing hormone', '8.9', 'mIU/mL', '2.4 - 12.6'],
      ['Progesterone|Follicular phase', '0.4', 'ng/mL', '0.1 - 0.9'],
      ['Bilirubin|Direct', '0.2', 'mg/dL', '0.0 - 0.3'],
      ['TSH|Thyroid stimulating hormone', '4.92', 'uIU/mL', '0.45 - 4.50'],
      ['Free T4|Thyroxine', '1.14', 'ng/dL', '0.82 - 1.77'],
    ],
    0,
    [40, 230, 290, 350],
  )
  for (const { box } of page.words)
    if (box.left > 220 && box.top > 75) Object.assign(box, { top: box.top + 5, bottom: box.bottom + 5 })
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['FSH', 'LH', 'Progesterone', 'Bilirubin Direct', 'TSH', 'Free T4'],
  )
})

test('lines in a font of equal widths keep their wide spaces within cells, below a letterhead in another font', () => {
  const words: Word[] = []
  const line = (text: string, top: number, letter: (word: string) => number, space: number) => {
    let left = 40
    for (const word of text.split(' ')) {
      const right = left + word.length * letter(word)
      words.push({ text: word, confidence: 0.95, box: { left, right: right - 0.2 * letter(word), top, bottom: top + 6 } })
      left = right + space
    }
  }
  const head = ['Mockington', 'Diagnostics', 'Patient', 'Information', 'Specimen', 'Client', 'Address', 'Collected', 'Received']
  for (const [index, text] of [...head, ...head].entries())
    line(text, 20 + index * 12, (word) => 3.2 + ((word.codePointAt(0)! + index * 5) % 11) / 5, 2)
  const names = ['UREA NITROGEN', 'CARBON DIOXIDE', 'ALKALINE PHOSPHATASE', 'CHLORIDE SERUM', 'PROTEIN TOTAL', 'GLUCOSE FASTING']
  for (const [index, text] of names.entries()) line(text, 300 + index * 14, () => 5.2, 5.2)
  const cells = readLinesOfPage({ number: 1, width: 595, height: 842, source: 'ocr', words })
    .slice(-names.length)
    .map((item) => item.cells.map(({ text }) => text))
  assert.deepEqual(
    cells,
    names.map((name) => [name]),
  )
})

test('texts below names of a picture that tell tests apart are parts of the names', () => {
  const names = ['Rubella', 'Measles', 'Mumps'].flatMap((name) => [`${name}|IgG Ab, AI`, `${name}|IgM Ab, AI`])
  const page = picture([['Test', 'Result', 'Reference'], ...names.map((name) => [name, '1.2', '<0.9'])], 0, [40, 200, 320])
  for (const { box } of page.words)
    if (box.left > 190 && box.top > 75) Object.assign(box, { top: box.top + 6, bottom: box.bottom + 6 })
  const read = readIn(page).map(([name]) => name)
  assert(
    read.every((name) => /Ig[GM]/u.test(String(name))),
    JSON.stringify(read),
  )
})
