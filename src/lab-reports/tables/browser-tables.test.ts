// Tables as browsers print them: wrapped cells in drawn rows, notes below names, headings within tables, particulars beside them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Box, PageText } from '../pages/page.ts'
import { understand } from '../reading/read-report.ts'

type Text = [top: number, left: number, text: string]

/** Letters are 5 points wide and 10 high; between words are 3 points. @param rules heights of lines over the width of the table */
function pageOfTexts(texts: readonly Text[], rules: readonly number[] = []): PageText {
  const words = texts.flatMap(([top, left, text]) => {
    let x = left
    return text.split(' ').map((word) => {
      const box = { left: x, right: x + word.length * 5, top, bottom: top + 10 }
      x = box.right + 3
      return { text: word, box, confidence: 1, font: 'regular' }
    })
  })
  const lines = rules.map((top): Box => ({ left: 30, right: 560, top, bottom: top + 1 }))
  return { number: 1, width: 612, height: 792, source: 'text', words, drawings: { lines, areas: [] } }
}
const readResults = (texts: readonly Text[], rules?: readonly number[]) => understand([pageOfTexts(texts, rules)]).results
const readRows = (texts: readonly Text[], rules?: readonly number[]) =>
  readResults(texts, rules).map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation])
const readPanels = (texts: readonly Text[], rules?: readonly number[]) =>
  readResults(texts, rules).map(({ test_name, source_panel_name }) => [test_name, source_panel_name])

const PLACES = [36, 240, 320, 420]
const line = (top: number, ...cells: string[]): Text[] =>
  cells.flatMap((text, index): Text[] => (text ? [[top, PLACES[index]!, text]] : []))
const HEADER = line(100, 'Test', 'Result', 'Units', 'Reference Range')

describe('wrapped cells', () => {
  test('results, units and ranges that go on in the next line of a drawn row are one text each', () => {
    assert.deepEqual(
      readRows(
        [
          ...HEADER,
          ...line(120, 'Hepatitis B Surface Antigen', 'Non-', '', 'Non-'),
          ...line(131, '', 'Reactive', '', 'Reactive'),
          ...line(150, 'Hepatitis C Antibody', 'Reactive', '', 'Non-'),
          ...line(161, '', '', '', 'Reactive'),
          ...line(180, 'WBC', '5.1', '10³/', '3.4 - 10.8'),
          ...line(191, '', '', 'µL', ''),
          ...line(210, 'Platelet Count', '1,79,294', '/cumm', '1,50,000 - 4,50,000'),
        ],
        [114, 144, 174, 204, 224],
      ),
      [
        ['Hepatitis B Surface Antigen', 'Non-Reactive', null, 'normal'],
        ['Hepatitis C Antibody', 'Reactive', null, 'abnormal'],
        ['WBC', '5.1', '10³/µL', 'normal'],
        ['Platelet Count', '1,79,294', '/cumm', 'normal'],
      ],
    )
  })

  test('classes of risk above the line of the name and its result are its range, and not that of the row above', () => {
    const results = readResults(
      [
        ...HEADER,
        ...line(120, 'Sedimentation Rate', '13', 'mm/h', '0 - 32'),
        ...line(140, '', '', '', 'Low risk: <1.0'),
        ...line(151, '', '', '', 'Average risk: 1.0-3.0'),
        ...line(162, 'C-Reactive Protein', '5', 'mg/L', 'High risk: >3.0'),
        ...line(182, 'Ferritin', '103', 'ng/mL', '15 - 150'),
      ],
      [114, 134, 176, 196],
    )
    assert.deepEqual(
      results.map(({ test_name, min_reference_range, findings }) => [test_name, min_reference_range, findings]),
      [
        ['Sedimentation Rate', 0, []],
        ['C-Reactive Protein', null, []],
        ['Ferritin', 15, []],
      ],
    )
    assert.equal(results[0]!.max_reference_range, 32)
  })

  test('a method below a name, in the line of the result, is no name, and the name above is no panel', () => {
    const texts = [
      ...HEADER,
      ...line(114, 'Bone profile'),
      ...line(134, 'Calcium'),
      ...line(145, 'Method: Arsenazo III', '9.5', 'mg/dL', '8.6 - 10.3'),
      ...line(164, 'Albumin'),
      ...line(175, 'Method: BCG', '3.7', 'g/dL', '3.5 - 5.2'),
      ...line(194, 'Magnesium'),
      ...line(205, 'Method: Xylidyl blue', '2.4', 'mg/dL', '1.6 - 2.6'),
    ]
    assert.deepEqual(readPanels(texts), [
      ['Calcium', 'Bone profile'],
      ['Albumin', 'Bone profile'],
      ['Magnesium', 'Bone profile'],
    ])
  })

  test('a method in brackets and smaller letters, in the line of the result, is no name', () => {
    const page = pageOfTexts([
      ...HEADER,
      ...line(134, 'Urea'),
      ...line(145, '(Urease GLDH)', '26.8', 'mg/dL', '15 - 40'),
      ...line(164, 'Uric Acid'),
      ...line(175, '(Uricase)', '5.4', 'mg/dL', '3.5 - 7.2'),
    ])
    const words = page.words.map((word) =>
      word.box.left < 240 && [145, 175].includes(word.box.top) ? { ...word, box: { ...word.box, top: word.box.top + 2 } } : word,
    )
    assert.deepEqual(
      understand([{ ...page, words }]).results.map(({ test_name, value }) => [test_name, value]),
      [
        ['Urea', '26.8'],
        ['Uric Acid', '5.4'],
      ],
    )
  })

  test('a name goes on in the next line if gaps between rows are clearly larger, although notes follow each name', () => {
    const texts = [
      ...HEADER,
      ...line(120, 'Follicle Stimulating', '6.6', 'mIU/mL', '1.5 - 12.4'),
      ...line(136, 'Hormone'),
      ...line(151, 'Method: ECLIA'),
      ...line(180, 'Luteinizing Hormone', '4.1', 'mIU/mL', '1.7 - 8.6'),
      ...line(195, 'Method: ECLIA'),
      ...line(224, 'Prolactin', '19.9', 'ng/mL', '4.8 - 23.3'),
      ...line(239, 'Method: ECLIA'),
    ]
    assert.deepEqual(readPanels(texts), [
      ['Follicle Stimulating Hormone', null],
      ['Luteinizing Hormone', null],
      ['Prolactin', null],
    ])
  })

  test('the title of an explanation below a row is no part of the name', () => {
    const texts = [
      ...HEADER,
      ...line(120, 'HbA1c', '5.3', '%', '4.0 - 5.6'),
      ...line(140, 'Vitamin D, 25 Hydroxy', '85', 'nmol/L', '75 - 250'),
      ...line(151, 'Interpretation'),
    ]
    assert.deepEqual(
      readRows(texts, [114, 134, 170]).map(([name]) => name),
      ['HbA1c', 'Vitamin D, 25 Hydroxy'],
    )
  })
})

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

