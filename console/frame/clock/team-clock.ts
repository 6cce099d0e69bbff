// The clock of a sandbox team: its present, what moving it will do, and moving it.
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

/** How far to move the clock: by a number of seconds, or to an instant. */
export type ClockTarget = { seconds: number } | { to: string }

/** A move of the clock: its present, and the jobs that ran. */
export type ClockMove = Pick<components['schemas']['AdvancedClock'], 'now' | 'jobs_run' | 'jobs'>

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

/** What becomes due until a target; without a target until the next deadline. */
export function useClockPreview(target: ClockTarget | undefined) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'clock-preview', target],
    // The clock goes on meanwhile.
    staleTime: 0,
    queryFn: ({ signal }) => dataOf(api.GET('/v1/sandbox/clock/preview', { params: { query: target ?? {} }, signal })),
  })
}

/** Moves the clock, however many calls that takes, and reads everything of the team again. */
export function useAdvanceClock() {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  return useMutation({
    async mutationFn(target: string): Promise<ClockMove> {
      const jobs: ClockMove['jobs'] = []
      for (let jobs_run = 0; ;) {
        const move = await dataOf(api.POST('/v1/sandbox/clock/advance', { body: { to: target } }))
        jobs_run += move.jobs_run
        jobs.push(...move.jobs)
        if (move.complete) return { now: move.now, jobs_run, jobs }
      }
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: key }),
  })
}
