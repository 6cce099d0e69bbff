// Tables as browsers and office programs print them: cells on several lines, centered beside others, close columns, drawn rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Box, PageText, Word } from '../pages/page.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLines, readLinesOfPage } from './tables.ts'

const SIZE = 10
const [LETTER, SPACE, LINE] = [5, 2.8, 11.5]

interface Print {
  /** Where the columns begin. */
  columns: readonly number[]
  /** Where texts stand in their rows: 0 is the top, 1 the bottom. */
  align?: number
  /** Between a text and the edge of its row. */
  padding?: number
  /** What is drawn below each row. */
  rules?: 'none' | 'lines' | 'cells'
}

/** A page with one table; a line of a cell ends with `|`, a text behind `>` stands at the right edge. */
function page(
  rows: readonly (string | readonly string[])[],
  { columns: position, align = 0.5, padding = 3, rules = 'none' }: Print,
): PageText {
  const words: Word[] = []
  const [lines, areas]: [Box[], Box[]] = [[], []]
  let top = 60
  for (const [index, row] of rows.entries()) {
    const cells = typeof row === 'string' ? [row] : row
    const count = Math.max(...cells.map((cell) => cell.split('|').length))
    const bottom = top + count * LINE + padding * 2
    for (const [column, cell] of cells.entries()) {
      const texts = cell.split('|')
      const start = top + padding + (count - texts.length) * LINE * align
      for (const [line, text] of texts.entries()) {
        const parts = text.replace('>', '').split(' ')
        const width = parts.join('').length * LETTER + (parts.length - 1) * SPACE
        let left = text.startsWith('>') ? position[column + 1]! - padding * 2 - width : position[column]!
        for (const word of parts) {
          const box = { left, right: left + word.length * LETTER, top: start + line * LINE, bottom: start + line * LINE + SIZE }
          if (word) words.push({ text: word, box, confidence: 1 })
          left = box.right + SPACE
        }
      }
      if (rules === 'cells' && index % 2)
        areas.push({ left: position[column]! - padding, right: (position[column + 1] ?? 560) - padding, top, bottom })
    }
    if (rules === 'lines') lines.push({ left: position[0]! - padding, right: 560, top: bottom, bottom: bottom + 0.75 })
    top = bottom + 0.75
  }
  return { number: 1, width: 595, height: 842, source: 'text', words, drawings: { lines, areas } }
}

const read = (...args: Parameters<typeof page>) => {
  const one = page(...args)
  return readRows([{ page: one, lines: readLinesOfPage(one) }], { isAnalyte, isNamed })
}
const rows = (...args: Parameters<typeof page>) =>
  read(...args).map(({ name, value, unit, range_lines, flag }) => [name, value, unit, range_lines.join(' | '), flag])

const AT = [40, 160, 230, 290, 400]

for (const [name, align] of Object.entries({ top: 0, middle: 0.5, bottom: 1 }))
  for (const rules of ['none', 'lines', 'cells'] as const)
    test(`cells on two lines are one cell: others at the ${name} of the row, drawn between rows: ${rules}`, () => {
      assert.deepEqual(
        rows(
          [
            ['Test', 'Result', 'Unit', 'Reference|range', 'Flag'],
            ['Glucose', '95', 'mg/dL', '70 - 99', ''],
            ['Sodium', '150', 'mmol/L', '136 - 145', 'H'],
            ['Carbon Dioxide,|Total (Bicarbonate)', '24', 'mmol/L', '22 - 29', ''],
            ['Potassium', '4.0', 'mmol/L', '3.5 - 5.1', ''],
          ],
          { columns: AT, align, rules },
        ),
        [
          ['Glucose', '95', 'mg/dL', '70 - 99', null],
          ['Sodium', '150', 'mmol/L', '136 - 145', 'high'],
          ['Carbon Dioxide, Total (Bicarbonate)', '24', 'mmol/L', '22 - 29', null],
          ['Potassium', '4.0', 'mmol/L', '3.5 - 5.1', null],
        ],
      )
    })

test('names of columns with a gap of six points between them are two columns', () => {
  assert.deepEqual(
    rows(
      [
        ['Test', 'Result', 'Reference range', 'Units'],
        ['Glucose', '95', '70 - 99', 'mg/dL'],
        ['Sodium', '140', '136 - 145', 'mmol/L'],
      ],
      { columns: [40, 160, 196, 196 + 15 * LETTER - LETTER + SPACE + 6] },
    ),
    [
      ['Glucose', '95', 'mg/dL', '70 - 99', null],
      ['Sodium', '140', 'mmol/L', '136 - 145', null],
    ],
  )
})

