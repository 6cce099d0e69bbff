// The newest requests of teams, in the memory of this process: what a developer wants to see while a program is tried out. It keeps no query,
// no body and no part of a path that is not an id.
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { iso, systemNow, truncateToSeconds } from '../runtime/clock.ts'
import type { Operation } from './operation.ts'
import { pathValues } from './request-path.ts'

/** A request that was answered. */
export interface RecentRequest {
  /** Of the `request.id` in the log. */
  id: string
  at: string
  method: string
  path: string
  operation: string
  status: number
  duration_ms: number
  /** Why it was refused. */
  error: string | null
}

const KEPT_OF_TEAM = 200
const TEAMS_MAX = 200
const ERROR_MAX = 300

/** A request that was answered, as the server has it. */
interface AnsweredRequest {
  id: string
  method: string
  url: string
  params: unknown
  routeOptions: { config: { operation?: Operation } }
  tenant: { team: string; cell: string } | undefined
  manager: unknown
  refusal: string | null
}

interface Kept {
  position: number
  requests: RecentRequest[]
}

export class RecentRequests {
  readonly #teams = new LRUCache<string, Kept>({ max: TEAMS_MAX })
  /** Positions of another process mean nothing here. */
  readonly #process = randomBytes(6).toString('base64url')

  /** Keeps a request of a sandbox team with its key. */
  keep(request: AnsweredRequest, { statusCode: status, elapsedTime }: { statusCode: number; elapsedTime: number }): void {
    const { id, method, tenant, manager, refusal: error } = request
    const { operation } = request.routeOptions.config
    if (!operation || operation.unlisted || manager || !tenant?.cell.startsWith('sandbox')) return
    const { path: template } = operation
    const path = template.includes('{') ? pathWithIds(template, pathValues(operation, request)) : template
    const duration_ms = Math.round(elapsedTime * 10) / 10
    const at = iso(truncateToSeconds(systemNow()))
    this.add(tenant.team, { id, at, method, path, operation: operation.id, status, duration_ms, error })
  }

  /** Adds a request; the oldest of the team is dropped, and of the teams the one that was not heard of for longest. */
  add(team_id: string, request: RecentRequest): void {
    let kept = this.#teams.get(team_id)
    if (!kept) this.#teams.set(team_id, (kept = { position: 0, requests: [] }))
    kept.position++
    kept.requests.push({ ...request, error: request.error?.slice(0, ERROR_MAX) ?? null })
    if (kept.requests.length > KEPT_OF_TEAM) kept.requests.shift()
  }

  /** The requests of a team after a position, oldest first; all that are kept without one, or after one of another process. */
  after(team_id: string, cursor: string | undefined): { requests: RecentRequest[]; next_cursor: string } {
    const kept = this.#teams.get(team_id) ?? { position: 0, requests: [] }
    const [process, text] = cursor?.split('.') ?? []
    const position = process === this.#process ? Number(text) : 0
    const count = Number.isInteger(position) && position <= kept.position ? kept.position - position : kept.position
    return {
      requests: count === 0 ? [] : kept.requests.slice(-count),
      next_cursor: `${this.#process}.${kept.position}`,
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
export function reasonOf(body: unknown): string | null {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return detail
  if (!Array.isArray(detail)) return null
  const faults = detail as { loc?: unknown[]; msg?: string }[]
  return faults.map(({ loc = [], msg = '' }) => `${loc.join('.')}: ${msg}`).join('; ')
}
