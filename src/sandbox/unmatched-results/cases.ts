// The cases in which a result cannot be matched, as they can be rehearsed. Data, and what follows from it alone.
// Source: lab-testing.md 14; roles and states are a choice of this project.
import { reviewCodes } from '../../lab/result-matching/schema.ts'
import type { LabSlug } from '../../lab/catalog/enums.ts'

export const rehearsalCases = reviewCodes
export type RehearsalCase = (typeof rehearsalCases)[number]

/** Laboratories whose results are rehearsed. */
export const CENTRAL_LABS: LabSlug[] = ['labcorp', 'quest', 'sonora_quest', 'bioreference']

const TAKEN = 'requisition_created'

/** Case → its orders by role, each with the low-level status in which it must be when the result comes. */
export const rolesOf: Record<RehearsalCase, Record<string, string>> = {
  match_completed: { original: 'completed' },
  match_cancelled: { original: 'cancelled' },
  wrong_collection: { original: TAKEN },
  wrong_lab: { original: TAKEN },
  multiple_demo_match: { first: TAKEN, second: TAKEN },
  match_sample_id_mismatch_demo: { original: TAKEN },
  match_demo: { first: TAKEN, second: TAKEN },
  no_match: {},
}

/** The result has the number of the order's sample. */
export const knowsSample = new Set<RehearsalCase>([
  'match_completed',
  'match_cancelled',
  'wrong_collection',
  'match_sample_id_mismatch_demo',
])

export const catalogue = () => ({
  data: rehearsalCases.map((name) => ({
    case: name,
    order_roles: Object.keys(rolesOf[name]),
    required_statuses: rolesOf[name],
    lab_constraints: [...CENTRAL_LABS],
  })),
})
