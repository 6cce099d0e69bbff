// In the style of laboratories of the south-east of Asia.
import type { Layout } from '../language.ts'
import { SPELLINGS } from '../units.ts'
import { columns, fields, rule, space, text } from './blocks.ts'
import { commonwealth } from './commonwealth-base.ts'

export const southEastAsia: Layout[] = [
  {
    ...commonwealth,
    country: 'SG',
    name: 'sg-clinic',
    people: 'asian',
    lab: {
      name: 'Merlimock Medical Laboratory Pte Ltd',
      address: '9 Fictional Avenue, Mockhaven',
      phone: '555-0165',
      alsoNamed: ['Merlimock Medical Laboratory'],
    },
    names: '{LAST} {FIRST}',
    dates: { day: 'DD MMM YYYY', time: 'DD MMM YYYY HH:mm' },
    specimen: '@#######@',
    panels: ['renal', 'liver', 'lipids', 'diabetes', 'cbc_counts', 'hepatitis', 'thyroid', 'tumor'],
    panelCount: 4,
    ranges: { bothSexes: '({l} to {h})', max: '(<{h})', min: '(>{l})' },
    flags: { low: 'L', high: 'H', abnormal: '*' },
    head: [
      text('{lab}', { bold: true, align: 'center', size: 12 }),
      text('{labAddress}  Tel {labPhone}', { align: 'center', size: 7 }),
      rule(),
    ],
    first: [
      fields(
        [
          'Name={name} | Lab No={specimen}',
          'NRIC=S{mrn}Z | Date Collected={collected}',
          'Sex/Age={sex} / {age} Y | Date Reported={reported}',
          'DOB={dob} | Referring Dr={physician}',
        ],
        { labelWidth: 72 },
      ),
      rule(),
    ],
    foot: [text('This report is computer generated and needs no signature. {page}/{pages}', { size: 7 })],
    body: {
      kind: 'table',
      columns: [
        { title: 'TEST', width: 34, cell: '{name}' },
        { title: 'RESULT', width: 14, cell: '{value}', align: 'right' },
        { title: '', width: 4, cell: '{flag}' },
        { title: 'REFERENCE INTERVAL', width: 22, cell: '{range}' },
        { title: 'UNITS', width: 18, cell: '{units}' },
      ],
      panel: { heading: '{panel}', style: 'center' },
    },
  },
  {
    ...commonwealth,
    country: 'PH',
    name: 'ph-clinic',
    page: 'letter',
    people: 'asian',
    dialect: 'us',
    si: false,
    lab: { name: 'MABUHAYMOCK DIAGNOSTIC CENTER', address: '7 Example Road, Fauxbury', phone: '555-0166' },
    names: '{LAST}, {FIRST}[ {Middle}.]',
    sexes: { male: 'MALE', female: 'FEMALE' },
    dates: { day: 'MMMM DD, YYYY', time: 'MM/DD/YYYY hh:mm A' },
    specimen: '##-#####',
    nameCase: 'upper',
    units: SPELLINGS.usK,
    panels: ['cbc_shares', 'bmp', 'lipids', 'urinalysis_micro', 'stool', 'hepatitis', 'thyroid'],
    panelCount: 3,
    ranges: { bothSexes: '{l} - {h}', max: '< {h}', min: '> {l}', noRange: 'n/a' },
    flags: { low: 'LOW', high: 'HIGH', abnormal: 'ABNORMAL' },
    watermark: 'SAMPLE',
    first: [
      text('{lab}', { bold: true, align: 'center', size: 14 }),
      text('{labAddress}', { align: 'center', size: 8 }),
      space(4),
      fields(
        [
          'PATIENT NAME={name} | CASE NO.={specimen}',
          'DATE OF BIRTH={dob} | DATE COLLECTED={collected}',
          'AGE / SEX={age} / {sex} | DATE RELEASED={reported}',
          'PHYSICIAN={physician} | ROOM=OPD',
        ],
        { frame: 'grid', boldLabels: true },
      ),
    ],
    foot: [
      columns(
        [1, 1],
        [text('JUAN MOCK, RMT\nMedical Technologist', { align: 'center', size: 8 })],
        [text('{physician}\nPathologist', { align: 'center', size: 8 })],
      ),
    ],
    body: {
      kind: 'table',
      header: 'panel',
      rules: 'grid',
      columns: [
        { title: 'EXAMINATION', width: 32, cell: '{name}' },
        { title: 'RESULT', width: 18, cell: '{value}', align: 'center', bold: true },
        { title: 'UNIT', width: 14, cell: '{units}', align: 'center' },
        { title: 'REFERENCE RANGE', width: 22, cell: '{range}', align: 'center' },
        { title: 'REMARKS', width: 14, cell: '{flag}', align: 'center' },
      ],
      panel: { heading: '{panel}', style: 'center', size: 11 },
    },
  },
  {
    ...commonwealth,
    country: 'MY',
    name: 'my-screening',
    people: 'asian',
    lab: { name: 'Gunung Mock Health Screening', address: '3 Invented Street, Sampleville', phone: '555-0167' },
    names: '{FIRST} {LAST}',
    dates: { day: 'DD/MM/YYYY', time: 'DD/MM/YYYY hh:mm A' },
    specimen: '#######',
    panels: ['cbc_shares', 'renal', 'liver', 'lipids', 'diabetes', 'thyroid', 'hepatitis', 'urinalysis'],
    size: 8,
    ranges: { bothSexes: '{l} - {h}', max: '<{h}', min: '>{l}' },
    flags: { low: '*', high: '*', criticalLow: '**', criticalHigh: '**', abnormal: '*' },
    head: [
      fields(['{lab}= | PATIENT={name} | LAB NO={specimen}', 'DOB : {dob}= | SEX={sex} | REF. DOCTOR={physician}'], {
        separator: ' ',
      }),
      rule(),
    ],
    first: [fields(['COLLECTED={collected} | RECEIVED={received} | REPORTED={reported}'])],
    foot: [text('Page {page} of {pages}     * outside of the reference range', { size: 7 })],
    body: {
      kind: 'table',
      header: 'once',
      columns: [
        { title: 'ANALYTE', width: 30, cell: '{name}' },
        { title: 'UNIT', width: 14, cell: '{units}' },
        { title: 'RESULT', width: 14, cell: '{flag}{value}', align: 'right', bold: 'abnormal' },
        { title: 'REFERENCE RANGE', width: 20, cell: '{range}', align: 'right' },
      ],
      panel: { heading: '{panel}', indent: 8 },
    },
  },
]
