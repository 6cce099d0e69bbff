// The values of the form, and what they become in requests.
import type { components } from '../../api/schema.d.ts'
import type { AoeAnswer } from './answers.ts'

type CreateOrder = components['schemas']['CreateOrder']
type UserInfo = components['schemas']['UserInfo']

export interface OrderForm {
  lab_test_id: string
  client_user_id: string
  first_name: string
  last_name: string
  dob: string
  gender: CreateOrder['patient_details']['gender']
  phone_number: string
  email: string
  first_line: string
  second_line: string
  city: string
  state: string
  zip: string
}

export const EMPTY_FORM: OrderForm = {
  lab_test_id: '',
  client_user_id: '',
  first_name: '',
  last_name: '',
  dob: '',
  gender: 'unknown',
  phone_number: '',
  email: '',
  first_line: '',
  second_line: '',
  city: '',
  state: '',
  zip: '',
}

/** A fictional patient, for orders in a sandbox. The reference is new each time, so that each order has a user of its own. */
export const fictionalForm = (reference: string): OrderForm => ({
  ...EMPTY_FORM,
  client_user_id: reference,
  first_name: 'Testa',
  last_name: 'Fictional',
  dob: '1990-04-12',
  gender: 'female',
  phone_number: '+16025550142',
  email: 'testa.fictional@example.com',
  first_line: '1 Sample Way',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
})

/** The form of a patient whose demographics are known. */
export const fromDemographics = ({ address, ...user }: UserInfo): OrderForm => ({
  ...EMPTY_FORM,
  first_name: user.first_name,
  last_name: user.last_name,
  dob: user.dob,
  gender: user.gender,
  phone_number: user.phone_number,
  email: user.email,
  first_line: address.first_line,
  second_line: address.second_line ?? '',
  city: address.city,
  state: address.state,
  zip: address.zip,
})

export const toOrder = (form: OrderForm, user_id: string, aoe_answers: AoeAnswer[]): CreateOrder => ({
  user_id,
  lab_test_id: form.lab_test_id,
  patient_details: {
    first_name: form.first_name,
    last_name: form.last_name,
    dob: form.dob,
    gender: form.gender,
    phone_number: form.phone_number,
    email: form.email,
  },
  patient_address: {
    first_line: form.first_line,
    ...(form.second_line && { second_line: form.second_line }),
    city: form.city,
    state: form.state,
    zip: form.zip,
    country: 'US',
  },
  ...(aoe_answers.length > 0 && { aoe_answers }),
})
