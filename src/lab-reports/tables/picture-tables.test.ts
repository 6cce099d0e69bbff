// Tables of pictures, in which the heights of words are measured and differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LINE, PADDING, picture, readIn, SPACE } from '../../../test/support/pictures-of-tables.ts'
import type { Box, PageText, Word } from '../pages/page.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

test('a name on two lines of a picture is one name, though the heights of its words differ', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Total Iron Binding|Capacity (TIBC)', '286', 'ug/dL', '250 - 450'],
      ['Activated Partial|Thromboplastin Time', '29', 's', '24 - 33'],
      ['Folate (Folic Acid),|Serum', '2.6', 'ng/mL', '>3.0'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
    1.2,
  )
  const rows = readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed })
  assert.deepEqual(
    rows.map(({ name, value, unit }) => [name, value, unit]),
    [
      ['Total Iron Binding Capacity (TIBC)', '286', 'ug/dL'],
      ['Activated Partial Thromboplastin Time', '29', 's'],
      ['Folate (Folic Acid), Serum', '2.6', 'ng/mL'],
      ['Sodium', '140', 'mmol/L'],
      ['Potassium', '4.1', 'mmol/L'],
      ['Chloride', '101', 'mmol/L'],
    ],
  )
})

test('a unit in brackets below the name of a column of a picture is that of its numbers, though its letters seem higher', () => {
  const page = picture(
    [
      ['Test', 'Result|[mmol/L]', 'Flag', 'Reference Range'],
      ['Sodium', '141', '', '135 - 145'],
      ['Potassium', '5.2', 'H', '3.5 - 5.1'],
      ['Chloride', '101', '', '98 - 107'],
    ],
    0,
  )
  for (const word of page.words) if (word.text === '[mmol/L]') word.box.bottom += 2.6
  assert.deepEqual(
    readIn(page).map(([name, , unit]) => [name, unit]),
    [
      ['Sodium', 'mmol/L'],
      ['Potassium', 'mmol/L'],
      ['Chloride', 'mmol/L'],
    ],
  )
})

test('names of columns on two lines of a picture belong to one table, and its panels are not parts of names', () => {
  const page = picture(
    [
      ['Panel', 'Test|Description', 'Result|and Flag', 'Reference|Range'],
      ['Cardiac Enzymes', 'D-Dimer', '1.04 HH', '0.00 - 0.49'],
      ['', 'Troponin T', '11', '<22'],
      ['Renal Function', 'Calcium', '10.0', '8.6 - 10.3'],
      ['', 'Phosphorus', '5.3 H', '2.5 - 4.5'],
    ],
    0,
    [40, 160, 260, 340],
  )
  // In a picture lines of a cell seem further apart.
  for (const { text, box } of page.words) if (/^(?:Description|and|Flag|Range)$/u.test(text)) box.top += 2.2
  for (const { text, box } of page.words) if (/^(?:Description|and|Flag|Range)$/u.test(text)) box.bottom += 2.2
  assert.deepEqual(
    readIn(page).map(([name, value, , , panel]) => [name, value, panel]),
    [
      ['D-Dimer', '1.04', 'Cardiac Enzymes'],
      ['Troponin T', '11', 'Cardiac Enzymes'],
      ['Calcium', '10.0', 'Renal Function'],
      ['Phosphorus', '5.3', 'Renal Function'],
    ],
  )
})

test('a method in brackets below a name in a picture is not part of the name, even if the line of the name has no room for it', () => {
  const page = picture(
    [
      ['Test Name', 'Result', 'Unit', 'Reference Range'],
      ['T3 (Triiodothyronine)|(CLIA)', '137', 'ng/dL', '71 - 180'],
      ['T4 (Thyroxine)|(CLIA)', '5.7', 'ug/dL', '4.5 - 12.0'],
      ['TSH (Ultrasensitive)|(CLIA)', '2.341', 'uIU/mL', '0.450 - 4.500'],
    ],
    0,
    [40, 160, 260, 340],
  )
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['T3 (Triiodothyronine)', 'T4 (Thyroxine)', 'TSH (Ultrasensitive)'],
  )
})

