// Columns of tables as browsers print them: close to each other, without names, with names of unknown words, with texts of two kinds.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER, line, readPanels, readResults, readRows, type Text } from '../../../test/support/browser-pages.ts'

describe('columns that stand close', () => {
  test('results that end where the ranges begin are parted from them', () => {
    const texts: Text[] = [
      [100, 36, 'Test'],
      [100, 200, 'Units'],
      [100, 300, 'Result'],
      [100, 384, 'Reference Range'],
      ...[
        ['IgA', 'g/L', '3.92', '(0.87-3.52)'],
        ['IgG', 'g/L', '15.1', '(5.9-16.0)'],
        ['IgM', 'g/L', '1.17', '(0.26-2.17)'],
      ].flatMap(([name, unit, value, range], index): Text[] => [
        [120 + index * 20, 36, name!],
        [120 + index * 20, 200, unit!],
        [120 + index * 20, 361, `${value} ${range}`],
      ]),
    ]
    assert.deepEqual(readRows(texts), [
      ['IgA', '3.92', 'g/L', 'abnormal'],
      ['IgG', '15.1', 'g/L', 'normal'],
      ['IgM', '1.17', 'g/L', 'normal'],
    ])
  })

  test('results on the right with flags behind them keep the name of their column, whatever note stands below it', () => {
    const row = (top: number, name: string, value: string): Text[] => [
      [top, 36, name],
      [top, 305, value],
      [top, 400, '10 - 40'],
      [top, 500, 'pg'],
    ]
    const texts: Text[] = [
      [100, 36, 'Investigation'],
      [100, 240, 'Value'],
      [100, 323, 'Interpretation'],
      [100, 400, 'Reference Range'],
      [100, 500, 'UOM'],
      ...row(120, 'MCH', '28'),
      ...row(140, 'Ferritin', '490 H'),
      ...row(160, 'Estradiol', '101 H'),
      ...row(180, 'Progesterone', '12'),
      [200, 36, 'Collected: Apr 20, 2021'],
      [200, 175, 'Status: Final'],
    ]
    assert.deepEqual(readRows(texts), [
      ['MCH', '28', 'pg', 'normal'],
      ['Ferritin', '490', 'pg', 'abnormal'],
      ['Estradiol', '101', 'pg', 'abnormal'],
      ['Progesterone', '12', 'pg', 'normal'],
    ])
  })

  test('a first row whose texts reach over columns does not hide the table', () => {
    const texts = [
      ...HEADER,
      ...line(120, 'Prostate Specific Antigen (PSA), Total, by a method of third generation', '', 'ug/L', '0.0 - 4.0'),
      ...[
        ['CEA', '2.1', 'ug/L', '0.0 - 4.7'],
        ['CA 19-9', '20', 'U/mL', '0 - 35'],
        ['Alpha fetoprotein', '1.9', 'ug/L', '0.0 - 8.4'],
      ].flatMap((cells, index) => line(140 + index * 20, ...cells)),
    ]
    assert.deepEqual(
      readRows(texts)
        .slice(-3)
        .map(([name, value]) => [name, value]),
      [
        ['CEA', '2.1'],
        ['CA 19-9', '20'],
        ['Alpha fetoprotein', '1.9'],
      ],
    )
  })

  test('a name of a column that reaches a little over the next one names its own alone', () => {
    const row = (top: number, name: string, value: string): Text[] => [
      [top, 36, name],
      [top + 6, 160, 'Serum'],
      [top, 202, 'ECLIA'],
      [top + 11, 202, 'dialysis'],
      [top, 280, value],
      [top, 350, 'ng/dL'],
      [top, 420, '8 - 60'],
    ]
    const header: Text[] = [
      [100, 36, 'Test'],
      [100, 164, 'Specimen'],
      [100, 230, 'Method'],
      [100, 290, 'Value'],
      [100, 355, 'Units'],
      [100, 430, 'Ref. Range'],
    ]
    const rows = readRows([...header, ...row(120, 'Testosterone, Total', '17'), ...row(150, 'Testosterone, Free', '9')])
    assert.deepEqual(rows, [
      ['Testosterone, Total', '17', 'ng/dL', 'normal'],
      ['Testosterone, Free', '9', 'ng/dL', 'normal'],
    ])
  })
})

