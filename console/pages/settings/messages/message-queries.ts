import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../../api/client.ts'
import { useKeysetList } from '../../../api/keyset-list.ts'
import { refreshHeaders } from '../../../api/refresh.ts'
import type { components, operations } from '../../../api/schema.d.ts'
import type { Filter, FilterField } from '../../../components/filters.ts'
import { useTeam } from '../../../session/team.ts'

export type MessagePreview = components['schemas']['MessagePreview']
export type InboxMessage = components['schemas']['InboxMessage']
type InboxQuery = NonNullable<operations['list_patient_messages']['parameters']['query']>

const REFRESH_MS = 5_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const checkId = (value: string): string | undefined => (UUID.test(value) ? undefined : 'This is not a whole id')

export const INBOX_FIELDS: readonly FilterField[] = [
  { name: 'channel', values: ['sms', 'email'] },
  { name: 'state', values: ['recorded', 'waiting', 'sent', 'failed'] },
  { name: 'order', check: checkId },
  { name: 'user', check: checkId },
]

/** The query of the filters; of two with one name the last. */
export function toInboxQuery(filters: readonly Filter[]): InboxQuery {
  const last = (name: string) => filters.findLast((filter) => filter.name === name)?.value
  const [channel, state, order_id, user_id] = [last('channel'), last('state'), last('order'), last('user')]
  return {
    ...(channel !== undefined && { channel: channel as InboxQuery['channel'] & {} }),
    ...(state !== undefined && { state: state as InboxQuery['state'] & {} }),
    ...(order_id !== undefined && { order_id }),
    ...(user_id !== undefined && { user_id }),
  }
}

/** The messages of the team to its patients, newest first; read again while they are shown. */
export function useInbox(query: InboxQuery) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'inbox', query],
    readPage: ({ query: page, ...request }) =>
      dataOf(api.GET('/console/v1/messages', { params: { query: { ...query, ...page } }, ...request })),
    refresh_ms: REFRESH_MS,
  })
}

/** The texts of all messages, as they are written now. */
export function useMessagePreviews() {
  const { api, key } = useTeam()
  return useQuery({
    // Below the settings of the team: a change of the brand changes the texts.
    queryKey: [...key, 'team settings', 'message previews'],
    queryFn: (context) =>
      dataOf(api.GET('/console/v1/message_previews', { signal: context.signal, headers: refreshHeaders(context) })),
    select: ({ data }) => data,
  })
}
