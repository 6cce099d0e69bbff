// The first steps in a sandbox: which of them are done, and doing them.
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Api } from '../../api/client.ts'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import { useTeamClock } from '../../frame/clock/team-clock.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useDeliveriesByDay } from '../../components/bars/deliveries.ts'
import { useTeamMetrics } from './team-metrics.ts'

/** How far the simulated steps of an example order are apart: the team's clock brings them about. */
const STEP_S = 3600

/** A fictional patient. */
const PATIENT = {
  patient_details: {
    first_name: 'Testa',
    last_name: 'Fictional',
    dob: '1990-01-31',
    gender: 'female',
    phone_number: '+15550100199',
    email: 'testa@example.com',
  },
  patient_address: { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
} as const

/** The server writes the use of a key within a minute. */
const KEY_REFRESH_MS = 20_000

export interface FirstSteps extends Record<'user' | 'order' | 'clock' | 'endpoint' | 'delivery', boolean> {
  /** Absent for members who may not see keys. */
  key?: boolean
}

/** Which steps are done, as far as the server has said. */
export function useFirstSteps(): FirstSteps {
  const canSeeKeys = usePermission('list_team_api_keys')
  const isKeyUsed = useKeyUse(canSeeKeys).data ?? false
  const metrics = useTeamMetrics().data
  const clock = useTeamClock().data
  const endpoint = useFirstEndpoint().data
  const deliveries = useDeliveriesByDay().data
  return {
    ...(canSeeKeys && { key: isKeyUsed }),
    user: (metrics?.number_of_users ?? 0) > 0,
    order: (metrics?.number_of_ordered_tests ?? 0) > 0,
    clock: (clock?.offset_s ?? 0) > 0,
    endpoint: endpoint != null,
    delivery: deliveries?.some(({ counts }) => counts.success > 0) ?? false,
  }
}

/** Whether a key of the sandbox was used. */
function useKeyUse(canSeeKeys: boolean) {
  const { api, key, org_id, team, environment: env, region } = useTeam()
  return useQuery({
    queryKey: [...key, 'keys', 'use'],
    queryFn: canSeeKeys
      ? async (context) => {
          const { api_keys } = await dataOf(
            api.GET('/v1/org/{org_id}/team_api_keys/{env}/{region}', {
              params: { path: { org_id, env, region }, query: { team_id: team.id } },
              headers: refreshHeaders(context),
              signal: context.signal,
            }),
          )
          return api_keys.some(({ last_used_at }) => last_used_at !== null)
        }
      : skipToken,
    refetchInterval: ({ state }) => (state.data ? false : KEY_REFRESH_MS),
  })
}

/** The newest endpoint; null if there is none. */
export function useFirstEndpoint() {
  const { api, key, org_id, team, environment } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoints', 'first'],
    enabled: usePermission('list_webhooks'),
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook', {
          params: { path: { org_id, team_id: team.id, environment }, query: { limit: 1 } },
          signal,
        }),
      ),
    select: ({ data }) => data[0] ?? null,
  })
}

/** Creates a user without a person. */
export function useCreateExampleUser() {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => createUser(api),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
  })
}

/** Orders the first walk-in test for a fictional patient, and begins the simulation of its laboratory. */
export function usePlaceExampleOrder() {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  return useMutation({
    async mutationFn() {
      const user_id = await createUser(api)
      const [test] = await dataOf(api.GET('/v3/lab_tests', { params: { query: { collection_method: 'walk_in_test' } } }))
      if (!test) throw new Error('the catalog has no walk-in test')
      const { order } = await dataOf(api.POST('/v3/order', { body: { user_id, lab_test_id: test.id, ...PATIENT } }))
      await api.POST('/v3/order/{order_id}/test', {
        params: { path: { order_id: order.id }, query: { delay: STEP_S } },
      })
      return order.id
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
  })
}

const createUser = async (api: Api): Promise<string> =>
  (await dataOf(api.POST('/v2/user', { body: { client_user_id: `example-${crypto.randomUUID()}` } }))).user_id
