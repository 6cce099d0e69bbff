// Why deliveries failed.
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type DeliveryFailure = components['schemas']['DeliveryFailure']

const REFRESH_MS = 10_000

/** The failed attempts of the last hours, by endpoint or broker and cause. */
export function useFailures(hours: number) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoints', 'failures', hours],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/delivery_failures', {
          params: { query: { hours } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    placeholderData: (previous) => previous,
    refetchInterval: REFRESH_MS,
  })
}

/** The cause of a failure in words. */
export const causeWords = ({ response_status, error }: DeliveryFailure): string =>
  [response_status === null ? 'no response' : `status ${response_status}`, error].filter(Boolean).join(': ')

/** The list of the events that failed for this cause. */
export function eventsPath({ destination_id, response_status, error }: DeliveryFailure): string {
  const query = new URLSearchParams({ destination: destination_id })
  if (response_status !== null) query.set('status', String(response_status))
  if (error !== null) query.set('error', error)
  return `events?${query.toString()}`
}
