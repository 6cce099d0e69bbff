// What is doubtful about a reading: each kind by rows as a stage that misread a page would give them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { MetadataPlaces } from '../heading/metadata.ts'
import type { PageText } from '../pages/page.ts'
import type { Row } from '../tables/row-parts.ts'
import { readLinesOfPage } from '../tables/tables.ts'
import { collectFindings, isParticular } from './findings.ts'
import { isNamed, understand } from './read-report.ts'
import { toResult } from './result.ts'

const HEADER: PlacedText[] = [
  [40, 'Test'],
  [220, 'Result'],
  [300, 'Units'],
  [380, 'Reference Range'],
]
const [TOP, PITCH] = [40, 14]

/** A row that was read from a line of `reading`, by its number from 0. */
const rowIn = (line: number, fields: Partial<Row>): Row => {
  const box = { left: 40, right: 500, top: TOP + line * PITCH, bottom: TOP + line * PITCH + 10 }
  return {
    page: 1,
    box,
    value_box: { ...box, left: 220, right: 250 },
    name: 'Glucose',
    value: '95',
    unit: 'mg/dL',
    range_lines: ['70 - 99'],
    flag: null,
    panel: null,
    section: null,
    specimen: null,
    method: null,
    date: null,
    confidence: 1,
    comments: [],
    ...fields,
  }
}

function findings(lines: PlacedText[][], rows: Row[], places: MetadataPlaces = {}) {
  const page = pageOfLines(lines, PITCH)
  const results = rows.map((row) => toResult(row, { sex: null, age: null }))
  const { rows: ofRows, report } = collectFindings(
    { pages: [{ page, lines: readLinesOfPage(page) }], rows, results, places },
    { isNamed },
  )
  return { rows: ofRows.map((item) => item.map(({ kind }) => kind)), report: report.map(({ kind }) => kind) }
}

/** The kinds of findings of a row alone, whose line has what the row says. */
function ofRow(fields: Partial<Row>): string[] {
  const row = rowIn(0, fields)
  const texts: PlacedText[] = [
    [40, row.name],
    [220, row.value || '-'],
    [300, row.unit ?? ''],
    [380, row.range_lines.join(' ')],
  ]
  return findings([texts.filter(([, text]) => text)], [row]).rows[0]!
}

const line = (name: string, value = '', unit = '', range = ''): PlacedText[] =>
  (
    [
      [40, name],
      [220, value],
      [300, unit],
      [380, range],
    ] as PlacedText[]
  ).filter(([, text]) => text)

