// Forms in which reports without names of columns print names and results: dashes that lead to results, numbers and words within names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { line, pageOfTexts, type Text } from '../../../test/support/browser-pages.ts'
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

test('numbers behind labels of telephones and bills are no results, and those of names with a dash in front are', () => {
  const rows = understand([
    pageOfTexts([
      [80, 36, '12 Sample Parade, Notown QLD 0000'],
      [80, 300, 'Ph 07 0000 0199'],
      [100, 36, 'OP / IP : OP'],
      [100, 200, 'Doctor : Dr. Test Sample'],
      [100, 400, 'Bill No : 662190'],
      [120, 36, 'Glucose'],
      [120, 200, 'Fasting'],
      [120, 300, '92 mg/dL'],
    ]),
  ]).results
  assert.deepEqual(
    rows.map(({ test_name, value }) => [test_name, value]),
    [['Glucose Fasting', '92']],
  )
})

test('words below a result that are a flag are its flag, and no heading', () => {
  const lines: Text[] = [
    [100, 36, 'Haematocrit'],
    [100, 240, '0.362 L/L [0.370 - 0.470]'],
    [112, 240, 'Below low reference limit'],
    [124, 36, 'Serum ferritin'],
    [124, 240, '40 ug/L [13 - 150]'],
    [136, 36, 'Serum sodium'],
    [136, 240, '139 mmol/L [133 - 146]'],
    [148, 36, 'Normal'],
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ interpretation, findings }) => [interpretation, findings.length]),
    [
      ['abnormal', 0],
      ['normal', 0],
      ['normal', 0],
    ],
  )
})

test('what stands at the side of a page is no part of a name that is known', () => {
  const lines: Text[] = [
    [100, 36, 'Practice No 0000000'],
    [100, 160, 'Red Cell Count'],
    [100, 300, '5.61'],
    [100, 360, '10^12/L'],
    [100, 440, '4.19 - 5.85'],
    [120, 160, 'Haemoglobin'],
    [120, 300, '17.4'],
    [120, 360, 'g/dL'],
    [120, 440, '13.4 - 17.5'],
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name, findings }) => [test_name, findings[0]?.kind]),
    [
      ['Red Cell Count', 'text_not_read'],
      ['Haemoglobin', undefined],
    ],
  )
})

test('a text exactly below a word that is a result is one, and other texts behind names are none', () => {
  const valuesAt = (left: number) =>
    understand([
      pageOfTexts([
        [100, 36, 'Mucus'],
        [100, 240, 'Present'],
        [120, 36, 'Cysts'],
        [120, left, 'E. histolytica cysts seen'],
        [140, 36, 'Occult Blood'],
        [140, 240, 'Negative'],
      ]),
    ]).results.map(({ value }) => value)
  assert.deepEqual(valuesAt(240), ['Present', 'E. histolytica cysts seen', 'Negative'])
  assert.deepEqual(valuesAt(260), ['Present', 'Negative'])
})

test('in a table a sentence behind the name of a test explains its results', () => {
  const lines: Text[] = [
    ...line(100, 'Test', 'Result', 'Units', 'Reference Range'),
    ...line(120, 'INR', '1.0'),
    ...line(140, 'APTT', '27.4', 'secs', '20.8 - 30.8'),
    [160, 36, 'INR: targets apply to patients on warfarin. A D-Dimer below 0.50 makes a thrombosis unlikely.'],
    ...line(180, 'Sodium', '139', 'mmol/L', '133 - 146'),
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name, value }) => [test_name, value]),
    [
      ['INR', '1.0'],
      ['APTT', '27.4'],
      ['Sodium', '139'],
    ],
  )
})

test('names of columns in another script are no result', () => {
  const lines: Text[] = [
    ...line(100, 'Test Name', 'Result', 'Unit', 'Reference Range'),
    ...line(112, 'اسم الفحص', 'النتيجة', 'الوحدة', 'المعدل'),
    ...line(130, 'Sodium', '139', 'mmol/L', '133 - 146'),
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name }) => test_name),
    ['Sodium'],
  )
})

test('a colon may stand in a column of its own, in front of an interval with its unit', () => {
  const lines: Text[] = [
    [100, 36, 'Pus Cells'],
    [100, 220, ':'],
    [100, 240, '18 - 20/hpf'],
    [100, 380, '[ 0 - 5 ]'],
    [120, 36, 'Quantity'],
    [120, 220, ':'],
    [120, 240, '30 ml'],
    [140, 36, 'Yeast Cells'],
    [140, 220, ':'],
    [140, 240, '0 - 1/hpf'],
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name, value, units }) => [test_name, value, units]),
    [
      ['Pus Cells', '18 - 20', '/hpf'],
      ['Quantity', '30', 'ml'],
      ['Yeast Cells', '0 - 1', '/hpf'],
    ],
  )
})

test('two names with words behind colons in a line are two results', () => {
  const lines: Text[] = [
    [100, 36, 'Colour'],
    [100, 160, ': Straw'],
    [100, 300, 'Sediment'],
    [100, 420, ': Nil'],
    [120, 36, 'Pus Cells'],
    [120, 160, ': 3-5 /HPF'],
    [120, 300, 'Epithelial Cells'],
    [120, 420, ': 2-3 /HPF'],
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name, value, units }) => [test_name, value, units]),
    [
      ['Colour', 'Straw', null],
      ['Sediment', 'Nil', null],
      ['Pus Cells', '3-5', '/HPF'],
      ['Epithelial Cells', '2-3', '/HPF'],
    ],
  )
})

