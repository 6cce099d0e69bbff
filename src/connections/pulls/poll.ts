// Polling of connections without recent notifications, and subscriptions to notifications. Source: users-wearables.md 5, 6 I3.
import type { ServiceAccount } from '../../settings/service-account.ts'
import { findUser } from '../../people/users/users.ts'
import { defineHandler, enqueue, enqueueAgain, type Handler } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { historiesSince } from '../../wearables/ingestion/historical-pulls.ts'
import { findConnection, pauseConnections } from '../connections/connections.ts'
import { keepDetails } from '../credentials/credentials.ts'
import { notificationToken, webhookUri } from '../credentials/preparation.ts'
import { freshGrant, vendorHttp, findVendor, type VendorAccess } from '../grants/access.ts'
import { currentGrant, endGrants } from '../grants/grants.ts'
import { askedResources, poll, pullResource, subscribe, withinBounds } from './pull-jobs.ts'
import { listPulls, recordPolled, getWatermark } from './ledger.ts'
import { limitedHttp } from './limits.ts'
import { historyName } from './stored.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** A poll asks again for this time before the newest data: devices send late, and vendors correct. */
const LATE_MS = 2 * DAY_MS
/** A poll leaves what a history asks for to the history; after this, it does not wait for the history any longer. */
const HISTORY_MS = DAY_MS
/** Late data is accepted for so long after the end of ingestion; the bound itself is a date, which ends up to a day later. */
const GRACE_MS = 8 * DAY_MS
/** A subscription is renewed so long before it ends. */
const RENEW_S = 3 * 86_400

export interface PullDependencies {
  access: VendorAccess
  publicUrl: () => string
  /** The operator's account at Google Cloud; undefined: teams register the address of notifications themselves. */
  googleAccount: () => ServiceAccount | undefined
  /** A connection without a notification for so long is polled, and so often. */
  poll_s: () => number
}

/**
 * Polls a connection for which no notification has brought data for a while, and queues the next look at it. A connection whose user's ingestion has ended is
 * paused, and its grant revoked. Writes provider_watermark, connection, provider_grant, job.
 */
export const pollHandler = ({ poll_s }: PullDependencies): Handler =>
  defineHandler(poll, ({ tx }, { user_id, provider, connection_id }) =>
    tx(async (current) => {
      const key = { user_id, provider }
      const connection = await findConnection(current, user_id, provider)
      const user = await findUser(current, user_id)
      if (!user || connection?.id !== connection_id || connection.status !== 'connected') return
      const now_ms = current.now.getTime()
      if (user.ingestion_end !== null && now_ms >= Date.parse(user.ingestion_end) + GRACE_MS) {
        await pauseConnections(current, [user_id], provider)
        await endGrants(current, user_id, provider)
        return
      }
      enqueueAgain(current, poll, { user_id, provider, connection_id }, addSeconds(current.now, poll_s()))
      const { notified_at } = await getWatermark(current, key)
      if (notified_at !== null && Date.parse(notified_at) > now_ms - poll_s() * 1000) return
      const pulls = new Map((await listPulls(current, key)).map(({ resource, until_ms }) => [resource, until_ms]))
      const histories = await historiesSince(current, key, new Date(now_ms - HISTORY_MS))
      for (const resource of await askedResources(current, key)) {
        // The history reaches to the present: two jobs would ask for the same days.
        if (histories.has(historyName(resource))) continue
        // A connection that was imported has no history, so that nothing was asked for.
        const until_ms = pulls.get(resource) ?? now_ms
        const range = withinBounds(user, { from_ms: Math.min(until_ms, now_ms) - LATE_MS, to_ms: now_ms })
        if (range.from_ms >= range.to_ms) continue
        enqueue(current, pullResource, { user_id, provider, connection_id, resource, ...range, reason: 'poll', attempt: 0 })
      }
      await recordPolled(current, key)
    }),
  )

/** A secret that a vendor sends in the handshake of a subscription. */
export const verifyToken = ({ vault }: Pick<VendorAccess, 'vault'>, cell: string, team: string, provider: string): string =>
  notificationToken(vault, cell, team, provider)

/**
 * Subscribes a team's application, or one of its users, to notifications, and queues the renewal. Writes job,
 * custom_credential. Errors: VendorError.
 */
export const subscribeHandler = ({ access, publicUrl, googleAccount }: PullDependencies): Handler =>
  defineHandler(subscribe, async ({ tenant, tx }, { provider, user_id }) => {
    const { team, cell } = tenant
    const vendor = await tx((current) => findVendor(current, access, provider))
    if (!vendor?.connector.subscribe) return
    const { connector, app } = vendor
    const key = user_id === undefined ? undefined : { user_id, provider }
    const isGranted = key && (await tx((current) => currentGrant(current, access.vault, key)))
    if (key && !isGranted) return
    const granted = key && (await freshGrant(tenant, access, vendor, key))
    const [env = '', region = ''] = cell.split('-')
    const http = limitedHttp(access.cells, tenant, connector, vendorHttp(access, tenant), { isHistory: false })
    const now_ms = await tx(async (current) => current.now.getTime())
    const { renew_at_ms, details } = await connector.subscribe!(http, app, {
      callback_url: webhookUri(publicUrl(), { env, region, team_id: team }, provider, null),
      verify_token: verifyToken(access, cell, team, provider),
      access_token: granted?.grant.access_token ?? null,
      now_ms,
      googleAccount: googleAccount(),
    })
    if (details) await tx((current) => keepDetails(current, access.vault, provider, app, details))
    if (renew_at_ms === null) return
    const payload = key ?? { provider }
    await tx(async (current) => {
      const at = Math.max(renew_at_ms - RENEW_S * 1000, current.now.getTime() + 3_600_000)
      enqueueAgain(current, subscribe, payload, new Date(Math.floor(at / 1000) * 1000))
    })
  })