test('the rest of a name below its row in a picture is part of it, though rows are hardly further apart than lines', () => {
  const close = (rows: readonly string[][]): PageText => {
    const page = picture(rows, 0)
    return { ...page, words: page.words.map((word) => ({ ...word, box: { ...word.box, bottom: word.box.bottom + 1.5 } })) }
  }
  const page = close([
    ['Test', 'Value', 'Units', 'Reference Range'],
    ['Albumin', '6.9', 'g/dL', '3.5 - 5.2'],
    ['Bilirubin, Direct', '0.17', 'mg/dL', '0.00 - 0.30'],
    ['(Conjugated)', '', '', ''],
    ['Alkaline Phosphatase', '74', 'U/L', '44 - 121'],
    ['(ALP)', '', '', ''],
    ['Alanine', '32', 'U/L', '<= 44'],
    ['Aminotransferase', '', '', ''],
    ['(ALT/SGPT)', '', '', ''],
    ['Hepatitis C Virus', 'Non-', '', 'Non-Reactive'],
    ['Antibody', 'Reactive', '', ''],
    ['HDL Cholesterol', '55', 'mg/dL', '>39'],
    ['LIPID PANEL', '', '', ''],
    ['Triglycerides', '150', 'mg/dL', '0 - 149'],
  ])
  assert.deepEqual(
    readIn(page).map(([name, value, , range]) => [name, value, range]),
    [
      ['Albumin', '6.9', '3.5 - 5.2'],
      ['Bilirubin, Direct (Conjugated)', '0.17', '0.00 - 0.30'],
      ['Alkaline Phosphatase (ALP)', '74', '44 - 121'],
      ['Alanine Aminotransferase (ALT/SGPT)', '32', '<= 44'],
      ['Hepatitis C Virus Antibody', 'Non-Reactive', 'Non-Reactive'],
      ['HDL Cholesterol', '55', '>39'],
      ['Triglycerides', '150', '0 - 149'],
    ],
  )
})

test('the first line of a name above its row in a picture is part of it, and a method there is not', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Estimated|Average Glucose (eAG)', '|96', '|mg/dL', '|<117'],
      ['MCH', '29.5', 'pg', '26.6 - 33.0'],
      ['(Calculated)', '', '', ''],
      ['MCHC', '33.9', 'g/dL', '31.5 - 35.7'],
    ],
    0.6,
  )
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Sodium', '140'],
      ['Estimated Average Glucose (eAG)', '96'],
      ['MCH', '29.5'],
      ['MCHC', '33.9'],
    ],
  )
})

