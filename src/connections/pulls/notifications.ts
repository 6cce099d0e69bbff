// What vendors notify of. A notification never brings data: a verified one, and an unsigned one of a vendor that signs nothing, lead to a
// pull. Anything else is refused. Source: users-wearables.md 17.
import type { Tx } from '../../platform/db/transaction.ts'
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { StatusReply } from '../../platform/http/operation.ts'
import { notFound, payloadTooLarge, unauthorized } from '../../platform/http/errors.ts'
import { cellNames, type CellName } from '../../settings/cells.ts'
import { findUser } from '../../people/users/users.ts'
import { FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import type { Access } from '../../tenancy/access/access.ts'
import { findConnection, failConnection } from '../connections/connections.ts'
import { VendorError, type Change, type InboundOutcome } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { vendorHttp, findVendor, type VendorAccess } from '../grants/access.ts'
import { usersOfAccount } from '../grants/grants.ts'
import { askedResources, pullAfterNotice, withinBounds } from './pull-jobs.ts'
import { limitedHttp } from './limits.ts'
import { verifyToken } from './poll.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** Changes of one notification that are looked at. */
const CHANGES_MAX = 100
const IDS_MAX = 100
/** No notification asks for a longer range. */
const RANGE_MS_MAX = 31 * DAY_MS

export interface NotificationDependencies {
  access: VendorAccess
  guards: Pick<Access, 'teams'>
  settings: { wrong_keys_per_min: number }
}

/** A notification is smaller than this. */
const NOTICE_BYTES_MAX = 262_144
const WINDOW_S = 60
const TOO_MANY = 'Too many notifications of this provider are not signed as they should be (WRONG_KEYS_PER_MINUTE)'

/** Counts notifications that are refused, by team and provider, in this process: all teams share the addresses of a vendor. */
export const wrongNotices = ({ settings }: Pick<NotificationDependencies, 'settings'>): FixedWindowLimiter =>
  new FixedWindowLimiter({ max: settings.wrong_keys_per_min, window_s: WINDOW_S })

const isCellName = (name: string): name is CellName => (cellNames as readonly string[]).includes(name)

interface Place {
  cell: string
  team_id: string
  provider: string
}

/**
 * Answers a notification of a vendor about a team's users. Nothing is counted against the address, which is the vendor's and that of
 * every team: a notification that is signed as it should be is always taken. Writes connection, job. Emits provider.connection.error for
 * users whose consent has ended, if the notification is verified.
 * Errors: 503 the vendor has to be asked for its keys and does not answer; 404 no such team, provider or application; 413 longer than
 * 256 kB; 401 refused; 429 too many of those for the team and provider.
 */
export async function receiveNotification(
  { access, guards }: NotificationDependencies,
  rejectionLimiter: FixedWindowLimiter,
  method: string,
  { cells, headers, query, body = Buffer.alloc(0) }: OutsideRequest,
  { cell, team_id, provider }: Place,
): Promise<StatusReply<unknown>> {
  const connector = connectorOf(provider)
  if (!connector?.receive || !isCellName(cell) || !cells.has(cell)) throw notFound('Not Found')
  if (body.length > NOTICE_BYTES_MAX) throw payloadTooLarge('The notification is too long')
  const tenant = await guards.teams.findTenant(cell, team_id)
  const db = cells.db(cell)
  const now =
    tenant &&
    (await db.read(tenant, async (tx) => ({ vendor: await findVendor(tx, access, provider), now_ms: tx.now.getTime() })))
  if (!now?.vendor) throw notFound('Not Found')
  const { vendor, now_ms } = now
  const http = limitedHttp(cells, tenant!, connector, vendorHttp(access, tenant!), { isHistory: false, patience_ms: 0 })
  const request = {
    method,
    headers: firstOf(headers),
    query: firstOf(query),
    body,
    verify_token: verifyToken(access, cell, tenant!.team, provider),
    now_ms,
    received_ms: now_ms - tenant!.clock_offset_s * 1000,
  }
  const outcome = await Promise.resolve(connector.receive(vendor.app, request, http)).catch((error: unknown) => {
    throw error instanceof VendorError ? unavailable('The notification cannot be checked now, try again') : error
  })
  if (outcome.outcome === 'refused') {
    const tooMany = rejectionLimiter.hit(`${cell} ${tenant!.team} ${provider}`, TOO_MANY)
    if (tooMany) throw tooMany
    if (!outcome.answer) throw unauthorized('The notification is not signed as it should be')
    return new StatusReply(outcome.answer.status, outcome.answer.body)
  }
  await db.tx(tenant!, (tx) => apply(tx, provider, outcome))
  return new StatusReply(outcome.answer?.status ?? 200, outcome.answer?.body ?? {})
}

/** The first value of each name. */
const firstOf = (values: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat()[0]!]])))

async function apply(tx: Tx, provider: string, outcome: Exclude<InboundOutcome, { outcome: 'refused' }>): Promise<void> {
  const isVerified = outcome.outcome === 'verified'
  for (const change of outcome.changes.slice(0, CHANGES_MAX))
    for (const user_id of await usersOfAccount(tx, provider, change.external_user_id))
      await pullChange(tx, { user_id, provider, isVerified }, change)
  // Only the vendor may end a connection.
  if (!isVerified) return
  for (const external_user_id of (outcome.revoked_accounts ?? []).slice(0, CHANGES_MAX))
    for (const user_id of await usersOfAccount(tx, provider, external_user_id))
      await failConnection(tx, user_id, provider, 'deregistered_per_provider')
}

/** Queues the pull for a change. */
async function pullChange(
  tx: Tx,
  { user_id, provider, isVerified }: { user_id: string; provider: string; isVerified: boolean },
  change: Change,
): Promise<void> {
  const connection = await findConnection(tx, user_id, provider)
  const user = await findUser(tx, user_id)
  if (!user || connection?.status !== 'connected') return
  const asked = await askedResources(tx, { user_id, provider })
  const resource = connectorOf(provider)?.comesWith?.[change.resource] ?? change.resource
  if (!asked.includes(resource)) return
  // Whole days, so that notices of the same data become one pull.
  const to_ms = Math.ceil(change.to_ms / DAY_MS) * DAY_MS
  const from_ms = Math.max(Math.floor(change.from_ms / DAY_MS) * DAY_MS, to_ms - RANGE_MS_MAX)
  const range = withinBounds(user, { from_ms, to_ms })
  if (range.from_ms >= range.to_ms) return
  const ids = change.ids?.filter((id) => id.length <= 200).slice(0, IDS_MAX)
  const pull = { user_id, provider, connection_id: connection.id, resource, ...range }
  pullAfterNotice(tx, { ...pull, ...(ids?.length && { ids }), ...(isVerified && { verified: true }) })
}
