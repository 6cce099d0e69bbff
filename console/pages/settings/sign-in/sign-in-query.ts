import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { useSession } from '../../../session/session.ts'

export type SignInSettings = components['schemas']['SignInSettings']

/** How members of the server sign in. */
export function useSignInSettings() {
  const { org } = useSession()
  return useQuery({
    queryKey: ['organization', org.id, 'sign-in'],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/org/{org_id}/sign_in', { params: { path: { org_id: org.id } }, signal })),
  })
}
