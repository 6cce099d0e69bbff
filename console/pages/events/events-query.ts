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

const checkStatus = (value: string): string | undefined =>
  /^[1-5]\d\d$/.test(value) ? undefined : 'A status is a number from 100 to 599'

export const EVENT_FIELDS: readonly FilterField[] = [
  { name: 'type', example: 'labtest.order.updated' },
  { name: 'delivery', values: ['pending', 'failed', 'stopped'] },
  { name: 'object', check: checkId },
  { name: 'user', check: checkId },
  { name: 'destination', example: 'ep_…' },
  { name: 'status', example: '503', check: checkStatus },
  { name: 'error', example: 'ECONNREFUSED' },
]

export function toEventQuery(filters: readonly Filter[]): EventQuery {
  const valuesOf = (name: string) => filters.filter((filter) => filter.name === name).map(({ value }) => value)
  const lastOf = (name: string) => valuesOf(name).at(-1)
  const query: Record<string, unknown> = {
    type: valuesOf('type'),
    delivery_state: lastOf('delivery'),
    object_id: lastOf('object'),
    user_id: lastOf('user'),
    destination_id: lastOf('destination'),
    response_status: lastOf('status'),
    error: lastOf('error'),
  }
  const isSet = ([, value]: [string, unknown]) => (Array.isArray(value) ? value.length > 0 : value !== undefined)
  return Object.fromEntries(Object.entries(query).filter(isSet))
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
