// Cells of tables with further lines: units below names, ranges below results, and what only seems to be such.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PageText } from '../pages/page.ts'
import { understand } from '../reading/read-report.ts'

type Text = [top: number, left: number, text: string, height?: number]

const LETTER_HEIGHT = 10

/** Letters are half as wide as high; between words are 3 points. */
function pageOfTexts(texts: readonly Text[]): PageText {
  const words = texts.flatMap(([top, left, text, height = LETTER_HEIGHT]) => {
    let x = left
    return text.split(' ').map((word) => {
      const box = { left: x, right: x + (word.length * height) / 2, top, bottom: top + height }
      x = box.right + 3
      return { text: word, box, confidence: 1, font: 'regular' }
    })
  })
  return { number: 1, width: 612, height: 792, source: 'text', words, drawings: { lines: [], areas: [] } }
}
const readResults = (texts: readonly Text[]) => understand([pageOfTexts(texts)]).results
const readRows = (texts: readonly Text[]) =>
  readResults(texts).map((row) => [row.test_name, row.value, row.units, row.min_reference_range, row.max_reference_range])

/** A row of cells with one or two lines each, as a browser places them: at the top, in the middle, or at the bottom. */
function rowAt(top: number, cells: readonly string[][], places: readonly number[], align: Align, height = LETTER_HEIGHT): Text[] {
  const lineCount = Math.max(...cells.map((lines) => lines.length))
  return cells.flatMap((lines, column) => {
    const free = (lineCount - lines.length) * LINE_PITCH
    const first = top + { top: 0, middle: free / 2, bottom: free }[align]
    return lines.map((text, index): Text => [first + index * LINE_PITCH, places[column]!, text, index ? height : LETTER_HEIGHT])
  })
}
type Align = 'top' | 'middle' | 'bottom'
const LINE_PITCH = 12
const ROW_PITCH = 30
const table = (rows: readonly (readonly string[][])[], places: readonly number[], align: Align, height?: number): Text[] =>
  rows.flatMap((cells, index) => rowAt(100 + index * ROW_PITCH, cells, places, align, height))

test('a specimen that stands as far from the row above as from the row below is a heading', () =>
  assert.deepEqual(
    readResults([
      ...table([[['Test'], ['Result'], ['Unit'], ['Reference Range']]], [36, 220, 320, 420], 'top'),
      ...rowAt(130, [['Glucose'], ['91'], ['mg/dL'], ['70 - 99']], [36, 220, 320, 420], 'top'),
      [150, 36, 'Urine'],
      ...rowAt(170, [['Glucose'], ['15'], ['mg/dL'], ['0 - 15']], [36, 220, 320, 420], 'top'),
      ...rowAt(190, [['Protein'], ['8'], ['mg/dL'], ['0 - 14']], [36, 220, 320, 420], 'top'),
    ]).map((row) => [row.value, row.loinc_matches?.[0]?.loinc_code]),
    [
      ['91', '2345-7'],
      ['15', '5792-7'],
      ['8', '2888-6'],
    ],
  ))

