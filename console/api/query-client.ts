// The cache of responses. A response 401 anywhere ends the session on this page.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'

export const SESSION_KEY = ['session'] as const
const STALE_MS = 10_000
const RETRIES_MAX = 2

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionIfAbsent }),
  mutationCache: new MutationCache({ onError: endSessionIfAbsent }),
  defaultOptions: {
    // A server on this machine can be reached without a network, so that only a request tells.
    queries: {
      staleTime: STALE_MS,
      networkMode: 'always',
      retry: (failures, error) => failures < RETRIES_MAX && isTemporary(error),
    },
    mutations: { networkMode: 'always' },
  },
})

/** Removes what the pages of a session have read. */
export function forgetResponses(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
  queryClient.getMutationCache().clear()
}

function endSessionIfAbsent(error: Error): void {
  if (!(error instanceof ApiError) || error.status !== 401) return
  queryClient.setQueryData(SESSION_KEY, null)
}

const isTemporary = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 429)
