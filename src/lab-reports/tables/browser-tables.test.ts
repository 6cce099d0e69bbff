// Tables as browsers print them: wrapped cells in drawn rows, notes below names, headings within tables, particulars beside them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER, line, pageOfTexts, readPanels, readResults, readRows, type Text } from '../../../test/support/browser-pages.ts'
import { understand } from '../reading/read-report.ts'

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

test('a result goes on in the next line behind a word that says the opposite of it, in the last row of a table as well', () => {
  for (const [begin, rest, whole] of [
    ['Non-', 'Reactive', 'Non-Reactive'],
    ['Not', 'Detected', 'Not Detected'],
  ])
    assert.deepEqual(
      readRows([
        ...HEADER,
        ...line(118, 'Hepatitis B Surface Antigen', 'Positive', '', whole!),
        ...line(138, 'Hepatitis C Virus', begin!, '', whole!),
        ...line(150, 'Antibody', rest!),
      ]).map(([name, value, , interpretation]) => [name, value, interpretation]),
      [
        ['Hepatitis B Surface Antigen', 'Positive', 'abnormal'],
        ['Hepatitis C Virus Antibody', whole, 'normal'],
      ],
    )
})

test('the rest of a name below a row without a panel is part of it, where only both are a name', () => {
  assert.deepEqual(
    readRows([
      ...HEADER,
      ...line(120, 'Thyroid Stimulating', '1.2', 'mIU/L', '0.4 - 4.5'),
      ...line(136, 'Hormone'),
      ...line(152, 'Sodium', '140', 'mmol/L', '135 - 145'),
      ...line(168, 'Potassium', '4.1', 'mmol/L', '3.5 - 5.1'),
    ]).map(([name]) => name),
    ['Thyroid Stimulating Hormone', 'Sodium', 'Potassium'],
  )
})

test('the names of columns and the rows of a table that explains results are no results', () => {
  const texts = [
    ...HEADER,
    ...line(120, 'TSH', '3.91', 'uIU/mL', '0.27 - 4.20'),
    ...line(140, 'Free T4', '1.12', 'ng/dL', '0.93 - 1.70'),
    ...line(170, 'Pregnancy', 'TSH in uIU/mL'),
    ...line(190, '1st Trimester', '0.100 - 2.500'),
    ...line(210, '2ndTrimester', '0.200 - 3.000'),
  ]
  assert.deepEqual(
    readRows(texts).map(([name, value]) => [name, value]),
    [
      ['TSH', '3.91'],
      ['Free T4', '1.12'],
    ],
  )
})
