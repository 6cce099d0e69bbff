import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts } from '../../../test/support/browser-pages.ts'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { isAnalyte, isNamed, understand } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

const read = (...lines: PlacedText[][]) => {
  const page = pageOfLines(lines, 12)
  return readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed })
}
const rows = (...lines: PlacedText[][]) =>
  read(...lines).map(({ name, value, unit, range_lines }) => [name, value, unit, ...range_lines])

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [220, 'Result'],
  [300, 'Units'],
  [380, 'Reference Range'],
]

test('dots that lead to a result are not part of its name, however few a picture has left of them', () => {
  const lines: PlacedText[][] = ['MCH..', 'RDW . .', 'Platelets ......', 'Neutrophils Abs.'].map((name) => [
    [36, name],
    [220, '30.1'],
    [300, '%'],
    [380, '10-80'],
  ])
  assert.deepEqual(
    rows(HEADER, ...lines).map(([name]) => name),
    ['MCH', 'RDW', 'Platelets', 'Neutrophils Abs.'],
  )
})

test('names that begin as labels do are names where laboratories measure them', () => {
  const lines: PlacedText[][] = ['Fasting Glucose', 'Sex Hormone Binding Globulin', 'Normal Morphology'].map((name) => [
    [36, name],
    [220, '41'],
    [300, 'nmol/L'],
    [380, '10-80'],
  ])
  assert.deepEqual(
    rows(HEADER, ...lines).map(([name]) => name),
    ['Fasting Glucose', 'Sex Hormone Binding Globulin', 'Normal Morphology'],
  )
  assert.deepEqual(
    rows(HEADER, [
      [36, 'Diagnosing Diabetes'],
      [220, '>= 6.5'],
    ]),
    [],
  )
})

test('texts after colons are results only of tests that laboratories measure', () => {
  assert.deepEqual(
    rows(
      [
        [36, 'Colour'],
        [220, ': Brownish'],
      ],
      [
        [36, 'Pus Cells'],
        [220, ': 4 - 6 / hpf'],
      ],
    ),
    [
      ['Colour', 'Brownish', null],
      ['Pus Cells', '4 - 6', '/ hpf'],
    ],
  )
  assert.deepEqual(
    rows(
      [
        [36, 'Ward'],
        [220, ': Oak'],
      ],
      [
        [36, 'Fasting'],
        [220, ': Yes'],
      ],
    ),
    [],
  )
})

test('a line with two results in different units has two rows', () => {
  const line: PlacedText[] = [
    [36, 'Neutrophils'],
    [150, '58.4'],
    [200, '%'],
    [240, '40 - 75'],
    [330, '4.32'],
    [370, '10^3/ul'],
    [430, '2.0 - 7.5'],
  ]
  assert.deepEqual(rows(line), [
    ['Neutrophils', '58.4', '%', '40 - 75'],
    ['Neutrophils', '4.32', '10^3/ul', '2.0 - 7.5'],
  ])
})

test('a comparator with its unit in the column of results is a result with a unit', () => {
  const header: PlacedText[] = [
    [36, 'Component'],
    [220, 'Your Value'],
    [380, 'Standard Range'],
  ]
  assert.deepEqual(
    rows(header, [
      [36, 'eGFR'],
      [220, '>90 mL/min/1.73 m2'],
      [380, '>=60 mL/min/1.73 m2'],
    ]),
    [['eGFR', '>90', 'mL/min/1.73 m2', '>=60 mL/min/1.73 m2']],
  )
})

test('names of people and their degrees below a table are not results', () => {
  const lines: PlacedText[][] = [
    [
      [36, 'Dr. A. Sample'],
      [220, 'Dr. B. Sample'],
      [380, 'Dr. C. Sample'],
    ],
    [
      [36, 'MBBS, FCPS'],
      [220, 'MBBS, PhD'],
      [380, 'M.Phil'],
    ],
    [
      [36, 'Consultant Pathologist'],
      [220, 'Consultant Biochemist'],
      [380, 'Chief Executive'],
    ],
  ]
  assert.deepEqual(rows(HEADER, ...lines), [])
})

test('each date of a cumulative report is a result where dates stand above lines of hours and numbers', () => {
  const read = rows(
    [
      [36, 'Date'],
      [150, '11/01/23'],
      [230, '20/07/23'],
    ],
    [
      [36, 'Lab ID'],
      [150, '70112233'],
      [230, '70998811'],
      [320, 'Units'],
      [400, 'Reference'],
    ],
    [
      [36, 'Sodium'],
      [160, '138'],
      [240, '140'],
      [320, 'mmol/L'],
      [400, '(135-145)'],
    ],
  )
  assert.deepEqual(read, [
    ['Sodium', '138', 'mmol/L', '(135-145)'],
    ['Sodium', '140', 'mmol/L', '(135-145)'],
  ])
})

