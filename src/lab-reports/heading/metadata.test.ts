import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText, Word } from '../pages/page.ts'
import { readLinesOfPage } from '../tables/tables.ts'
import { type Metadata, metadataOf } from './metadata.ts'

const LETTER = 5
const LINE = 14

/** A page of these lines: a space parts words, several part cells, and a `#` before a line makes its letters large. */
function pageOf(text: string): PageText {
  const words: Word[] = []
  for (const [row, line] of text.trim().split('\n').entries()) {
    const large = line.startsWith('#')
    const top = 40 + row * LINE
    for (const match of line.replace(/^#/u, '').matchAll(/\S+/gu)) {
      const left = 40 + match.index * LETTER
      words.push({
        text: match[0],
        confidence: 1,
        box: { left, top: large ? top - 6 : top, right: left + match[0].length * LETTER, bottom: top + (large ? 11 : 9) },
      })
    }
  }
  return { number: 1, width: 612, height: 792, source: 'text', words }
}

const read = (text: string) => {
  const page = pageOf(text)
  return metadataOf([{ page, lines: readLinesOfPage(page) }])
}

const TABLE = `
Test           Result    Units     Reference Range
Glucose        95        mg/dL     70-99
Sodium         140       mmol/L    135-145`

const heads: { title: string; head: string; expected: Partial<Metadata> }[] = [
  {
    title: 'a chart of a hospital',
    head: `
#Mockhaven General Hospital
Fauxman, Jane (MRN 0012345)      DOB: 03/14/1970
Specimen Collected: 05/13/24 08:12     Last Resulted: 05/14/24 10:00
Lab Status: Final result     Ordering Provider: Alice Testwell, MD`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      lab_name: 'Mockhaven General Hospital',
      date_collected: '2024-05-13',
      date_reported: '2024-05-14',
    },
  },
  {
    title: 'a report in two columns of labels, one of which is a date, below a title that begins with the word patient',
    head: `
#Cardiofaux Medical Center
PATIENT COMPREHENSIVE METABOLIC
Patient Name:     Rakesh Dummykar     Report Date:     15-Dec-2025
A/c Status:       P                   Report ID:       BLR-2025-9921`,
    expected: {
      patient_first_name: 'Rakesh',
      patient_last_name: 'Dummykar',
      lab_name: 'Cardiofaux Medical Center',
      date_reported: '2025-12-15',
      specimen_number: 'BLR-2025-9921',
    },
  },
  {
    title: 'a letter that tells the sex by the title alone, with ranges and a registration that are no numbers of specimens',
    head: `
#Wellfaux Health Assessments
Mrs Harriet Testwright     Date of birth: 3 November 1969
Date of your assessment: 14 March 2025
TSH: 2.1 mIU/L (Reference: 0.4-4.0 mIU/L)
Dr. Nobody Example, MD
Reg. No: 99-12345`,
    expected: {
      patient_first_name: 'Harriet',
      patient_last_name: 'Testwright',
      gender: 'female',
      date_collected: '2025-03-14',
      specimen_number: null,
    },
  },
  {
    title: 'a clinic whose address and department are neither patient nor laboratory',
    head: `
Fauxganga Clinic Ltd
Torva Chowk, Torva, Khunta
Sex: Male
Hematology`,
    expected: { patient_first_name: null, patient_last_name: null, gender: 'male', lab_name: 'Fauxganga Clinic Ltd' },
  },
  {
    title: 'an address that begins or ends with a number, near to a birth date',
    head: `
#Mockwell Pathology Services
9 Gumtree Ct
Nowhere VIC 0000
DOB: 30/04/1992`,
    expected: { patient_first_name: null, patient_last_name: null, dob: '1992-04-30' },
  },
  {
    title: 'a letter about a patient whose birth date follows behind a comma',
    head: `
#Mockwell Pathology Services
Re: Mrs Agatha TESTINGTON, DOB 03/05/1961`,
    expected: { patient_first_name: 'Agatha', patient_last_name: 'Testington' },
  },
  {
    title: 'labels in two languages',
    head: `
#Makmal Rekaan Laboratory
Nama / Name : CONTOH UJIAN     No. Makmal / Lab No. : 24-0917734
Jantina / Sex : Female     Doktor / Doctor : Klinik Khayalan
Tarikh Diambil / Collected : 25/06/2024`,
    expected: {
      patient_first_name: 'Contoh',
      patient_last_name: 'Ujian',
      gender: 'female',
      date_collected: '2024-06-25',
      specimen_number: '24-0917734',
    },
  },
  {
    title: 'a name without a label, with sex and age behind commas,',
    head: `
#Mockwell Pathology Services
Fauxman, Jane, F, 45 years
Sex: Female     Collected: 2025-02-03`,
    expected: { patient_first_name: 'Jane', patient_last_name: 'Fauxman', gender: 'female', date_collected: '2025-02-03' },
  },
  {
    title: 'a screening with a capital letter of Turkish',
    head: `
#Mockwell Screening Services
Name: DENİZ ÖRNEK     Date of birth: 13.07.1987
Screening date: 12 September 2024     Gender: Male`,
    expected: {
      patient_first_name: 'Deniz',
      patient_last_name: 'Örnek',
      lab_name: 'Mockwell Screening Services',
      date_collected: '2024-09-12',
      date_reported: null,
    },
  },
  {
    title: 'a trend whose column of days is no date of the report',
    head: `
#Fictional Long Term Care Laboratory
Resident: Fauxman, Jane     DOB: 03/14/1970
DATE           PT        INR
06/20/2024     27.1      2.6
06/06/2024     31.4      3.1`,
    expected: { lab_name: 'Fictional Long Term Care Laboratory', date_collected: null, date_reported: null },
  },
  {
    title: 'a report whose ranges and remarks name sexes and ages',
    head: `
#Labs of Exampleton
Hemoglobin     15.1     Male 2 weeks: 13-20
Culture        no growth after 5 days, M. Testwell MD`,
    expected: { lab_name: 'Labs of Exampleton', gender: 'other' },
  },
  {
    title: 'a report whose ranges have a column for each sex',
    head: `
#Labs of Exampleton
Test             Result    Male          Female
Hemoglobin       15.1      13.5-17.5     12.0-15.5`,
    expected: { lab_name: 'Labs of Exampleton', gender: 'other' },
  },
  {
    title: 'a report whose ranges have a line for each sex',
    head: `
#Labs of Exampleton
Hemoglobin     15.1
Male           13.5-17.5
Female         12.0-15.5`,
    expected: { lab_name: 'Labs of Exampleton', gender: 'other' },
  },
  {
    title: 'the record of a practice',
    head: `
#Fauxbury Medical Practice
Mrs Jane Fauxman     Born 14-Mar-1970 (54y)     Gender Female     NHS No. 000 000 0000
Sample taken 13-May-2024     Report date 14-May-2024     Lab Ref 24B001234`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      gender: 'female',
      lab_name: 'Fauxbury Medical Practice',
      date_collected: '2024-05-13',
      date_reported: '2024-05-14',
      specimen_number: '24B001234',
    },
  },
  {
    title: 'a laboratory of a town',
    head: `
#EXAMPLE PATH LAB
Main Bazaar, Sampleville
Patient Name : Mrs. PRIYA TESTKUMAR        Date : 23/05/2024
Age : 45 Yrs   Sex : Female                Sr. No. : 4711
Ref. By : Dr. Anita Samplewala             Sample Coll. Date : 22/05/2024`,
    expected: {
      patient_first_name: 'Priya',
      patient_last_name: 'Testkumar',
      gender: 'female',
      lab_name: 'EXAMPLE PATH LAB',
      date_collected: '2024-05-22',
      date_reported: '2024-05-23',
      specimen_number: '4711',
    },
  },
  {
    title: 'names in two parts, and authorised results',
    head: `
#Mockhaven University Hospital
Department of Clinical Chemistry
Surname: FAUXMAN          Forename: Jane          Hospital No: 123456
D.O.B.: 14/03/1970        Sex: F                  Spec No: 24-0071234
Specimen Date/Time: 13/05/2024 08:10              Date Authorised: 14/05/2024`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      gender: 'female',
      lab_name: 'Mockhaven University Hospital',
      date_collected: '2024-05-13',
      date_reported: '2024-05-14',
      specimen_number: '24-0071234',
    },
  },
  {
    title: 'a report for customers',
    head: `
#Wellfaux
Prepared for Jane Fauxman
Female, 54 years
Sample collected 13 May 2024     Results ready 15 May 2024     Barcode WX-004711`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      gender: 'female',
      lab_name: 'Wellfaux',
      date_collected: '2024-05-13',
      date_reported: '2024-05-15',
      specimen_number: 'WX-004711',
    },
  },
  {
    title: 'labels above their values',
    head: `
#Example Diagnostics
PATIENT DETAILS        SPECIMEN DETAILS       DATES
Jane Fauxman           Lab ID                 Date collected
DATE OF BIRTH          EX-99001               13 May 2024
14 Mar 1970            Source                 Date of report
SEX                    Serum                  15 May 2024
F`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      gender: 'female',
      date_collected: '2024-05-13',
      date_reported: '2024-05-15',
      specimen_number: 'EX-99001',
    },
  },
  {
    title: 'labels in two languages',
    head: `
#Stichting Fictilab
Naam / Name : FAUXMAN Jane             Geboortedatum / Date of birth : 14-03-1970
Geslacht / Sex : V / F                 Monsternummer / Sample no. : 2400123
Afname / Collected : 13-05-2024        Rapportdatum / Report date : 15-05-2024`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      gender: 'female',
      lab_name: 'Stichting Fictilab',
      date_collected: '2024-05-13',
      date_reported: '2024-05-15',
      specimen_number: '2400123',
    },
  },
  {
    title: 'a panel above the laboratory',
    head: `
#Comprehensive Metabolic Panel
Meridian Mock Laboratories
Client: Fictional Practice   Name: Fauxman, Jane   DOB: 03/14/1970
Accession: M-77120   Draw date: 05/13/2024   Final report: 05/15/2024`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      lab_name: 'Meridian Mock Laboratories',
      date_collected: '2024-05-13',
      date_reported: '2024-05-15',
      specimen_number: 'M-77120',
    },
  },
  {
    title: 'a line of everything',
    head: `
#Labs of Exampleton
Jane Fauxman (F, 54)  |  DOB 1970-03-14  |  MRN 55123
Collected 2024-05-13 08:00  |  Reported 2024-05-14 09:30  |  Specimen #S-4711`,
    expected: {
      patient_first_name: 'Jane',
      patient_last_name: 'Fauxman',
      dob: '1970-03-14',
      gender: 'female',
      lab_name: 'Labs of Exampleton',
      date_collected: '2024-05-13',
      date_reported: '2024-05-14',
      specimen_number: 'S-4711',
    },
  },
]

