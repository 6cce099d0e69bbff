// Encrypts stored secrets with AES-256-GCM under a key outside the database, and signs with keys derived from it. A text contains the id of
// its key, so several keys can be in use while secrets are re-encrypted. This file does not know where keys come from.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'

/** A key and the short id that texts contain. */
interface VaultKey {
  id: string
  bytes: Buffer
  /** Derived signing keys, by purpose: derivation takes many times longer than signing. */
  signing: Map<string, KeyObject>
}

/** This process does not have the keys to decrypt a secret. */
export class VaultError extends Error {}

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

const keyOf = (text: string): VaultKey => {
  if (!isVaultKey(text)) throw new VaultError('An encryption key must be 32 bytes, base64-encoded.')
  const bytes = Buffer.from(text, 'base64')
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes, signing: new Map() }
}

/** A new random key, in base64. */
export const generateVaultKey = (): string => randomBytes(KEY_BYTES).toString('base64')

const SIGNING_MAX = 100

function signingKey({ bytes, signing }: VaultKey, context: string): KeyObject {
  const known = signing.get(context)
  if (known) return known
  if (signing.size === SIGNING_MAX) signing.clear()
  const derived = createSecretKey(Buffer.from(hkdfSync('sha256', bytes, '', `sign ${context}`, KEY_BYTES)))
  signing.set(context, derived)
  return derived
}

const mac = (key: VaultKey, text: string, context: string): Buffer =>
  createHmac('sha256', signingKey(key, context)).update(text).digest()

/**
 * Returns the keys in base64, newest first, and the same array while nothing has changed. `afresh`: a text has a key id that is not in the
 * array, so check at once.
 */
export type LoadKeys = (reload: boolean) => readonly string[]

export class Vault {
  readonly #load: LoadKeys
  #texts: readonly string[] = []
  #known: VaultKey[] = []

  /** @param load called only when a key is needed; the first key encrypts, all keys decrypt */
  constructor(load: LoadKeys) {
    this.#load = load
  }

  #keys(reload = false): VaultKey[] {
    const texts = this.#load(reload)
    if (texts.length === 0) throw new VaultError('At least one encryption key is needed.')
    if (texts !== this.#texts) {
      this.#known = texts.map(keyOf)
      this.#texts = texts
    }
    return this.#known
  }

  #key(id: string | undefined): VaultKey | undefined {
    const keyById = (key: VaultKey) => key.id === id
    return this.#keys().find(keyById) ?? this.#keys(true).find(keyById)
  }

  /** The ids of the current keys, newest first. */
  keyIds(): string[] {
    return this.#keys(true).map((key) => key.id)
  }

  /** `<key id>.<iv, text and tag in base64url>`. Decryption needs the same `context`: a text moved to another row cannot be decrypted. */
  encrypt(text: string, context: string): string {
    const { id, bytes } = this.#keys()[0]!
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(Buffer.from(context))
    const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${id}.${encrypted.toString('base64url')}`
  }

  /** Throws VaultError if the key is missing or the text was changed. */
  decrypt(ciphertext: string, context: string): string {
    const [id, body] = ciphertext.split('.')
    const key = this.#key(id)
    if (!key || !body) throw new VaultError('A secret was encrypted with a key that this process does not have.')
    const bytes = Buffer.from(body, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new VaultError('A secret failed authentication; it was changed outside Drawbridge.')
    }
  }

  /** Signs a text: `<key id>.<HMAC-SHA-256 in base64url>`. `context` separates different kinds of signatures. */
  sign(text: string, context: string): string {
    const key = this.#keys()[0]!
    return `${key.id}.${mac(key, text, context).toString('base64url')}`
  }

  /** The signatures of a text by each of the current keys, newest first: as `sign` has made them since the oldest key. */
  signatures(text: string, context: string): string[] {
    return this.#keys().map((key) => `${key.id}.${mac(key, text, context).toString('base64url')}`)
  }

  /** Whether a signature was made with any of the current keys. */
  verifySignature(text: string, signature: string, context: string): boolean {
    const [id, signed] = signature.split('.')
    const key = this.#key(id)
    if (!key || !signed) return false
    const given = Buffer.from(signed, 'base64url')
    const due = mac(key, text, context)
    return given.length === due.length && timingSafeEqual(given, due)
  }
}

/** Whether a text is a key: 32 bytes in base64. */
export const isVaultKey = (text: string): boolean => Buffer.from(text, 'base64').length === KEY_BYTES
