// Forms in which reports without names of columns print names and results: dashes that lead to results, numbers and words within names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts, type Text } from '../../../test/support/browser-pages.ts'
import { understand } from '../reading/read-report.ts'

const resultsOf = (...lines: string[]) =>
  understand([pageOfTexts(lines.map((text, index) => [100 + index * 20, 36, text]))]).results
const read = (...lines: string[]) => resultsOf(...lines).map(({ test_name, value, units }) => [test_name, value, units])

test('a dash that leads to a result is no part of the name, and may be a sign where results are negative', () => {
  assert.deepEqual(
    read(
      'Glucose - 105 mg/dL',
      'Potassium – 4.1 mmol/L',
      'Sodium -> 140 mmol/L',
      'Urea, 5.2 mmol/L, 2.5-7.8, N',
      'Base excess -2.1 mmol/L',
    ),
    [
      ['Glucose', '105', 'mg/dL'],
      ['Potassium', '4.1', 'mmol/L'],
      ['Sodium', '140', 'mmol/L'],
      ['Urea', '5.2', 'mmol/L'],
      ['Base excess', '-2.1', 'mmol/L'],
    ],
  )
  const [excess] = resultsOf('Base excess - 2.1 mmol/L')
  assert.deepEqual(
    excess!.findings.map(({ kind }) => kind),
    ['name_is_incomplete'],
  )
})

test('a negative result with its unit is no range without a lower bound', () => {
  const [line, card] = resultsOf('Base excess -2.1 mmol/L (-3 - +3)', 'T-score: -1.8 SD')
  assert.deepEqual([line!.value, line!.units, line!.min_reference_range, line!.max_reference_range], ['-2.1', 'mmol/L', -3, 3])
  assert.deepEqual([card!.value, card!.units], ['-1.8', 'SD'])
})

test('a number or a word that could be a result belongs to a name that is known with it where another result follows', () => {
  assert.deepEqual(
    read(
      'CA 125 15 U/mL <35',
      'IgG 4 0.5 g/L 0.0-1.3',
      'Vitamin B 12 250 pg/mL 200-900',
      'Omega 3 Index 5.5 % >8',
      'Folic acid 8.1 ng/mL 3-17',
      'Uric Acid 5.1 mg/dL Men 3.5-7.2 Women 2.6-6.0',
      'Calcium 125 mg/L 80-110',
      'Estim. Avg Glu (eAG): 120 mg/dL - HIGH (normal less than 117)',
    ),
    [
      ['CA 125', '15', 'U/mL'],
      ['IgG 4', '0.5', 'g/L'],
      ['Vitamin B 12', '250', 'pg/mL'],
      ['Omega 3 Index', '5.5', '%'],
      ['Folic acid', '8.1', 'ng/mL'],
      ['Uric Acid', '5.1', 'mg/dL'],
      ['Calcium', '125', 'mg/L'],
      ['Estim. Avg Glu (eAG)', '120', 'mg/dL'],
    ],
  )
})

test('groups of digits whose first may be the end of the name are doubtful', () => {
  const [subclass, ferritin] = resultsOf('IgG 1 234 mg/dL 700-1600', 'Ferritin 1 234 ug/L 30-300')
  assert.deepEqual([subclass!.findings.map(({ kind }) => kind), ferritin!.findings], [['name_is_incomplete'], []])
})

test('a unit with a slash behind a name, with a comma or without one, is that of the result', () => {
  assert.deepEqual(
    read(
      'Glucose, mg/dL 105 70-99',
      'Sodium mmol/L 140 135-145',
      'eGFR, mL/min/1.73 m2: 91 (>60)',
      'Hemoglobin, g/dL: 14.1 (12-16)',
      'BUN/Creatinine 15 10-20',
    ),
    [
      ['Glucose', '105', 'mg/dL'],
      ['Sodium', '140', 'mmol/L'],
      ['eGFR', '91', 'mL/min/1.73 m2'],
      ['Hemoglobin', '14.1', 'g/dL'],
      ['BUN/Creatinine', '15', null],
    ],
  )
})

test('a word that says whether something is there is the result of the name in front of it', () => {
  assert.deepEqual(
    read('HPV 16 Not detected', 'HPV 18 Positive', 'Occult blood NEGATIVE', 'HBsAg Non-Reactive', 'Rheumatoid factor positive'),
    [
      ['HPV 16', 'Not detected', null],
      ['HPV 18', 'Positive', null],
      ['Occult blood', 'NEGATIVE', null],
      ['HBsAg', 'Non-Reactive', null],
    ],
  )
})

