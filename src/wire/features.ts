// Every feature that can be switched off for a team, whether the server has operations of it yet or not. Source: management-auth.md 19,
// lab-testing.md 0; what is in closed beta elsewhere.
import { badRequest, notFound, Problem } from '../platform/errors.ts'
import { feature, type Feature } from '../platform/feature.ts'

export const features = {
  collection_instructions: feature('collection_instructions', 'collection instructions of a lab test as a PDF'),
  on_site_collection: feature('on_site_collection', 'orders whose sample is taken at a site of the customer'),
  continuous_queries: feature('continuous_queries', 'queries that run again as data arrives'),
  human_review: feature('human_review', 'lab reports read by people', () =>
    badRequest('Human review is not enabled for this team'),
  ),
  unmatched_results: feature('unmatched_results', 'results that belong to no order', () =>
    badRequest('Unmatched results are not enabled for this team'),
  ),
  unmatched_result_test: feature('unmatched_result_test', 'made-up results that belong to no order', () => notFound('Not Found')),
  redraws: feature('redraws', 'a new order when a lab fails to report what was ordered', undefined, { offAtFirst: true }),
  psc_scheduling: feature(
    'psc_scheduling',
    'appointments at service centers',
    () => new Problem(503, { detail: 'Scheduling is not enabled for this team' }),
  ),
} as const satisfies Record<string, Feature>

export type FeatureName = keyof typeof features
export const featureNames = Object.keys(features) as FeatureName[]

/** What a new team does not have until it is switched on. */
export const featuresOffAtFirst: readonly string[] = featureNames.filter((name) => features[name].offAtFirst)
