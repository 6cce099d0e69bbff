// Results as blocks: the name above the value, its range between them or below.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from '../reading/read-report.ts'

const read = (...lines: PlacedText[][]) =>
  understand([pageOfLines(lines)]).results.map((row) => [
    row.test_name,
    row.value,
    row.units,
    row.min_reference_range,
    row.max_reference_range,
    row.interpretation,
  ])

test('a word behind the value of a block is its flag, also where it stands below the end of the name', () => {
  assert.deepEqual(
    read(
      [[40, 'Triiodothyronine (T3), Free']],
      [[40, 'Normal range: 2.0 - 4.4 pg/mL']],
      [
        [40, 'Value'],
        [70, '5.1'],
        [150, 'High'],
      ],
    ),
    [['Triiodothyronine (T3), Free', '5.1', 'pg/mL', 2, 4.4, 'abnormal']],
  )
  assert.deepEqual(
    read(
      [[40, 'Color']],
      [[40, 'Normal range: Yellow']],
      [
        [40, 'Value'],
        [70, 'Dark yellow'],
        [150, 'Abnormal'],
      ],
    ),
    [['Color', 'Dark yellow', null, null, null, 'abnormal']],
  )
})

test('a word behind the value of a block is a result where it has a name of its own above it', () => {
  assert.deepEqual(
    read(
      [
        [40, 'Specific Gravity'],
        [310, 'Urobilinogen'],
      ],
      [
        [40, 'Normal range: 1.005 - 1.030'],
        [310, 'Normal range: Normal'],
      ],
      [
        [40, '1.020'],
        [310, 'Normal'],
      ],
    ),
    [
      ['Specific Gravity', '1.020', null, 1.005, 1.03, 'normal'],
      ['Urobilinogen', 'Normal', null, null, null, 'normal'],
    ],
  )
})

test('a flag in words behind a result makes no block with the heading above', () => {
  assert.deepEqual(
    read(
      [[64, 'Thyroid Function Panel With TSH']],
      [[84, 'TSH: 0.135 uIU/mL - LOW (normal 0.450 to 4.500)']],
      [[84, 'T4,Free(Direct): 0.70 ng/dL - LOW (normal 0.82 to 1.77)']],
    ),
    [
      ['TSH', '0.135', 'uIU/mL', 0.45, 4.5, 'abnormal'],
      ['T4,Free(Direct)', '0.70', 'ng/dL', 0.82, 1.77, 'abnormal'],
    ],
  )
})

test('a bound with its unit is the value of a block whose range stands below it', () => {
  const block = (...flag: PlacedText[]) =>
    read(
      [[40, 'TSH']],
      [[40, '<0.01 mIU/L'], ...flag],
      [[40, 'Reference range: 0.4 - 4.5 mIU/L']],
      [[40, 'Hemoglobin A1c']],
      [[40, '5.2 %']],
      [[40, 'Reference range: 4.0 - 5.6 %']],
    )
  const [tsh, a1c] = [
    ['TSH', '<0.01', 'mIU/L', 0.4, 4.5, 'abnormal'],
    ['Hemoglobin A1c', '5.2', '%', 4, 5.6, 'normal'],
  ]
  assert.deepEqual(block(), [tsh, a1c])
  assert.deepEqual(block([140, 'Low']), [tsh, a1c])
})

/** Three blocks side by side: names, results, what the portal says of them, ranges. */
const gridRow = (blocks: readonly [name: string, result: string, status: string, range: string][]): PlacedText[][] =>
  [0, 1, 2, 3].map((line) => blocks.map((block, column) => [40 + column * 180, block[line]!]))

test('blocks side by side are read where the line below their results says how they are', () => {
  const lines = [
    ...gridRow([
      ['Apolipoprotein B', '82 mg/dL', 'Optimal', 'Optimal range <90'],
      ['LDL Cholesterol', '131 mg/dL', 'High', 'Optimal range <100'],
      ['HDL Cholesterol', '58 mg/dL', 'In range', 'Optimal range >39'],
    ]),
    ...gridRow([
      ['TSH', '2.14 uIU/mL', 'In range', 'Optimal range 0.45 - 4.50'],
      ['Ferritin', '22 ng/mL', 'Low', 'Optimal range 30 - 400'],
      ['Vitamin D, 25-Hydroxy', '41 ng/mL', 'Optimal', 'Optimal range 30 - 100'],
    ]),
  ]
  assert.deepEqual(read(...lines), [
    ['Apolipoprotein B', '82', 'mg/dL', null, 90, 'normal'],
    ['LDL Cholesterol', '131', 'mg/dL', null, 100, 'abnormal'],
    ['HDL Cholesterol', '58', 'mg/dL', 39, null, 'normal'],
    ['TSH', '2.14', 'uIU/mL', 0.45, 4.5, 'normal'],
    ['Ferritin', '22', 'ng/mL', 30, 400, 'abnormal'],
    ['Vitamin D, 25-Hydroxy', '41', 'ng/mL', 30, 100, 'normal'],
  ])
  assert.deepEqual(
    understand([pageOfLines(lines)]).results.flatMap(({ findings }) => findings),
    [],
  )
})

