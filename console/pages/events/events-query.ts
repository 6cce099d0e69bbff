import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components, operations } from '../../api/schema.d.ts'
import type { Filter, FilterField } from '../../components/filters.ts'
import { useTeam } from '../../session/team.ts'

export type EventRow = components['schemas']['EventRow']
type EventQuery = NonNullable<operations['list_event_rows']['parameters']['query']>

const PAGE_SIZE = 100
/** While the tail is live, the first pages are read again this often. */
const TAIL_MS = 3000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const checkId = (value: string): string | undefined => (UUID.test(value) ? undefined : 'This is not a whole id')

export const EVENT_FIELDS: readonly FilterField[] = [
  { name: 'type', example: 'labtest.order.updated' },
  { name: 'delivery', values: ['pending', 'failed', 'stopped'] },
  { name: 'object', check: checkId },
  { name: 'user', check: checkId },
]

export function toEventQuery(filters: readonly Filter[]): EventQuery {
  const valuesOf = (name: string) => filters.filter((filter) => filter.name === name).map(({ value }) => value)
  const [types, state, object, user] = ['type', 'delivery', 'object', 'user'].map(valuesOf) as [
    string[],
    string[],
    string[],
    string[],
  ]
  return {
    ...(types.length && { type: types }),
    ...(state.length && { delivery_state: state.at(-1) as NonNullable<EventQuery['delivery_state']> }),
    ...(object.length && { object_id: object.at(-1)! }),
    ...(user.length && { user_id: user.at(-1)! }),
  }
}

/** Events that match, newest first, page by page; read again while `isLive`. */
export function useEvents(query: EventQuery, isLive: boolean) {
  const { api, key } = useTeam()
  return useInfiniteQuery({
    queryKey: [...key, 'events', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/console/v1/events', {
          params: { query: { ...query, limit: PAGE_SIZE, ...(pageParam !== undefined && { next_cursor: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: isLive && TAIL_MS,
  })
}
