// Booking keys: what a slot's availability names and a booking gives back. They are signed, not stored: every process with the
// installation's encryption keys takes them, also while those are being changed. A key is good for one team in one cell, and expires.
import type { Tenant } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { Check } from 'typebox/value'

const VERSION = 'bk1'

/** What is offered. Instants in whole seconds. */
export const Offer = T.Object({
  provider: T.String(),
  /** The laboratory that the sample goes to; null where any will do. */
  lab: Nullable(T.String()),
  /** The site, or the area that a visit is offered in. */
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
/** What is signed: the key and whose it is. */
const signedText = ({ cell, team }: Tenant, text: string): string => `${cell} ${team} ${text}`

/** The key of an offer to a team. */
export function bookingKey(vault: Vault, tenant: Tenant, offer: Offer): string {
  const text = `${VERSION}.${Buffer.from(JSON.stringify(offer)).toString('base64url')}`
  return `${text}.${vault.sign(signedText(tenant, text), CONTEXT)}`
}

/**
 * What a key offers, if it is one of these providers'. 400: not a key of ours for this team and these providers (`Invalid booking key
 * format`), or one whose time has come, in the first words of the table in lab-testing.md 18, or that has expired, which it says.
 */
export function verifyBookingKey(vault: Vault, tenant: Tenant, providers: readonly string[], key: string, now: Date): Offer {
  const [version, payload = '', key_id, mac, ...more] = key.split('.')
  const isOurs =
    version === VERSION &&
    !more.length &&
    vault.verifySignature(signedText(tenant, `${version}.${payload}`), `${key_id}.${mac}`, CONTEXT)
  const offer: unknown = isOurs ? JSON.parse(Buffer.from(payload, 'base64url').toString()) : undefined
  if (!Check(Offer, offer) || !providers.includes(offer.provider)) throw badRequest('Invalid booking key format')
  const now_s = now.getTime() / 1000
  if (offer.start_s <= now_s) throw badRequest(SLOT_UNAVAILABLE)
  if (offer.expires_s <= now_s) throw badRequest(KEY_EXPIRED)
  return offer
}