for (const align of ['top', 'middle', 'bottom'] as const)
  describe(`in cells that are aligned at the ${align}`, () => {
    test('units below names are those of the results', () =>
      assert.deepEqual(
        readRows(
          table(
            [
              [['Test'], ['Result'], ['Reference Range']],
              [['Glucose', 'mg/dL'], ['91'], ['70 - 99']],
              [['Potassium', 'mmol/L'], ['4.4'], ['3.5 - 5.1']],
              [['pH'], ['6.5'], ['5.0 - 8.0']],
              [['Albumin', 'g/dL'], ['4.1'], ['3.5 - 5.0']],
            ],
            [36, 240, 420],
            align,
          ),
        ),
        [
          ['Glucose', '91', 'mg/dL', 70, 99],
          ['Potassium', '4.4', 'mmol/L', 3.5, 5.1],
          ['pH', '6.5', null, 5, 8],
          ['Albumin', '4.1', 'g/dL', 3.5, 5],
        ],
      ))

    test('specimens below names are those of the results, and not part of the names', () =>
      assert.deepEqual(
        readResults(
          table(
            [
              [['Test'], ['Result'], ['Unit'], ['Reference Range']],
              [['Glucose', 'Urine'], ['15'], ['mg/dL'], ['0 - 15']],
              [['Protein', 'Urine'], ['8'], ['mg/dL'], ['0 - 14']],
              [['Glucose', 'Plasma'], ['91'], ['mg/dL'], ['70 - 99']],
              [['Neutrophils', 'Whole Blood'], ['58'], ['%'], ['40 - 74']],
            ],
            [36, 220, 320, 420],
            align,
          ),
        ).map((row) => [row.test_name, row.value, row.specimen, row.loinc_matches?.[0]?.loinc_code]),
        [
          ['Glucose', '15', 'Urine', '5792-7'],
          ['Protein', '8', 'Urine', '2888-6'],
          ['Glucose', '91', 'Plasma', '2345-7'],
          ['Neutrophils', '58', 'Whole Blood', '770-8'],
        ],
      ))

    test('ranges below results are those of the results, also if the header names both', () =>
      assert.deepEqual(
        readRows(
          table(
            [
              [['Examination'], ['Result / Range']],
              [['Glucose'], ['91 mg/dL', '70 - 99']],
              [['Ferritin'], ['512 ng/mL', '30 - 400']],
              [['eGFR'], ['88 mL/min/1.73m2', '> 60']],
              [['HIV 1/2 Antibody'], ['Non-Reactive', 'Non-Reactive']],
            ],
            [36, 300],
            align,
            8,
          ),
        ),
        [
          ['Glucose', '91', 'mg/dL', 70, 99],
          ['Ferritin', '512', 'ng/mL', 30, 400],
          ['eGFR', '88', 'mL/min/1.73m2', 60, null],
          ['HIV 1/2 Antibody', 'Non-Reactive', null, null, null],
        ],
      ))

    test('units below results and below ranges are those of the results', () =>
      assert.deepEqual(
        readRows(
          table(
            [
              [['Assay'], ['Value'], ['Limits']],
              [['Vitamin B12'], ['454', 'pmol/L'], ['171 - 918', 'pmol/L']],
              [['Ferritin'], ['12', 'µg/L'], ['30 - 400', 'µg/L']],
              [['TSH'], ['2.2', 'mIU/L'], ['0.45 - 4.5', 'mIU/L']],
            ],
            [36, 240, 420],
            align,
          ),
        ),
        [
          ['Vitamin B12', '454', 'pmol/L', 171, 918],
          ['Ferritin', '12', 'µg/L', 30, 400],
          ['TSH', '2.2', 'mIU/L', 0.45, 4.5],
        ],
      ))

    test('notes below names are neither part of them nor names, in smaller letters or with a label', () => {
      for (const [note, height] of [
        ['Code 7738', 8],
        ['Method: ECLIA', LETTER_HEIGHT],
      ] as const)
        assert.deepEqual(
          readRows(
            table(
              [
                [['Analysis'], ['Level'], ['UOM'], ['Limits']],
                [['Sodium', note], ['150'], ['mmol/L'], ['135 - 145']],
                [['Calcium', note], ['9.1'], ['mg/dL'], ['8.6 - 10.3']],
                [['Ferritin', note], ['88'], ['ng/mL'], ['30 - 400']],
              ],
              [36, 240, 340, 440],
              align,
              height,
            ),
          ),
          [
            ['Sodium', '150', 'mmol/L', 135, 145],
            ['Calcium', '9.1', 'mg/dL', 8.6, 10.3],
            ['Ferritin', '88', 'ng/mL', 30, 400],
          ],
        )
    })

    test('ranges below names are those of the results, with a label or without', () => {
      for (const label of ['Normal range: ', ''])
        assert.deepEqual(
          readRows(
            table(
              [
                [['Component'], ['Value']],
                [['Sodium', `${label}135 - 145`], ['150 mmol/L']],
                [['Calcium', `${label}8.6 - 10.3`], ['9.1 mg/dL']],
                [['Triglycerides', `${label}<150`], ['88 mg/dL']],
              ],
              [36, 300],
              align,
            ),
          ),
          [
            ['Sodium', '150', 'mmol/L', 135, 145],
            ['Calcium', '9.1', 'mg/dL', 8.6, 10.3],
            ['Triglycerides', '88', 'mg/dL', null, 150],
          ],
        )
    })
  })

