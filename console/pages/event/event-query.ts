import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type EventDetails = components['schemas']['EventDetails']

/** Deliveries go on by themselves, so the page reads the event again while it is open. */
const REFRESH_MS = 3000

export function useEvent(event_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'event', event_id],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/events/{event_id}', {
          params: { path: { event_id } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: REFRESH_MS,
  })
}

/** Sends the event to one endpoint again. */
export function useResend({ id, message_id }: EventDetails) {
  const { api, key, org_id, team, environment } = useTeam()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (webhook_id: string) =>
      api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/message/{message_id}/resend', {
        params: { path: { org_id, team_id: team.id, environment, webhook_id, message_id } },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [...key, 'event', id] }),
  })
}