test('a note below a row is not a panel heading, and parts of an examination keep its section', () => {
  const [first, second] = read(
    [[36, 'Urine examination']],
    HEADER,
    [[36, 'Chemical Examination']],
    [
      [36, 'Protein'],
      [220, 'Absent'],
      [380, 'Absent'],
    ],
    [[60, 'For someone without known diabetes, a glucose value']],
    [
      [36, 'Glucose'],
      [220, 'Absent'],
      [380, 'Absent'],
    ],
  )
  assert.deepEqual([first!.panel, first!.section], ['Chemical Examination', 'Urine examination'])
  assert.equal(second!.panel, 'Chemical Examination')
})

const sodium = (value = '140'): PlacedText[] => [
  [36, 'Sodium'],
  [220, value],
  [300, 'mmol/L'],
  [380, '136-145'],
]
const potassium: PlacedText[] = [
  [36, 'Potassium'],
  [220, '5.9'],
  [300, 'mmol/L'],
  [380, '3.5-5.1'],
]
const line = (text: string, left = 36): PlacedText[] => [[left, text]]
const comments = (...lines: PlacedText[][]) => read(...lines).map((row) => [row.name, ...row.comments])

test('a column of comments belongs to the result next to it, over several lines, and its flags are flags', () => {
  const header: PlacedText[] = [...HEADER, [470, 'Remarks']]
  const found = read(
    header,
    [...potassium, [470, 'Slightly hemolyzed,']],
    [[470, 'please repeat']],
    [...sodium('150'), [470, 'High']],
    [...sodium('138'), [470, '-']],
  )
  assert.deepEqual(
    found.map(({ name, value, flag, comments }) => [name, value, flag, ...comments]),
    [
      ['Potassium', '5.9', null, 'Slightly hemolyzed, please repeat'],
      ['Sodium', '150', 'high'],
      ['Sodium', '138', null],
    ],
  )
})

test('a note between two rows of a panel belongs to the first of them, with its further lines', () => {
  assert.deepEqual(
    comments(
      HEADER,
      potassium,
      line('Comment: Specimen slightly hemolyzed; interpret the result with caution and repeat it if'),
      line('clinically indicated.'),
      line('Note 2: Called to the ward.'),
      sodium(),
    ),
    [
      [
        'Potassium',
        'Specimen slightly hemolyzed; interpret the result with caution and repeat it if clinically indicated.',
        'Called to the ward.',
      ],
      ['Sodium'],
    ],
  )
  assert.deepEqual(comments(HEADER, potassium, line('Method: ISE'), line('Result confirmed by repeat analysis.', 44), sodium()), [
    ['Potassium', 'Result confirmed by repeat analysis.'],
    ['Sodium'],
  ])
})

test('a heading below a note stays one', () => {
  const [first, second] = read(HEADER, potassium, line('Remarks: hemolyzed.', 46), line('LIPID PANEL'), sodium())
  assert.deepEqual([first!.comments, first!.panel, second!.comments, second!.panel], [['hemolyzed.'], null, [], 'LIPID PANEL'])
})

test('a note below the last of several rows is kept only where it is indented, since it may be about all of them', () => {
  const note = 'Comment: Mild anemia. Suggest iron.'
  assert.deepEqual(comments(HEADER, potassium, sodium(), line(note)), [['Potassium'], ['Sodium']])
  assert.deepEqual(comments(HEADER, potassium, sodium(), line(note, 46)), [
    ['Potassium'],
    ['Sodium', 'Mild anemia. Suggest iron.'],
  ])
  assert.deepEqual(comments(HEADER, sodium(), line(note)), [['Sodium', 'Mild anemia. Suggest iron.']])
})

