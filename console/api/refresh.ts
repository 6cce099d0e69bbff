// What pages read again by themselves while they are open.
import type { QueryFunctionContext } from '@tanstack/react-query'

/**
 * The headers of a request: one that only refreshes what the page shows does not prolong the session, so that an open page does not keep a
 * member signed in who has left.
 */
export const refreshHeaders = ({ client, queryKey }: Pick<QueryFunctionContext, 'client' | 'queryKey'>): Record<string, string> =>
  client.getQueryData(queryKey) === undefined ? {} : { 'x-drawbridge-console': 'background' }