test('a range on two lines is one, and a name that is parted at its hyphen', () => {
  assert.deepEqual(
    rows(
      [
        ['Test', 'Result', 'Unit', 'Reference interval'],
        ['Non-|HDL Cholesterol', '3.1', 'mmol/L', 'less than 4.00'],
        ['Free Thyroxine', '14.2', 'pmol/L', '10.6 to|22.8'],
      ],
      { columns: AT, rules: 'lines' },
    ),
    [
      ['Non-HDL Cholesterol', '3.1', 'mmol/L', 'less than 4.00', null],
      ['Free Thyroxine', '14.2', 'pmol/L', '10.6 to 22.8', null],
    ],
  )
})

test('the unit in the name of a column is that of its numbers, and a unit behind a name that of its result', () => {
  const units = (title: string, name: string, value: string) =>
    rows(
      [
        ['Test', title, 'Reference range'],
        ['Potassium', '4.0', '3.5 - 5.1'],
        [name, value, '136 - 145'],
      ],
      { columns: [40, 160, 300] },
    ).map(([, , unit]) => unit)
  for (const title of ['Result (mmol/L)', 'Result [mmol/L]', 'Result|(mmol/L)', 'Result, mmol/L', 'VALUE IN mmol/L'])
    assert.deepEqual(units(title, 'Sodium', '140'), ['mmol/L', 'mmol/L'])
  assert.deepEqual(units('Result (%)', 'HIV antibody', 'Negative'), ['%', null])
  assert.deepEqual(units('Result', 'Sodium (mmol/L)', '140'), [null, 'mmol/L'])
  for (const title of ['Result (units)', 'Result [unit]', 'Result, units'])
    assert.deepEqual(units(title, 'Sodium', '140'), [null, null], title)
})

test('the heading above a row and a smaller line below it are not part of its name', () => {
  const table = page(
    [
      ['Test', 'Result', 'Unit', 'Reference range'],
      ['Lipid profile'],
      ['Cholesterol', '5.1', 'mmol/L', '3.0 - 5.2'],
      ['Triglycerides', '1.1', 'mmol/L', '0.5 - 1.7'],
      ['Renal profile'],
      ['Urea', '5.0', 'mmol/L', '2.5 - 7.8'],
    ],
    { columns: AT, rules: 'lines' },
  )
  const result = readRows([{ page: table, lines: readLinesOfPage(table) }], { isAnalyte, isNamed })
  assert.deepEqual(
    result.map(({ name, panel }) => [name, panel]),
    [
      ['Cholesterol', 'Lipid profile'],
      ['Triglycerides', 'Lipid profile'],
      ['Urea', 'Renal profile'],
    ],
  )
})

test('numbers at the right edge of their column belong to it, even if the name of the next column is closer', () => {
  assert.deepEqual(
    rows(
      [
        ['Test', 'Result', 'Previous result', 'Unit', 'Reference range'],
        ['Glucose', '>95', '>90', 'mg/dL', '70 - 99'],
        ['Sodium', '>150', '>140', 'mmol/L', '136 - 145'],
      ],
      { columns: [40, 160, 240, 330, 400] },
    ),
    [
      ['Glucose', '95', 'mg/dL', '70 - 99', null],
      ['Sodium', '150', 'mmol/L', '136 - 145', null],
    ],
  )
})

test('names of columns at the bottom of their row, and a column of panels whose cells go over several rows', () => {
  const table = page(
    [
      ['Panel', 'Test|Name', 'Observed|Value', 'Measurement|Unit', 'Biological|Reference|Interval'],
      ['', 'Glucose', '95', 'mg/dL', '70 - 99'],
      ['Basic|metabolic', 'Sodium', '140', 'mmol/L', '136 - 145'],
      ['', 'Potassium', '4.0', 'mmol/L', '3.5 - 5.1'],
      ['Thyroid', 'TSH', '1.2', 'mIU/L', '0.4 - 4.5'],
    ],
    { columns: [40, 110, 230, 300, 390], align: 1, padding: 4 },
  )
  // Merged cells have their text in the middle.
  for (const word of table.words.filter(({ text }) => text === 'Basic' || text === 'metabolic')) {
    word.box = { ...word.box, top: word.box.top - 6, bottom: word.box.bottom - 6 }
  }
  assert.deepEqual(
    readRows([{ page: table, lines: readLinesOfPage(table) }], { isAnalyte, isNamed }).map(
      ({ name, value, unit, range_lines, panel }) => [name, value, unit, range_lines[0], panel],
    ),
    [
      ['Glucose', '95', 'mg/dL', '70 - 99', 'Basic metabolic'],
      ['Sodium', '140', 'mmol/L', '136 - 145', 'Basic metabolic'],
      ['Potassium', '4.0', 'mmol/L', '3.5 - 5.1', 'Basic metabolic'],
      ['TSH', '1.2', 'mIU/L', '0.4 - 4.5', 'Thyroid'],
    ],
  )
})

