// Every feature that can be disabled for a team, including features without operations on this server. Source: management-auth.md 19,
// lab-testing.md 0; features that are in closed beta elsewhere.
import { badRequest, notFound, SwitchedOff } from '../../platform/http/errors.ts'
import { feature, type Feature, type Option } from '../../platform/http/feature-flags.ts'

export const features = {
  collection_instructions: feature('collection_instructions', 'collection instructions of a lab test as a PDF'),
  patient_reminders: feature('patient_reminders', 'reminders to patients who have not done their part yet'),
  on_site_collection: feature('on_site_collection', 'orders whose sample is taken at a site of the customer'),
  continuous_queries: feature('continuous_queries', 'queries that run again as data arrives'),
  human_review: feature('human_review', 'lab reports read by people', () =>
    badRequest('Human review is not enabled for this team'),
  ),
  unmatched_results: feature('unmatched_results', 'results that belong to no order', () =>
    badRequest('Unmatched results are not enabled for this team'),
  ),
  unmatched_result_test: feature('unmatched_result_test', 'made-up results that belong to no order', () => notFound('Not Found')),
  psc_scheduling: feature(
    'psc_scheduling',
    'appointments at service centers',
    () => new SwitchedOff(503, { detail: 'Feature not enabled' }),
  ),
} as const satisfies Record<string, Feature>

export type FeatureName = keyof typeof features
export const featureNames = Object.keys(features) as FeatureName[]

/** Every option that can be enabled for a team. Source: lab-testing.md 12, 17.4, 18. */
export const options = {
  pre_requisition_scheduling: {
    name: 'pre_requisition_scheduling',
    about: 'appointments of orders that have no requisition yet',
  },
  lab_confirmed_scheduling: {
    name: 'lab_confirmed_scheduling',
    about: 'appointments at Sonora Quest are reserved until the laboratory confirms them',
  },
  redraws: {
    name: 'redraws',
    about: 'a new order when a laboratory fails to report what was ordered',
  },
} as const satisfies Record<string, Option>

export const optionNames = Object.keys(options) as (keyof typeof options)[]
