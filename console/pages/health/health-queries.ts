// What the page reads, again and again while it is open.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Api } from '../../api/client.ts'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type JobCounts = components['schemas']['JobHealth']
export type FailedJob = components['schemas']['FailedJob']
export type EndpointHealth = components['schemas']['EndpointHealth']
export type FailingConnection = components['schemas']['FailingConnection']
export type ServerHealth = components['schemas']['ServerHealth']

/** `dead`: tried no more; `retrying`: there will be another attempt. */
export type FailedState = 'dead' | 'retrying'

const REFRESH_MS = 15_000
/** Jobs that one request retries. */
const RETRIED_MAX = 1000

const useTeamPath = () => {
  const { org_id, team, environment } = useTeam()
  return { org_id, team_id: team.id, environment }
}

/** The jobs of the team by name: what waits, and what failed. */
export function useJobCounts() {
  const { api, key } = useTeam()
  const path = useTeamPath()
  return useQuery({
    queryKey: [...key, 'jobs', 'counts'],
    queryFn: (context) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/job_count', {
          params: { path },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: REFRESH_MS,
  })
}

/** @param name of the jobs; undefined: of all kinds */
export function useFailedJobs(state: FailedState, name: string | undefined) {
  const { api, key } = useTeam()
  const path = useTeamPath()
  return useKeysetList({
    queryKey: [...key, 'jobs', state, name ?? ''],
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/failed_job', {
          params: { path, query: { state, ...(name !== undefined && { name }), ...page } },
          ...request,
        }),
      ),
    refresh_ms: REFRESH_MS,
  })
}

/** What a retry acts on: chosen jobs, or all that failed of one kind. */
export type RetryTarget = { jobs: readonly FailedJob[] } | { name: string; count: number }

export interface RetryOutcome {
  retry_count: number
  /** Jobs that were not failed any more. */
  skip_count: number
}

/** Makes failed jobs run again, a thousand by a request. */
export function useRetry() {
  const { api, key } = useTeam()
  const path = useTeamPath()
  const queryClient = useQueryClient()
  const send = (body: components['schemas']['RetryFailedJobs']) => sendRetry(api, path, body)
  return useMutation({
    mutationFn: (target: RetryTarget): Promise<RetryOutcome> =>
      'jobs' in target ? retryChosen(target.jobs, send) : retryKind(target, send),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [...key, 'jobs'] }),
  })
}

type Send = (body: components['schemas']['RetryFailedJobs']) => Promise<components['schemas']['RetriedJobs']>

const sendRetry = (api: Api, path: ReturnType<typeof useTeamPath>, body: components['schemas']['RetryFailedJobs']) =>
  dataOf(api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/failed_job/retry', { params: { path }, body }))

async function retryChosen(jobs: readonly FailedJob[], send: Send): Promise<RetryOutcome> {
  const outcome = { retry_count: 0, skip_count: 0 }
  for (let start = 0; start < jobs.length; start += RETRIED_MAX) {
    const { retried, not_found } = await send({
      failed_job_ids: jobs.slice(start, start + RETRIED_MAX).map(({ id }) => id),
    })
    outcome.retry_count += retried.length
    outcome.skip_count += not_found.length
  }
  return outcome
}

/** Ends after the jobs that were counted, so that jobs which fail again at once are not retried for ever. */
async function retryKind({ name, count }: { name: string; count: number }, send: Send): Promise<RetryOutcome> {
  let retry_count = 0
  for (let isMore = true; isMore && retry_count < count;) {
    const reply = await send({ name })
    retry_count += reply.retried.length
    isMore = reply.retried.length === RETRIED_MAX
  }
  return { retry_count, skip_count: Math.max(0, count - retry_count) }
}

/** The endpoints and brokers of the team, and whether they take what is sent. */
export function useEndpointHealth() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoint health'],
    queryFn: (context) =>
      dataOf(api.GET('/console/v1/endpoint_health', { signal: context.signal, headers: refreshHeaders(context) })),
    refetchInterval: REFRESH_MS,
  })
}

/** Connections of users that do not bring data, newest failure first. */
export function useFailingConnections() {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'failing connections'],
    readPage: ({ query, ...request }) => dataOf(api.GET('/console/v1/failing_connections', { params: { query }, ...request })),
    refresh_ms: REFRESH_MS,
  })
}

/** The server in the environment and region of the page. */
export function useServerHealth() {
  const { api, key, org_id, environment, region } = useTeam()
  return useQuery({
    queryKey: [...key, 'server health'],
    queryFn: (context) =>
      dataOf(
        api.GET('/v1/org/{org_id}/health/{env}/{region}', {
          params: { path: { org_id, env: environment, region } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: REFRESH_MS,
  })
}
