// Rows that do not keep to their columns, and what surrounds them in reports that programs write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { isSpecimen } from '../reading/result.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

const read = (...lines: PlacedText[][]) => {
  const page = pageOfLines(lines, 12)
  return readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed, isSpecimen })
}
const rows = (...lines: PlacedText[][]) =>
  read(...lines).map(({ name, value, unit, range_lines, flag }) => [name, value, unit, range_lines.join(' '), flag])

const HEADER: PlacedText[] = [
  [36, 'Test Name'],
  [106, 'Result'],
  [158, 'Unit'],
  [205, 'Reference Range'],
  [320, 'Status'],
]
const line = (text: string): PlacedText[] => [[36, text]]

const WIDE: PlacedText[] = [
  [36, 'Test Name'],
  [200, 'Result'],
  [270, 'Units'],
  [340, 'Reference Range'],
]
const wide = (name: string, value: string, unit: string, range: string): PlacedText[] => [
  [36, name],
  [200, value],
  [270, unit],
  [340, range],
]

test('cells outside of their columns are read in the order of the columns', () => {
  assert.deepEqual(
    rows(
      HEADER,
      [
        [36, 'Total Cholesterol'],
        [150, '235'],
        [182, 'mg/dL'],
        [230, '< 200'],
        [272, 'HIGH'],
      ],
      [
        [36, 'Total Cholesterol/HDL Ratio'],
        [190, '6.18'],
        [230, '< 5.0'],
        [272, 'HIGH'],
      ],
    ),
    [
      ['Total Cholesterol', '235', 'mg/dL', '< 200', 'high'],
      ['Total Cholesterol/HDL Ratio', '6.18', null, '< 5.0', 'high'],
    ],
  )
})

test('a sentence with a number and a unit is not read as a row in the order of the columns', () => {
  assert.deepEqual(rows(HEADER, line('Thyroid function recheck in 6 weeks')), [])
})

test('a name and a result without a gap are parted where each stands under its column', () => {
  const close: PlacedText[] = [
    [36, 'C-Reactive Protein 94.5'],
    [205, 'mg/L 0.0 - 5.0'],
    [320, 'HIGH'],
  ]
  const header: PlacedText[] = [
    [36, 'Test Name'],
    [125, 'Result'],
    [205, 'Units'],
    [240, 'Reference Range'],
    [320, 'Status'],
  ]
  assert.deepEqual(rows(header, close), [['C-Reactive Protein', '94.5', 'mg/L', '0.0 - 5.0', 'high']])
  // Under the column of the result stands a result of its own: the number belongs to the name.
  assert.deepEqual(
    rows(header, [
      [36, 'Vitamin B12'],
      [125, '350'],
      [205, 'pg/mL'],
    ]),
    [['Vitamin B12', '350', 'pg/mL', '', null]],
  )
})

test('names of columns and of tests go on in the next line', () => {
  const header: PlacedText[][] = [
    [
      [36, 'Test'],
      [200, 'Result'],
      [300, 'Reference'],
    ],
    [[310, 'Range']],
  ]
  const alkaline: PlacedText[] = [
    [36, 'Alkaline'],
    [200, '87 U/L'],
    [300, '40 - 129 U/L'],
  ]
  const albumin: PlacedText[] = [
    [36, 'Albumin'],
    [200, '4.2 g/dL'],
    [300, '3.5 - 5.0 g/dL'],
  ]
  const found = read(line('Liver Function Tests'), ...header, alkaline, line('Phosphatase'), albumin)
  assert.deepEqual(
    found.map(({ name, value, panel }) => [name, value, panel]),
    [
      ['Alkaline Phosphatase', '87', 'Liver Function Tests'],
      ['Albumin', '4.2', 'Liver Function Tests'],
    ],
  )
})

test('LOINC codes in brackets part no name from its result', () => {
  const printed: PlacedText[][] = [
    line('Complete Blood Count (LOINC: 58410-2)'),
    [
      [36, 'Haemoglobin (LOINC: 718-7):'],
      [220, '11.8 g/dL'],
      [300, '[Ref: 13.5-17.5]'],
    ],
    [
      [36, 'Total Cholesterol [LOINC 2093-3]: 228 mg/dL'],
      [300, '[Ref: < 200]'],
    ],
  ]
  assert.deepEqual(
    read(...printed).map(({ name, value, unit, panel }) => [name, value, unit, panel]),
    [
      ['Haemoglobin', '11.8', 'g/dL', 'Complete Blood Count'],
      ['Total Cholesterol', '228', 'mg/dL', 'Complete Blood Count'],
    ],
  )
})

