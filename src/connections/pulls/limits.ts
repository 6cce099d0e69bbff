// The limits of a team's application at a vendor: token buckets that all processes share. Owns the table provider_limit. A fifth of each limit
// may be used at once, and the rest comes back evenly, so that no window of the vendor has more requests than it allows, wherever it begins.
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { VendorError, type Connector, type VendorHttp } from '../connectors/connector.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const BURST = 0.2
/** Share of the burst that history leaves for notices and refreshes. */
const RESERVED = 0.5
/** A wait that is no longer happens within a job; for a longer one the job ends and comes back. */
const PATIENCE_MS = 3_000
/** The pause after a rejection that names no time. */
const REJECTED_S = 60
/** The pause after a rejection by the vendor grows to this, and to what the vendor asks. */
const PAUSE_S_MAX = 3600
/** An application is not kept from asking for longer after one rejection. */
const BLOCK_S_MAX = 3600
/** Rejections by the vendor in a row, without anything stored between them, after which a pull ends, and the time after which it does. */
const REJECTIONS_MAX = 20
const REJECTED_MS_MAX = 7 * DAY_MS

/** No request was sent: the application has used up its limit as this server counts it. */
export class OwnLimitError extends VendorError {
  constructor(wait_ms: number) {
    super('rate_limited', wait_ms)
  }
}

/** Rejections by the vendor in a row. */
export interface Rejections {
  rejections?: number | null | undefined
  /** When the first one came. */
  rejected_ms?: number | null | undefined
}

/**
 * The seconds to wait after a rejection by the vendor: what it asks, a minute if it does not say, and never less than a second that doubles
 * with each rejection up to an hour; undefined after 20 rejections or seven days.
 * The first argument has the rejections until then.
 */
export function pauseAfter(
  { rejections, rejected_ms }: Rejections,
  { retry_after_ms }: VendorError,
  now_ms: number,
): number | undefined {
  const count = rejections ?? 0
  if (count + 1 >= REJECTIONS_MAX || now_ms - (rejected_ms ?? now_ms) >= REJECTED_MS_MAX) return undefined
  const asked_s = retry_after_ms === null ? REJECTED_S : retry_after_ms / 1000
  return Math.max(Math.min(PAUSE_S_MAX, 2 ** count), asked_s)
}

const Row = T.Object({ tokens: T.Array(T.Number()), age_s: T.Number(), blocked_s: Nullable(T.Number()) })

/**
 * Takes one request from every limit of the application. Writes provider_limit.
 * @returns how long to wait before asking again; 0: taken
 */
async function take(cells: Cells, tenant: Tenant, { provider, limits }: Connector, isHistory: boolean): Promise<number> {
  const rates = limits.map(({ requests, window_ms }) => ({
    burst: Math.max(1, requests * BURST),
    per_ms: (requests * (1 - BURST)) / window_ms,
  }))
  return cells.db(tenant.cell).tx(tenant, async (tx) => {
    await tx.run(sql`
      insert into provider_limit (team_id, provider, tokens, refilled_at)
      values (${tx.team}, ${provider}, ${rates.map(({ burst }) => burst)}::float8[], ${dbNow}) on conflict do nothing`)
    const row = await tx.locking.one(
      Row,
      sql`
      select array_to_json(tokens) as tokens, extract(epoch from ${dbNow} - refilled_at)::float8 as age_s,
             extract(epoch from blocked_until - ${dbNow})::float8 as blocked_s
      from provider_limit where team_id = ${tx.team} and provider = ${provider} for update`,
    )
    if (row.blocked_s !== null && row.blocked_s > 0) return row.blocked_s * 1000
    const age_ms = Math.max(0, row.age_s * 1000)
    // A connector with more limits than are stored starts with full buckets for the others.
    const tokens = rates.map(({ burst, per_ms }, i) => Math.min(burst, (row.tokens[i] ?? burst) + age_ms * per_ms))
    const waits = rates.map(({ burst, per_ms }, i) => {
      const needed = isHistory && burst >= 4 ? 1 + burst * RESERVED : 1
      return tokens[i]! >= needed ? 0 : (needed - tokens[i]!) / per_ms
    })
    const wait_ms = Math.max(0, ...waits)
    const left = wait_ms > 0 ? tokens : tokens.map((count) => count - 1)
    await tx.run(sql`
      update provider_limit set tokens = ${left}::float8[], refilled_at = ${dbNow}
      where team_id = ${tx.team} and provider = ${provider}`)
    return wait_ms
  })
}

/** The vendor has rejected a request of the application: none is sent for a while. Writes provider_limit. */
const block = (cells: Cells, tenant: Tenant, { provider }: Connector, wait_ms: number): Promise<number> =>
  cells
    .db(tenant.cell)
    .tx(tenant, (tx) =>
      tx.run(
        sql`update provider_limit set blocked_until = greatest(blocked_until, ${dbNowPlus(wait_ms / 1000)}) where team_id = ${tx.team} and provider = ${provider}`,
      ),
    )

/** Requests within the limits of the application. Errors: VendorError `rate_limited` if none may be sent for longer than 3 s. */
export function limitedHttp(
  cells: Cells,
  tenant: Tenant,
  connector: Connector,
  http: VendorHttp,
  { isHistory, patience_ms = PATIENCE_MS }: { isHistory: boolean; patience_ms?: number },
): VendorHttp {
  return async (request) => {
    for (let left_ms = patience_ms; ;) {
      const wait_ms = await take(cells, tenant, connector, isHistory)
      if (wait_ms === 0) break
      if (wait_ms > left_ms) throw new OwnLimitError(wait_ms)
      left_ms -= wait_ms
      await new Promise((resolve) => setTimeout(resolve, wait_ms))
    }
    return http(request)
  }
}

/** Passes on a rejection by the vendor to everybody who asks for the same application. Writes provider_limit. */
export async function noteRejection(
  cells: Cells,
  tenant: Tenant,
  connector: Connector,
  error: VendorError,
  previousRejections: Rejections,
): Promise<void> {
  if (error.failure !== 'rate_limited' || error instanceof OwnLimitError) return
  const pause_s = pauseAfter({ rejections: Math.min(previousRejections.rejections ?? 0, REJECTIONS_MAX - 2) }, error, 0)
  await block(cells, tenant, connector, Math.min(BLOCK_S_MAX, pause_s ?? BLOCK_S_MAX) * 1000)
}
