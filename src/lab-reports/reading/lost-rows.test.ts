// Rows that were lost or taken for right although they were not: flags that are results, flags in words, ranges with a note, footers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { rangeFor, type Patient } from '../../lab-values/ranges.ts'
import { flagOf } from '../../lab-values/values.ts'
import { understand } from './read-report.ts'

const read = (...lines: PlacedText[][]) => understand([pageOfLines(lines, 14)])
const rowsOf = (...lines: PlacedText[][]) => read(...lines).results.map(({ test_name, value }) => [test_name, value])

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [220, 'Result'],
  [300, 'Units'],
  [380, 'Reference Range'],
]
const line = (name: string, value: string, unit = '', range = ''): PlacedText[] =>
  (
    [
      [36, name],
      [220, value],
      [300, unit],
      [380, range],
    ] as PlacedText[]
  ).filter(([, text]) => text)
const GLUCOSE = line('Glucose', '92', 'mg/dL', '70 - 99')

test('a letter of a blood group and a grade alone in the column of results are results, and no flags', () => {
  const names = ['A', 'B', 'AB', 'O'].map(
    (group) => rowsOf(HEADER, GLUCOSE, line('Blood Group', group), line('Rh Factor', 'Positive'))[1],
  )
  assert.deepEqual(
    names,
    ['A', 'B', 'AB', 'O'].map((group) => ['Blood Group', group]),
  )
  const [, blood] = rowsOf(HEADER, GLUCOSE, line('Occult blood', '(+)', '', '(-)'), line('Protein', '(-)', '', '(-)'))
  assert.deepEqual(blood, ['Occult blood', '(+)'])
})

test('a time of day in the column of results that is in no row is reported', () => {
  const { results, findings } = read(HEADER, GLUCOSE, line('Time of Collection', '10:30 AM'), line('Sodium', '140', 'mmol/L'))
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Glucose', 'Sodium'],
  )
  assert.deepEqual(
    findings?.map(({ kind }) => kind),
    ['line_without_row'],
  )
})

test('cards of pH and of results that may be flags are read', () => {
  const rows = rowsOf(
    [
      [40, 'Specific Gravity'],
      [300, 'pH'],
    ],
    [
      [40, 'Normal range: 1.005 - 1.030'],
      [300, 'Normal range: 5.0 - 7.5'],
    ],
    [
      [40, 'Value'],
      [90, '1.025'],
      [300, 'Value'],
      [350, '5.4'],
    ],
    [
      [40, 'Bilirubin'],
      [300, 'Urobilinogen'],
    ],
    [
      [40, 'Normal range: Negative'],
      [300, 'Normal range: Normal'],
    ],
    [
      [40, 'Value'],
      [90, 'Negative'],
      [300, 'Value'],
      [350, 'Normal'],
    ],
  )
  assert.deepEqual(rows, [
    ['Specific Gravity', '1.025'],
    ['pH', '5.4'],
    ['Bilirubin', 'Negative'],
    ['Urobilinogen', 'Normal'],
  ])
})

test('flags in words of records and portals are flags', () => {
  for (const text of ['Above high reference limit', 'above upper limit']) assert.equal(flagOf(text), 'high', text)
  for (const text of ['Below low reference limit', 'Below reference range']) assert.equal(flagOf(text), 'low', text)
  assert.equal(flagOf('Outside reference range'), 'abnormal')
  assert.equal(flagOf('Above all'), undefined)
})

test('the range of a phase or an age that is printed alone after the value is the range of the laboratory', () => {
  const of = (text: string, sex: Patient['sex']) => {
    const range = rangeFor([text], { sex, age: null })
    return range && [range.min, range.max, range.isConditional ?? false]
  }
  assert.deepEqual(of('75-270 Premenopausal (Luteal)', 'female'), [75, 270, false])
  assert.deepEqual(of('16-55 (Age Dependent)', 'male'), [16, 55, false])
  // Of a man it is none, and before the range it may be one of several lines.
  assert.deepEqual(of('75-270 Premenopausal (Luteal)', 'male'), [null, null, false])
  assert.deepEqual(of('Luteal: 75-270', 'female'), [null, null, false])
  assert.deepEqual(of('Normal range: Normal', null), [null, null, false])
})