test('two columns of bounds below one name are a range', () => {
  assert.deepEqual(
    rows(
      [
        ['', '', '', 'Reference interval'],
        ['Test', 'Result', 'Unit', 'Min.', 'Max.'],
        ['Glucose', '95', 'mg/dL', '70', '99'],
        ['Sodium', '140', 'mmol/L', '136', '145'],
        ['Triglycerides', '90', 'mg/dL', '', '150'],
      ],
      { columns: [40, 160, 230, 300, 360], padding: 1 },
    ),
    [
      ['Glucose', '95', 'mg/dL', '70 - 99', null],
      ['Sodium', '140', 'mmol/L', '136 - 145', null],
      ['Triglycerides', '90', 'mg/dL', '<= 150', null],
    ],
  )
})

const PREVIOUS = [
  ['Test', 'Result', 'Last result', 'UOM', 'Range'],
  ['aPTT', '>31', '>29', 's', '24 - 33'],
  ['Potassium', '>4.3', '>4.9', 'mmol/L', '3.5 - 5.1'],
  ['Estradiol', '>1092', '>1229', 'pmol/L', '99 - 903'],
  ['pH', '>4.5', '>5.0', '', '5.0 - 7.5'],
] as const

test('former results that are as close to the units as words of one cell are not units', () => {
  // Names of columns stand in their middle, units begin two points behind the numbers.
  const table = page(PREVIOUS.slice(1), { columns: [40, 160, 220, 300, 350], padding: 1 })
  const header = page([PREVIOUS[0]], { columns: [60, 175, 225, 312, 360], padding: 1 })
  for (const { box } of header.words) [box.top, box.bottom] = [box.top - 16, box.bottom - 16]
  const one = { ...table, words: [...header.words, ...table.words] }
  assert.deepEqual(
    readRows([{ page: one, lines: readLinesOfPage(one) }], { isAnalyte, isNamed }).map(({ name, value, unit }) => [
      name,
      value,
      unit,
    ]),
    [
      ['aPTT', '31', 's'],
      ['Potassium', '4.3', 'mmol/L'],
      ['Estradiol', '1092', 'pmol/L'],
      ['pH', '4.5', null],
    ],
  )
})

test('a column of numbers without a name does not belong to the next column of units', () => {
  assert.deepEqual(
    rows(
      [
        ['Test', 'Result', '', 'Units', 'Range'],
        ['Chol/HDL Ratio', '4.1', '4.3', '', '0.0 - 5.0'],
        ['Reaction (pH)', '4.5', '5.0', '', '5.0 - 7.5'],
      ],
      { columns: [40, 160, 225, 290, 360] },
    ).map(([, value, unit]) => [value, unit]),
    [
      ['4.1', null],
      ['4.5', null],
    ],
  )
})

test('a row with a day and results that are also names of columns does not name the columns of the rows below', () => {
  const days = ['04/15/2025|08:35 AM', '04/15/2025', '15 Apr 2025']
  for (const rules of ['none', 'lines'] as const)
    for (const day of days)
      for (const range of ['Normal', '0.2 - 1.0', ''])
        assert.deepEqual(
          rows(
            [
              ['Test', 'Collection|Date', 'Result', 'Unit', 'Expected values'],
              ['Glucose', day, 'Negative', '', 'Negative'],
              ['Urobilinogen', day, 'Normal', '', range],
              ['Nitrite', day, 'Negative', '', 'Negative'],
              ['Iron', day, '125', 'ug/dL', '38 - 169'],
            ],
            { columns: [40, 140, 230, 300, 360], rules },
          ).map(([name, value, unit]) => [name, value, unit]),
          [
            ['Glucose', 'Negative', null],
            ['Urobilinogen', 'Normal', null],
            ['Nitrite', 'Negative', null],
            ['Iron', '125', 'ug/dL'],
          ],
          `${rules}, ${day}, ${range}`,
        )
})

