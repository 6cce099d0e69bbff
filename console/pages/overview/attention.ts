import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type AttentionCount = components['schemas']['AttentionCount']

/** Counts are read again this often while the page is open. */
const REFRESH_MS = 30_000

/** What needs attention, by kind, with those that count nothing. */
export function useAttention() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'attention'],
    queryFn: (context) => dataOf(api.GET('/console/v1/attention', { signal: context.signal, headers: refreshHeaders(context) })),
    refetchInterval: REFRESH_MS,
  })
}
