// Generates, hashes and masks keys. The text of a key is shown once and never stored.
import { createHash, randomBytes } from 'node:crypto'

/** A new secret: the prefix and 32 random bytes in base64url. Source: management-auth.md A6. */
export const generateKey = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`

/** The stored form of a key. */
export const hashKey = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The last four characters, which tell keys apart in lists. */
export const lastFour = (text: string): string => text.slice(-4)

/** The masked text that responses contain in place of a secret. */
export const MASK = '********'
