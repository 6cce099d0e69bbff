// How documents print people and places. Pure.
import { ageOn } from '../../platform/runtime/clock.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import type { Order } from '../orders/schema.ts'
import type { Paper } from '../../platform/pdf/canvas.ts'

export interface PrintablePatient {
  name: string
  /** `Last, First`: as samples are labeled. */
  filedName: string
  dob: string | null
  age: string
  gender: string
  phone: string | null
  email: string | null
  address: string
  /** Parent or guardian of a minor. */
  guardian: string | null
}

const unknown: PrintablePatient = {
  name: '',
  filedName: '',
  dob: null,
  age: '',
  gender: '',
  phone: null,
  email: null,
  address: '',
  guardian: null,
}

/** The patient of an order, with the age on a date; blanks to fill in if the patient is unknown. */
export function toPrintablePatient(
  { patient_details: patient, patient_address: address }: Order,
  date: string,
): PrintablePatient {
  if (!patient) return unknown
  const { first_name, last_name, dob, medical_proxy: proxy } = patient
  return {
    name: [first_name, last_name].filter(Boolean).join(' '),
    filedName: [last_name, first_name].filter(Boolean).join(', '),
    dob,
    age: String(ageOn(dob, date)),
    gender: capitalize(patient.gender),
    phone: patient.phone_number,
    email: patient.email,
    address: address ? addressLine(address) : '',
    guardian: proxy && `${proxy.first_name} ${proxy.last_name}, ${proxy.phone_number}`,
  }
}

interface Address {
  first_line: string
  second_line?: string | null
  city: string
  state: string
  zip: string
  country?: string
}

/** An address in a line. A country is printed if it is not the United States. */
export const addressLine = ({ first_line, second_line, city, state, zip, country }: Address): string =>
  [first_line, second_line, city, `${state} ${zip}`.trim(), country === UNITED_STATES ? undefined : country]
    .filter(Boolean)
    .join(', ')

/** `at_home_phlebotomy` as `At home phlebotomy`. */
export const toWords = (name: string): string => capitalize(name.replaceAll('_', ' '))

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `1990-01-31` as `01/31/1990`, the format of laboratories in the United States; as it is on A4, where the other would be misread. */
export const printedDate = (date: string, paper: Paper): string =>
  paper === 'a4' ? date : `${date.slice(5, 7)}/${date.slice(8, 10)}/${date.slice(0, 4)}`

/** How people fill in a date. */
export const dateFormat = (paper: Paper): string => (paper === 'a4' ? 'YYYY-MM-DD' : 'MM/DD/YYYY')
