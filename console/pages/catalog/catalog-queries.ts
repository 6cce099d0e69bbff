// What the pages of the catalog read.
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import type { components, paths } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type LabTest = components['schemas']['LabTest']
export type LabTestFilter = NonNullable<paths['/v3/lab_test']['get']['parameters']['query']>

/** Lab tests of the team, and those offered to it, oldest first, with their prices. */
export function useLabTests(filter: LabTestFilter) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'lab tests', filter],
    readPage: ({ query: { limit, ...page }, ...request }) =>
      dataOf(
        api.GET('/v3/lab_test', {
          params: { query: { ...filter, ...page, lab_test_limit: limit, include_pricing: true } },
          ...request,
        }),
      ),
  })
}

/** The laboratories that the team can order from. */
export function useLabs() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'labs'],
    queryFn: ({ signal }) => dataOf(api.GET('/v3/lab_tests/labs', { signal })),
  })
}
