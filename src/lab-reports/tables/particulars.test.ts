// Particulars in grids as browsers and office programs print them. Places are those of words: the top of each line, and where it begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText, Word } from '../pages/page.ts'
import { understand } from '../reading/read-report.ts'
import { readLinesOfPage } from './tables.ts'

type Text = [left: number, top: number, text: string]
const [LETTER, HEIGHT, SPACE] = [5, 9, 3]

function pageOf(...texts: Text[]): PageText {
  const words = texts.flatMap(([left, top, text]) => {
    let x = left
    return text.split(' ').map((word): Word => {
      const box = { left: x, right: x + word.length * LETTER, top, bottom: top + HEIGHT }
      x = box.right + SPACE
      return { text: word, box, confidence: 1 }
    })
  })
  return { number: 1, width: 612, height: 792, source: 'text', words }
}

const TABLE: Text[] = [
  [50, 200, 'Test'],
  [220, 200, 'Result'],
  [300, 200, 'Units'],
  [50, 214, 'Sodium'],
  [220, 214, '140'],
  [300, 214, 'mmol/L'],
]
const particularsOf = (page: PageText) =>
  readLinesOfPage(page)
    .filter(({ isParticulars }) => isParticulars)
    .map(({ cells }) => cells.map(({ text }) => text))
const read = (...texts: Text[]) => {
  const { metadata, results } = understand([pageOf(...texts, ...TABLE)])
  return { ...metadata, results: results.map(({ test_name, value }) => [test_name, value]) }
}

test('a name, a label and a date on two lines are put together, wherever the others of their row stand', () => {
  // The top of the row, its middle, and its bottom.
  for (const shift of [0, 5, 10.5]) {
    const page = read(
      [50, 80 + shift, 'Patient:'],
      [132, 80, 'Testa'],
      [132, 90.5, 'Fictional'],
      [300, 80 + shift, 'DOB:'],
      [380, 80 + shift, '1990-01-31'],
      [50, 110, 'Ordering'],
      [50, 120.5, 'provider:'],
      [132, 110 + shift, 'E. Mockford, NP'],
      [300, 110 + shift, 'Collected:'],
      [380, 110 + shift, '2026-03-04 08:15'],
      [50, 140, 'Date'],
      [50, 150.5, 'reported:'],
      [132, 140, '5 March'],
      [132, 150.5, '2026, 07:15'],
    )
    assert.deepEqual(
      [page.patient_first_name, page.patient_last_name, page.dob, page.date_collected, page.date_reported],
      ['Testa', 'Fictional', '1990-01-31', '2026-03-04', '2026-03-05'],
      `shifted by ${shift}`,
    )
    assert.deepEqual(page.results, [['Sodium', '140']])
  }
})

test('values below their labels are joined with them, and times and names among them are not results', () => {
  const page = read(
    [320, 80, 'Date'],
    [40, 85, 'Name'],
    [120, 85, 'DOB'],
    [200, 85, 'Gender'],
    [260, 85, 'Physician'],
    [400, 85, 'Time'],
    [320, 90.5, 'collected'],
    [40, 105, 'Fictional,'],
    [120, 105, '31 January'],
    [200, 105, 'F'],
    [260, 105, 'A. Example,'],
    [320, 105, '4 Mar 2026'],
    [400, 105, '09:05'],
    [40, 115.5, 'Testa'],
    [120, 115.5, '1990'],
    [260, 115.5, 'MD'],
  )
  assert.deepEqual(
    [page.patient_first_name, page.patient_last_name, page.dob, page.gender, page.date_collected],
    ['Testa', 'Fictional', '1990-01-31', 'female', '2026-03-04'],
  )
  assert.deepEqual(page.results, [['Sodium', '140']])
})

test('two rows of labels that stand close have the values between them and below', () => {
  const page = pageOf(
    [40, 69, 'Name'],
    [120, 69, 'DOB'],
    [220, 69, 'Accession'],
    [40, 79.5, 'FICTIONAL,'],
    [120, 79.5, '01/31/1990'],
    [220, 79.5, '32621652'],
    [40, 90, 'Testa'],
    [40, 101, 'Provider'],
    [120, 101, 'Date collected'],
    [220, 101, 'Record no.'],
    [40, 111.5, 'E. Testwell, MD'],
    [120, 111.5, '06 Aug 2026'],
    [220, 111.5, '4599961'],
  )
  assert.deepEqual(particularsOf(page), [
    ['Name', 'FICTIONAL, Testa', 'DOB', '01/31/1990', 'Accession', '32621652'],
    ['Provider', 'E. Testwell, MD', 'Date collected', '06 Aug 2026', 'Record no.', '4599961'],
  ])
})

test('a label with a value on two lines next to it is read next to unknown labels', () => {
  const page = read(
    [40, 85, 'Name:'],
    [120, 80, 'Fictional-Example,'],
    [120, 90.5, 'Testa'],
    [260, 85, 'Physician:'],
    [340, 85, 'A. Example, MD'],
    [40, 112, 'Time:'],
    [120, 112, '09:05'],
    [260, 112, 'Specimen no.:'],
    [340, 112, '3391015'],
  )
  assert.deepEqual(
    [page.patient_first_name, page.patient_last_name, page.specimen_number],
    ['Testa', 'Fictional-Example', '3391015'],
  )
  assert.deepEqual(page.results, [['Sodium', '140']])
})

test('the value of a label that is not known is not that of the one above', () => {
  const page = pageOf(
    [40, 80, 'Sex'],
    [150, 80, 'Female'],
    [40, 92, 'Nationality'],
    [150, 92, 'Example'],
    [40, 104, 'Specimen No.'],
    [150, 104, 'C22'],
    [40, 116, 'Date of Birth'],
    [150, 116, '1990-01-31'],
  )
  assert.deepEqual(particularsOf(page), [
    ['Sex', 'Female'],
    ['Specimen No.', 'C22'],
    ['Date of Birth', '1990-01-31'],
  ])
})

test('names of results with a colon, columns of days and columns of results are not particulars', () => {
  const withColon: Text[] = ['Sodium:', 'Potassium:', 'Chloride:'].flatMap((name, index): Text[] => [
    [40, 80 + index * 12, name],
    [150, 80 + index * 12, '4.0 mmol/L'],
  ])
  const days: Text[] = [
    [40, 80, 'Date'],
    [150, 80, 'Sodium'],
    [220, 80, 'Potassium'],
    [40, 92, '2026-03-04'],
    [150, 92, '140'],
    [220, 92, '4.0'],
  ]
  const columns: Text[] = [
    [40, 80, 'Sample Type'],
    [150, 80, 'Examination'],
    [260, 80, 'Result'],
    [330, 80, 'Status'],
    [40, 92, 'Serum'],
    [150, 92, 'Sodium'],
    [260, 92, '140'],
    [330, 92, 'Final'],
  ]
  for (const texts of [withColon, days, columns]) assert.deepEqual(particularsOf(pageOf(...texts)), [])
})
