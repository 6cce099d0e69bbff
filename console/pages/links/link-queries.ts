// Links to laboratories of the organization's accounts, in the environment and region of the page.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

export type LabLink = components['schemas']['LabLink']
export type UnplacedOrder = components['schemas']['UnplacedLabOrder']
export type LinkCheckStep = components['schemas']['LabLinkCheckStep']
export type LinkTrial = components['schemas']['LabLinkTrial']
type ProfileFile = components['schemas']['LabLinkProfile']

/** The parameters of operations on the lab accounts of the page. */
export function useLinkScope() {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

/** The links, oldest first. */
export function useLinks() {
  const { api, key } = useTeam()
  const path = useLinkScope()
  return useQuery({
    queryKey: [...key, 'lab links', 'list'],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}', { params: { path }, signal })),
    select: ({ data }) => data,
    enabled: usePermission('get_lab_links'),
  })
}

/** The link of a lab account. */
export function useLink(account_id: string) {
  const { api, key } = useTeam()
  const path = { ...useLinkScope(), account_id }
  return useQuery({
    queryKey: [...key, 'lab links', account_id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}', { params: { path }, signal })),
    select: ({ lab_link }) => lab_link,
  })
}

/** Orders under the account that its laboratory does not have, oldest first. They are read with the page: each reading is in the access log. */
export function useUnplacedOrders(account_id: string) {
  const { api, key } = useTeam()
  const path = { ...useLinkScope(), account_id }
  return useQuery({
    queryKey: [...key, 'lab links', account_id, 'unplaced orders'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/unplaced_order', { params: { path }, signal })),
    select: ({ data }) => data,
    enabled: usePermission('list_unplaced_lab_link_orders'),
  })
}

const TRIAL_REFRESH_MS = 2000

/** The newest trial of a link. It is read again while its orders are being sent. */
export function useTrial(account_id: string) {
  const { api, key } = useTeam()
  const path = { ...useLinkScope(), account_id }
  return useQuery({
    queryKey: [...key, 'lab links', account_id, 'trial'],
    queryFn: async ({ signal }) =>
      // The other media type is a text.
      (await dataOf(
        api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/trial', { params: { path }, signal }),
      )) as LinkTrial,
    refetchInterval: ({ state }) => (state.data?.is_running ? TRIAL_REFRESH_MS : false),
    enabled: usePermission('get_lab_link_trial'),
  })
}

/** A function that sends orders to their laboratory again, one after the other. Errors: the first one that is refused ends it. */
export function useSendOrder(account_id: string): (orders: readonly UnplacedOrder[]) => Promise<void> {
  const { api, key, org_id, environment } = useTeam()
  const queryClient = useQueryClient()
  return async (orders) => {
    try {
      for (const { order_id, team_id } of orders)
        await api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/lab_link/order/{order_id}/send', {
          params: { path: { org_id, team_id, environment, order_id } },
        })
    } finally {
      await queryClient.invalidateQueries({ queryKey: [...key, 'lab links', account_id] })
      await queryClient.invalidateQueries({ queryKey: [...key, 'lab messages'], refetchType: 'none' })
    }
  }
}

/** What can be done with the link of a lab account. After a change the links are read again. */
export function useLinkChanges(account_id: string) {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  const params = { path: { ...useLinkScope(), account_id } }
  const refresh = () => queryClient.invalidateQueries({ queryKey: [...key, 'lab links'] })
  return {
    /** The profile as a file, with masks in place of secrets. */
    exportProfile: () => dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/profile', { params })),
    async importProfile(body: ProfileFile): Promise<void> {
      await api.PUT('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}', { params, body })
      await refresh()
    },
    /** Starts a trial of the link. */
    async startTrial(): Promise<void> {
      const trial = await dataOf(api.POST('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/trial', { params, body: {} }))
      queryClient.setQueryData([...key, 'lab links', account_id, 'trial'], trial)
    },
    /** What came back of the newest trial, as a page in HTML. */
    async readTrialReport(): Promise<Blob> {
      const response = await api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/trial', {
        params,
        headers: { accept: 'text/html' },
        parseAs: 'blob',
      })
      return response.data!
    },
    /** Checks the link from the server. */
    check: () => dataOf(api.POST('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/check', { params })),
    async setMode(mode: LabLink['mode'], team_id: string | undefined): Promise<void> {
      await api.PUT('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/mode', {
        params,
        body: { mode, ...(team_id !== undefined && { team_id }) },
      })
      await refresh()
    },
  }
}

/** A lab account in words: its laboratory, and its number there. */
export const accountWords = ({ lab, account_number }: { lab: string; account_number: string }): string =>
  `${lab} · ${account_number}`
