// The pipeline of the team: the brokers to which its events are written.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type Pipeline = components['schemas']['ClientFacingETLPipeline']
export type BrokerKind = 'rabbitmq' | 'azure_amqp' | 'cloud_pubsub'
type PipelineChanges = components['schemas']['UpsertTeamETLPipelinesBody']

export const BROKER_KINDS = ['rabbitmq', 'azure_amqp', 'cloud_pubsub'] as const satisfies readonly BrokerKind[]

function usePipelinePath() {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

/** The pipeline of the team; null if it has none. */
export function usePipeline() {
  const { api, key, team } = useTeam()
  const path = usePipelinePath()
  return useQuery({
    queryKey: [...key, 'endpoints', 'pipeline'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team_etl_pipelines/{env}/{region}', {
          params: { path, query: { team_id: team.id } },
          signal,
        }),
      ),
    select: ({ pipelines }): Pipeline | null => pipelines[0] ?? null,
  })
}

function useRefresh(): () => Promise<void> {
  const { key } = useTeam()
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: [...key, 'endpoints'] })
}

/** Creates or changes the pipeline. What it holds of a secret is in no cache. */
export function useSavePipeline() {
  const { api, team } = useTeam()
  const path = usePipelinePath()
  const refresh = useRefresh()
  return useMutation({
    gcTime: 0,
    mutationFn: (changes: PipelineChanges) =>
      api.POST('/v1/org/{org_id}/team_etl_pipelines/{env}/{region}', {
        params: { path },
        body: { team_ids: [team.id], ...changes },
      }),
    onSuccess: refresh,
  })
}

/** A function that deletes the pipeline with all its brokers. */
export function useDeletePipeline(): () => Promise<void> {
  const { api, team } = useTeam()
  const path = usePipelinePath()
  const refresh = useRefresh()
  return async () => {
    await api.DELETE('/v1/org/{org_id}/team_etl_pipelines/{env}/{region}', {
      params: { path, query: { team_id: [team.id] } },
    })
    await refresh()
  }
}
