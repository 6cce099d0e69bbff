// `bin/drawbridge events list` and `show`: the events of a team, read from a running server.
import { UsageError, type ClientContext } from '../command-tree.ts'
import { createApiClient, request, type ApiClient, type RemoteValues } from './api-client.ts'

const PAGE = 100
const LISTED = 20
const LISTED_MAX = 1000
/** How far back `show` looks. */
const LOOKED_AT_MAX = 10_000

/** An event of a list or of the feed, with its body as far as its reader knows it. */
export interface ListedEvent<Body> {
  id: string
  type: string
  object_id: string
  created_at: string
  /** Null: it is deleted. */
  body: Body | null
}

type EventOfObject = ListedEvent<{ data?: { status?: unknown; last_event?: { status?: unknown } | null } | null }>

interface ListValues extends RemoteValues {
  type?: string
  object?: string
  limit?: string
  json?: boolean
}

/** Prints the newest events, newest first: a line each without personal data, or with `--json` whole. @throws UsageError, or Error if the server rejects us */
export async function printEvents({ values }: { values: ListValues }, { env, printNow }: ClientContext): Promise<void> {
  const limit = Number(values.limit ?? LISTED)
  if (!Number.isInteger(limit) || limit < 1 || limit > LISTED_MAX)
    throw new UsageError(`--limit must be a number from 1 to ${LISTED_MAX}.`)
  const remote = createApiClient(values, env)
  const found: EventOfObject[] = []
  for await (const event of newestFirst(remote, { type: values.type, object_id: values.object }, limit)) found.push(event)
  if (values.json) return printNow(`${JSON.stringify(found, null, 2)}\n`)
  if (found.length === 0) return printNow('There is no event.\n')
  const width = Math.max(...found.map(({ type }) => type.length))
  for (const event of found) printNow(formatEvent(event, width))
}

/** The status is that of the object by the event: of an order, the one of its newest step. */
function formatEvent({ created_at, id, type, object_id, body }: EventOfObject, width: number): string {
  const data = body?.data
  const status = data?.last_event?.status ?? data?.status
  return `${created_at}  ${id}  ${type.padEnd(width)}  ${typeof status === 'string' ? status : '-'}  ${object_id}\n`
}

/** Prints an event as JSON. @throws Error if it is not among the newest 10,000 of the team */
export async function printEvent(
  { args: [id], values }: { args: string[]; values: RemoteValues },
  { env, printNow }: ClientContext,
): Promise<void> {
  for await (const event of newestFirst(createApiClient(values, env), {}, LOOKED_AT_MAX))
    if (event.id === id) return printNow(`${JSON.stringify(event, null, 2)}\n`)
  throw new Error(`There is no such event among the newest ${LOOKED_AT_MAX}.`)
}

async function* newestFirst(
  remote: ApiClient,
  filters: Record<string, string | undefined>,
  count: number,
): AsyncGenerator<EventOfObject> {
  let cursor: string | undefined
  for (let left = count; left > 0;) {
    const query = new URLSearchParams({ limit: String(Math.min(left, PAGE)) })
    for (const [name, value] of Object.entries({ ...filters, next_cursor: cursor }))
      if (value !== undefined) query.set(name, value)
    const { status, body } = await request(remote, 'GET', `/v1/events?${query}`)
    if (status !== 200) throw new Error(`The server responded ${status}: ${JSON.stringify(body?.detail ?? null)}`)
    yield* body.data as EventOfObject[]
    left -= body.data.length
    cursor = body.next_cursor ?? undefined
    if (cursor === undefined || body.data.length === 0) return
  }
}