test('a star that only some of the flags of a report have is not understood, and asks for review', () => {
  const potassium = line('Potassium', '5.9', 'mmol/L', '3.5 - 5.1')
  const flagged = (line: PlacedText[], flag: string): PlacedText[] => [...line.slice(0, 2), [255, flag], ...line.slice(2)]
  const kinds = (flag: string) =>
    read(HEADER, flagged(line('Glucose', '148', 'mg/dL', '70 - 105'), flag), flagged(potassium, 'H*')).results[1]!.findings.map(
      ({ kind }) => kind,
    )
  assert.deepEqual(kinds('H'), ['flag_is_not_understood'])
  assert.deepEqual(kinds('H*'), [])
})

test('lines next to the tables of a report with an unknown test name ask for review', () => {
  const { results } = read(
    [
      [36, 'Healthy / No Pattern'],
      [220, '97.6%'],
    ],
    HEADER,
    GLUCOSE,
    line('Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
  )
  const unknown = results.find(({ test_name }) => test_name.startsWith('Healthy'))!
  assert(unknown.findings.some(({ kind }) => kind === 'name_is_unknown'))
  assert.deepEqual(
    results.slice(-2).flatMap(({ findings }) => findings),
    [],
  )
})

test('a notice of copyright is not read as a result', () => {
  const names = rowsOf(
    [
      [36, 'Component'],
      [365, 'Your Value'],
      [460, 'Standard Range'],
    ],
    [
      [36, 'Sodium'],
      [365, '141 mmol/L'],
      [460, '136 - 145 mmol/L'],
    ],
    [
      [36, 'Potassium'],
      [365, '3.3 mmol/L'],
      [460, '3.5 - 5.1 mmol/L'],
    ],
    [[36, 'MyFauxChart licensed from Fictional Systems Corporation © 1999 - 2025']],
  )
  assert.deepEqual(names, [
    ['Sodium', '141'],
    ['Potassium', '3.3'],
  ])
})

test('the end of a unit of an area in the line below belongs to the unit', () => {
  const { results } = read(
    HEADER,
    GLUCOSE,
    line('eGFR', '117', 'mL/min/1.73', '>60'),
    [[300, 'm2']],
    line('Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
  )
  assert.equal(results.find(({ test_name }) => test_name === 'eGFR')!.units, 'mL/min/1.73 m2')
})

test('findings of a microscope or a culture are results after a colon', () => {
  const rows = rowsOf(
    [
      [36, 'Ova'],
      [220, ': Not seen'],
    ],
    [
      [36, 'Cyst'],
      [220, ': E. histolytica cyst seen'],
    ],
  )
  assert.deepEqual(rows.at(-1), ['Cyst', 'E. histolytica cyst seen'])
})

/** Lines whose tops are at these heights, in points. */
function pageAt(lines: readonly [top: number, ...PlacedText[]][]) {
  const page = pageOfLines(
    lines.map(([, ...texts]) => texts),
    14,
  )
  const words = page.words.map((word) => {
    const top = lines[(word.box.top - 40) / 14]![0]
    return { ...word, box: { ...word.box, top, bottom: top + 10 } }
  })
  return { ...page, words }
}

test('a text close above a row is the begin of its name if both are a name, and else the heading of a panel', () => {
  const table = (first: string, name: string, gap: number) =>
    understand([
      pageAt([
        [40, ...HEADER],
        [60, ...line('Iron', '82', 'ug/dL', '38 - 169')],
        [75, [36, first]],
        [85 + gap, ...line(name, '286', 'ug/dL', '250 - 450')],
        // So that the column has room for both in one line.
        [115, ...line('Iron Saturation (Transferrin Sat)', '29', '%', '15 - 55')],
      ]),
    ]).results.map(({ test_name, source_panel_name }) => [test_name, source_panel_name])[1]
  assert.deepEqual(table('Total Iron', 'Binding Capacity (TIBC)', 0.6), ['Total Iron Binding Capacity (TIBC)', null])
  // As far apart as rows are, or names of a panel and a test.
  assert.deepEqual(table('Total Iron', 'Binding Capacity (TIBC)', 6), ['Binding Capacity (TIBC)', 'Total Iron'])
  assert.deepEqual(table('Iron and TIBC', 'Transferrin', 0.6), ['Transferrin', 'Iron and TIBC'])
})

test('a result that stands close to its name in a table without names of columns is read', () => {
  const bare = (name: string, value: string, index = 220): PlacedText[] => [
    [36, name],
    [index, value],
    [300, '22 to 150'],
    [400, 'mmol/L'],
  ]
  const close = 36 + 'Bicarbonate'.length * 5 + 3
  const lines = [
    bare('Sodium', '140', close),
    bare('Chloride', '99', close),
    [
      [36, 'Bicarbonate 23'],
      [300, '22 to 29'],
      [400, 'mmol/L'],
    ] as PlacedText[],
  ]
  assert.deepEqual(rowsOf(...lines), [
    ['Sodium', '140'],
    ['Chloride', '99'],
    ['Bicarbonate', '23'],
  ])
})

test('a line of a table with a name that laboratories measure and a number is a finding if no row has it', () => {
  const lost: PlacedText[] = [[36, 'Bicarbonate 92 70 - 99 mg/dL']]
  const { results, findings } = read(HEADER, GLUCOSE, lost, line('Sodium', '140', 'mmol/L', '136 - 145'))
  assert(results.some(({ test_name }) => test_name.startsWith('Bicarbonate')) || findings!.length > 0)
})

test('a number with a unit and no name, in a table without column names, is a finding', () => {
  const lost: PlacedText[] = [
    [220, '33.1'],
    [300, 'g/dL'],
    [380, '31.5 - 35.7'],
  ]
  const { findings } = read(
    GLUCOSE,
    line('Sodium', '140', 'mmol/L', '136 - 145'),
    lost,
    line('Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
  )
  assert.deepEqual(
    findings!.map(({ kind }) => kind),
    ['line_without_row'],
  )
})

test('a line of a table whose result stands with its unit and range, and that is in no row, is reported', () => {
  const { results, findings } = read(HEADER, GLUCOSE, line('5', '7.1 mmol/L (2 - 9)'), line('Sodium', '140', 'mmol/L'))
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Glucose', 'Sodium'],
  )
  assert.deepEqual(
    findings?.map(({ kind }) => kind),
    ['line_without_row'],
  )
  assert.deepEqual(read(HEADER, GLUCOSE, line('', '5.1 mmol/L'), line('Sodium', '140', 'mmol/L')).findings, [])
})

test('lines of a list without names of columns that name a result and are in no row are reported, the last ones as well', () => {
  const { results, findings } = read(
    [[36, 'Iron 12 umol/L 10-30']],
    [[36, 'ALT 30 zz/yy <40 ?']],
    [[36, 'Zinc 12 umol/L 10-22']],
    [[36, 'Copper 12 zz/yy ? 10-22']],
    [[36, 'Selenium 1 zz/yy ? 1-2']],
  )
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Iron', 'Zinc'],
  )
  assert.deepEqual(
    findings?.map(({ kind }) => kind),
    ['line_without_row', 'line_without_row', 'line_without_row'],
  )
})

test('a mark beside a column that says how far results are is the flag of its row', () => {
  const rows: PlacedText[][] = [
    [
      [36, 'Component'],
      [200, 'Value'],
      [340, 'Ref Range & Units'],
      [480, 'Status'],
    ],
    [
      [36, 'Mumps IgG'],
      [200, 'Equivocal'],
      [310, '!'],
      [340, 'Immune'],
      [480, 'Final'],
    ],
    [
      [36, 'CMV IgG'],
      [200, 'Negative'],
      [340, 'Negative'],
      [480, 'Final'],
    ],
  ]
  assert.deepEqual(
    read(...rows).results.map(({ test_name, interpretation }) => [test_name, interpretation]),
    [
      ['Mumps IgG', 'abnormal'],
      ['CMV IgG', 'normal'],
    ],
  )
})

test('what flags mean below a table is no row', () => {
  const legend: PlacedText[] = [
    [36, '(L) Low'],
    [100, '(H) High'],
    [220, '(A) Abnormal'],
  ]
  assert.deepEqual(rowsOf(HEADER, GLUCOSE, line('Sodium', '140', 'mmol/L', '136 - 145'), legend), [
    ['Glucose', '92'],
    ['Sodium', '140'],
  ])
})

test('the unit behind a word that is expected is that of the row, also without a space', () => {
  for (const range of ['NONE SEEN /HPF', 'NONE SEEN/HPF', '< OR = 5 /HPF', '<OR=5/HPF']) {
    const [, row] = read(HEADER, GLUCOSE, line('BACTERIA', 'NONE SEEN', '', range)).results
    assert.equal(row!.units, '/HPF', range)
  }
  const [, row] = read(HEADER, GLUCOSE, line('WBC', '0-3', '', '<OR=5/HPF')).results
  assert.deepEqual([row!.max_reference_range, row!.interpretation, row!.findings], [5, 'normal', []])
})

test('an interval whose range is not understood asks for a person', () => {
  const [, row] = read(HEADER, GLUCOSE, line('WBC', '0-3', '/HPF', '0-5 5-10')).results
  assert.deepEqual(
    row!.findings.map(({ kind }) => kind),
    ['range_is_not_understood'],
  )
})

test('an address of a laboratory below a table is no row', () => {
  const cells = (...texts: string[]): PlacedText[] => texts.map((text, index) => [[36, 220, 394, 450][index]!, text])
  const address: PlacedText[] = [
    [36, '01 BN'],
    [87, 'LAB-EXAMPLE Burlingplace, 1447 Test Ct, Nowhere, NC 27000-0001'],
    [394, 'Dir: Sam Invented, MD'],
  ]
  assert.deepEqual(
    rowsOf(
      cells('Tests', 'Result', 'Units', 'Reference Interval'),
      cells('Glucose', '92', 'mg/dL', '70 - 99'),
      cells('Sodium', '140', 'mmol/L', '136 - 145'),
      address,
    ),
    [
      ['Glucose', '92'],
      ['Sodium', '140'],
    ],
  )
})

test('a line of a list of words is read, whatever it measures, if its word is exactly below the others, and else reported', () => {
  const item = (name: string, left = 220): PlacedText[] => [
    [36, name],
    [left, 'Not Detected'],
  ]
  const readWith = (left: number) => {
    const lines = [item('Adenovirus'), item('Campylobacter'), item('Xyzella minor', left), item('Influenza A')]
    const { results, findings } = read(...lines)
    return [results.length, findings!.map(({ kind }) => kind)]
  }
  assert.deepEqual(readWith(220), [4, []])
  assert.deepEqual(readWith(226), [3, ['line_without_row']])
})

test('what a practice does about a report is no lost row', () => {
  const rowsAround = (status: string) =>
    read(
      [
        [36, 'Glucose'],
        [220, '92 mg/dL'],
        [380, '[70 - 99]'],
      ],
      [
        [36, 'Urea and electrolytes'],
        [460, status],
      ],
      [
        [36, 'Sodium'],
        [220, '140 mmol/L'],
        [380, '[135 - 145]'],
      ],
    ).results.map(({ findings }) => findings.map(({ kind }) => kind))
  assert.deepEqual(rowsAround('Normal - No Action'), [[], []])
  assert.deepEqual(rowsAround('Chloride 101'), [['line_without_row'], ['line_without_row']])
})

test('remarks on the specimen and explanations are no lost rows', () => {
  const SODIUM = line('Sodium', '140', 'mmol/L', '135 - 145')
  const remarks: PlacedText[][] = [
    [[36, 'Sample slightly icteric']],
    [[36, 'Virological suppression. Repeat in 12 months']],
    [[36, 'FASTING GLUCOSE 6.1 - 6.9 mmol/L: impaired fasting glucose']],
  ]
  for (const remark of remarks) {
    const { results, findings } = read(HEADER, GLUCOSE, remark, SODIUM)
    assert.deepEqual([results.flatMap((result) => result.findings), findings], [[], []], remark.join())
  }
})

test('a unit that is printed at the upper bound of a range is said by the row', () => {
  const { results } = read(HEADER, line('MCV', '90', '', '82-98fL'), line('Sodium', '140', 'mmol/L', '135 - 145'))
  assert.deepEqual(
    results.map(({ units, max_reference_range: max, findings }) => [units, max, findings]),
    [
      ['fL', 98, []],
      ['mmol/L', 145, []],
    ],
  )
})

test('a line with more numbers under days than were read of it asks for a person', () => {
  const dated = (name: string, first: string, second: string): PlacedText[] => [
    [36, name],
    [220, first],
    ...(second ? [[320, second] as PlacedText] : []),
    [420, '3.5 - 145'],
  ]
  const HEADER_OF_DAYS: PlacedText[] = [
    [36, 'Test'],
    [220, '08/03/2023'],
    [320, '21/09/2023'],
    [420, 'Reference'],
  ]
  const findingsOf = (...lines: PlacedText[][]) => read(HEADER_OF_DAYS, ...lines).findings?.map(({ kind }) => kind)
  const [sodium, potassium] = [dated('Sodium', '140', '141'), dated('Potassium', '4.4', '4.7')]
  assert.deepEqual(findingsOf(sodium, potassium, dated('Iron', '14', '17')), [])
  assert.deepEqual(findingsOf(sodium, potassium, dated('Iron', '14 17', '')), ['line_without_row'])
  // Without names of columns the rows have the first results.
  const withoutNames = [HEADER_OF_DAYS.slice(0, 3), sodium, potassium].map((cells, index) =>
    index ? cells : [[36, 'Date'], ...cells.slice(1)],
  )
  assert.deepEqual(
    read(...(withoutNames as PlacedText[][])).findings?.map(({ kind }) => kind),
    ['line_without_row', 'line_without_row'],
  )
})

test('a labelled result in no block is reported, though its label is a word of sentences', () => {
  const block = (...name: string[]): PlacedText[][] => [
    ...name.map((text): PlacedText[] => [[36, text]]),
    [
      [40, 'Normal range: 3.80 - 5.20 mmol/L'],
      [380, 'Your value: 3.71 mmol/L'],
    ],
  ]
  const { results, findings } = read(...block('Potassium'), ...block(), ...block('Glucose'))
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Potassium', 'Glucose'],
  )
  assert.deepEqual(
    findings!.map(({ kind }) => kind),
    ['line_without_row'],
  )
})

