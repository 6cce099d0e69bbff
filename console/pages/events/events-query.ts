import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import type { components, operations } from '../../api/schema.d.ts'
import type { Filter, FilterField } from '../../components/filters.ts'
import { useTeam } from '../../session/team.ts'

export type EventRow = components['schemas']['EventRow']
type EventQuery = NonNullable<operations['list_event_rows']['parameters']['query']>

/** While the tail is live, the loaded pages are read again this often. */
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

/** Events that match, newest first; read again while `isLive`. */
export function useEvents(query: EventQuery, isLive: boolean) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'events', query],
    readPage: ({ query: page, ...request }) =>
      dataOf(api.GET('/console/v1/events', { params: { query: { ...query, ...page } }, ...request })),
    refresh_ms: isLive && TAIL_MS,
  })
}