test('remarks in brackets behind a unit leave the result whole, and may be its flag', () => {
  const remarks = ['142 mg/dL (High - possible diabetes)', '39 mg/dL (Low)', '6.8 % (Pre-diabetic range)']
  const names = ['Fasting Blood Glucose:', 'HDL Cholesterol:', 'HbA1c:']
  assert.deepEqual(
    rows(
      ...remarks.map((remark, index): PlacedText[] => [
        [36, names[index]!],
        [220, remark],
      ]),
    ),
    [
      ['Fasting Blood Glucose', '142', 'mg/dL', '', 'high'],
      ['HDL Cholesterol', '39', 'mg/dL', '', 'low'],
      ['HbA1c', '6.8', '%', '', null],
    ],
  )
})

test('powers that are raised belong to units', () => {
  assert.deepEqual(
    rows(HEADER, [
      [36, 'WBC'],
      [106, '15.8 x10⁹/L'],
      [205, '4.0 - 11.0'],
    ]),
    [['WBC', '15.8', 'x10⁹/L', '4.0 - 11.0', null]],
  )
})

test('a method and a specimen below rows are not headings, even without labels', () => {
  const row = (name: string): PlacedText[] => [
    [36, name],
    [106, '32'],
    [158, 'pg'],
    [205, '27 - 32'],
  ]
  const found = read(HEADER, row('MCH'), line('Calculated , Whole Blood EDTA'), row('MCHC'), line('Photometric, Serum'))
  assert.deepEqual(
    found.map(({ name, panel, method, specimen }) => [name, panel, method, specimen]),
    [
      ['MCH', null, 'Calculated', 'Whole Blood EDTA'],
      ['MCHC', null, 'Photometric', 'Serum'],
    ],
  )
})

test('lines that are drawn with signs, and categories that repeat the name, are not rows', () => {
  const category: PlacedText[] = [
    [36, 'HbA1c in %'],
    [100, '4.0-5.6'],
    [200, '5.7-6.4'],
    [270, '>= 6.5'],
  ]
  const drawn: PlacedText[] = [
    [36, 'In nmol/L'],
    [200, '|---------------|'],
  ]
  assert.deepEqual(rows(WIDE, category, drawn), [])
})

test('the title of all results ends the panel above', () => {
  const row = (name: string): PlacedText[] => [
    [36, name],
    [106, '4.1'],
    [158, 'mmol/L'],
    [205, '3.5 - 5.1'],
  ]
  const found = read(line('ELECTROLYTES'), HEADER, row('Potassium'), line('LABORATORY RESULTS'), HEADER, row('Calcium'))
  assert.deepEqual(
    found.map(({ name, panel }) => [name, panel]),
    [
      ['Potassium', 'ELECTROLYTES'],
      ['Calcium', null],
    ],
  )
})

test('a test that was not done has a dash and no result', () => {
  assert.deepEqual(
    rows(HEADER, [
      [36, 'ESR'],
      [106, '—'],
      [158, 'mm/hr'],
      [320, 'Not ordered'],
    ]),
    [],
  )
})

test('Fasting under a heading of glucose is the name of a result', () => {
  assert.deepEqual(
    rows(line('Blood Sugar'), HEADER, [
      [36, 'Fasting'],
      [106, '165'],
      [158, 'mg/dL'],
      [205, '70-100'],
    ]),
    [['Blood Sugar Fasting', '165', 'mg/dL', '70-100', null]],
  )
})

test('a name that ends with a number keeps it where its result is left out', () => {
  const header: PlacedText[] = [
    [36, 'Test Name'],
    [90, 'Result'],
    [160, 'Unit'],
    [230, 'Range'],
  ]
  const vitamin: PlacedText[] = [
    [36, 'Vitamin B 12'],
    [160, 'pg/mL'],
    [230, '200-900'],
  ]
  assert.deepEqual(rows(header, vitamin), [])
  const lone: PlacedText[] = [
    [36, 'Sodium'],
    [340, '140'],
    [400, 'mmol/L'],
  ]
  assert.deepEqual(rows(WIDE, lone), [])
})

