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

test('a missing patient on both sides compares as unknown', () => {
  assert.equal(comparePatients(null, known), 'unknown')
  assert.equal(comparePatients(said, null), 'unknown')
})
