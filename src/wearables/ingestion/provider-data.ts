// All that came from one provider for a user, and its erasure. Source: users-wearables.md 19 D8.
import { forgetFallbacks } from '../../people/users/fallbacks.ts'
import { birthDateChanged } from '../../people/users/users.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { eraseEvents, eventBody } from '../../platform/queue/outbox.ts'
import { eraseDevices } from '../devices/devices.ts'
import { dataDeleted } from '../resources/expiry.ts'
import { eraseSummaries } from '../summaries/summaries.ts'
import { eraseSamples } from '../timeseries/chunks.ts'
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'

/** The data of a provider for a user was erased: what else is kept of it goes. */
export const providerDataErased = hookPoint<[user_id: string, provider: string]>('provider_data.erased')

/** Erases what is known of how the data of a user came. */
export const eraseArrivals = eraseTablesOfUser(
  'historical_pull',
  'resource_state',
  'repeated_post',
  'rejected_post',
  'day_record',
)

/**
 * Erases what came from a provider for a user: samples, summaries, streams, devices, the events about them, and what is known of how they
 * came. Zones of heart rate and results of queries are computed again. Writes chunk, series, summary, workout_stream, device, resource_state,
 * historical_pull, repeated_post, rejected_post, day_record, event, event_body, "user". Emits nothing.
 * @returns whether there was anything
 */
export async function eraseProviderData(tx: Tx, user_id: string, provider: string): Promise<boolean> {
  const deleted = [...(await eraseSamples(tx, user_id, provider)), ...(await eraseSummaries(tx, user_id, provider))]
  const others = (await eraseDevices(tx, user_id, provider)) + (await eraseArrivals(tx, user_id, provider))
  // Texts in JSON have no quotation mark of their own, so that this is the field. An event without a body may be of any provider.
  const isOfProvider = sql`coalesce(position(${`"provider":${JSON.stringify(provider)}`} in ${eventBody(tx.team)}) > 0, true)`
  await eraseEvents(tx, user_id, sql`(e.type like 'daily.data.%' or e.type like 'historical.data.%') and ${isOfProvider}`)
  await eraseEvents(tx, user_id, sql`starts_with(e.type, ${`raw.${provider}.`})`)
  if (await forgetFallbacks(tx, user_id, provider)) await tx.notify(birthDateChanged, user_id)
  if (deleted.length) await tx.notify(dataDeleted, deleted)
  await tx.notify(providerDataErased, user_id, provider)
  return deleted.length > 0 || others > 0
}