test('grades of plus signs are results, and names may go on behind a preposition or be in brackets', () => {
  const names = (...lines: PlacedText[][]) => rows(WIDE, ...lines).map(([name, value]) => [name, value])
  assert.deepEqual(
    names([
      [36, 'Urine Protein'],
      [200, '++++'],
      [340, 'Negative'],
    ]),
    [['Urine Protein', '++++']],
  )
  assert.deepEqual(names(wide('Ratio of Albumin to', '1.5', 'ratio', '1-2'), line('Globulin')), [
    ['Ratio of Albumin to Globulin', '1.5'],
  ])
  assert.deepEqual(names(wide('Glucose after', '120', 'mg/dL', '<140'), line('75 g of glucose'))[0]?.[1], '120')
  assert.deepEqual(names(wide('(Calculated LDL)', '95', 'mg/dL', '<100')), [['(Calculated LDL)', '95']])
  assert.deepEqual(names(wide('INR 2.0-3.0', '2.5', 'ratio', '2.0 - 3.0')), [['INR 2.0-3.0', '2.5']])
})

test('only the first word of a remark is a flag', () => {
  const flagOf = (remark: string) =>
    rows([
      [36, 'Glucose'],
      [200, remark],
    ])[0]?.at(-1)
  assert.equal(flagOf('142 mg/dL (High)'), 'high')
  for (const remark of ['142 mg/dL (Not high)', '60 mg/dL (low risk)']) assert.equal(flagOf(remark), null, remark)
})

test('a heading below a row is not the rest of its name if the name belongs to the panel above', () => {
  const found = read(
    line('Bilirubin'),
    WIDE,
    wide('Direct', '0.2', 'mg/dL', '0-0.3'),
    line('Cholesterol'),
    wide('HDL', '40', 'mg/dL', '>40'),
  )
  assert.deepEqual(
    found.map(({ name, panel }) => [name, panel]),
    [
      ['Direct', 'Bilirubin'],
      ['HDL', 'Cholesterol'],
    ],
  )
})

test('a title of all results between a heading and its rows, and a heading such as Levels, change no panel', () => {
  const panels = (...lines: PlacedText[][]) => read(...lines).map(({ panel }) => panel)
  const row = wide('HDL Cholesterol', '40', 'mg/dL', '>40')
  assert.deepEqual(panels(line('LIPID PANEL'), line('Test Results'), WIDE, row), ['LIPID PANEL'])
  assert.deepEqual(panels(WIDE, line('Levels'), row), ['Levels'])
})

test('the heading of a stage of examination is not the end of the name in the row above it', () => {
  const drug = (name: string, value: string, third: string): PlacedText[] => [
    [36, name],
    [200, value],
    [320, third],
  ]
  for (const heading of ['Confirmation (LC-MS/MS)', 'Screening (Immunoassay)']) {
    const page = pageOfLines(
      [
        drug('Drug Class', 'Outcome', 'Units'),
        drug('Fentanyl', 'Negative', 'ng/mL'),
        drug('Cocaine Metabolite', 'Negative', 'ng/mL'),
        drug('Opiates', 'Negative', 'ng/mL'),
        line(heading),
        drug('Compound', 'Concentration', 'Units'),
        drug('Oxycodone', '1,284', 'ng/mL'),
        drug('Oxymorphone', '88', 'ng/mL'),
      ],
      12,
    )
    const result = readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed, isSpecimen })
    assert.deepEqual(
      result.map(({ name, value, panel }) => [name, value, panel]),
      [
        ['Fentanyl', 'Negative', null],
        ['Cocaine Metabolite', 'Negative', null],
        ['Opiates', 'Negative', null],
        ['Oxycodone', '1,284', heading],
        ['Oxymorphone', '88', heading],
      ],
    )
  }
})

test('a result behind a label takes its name from the heading above, and the next heading is not the end of the label', () => {
  const page = pageOfLines(
    [
      WIDE,
      wide('Platelets', '251', '10^3/uL', '150 - 450'),
      line('TSH'),
      wide('Result:', '1.84', 'uIU/mL', '0.48 - 5.60'),
      line('VITAMIN B12'),
      wide('Result:', '171', 'pg/mL', '197 - 771'),
    ],
    12,
  )
  const rowsRead = readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed, isSpecimen })
  assert.deepEqual(
    rowsRead.map(({ name, value }) => [name, value]),
    [
      ['Platelets', '251'],
      ['TSH', '1.84'],
      ['VITAMIN B12', '171'],
    ],
  )
})