test('tables side by side in a picture are read one after the other, though their rows are not at the same heights', () => {
  const columns = [40, 130, 180, 240]
  const left = picture(
    [
      ['Test', 'Result', 'Unit', 'Range'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['LDL Cholesterol|Calc', '107', 'mg/dL', '0 - 99'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
    ],
    0,
    columns,
  )
  const right = picture(
    [
      ['Test', 'Result', 'Unit', 'Range'],
      ['Urea', '5.0', 'mmol/L', '2.5 - 7.8'],
      ['Calcium', '2.3', 'mmol/L', '2.2 - 2.6'],
      ['Albumin', '40', 'g/L', '35 - 52'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
    0,
    columns.map((x) => x + 270),
  )
  assert.deepEqual(
    readIn({ ...left, words: [...left.words, ...right.words] }).map(([name, value, , range]) => [name, value, range]),
    [
      ['Sodium', '140', '136 - 145'],
      ['LDL Cholesterol Calc', '107', '0 - 99'],
      ['Potassium', '4.1', '3.5 - 5.1'],
      ['Urea', '5.0', '2.5 - 7.8'],
      ['Calcium', '2.3', '2.2 - 2.6'],
      ['Albumin', '40', '35 - 52'],
      ['Chloride', '101', '98 - 107'],
    ],
  )
})

test('a unit at the foot of a large result of a picture is in its line', () => {
  const page = picture(
    [
      ['Test', 'Result', '', ''],
      ['HDL Cholesterol Direct', '', '', 'Normal'],
      ['Triglycerides', '', '', 'Normal'],
    ],
    0,
  )
  const rowsAt = [...new Set(page.words.map(({ box }) => box.top))].slice(1)
  const large = rowsAt.flatMap((top, index): Word[] => [
    { text: ['70', '63'][index]!, confidence: 0.9, box: { left: 200, right: 220, top: top - 2, bottom: top + 15 } },
    { text: 'mg/dL', confidence: 0.9, box: { left: 260, right: 285, top: top + 6, bottom: top + 15 } },
  ])
  assert.deepEqual(
    readIn({ ...page, words: [...page.words, ...large] }).map(([name, value, unit]) => [name, value, unit]),
    [
      ['HDL Cholesterol Direct', '70', 'mg/dL'],
      ['Triglycerides', '63', 'mg/dL'],
    ],
  )
})

test('rows at the top of a picture of the next page are under the columns that the page names further down', () => {
  const header = ['Test', 'Result', 'Unit', 'Reference Range']
  const first = picture([header, ['Sodium', '140', 'mmol/L', '136 - 145'], ['Urea', '5.0', 'mmol/L', '2.5 - 7.8']], 0)
  const second = {
    ...picture(
      [
        ['Nitrite', 'Negative', '', 'Negative'],
        ['Ketones', 'Trace', '', 'Negative'],
        header,
        ['Calcium', '2.3', 'mmol/L', '2.2 - 2.6'],
      ],
      0,
      [90, 250, 310, 370],
    ),
    number: 2,
  }
  const rows = readRows(
    [first, second].map((page) => ({ page, lines: readLinesOfPage(page, isNamed) })),
    { isAnalyte, isNamed },
  )
  assert.deepEqual(
    rows.map(({ name, value }) => [name, value]),
    [
      ['Sodium', '140'],
      ['Urea', '5.0'],
      ['Nitrite', 'Negative'],
      ['Ketones', 'Trace'],
      ['Calcium', '2.3'],
    ],
  )
})

test('a first column called measure has the names of what was measured', () => {
  const page = picture(
    [
      ['Measure', 'Your result', 'Last year', 'Recommended'],
      ['Total Cholesterol', '212 mg/dL', '205', 'Less than 200'],
      ['Triglycerides', '116 mg/dL', '121', 'Less than 150'],
    ],
    0,
  )
  assert.deepEqual(
    readIn(page).map(([name, value, unit]) => [name, value, unit]),
    [
      ['Total Cholesterol', '212', 'mg/dL'],
      ['Triglycerides', '116', 'mg/dL'],
    ],
  )
})

test('a result that stands close behind its name is a result in front of a range or unit', () => {
  const page = picture(
    [
      ['MCHC', '339', '', '315 to 357'],
      ['RDW', '14.2', '', '11.6 to 15.4'],
      ['White cell count 8.2', '', '10*9/L', '3.4 to 10.8'],
      ['Estim. Avg Glu (eAG) 108', '', 'mg/dL', '100 to 117'],
      ['Vitamin B 12', '', 'pmol/L', '171 to 919'],
      ['MPV', '9.6', '', '7.5 to 12.5'],
    ],
    0,
  )
  assert.deepEqual(
    readIn(page).map(([name, value, unit]) => [name, value, unit]),
    [
      ['MCHC', '339', null],
      ['RDW', '14.2', null],
      ['White cell count', '8.2', '10*9/L'],
      ['Estim. Avg Glu (eAG)', '108', 'mg/dL'],
      ['MPV', '9.6', null],
    ],
  )
})

test('the words of a name of a column that stand next to each other are one name, though other names have two lines', () => {
  const page = picture(
    [
      ['Examination', 'Observed|Value', 'Unit of|Measure', 'Normal'],
      ['Homocysteine', '6.3', 'umol/L', '0.0-14.5'],
      ['Ferritin', '60', 'ug/L', '30-400'],
      ['Iron', '20', 'umol/L', '10-30'],
    ],
    0,
  )
  const middle = LINE / 2
  const words = page.words.map((word) =>
    ['Examination', 'Normal'].includes(word.text)
      ? { ...word, box: { ...word.box, top: word.box.top + middle, bottom: word.box.bottom + middle } }
      : word,
  )
  const normal = words.find(({ text }) => text === 'Normal')!
  const range = { ...normal, text: 'Range', box: { ...normal.box, left: normal.box.right + SPACE, right: normal.box.right + 28 } }
  assert.deepEqual(
    readIn({ ...page, words: [...words, range] }).map(([name, value, unit, range]) => [name, value, unit, range]),
    [
      ['Homocysteine', '6.3', 'umol/L', '0.0-14.5'],
      ['Ferritin', '60', 'ug/L', '30-400'],
      ['Iron', '20', 'umol/L', '10-30'],
    ],
  )
})

test('a percent sign behind a range is the unit of its row', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Flag', 'Reference Range'],
      ['Platelets', '407', '', '150 - 450 10*9/L'],
      ['Neutrophils %', '68', '', '40-74%'],
    ],
    0,
  )
  assert.deepEqual(
    readIn(page).map(([name, , unit]) => [name, unit]),
    [
      ['Platelets', '10*9/L'],
      ['Neutrophils %', '%'],
    ],
  )
})

test('a name on three lines of a picture is one name, though a day and its time stand next to the last two', () => {
  const page = picture(
    [
      ['Analyte', 'Date and Time', 'Observed Value', 'Reference Range'],
      ['Sodium', '|25.01.2025|11:57', '||140', '||135 to 145'],
      ['Carbon Dioxide,|Total|(Bicarbonate)', '|25.01.2025|11:57', '||20', '||22 to 29'],
      ['Chloride', '|25.01.2025|11:57', '||102', '||98 to 107'],
    ],
    0,
    [40, 150, 260, 350],
  )
  const lastOfName = (word: Word) => ['Sodium', 'Chloride'].includes(word.text)
  const bottom = page.words.map((word) =>
    lastOfName(word) ? { ...word, box: { ...word.box, top: word.box.top + 2 * LINE, bottom: word.box.bottom + 2 * LINE } } : word,
  )
  assert.deepEqual(
    readIn({ ...page, words: bottom }).map(([name, value]) => [name, value]),
    [
      ['Sodium', '140'],
      ['Carbon Dioxide, Total (Bicarbonate)', '20'],
      ['Chloride', '102'],
    ],
  )
})

test('the heading of a panel above the first row of a picture is not part of its name', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Hepatic Function Panel (7)|Albumin', '|41', '|g/L', '|35 - 52'],
      ['ALP', '61', 'IU/L', '44 - 121'],
      ['TUMOUR MARKERS|AFP', '|2.4', '|ng/mL', '|<7.0'],
      ['CEA', '1.2', 'ng/mL', '<4.7'],
      ['Total Iron Binding|Capacity (TIBC)', '286', 'ug/dL', '250 - 450'],
    ],
    1.2,
  )
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Sodium', '140'],
      ['Albumin', '41'],
      ['ALP', '61'],
      ['AFP', '2.4'],
      ['CEA', '1.2'],
      ['Total Iron Binding Capacity (TIBC)', '286'],
    ],
  )
})

