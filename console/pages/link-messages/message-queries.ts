// Messages over links to laboratories. Each reading is in the access log, so nothing is read by itself but a message that is being worked on.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components, operations } from '../../api/schema.d.ts'
import type { Filter, FilterField } from '../../components/filters.ts'
import { useTeam } from '../../session/team.ts'
import type { Tone } from '../../theme.ts'
import { useLinkScope } from '../links/link-queries.ts'

export type LabMessageSummary = components['schemas']['LabMessageSummary']
export type LabMessage = components['schemas']['LabMessage']
type MessageState = LabMessageSummary['state']
type MessageQuery = NonNullable<operations['list_lab_messages']['parameters']['query']>

/** What a state means. Every state of the API is here. */
export const MESSAGE_TONES: Record<MessageState, Tone> = {
  received: 'progress',
  applied: 'good',
  review: 'attention',
  failed: 'failed',
  test: 'neutral',
  shadow: 'neutral',
  queued: 'progress',
  sent: 'progress',
  committed: 'progress',
  accepted: 'good',
  refused: 'failed',
  expired: 'failed',
  done: 'neutral',
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const MESSAGE_FIELDS: readonly FilterField[] = [
  { name: 'state', values: Object.keys(MESSAGE_TONES), example: 'failed' },
  { name: 'direction', values: ['in', 'out'] },
  { name: 'order', check: (value) => (UUID.test(value) ? undefined : 'This is not a whole id') },
  { name: 'control_id', example: '20260131-17' },
  {
    name: 'since',
    example: '2026-01-31T09:00:00Z',
    check: (value) => (Number.isNaN(Date.parse(value)) ? 'A time is written like 2026-01-31T09:00:00Z' : undefined),
  },
]

export function toMessageQuery(filters: readonly Filter[], account_id: string | undefined): MessageQuery {
  const lastOf = (name: string) => filters.findLast((filter) => filter.name === name)?.value
  const [state, since] = [filters.filter(({ name }) => name === 'state'), lastOf('since')]
  const query: Record<string, unknown> = {
    account_id,
    state: state.length ? state.map(({ value }) => value) : undefined,
    direction: lastOf('direction'),
    order_id: lastOf('order'),
    control_id: lastOf('control_id'),
    since: since && new Date(since).toISOString(),
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

const useMessagesKey = () => [...useTeam().key, 'lab messages'] as const

/** Messages that match, newest first. */
export function useMessages(query: MessageQuery) {
  const { api } = useTeam()
  const path = useLinkScope()
  return useKeysetList({
    queryKey: [...useMessagesKey(), query],
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/lab_message/{env}/{region}', { params: { path, query: { ...query, ...page } }, ...request }),
      ),
  })
}

/** How often a message that a worker or transport has to take up is read again, and for how long. */
const WORK_MS = 2000
const WORK_MS_MAX = 20_000

export function useMessage(message_id: string) {
  const { api, key } = useTeam()
  const path = { ...useLinkScope(), message_id }
  return useQuery({
    queryKey: [...key, 'lab message', message_id],
    queryFn: async (context) => {
      const reply = await api.GET('/v1/org/{org_id}/lab_message/{env}/{region}/{message_id}', {
        params: { path },
        signal: context.signal,
        headers: refreshHeaders(context),
      })
      return reply.data as LabMessage
    },
    // Each reading writes an audit entry.
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { data } }) => data !== undefined && isBeingWorkedOn(data) && WORK_MS,
  })
}

const isBeingWorkedOn = ({ state, updated_at }: LabMessage): boolean =>
  ['received', 'queued'].includes(state) && Date.now() - Date.parse(updated_at) < WORK_MS_MAX

/** What can be done with a message: each step, and then the message as it is. */
export function useMessageSteps(message_id: string) {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  const messagesKey = useMessagesKey()
  const path = { ...useLinkScope(), message_id }
  const refresh = async (): Promise<void> => {
    await queryClient.invalidateQueries({ queryKey: [...key, 'lab message', message_id] })
    for (const queryKey of [messagesKey, [...key, 'lab link issues']])
      await queryClient.invalidateQueries({ queryKey, refetchType: 'none' })
  }
  return {
    async replay(): Promise<void> {
      await api.POST('/v1/org/{org_id}/lab_message/{env}/{region}/{message_id}/replay', { params: { path } })
      await refresh()
    },
    async resend(): Promise<void> {
      await api.POST('/v1/org/{org_id}/lab_message/{env}/{region}/{message_id}/resend', { params: { path } })
      await refresh()
    },
    async finish(comment: string): Promise<void> {
      const body = comment ? { comment } : {}
      await api.POST('/v1/org/{org_id}/lab_message/{env}/{region}/{message_id}/done', { params: { path }, body })
      await refresh()
    },
    /** The bytes as they came or went. */
    async readBytes(): Promise<Blob> {
      const { data } = await api.GET('/v1/org/{org_id}/lab_message/{env}/{region}/{message_id}', {
        params: { path },
        headers: { accept: 'application/octet-stream' },
        parseAs: 'blob',
      })
      return data as Blob
    },
  }
}
