// The text of keys: their prefixes, and how keys are generated, hashed and masked. The text of a key is shown once and never stored.
import { createHash, randomBytes } from 'node:crypto'

/** The prefix of management keys. */
export const MANAGEMENT_PREFIX = 'mg_'

/** The characters of base64, base64url and other tokens (`token68` of RFC 9110): keys issued here, and keys that operators imported. */
const KEY = /^[A-Za-z0-9._~+/=-]{16,512}$/

/** Whether a text has the form of a key of any kind. Other texts are rejected without a look-up. */
export const isKeyText = (text: string): boolean => KEY.test(text)

/** A new secret: the prefix and 32 random bytes in base64url. Source: management-auth.md A6. */
export const generateKey = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`

/** The stored form of a key. */
export const hashKey = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The last four characters, which tell keys apart in lists. */
export const lastFour = (text: string): string => text.slice(-4)

/** The masked text that responses contain in place of a secret. */
export const MASK = '********'

/** Whether a value is such a text, also with spaces around it: it is sent back by a form, and no secret. */
export const isMask = (value: unknown): boolean => typeof value === 'string' && value.trim() === MASK
