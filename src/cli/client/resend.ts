// `bin/drawbridge events resend`: sends an event again, by the Management API of a running server.
import type { ClientContext, Typed } from '../command-tree.ts'
import { request, type ApiClient } from './api-client.ts'
import { openManagement, type ManagedValues } from './management.ts'
import { messageId } from '../../events/catalog/message-id.ts'

interface Values extends ManagedValues {
  endpoint?: string
  json?: boolean
}

interface Endpoint {
  id: string
  url: string
}

/**
 * Resends an event, by its id in a list or in the header of a delivery, to an endpoint, or to each endpoint of the team that it was sent
 * to. Prints what was done for each.
 * @throws UsageError; Error if no endpoint has the event, the server rejects us, or an endpoint refuses
 */
export async function resend({ args, values }: Typed<Values>, { env, printNow }: ClientContext): Promise<void> {
  const id = isUuid(args[0]!) ? messageId(args[0]!.toLowerCase()) : args[0]!
  const { server, path } = openManagement(values, env)
  const endpoints = (await listEndpoints(server, path)).filter(
    (endpoint) => values.endpoint === undefined || endpoint.id === values.endpoint,
  )
  if (values.endpoint !== undefined && endpoints.length === 0) throw new Error('The team has no such endpoint.')
  const outcomes: { endpoint: string; url: string; outcome: string }[] = []
  for (const endpoint of endpoints) {
    const message = `${path}/webhook/${endpoint.id}/message/${encodeURIComponent(id)}`
    // An endpoint takes also an event that it was never sent; that is done only for the one that is named.
    if (values.endpoint === undefined && (await request(server, 'GET', message)).status === 404) continue
    const { status, body } = await request(server, 'POST', `${message}/resend`)
    if (status === 404) continue
    outcomes.push({ endpoint: endpoint.id, url: endpoint.url, outcome: status < 300 ? 'resent' : rejection(status, body) })
  }
  if (outcomes.length === 0) throw new Error('The event was sent to no endpoint of the team.')
  if (values.json) printNow(`${JSON.stringify(outcomes, null, 2)}\n`)
  else for (const { endpoint, url, outcome } of outcomes) printNow(`${endpoint}  ${url}  ${outcome}\n`)
  if (outcomes.some(({ outcome }) => outcome !== 'resent')) throw new Error('Not every endpoint takes the event.')
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

async function listEndpoints(server: ApiClient, path: string): Promise<Endpoint[]> {
  const found: Endpoint[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `?next_cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await request(server, 'GET', `${path}/webhook${query}`)
    if (status !== 200) throw new Error(`The server at ${server.url} rejected the request: ${rejection(status, body)}`)
    found.push(...(body.data as Endpoint[]))
    cursor = body.next_cursor
  } while (cursor !== null)
  return found
}

const rejection = (status: number, body: unknown): string => {
  const { detail } = (body ?? {}) as { detail?: unknown }
  return `${status}${typeof detail === 'string' ? ` ${detail}` : ''}`
}
