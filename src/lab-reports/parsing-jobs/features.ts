import { badRequest } from '../../platform/http/errors.ts'
import { feature } from '../../platform/http/feature-flags.ts'

/** No operation asks for it yet. */
export const humanReview = feature('human_review', 'lab reports read by people', () =>
  badRequest('Human review is not enabled for this team'),
)