test('a range behind a comma or a label of a few letters is that of its line', () => {
  const ranges = resultsOf(
    'Iron 12 umol/L, normal 10 to 30',
    'Zinc 12 umol/L; 10-22',
    'Calcium 9.1 mg/dL (N: 8.5-10.5)',
    'ALT 30 U/L (N<40)',
    'AST 30 U/L N.V. < 45',
    'CK 80 U/L RR 30-200',
  ).map(({ test_name, units, min_reference_range: min, max_reference_range: max, findings }) => [
    test_name,
    units,
    min,
    max,
    findings.length,
  ])
  assert.deepEqual(ranges, [
    ['Iron', 'umol/L', 10, 30, 0],
    ['Zinc', 'umol/L', 10, 22, 0],
    ['Calcium', 'mg/dL', 8.5, 10.5, 0],
    ['ALT', 'U/L', null, 40, 0],
    ['AST', 'U/L', null, 45, 0],
    ['CK', 'U/L', 30, 200, 0],
  ])
})

test('a day in front of a name is that of the result', () => {
  const rows = resultsOf('Chemistry', '04/03/2024 Glucose 105 mg/dL 70-99', '04 Mar 2024 08:10 Sodium 140 mmol/L 135-145')
  assert.deepEqual(
    rows.map(({ test_name, date, findings }) => [test_name, date, findings.length]),
    [
      ['Glucose', '04/03/2024', 0],
      ['Sodium', '04 Mar 2024 08:10', 0],
    ],
  )
})

test('a number or a LOINC code in front of a name makes no row doubtful', () => {
  const rows = resultsOf('1. Glucose 105 mg/dL 70-99', '2. Sodium 140 mmol/L 135-145', '2823-3 Potassium 4.1 mmol/L 3.5-5.1')
  assert.deepEqual(
    rows.map(({ test_name, findings }) => [test_name, findings.length]),
    [
      ['Glucose', 0],
      ['Sodium', 0],
      ['Potassium', 0],
    ],
  )
})

test('a list of classes with their bounds is no result', () => {
  assert.deepEqual(
    read(
      'LDL-Cholesterol 1,42 g/L',
      'LDL targets: low risk < 1,16 g/L, moderate < 1,00 g/L, high < 0,70 g/L, very high < 0,55 g/L',
      'HDL-Cholesterol 0,52 g/L',
    ),
    [
      ['LDL-Cholesterol', '1,42', 'g/L'],
      ['HDL-Cholesterol', '0,52', 'g/L'],
    ],
  )
})

test('what a report says of medicines and vital signs is doubtful', () => {
  for (const heading of ['Medications', 'Current medications', 'Vital signs']) {
    const rows = resultsOf('Glucose 105 mg/dL 70-99', heading, 'Vitamin D 1000 IU', 'Insulin 10 units')
    assert.deepEqual(
      rows.map(({ findings }) => findings.some(({ kind }) => kind === 'name_is_unknown')),
      [false, true, true],
      heading,
    )
  }
})

test('a number alone behind a name is its result, unless the name is known with it', () => {
  assert.deepEqual(
    read('TSH = 1.2', 'Estimated GFR >60', 'Vitamin B 12', 'HIV 1/2 Antibody Non Reactive (0.12)', 'Cholesterol ratio 4.1'),
    [
      ['TSH', '1.2', null],
      ['Estimated GFR', '>60', null],
      ['HIV 1/2 Antibody', 'Non Reactive (0.12)', null],
      ['Cholesterol ratio', '4.1', null],
    ],
  )
})

test('a unit with a slash or a percent sign needs no space behind its number, and a small letter may begin a name', () => {
  assert.deepEqual(read('Hemoglobin A1c 5.6% (<5.7%)', 'Glucose 105mg/dL 70-99', 'hs-CRP 0.8 mg/L <1.0'), [
    ['Hemoglobin A1c', '5.6', '%'],
    ['Glucose', '105', 'mg/dL'],
    ['hs-CRP', '0.8', 'mg/L'],
  ])
})

test('a range in brackets behind a name is that of the result', () => {
  const [tsh, glucose] = resultsOf('TSH (0.4-4.5): 1.2 mIU/L', 'Glucose (0-2 h) 105 mg/dL 70-99')
  assert.deepEqual([tsh!.test_name, tsh!.min_reference_range, tsh!.interpretation], ['TSH', 0.4, 'normal'])
  assert.deepEqual([glucose!.test_name, glucose!.min_reference_range], ['Glucose (0-2 h)', 70])
})

