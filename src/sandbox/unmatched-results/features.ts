import { notFound } from '../../platform/http/errors.ts'
import { feature } from '../../platform/http/feature-flags.ts'

export const unmatchedResultTests = feature('unmatched_result_test', 'made-up results that belong to no order', () =>
  notFound('Not Found'),
)
