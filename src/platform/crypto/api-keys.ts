// Keys: made, hashed, hinted. The text of a key is shown once and never stored.
import { createHash, randomBytes } from 'node:crypto'

/** A new secret: the prefix and 32 random bytes in base64url. Source: management-auth.md A6. */
export const generateKey = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`

/** What is stored of a key. */
export const hashKey = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The last four characters, to tell keys apart in lists. */
export const lastFour = (text: string): string => text.slice(-4)

/** What stands for a secret where it is read. */
export const MASK = '********'