test('names of tests with what a portal says of their results are no names of columns', () => {
  const block = (name: string, status: string): PlacedText[][] => [
    [
      [40, name],
      [220, status],
      [320, `${name} Ratio`],
      [500, 'In range'],
    ],
    [
      [40, '5.2 mg/dL'],
      [320, '1.2'],
    ],
    [
      [40, 'Reference range: 4.0 - 5.6 mg/dL'],
      [320, 'Reference range: 1.0 - 2.0'],
    ],
  ]
  assert.deepEqual(
    read(...block('Calcium', 'Optimal'), ...block('Phosphate', 'Out of range')).map(([name, value]) => [name, value]),
    [
      ['Calcium', '5.2'],
      ['Calcium Ratio', '1.2'],
      ['Phosphate', '5.2'],
      ['Phosphate Ratio', '1.2'],
    ],
  )
})

test('the marker of a drawn scale between a result and its range is skipped', () => {
  const lines: PlacedText[][] = [[[40, 'Ferritin']], [[40, '22 ng/mL']], [[90, '+']], [[40, 'Optimal range 30 - 400']]]
  assert.deepEqual(read(...lines), [['Ferritin', '22', 'ng/mL', 30, 400, 'abnormal']])
})

test('a number with a unit below the name of a test that is in no row asks for a person', () => {
  const kinds = (gap: number) =>
    understand([
      pageOfLines([
        ...gridRow([['TSH', '2.14 uIU/mL', 'In range', 'Optimal range 0.45 - 4.50']]),
        [[40, 'Ferritin']],
        ...Array.from({ length: gap }, () => []),
        [[40, '41 ng/mL']],
      ]),
    ]).findings!.map(({ kind }) => kind)
  assert.deepEqual(kinds(0), [])
  // Too far below its name to be its result for certain.
  assert.deepEqual(kinds(6), ['line_without_row'])
})

test('a block that goes on on the next page asks for a person', () => {
  const block: PlacedText[][] = [[[40, 'Ferritin']], [[40, 'Normal range: 30 - 400 ng/mL']], [[40, '22']], [[40, 'Low']]]
  const first: PlacedText[][] = [[[40, 'Sodium']], [[40, 'Normal range: 135 - 145 mmol/L']], [[40, '140']], [[40, 'In range']]]
  const kinds = (count: number) =>
    understand([
      pageOfLines([...first, ...block.slice(0, count)]),
      { ...pageOfLines([...block.slice(count), [[40, 'The end of the report']]]), number: 2 },
    ]).findings!.map(({ kind }) => kind)
  assert.deepEqual([1, 2, 4].map(kinds), [['line_without_row'], ['line_without_row'], []])
})

test('a range and how the result is below a name and its result belong to their row', () => {
  const row = (name: string, value: string, range: string, status: string): PlacedText[][] => [
    [
      [40, name],
      [480, `${value} mg/dL`],
    ],
    [
      [40, `Optimal: ${range} mg/dL`],
      [490, status],
    ],
  ]
  assert.deepEqual(read(...row('LDL Cholesterol', '131', '<100', 'High'), ...row('Triglycerides', '94', '<150', 'In range')), [
    ['LDL Cholesterol', '131', 'mg/dL', null, 100, 'abnormal'],
    ['Triglycerides', '94', 'mg/dL', null, 150, 'normal'],
  ])
})

test('how a result is above the name of its block is no result of the block above it', () => {
  const lines = [
    ...gridRow([
      ['High', 'LDL Cholesterol', '131 mg/dL', 'Range: <100'],
      ['Optimal', 'Calcium', '9.1 mg/dL', 'Range: 8.5 - 10.2'],
    ]),
    ...gridRow([
      ['Low', 'Ferritin', '22 ng/mL', 'Range: 30 - 400'],
      ['In range', 'TSH', '2.1 uIU/mL', 'Range: 0.4 - 4.5'],
    ]),
  ]
  assert.deepEqual(
    read(...lines).map(([name, value]) => [name, value]),
    [
      ['LDL Cholesterol', '131'],
      ['Calcium', '9.1'],
      ['Ferritin', '22'],
      ['TSH', '2.1'],
    ],
  )
})