test('NOT and DETECTED with a wide space between them in a picture are one result', () => {
  const page = picture(
    [
      ['Test', 'Result'],
      ['Chlamydia trachomatis', 'NOT DETECTED'],
      ['Neisseria gonorrhoeae', 'DETECTED'],
    ],
    0,
  )
  const words = page.words.map((word) =>
    word.text === 'DETECTED' && word.box.top < 90
      ? { ...word, box: { ...word.box, left: word.box.left + 7, right: word.box.right + 7 } }
      : word,
  )
  assert.deepEqual(
    readIn({ ...page, words }).map(([name, value]) => [name, value]),
    [
      ['Chlamydia trachomatis', 'NOT DETECTED'],
      ['Neisseria gonorrhoeae', 'DETECTED'],
    ],
  )
})

test('the last line of a range with names is not the first one of the range below it, which has none', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Glucose Fasting', '112', 'mg/dL', 'Normal: 70 - 100|Pre-diabetes: 101 - 125|Diabetes: > 126'],
      ['Uric Acid', '5.1', 'mg/dL', '2.4-5.7'],
      ['Calcium', '9.1', 'mg/dL', '8.5-10.5'],
    ],
    1.2,
  )
  // The paper is bent: the last line of the range is nearer to the row below it.
  const words = page.words.map((word) =>
    ['Diabetes:', '>', '126'].includes(word.text)
      ? { ...word, box: { ...word.box, top: word.box.top + 6, bottom: word.box.bottom + 6 } }
      : word,
  )
  const ranges = Object.fromEntries(readIn({ ...page, words }).map(([name, , , range]) => [name, range]))
  assert.equal(ranges['Uric Acid'], '2.4-5.7')
})

