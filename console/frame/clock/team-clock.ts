// The clock of a sandbox team.
import { skipToken, useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useTeam } from '../../session/team.ts'

/** The clock. Teams outside of sandboxes have none. */
export function useTeamClock() {
  const { api, key, environment } = useTeam()
  return useQuery({
    queryKey: [...key, 'clock'],
    queryFn: environment === 'sandbox' ? ({ signal }) => dataOf(api.GET('/v1/sandbox/clock', { signal })) : skipToken,
  })
}

/** How far the team's clock is ahead of the system clock, in milliseconds. */
export const useClockOffset = (): number => (useTeamClock().data?.offset_s ?? 0) * 1000