describe('a table without names of columns below one that names them', () => {
  const named = [...HEADER, ...line(120, 'Albumin', '44', 'g/L', '35 - 50'), ...line(140, 'Globulin', '24', 'g/L', '20 - 35')]

  test('is read by its own columns', () => {
    const own = (top: number, ...cells: string[]): Text[] =>
      cells.map((text, index): Text => [top, [36, 170, 235, 300][index]!, text])
    const texts = [
      ...named,
      [170, 36, 'Bone Profile'] as Text,
      ...own(190, 'Calcium', '2.57', 'mmol/L', '2.20 - 2.60'),
      ...own(210, 'Phosphate', '1.62', 'mmol/L', '0.80 - 1.50'),
      ...own(230, 'Magnesium', '0.79', 'mmol/L', '0.70 - 1.00'),
    ]
    assert.deepEqual(readRows(texts).slice(2), [
      ['Calcium', '2.57', 'mmol/L', 'normal'],
      ['Phosphate', '1.62', 'mmol/L', 'abnormal'],
      ['Magnesium', '0.79', 'mmol/L', 'normal'],
    ])
    assert.deepEqual(readPanels(texts).at(-1), ['Magnesium', 'Bone Profile'])
  })

  test('is read where its results stand below units and ranges', () => {
    const own = (top: number, name: string, result: string): Text[] => [
      [top, 36, name],
      [top, 390, result],
    ]
    const texts = [
      ...named,
      [170, 36, 'Bone Profile'] as Text,
      ...own(190, 'Calcium', '2.57 mmol/L [2.20 - 2.60]'),
      ...own(210, 'Magnesium', '0.59 mmol/L [0.70 - 1.00]'),
    ]
    assert.deepEqual(readRows(texts).slice(2), [
      ['Calcium', '2.57', 'mmol/L', 'normal'],
      ['Magnesium', '0.59', 'mmol/L', 'abnormal'],
    ])
  })
})

describe('columns whose names are not read, because none of their words are known', () => {
  const places = [36, 200, 270, 340, 450]
  const row = (top: number, ...cells: string[]): Text[] =>
    cells.flatMap((text, index): Text[] => (text ? [[top, places[index]!, text]] : []))
  const readRanges = (last: string, ranges: readonly string[]) =>
    readResults([
      ...row(100, 'Test', 'Result', '', '', last),
      ...row(120, 'Glucose', '92', 'mg/dL', ranges[0]!),
      ...row(140, 'Sodium', '151', 'mmol/L', ranges[1]!),
      ...row(160, 'Potassium', '4.1', 'mmol/L', ranges[2]!),
    ]).map((result) => [
      result.units,
      result.min_reference_range,
      result.max_reference_range,
      result.interpretation,
      result.findings.map(({ kind }) => kind).join(),
    ])
  const lastColumns = ['Remark', 'Flag', 'Method', 'Specimen', 'Lab', 'Previous Result']

  for (const last of lastColumns)
    test(`are those of units and ranges if their texts are, beside ${last}`, () => {
      assert.deepEqual(readRanges(last, ['70 to 99', '135 to 145', '3.5 to 5.1']), [
        ['mg/dL', 70, 99, 'normal', ''],
        ['mmol/L', 135, 145, 'abnormal', ''],
        ['mmol/L', 3.5, 5.1, 'normal', ''],
      ])
    })

  for (const last of lastColumns)
    test(`make a row doubtful whose range alone seems to be in ${last}`, () => {
      const findings = readRanges(last, ['', '', '3.5 to 5.1']).map((result) => result.at(-1))
      assert.deepEqual(findings, ['', '', 'range_is_not_understood'])
    })
})

