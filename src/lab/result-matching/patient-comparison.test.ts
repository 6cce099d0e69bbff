import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPatient } from '../../people/person/patient.ts'
import { comparePatients, type PatientMatch } from './patient-comparison.ts'

const known = toPatient({
  first_name: 'Jean-Luc',
  last_name: "O'Fictional Imaginary",
  dob: '1990-01-31',
  gender: 'male',
  phone_number: '+15550100199',
  email: 'jean@example.com',
})
const said = { first_name: 'Jean-Luc', last_name: "O'Fictional Imaginary", dob: '1990-01-31', gender: 'male' }

const cases: [string, Partial<typeof said> | Record<string, null>, PatientMatch][] = [
  ['everything', {}, 'same'],
  ['no gender', { gender: null }, 'same'],
  ['a gender that says nothing', { gender: 'other' }, 'same'],
  ['no first name', { first_name: null }, 'same'],
  ['the first of two first names', { first_name: 'JEAN' }, 'same'],
  ['first names in one word', { first_name: 'Jeanluc' }, 'same'],
  ['accents and no apostrophe', { last_name: 'ÓFICTIONAL-IMAGINARY' }, 'same'],
  ['another first name that begins alike', { first_name: 'Jeanne' }, 'different'],
  ['another family name', { last_name: 'Fictional' }, 'different'],
  ['another day of birth', { dob: '1990-01-13' }, 'different'],
  ['another gender', { gender: 'FEMALE' }, 'different'],
  ['no day of birth', { dob: null }, 'unknown'],
  ['no family name', { last_name: null }, 'unknown'],
  ['an empty family name', { last_name: '' }, 'unknown'],
]
for (const [what, change, likeness] of cases)
  test(`a report with ${what} compares as ${likeness}`, () =>
    assert.equal(comparePatients({ ...said, ...change }, known), likeness))

const spellings: [ordered: string, reported: string, PatientMatch][] = [
  ['Müller', 'MUELLER', 'same'],
  ['Müller', 'MULLER', 'same'],
  ['Mueller', 'Müller', 'same'],
  ['Mu\u0308ller', 'MUELLER', 'same'],
  ['Mueller', 'Muller', 'different'],
  ['Łącka', 'LACKA', 'same'],
  ['Nørregård', 'NORREGARD', 'same'],
  ['Nørregård', 'NOERREGAARD', 'same'],
  ['Nørregård-Müller', 'NORREGARD MUELLER', 'same'],
  ['Größe', 'GROESSE', 'same'],
  ['Größe', 'GROSSE', 'same'],
  ['Größe', 'GRÖSSE', 'same'],
  ['GRÖẞE', 'grosse', 'same'],
  ['Ærø', 'AEROE', 'same'],
  ['Þórðarson', 'THORDARSON', 'same'],
  ['Đỗ', 'DO', 'same'],
  ['İşık', 'ISIK', 'same'],
  ['Größe', 'GROSE', 'different'],
  ['Müller', 'MILLER', 'different'],
  ['äöüäöüäöüäöü', 'AOUAOUAOUAOU', 'same'],
  ['Петров', 'ПЕТРОВ', 'same'],
]
for (const [ordered, reported, likeness] of spellings)
  test(`a patient ${ordered} that a laboratory writes ${reported} compares as ${likeness}`, () => {
    assert.equal(comparePatients({ ...said, last_name: reported }, { ...known, last_name: ordered }), likeness)
    const asFirstName = comparePatients({ ...said, first_name: reported }, { ...known, first_name: ordered })
    assert.equal(asFirstName, likeness === 'unknown' ? 'same' : likeness)
  })

test('a patient of the same name is never the same without the date of birth', () => {
  const umlaut = { ...known, last_name: 'Müller' }
  assert.equal(comparePatients({ ...said, last_name: 'MUELLER', dob: null }, umlaut), 'unknown')
  assert.equal(comparePatients({ ...said, last_name: 'MUELLER', dob: '1990-02-01' }, umlaut), 'different')
})

test('a missing patient on both sides compares as unknown', () => {
  assert.equal(comparePatients(null, known), 'unknown')
  assert.equal(comparePatients(said, null), 'unknown')
})
