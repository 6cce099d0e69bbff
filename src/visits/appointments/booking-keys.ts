// Booking keys: availability returns one for each slot, and a booking sends it back. Keys are signed, not stored: every process with the
// installation's encryption keys accepts them, also during a key rotation. A key is valid for one team in one cell, and it expires.
import type { Tenant } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { matchesSchema, Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'

const VERSION = 'bk1'

/** An offered time. Instants in whole seconds. */
export const Offer = T.Object({
  provider: T.String(),
  /** The laboratory that receives the sample; null if any laboratory can. */
  lab: Nullable(T.String()),
  /** The site, or the area of an at-home appointment. */
  site: T.String(),
  start_s: T.Integer(),
  end_s: T.Integer(),
  price: T.Number(),
  expires_s: T.Integer(),
})
export type Offer = Static<typeof Offer>

export const SLOT_UNAVAILABLE = 'This appointment slot is no longer available. Please select a new time.'

export const KEY_EXPIRED = 'This booking key has expired. Please ask for the available times again.'

const CONTEXT = 'booking key'
/** The signed text: the key with its cell and team. */
const signedText = ({ cell, team }: Tenant, text: string): string => `${cell} ${team} ${text}`

/** Returns the booking key of an offer to a team. */
export function bookingKey(vault: Vault, tenant: Tenant, offer: Offer): string {
  const text = `${VERSION}.${Buffer.from(JSON.stringify(offer)).toString('base64url')}`
  return `${text}.${vault.sign(signedText(tenant, text), CONTEXT)}`
}

/**
 * Verifies a booking key and returns its offer.
 * Errors: 400 `Invalid booking key format` if the key was not made for this team or is none of these offers; 400 if its time has begun, in
 * the words of the table in lab-testing.md 18; 400 if it has expired, with a text that says so.
 */
export function verifyBookingKey(
  vault: Vault,
  tenant: Tenant,
  isWanted: (offer: Offer) => boolean,
  key: string,
  now: Date,
): Offer {
  const [version, payload = '', key_id, mac, ...more] = key.split('.')
  const isOurs =
    version === VERSION &&
    !more.length &&
    vault.verifySignature(signedText(tenant, `${version}.${payload}`), `${key_id}.${mac}`, CONTEXT)
  const offer: unknown = isOurs ? JSON.parse(Buffer.from(payload, 'base64url').toString()) : undefined
  if (!matchesSchema(Offer, offer) || !isWanted(offer)) throw badRequest('Invalid booking key format')
  const now_s = now.getTime() / 1000
  if (offer.start_s <= now_s) throw badRequest(SLOT_UNAVAILABLE)
  if (offer.expires_s <= now_s) throw badRequest(KEY_EXPIRED)
  return offer
}
