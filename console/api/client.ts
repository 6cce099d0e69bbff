// The typed client of the API. Sessions authenticate by a cookie, which counts only together with the header of the console.
import createClient, { type Client, type Middleware } from 'openapi-fetch'
import { basePath, launchId } from '../page-context.ts'
import { readError, unreachableError } from './api-error.ts'
import type { paths } from './schema.d.ts'

export type Api = Client<paths>

/** The team and the cell in which operations of a team run. */
export interface ApiScope {
  team: string
  cell: string
}

/** Every response that is not a success becomes an `ApiError`, so `data` of a response is always there. */
const errors: Middleware = {
  async onResponse({ response, schemaPath, request }) {
    if (!response.ok) throw await readError(response, `${request.method} ${schemaPath}`)
  },
  onError({ error, schemaPath, request }) {
    // An aborted request is nobody's error.
    return error instanceof TypeError ? unreachableError(`${request.method} ${schemaPath}`) : undefined
  },
}

/** A client of a team's operations; without a scope, of those of the session and the organization. */
export function createApi(scope?: ApiScope): Api {
  const api = createClient<paths>({
    baseUrl: location.origin + basePath,
    credentials: 'same-origin',
    headers: {
      'x-drawbridge-console': '1',
      ...(launchId && { 'x-drawbridge-launch': launchId }),
      ...(scope && { 'x-drawbridge-team': scope.team, 'x-drawbridge-cell': scope.cell }),
    },
  })
  api.use(errors)
  return api
}

/** The client for sessions and organizations. */
export const api = createApi()

/**
 * The body of a response.
 * @throws ApiError for a response that is not a success, and if there is none
 */
export async function dataOf<Data>(response: Promise<{ data?: Data }>): Promise<Data> {
  return (await response).data as Data
}
