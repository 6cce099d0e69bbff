// Booking keys: they belong to a team, forged keys are rejected, and keys stay valid during a rotation of the encryption keys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../../platform/db/transaction.ts'
import { generateVaultKey, Vault } from '../../platform/crypto/vault.ts'
import { bookingKey, KEY_EXPIRED, verifyBookingKey, SLOT_UNAVAILABLE, type Offer } from './booking-keys.ts'
import { assertRefused } from '../../../test/support/appointment-steps.ts'

const tenant: Tenant = { team: 'a', org: 'o', cell: 'sandbox-us', clock_offset_s: 0, settings: {} }
const offer: Offer = { provider: 'quest', lab: 'quest', site: 'S1', start_s: 2000, end_s: 3200, price: 0, expires_s: 1500 }
const [older, newer] = [generateVaultKey(), generateVaultKey()]
const keys = [older]
const vault = new Vault(() => [...keys])
const timeAt = (seconds: number) => new Date(seconds * 1000)
const providers = ({ provider }: Offer) => provider === 'quest' || provider === 'sonora_quest'
const FORMAT = 'Invalid booking key format'

test('a key decodes to its offer in every process that has the encryption key', () => {
  const key = bookingKey(vault, tenant, offer)
  assert.deepEqual(verifyBookingKey(new Vault(() => [newer, older]), tenant, providers, key, timeAt(1000)), offer)
})

test('a key stays valid when an encryption key is added, and ends when its own is removed', () => {
  const key = bookingKey(vault, tenant, offer)
  keys.unshift(newer)
  assert.deepEqual(verifyBookingKey(vault, tenant, providers, key, timeAt(1000)), offer)
  assert.throws(() => verifyBookingKey(new Vault(() => [newer]), tenant, providers, key, timeAt(1000)), assertRefused(FORMAT))
})

const key = bookingKey(vault, tenant, offer)
const [version, , id, mac] = key.split('.')
const payload = Buffer.from(JSON.stringify({ ...offer, price: -1 })).toString('base64url')
for (const [what, text] of Object.entries({
  'an empty text': '',
  'a word': 'nonsense',
  'a text of dots': '....',
  'a truncated key': key.slice(0, -3),
  'a key with a suffix': `${key}.x`,
  'another offer under the same signature': [version, payload, id, mac].join('.'),
  'another version': key.replace(/^bk1/, 'bk2'),
  'a signature with an unknown encryption key': key.replace(`.${id}.`, '.00000000.'),
  'a signed text that is not an offer': bookingKey(vault, tenant, { nonsense: true } as never),
}))
  test(`rejects ${what} as an invalid booking key`, () =>
    assert.throws(() => verifyBookingKey(vault, tenant, providers, text, timeAt(1000)), assertRefused(FORMAT)))

test('a booking key is only valid for its team, cell and provider type', () => {
  for (const other of [
    { ...tenant, team: 'b' },
    { ...tenant, cell: 'production-us' as const },
  ])
    assert.throws(() => verifyBookingKey(vault, other, providers, key, timeAt(1000)), assertRefused(FORMAT))
  assert.throws(
    () => verifyBookingKey(vault, tenant, ({ provider }) => provider === 'getlabs', key, timeAt(1000)),
    assertRefused(FORMAT),
  )
})

test('a key expires, at the latest when its time begins', () => {
  assert.deepEqual(verifyBookingKey(vault, tenant, providers, key, timeAt(1499)), offer)
  assert.throws(() => verifyBookingKey(vault, tenant, providers, key, timeAt(1500)), assertRefused(KEY_EXPIRED))
  const late = bookingKey(vault, tenant, { ...offer, expires_s: 9000 })
  assert.throws(() => verifyBookingKey(vault, tenant, providers, late, timeAt(2000)), assertRefused(SLOT_UNAVAILABLE))
})