const NUMBERED: Text[] = [
  [100, 36, 'S/N'],
  [100, 80, 'Test'],
  [100, 240, 'Result'],
  [100, 340, 'Unit'],
  [100, 420, 'Reference Range'],
]
const rowWithNumber = (top: number, ...cells: string[]): Text[] =>
  cells.flatMap((text, index): Text[] => (text ? [[top, [36, 80, 240, 340, 420][index]!, text]] : []))

test('dashes in the columns of units and ranges say that there are none', () => {
  const lines = [
    ...NUMBERED,
    ...rowWithNumber(120, '1', 'PCV', '31', '%', '36 - 48'),
    ...rowWithNumber(140, '2', 'Protein', 'Nil', '-', '-'),
    ...rowWithNumber(160, '3', 'Appearance', 'Clear Amber', '-', '-'),
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ value, units, findings }) => [value, units, findings.length]),
    [
      ['31', '%', 0],
      ['Nil', null, 0],
      ['Clear Amber', null, 0],
    ],
  )
})

test('a line with its number in a table has a result, whatever is measured', () => {
  const lines = [
    ...NUMBERED,
    ...rowWithNumber(120, '1', 'PCV', '31', '%', '36 - 48'),
    ...rowWithNumber(140, '2', 'Variant', 'AS', '-', '-'),
  ]
  const valuesOf = (texts: Text[]) => understand([pageOfTexts(texts)]).results.map(({ value }) => value)
  assert.deepEqual(valuesOf(lines), ['31', 'AS'])
  const withoutNumber = lines.filter(([top, left]) => !(top === 140 && left === 36))
  assert.deepEqual(valuesOf(withoutNumber), ['31'])
})

test('a text far behind a range is a remark, and one close to it is part of the range', () => {
  const rows = (left: number) =>
    understand([
      pageOfTexts([
        ...line(100, 'Test', 'Result', 'Units', 'Reference Range'),
        ...line(120, 'PSA (Total)', '4.42', 'ug/L', '< 4.00'),
        [120, left, 'Review'],
        ...line(140, 'CEA', '1.8', 'ug/L', '< 5.0'),
      ]),
    ]).results.map(({ interpretation, comments }) => [interpretation, comments])
  assert.deepEqual(rows(510), [
    ['abnormal', ['Review']],
    ['normal', []],
  ])
  assert.deepEqual(rows(470)[0], ['unknown', []])
})

test('two tables of words side by side are parted where the second names begin', () => {
  const pairs: [string, string, string, string][] = [
    ['STOOL ANALYSIS', '', 'URINE ANALYSIS', ''],
    ['Color', 'Brown', 'Color', 'Amber Yellow'],
    ['Mucus', 'Nil', 'Aspect', 'Clear'],
    ['Blood', 'Nil', 'Albumin', 'Nil'],
    ['Ova', 'Nil', 'Sugar', 'Nil'],
    ['Pus Cells', '0 - 1', 'Bilirubin', 'Nil'],
  ]
  const lines = pairs.flatMap((cells, row) =>
    cells.flatMap((text, index): Text[] => (text ? [[100 + row * 20, [36, 160, 300, 440][index]!, text]] : [])),
  )
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map(({ test_name, value, source_panel_name }) => [
      test_name,
      value,
      source_panel_name?.split(' ')[0],
    ]),
    [
      ['Color', 'Brown', 'STOOL'],
      ['Mucus', 'Nil', 'STOOL'],
      ['Blood', 'Nil', 'STOOL'],
      ['Ova', 'Nil', 'STOOL'],
      ['Pus Cells', '0 - 1', 'STOOL'],
      ['Color', 'Amber Yellow', 'URINE'],
      ['Aspect', 'Clear', 'URINE'],
      ['Albumin', 'Nil', 'URINE'],
      ['Sugar', 'Nil', 'URINE'],
      ['Bilirubin', 'Nil', 'URINE'],
    ],
  )
})

test('a result and the word that is expected of it are not one result', () => {
  const [row] = understand([
    pageOfTexts([
      [100, 36, 'Nitrite'],
      [100, 240, 'Positive Negative'],
    ]),
  ]).results
  assert.equal(row!.value, 'Positive')
})

test('a column of absolute counts with ranges of its own has results as well', () => {
  const cells = (top: number, ...texts: string[]): Text[] =>
    texts.flatMap((text, index): Text[] => (text ? [[top, [36, 150, 210, 260, 360, 430][index]!, text]] : []))
  const lines = [
    ...cells(100, 'Test', 'Result', 'Units', 'Reference Range', 'Absolute', 'Reference Range'),
    ...cells(120, 'Neutrophils', '71', '%', '40 - 75', '7.70', '2.00 - 7.50 10^3/uL'),
    ...cells(140, 'Lymphocytes', '20', '%', '20 - 45', '2.17', '1.00 - 4.00 10^3/uL'),
    ...cells(160, 'Haemoglobin', '13.9', 'g/dL', '13.0 - 17.0'),
  ]
  assert.deepEqual(
    understand([pageOfTexts(lines)]).results.map((result) => [
      result.test_name,
      result.value,
      result.units,
      result.min_reference_range,
      result.interpretation,
    ]),
    [
      ['Neutrophils', '71', '%', 40, 'normal'],
      ['Neutrophils', '7.70', '10^3/uL', 2, 'abnormal'],
      ['Lymphocytes', '20', '%', 20, 'normal'],
      ['Lymphocytes', '2.17', '10^3/uL', 1, 'normal'],
      ['Haemoglobin', '13.9', 'g/dL', 13, 'normal'],
    ],
  )
})