for (const { title, head, expected } of heads)
  test(`${title} has the patient, the dates and the laboratory`, () => {
    const all = read(`${head.trim()}\n${TABLE}`)
    const fields = Object.keys(expected) as (keyof Metadata)[]
    assert.deepEqual(Object.fromEntries(fields.map((field) => [field, all[field]])), expected)
  })

test('each field that was read has its place, and other fields have no place', () => {
  const { places, date_collected } = read(`#Example Laboratory\nName: Jane Fauxman   Sex: F   DOB: 03/14/1970\n${TABLE}`)
  assert.equal(date_collected, null)
  assert.deepEqual(Object.keys(places).toSorted(), ['dob', 'gender', 'lab_name', 'patient_first_name', 'patient_last_name'])
  const left = 40 + 'Name: Jane Fauxman   Sex: F   DOB: '.length * LETTER
  assert.deepEqual(places.dob, { page: 1, box: { left, top: 54, right: left + 10 * LETTER, bottom: 63 } })
})

test('the cover of a fax is not the head of the report, and a first page with a number for faxes is', () => {
  const report = `
#Northfield Reference Laboratories
Patient: Jane Mockford    DOB: 1990-01-31
${TABLE.trim()}`
  const metadata = (...texts: string[]) => metadataOf(texts.map(pageOf).map((page) => ({ page, lines: readLinesOfPage(page) })))
  for (const title of ['Facsimile', 'FAX COVER SHEET', 'Fax transmission']) {
    const cover = `
#${title}
To: Medical records
From: Fictional Surgery
Date: 2026-02-01`
    const { lab_name, patient_last_name, date_reported } = metadata(cover, report)
    assert.deepEqual([lab_name, patient_last_name, date_reported], ['Northfield Reference Laboratories', 'Mockford', null], title)
  }
  const letter = `
#Fictional Pathology Ltd
Fax 020 7946 0000
Dear Dr Example`
  assert.equal(metadata(letter, report).lab_name, 'Fictional Pathology Ltd')
  assert.equal(metadata(letter.replace('Fax', 'Facsimile')).lab_name, 'Fictional Pathology Ltd')
})

test('a label without a colon names neither a laboratory nor a patient, and neither does a practice', () => {
  const record = read(`
EXAMPLE, Margaret (Mrs)   Born 18-Jan-1950 (76y)   Gender Female   NHS No. 999 000 1234
Usual GP: NOBODY, I (Dr)   The Mock Surgery, 4 Sample Lane, Leeds LS99 9ZZ   Tel: 0113 496 0123
Investigation results
`)
  assert.notEqual(record.lab_name, 'Gender Female')
  assert.equal(record.patient_last_name, 'Example')
  const report = read(`
#Tri-Lakes Reference
Patient ID: 88213-TL   Specimen ID: 301-774-2096-0   Ordering Physician: P Placeholder
Age: 41   Sex: Female   Cedar Grove Family Med
DOB: 03/22/1985   Date Collected: 10/28/2026
`)
  assert.equal(report.patient_last_name, null)
})
