// What the pages of the catalog read.
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
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

export type Lab = components['schemas']['Lab']
export type Marker = components['schemas']['MarkerComplete']
export type MarkerFilter = Omit<NonNullable<paths['/v3/lab_tests/markers']['get']['parameters']['query']>, 'page' | 'size'>

/** Rows of a page of markers. */
export const MARKERS_SIZE = 50

/** A page of the markers that can be ordered, with their prices. */
export function useMarkers(filter: MarkerFilter, page: number) {
  const { api, key } = useTeam()
  const query = { ...filter, page, size: MARKERS_SIZE, include_pricing: true }
  return useQuery({
    queryKey: [...key, 'markers', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => dataOf(api.GET('/v3/lab_tests/markers', { params: { query }, signal })),
  })
}

/** What a set of tests and codes of laboratories would order. */
export interface OrderSet {
  lab_test_ids: string[]
  provider_ids: string[]
}

export const toOrderSetBody = ({ lab_test_ids, provider_ids }: OrderSet): components['schemas']['OrderSetRequest'] => ({
  ...(lab_test_ids.length && { lab_test_ids }),
  ...(provider_ids.length && { add_on: { provider_ids } }),
})

/** The most that a request returns. */
const ORDER_SET_MAX = 100

/** The markers that an order set would order, each once; nothing for an empty set. */
export function useOrderSet(orderSet: OrderSet) {
  const { api, key } = useTeam()
  const isEmpty = !orderSet.lab_test_ids.length && !orderSet.provider_ids.length
  return useQuery({
    queryKey: [...key, 'order set', orderSet],
    queryFn: isEmpty
      ? skipToken
      : ({ signal }) =>
          dataOf(
            api.POST('/v3/lab_tests/list_order_set_markers', {
              params: { query: { size: ORDER_SET_MAX } },
              body: toOrderSetBody(orderSet),
              signal,
            }),
          ),
  })
}
