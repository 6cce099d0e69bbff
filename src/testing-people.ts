// A patient who does not exist and where things are sent to, in the form requests have them. Loads nothing, for tests of whole processes.

export const patient = {
  first_name: 'Testa',
  last_name: 'Fictional',
  dob: '1990-01-31',
  gender: 'female',
  phone_number: '+15550100199',
  email: 'testa@example.com',
}

export const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

export const shipping = { ...address, receiver_name: 'Testa Fictional', phone_number: '+15550100199' }
