// In the style of laboratories of India.
import type { Layout } from '../language.ts'
import { SPELLINGS } from '../units.ts'
import { columns, fields, rule, text } from './blocks.ts'
import { indian } from './india-base.ts'

export const india: Layout[] = [
  {
    ...indian,
    name: 'in-chain-a',
    lab: { name: 'Suraksham Pathology Labs', address: 'Plot 7, Invented Nagar, Sampleville 000001', phone: '555-0122' },
    specimen: '##########',
    units: SPELLINGS.indianCount,
    panels: ['cbc_shares', 'liver', 'renal', 'lipids', 'thyroid_total', 'diabetes', 'vitamins'],
    panelCount: 3,
    ranges: { bothSexes: '{l} - {h}', max: '< {h}', min: '> {l}', bySex: ['Male : {m}', 'Female : {f}'], decisionLimits: true },
    remarks: 0.08,
    head: [
      { kind: 'text', text: '{lab}', bold: true, size: 16, align: 'center', color: '#a02020' },
      { kind: 'text', text: '{labAddress}   Tel: {labPhone}', size: 7, align: 'center' },
      { kind: 'rule', weight: 1.2 },
      {
        kind: 'fields',
        labelWidth: 78,
        shares: [1.2, 1],
        rows: [
          [
            ['Patient Name', '{name}'],
            ['Collected', '{collected}'],
          ],
          [
            ['Age / Gender', '{age} Y / {sex}'],
            ['Received', '{received}'],
          ],
          [
            ['Lab No.', '{specimen}'],
            ['Reported', '{reported}'],
          ],
          [
            ['Ref. By', '{physician}'],
            ['Report Status', 'Final'],
          ],
          [
            ['UHID', 'UH{mrn}'],
            ['Centre', 'Home visit'],
          ],
        ],
      },
      { kind: 'rule' },
    ],
    first: [],
    foot: [
      { kind: 'rule' },
      { kind: 'text', text: 'Page {page} of {pages}', align: 'right', size: 7 },
      {
        kind: 'text',
        text: 'This is a computer generated report. Results relate to the sample tested only.',
        size: 6.5,
        align: 'center',
      },
    ],
    body: {
      kind: 'table',
      rules: 'header',
      columns: [
        { title: 'Test Name', width: 40, cell: '{name}[\n({method})]', smallLines: 6.5 },
        { title: 'Results', width: 16, cell: '{value}', bold: 'abnormal' },
        { title: 'Units', width: 16, cell: '{units}' },
        { title: 'Bio. Ref. Interval', width: 28, cell: '{range}' },
      ],
      panel: { heading: '{panel}', style: 'center', breaks: true, notes: ['interpretation', 'guideline'] },
    },
    last: [
      { kind: 'space', height: 8 },
      { kind: 'text', text: '*** End Of Report ***', align: 'center' },
      { kind: 'space', height: 14 },
      { kind: 'text', text: 'Dr. A. Mockpathologist, MD (Pathology)', align: 'right' },
    ],
  },
  {
    ...indian,
    name: 'in-wellness-package',
    lab: {
      name: 'Thyromock Technologies Limited',
      address: 'D-37, Invented Estate, Sampleville',
      phone: '555-0123',
      alsoNamed: ['Thyromock Technologies'],
    },
    names: '{FIRST} {LAST}',
    sexes: { male: 'M', female: 'F' },
    dates: { day: 'DD MMM YYYY', time: 'DD MMM YYYY HH:mm' },
    specimen: '@@#######',
    nameCase: 'upper',
    units: SPELLINGS.indianThousand,
    panels: ['iron', 'liver', 'renal', 'lipids', 'thyroid_total', 'vitamins', 'cardiac', 'metals'],
    panelCount: 3,
    ranges: {
      bothSexes: '{l} - {h}',
      max: '< {h}',
      min: '> {l}',
      bySex: ['Male : {m}', 'Female : {f}', 'Children : {c}'],
      decisionLimits: true,
    },
    emission: { pieces: 'words', order: 'values-last' },
    head: [
      text('{lab}', { bold: true, size: 14, color: '#c05a00' }),
      text('{labAddress}', { size: 7 }),
      rule(),
      fields(['NAME={name} ({age}Y/{sex})', 'REF. BY={physician}', 'TEST ASKED=AAROGYAM-STYLE PROFILE'], { labelWidth: 70 }),
    ],
    first: [],
    foot: [
      fields(
        [
          'Sample Collected on (SCT)={collected} | Barcode={specimen}',
          'Sample Received on (SRT)={received} | Labcode={order}',
          'Report Released on (RRT)={reported} | Page={page} of {pages}',
        ],
        { size: 7.5 },
      ),
    ],
    body: {
      kind: 'table',
      headerStyle: { fill: '#fbe4cf' },
      columns: [
        { title: 'TEST NAME', width: 44, cell: '{name}\n[Bio. Ref. Interval. :\n{range}]', smallLines: 7 },
        { title: 'TECHNOLOGY', width: 22, cell: '{method}' },
        { title: 'VALUE', width: 14, cell: '{value}', bold: true },
        { title: 'UNITS', width: 16, cell: '{units}' },
      ],
      panel: { heading: '{panel}', breaks: true, notes: ['interpretation'] },
    },
    last: [text('Please correlate with clinical conditions.', { bold: true }), text('~~ End of report ~~', { align: 'center' })],
  },
  {
    ...indian,
    name: 'in-hospital-grid',
    lab: { name: 'Namuna Superspeciality Hospital', address: 'Sector 0, Testborough', phone: '555-0124' },
    names: '{TITLE} {FIRST} {LAST}',
    sexes: { male: 'M', female: 'F' },
    dates: { day: 'DD-MM-YYYY', time: 'DD-MM-YYYY HH:mm' },
    specimen: '########/##',
    panels: ['cbc_shares', 'renal', 'liver', 'electrolytes', 'coagulation', 'serology', 'fever', 'blood_group'],
    panelCount: 4,
    units: SPELLINGS.plainThousand,
    flags: { low: 'L', high: 'H', abnormal: '*' },
    ranges: { bothSexes: '{l}-{h}', max: 'Up to {h}', min: 'More than {l}' },
    head: [
      text('{lab}', { bold: true, size: 13, align: 'center' }),
      text('DEPARTMENT OF LABORATORY MEDICINE', { align: 'center' }),
      fields(
        [
          'Patient Name={name} | UHID/IP No.=NSH.{mrn}',
          'Age/Gender={age} Years / {sex} | Sample No.={specimen}',
          'Doctor={physician} | Collected On={collected}',
          'Bed No./Ward=OPD | Reported On={reported}',
        ],
        { frame: 'grid', labelWidth: 76 },
      ),
    ],
    first: [],
    foot: [
      columns(
        [1, 1],
        [text('Verified by: Examplewar', { size: 7 })],
        [text('Page {page} of {pages}', { align: 'right', size: 7 })],
      ),
    ],
    body: {
      kind: 'table',
      rules: 'grid',
      headerStyle: { fill: '#dddddd' },
      columns: [
        { title: 'S.No', width: 6, cell: '{number}' },
        { title: 'Investigation', width: 34, cell: '{name}' },
        { title: 'Flag', width: 7, cell: '{flag}', align: 'center' },
        { title: 'Observed Value', width: 16, cell: '{value}', align: 'center', bold: 'abnormal' },
        { title: 'Unit', width: 15, cell: '{units}' },
        { title: 'Biological Ref. Range', width: 22, cell: '{range}' },
      ],
      panel: { heading: '{panel}', style: 'center', subheading: 'Sample Type : {sample}' },
    },
  },
]