describe('headings', () => {
  const ROWS = [
    ...line(240, 'Glucose', '92', 'mg/dL', '70 - 99'),
    ...line(260, 'Sodium', '140', 'mmol/L', '135 - 145'),
    ...line(280, 'Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
  ]
  const header = line(220, 'Test', 'Result', 'Units', 'Reference Range')
  const LETTERHEAD: Text[] = [
    [20, 36, 'Mocktown Clinic Laboratory'],
    [40, 36, '48 Fictional Avenue, Exampleton'],
  ]

  test('the letterhead and the name above the particulars are no panels, in every form of particulars', () => {
    const forms: Text[][] = [
      [
        [80, 36, 'PLACEHOLT, JANE'],
        [100, 36, 'Date of Birth: 04/02/1962'],
        [100, 240, 'Gender: Female'],
      ],
      [
        [80, 36, 'Name'],
        [80, 120, ': Placeholt, Jane'],
        [80, 300, 'DOB'],
        [80, 400, ': 04/02/1962'],
        [95, 36, 'Sex'],
        [95, 120, ': Female'],
        [95, 300, 'Patient ID'],
        [95, 400, ': 4931001'],
      ],
    ]
    for (const form of forms)
      assert.deepEqual(
        readPanels([...LETTERHEAD, ...form, ...header, ...ROWS]).map(([, panel]) => panel),
        [null, null, null],
      )
  })

  test('a heading in the middle of its table is a panel, and so is one that reaches over columns without a gap', () => {
    const texts: Text[] = [
      ...line(100, 'Test', 'Result', 'Units', 'Reference Range'),
      [120, 211, 'Electrolytes'],
      ...line(140, 'Sodium', '140', 'mmol/L', '135 - 145'),
      ...line(160, 'Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
      ...line(180, 'Chloride', '101', 'mmol/L', '98 - 107'),
      [200, 36, 'URINE ROUTINE EXAMINATION WITH & MICROSCOPY'],
      ...line(220, 'Protein', 'Negative', '', 'Negative'),
    ]
    assert.deepEqual(readPanels(texts), [
      ['Sodium', 'Electrolytes'],
      ['Potassium', 'Electrolytes'],
      ['Chloride', 'Electrolytes'],
      ['Protein', 'URINE ROUTINE EXAMINATION WITH & MICROSCOPY'],
    ])
  })

  test('a panel in a column of its own may stand at the end of its rows', () => {
    const row = (top: number, name: string, panel = ''): Text[] => [
      ...(panel ? ([[top, 36, panel]] satisfies Text[]) : []),
      [top, 160, name],
      [top, 300, '1.1'],
      [top, 400, 'g/L'],
    ]
    const texts: Text[] = [
      [100, 36, 'Panel'],
      [100, 160, 'Test'],
      [100, 300, 'Result'],
      [100, 400, 'Units'],
      ...row(120, 'Albumin'),
      ...row(140, 'Globulin'),
      ...row(160, 'Protein, Total', 'Proteins'),
      ...row(180, 'IgA'),
      ...row(200, 'IgG', 'Immunoglobulins'),
    ]
    assert.deepEqual(readPanels(texts), [
      ['Albumin', 'Proteins'],
      ['Globulin', 'Proteins'],
      ['Protein, Total', 'Proteins'],
      ['IgA', 'Immunoglobulins'],
      ['IgG', 'Immunoglobulins'],
    ])
  })
})

test('particulars in a column beside a table, at heights of their own, are no part of its rows', () => {
  const right = ({ 0: top, 1: left, 2: text }: Text): Text => [top, left + 130, text]
  const particulars = [
    'Name',
    'Jane Placeholt',
    'Birth Date',
    'Apr 2, 1962',
    'Sex',
    'Female',
    'MRN',
    '9587254',
    'Collected',
    'Oct 27, 2022',
  ]
  const texts: Text[] = [
    [40, 36, 'Testford Clinic Laboratory, Exampleton, Fictional Avenue'],
    ...particulars.map((text, index): Text => [80 + index * 16 + (index % 2 ? 0 : 2), 36, text]),
    ...[
      ...line(90, 'Hormones'),
      ...line(110, 'Test', 'Result', 'Units', 'Reference Range').slice(0, 3),
      ...line(130, 'Testosterone, Total', '17', 'ng/dL'),
      ...line(150, 'Sex Hormone'),
      ...line(161, 'Binding Globulin', '36.6', 'nmol/L'),
      ...line(181, 'Estradiol', '48.6', 'pg/mL'),
    ].map(right),
  ]
  const { results, metadata, findings } = understand([pageOfTexts(texts)])
  assert.deepEqual(
    results.map(({ test_name, value, units, source_panel_name, findings: ofRow }) => [
      test_name,
      value,
      units,
      source_panel_name,
      ofRow.filter(({ kind }) => kind === 'text_not_read'),
    ]),
    [
      ['Testosterone, Total', '17', 'ng/dL', 'Hormones', []],
      ['Sex Hormone Binding Globulin', '36.6', 'nmol/L', 'Hormones', []],
      ['Estradiol', '48.6', 'pg/mL', 'Hormones', []],
    ],
  )
  assert.deepEqual([metadata.patient_first_name, metadata.dob, metadata.gender, findings], ['Jane', '1962-04-02', 'female', []])
})

test('rows that begin with a day do not make names of the row above', () => {
  const row = (top: number, name: string, value: string): Text[] => [
    [top, 36, '03/20/2025'],
    [top, 120, name],
    [top, 300, value],
    [top, 360, 'ng/mL'],
    [top, 440, '0.0 - 4.0'],
  ]
  const texts = [...row(100, 'CEA', '3.4'), ...row(120, 'AFP', '2.1'), ...row(140, 'PSA', '1.2')]
  assert.deepEqual(
    readRows(texts).map(([name, value]) => [name, value]),
    [
      ['CEA', '3.4'],
      ['AFP', '2.1'],
      ['PSA', '1.2'],
    ],
  )
})

test('the address that a browser prints at the foot of a page is no result', () => {
  const texts = [
    ...HEADER,
    ...line(120, 'Glucose', '92', 'mg/dL', '70 - 99'),
    ...line(160, 'https://portal.example.org/results', '1/1'),
  ]
  assert.deepEqual(
    readRows(texts).map(([name]) => name),
    ['Glucose'],
  )
})

test('the foot of a page does not hide a table of one row, nor make its former result the result', () => {
  const texts: Text[] = [
    [100, 240, 'Previous'],
    [100, 340, 'Current'],
    [113, 36, 'Name'],
    [113, 240, '(02/01/2021)'],
    [113, 340, '(10/06/2021)'],
    [113, 440, 'Units'],
    [130, 36, 'DHEA Sulfate'],
    [130, 260, '2.4'],
    [130, 360, '2.6'],
    [130, 440, 'µmol/L'],
    [700, 36, 'Placeholder Laboratory of Exampleton, Fictional Avenue 48'],
    [700, 330, 'Telephone 555-0177'],
    [720, 36, 'file:///portal/results/report-of-a-patient.html'],
    [720, 500, '2/2'],
  ]
  assert.deepEqual(
    readRows(texts).map(([name, value]) => [name, value]),
    [['DHEA Sulfate', '2.6']],
  )
})

test('a code of a laboratory below Site is no unit, also where it looks like one', () => {
  const cells = (top: number, ...texts: string[]): Text[] =>
    texts.flatMap((text, index) => (text ? [[top, [36, 200, 270, 360, 500][index]!, text] as Text] : []))
  const texts = [
    ...cells(100, 'Test Name', 'In Range', 'Out Of Range', 'Reference Range', 'Site'),
    ...cells(120, 'Total Protein', '6.3', '', '6.0 - 8.5 g/dL', 'NG'),
    ...cells(140, 'BUN/Creatinine Ratio', '', '26', '9 - 23', 'NG'),
  ]
  assert.deepEqual(readRows(texts), [
    ['Total Protein', '6.3', 'g/dL', 'normal'],
    ['BUN/Creatinine Ratio', '26', null, 'abnormal'],
  ])
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

test('a name above the line of its result goes on there if it does not end, or if what stands there begins no name', () => {
  const texts = [
    ...HEADER,
    ...line(120, 'HDL Cholesterol', '45', 'mg/dL', '40 - 80'),
    ...line(132, 'LDL Cholesterol,'),
    ...line(143, 'Calculated', '107', 'mg/dL', '0 - 100'),
    ...line(155, 'Immunoglobulin A'),
    ...line(166, '(IgA)', '249', 'mg/dL', '87 - 352'),
    ...line(178, 'Ferritin', '103', 'ng/mL', '15 - 150'),
  ]
  assert.deepEqual(
    readRows(texts).map(([name, value]) => [name, value]),
    [
      ['HDL Cholesterol', '45'],
      ['LDL Cholesterol, Calculated', '107'],
      ['Immunoglobulin A (IgA)', '249'],
      ['Ferritin', '103'],
    ],
  )
})

test('a name is not parted at a slash, so that one before a slash may have had no room in the line above', () => {
  const texts = [
    ...HEADER,
    ...line(120, 'Triglycerides', '106', 'mg/dL', '0 - 149'),
    ...line(140, 'HDL Cholesterol', '45', 'mg/dL', '40 - 80'),
    ...line(160, 'Total'),
    ...line(171, 'Cholesterol/HDL', '3.6', '', '0.0 - 4.0'),
    ...line(182, 'Ratio'),
  ]
  assert.deepEqual(
    readRows(texts).map(([name]) => name),
    ['Triglycerides', 'HDL Cholesterol', 'Total Cholesterol/HDL Ratio'],
  )
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

test('the day on which a specimen was taken does not belong to the heading of its panel', () => {
  assert.deepEqual(
    readPanels([
      ...HEADER,
      ...line(120, 'Trace Metals Collected 03.09.2024'),
      ...line(135, 'Zinc', '88', 'ug/dL', '60 - 120'),
      ...line(150, 'Copper', '91', 'ug/dL', '70 - 140'),
    ]),
    [
      ['Zinc', 'Trace Metals'],
      ['Copper', 'Trace Metals'],
    ],
  )
})

test('units below the names of some rows are their units', () => {
  assert.deepEqual(
    readRows([
      ...line(100, 'Test', 'Result', '', 'Reference Range'),
      ...line(120, 'Glucose', '88', '', '70 - 99'),
      [131, 36, 'mg/dL'],
      ...line(150, 'Sodium', '140', '', '136 - 145'),
      [161, 36, 'mmol/L'],
      ...line(180, 'pH', '7.40', '', '7.35 - 7.45'),
    ]).map(([name, value, units]) => [name, value, units]),
    [
      ['Glucose', '88', 'mg/dL'],
      ['Sodium', '140', 'mmol/L'],
      ['pH', '7.40', null],
    ],
  )
})

test('the title of the page above a label does not belong to the label', () => {
  const { metadata } = understand([
    pageOfTexts([
      [40, 36, 'Laboratory Report'],
      [52, 36, 'Patient'],
      [52, 120, 'Ann Example'],
      [64, 36, 'Date of Birth'],
      [64, 120, '1980-01-22'],
      [76, 36, 'Sex'],
      [76, 120, 'Female'],
      ...HEADER,
      ...line(120, 'Zinc', '88', 'ug/dL', '60 - 120'),
    ]),
  ])
  assert.deepEqual([metadata.patient_first_name, metadata.patient_last_name], ['Ann', 'Example'])
})
