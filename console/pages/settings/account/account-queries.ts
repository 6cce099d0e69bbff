// The sessions, the password and the passkeys of the member who has signed in.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { addPasskey } from '../../../session/passkeys.ts'
import { refreshSession } from '../../../session/session.ts'

export type ConsoleSession = components['schemas']['ConsoleSession']

const SESSIONS = ['account', 'sessions'] as const
const PASSKEYS = ['account', 'passkeys'] as const

export const useSessions = () =>
  useQuery({
    queryKey: SESSIONS,
    queryFn: ({ signal }) => dataOf(api.GET('/console/api/sessions', { signal })),
    select: ({ sessions }) => sessions,
  })

/** Ends a session. After that of this browser the sign-in page is shown. */
export function useEndSession() {
  const queryClient = useQueryClient()
  return useMutation({
    async mutationFn({ id, is_current }: Pick<ConsoleSession, 'id' | 'is_current'>) {
      await api.DELETE('/console/api/sessions/{session_id}', { params: { path: { session_id: id } } })
      if (is_current) await refreshSession()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: SESSIONS }),
  })
}

/** Returns a function that ends all sessions of the member, or all others than that of this browser. */
export function useEndSessions(): (keepsCurrent: boolean) => Promise<void> {
  const queryClient = useQueryClient()
  return async (keepsCurrent) => {
    await api.DELETE('/console/api/sessions', { params: { query: { keep_current: keepsCurrent } } })
    await (keepsCurrent ? queryClient.invalidateQueries({ queryKey: SESSIONS }) : refreshSession())
  }
}

/** Changes the password; all other sessions end. */
export function useChangePassword() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: { current_password: string; password: string }) => api.PUT('/console/api/password', { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: SESSIONS }),
  })
}

export const usePasskeys = () =>
  useQuery({
    queryKey: PASSKEYS,
    queryFn: ({ signal }) => dataOf(api.GET('/console/api/passkeys', { signal })),
    select: ({ passkeys }) => passkeys,
  })

/** Adds a passkey of this browser under a name. */
export function useAddPasskey() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: addPasskey,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: PASSKEYS }),
  })
}

/** Returns a function that removes a passkey. */
export function useRemovePasskey(): (passkey_id: string) => Promise<void> {
  const queryClient = useQueryClient()
  return async (passkey_id) => {
    await api.DELETE('/console/api/passkeys/{passkey_id}', { params: { path: { passkey_id } } })
    await queryClient.invalidateQueries({ queryKey: PASSKEYS })
  }
}
