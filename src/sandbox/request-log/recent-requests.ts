// The newest requests of teams, in the memory of this process: what a developer wants to see while a program is tried out. It keeps no query,
// no body and no part of a path that is not an id.
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Call } from '../../platform/http/call.ts'
import type { EndedResponse } from '../../platform/http/server.ts'
import { iso, truncateToSeconds } from '../../platform/runtime/clock.ts'
import type { LoggedRequest } from './schema.ts'

const TEAM_REQUESTS_MAX = 200
const TEAMS_MAX = 200
const ERROR_MAX = 300

interface TeamRequests {
  position: number
  requests: LoggedRequest[]
}

export class RecentRequests {
  readonly #teams = new LRUCache<string, TeamRequests>({ max: TEAMS_MAX })
  /** Positions of another process mean nothing here. */
  readonly #process = randomBytes(6).toString('base64url')

  /** Adds a request of a sandbox team with its key. */
  record({ id, method, operation, tenant, manager, sent_params, error }: Call, response: EndedResponse): void {
    if (operation.isUnlisted || manager || !tenant?.cell.startsWith('sandbox')) return
    this.add(tenant.team, {
      id,
      at: iso(truncateToSeconds(response.ended_at)),
      method,
      path: pathWithIds(operation.path, sent_params),
      operation: operation.id,
      status: response.status,
      duration_ms: Math.round(response.duration_ms * 10) / 10,
      error: reasonOf(error),
    })
  }

  /** Adds a request; the oldest of the team is dropped, and of the teams the one that was not heard of for longest. */
  add(team_id: string, request: LoggedRequest): void {
    let entry = this.#teams.get(team_id)
    if (!entry) this.#teams.set(team_id, (entry = { position: 0, requests: [] }))
    entry.position++
    entry.requests.push({ ...request, error: request.error?.slice(0, ERROR_MAX) ?? null })
    if (entry.requests.length > TEAM_REQUESTS_MAX) entry.requests.shift()
  }

  /** The requests of a team after a position, oldest first; all that are kept without one, or after one of another process. */
  requestsAfter(team_id: string, cursor: string | undefined): { requests: LoggedRequest[]; next_cursor: string } {
    const entry = this.#teams.get(team_id) ?? { position: 0, requests: [] }
    const [process, text] = cursor?.split('.') ?? []
    const position = process === this.#process ? Number(text) : 0
    const count = Number.isInteger(position) && position <= entry.position ? entry.position - position : entry.position
    return {
      requests: count === 0 ? [] : entry.requests.slice(-count),
      next_cursor: `${this.#process}.${entry.position}`,
    }
  }
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The path of an operation with the ids that a request had in it; other values may say something of a patient. */
export const pathWithIds = (path: string, values: Record<string, unknown>): string =>
  path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === 'string' && ID.test(value) ? value : `{${name}}`
  })

/** The reason in an error's body, in one line. */
function reasonOf(body: unknown): string | null {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return detail
  if (!Array.isArray(detail)) return null
  const faults = detail as { loc?: unknown[]; msg?: string }[]
  return faults.map(({ loc = [], msg = '' }) => `${loc.join('.')}: ${msg}`).join('; ')
}