describe('a row', () => {
  test('that is as reports print them has no finding', () => {
    assert.deepEqual(ofRow({}), [])
    assert.deepEqual(ofRow({ name: 'CA 19-9', value: '12.5', unit: 'U/mL', range_lines: ['<35'] }), [])
    assert.deepEqual(ofRow({ name: 'Vitamin B12', value: '455', unit: 'pg/mL', range_lines: ['232 - 1245'] }), [])
    assert.deepEqual(ofRow({ name: 'ANA titer', value: '1:80', unit: null, range_lines: [] }), [])
    assert.deepEqual(ofRow({ name: 'Urine glucose', value: '(-)', unit: null, range_lines: ['(-)'] }), [])
    assert.deepEqual(ofRow({ name: 'HBsAg', value: 'Non-Reactive', unit: null, range_lines: ['Non-Reactive'] }), [])
    assert.deepEqual(
      ofRow({ name: 'Progesterone', value: '4', unit: 'ng/mL', range_lines: ['Follicular: 0.1-0.9', 'Luteal: 2-24'] }),
      [],
    )
  })

  for (const unit of ['70 - 99', '<5.7', '08/11/2022', '09:05', 'Negative', '104'])
    test(`whose unit is ${unit} is doubtful, and the result has no unit`, () => {
      assert.deepEqual(ofRow({ unit }), ['unit_is_no_unit'])
      assert.equal(toResult(rowIn(0, { unit }), { sex: null, age: null }).units, null)
    })

  for (const name of [
    'RDW 11.6 to 15.4',
    'Sodium 138.5',
    'Provider A. Example 09:05',
    'Report of 08/11/2022',
    'Ferritin <30',
    'IU/mL',
  ])
    test(`whose name is ${name} has a value in its name`, () => assert.deepEqual(ofRow({ name }), ['name_holds_a_value']))

  for (const name of [
    'Non-',
    'HIV 1/2 Antigen/',
    'Folate (Folic',
    'Mean Corpuscular Hemoglobin of',
    'peroxidase (TPO)',
    ') Ratio',
    '(Bicarbonate)',
    'M (IgM)',
  ])
    test(`whose name is ${name} is cut off`, () => assert.deepEqual(ofRow({ name }), ['name_is_incomplete']))

  test('whose name begins with other words before a name that laboratories use is doubtful', () => {
    for (const name of ['Clotting screen Prothrombin time', 'FUNCTION Calcium, Total', 'Test description'])
      assert.deepEqual(ofRow({ name }), ['name_holds_a_heading'])
    for (const name of ['CD4 % of Lymphocytes', 'Hemoglobin A1c/Total Hemoglobin', 'Percentage of Neutrophils'])
      assert.deepEqual(ofRow({ name }), [], name)
  })

  for (const value of [
    '09:05',
    '08/11/2022',
    '12 Mar 2024',
    '',
    'Non-',
    '1.030)',
    'Normal',
    '1.2.3',
    '5,4,3',
    '~12',
    '105 b',
    '30-',
  ])
    test(`whose value is ${value || 'empty'} has no result`, () => assert.deepEqual(ofRow({ value }), ['value_is_no_result']))

  test('whose value is a titer or a range has a result', () => {
    for (const value of ['1:40', '<1:40', '4 - 6']) assert.deepEqual(ofRow({ value, unit: null, range_lines: [] }), [], value)
  })

  test('whose range is invalid, or is a thousand times as high as the value, is doubtful', () => {
    assert.deepEqual(ofRow({ range_lines: ['70 99 01'] }), ['range_is_not_understood'])
    assert.deepEqual(ofRow({ name: 'Hematocrit', value: '0.4', unit: 'L/L', range_lines: ['375 - 510'] }), [
      'value_is_far_from_range',
    ])
  })

  for (const [flag, value] of [
    ['high', '95'],
    ['low', '105'],
    ['normal', '105'],
    ['abnormal', '95'],
  ] as const)
    test(`of ${value} with 70 - 99 and the flag ${flag} contradicts itself`, () => {
      assert.deepEqual(ofRow({ flag, value }), ['flag_contradicts_range'])
    })

  test('in a line about the patient is among the particulars', () => {
    const lines: PlacedText[][] = [
      [
        [40, 'Fictional Person'],
        [200, '1980-01-22'],
        [300, 'A. Example, MD'],
        [420, '3391015'],
      ],
    ]
    const box = { left: 200, right: 250, top: TOP, bottom: TOP + 10 }
    const row = rowIn(0, { name: 'Fictional Person A. Example, MD', value: '3391015', unit: null, range_lines: [] })
    assert.deepEqual(findings(lines, [row], { dob: { page: 1, box } }).rows[0]![0], 'among_particulars')
  })
})

