import { feature } from '../../platform/http/feature-flags.ts'

/** No operation asks for it yet: queries are kept and not run. */
export const continuousQueries = feature('continuous_queries', 'queries that run again as data arrives')
