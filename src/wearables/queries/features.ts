import { feature } from '../../platform/http/feature-flags.ts'

/** Reading what they computed; creating them is a matter of the organization. */
export const continuousQueries = feature('continuous_queries', 'queries that run again as data arrives')
