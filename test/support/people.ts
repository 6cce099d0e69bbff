// A patient who does not exist and where things are sent to, in the form that requests have. Loads nothing of the program, for tests of whole processes.

export { examplePatient as patient } from '../../src/people/person/example-patient.ts'

export const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

export const shipping = { ...address, receiver_name: 'Testa Fictional', phone_number: '+15550100199' }
