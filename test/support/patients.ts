// Orders whose patient or address has other values, and the errors of a refused one.
import assert from 'node:assert/strict'
import { address, orderBody, patient } from './orders.ts'
import type { TestTeam } from './server.ts'

const fields = new Set(['patient_details', 'patient_address'])

/** Tries to create an order with one field of the patient or the address changed; `undefined` removes the field. */
export async function orderWith(team: TestTeam, part: 'patient_details' | 'patient_address', changes: Record<string, unknown>) {
  assert.ok(fields.has(part))
  const whole = part === 'patient_details' ? patient : address
  return team.api.post('/v3/order', await orderBody(team, { [part]: { ...whole, ...changes } }))
}

export const faultsOf = (body: { detail: { loc: string[]; type: string }[] }) =>
  body.detail.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`)