test('two names with a slash share two results with a slash, and a blood group is a result behind its name', () => {
  assert.deepEqual(read('Hgb/Hct 13.1/39.5', 'AST/ALT: 22/18 U/L', 'Blood type O positive', 'PT/INR 12.1/1.0', 'ABO Group O'), [
    ['Hgb', '13.1', null],
    ['Hct', '39.5', null],
    ['AST', '22', 'U/L'],
    ['ALT', '18', 'U/L'],
    ['Blood type', 'O positive', null],
    ['PT', '12.1', null],
    ['INR', '1.0', null],
    ['ABO Group', 'O', null],
  ])
  // Of which of both a range is remains unknown.
  const [both] = resultsOf('Potassium 4.1 mmol/L 3.5-5.1', 'AST/ALT 22/18 U/L 0-40').slice(1)
  assert.deepEqual([both!.test_name, both!.value], ['AST/ALT', '22/18'])
})

test('a mark in front of a name is the flag of its result', () => {
  const results = resultsOf(
    '! Haemoglobin concentration 112 g/L [115 - 160]',
    '! Ferritin 9 ug/L',
    '▲ Potassium 5.9 mmol/L [3.5 - 5.1]',
    'Sodium 139 mmol/L [133 - 146]',
  )
  assert.deepEqual(
    results.map(({ test_name, value, interpretation }) => [test_name, value, interpretation]),
    [
      ['Haemoglobin concentration', '112', 'abnormal'],
      ['Ferritin', '9', 'abnormal'],
      ['Potassium', '5.9', 'abnormal'],
      ['Sodium', '139', 'normal'],
    ],
  )
  const [within] = resultsOf('! Haemoglobin 130 g/L [115 - 160]')
  assert.deepEqual(
    within!.findings.map(({ kind }) => kind),
    ['flag_contradicts_range'],
  )
})

test('a telephone number is no result of pH', () => {
  assert.deepEqual(read('Ph: 0253-5550123', 'Ph 02 5550 0100', 'pH: 6.0', 'Glucose 105 mg/dL'), [
    ['pH', '6.0', null],
    ['Glucose', '105', 'mg/dL'],
  ])
})

test('why a specimen was not measured is its result', () => {
  const lines = [
    ['Potassium', 'Haemolysed', '[3.5 - 5.3]'],
    ['Sodium', '138 mmol/L', '[133 - 146]'],
  ]
  const page = pageOfTexts(
    lines.flatMap((cells, index) => cells.map((text, cell): Text => [100 + index * 20, 36 + cell * 150, text])),
  )
  assert.deepEqual(
    understand([page]).results.map(({ test_name, value }) => [test_name, value]),
    [
      ['Potassium', 'Haemolysed'],
      ['Sodium', '138'],
    ],
  )
})

test('a bound with its unit is a filtration rate, and may be the range of other tests', () => {
  const valuesOf = (name: string, bound: string) =>
    understand([
      pageOfTexts([[100, 36, name] as Text, [100, 240, bound] as Text, [120, 36, 'Sodium'], [120, 240, '139 mmol/L']]),
    ]).results.map(({ value }) => value)
  assert.deepEqual(valuesOf('eGFR for adults', '>90 mL/min/1.73m2'), ['>90', '139'])
  assert.deepEqual(valuesOf('Glucose for adults', '<100 mg/dL'), ['139'])
})

test('a comment of several sentences behind a colon is no result', () => {
  assert.deepEqual(read('ANA pattern: speckled. ENA screen to follow.', 'ANA pattern: speckled'), [
    ['ANA pattern', 'speckled', null],
  ])
})

test('a status behind the column of results, and a time behind its label, are no results', () => {
  const lines: Text[] = [
    [80, 36, 'I/C NO 000000-00-0000 COLLECTED'],
    [80, 300, '09:00'],
    [100, 36, 'Haemoglobin A1c level'],
    [100, 480, 'Satisfactory'],
    [120, 36, 'Haemoglobin A1c level - IFCC standardised'],
    [120, 300, '38 mmol/mol'],
    [120, 400, '[20 - 41]'],
    [140, 36, 'Sodium'],
    [140, 300, '139 mmol/L'],
    [140, 400, '[133 - 146]'],
    [160, 36, 'Potassium'],
    [160, 300, '4.4 mmol/L'],
    [160, 400, '[3.5 - 5.3]'],
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ value, findings }) => [value, findings.map(({ kind }) => kind)]),
    [
      ['Satisfactory', ['value_is_no_result']],
      ['38', []],
      ['139', []],
      ['4.4', []],
    ],
  )
})
