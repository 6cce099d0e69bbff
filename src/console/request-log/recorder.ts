// Records the requests of teams: who called which operation when, with which outcome, without bodies, values of paths and queries. Requests
// are collected in memory and written together, so that none waits. Owns request_log and request_count.
//
// Each request is counted. Of the rows a process writes at most one a second for each team on average, and as many of errors: a busy team
// fills neither the database nor the list of its errors. A crash loses the requests of its last second.
import { LRUCache } from 'lru-cache'
import type { Cells } from '../../platform/db/cells.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Call } from '../../platform/http/call.ts'
import type { EndedResponse } from '../../platform/http/server.ts'
import type { Service } from '../../platform/module/module.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Outcome } from './schema.ts'

const FLUSH_MS = 1000
/** Rows that one flush writes at most. */
const FLUSH_ROWS_MAX = 2000
/** Rows of a team that a process writes at once, and a second on average. */
const BURST = 500
const ROWS_PER_S = 1
const TEAMS_MAX = 10_000
const ERROR_MAX = 300
/** The seconds of a stored interval of counts. */
export const COUNT_STEP_S = 300

interface Row {
  id: string
  team_id: string
  request_id: string
  at: Date
  method: string
  path: string
  operation: string
  status: number
  duration_ms: number
  key_id: string
  member_id: string | null
  error: string | null
}

interface Count {
  team_id: string
  at_s: number
  outcome: Outcome
  requests: number
  duration_ms: number
}

interface Pending {
  rows: Row[]
  counts: Map<string, Count>
}

interface Allowance {
  rows: number
  updated_ms: number
}

const outcomeOf = (status: number): Outcome => (status >= 500 ? 'server_error' : status >= 400 ? 'client_error' : 'success')

export class RequestRecorder implements Service {
  readonly #cells: Cells
  readonly #log: Log
  readonly #pending = new Map<string, Pending>()
  readonly #allowances = new LRUCache<string, Allowance>({ max: TEAMS_MAX })
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(cells: Cells, log: Log) {
    this.#cells = cells
    this.#log = log
  }

  start(): void {}

  /** Writes what is collected. */
  stop(): Promise<void> {
    return this.flush()
  }

  /** Collects a request of a team that has ended. */
  record(call: Call, { status, duration_ms, ended_at }: EndedResponse): void {
    const { operation, tenant, manager } = call
    if (operation.isUnlisted || manager || !tenant || call.key_id === undefined) return
    const pending = this.#pendingOf(tenant.cell)
    addToCounts(pending, { team_id: tenant.team, status, duration_ms, ended_at })
    const isError = status >= 400
    if (pending.rows.length >= FLUSH_ROWS_MAX || !this.#isAllowed(`${tenant.team} ${isError}`)) return
    pending.rows.push({
      id: uuid(),
      team_id: tenant.team,
      request_id: call.id,
      at: ended_at,
      method: operation.method,
      path: operation.path.replace('...}', '}'),
      operation: operation.id,
      status,
      duration_ms,
      key_id: call.key_id,
      member_id: call.member_id ?? null,
      error: describeError(call.error, tenant.cell.startsWith('sandbox')),
    })
  }

  /** Writes what is collected, for readers who must not miss it. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const cells = [...this.#pending]
    this.#pending.clear()
    this.#flushing = this.#flushing.then(async () => {
      for (const [cell, pending] of cells)
        try {
          await this.#write(cell, pending)
        } catch (error) {
          this.#log.warn({ cell, rows: pending.rows.length, causes: errorFields(error) }, 'requests not recorded')
        }
    })
    return this.#flushing
  }

  #pendingOf(cell: string): Pending {
    let pending = this.#pending.get(cell)
    if (!pending) this.#pending.set(cell, (pending = { rows: [], counts: new Map() }))
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
    return pending
  }

  /** Whether a row may be written: a bucket of tokens for each team and kind. */
  #isAllowed(key: string): boolean {
    const now_ms = performance.now()
    const allowance = this.#allowances.get(key) ?? { rows: BURST, updated_ms: now_ms }
    allowance.rows = Math.min(BURST, allowance.rows + ((now_ms - allowance.updated_ms) / 1000) * ROWS_PER_S)
    allowance.updated_ms = now_ms
    this.#allowances.set(key, allowance)
    if (allowance.rows < 1) return false
    allowance.rows--
    return true
  }

  async #write(cell: string, { rows, counts }: Pending): Promise<void> {
    const db = this.#cells.db(cell)
    if (rows.length)
      await db.asyncCommit.run(sql`
        insert into request_log (team_id, id, request_id, at, method, path, operation, status, duration_ms, key_id, member_id, error)
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
          team_id uuid, id uuid, request_id text, at timestamptz, method text, path text, operation text, status integer,
          duration_ms float8, key_id text, member_id uuid, error text)`)
    // In the order of the key, so that two processes do not deadlock.
    const sorted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
    await db.asyncCommit.run(sql`
      insert into request_count (team_id, bucket_start, outcome, requests, duration_ms)
      select team_id, to_timestamp(at_s), outcome, requests, duration_ms
      from jsonb_to_recordset(${JSON.stringify(sorted)}::jsonb) as r (
        team_id uuid, at_s bigint, outcome text, requests bigint, duration_ms float8)
      on conflict (team_id, bucket_start, outcome) do update
      set requests = request_count.requests + excluded.requests, duration_ms = request_count.duration_ms + excluded.duration_ms`)
  }
}

function addToCounts(
  { counts }: Pending,
  { team_id, status, duration_ms, ended_at }: { team_id: string; status: number; duration_ms: number; ended_at: Date },
): void {
  const outcome = outcomeOf(status)
  const at_s = Math.floor(ended_at.getTime() / 1000 / COUNT_STEP_S) * COUNT_STEP_S
  const key = `${team_id} ${at_s} ${outcome}`
  const entry = counts.get(key) ?? { team_id, at_s, outcome, requests: 0, duration_ms: 0 }
  entry.requests++
  entry.duration_ms += duration_ms
  counts.set(key, entry)
}

const NAME = /^[a-z_][a-z0-9_]{0,40}$/i

/** The reason in the body of an error, in one line. Without `withTexts` an invalid value is described by its place and kind alone. */
function describeError(body: unknown, withTexts: boolean): string | null {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return detail.slice(0, ERROR_MAX)
  if (!Array.isArray(detail)) return null
  const faults = detail as { loc?: unknown[]; msg?: string; type?: string }[]
  // A map has keys of the caller, which may be names of anything.
  const place = (loc: unknown[]) =>
    loc.map((part) => (typeof part === 'number' || NAME.test(String(part)) ? String(part) : '…')).join('.')
  const text = faults.map(({ loc = [], msg = '', type = '' }) => `${place(loc)}: ${withTexts ? msg : type}`).join('; ')
  return text.slice(0, ERROR_MAX)
}
