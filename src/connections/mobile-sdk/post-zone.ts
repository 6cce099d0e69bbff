// The zone of a post whose phone gives none that this server knows: where the user lives. Source: users-wearables.md 7.
import { fallbackZone } from '../../people/users/fallbacks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { validZone } from '../../wearables/resources/zones.ts'
import type { Envelope } from './schema.ts'

/** A post as it was sent, or with the user's own zone. */
export async function withZone<E extends Envelope>(tx: Tx, user_id: string, envelope: E): Promise<E> {
  if (envelope.time_zone !== undefined && validZone(envelope.time_zone) !== null) return envelope
  const time_zone = await fallbackZone(tx, user_id)
  return time_zone === null ? envelope : { ...envelope, time_zone }
}
