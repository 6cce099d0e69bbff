// A patient who does not exist and where things are sent to, in the form that requests have. Loads nothing of the program, for tests of whole processes.

export { examplePatient as patient } from '../../src/people/person/example-patient.ts'

export const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

export const shipping = { ...address, receiver_name: 'Testa Fictional', phone_number: '+15550100199' }

/** A pattern of the year in which `patient` was born, in its date of birth in any spelling, and not among the digits of an id. */
export const BIRTH_YEAR = String.raw`19900131|(?<![\da-f-])1990(?![\da-f])`