test('the name of a group and its range in two cells below a row are the range of the row', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit'],
      ['Ferritin', '72', 'ng/mL'],
      ['Bio. Ref. Interval:'],
      ['Male 30 - 400'],
      ['Female: 15 - 150'],
      ['Iron', '57', 'ug/dL'],
    ],
    0,
  )
  // As far as the words of two cells are apart.
  const words = page.words.map((word) =>
    word.box.top > 105 && word.box.left > 55 && /^[-\d]/u.test(word.text) && word.box.left < 150
      ? { ...word, box: { ...word.box, left: word.box.left + 9, right: word.box.right + 9 } }
      : word,
  )
  assert.deepEqual(readIn({ ...page, words })[0]!.slice(0, 4), ['Ferritin', '72', 'ng/mL', 'Male 30 - 400 Female: 15 - 150'])
})

/** A picture with rules between rows, of which none is seen above the row that begins with `openRow`. */
function ruledPicture(rows: readonly string[][], openRow?: string): PageText {
  const page = picture(rows, 0, [40, 140, 200, 260], 8.5)
  const firsts = page.words.filter(({ text, box }) => box.left === 40 && rows.some(([name]) => name!.split(/[ |]/u)[0] === text))
  const tops = firsts.filter(({ text }) => text !== openRow).map(({ box }) => box.top - PADDING)
  const end = Math.max(...page.words.map(({ box }) => box.bottom)) + PADDING
  const lines = [...tops, end].map((top): Box => ({ left: 38, right: 560, top: top - 1, bottom: top }))
  return { ...page, drawings: { lines, areas: [] } }
}

test('a method below a name in a picture is not part of the name, also without a space behind its label', () => {
  const page = ruledPicture([
    ['Test', 'Result', 'Unit', 'Reference Range'],
    ['Lymphocytes|Method: Microscopy', '28', '%', '20 - 40'],
    ['Eosinophils|Method:Microscopy', '7', '%', '1 - 6'],
    ['Monocytes|Method:Microscopy', '3', '%', '2 - 10'],
    ['RBC Count|Method:Impedance', '3.98', 'mill/cumm', '3.8 - 4.8'],
  ])
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Lymphocytes', '28'],
      ['Eosinophils', '7'],
      ['Monocytes', '3'],
      ['RBC Count', '3.98'],
    ],
  )
})

