// The fictional person whom examples of the description and samples of events speak of.

export const examplePatient = {
  first_name: 'Testa',
  last_name: 'Fictional',
  dob: '1990-01-31',
  gender: 'female',
  phone_number: '+15550100199',
  email: 'testa@example.com',
}

/** Who orders for that person, where the lab account wants the customer's own physician. */
export const examplePhysician = { first_name: 'Medica', last_name: 'Fictional', npi: '0000000000' }