test('explanations of a test, methods, page footers and notes far below are not comments', () => {
  const below = (...lines: PlacedText[][]) => comments(HEADER, potassium, ...lines)
  const alone = [['Potassium']]
  assert.deepEqual(below(line('Note: This report is computer generated.')), alone)
  assert.deepEqual(below(line('Method: ISE indirect'), sodium()), [...alone, ['Sodium']])
  assert.deepEqual(below([], [], [], line('Comment: hemolyzed')), alone)
  assert.deepEqual(below(line('Interpretation: Values are highest when a specimen is old.'), sodium()), [...alone, ['Sodium']])
  const explanation = Array.from({ length: 12 }, () => line('This test is done when it should be and has its limits.'))
  assert.deepEqual(below(...explanation, sodium()), [...alone, ['Sodium']])
  const table: PlacedText[] = [
    [36, 'Deficiency'],
    [220, '< 20'],
  ]
  assert.deepEqual(below(line('The result is judged by these classes.'), table, sodium()), [...alone, ['Sodium']])
})

test('a note on a line with several results belongs to no result', () => {
  const header: PlacedText[] = [
    [36, 'Test'],
    [150, '2024-01-02'],
    [230, '2024-03-04'],
    [320, 'Units'],
    [400, 'Comment'],
  ]
  const dated = (name: string): PlacedText[] => [
    [36, name],
    [150, '4.1'],
    [230, '5.9'],
    [320, 'mmol/L'],
    [400, 'hemolyzed'],
  ]
  assert.deepEqual(comments(header, dated('Potassium'), line('Comment: hemolyzed'), dated('Sodium')), [
    ['Potassium'],
    ['Potassium'],
    ['Sodium'],
    ['Sodium'],
  ])
})

test('dots between a name and a result in words separate both', () => {
  assert.deepEqual(
    rows([
      [36, 'Hepatitis C antibody .......... Non-Reactive'],
      [380, '[ Non-Reactive ]'],
    ]),
    [['Hepatitis C antibody', 'Non-Reactive', null, '[ Non-Reactive ]']],
  )
})

test('a name of one letter and a digit is read if laboratories use it', () => {
  assert.deepEqual(
    rows(
      HEADER,
      ...['E2', 'X2'].map((name): PlacedText[] => [
        [36, name],
        [220, '163.0'],
        [300, 'pg/mL'],
        [380, '27.0 - 246.0'],
      ]),
    ),
    [['E2', '163.0', 'pg/mL', '27.0 - 246.0']],
  )
})

test('lines with the ranges of both sexes below a row are its range', () => {
  const header: PlacedText[] = [
    [36, 'Test'],
    [220, 'Result'],
    [300, 'Units'],
  ]
  const row: PlacedText[] = [
    [36, 'Ferritin'],
    [220, '137'],
    [300, 'ng/mL'],
  ]
  const below = ['Bio. Ref. Interval. :', 'Male : 30 - 400', 'Female : 15 - 150'].map((text): PlacedText[] => [[36, text]])
  assert.deepEqual(rows(header, row, ...below), [['Ferritin', '137', 'ng/mL', 'Male : 30 - 400', 'Female : 15 - 150']])
})

test('the trimesters of a table of ranges are not results', () => {
  assert.deepEqual(
    rows(
      [
        [36, 'Trimester'],
        [220, 'Reference range (uIU/mL)'],
      ],
      ...['First', 'Second', 'Third'].map((name): PlacedText[] => [
        [36, name],
        [220, '0.30 - 3.00'],
      ]),
    ),
    [],
  )
})

test('the ranges that an explanation lists behind a colon are not a result', () => {
  const row = (name: string, value: string, unit: string, range: string): PlacedText[] => [
    [36, name],
    [200, value],
    [300, unit],
    [400, range],
  ]
  for (const text of [
    'Pregnancy: first trimester 0.10 - 2.50, second 0.20 - 3.00.',
    'Pregnancy: 1st trimester 0.10-2.50, 2nd 0.20-3.00, 3rd 0.30-3.00',
  ])
    assert.deepEqual(
      rows(row('Test', 'Result', 'Units', 'Reference Range'), row('TSH', '3.89', 'uIU/mL', '0.450 - 4.500'), [[36, text]]),
      [['TSH', '3.89', 'uIU/mL', '0.450 - 4.500']],
      text,
    )
})

test('the reflex test that a name announces in its second line is part of the name', () => {
  const row = (name: string, value: string, range: string): PlacedText[] => [
    [36, name],
    [250, value],
    [350, range],
  ]
  for (const rest of ['wRfx', 'w/ Reflex', 'w/Rfx'])
    assert.deepEqual(
      rows(row('Test', 'Result', 'Reference Range'), row('HIV Screen 4th Generation', 'Negative', 'Negative'), [[36, rest]]),
      [[`HIV Screen 4th Generation ${rest}`, 'Negative', null, 'Negative']],
    )
})

