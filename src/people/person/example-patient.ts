// The fictional person in examples of the OpenAPI document and in sample events.

export const examplePatient = {
  first_name: 'Testa',
  last_name: 'Fictional',
  dob: '1990-01-31',
  gender: 'female' as const,
  phone_number: '+15550100199',
  email: 'testa@example.com',
}

/** The ordering physician of that person if the lab account requires the customer's own. */
export const examplePhysician = { first_name: 'Medica', last_name: 'Fictional', npi: '0000000000' }