test('an earlier result next to the range below a row is not part of the range', () => {
  assert.deepEqual(
    read(
      [
        [40, 'LDL Cholesterol'],
        [400, '131 mg/dL'],
        [480, 'High'],
      ],
      [
        [40, 'Reference: <100 mg/dL'],
        [220, '|'],
        [240, 'Previous: 128 mg/dL (01/02/2023)'],
      ],
    ),
    [['LDL Cholesterol', '131', 'mg/dL', null, 100, 'abnormal']],
  )
})

test('the day of a result and an earlier result in a block are no texts that were not read', () => {
  const lines: PlacedText[][] = [
    [[40, 'Triglycerides']],
    [[40, '94 mg/dL']],
    [[40, 'Mar 4, 2024']],
    [[40, 'Previous 91 (Jan 2, 2023)']],
    [[40, 'Reference range <150']],
    [[40, 'Calcium']],
    [[40, '9.4 mg/dL']],
    [[40, 'Mar 4, 2024']],
    [[40, 'Reference range 8.5 - 10.2']],
  ]
  assert.deepEqual(read(...lines), [
    ['Triglycerides', '94', 'mg/dL', null, 150, 'normal'],
    ['Calcium', '9.4', 'mg/dL', 8.5, 10.2, 'normal'],
  ])
  assert.deepEqual(
    understand([pageOfLines(lines)]).results.flatMap(({ findings }) => findings),
    [],
  )
})

test('a result below its label beside the name is read, with a range below the name and a flag that stands elsewhere', () => {
  const block = (name: string, range: string, result: string, flag = ''): PlacedText[][] => [
    [
      [40, name],
      [320, 'Your value'],
    ],
    [
      ...(range ? [[40, `Normal range: ${range}`] as PlacedText] : []),
      [320, result],
      ...(flag ? [[520, flag] as PlacedText] : []),
    ],
  ]
  assert.deepEqual(
    read(
      ...block('Rh Type', '', 'Positive'),
      ...block('Rubella Antibody, IgG', 'Immune', 'Immune', 'Normal'),
      ...block('Glucose, Urine', 'Negative', 'Trace', 'Abnormal'),
      ...block('Hemoglobin', '11.7 - 15.5 g/dL', '10.9 g/dL', 'Low'),
    ),
    [
      ['Rh Type', 'Positive', null, null, null, 'unknown'],
      ['Rubella Antibody, IgG', 'Immune', null, null, null, 'normal'],
      ['Glucose, Urine', 'Trace', null, null, null, 'abnormal'],
      ['Hemoglobin', '10.9', 'g/dL', 11.7, 15.5, 'abnormal'],
    ],
  )
})

test('a labelled result behind the labelled range of its block is that of the name above both', () => {
  const block = (name: string, range: string, result: string): PlacedText[][] => [
    [[40, name]],
    [
      [46, `Normal range: ${range}`],
      [420, `Your value: ${result}`],
    ],
  ]
  assert.deepEqual(read(...block('Hemoglobin', '11.7 - 15.5 g/dL', '10.8 g/dL L'), ...block('TSH', '< 4.5 mIU/L', '2.1 mIU/L')), [
    ['Hemoglobin', '10.8', 'g/dL', 11.7, 15.5, 'abnormal'],
    ['TSH', '2.1', 'mIU/L', null, 4.5, 'normal'],
  ])
})

test('a unit on the baseline of a large result is next to it, and a range right of a description below a name is that of the row', () => {
  const word = (text: string, left: number, baseline: number, size: number) => ({
    text,
    box: { left, right: left + text.length * size * 0.5, top: baseline - size * 0.8, bottom: baseline + size * 0.2 },
    confidence: 1,
    font: `${size}`,
  })
  const words = (text: string, left: number, baseline: number, size: number) => {
    let x = left
    return text.split(' ').map((part) => {
      const placed = word(part, x, baseline, size)
      x = placed.box.right + size * 0.3
      return placed
    })
  }
  const card = (top: number, name: string, value: string, unit: string, range: string) => [
    ...words('Above range', 440, top + 5, 7),
    word(name, 52, top + 8, 8),
    word(value, 320, top + 13, 12),
    word(unit, 348, top + 13, 8),
    ...words('A general marker of inflammation.', 52, top + 17, 7),
    ...words(`Range ${range}`, 434, top + 17.5, 7),
  ]
  const page = pageOfLines([])
  const cards = [...card(100, 'ApoB', '104', 'mg/dL', '<90'), ...card(134, 'hs-CRP', '3.4', 'mg/L', '<1.0')]
  assert.deepEqual(
    understand([{ ...page, words: cards }]).results.map((row) => [
      row.test_name,
      row.value,
      row.units,
      row.max_reference_range,
      row.findings.length,
    ]),
    [
      ['ApoB', '104', 'mg/dL', 90, 0],
      ['hs-CRP', '3.4', 'mg/L', 1, 0],
    ],
  )
})