test('the heading of a stage of examination belongs to no name, neither above nor below it, in a table of few rows', () => {
  const drug = (name: string, value: string, unit: string): PlacedText[] => [
    [36, name],
    [200, value],
    [320, unit],
  ]
  for (const heading of ['Confirmation', 'Screening']) {
    const page = pageOfLines(
      [drug('Drug', 'Result', 'Units'), drug('Opiates', 'Negative', 'ng/mL'), line(heading), drug('Morphine', '120', 'ng/mL')],
      13,
    )
    const rowsRead = readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed, isSpecimen })
    assert.deepEqual(
      rowsRead.map(({ name, value, panel }) => [name, value, panel]),
      [
        ['Opiates', 'Negative', null],
        ['Morphine', '120', heading],
      ],
    )
  }
})

test('a name and a day on two lines each are those of the result in the second line', () => {
  const row = (name: string, day: string, value: string, range: string): PlacedText[] => [
    [36, name],
    [200, day],
    ...(value ? ([[270, value]] satisfies PlacedText[]) : []),
    ...(range ? ([[340, range]] satisfies PlacedText[]) : []),
  ]
  assert.deepEqual(
    rows(
      row('Test', 'Collected', 'Result', 'Range'),
      row('Iron', '2021-11-15', '87', '38 - 169'),
      row('Total Iron Binding Capacity', '2021-11-15', '', ''),
      row('(TIBC)', '07:31', '335', '250 - 450'),
      row('Ferritin', '2021-11-15', '345', '30 - 400'),
    ).map(([name, value]) => [name, value]),
    [
      ['Iron', '87'],
      ['Total Iron Binding Capacity (TIBC)', '335'],
      ['Ferritin', '345'],
    ],
  )
})

test('a flag apart from its result and the day apart from a former result are under the name of one column', () => {
  const header: PlacedText[] = [
    [36, 'Test'],
    [190, 'Current Result and Flag'],
    [330, 'Previous Result and Date'],
    [520, 'Units'],
    [570, 'Reference Interval'],
  ]
  const row = (name: string, [value, flag]: string[], [former, day]: string[], unit: string, range: string): PlacedText[] => [
    [36, name],
    [190, value!],
    ...(flag ? [[270, flag] as PlacedText] : []),
    ...(former ? [[330, former] as PlacedText, [452, day!] as PlacedText] : []),
    [520, unit],
    [570, range],
  ]
  assert.deepEqual(
    rows(
      header,
      row('▲ WBC', ['11.4', 'High'], ['7.9', '04/11/2025'], 'K/uL', '3.4-10.8'),
      row('Hemoglobin', ['13.1'], ['12.9', '04/11/2025'], 'g/dL', '11.1-15.9'),
      row('MCV', ['86'], [], 'fL', '79-97'),
    ),
    [
      ['WBC', '11.4', 'K/uL', '3.4-10.8', 'high'],
      ['Hemoglobin', '13.1', 'g/dL', '11.1-15.9', null],
      ['MCV', '86', 'fL', '79-97', null],
    ],
  )
})

test('dashes in a table of days say that nothing was measured, and one dash next to a grade is its opposite', () => {
  const days = (name: string, ...values: string[]) =>
    rows(
      [
        [36, 'Component'],
        [190, '11/02/2025'],
        [290, '11/03/2025'],
        [400, 'Ref. Range'],
      ],
      [
        [36, name],
        [190, values[0]!],
        [290, values[1]!],
        [400, 'Negative'],
      ],
    ).map(([, value]) => value)
  assert.deepEqual(days('Lactate', '4.6', '-'), ['4.6'])
  assert.deepEqual(days('Urine Protein', '2+', '(-)'), ['2+', '(-)'])
  assert.deepEqual(
    read(
      [
        [36, 'Component'],
        [190, '11/02/2025'],
        [290, '11/03/2025'],
        [400, 'Ref. Range'],
        [480, 'Units'],
      ],
      [
        [36, 'Lactate'],
        [190, '4.6 H'],
        [290, '--'],
        [400, '0.4-2.0'],
        [480, 'mmol/L'],
      ],
    ).map(({ name, value }) => [name, value]),
    [['Lactate', '4.6']],
  )
})
