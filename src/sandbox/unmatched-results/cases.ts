// The cases of unmatched-result tests. Data, and values derived from it.
// Source: lab-testing.md 14; roles and states are a choice of this project.
import { reviewCodes } from '../../lab/result-matching/schema.ts'
import type { LabSlug } from '../../lab/catalog/enums.ts'

export const unmatchedResultTestCases = reviewCodes
export type UnmatchedResultTestCase = (typeof unmatchedResultTestCases)[number]

/** Laboratories whose results can be tested. */
export const SUPPORTED_LABS: LabSlug[] = ['labcorp', 'quest', 'sonora_quest', 'bioreference']

const READY_STATUS = 'requisition_created'

/** Case → its orders by role, each with the low-level status that it must have when the result arrives. */
export const requiredRoles: Record<UnmatchedResultTestCase, Record<string, string>> = {
  match_completed: { original: 'completed' },
  match_cancelled: { original: 'cancelled' },
  wrong_collection: { original: READY_STATUS },
  wrong_lab: { original: READY_STATUS },
  multiple_demo_match: { first: READY_STATUS, second: READY_STATUS },
  match_sample_id_mismatch_demo: { original: READY_STATUS },
  match_demo: { first: READY_STATUS, second: READY_STATUS },
  no_match: {},
}

/** Cases whose result has the sample id of the order. */
export const casesWithSampleId = new Set<UnmatchedResultTestCase>([
  'match_completed',
  'match_cancelled',
  'wrong_collection',
  'match_sample_id_mismatch_demo',
])

export const listCases = () => ({
  data: unmatchedResultTestCases.map((name) => ({
    case: name,
    order_roles: Object.keys(requiredRoles[name]),
    required_statuses: requiredRoles[name],
    lab_constraints: [...SUPPORTED_LABS],
  })),
})
