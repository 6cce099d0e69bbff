// In the style of laboratories of the United States.
import type { Layout } from '../language.ts'
import { SPELLINGS } from '../units.ts'
import { columns, fields, rule, space, stackFields, text } from './blocks.ts'

const american = {
  country: 'US',
  page: 'letter',
  people: 'western',
  dialect: 'us',
  names: '{LAST}, {FIRST}[ {Middle}]',
  sexes: { male: 'Male', female: 'Female' },
  dates: { day: 'MM/DD/YYYY', time: 'MM/DD/YYYY hh:mm A' },
  ranges: { bothSexes: '{l}-{h}', max: '<{h}', min: '>{l}' },
  flags: { low: 'L', high: 'H', abnormal: 'A' },
} satisfies Partial<Layout>

export const unitedStates: Layout[] = [
  {
    ...american,
    name: 'us-national-a',
    lab: { name: 'Northfield Reference Laboratories', address: '12 Example Park, Sampleville, ZZ 00001', phone: '555-0100' },
    specimen: '###-###-####-0',
    panels: ['cbc', 'cmp', 'lipids', 'thyroid', 'diabetes', 'vitamins', 'iron'],
    panelCount: 3,
    comparators: true,
    flags: { low: 'Low', high: 'High', criticalHigh: 'Alert High', criticalLow: 'Alert Low', abnormal: 'Abnormal' },
    ranges: { bothSexes: '{l} - {h}', max: '<{h}', min: '>{l}' },
    head: [
      columns([1, 1], [text('{lab}', { bold: true, size: 12 })], [text('Patient Report', { align: 'right', size: 13 })]),
      rule(),
      fields(
        [
          'Patient={name} | Specimen ID={specimen} | Date Reported={reported}',
          'DOB={dob} | Patient ID={mrn} | Account Number={account}',
        ],
        {
          size: 8,
          boldLabels: true,
        },
      ),
      space(6),
    ],
    first: [
      fields(
        [
          'Age={age} | Date Collected={collected} | Ordering Physician={physician}',
          'Sex={sex} | Date Received={received} | NPI=1234567890',
          'Phone={phone} | Fasting=Yes | Physician ID=T{account}',
        ],
        { size: 8, frame: 'box' },
      ),
      text('Ordered Items: see the headings below', { size: 8 }),
    ],
    foot: [
      rule(),
      columns(
        [2, 1],
        [text('Date Created and Stored {printed}  Final Report', { size: 7 })],
        [text('Page {page} of {pages}', { size: 7, align: 'right' })],
      ),
    ],
    body: {
      kind: 'table',
      header: 'panel',
      headerStyle: { size: 8 },
      rules: 'header',
      columns: [
        { title: 'Test', width: 34, cell: '{name}' },
        { title: 'Current Result and Flag', width: 22, cell: '{value}[   {flag}]', bold: 'abnormal' },
        { title: 'Previous Result and Date', width: 20, cell: '' },
        { title: 'Units', width: 15, cell: '{units}' },
        { title: 'Reference Interval', width: 20, cell: '{range}' },
      ],
      panel: { heading: '{panel}', indent: 6, notes: ['interpretation'] },
    },
  },
  {
    ...american,
    name: 'us-national-b',
    lab: {
      name: 'Meridian Diagnostics Incorporated',
      address: '400 Mock Terrace, Testborough, ZZ 00002',
      phone: '555-0111',
      alsoNamed: ['Meridian Diagnostics'],
    },
    specimen: '@@######@',
    units: SPELLINGS.usThousand,
    panels: ['lipids', 'cmp', 'cbc', 'thyroid', 'hormones', 'inflammation', 'urinalysis'],
    panelCount: 3,
    nameCase: 'upper',
    comparators: true,
    ranges: { bothSexes: '{l}-{h}', max: '<{h}', min: '> OR = {l}' },
    emission: { pieces: 'words' },
    first: [
      text('{lab}', { bold: true, size: 15, color: '#1c5a2c' }),
      columns(
        [1, 1, 1],
        [
          stackFields(['Patient Information={name}'], { boldLabels: true }),
          fields(['DOB={dob}', 'AGE={age}', 'Gender={sex}', 'Phone={phone}', 'Patient ID={mrn}']),
        ],
        [
          text('Specimen Information', { bold: true }),
          fields([
            'Specimen={specimen}',
            'Requisition={order}',
            'Collected={collected:MM/DD/YYYY / HH:mm}',
            'Received={received:MM/DD/YYYY / HH:mm}',
            'Reported={reported:MM/DD/YYYY / HH:mm}',
          ]),
        ],
        [
          text('Client Information', { bold: true }),
          text('Client #: {account}\n{physician}\nFICTIONAL FAMILY PRACTICE\n{address}'),
        ],
      ),
      rule(),
    ],
    foot: [
      rule(),
      text('CLIENT SERVICES: {labPhone}   SPECIMEN: {specimen}   PAGE {page} OF {pages}', { size: 7, align: 'center' }),
    ],
    body: {
      kind: 'table',
      rules: 'header',
      headerStyle: { fill: '#e3e9e3' },
      columns: [
        { title: 'Test Name', width: 34, cell: '{name}' },
        { title: 'In Range', width: 15, cell: '{in}' },
        { title: 'Out Of Range', width: 17, cell: '{out}[ {flag}]', bold: true },
        { title: 'Reference Range', width: 34, cell: '{range}[ {units}]' },
      ],
      panel: { heading: '{panel}', indent: 8, notes: ['interpretation'] },
    },
  },
  {
    ...american,
    name: 'us-narrow-columns',
    font: 'times',
    size: 9.5,
    lab: { name: 'Examplar Specialty Testing', address: '61 Fictional Avenue, Mockhaven, ZZ 00008', phone: '555-0112' },
    names: '{First} {Last}',
    specimen: '##-###-######',
    panels: ['hormones', 'immunology', 'rheumatology', 'iron', 'celiac', 'sexual_health', 'microalbumin'],
    panelCount: 3,
    remarks: 0.2,
    ranges: {
      bothSexes: '{l} to {h}',
      max: 'less than {h}',
      min: 'greater than {l}',
      bySex: ['Adult men: {m}', 'Adult women: {f}', 'Children: {c}'],
    },
    flags: { low: 'LOW', high: 'HIGH', criticalLow: 'CRITICAL LOW', criticalHigh: 'CRITICAL HIGH', abnormal: 'ABNORMAL' },
    first: [
      text('{lab}', { bold: true, size: 14, align: 'right' }),
      columns(
        [1, 1],
        [stackFields(['Patient={name} ({sex})', 'Date of Birth={dob}', 'Medical Record Number={mrn}'], { boldLabels: true })],
        [
          stackFields(['Accession={specimen}', 'Collection Date={collected}', 'Final Report Date={reported}'], {
            boldLabels: true,
          }),
        ],
      ),
      rule(),
    ],
    foot: [text('Laboratory director: {physician}. Page {page} of {pages}', { size: 7 })],
    body: {
      kind: 'table',
      header: 'panel',
      headerStyle: { fill: '#eeeeee' },
      spacing: 6,
      columns: [
        { title: 'Test performed', width: 18, cell: '{name}[\nMethod: {method}]', smallLines: 7 },
        { title: 'Reference interval', width: 20, cell: '{range}' },
        { title: 'Your result', width: 12, cell: '{value}', bold: true },
        { title: 'Unit of measure', width: 12, cell: '{units}' },
        { title: 'Notes', width: 16, cell: '{flag}' },
      ],
      panel: { heading: '{panel}', notes: ['interpretation'] },
      remarkIndent: 12,
    },
  },
]