test('a label in a line of its own and a range that goes on in the next line belong to the result', () =>
  assert.deepEqual(
    readRows(
      [
        ['Component', 'Value'],
        ['Sodium', '150 mmol/L'],
        ['Reference interval:', ''],
        ['135 - 145', ''],
        ['Calcium', '9.1 mg/dL'],
        ['Reference interval:', ''],
        ['8.6 - 10.3', ''],
        ['Insulin', '7.4 mIU/L'],
        ['Reference interval:', ''],
        ['2.6 -', ''],
        ['24.9', ''],
      ].flatMap(([name, value], index): Text[] => [
        [100 + index * LINE_PITCH, 36, name!],
        ...(value ? [[100 + index * LINE_PITCH, 300, value] satisfies Text] : []),
      ]),
    ),
    [
      ['Sodium', '150', 'mmol/L', 135, 145],
      ['Calcium', '9.1', 'mg/dL', 8.6, 10.3],
      ['Insulin', '7.4', 'mIU/L', 2.6, 24.9],
    ],
  ))

test('ranges of groups with colons on the lines below a name are its range, and a column of methods is no part of the name', () =>
  assert.deepEqual(
    readResults([
      [40, 36, 'Patient Name: Jane Example'],
      [52, 36, 'Sex: Female'],
      [100, 36, 'Test Name'],
      [100, 200, 'Technology'],
      [100, 300, 'Value'],
      [100, 400, 'Units'],
      ...[
        ['Ferritin', 'CLIA', '123', 'ng/mL', 'Male : 30 - 400', 'Female : 15 - 150'],
        ['Creatinine', 'Kinetic', '0.9', 'mg/dL', 'Male : 0.7 - 1.3', 'Female : 0.6 - 1.1'],
        ['Iron', 'Ferene', '88', 'ug/dL', '38 - 169', ''],
      ].flatMap(([name, method, value, unit, male, female], index): Text[] => {
        const top = 130 + index * 52
        const lines: Text[] = [
          [top, 36, name!],
          [top, 200, method!],
          [top, 300, value!],
          [top, 400, unit!],
          [top + 11, 36, 'Bio. Ref. Interval. :'],
          [top + 22, 36, male!],
        ]
        return female ? [...lines, [top + 33, 36, female]] : lines
      }),
    ]).map((row) => [row.test_name, row.value, row.units, row.min_reference_range, row.max_reference_range]),
    [
      ['Ferritin', '123', 'ng/mL', 15, 150],
      ['Creatinine', '0.9', 'mg/dL', 0.6, 1.1],
      ['Iron', '88', 'ug/dL', 38, 169],
    ],
  ))

test('results that are bounds are results of their own where each stands next to a name', () =>
  assert.deepEqual(
    readRows(
      [
        ['Allergen', 'Result', 'Units'],
        ['Cat Dander IgE', '12.40', 'kU/L'],
        ['Timothy Grass IgE', '<0.10', 'kU/L'],
        ['Peanut IgE', '3.77', 'kU/L'],
        ['Egg White IgE', '<0.10', 'kU/L'],
        ['Wheat IgE', '>100', 'kU/L'],
      ].flatMap((cells, row) => cells.map((text, index): Text => [100 + row * LINE_PITCH, [36, 240, 340][index]!, text])),
    ).map(([name, value]) => [name, value]),
    [
      ['Cat Dander IgE', '12.40'],
      ['Timothy Grass IgE', '<0.10'],
      ['Peanut IgE', '3.77'],
      ['Egg White IgE', '<0.10'],
      ['Wheat IgE', '>100'],
    ],
  ))