test('a name on four lines of which the middle ones have unknown words leaves the columns as their texts show them', () => {
  const places = [36, 140, 190, 258, 330]
  const row = (top: number, ...cells: string[]): Text[] =>
    cells.flatMap((text, index): Text[] => (text ? [[top, places[index]!, text]] : []))
  const results = readResults([
    ...row(100, '', '', '', 'Reference'),
    ...row(112, '', '', 'Measuring', 'range for'),
    ...row(118, 'Name of test', 'Result', '', '', 'Remark'),
    ...row(124, '', '', 'unit', 'age and'),
    ...row(136, '', '', '', 'sex'),
    ...row(156, 'Protein, Total', '6.8', 'g/dL', '6.0 to 8.5'),
    ...row(176, 'Albumin, Serum', '4.7', 'g/dL', '3.8 to 4.9'),
    ...row(196, 'Globulin, Total', '2.1', 'g/dL', '1.5 to 4.5'),
  ])
  assert.deepEqual(
    results.map((result) => [result.units, result.min_reference_range, result.max_reference_range, result.comments]),
    [
      ['g/dL', 6, 8.5, []],
      ['g/dL', 3.8, 4.9, []],
      ['g/dL', 1.5, 4.5, []],
    ],
  )
})

test('a result in front of its range, or behind the word of its flag, is the result wherever both stand below the name of their column', () => {
  assert.deepEqual(
    readResults([
      ...line(100, 'Test', 'Result'),
      [120, 36, 'Zinc'],
      [120, 200, '88 (60 to 120)'],
      [140, 36, 'Copper'],
      [140, 200, 'HIGH 171'],
      [160, 36, 'Nitrite'],
      [160, 200, 'ABNORMAL Trace'],
    ]).map((row) => [row.test_name, row.value, row.min_reference_range, row.interpretation]),
    [
      ['Zinc', '88', 60, 'normal'],
      ['Copper', '171', null, 'abnormal'],
      ['Nitrite', 'Trace', null, 'abnormal'],
    ],
  )
})

test('a column without a name before that of the tests holds no part of their names', () => {
  const rows = [
    ['Sodium', '139', 'mmol/L', '135 - 145'],
    ['Zinc', '88', 'ug/dL', '60 - 120'],
    ['Ferritin', '41', 'ng/mL', '15 - 150'],
  ]
  assert.deepEqual(
    readRows([
      ...line(100, '', 'Result', 'Units', 'Reference Range'),
      [100, 90, 'Test'],
      ...rows.flatMap(([name, ...others], index): Text[] => [
        ...line(120 + index * 15, 'Prelim', ...others),
        [120 + index * 15, 90, name!],
      ]),
    ]),
    rows.map(([name, value, units]) => [name, value, units, 'normal']),
  )
})

test('results that fill their column are not parts of one text', () => {
  const rows = [
    ['Thyroxine, Free Direct', '1.21', 'ng/dL', '0.80-1.80'],
    ['Triiodothyronine, Free', '3.07', 'pg/mL', '2.00-4.40'],
    ['Thyroid Peroxidase Abs', '9.15', 'IU/mL', '0.00-9.99'],
  ]
  const texts = rows.flatMap((row, index) => line(130 + index * 15, ...row))
  assert.deepEqual(
    readRows([...HEADER, ...texts, ...line(200, 'Zinc', '88.0', 'ug/dL', '60.0-99.0')], [112, 126, 190, 216]),
    [...rows, ['Zinc', '88.0', 'ug/dL']].map(([name, value, units]) => [name, value, units, 'normal']),
  )
})