describe('a table', () => {
  const names = ['Glucose', 'Sodium', 'Chloride', 'Calcium']
  const whole = names.map((name, index) => rowIn(index + 1, { name, value: `9${index}` }))
  const printed = names.map((name, index) => line(name, `9${index}`, 'mg/dL', '70 - 99'))

  test('that was read as it is printed has no finding', () => {
    assert.deepEqual(findings([HEADER, ...printed], whole), { rows: [[], [], [], []], report: [] })
  })

  test('whose column of ranges was lost is doubtful, row by row', () => {
    const rows = whole.map((row) => ({ ...row, range_lines: [] }))
    for (const kinds of findings([HEADER, ...printed], rows).rows) assert(kinds.includes('range_is_missing'), String(kinds))
  })

  test('with a column that no cell fell into is doubtful', () => {
    const lines = names.map((name, index) => line(name, `9${index}`, '', '70 - 99'))
    const rows = whole.map((row) => ({ ...row, unit: null }))
    assert.deepEqual(
      findings([HEADER, ...lines], rows).rows,
      names.map(() => ['column_is_empty']),
    )
  })

  test('has a doubtful row if text of its line is in no field of the row', () => {
    const lines = printed.with(1, line('Sodium in serum', '91', 'mg/dL', '70 - 99'))
    assert.deepEqual(findings([HEADER, ...lines], whole).rows, [[], ['text_not_read'], [], []])
  })

  test('has a doubtful row next to a result with a comparator, of which only the number is in a field', () => {
    const lines = printed.with(1, line('ASMA', '<1:20', '', '1:20'))
    const rows = whole.with(1, rowIn(2, { name: 'ASMA', value: '1:20', unit: null, range_lines: [] }))
    assert.deepEqual(findings([HEADER, ...lines], rows).rows[1], ['text_not_read'])
  })

  test('has a doubtful row whose name goes on in the heading of the next one', () => {
    const lines = [line('Alkaline', '80', 'U/L', '30 - 120'), line('Phosphatase'), line('Sodium', '140', 'mmol/L', '135 - 145')]
    const rows = [
      rowIn(1, { name: 'Alkaline', value: '80', unit: 'U/L', range_lines: ['30 - 120'] }),
      rowIn(3, { name: 'Sodium', value: '140', unit: 'mmol/L', range_lines: ['135 - 145'], panel: 'Phosphatase' }),
    ]
    assert.deepEqual(findings([HEADER, ...lines], rows).rows, [['name_is_incomplete'], []])
  })

  test('has doubtful rows around a line that belongs to no row', () => {
    const lines = printed.toSpliced(2, 0, line('Antibody'))
    const rows = whole.map((row, index) => (index < 2 ? row : rowIn(index + 2, row)))
    rows.splice(2, 2, rowIn(4, { name: 'Chloride', value: '92' }), rowIn(5, { name: 'Calcium', value: '93' }))
    assert.deepEqual(findings([HEADER, ...lines], rows), {
      rows: [[], ['line_without_row'], ['line_without_row'], []],
      report: [],
    })
  })

  test('asks for a person if a line with a value is in no result', () => {
    const rows = whole.toSpliced(1, 1)
    assert.deepEqual(findings([HEADER, ...printed], rows).report, ['line_without_row'])
  })

  test('has a doubtful row below a word that is cut off, though another row has that word', () => {
    const lines = [line('HIV', 'Semi-Reactive', '', 'Non-Reactive'), [[220, 'Semi-']] as PlacedText[], line('RPR', 'Reactive')]
    const rows = [
      rowIn(1, { name: 'HIV', value: 'Semi-Reactive', unit: null, range_lines: ['Non-Reactive'] }),
      rowIn(3, { name: 'RPR', value: 'Reactive', unit: null, range_lines: [] }),
    ]
    assert(findings([HEADER, ...lines], rows).rows[1]!.includes('line_without_row'))
  })

  test('of which nothing was read asks for a person, and a table of categories does not', () => {
    const [first, ...others] = printed
    assert.deepEqual(
      findings([HEADER, first!, HEADER, ...others], [whole[0]!]).report,
      others.map(() => 'line_without_row'),
    )
    const categories = ['Optimal', 'Borderline', 'High'].map((name) => line(name, '< 100', '130-159'))
    assert.deepEqual(findings([HEADER, first!, HEADER, ...categories], [whole[0]!]).report, [])
  })

  test('has doubtful rows where columns without a known meaning contain numbers, and no range was read', () => {
    const header: PlacedText[] = [...HEADER.slice(0, 3), [380, 'Beginning'], [460, 'Ending']]
    const lines = names.map((name, index): PlacedText[] => [...line(name, `9${index}`, 'mg/dL', '70'), [460, '99']])
    const rows = whole.map((row) => ({ ...row, range_lines: [] }))
    for (const kinds of findings([header, ...lines], rows).rows) assert.deepEqual(kinds, ['text_not_read'])
  })

  test('has a doubtful row where one value outside of its range has no flag, and others have', () => {
    const rows = whole.map((row, index) => ({ ...row, value: '150', flag: index === 2 ? null : ('high' as const) }))
    const lines = names.map((name) => line(name, '150', 'mg/dL', '70 - 99'))
    assert.deepEqual(findings([HEADER, ...lines], rows).rows, [[], [], ['flag_is_missing'], []])
  })

  test('has no doubtful row where a word that is not as expected has no flag either', () => {
    const ranged = (value: string, range: string, flag: 'high' | null) => ({ value, range_lines: [range], flag })
    const cells = [
      ranged('150', '70 - 99', null),
      ranged('Positive', 'Negative', null),
      ranged('Present', 'Absent', 'high'),
      ranged('90', '70 - 99', null),
    ]
    const rows = whole.map((row, index) => ({ ...row, ...cells[index]! }))
    const lines = names.map((name, index) => line(name, cells[index]!.value, '', cells[index]!.range_lines[0]!))
    assert.deepEqual(findings([HEADER, ...lines], rows).rows, [[], [], [], []])
  })

  test('of which most rows are doubtful in their columns is doubtful as a whole', () => {
    const rows = whole.map((row, index) => (index ? { ...row, unit: '70 - 99' } : row))
    assert.deepEqual(findings([HEADER, ...printed], rows).rows[0], ['table_is_doubtful'])
  })
})

