import type { Endpoint } from './endpoint-queries.ts'

/** Which events an endpoint receives, in a few words. */
export function filterWords({ filter_types }: Endpoint): string {
  if (filter_types === null) return 'all'
  return filter_types.length === 1 ? filter_types[0]! : `${filter_types.length} types`
}