test('a unit that reaches over the range next to it is in the line of its row', () => {
  assert.deepEqual(
    readResults(
      [
        ...line(100, 'Test', 'Result', 'Units', 'Reference Range'),
        ...line(120, 'Zinc', '88', 'ug/dL', '60 - 120'),
        ...line(140, 'Estimated GFR', '71', 'mL/min/1.73m2', '> 60'),
        ...line(160, 'Sodium', '139', 'mmol/L', '135 - 145'),
      ].map(([top, left, text]): Text => [top, left === 420 ? 379 : left, text]),
    ).map((row) => [row.test_name, row.min_reference_range]),
    [
      ['Zinc', 60],
      ['Estimated GFR', 60],
      ['Sodium', 135],
    ],
  )
})

test('methods in the letters of names do not belong to the names, also where only some names have one', () => {
  const named = (top: number, name: string, method: string, value: string): Text[] => [
    [top, 36, name],
    [top + 11, 36, method],
    ...line(top + 11, '', value, 'mg/dL', '60 - 120'),
  ]
  assert.deepEqual(
    readRows([
      ...HEADER,
      ...named(120, 'Glucose', 'Hexokinase', '88'),
      ...named(150, 'Magnesium', 'Immunoassay', '71'),
      ...named(180, 'Calcium', 'Potentiometry', '99'),
    ]).map(([name, value]) => [name, value]),
    [
      ['Glucose', '88'],
      ['Magnesium', '71'],
      ['Calcium', '99'],
    ],
  )
})

test('a number before a dash is a low result next to a range, and without one the text as it is printed', () => {
  const values = (range: string) =>
    readRows([...HEADER, ...line(120, 'Zinc', '7 -', 'ug/dL', range), ...line(135, 'Copper', '91', 'ug/dL', '70 - 140')]).map(
      ([, value, , interpretation]) => [value, interpretation],
    )
  assert.deepEqual(values('10 - 20')[0], ['7', 'abnormal'])
  assert.deepEqual(values('')[0], ['7 -', 'unknown'])
})

test('ranges in columns of groups of patients are those of the patient, and those of several unknown columns are doubtful', () => {
  const cells = (top: number, ...texts: string[]): Text[] =>
    texts.flatMap((text, index): Text[] => (text ? [[top, [36, 160, 230, 310, 420][index]!, text]] : []))
  const table = (...names: string[]) => [
    ...cells(100, 'Test', 'Result', 'Units', ...names),
    ...cells(120, 'Hemoglobin', '12.6', 'g/dL', '13.5 - 17.5', '12.0 - 15.5'),
    ...cells(140, 'Ferritin', '20', 'ng/mL', '30 - 400', '15 - 150'),
  ]
  for (const [sex, min, interpretation] of [
    ['Female', 12, 'normal'],
    ['Male', 13.5, 'abnormal'],
  ] as const)
    for (const names of [
      ['Men', 'Women'],
      ['Male range', 'Female range'],
      ['Reference (M)', 'Reference (F)'],
    ]) {
      const [first] = readResults([[60, 36, `Sex: ${sex}`], ...table(...names)])
      assert.deepEqual([first!.min_reference_range, first!.interpretation], [min, interpretation], names.join())
    }
  const [first] = readResults(table('Scale A', 'Scale B'))
  assert.equal(first!.interpretation, 'unknown')
  assert.ok(first!.findings.some(({ kind }) => kind === 'range_is_not_understood'))
})

test('a flag in the column of ranges is that of the result', () => {
  for (const range of ['70 - 99 H', 'H 70 - 99', '70 - 99 ↑']) {
    const [glucose] = readResults([
      ...HEADER,
      ...line(120, 'Glucose', '105', 'mg/dL', range),
      ...line(140, 'Sodium', '140', 'mmol/L', '135 - 145'),
    ])
    assert.deepEqual(
      [glucose!.min_reference_range, glucose!.interpretation, glucose!.basis?.flag],
      [70, 'abnormal', 'high'],
      range,
    )
  }
})