test('the name of a column is no result', () => {
  assert.deepEqual(rowsOf(HEADER, GLUCOSE, line('TSH', 'Current Result')), [['Glucose', '92']])
})

test('who measured a table and a range that is not established are in no row and make none doubtful', () => {
  const kinds = (...texts: string[]) =>
    read(
      HEADER,
      GLUCOSE,
      texts.map((text, index): PlacedText => [36 + index * 184, text]),
      line('Sodium', '140', 'mmol/L', '135 - 145'),
    ).results.flatMap(({ findings }) => findings.map(({ kind }) => kind))
  assert.deepEqual(kinds('Resulting Agency', 'CORE LAB'), [])
  assert.deepEqual(kinds('Not established'), [])
  assert.notDeepEqual(kinds('Unheard Agency', 'CORE LAB'), [])
})

test('rows with their number below a column of unknown name are reported, also above the first row that is read', () => {
  const row = (name: string, normal: string, abnormal: string, range: string): PlacedText[] =>
    (
      [
        [36, name],
        [220, normal],
        [300, abnormal],
        [380, range],
      ] as PlacedText[]
    ).filter(([, text]) => text)
  const linesOf = (column: string) => [
    row('Test Name', 'In Range', column, 'Reference Range'),
    row('LIPID PANEL', '', '', ''),
    row('CHOLESTEROL, TOTAL', '', '243 H', '<200 mg/dL'),
    row('HDL CHOLESTEROL', '', '38 L', '> OR = 40 mg/dL'),
    row('ELECTROLYTES', '', '', ''),
    row('SODIUM', '140', '', '135-146 mmol/L'),
    row('POTASSIUM', '4.2', '', '3.5-5.3 mmol/L'),
  ]
  const report = read(...linesOf('Qut cf Ranqe'))
  assert.deepEqual(
    report.results.map(({ test_name }) => test_name),
    ['SODIUM', 'POTASSIUM'],
  )
  assert.deepEqual(
    report.findings?.map(({ kind }) => kind),
    ['line_without_row', 'line_without_row'],
  )
  const { results, findings } = read(...linesOf('Out of Range'))
  assert.deepEqual([results.length, findings], [4, []])
})
