// The operations of the API that a member can call here, from the OpenAPI document. It is large, so it is loaded when a page needs it.
import { useQuery } from '@tanstack/react-query'
import { unreachableError, readError } from '../../api/api-error.ts'
import { basePath } from '../../page-context.ts'
import { toOperations, type ApiDocument, type ApiOperation } from './operations.ts'

const NONE: readonly ApiOperation[] = []

/** The operations that keys of teams and of the organization can call, by path. */
export const useApiDocument = () =>
  useQuery({ queryKey: ['api document'], staleTime: Infinity, gcTime: Infinity, queryFn: ({ signal }) => readOperations(signal) })

export const findOperation = (operations: readonly ApiOperation[] | undefined, id: string | null): ApiOperation | undefined =>
  (operations ?? NONE).find((operation) => operation.id === id)

async function readOperations(signal: AbortSignal): Promise<readonly ApiOperation[]> {
  const response = await fetch(`${basePath}/openapi.json`, { signal }).catch((error: unknown) => {
    throw error instanceof TypeError ? unreachableError('GET /openapi.json') : error
  })
  if (!response.ok) throw await readError(response, 'GET /openapi.json')
  return toOperations((await response.json()) as ApiDocument)
}
