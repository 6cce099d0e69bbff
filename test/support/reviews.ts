// Reviews of results that could not be matched: what a team does with them.
import assert from 'node:assert/strict'
import { receiveResult, deliveryFor, acceptedOrder } from './results.ts'
import type { TestTeam } from './server.ts'

export const item = (id: string) => `/v3/unmatched_result/${id}`
export const accept = (team: TestTeam, id: string, body: unknown = {}) => team.api.post(`${item(id)}/accept`, body)
export const resolve = (team: TestTeam, id: string, body: unknown) => team.api.post(`${item(id)}/resolve`, body)
export const read = async (team: TestTeam, id: string) => (await team.api.get(item(id))).body

/** Delivers a result that ends in a review. */
export async function createReview(
  team: TestTeam,
  ...args: Parameters<typeof deliveryFor> extends [unknown, ...infer R] ? R : never
) {
  const receipt = await receiveResult(team, await deliveryFor(team, ...args))
  assert.equal(receipt.status, 'pending_customer_review')
  return receipt.raw_result_id
}

/** A review of a result without a matching patient. */
export const reviewWithoutPatient = async (team: TestTeam) =>
  createReview(team, await acceptedOrder(team), { sample_id: null, patient: null })
