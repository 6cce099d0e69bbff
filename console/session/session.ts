// The session of the member who is signed in, and the sign-in operations.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { ApiError } from '../api/api-error.ts'
import { api, dataOf } from '../api/client.ts'
import { forgetResponses, queryClient, SESSION_KEY } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'
import { launchId } from '../page-context.ts'

export type LaunchSession = components['schemas']['LaunchSession']
export type Session = components['schemas']['SignedInMember'] | LaunchSession

/** A session is read again after this time, so that a change of roles is seen. */
const STALE_MS = 60_000

/** The session; null if nobody is signed in. Another session than before begins with an empty cache. */
const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  staleTime: STALE_MS,
  async queryFn({ signal }): Promise<Session | null> {
    const before = queryClient.getQueryData<Session | null>(SESSION_KEY)
    const session = await readSession(signal)
    if (before && before.session_id !== session?.session_id) forgetResponses()
    return session
  },
})

async function readSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return await (launchId
      ? dataOf(api.GET('/console/api/launch', { signal }))
      : dataOf(api.GET('/console/api/session', { signal })))
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/** What the gate of the session reads. */
export const useSessionQuery = () => useQuery(sessionQuery)

export const SessionContext = createContext<Session | undefined>(undefined)

/** The session, below the gate. */
export function useSession(): Session {
  const session = use(SessionContext)
  if (!session) throw new Error('there is no session outside of the session gate')
  return session
}

/** The session, if a launch URL has opened it. */
export function useLaunch(): LaunchSession | undefined {
  const session = useSession()
  return 'feature' in session ? session : undefined
}

/** Reads the session that a sign-in has begun. */
export async function startSession(): Promise<void> {
  forgetResponses()
  await queryClient.refetchQueries({ queryKey: SESSION_KEY })
}

/** Reads the session again, after its teams or roles have changed. */
export const refreshSession = (): Promise<void> => queryClient.refetchQueries({ queryKey: SESSION_KEY })

/** Ends the session in this browser and on the server. */
export async function signOut(): Promise<void> {
  await (launchId ? api.DELETE('/console/api/launch') : api.POST('/console/api/sign-out'))
  queryClient.setQueryData(SESSION_KEY, null)
  forgetResponses()
}
