// What vendors notify of. A notification never brings data: a verified one, and an unsigned one of a vendor that signs nothing, lead to a
// pull. Anything else is refused. Source: users-wearables.md 17.
import type { Tx } from '../../platform/db/transaction.ts'
import type { OutsideRequest } from '../../platform/http/multi-transaction.ts'
import { StatusReply } from '../../platform/http/operation.ts'
import { notFound, unauthorized } from '../../platform/http/errors.ts'
import { cellNames, type CellName } from '../../platform/db/cell-names.ts'
import { findUser } from '../../people/users/users.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import type { Access } from '../../tenancy/access/access.ts'
import { connectionOf, failConnection } from '../connections/connections.ts'
import { VendorError, type Change, type InboundOutcome } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { httpOf, vendorOf, type VendorAccess } from '../grants/access.ts'
import { usersOfAccount } from '../grants/grants.ts'
import { askedResources, pullAfterNotice, withinBounds } from './jobs.ts'
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
  guards: Pick<Access, 'teams' | 'checks'>
}

const isCellName = (name: string): name is CellName => (cellNames as readonly string[]).includes(name)

interface Place {
  cell: string
  team_id: string
  provider: string
}

/**
 * Answers a notification of a vendor about a team's users. Writes connection, job. Emits provider.connection.error for
 * users whose consent has ended, if the notification is verified.
 * Errors: 503 the vendor has to be asked for its keys and does not answer; 404 no such team, provider or application; 401 refused; 429 too many of those from the address.
 */
export async function receiveNotification(
  { access, guards }: NotificationDependencies,
  method: string,
  { cells, address, headers, query, body = Buffer.alloc(0) }: OutsideRequest,
  { cell, team_id, provider }: Place,
): Promise<StatusReply<unknown>> {
  const unknown = () => notFound('Not Found')
  const connector = connectorOf(provider)
  if (!connector?.receive || !isCellName(cell) || !cells.has(cell)) throw guards.checks.refusal(address, unknown())
  const lookUp = async () => {
    const tenant = await guards.teams.tenant(cell, team_id)
    if (!tenant) return undefined
    const db = cells.of(cell)
    const now = await db.read(tenant, async (tx) => ({ vendor: await vendorOf(tx, access, provider), now_ms: tx.now.getTime() }))
    return now.vendor && { tenant, db, app: now.vendor.app, now_ms: now.now_ms }
  }
  const { tenant, db, app, now_ms } = await guards.checks.find(address, undefined, lookUp, unknown)
  const first = (values: Record<string, string | string[] | undefined>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat()[0]!]])),
    )
  const http = limitedHttp(cells, tenant, connector, httpOf(access, tenant), { isHistory: false, patience_ms: 0 })
  const request = {
    method,
    headers: first(headers),
    query: first(query),
    body,
    verify_token: verifyToken(access, cell, tenant.team, provider),
    now_ms,
  }
  const outcome = await Promise.resolve(connector.receive(app, request, http)).catch((error: unknown) => {
    throw error instanceof VendorError ? unavailable('The notification cannot be checked now, try again') : error
  })
  if (outcome.outcome === 'refused') {
    if (!outcome.answer) throw guards.checks.refusal(address, unauthorized('The notification is not signed as it should be'))
    return new StatusReply(outcome.answer.status, outcome.answer.body)
  }
  await db.tx(tenant, (tx) => apply(tx, provider, outcome))
  return new StatusReply(outcome.answer?.status ?? 200, outcome.answer?.body ?? {})
}

async function apply(tx: Tx, provider: string, outcome: Exclude<InboundOutcome, { outcome: 'refused' }>): Promise<void> {
  const isVerified = outcome.outcome === 'verified'
  for (const change of outcome.changes.slice(0, CHANGES_MAX))
    for (const user_id of await usersOfAccount(tx, provider, change.external_user_id))
      await pullChange(tx, { user_id, provider, isVerified }, change)
  // Nobody but the vendor may end a connection.
  if (!isVerified) return
  for (const external_user_id of (outcome.ended ?? []).slice(0, CHANGES_MAX))
    for (const user_id of await usersOfAccount(tx, provider, external_user_id))
      await failConnection(tx, user_id, provider, 'deregistered_per_provider')
}

/** Queues the pull for a change. */
async function pullChange(
  tx: Tx,
  { user_id, provider, isVerified }: { user_id: string; provider: string; isVerified: boolean },
  change: Change,
): Promise<void> {
  const connection = await connectionOf(tx, user_id, provider)
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