test('a sign behind a range that ends a list is no part of the range', () => {
  for (const range of ['0 - 10 ;', '0 - 10 ,', '0 - 10'])
    assert.deepEqual(
      rows([
        [36, 'Red Blood Cells'],
        [200, '14'],
        [290, '/cmm'],
        [400, range],
      ]),
      [['Red Blood Cells', '14', '/cmm', '0 - 10']],
    )
})

test('a bound with its unit is the result where a range follows it, also behind a flag', () => {
  const line = (...cells: PlacedText[]) => rows(cells)
  assert.deepEqual(line([40, 'CRP'], [326, '< 1 mg/L'], [445, '(0 - 10)']), [['CRP', '< 1', 'mg/L', '(0 - 10)']])
  assert.deepEqual(line([40, 'TSH'], [272, 'L'], [305, '< 0.005 mIU/L'], [445, '(0.45 - 4.50)']), [
    ['TSH', '< 0.005', 'mIU/L', '(0.45 - 4.50)'],
  ])
  assert.deepEqual(line([40, 'hs-CRP'], [326, '<0.2 mg/L'], [445, '<3.0']), [['hs-CRP', '<0.2', 'mg/L', '<3.0']])
  assert.deepEqual(line([40, 'PSA'], [272, 'H'], [305, '>100 ng/mL'], [445, '<4.0']), [['PSA', '>100', 'ng/mL', '<4.0']])
  assert.deepEqual(line([40, 'Troponin'], [305, '< 3 ng/L'], [445, '0 - 14']), [['Troponin', '< 3', 'ng/L', '0 - 14']])
  assert.deepEqual(line([40, 'LDL Cholesterol'], [305, '<100 mg/dL'], [445, '95']), [
    ['LDL Cholesterol', '95', 'mg/dL', '<100 mg/dL'],
  ])
})

test('the word of a flag behind a number without names of columns is its flag, and that of another result is not', () => {
  const flags = (...texts: string[]) =>
    read(texts.map((text, index) => [40 + index * 150, text])).map(({ name, value, flag }) => [name, value, flag])
  assert.deepEqual(flags('LDL 130 mg/dL HIGH'), [['LDL', '130', 'high']])
  assert.deepEqual(flags('Potassium 2.9 mmol/L Low'), [['Potassium', '2.9', 'low']])
  assert.deepEqual(flags('Glucose 95 mg/dL', 'Ketones', 'High')[0], ['Glucose', '95', null])
})

test('the time in a name with a result in its own column is part of the name, and a result of time is one', () => {
  const row = (name: string, value: string, unit: string, range: string): PlacedText[] => [
    [36, name],
    [220, value],
    [300, unit],
    [380, range],
  ]
  assert.deepEqual(
    rows(HEADER, row('Cortisol, 30 min', '18', 'ug/dL', '> 17'), row('Glucose 2 hours', '150', 'mg/dL', '< 140'), [
      [36, 'Bleeding Time'],
      [220, '4 min'],
      [380, '2 - 7'],
    ]),
    [
      ['Cortisol, 30 min', '18', 'ug/dL', '> 17'],
      ['Glucose 2 hours', '150', 'mg/dL', '< 140'],
      ['Bleeding Time', '4', 'min', '2 - 7'],
    ],
  )
})

test('the first row of a table is no further line of the names of its columns, though its words may be some', () => {
  const row = (...texts: string[]): PlacedText[] => texts.map((text, index) => [[40, 200, 280, 360][index]!, text])
  for (const [result, status, range] of [
    ['Normal', 'Normal', 'Normal'],
    ['Abnormal', 'Abnormal', 'Normal'],
  ])
    assert.deepEqual(
      rows(
        row('Analyte', 'Result', 'Status', 'Range'),
        row('Urobilinogen', result!, status!, range!),
        row('Bilirubin', 'Negative', 'Normal', 'Negative'),
        row('Glucose', '95', 'Normal', '70 - 99'),
      ).map(([name, value]) => [name, value]),
      [
        ['Urobilinogen', result],
        ['Bilirubin', 'Negative'],
        ['Glucose', '95'],
      ],
    )
})

test('what grew in a culture is one result', () => {
  const growthOf = (text: string) =>
    understand([
      pageOfTexts([
        [100, 36, 'Urine Culture'],
        [100, 240, text],
      ]),
    ]).results.map(({ test_name, value }) => [test_name, value])
  for (const text of ['>100,000 CFU/mL Escherichia coli', 'No significant growth', 'Heavy growth of Candida albicans'])
    assert.deepEqual(growthOf(text), [['Urine Culture', text]], text)
})