describe('a table of a page that was read from a picture', () => {
  const read = (unread: PageText['unread'], lines: PlacedText[][], rows: Row[]) => {
    const page: PageText = { ...pageOfLines(lines, PITCH), source: 'ocr', ...(unread && { unread }) }
    const results = rows.map((row) => toResult(row, { sex: null, age: null }))
    return collectFindings({ pages: [{ page, lines: readLinesOfPage(page) }], rows, results, places: {} }, { isNamed })
  }
  const names = ['Glucose', 'Sodium', 'Chloride']
  const printed = names.map((name, index) => line(name, `9${index}`, 'mg/dL', '70 - 99'))
  const rows = names.map((name, index) => rowIn(index + 1, { name, value: `9${index}` }))
  const boxAt = (row: number) => ({ left: 320, right: 340, top: TOP + row * PITCH, bottom: TOP + row * PITCH + 10 })

  test('has a doubtful row next to a text without a recognized letter', () => {
    const found = read([boxAt(2)], [HEADER, ...printed], rows)
    assert.deepEqual(
      found.rows.map((item) => item.map(({ kind }) => kind)),
      [[], ['letters_not_read'], []],
    )
    assert.deepEqual(found.report, [])
  })

  test('asks for a review if a row was not recognized, or if the value next to a name is missing', () => {
    const [first, , last] = rows
    const without = read([boxAt(2)], [HEADER, printed[0]!, [], printed[2]!], [first!, last!])
    assert.deepEqual(
      without.report.map(({ kind, box }) => [kind, box.top]),
      [['letters_not_read', TOP + 2 * PITCH]],
    )
    const alone = read(undefined, [HEADER, printed[0]!, line('Sodium'), printed[2]!], [first!, last!])
    assert.deepEqual(
      alone.report.map(({ kind }) => kind),
      ['line_without_row'],
    )
  })

  test('has a doubtful row where only its range was not read', () => {
    const rowsRead = rows.map((row, index) => (index === 1 ? { ...row, range_lines: [] } : row))
    const lines = printed.with(1, line('Sodium', '91', 'mg/dL'))
    assert.deepEqual(
      read(undefined, [HEADER, ...lines], rowsRead).rows.map((item) => item.map(({ kind }) => kind)),
      [[], ['range_is_missing'], []],
    )
  })

  test('has no finding for a text outside of it, or one that is as low as a rule', () => {
    const outside = { left: 40, right: 90, top: 700, bottom: 712 }
    const { rows: ofRows, report } = read([outside, { ...boxAt(2), bottom: TOP + 2 * PITCH + 2 }], [HEADER, ...printed], rows)
    assert.deepEqual([ofRows, report], [[[], [], []], []])
  })
})

