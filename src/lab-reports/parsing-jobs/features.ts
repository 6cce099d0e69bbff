import { badRequest } from '../../platform/http/errors.ts'
import { feature } from '../../platform/http/feature-flags.ts'

/** Source of the text: lab-testing.md 25.1. */
export const humanReview = feature('human_review', 'lab reports read by people', () =>
  badRequest('Human review is not supported yet for your team please contact support'),
)