test('a row whose range and flag are also names of columns does not name the columns of the rows below', () => {
  for (const title of ['Flag', 'Remarks', 'Status'])
    assert.deepEqual(
      rows(
        [
          ['Test', 'Result', 'Unit', 'Reference range', title],
          ['Bilirubin', 'Negative', '', 'Negative', ''],
          ['Urobilinogen', '1+', '', 'Normal', 'ABNORMAL'],
          ['Nitrite', 'Positive', '', 'Negative', 'ABNORMAL'],
          ['WBC', '0-5', '', '0-5', ''],
        ],
        { columns: AT },
      ),
      [
        ['Bilirubin', 'Negative', null, 'Negative', null],
        ['Urobilinogen', '1+', null, 'Normal', 'abnormal'],
        ['Nitrite', 'Positive', null, 'Negative', 'abnormal'],
        ['WBC', '0-5', null, '0-5', null],
      ],
      title,
    )
})

test('a table continues on the next page without the names of its columns, below the header of the page', () => {
  for (const day of ['04/15/2025|08:35 AM', '04/15/2025 08:35 AM'])
    for (const head of [[], ['Sampleville Pathology', '12 Invented Street']])
      for (const rules of ['none', 'lines'] as const) {
        const print: Print = { columns: [40, 140, 240, 300, 360], rules }
        const first = page(
          [
            ['Test', 'Collection|Date', 'Result', 'Unit', 'Expected values'],
            ['Glucose', day, '95', 'mg/dL', '70 - 99'],
            ['Sodium', day, '140', 'mmol/L', '136 - 145'],
          ],
          print,
        )
        const second = page(
          [
            ...head,
            ['Urobilinogen', day, 'Normal', '', 'Normal'],
            ['Nitrite', day, 'Negative', '', 'Negative'],
            ['Carbon Dioxide,|Total (Bicarbonate)', day, '24', 'mmol/L', '22 - 29'],
            ['Iron', day, '125', 'ug/dL', '38 -|169'],
          ],
          print,
        )
        const pages = [first, { ...second, number: 2 }]
        const lines = readLines(pages)
        const both = pages.map((item, index) => ({ page: item, lines: lines[index]! }))
        const date = day.replace('|', ' ')
        assert.deepEqual(
          readRows(both, { isAnalyte, isNamed }).map((row) => [
            row.page,
            row.name,
            row.value,
            row.unit,
            row.range_lines[0],
            row.date,
          ]),
          [
            [1, 'Glucose', '95', 'mg/dL', '70 - 99', date],
            [1, 'Sodium', '140', 'mmol/L', '136 - 145', date],
            [2, 'Urobilinogen', 'Normal', null, 'Normal', date],
            [2, 'Nitrite', 'Negative', null, 'Negative', date],
            [2, 'Carbon Dioxide, Total (Bicarbonate)', '24', 'mmol/L', '22 - 29', date],
            [2, 'Iron', '125', 'ug/dL', '38 - 169', date],
          ],
        )
      }
})

for (const [name, align] of Object.entries({ top: 0, middle: 0.5, bottom: 1 }))
  for (const rules of ['none', 'lines', 'cells'] as const)
    test(`cells of a table without column names may have two lines: others at the ${name} of the row, drawn between rows: ${rules}`, () => {
      assert.deepEqual(
        rows(
          [
            ['Thyroid Stimulating|Hormone (TSH)', '2.31', 'uIU/mL', '0.450 - 4.500', ''],
            ['Glucose', '95', 'mg/dL', '70 - 99', ''],
            ['Sodium', '150', 'mmol/L', '136 - 145', 'H'],
            ['Mean Corpuscular|Hemoglobin', '29.1', 'pg', '26.6 - 33.0', ''],
            ['HIV 1/2 Antibody', 'Non-Reactive', '', 'Non-Reactive', ''],
            ['Potassium', '4.0', 'mmol/L', '3.5 - 5.1', ''],
          ],
          { columns: AT, align, rules },
        ),
        [
          ['Thyroid Stimulating Hormone (TSH)', '2.31', 'uIU/mL', '0.450 - 4.500', null],
          ['Glucose', '95', 'mg/dL', '70 - 99', null],
          ['Sodium', '150', 'mmol/L', '136 - 145', 'high'],
          ['Mean Corpuscular Hemoglobin', '29.1', 'pg', '26.6 - 33.0', null],
          ['HIV 1/2 Antibody', 'Non-Reactive', null, 'Non-Reactive', null],
          ['Potassium', '4.0', 'mmol/L', '3.5 - 5.1', null],
        ],
      )
    })