test('labels, former results, methods in brackets and headings raise no doubt', () => {
  const lines: PlacedText[][] = [
    [...HEADER, [480, 'Previous']],
    line('Electrolytes'),
    [...line('Sodium', '140', 'mmol/L', '135 - 145'), [480, '138']],
    line('(Calculated)'),
    [...line('Potassium', '4.1', 'mmol/L', '3.5 - 5.1'), [480, '4.4']],
    line('(ISE, indirect)'),
    [...line('Chloride', '101', 'mmol/L', '98 - 107'), [480, '99']],
    line('(Calculated)'),
    line('Results relate to the specimen as it was received.'),
  ]
  const rows = [
    rowIn(2, { name: 'Sodium', value: '140', unit: 'mmol/L', range_lines: ['135 - 145'], panel: 'Electrolytes' }),
    rowIn(4, { name: 'Potassium', value: '4.1', unit: 'mmol/L', range_lines: ['3.5 - 5.1'], panel: 'Electrolytes' }),
    rowIn(6, { name: 'Chloride', value: '101', unit: 'mmol/L', range_lines: ['98 - 107'], panel: 'Electrolytes' }),
  ]
  assert.deepEqual(findings(lines, rows), { rows: [[], [], []], report: [] })
})

test('a row with a finding is less certain than 0.9, and one without is as certain as its words', () => {
  const page = pageOfLines([HEADER, line('Glucose', '95', 'mg/dL', '70 - 99'), line('Sodium', '1400', 'mmol/L', '135 - 145')])
  const { results, findings: ofReport } = understand([page])
  assert.deepEqual(ofReport, [])
  assert.deepEqual(
    results.map(({ findings: found, place }) => [found.length > 0, place.confidence]),
    [
      [false, 1],
      [true, 0.5],
    ],
  )
})

test('text outside of all results has its place on the page', () => {
  const page = pageOfLines([
    HEADER,
    line('Glucose', '95', 'mg/dL', '70 - 99'),
    line('', '7.7', 'mmol/L', '4 - 6'),
    line('Sodium', '140', 'mmol/L', '135 - 145'),
  ])
  const { findings: found } = understand([page])
  assert.deepEqual(
    found!.map(({ kind, page: number, box }) => [kind, number, box.top]),
    [['line_without_row', 1, TOP + 2 * PITCH]],
  )
})

test('two numbers of similar size that could be one with groups of digits are doubtful', () => {
  const kinds = (line: string) =>
    understand([pageOfLines([[[40, line]]])]).results.flatMap(({ findings }) => findings.map(({ kind }) => kind))
  for (const line of ['Beta hCG 120 118 mIU/mL', 'Beta hCG 512 498 mIU/mL'])
    assert.deepEqual(kinds(line), ['value_is_no_result'], line)
  for (const line of ['Ferritin 1 234 ng/mL', 'Platelets 250 000 /uL']) assert.deepEqual(kinds(line), [], line)
})

test('an unknown name among known ones of its list outside the tables is no doubtful one, and an unknown name elsewhere is', () => {
  const doubtsOf = (names: readonly string[]) => {
    const lines: PlacedText[][] = [
      [[40, 'URINE R/E']],
      ...names.map((name): PlacedText[] => [
        [40, name],
        [220, ': Nil'],
      ]),
      HEADER,
      line('Glucose', '95', 'mg/dL', '70 - 99'),
    ]
    const list = names.map((name, index) =>
      rowIn(index + 1, { name, value: 'Nil', unit: null, range_lines: [], panel: 'URINE R/E' }),
    )
    return findings(lines, [...list, rowIn(names.length + 2, {})]).rows.map((kinds) => kinds.includes('name_is_unknown'))
  }
  assert.deepEqual(doubtsOf(['Protein', 'Glucose', 'Ketones', 'Bilirubin', 'Sediment xyz']), Array(6).fill(false))
  assert.deepEqual(doubtsOf(['Protein', 'Sediment xyz', 'Walking', 'Sleep']), [false, true, true, true, false])
})

test('a time in a line about the patient is none of a result, and a row of a test is one', () => {
  const places: MetadataPlaces = { dob: { page: 1, box: rowIn(1, {}).box } }
  const isOne = (fields: Partial<Row>, line = 1) => isParticular(rowIn(line, fields), places, { isNamed })
  assert.equal(isOne({ name: 'FATIMA SAMPLE', value: '08:35', unit: 'L/L' }), true)
  assert.equal(isOne({ name: 'FATIMA SAMPLE', value: '08:35', unit: 'L/L' }, 5), false)
  assert.equal(isOne({ name: 'Glucose', value: '08:35' }), false)
})
