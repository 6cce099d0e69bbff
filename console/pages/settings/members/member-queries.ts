// The members of the organization and its invites.
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { refreshSession, useSession } from '../../../session/session.ts'

export type Member = components['schemas']['Member']
export type Invite = components['schemas']['Invite']
export type InviteLink = components['schemas']['InviteLink']
export type InviteStatus = components['schemas']['Invited']['status']
export type OrgRole = Member['role']
type TeamRoleBinding = components['schemas']['MemberTeamRole']
export type TeamRole = TeamRoleBinding['role']

/** A role in the organization, and the roles in teams that belong to it. */
export interface MemberRole {
  role: OrgRole
  bindings: readonly TeamRoleBinding[]
}

const membersKey = (org_id: string) => ['organization', org_id, 'members'] as const
const invitesKey = (org_id: string) => ['organization', org_id, 'invites'] as const

/** Members whose name or address has the text, newest first. */
export function useMembers(search: string) {
  const { org } = useSession()
  return useInfiniteQuery({
    queryKey: [...membersKey(org.id), search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/member', {
          params: {
            path: { org_id: org.id },
            query: { ...(search && { search_query: search }), ...(pageParam !== undefined && { next_cursor: pageParam }) },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ members }) => members),
    placeholderData: keepPreviousData,
  })
}

/** Invites that are neither accepted nor expired, newest first. */
export function useInvites() {
  const { org } = useSession()
  return useInfiniteQuery({
    queryKey: invitesKey(org.id),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/invite', {
          params: { path: { org_id: org.id }, query: { ...(pageParam !== undefined && { next_cursor: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ invites }) => invites),
  })
}

const toBindings = ({ role, bindings }: MemberRole) => (role === 'team_admin' ? [...bindings] : null)

/** Functions that change members. A change of the own role is seen at once. */
export function useMemberChanges() {
  const { org, member } = useSession()
  const queryClient = useQueryClient()
  const refresh = async (member_id: string): Promise<void> => {
    if (member_id === member.id) await refreshSession()
    await queryClient.invalidateQueries({ queryKey: membersKey(org.id) })
  }
  return {
    async setRole(member_id: string, role: MemberRole): Promise<void> {
      await api.PATCH('/v1/org/{org_id}/member/{member_id}', {
        params: { path: { org_id: org.id, member_id } },
        body: { role: role.role, team_role_bindings: toBindings(role) },
      })
      await refresh(member_id)
    },
    async remove(member_id: string): Promise<void> {
      await api.DELETE('/v1/org/{org_id}/member/{member_id}', { params: { path: { org_id: org.id, member_id } } })
      await refresh(member_id)
    },
  }
}

/** Functions that change invites. Links are in responses alone, which no cache keeps. */
export function useInviteChanges() {
  const { org } = useSession()
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: invitesKey(org.id) })
  const createLink = (invite_id: string): Promise<InviteLink> =>
    dataOf(api.POST('/v1/org/{org_id}/invite/{invite_id}/link', { params: { path: { org_id: org.id, invite_id } } }))
  return {
    createLink,
    async invite(email: string, role: MemberRole): Promise<InviteStatus> {
      const bindings = toBindings(role)
      const { status } = await dataOf(
        api.POST('/v1/org/{org_id}/invite', {
          params: { path: { org_id: org.id } },
          body: { email, role: role.role, ...(bindings && { team_role_bindings: bindings }) },
        }),
      )
      await refresh()
      return status
    },
    /** A link that accepts the pending invite of an address. */
    async createLinkFor(email: string): Promise<InviteLink> {
      const { invites } = await dataOf(
        api.GET('/v1/org/{org_id}/invite', { params: { path: { org_id: org.id }, query: { search_query: email } } }),
      )
      const pending = invites.find((candidate) => candidate.email.toLowerCase() === email.toLowerCase())
      if (!pending) throw new Error('the invite is not pending any more')
      return createLink(pending.id)
    },
    async revoke(invite_id: string): Promise<void> {
      await api.DELETE('/v1/org/{org_id}/invite/{invite_id}', { params: { path: { org_id: org.id, invite_id } } })
      await refresh()
    },
  }
}