const COLUMNS = [36, 240, 340, 440]
const rowsOf = (rows: readonly string[][]): Text[] =>
  rows.flatMap((cells, row) => cells.flatMap((text, index): Text[] => (text ? [[100 + row * 20, COLUMNS[index]!, text]] : [])))

test('a flag in words in front of a number, and signs behind units, are not part of the result', () =>
  assert.deepEqual(
    readResults(
      rowsOf([
        ['Test', 'Result', '', 'Reference Range'],
        ['Magnesium', 'High 3.2 mg/dL', '', '1.7 - 2.4'],
        ['Hemoglobin', '9.6 g/dL -', '', '12.0 - 16.5'],
        ['Sodium', '140 mmol/L', '', '135 - 145'],
      ]),
    ).map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation]),
    [
      ['Magnesium', '3.2', 'mg/dL', 'abnormal'],
      ['Hemoglobin', '9.6', 'g/dL', 'abnormal'],
      ['Sodium', '140', 'mmol/L', 'normal'],
    ],
  ))

test('a flag or an expected word in brackets behind a result is part of neither the result nor the unit', () =>
  assert.deepEqual(
    readResults(
      rowsOf([
        ['Test', 'Results (expected)'],
        ['Glucose', '106 (High) mg/dL (70 - 99)'],
        ['Nitrite', 'Negative (Negative)'],
        ['RPR', 'Reactive (Non-Reactive)'],
        ['Sodium', '140 mmol/L (135 - 145)'],
      ]),
    ).map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation]),
    [
      ['Glucose', '106', 'mg/dL', 'abnormal'],
      ['Nitrite', 'Negative', null, 'normal'],
      ['RPR', 'Reactive', null, 'abnormal'],
      ['Sodium', '140', 'mmol/L', 'normal'],
    ],
  ))

test('a text with a bound in it is not a unit, and its row is doubtful', () => {
  const [result] = readResults(
    rowsOf([
      ['Test', 'Result', 'Units', 'Reference Range'],
      ['eGFR', '83', 'mL/min/1.73m2> 60', ''],
      ['Sodium', '140', 'mmol/L', '135 - 145'],
    ]),
  )
  assert.deepEqual([result!.units, result!.findings[0]!.kind], [null, 'unit_is_no_unit'])
})

test('a dash among the flags is that of a low result if no other row has one, and else no flag', () => {
  const findingsWith = (flagOfSodium: string) =>
    readResults(
      rowsOf([
        ['Test', 'Result', 'Flag', 'Reference Range'],
        ['Magnesium', '3.2 mg/dL', '+', '1.7 - 2.4'],
        ['Calcium', '12.9 mg/dL', '+', '8.6 - 10.3'],
        ['Hemoglobin', '9.6 g/dL', '-', '12.0 - 16.5'],
        ['Sodium', '140 mmol/L', flagOfSodium, '135 - 145'],
      ]),
    ).map(({ findings }) => findings.map(({ kind }) => kind))
  assert.deepEqual(findingsWith(''), [[], [], [], []])
  assert.deepEqual(findingsWith('-'), [[], [], ['flag_is_missing'], []])
})

test('texts in smaller letters below names do not make rows doubtful, and results there do', () => {
  const findingsWith = (note: string) =>
    readResults(
      table(
        [
          [['Test'], ['Result'], ['Units'], ['Reference Range']],
          [['Magnesium', note], ['2.2'], ['mg/dL'], ['1.7 - 2.4']],
          [['Calcium', note], ['9.9'], ['mg/dL'], ['8.6 - 10.3']],
          [['Sodium', note], ['140'], ['mmol/L'], ['135 - 145']],
          [['Chloride', note], ['101'], ['mmol/L'], ['98 - 107']],
        ],
        COLUMNS,
        'top',
        8,
      ),
    ).map(({ findings }) => findings.map(({ kind }) => kind))
  assert.deepEqual(findingsWith('Code 7738'), [[], [], [], []])
  const findings = findingsWith('Dilution 7738 mg/dL')
  assert.ok(
    findings.every((kinds) => kinds.includes('line_without_row')),
    JSON.stringify(findings),
  )
})