test('a known name next to a number does not go on from the method of the row above, where no rule is seen between both', () => {
  const page = ruledPicture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Urea', '24', 'mg/dl', '15 - 40'],
      ['Creatinine', '0.8', 'mg/dl', '0.6 - 1.2'],
      ['SGOT (AST)|Method: IFCC without P5P', '29', 'U/L', 'Up to 31'],
      ['SGPT (ALT)|Method: IFCC without P5P', '44', 'U/L', 'Up to 34'],
      ['Uric Acid', '4.9', 'mg/dl', '2.4 - 5.7'],
      ['Sodium', '140', 'mmol/L', '135 - 145'],
      ['Calcium', '9.1', 'mg/dl', '8.4 - 10.2'],
    ],
    'SGPT',
  )
  // Lines of both rows are as close to each other as those of one.
  const { top } = page.words.find(({ text }) => text === 'SGPT')!.box
  for (const box of [...page.words.map((word) => word.box), ...page.drawings!.lines])
    if (box.top >= top) Object.assign(box, { top: box.top - 4, bottom: box.bottom - 4 })
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Urea', '24'],
      ['Creatinine', '0.8'],
      ['SGOT (AST)', '29'],
      ['SGPT (ALT)', '44'],
      ['Uric Acid', '4.9'],
      ['Sodium', '140'],
      ['Calcium', '9.1'],
    ],
  )
})

test('texts in brackets below most names of a picture are methods, and no parts of names', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Urea|(Urease UV)', '21.00', 'mg/dL', '13 - 43'],
      ['Uric Acid|(Uricase)', '7.60', 'mg/dL', '3.5 - 7.2'],
      ['Calcium, Total|(Arsenazo III)', '9.40', 'mg/dL', '8.8 - 10.6'],
      ['Phosphorus|(Molybdate UV)', '3.30', 'mg/dL', '2.4 - 4.4'],
    ],
    1.2,
  )
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['Urea', 'Uric Acid', 'Calcium, Total', 'Phosphorus'],
  )
})

test('the same word in two rows of a picture is the result of each, however close the rows are', () => {
  const names = [
    'Adenovirus',
    'Bordetella pertussis',
    'Chlamydia pneumoniae',
    'Mycoplasma pneumoniae',
    'Influenza A',
    'Influenza B',
    'Rhinovirus',
  ]
  const page = picture(
    [['Test', 'Result', 'Reference'], ...names.map((name) => [name, 'Not Detected', 'Not Detected'])],
    0,
    [40, 220, 340],
  )
  // Slanted letters make one name reach down to the next row.
  for (const { text, box } of page.words) if (text === 'Chlamydia') box.bottom += 3
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    names.map((name) => [name, 'Not Detected']),
  )
})

test('the specimen below a name that says how it was taken is part of the name', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium', '141', 'mmol/L', '135 - 145'],
      ['Albumin/Creatinine Ratio, Random|Urine', '41', 'mg/g', '0 - 30'],
      ['Creatinine, Random|Urine', '112', 'mg/dL', '20 - 320'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
    0,
  )
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['Sodium', 'Albumin/Creatinine Ratio, Random Urine', 'Creatinine, Random Urine', 'Chloride'],
  )
})

test('capitals of a picture, which are lower than other letters, have as wide spaces', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium in Serum', '141', 'mmol/L', '135 - 145'],
      ['RATIO, RANDOM', '41', 'mg/g', '0 - 30'],
      ['Chloride in Serum', '101', 'mmol/L', '98 - 107'],
    ],
    0,
  )
  // With the height of capitals the space seems wide.
  for (const { text, box } of page.words)
    if (text === 'RANDOM') {
      box.left += 1.1
      box.right += 1.1
    }
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['Sodium in Serum', 'RATIO, RANDOM', 'Chloride in Serum'],
  )
})
