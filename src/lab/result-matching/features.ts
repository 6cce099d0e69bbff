import { badRequest } from '../../platform/http/errors.ts'
import { feature } from '../../platform/http/feature-flags.ts'

export const unmatchedResults = feature('unmatched_results', 'results that belong to no order', () =>
  badRequest('Unmatched results are not enabled for this team'),
)
