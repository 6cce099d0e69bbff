// Secrets at rest: encrypted with AES-256-GCM under a key that is not in the database; and signatures under keys derived from it. A text carries the id of its key, so that
// several keys can be alive while secrets are moved from one to the next.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** A key and the short id by which texts name it. */
interface VaultKey {
  id: string
  bytes: Buffer
}

/** Secrets cannot be read with the keys of this process. */
export class VaultError extends Error {}

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

const keyOf = (text: string): VaultKey => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES) throw new VaultError('An encryption key must be 32 bytes in base64.')
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes }
}

/** A fresh key, in base64. */
export const newVaultKey = (): string => randomBytes(KEY_BYTES).toString('base64')

const mac = (key: VaultKey, text: string, context: string): Buffer =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key.bytes, '', `sign ${context}`, KEY_BYTES)))
    .update(text)
    .digest()

export class Vault {
  readonly #load: () => string[]
  #loaded: VaultKey[] | undefined

  /** @param load gives the keys in base64, when the first secret is met; the first encrypts, all decrypt */
  constructor(load: () => string[]) {
    this.#load = load
  }

  get #keys(): VaultKey[] {
    this.#loaded ??= this.#load().map(keyOf)
    if (this.#loaded.length === 0) throw new VaultError('At least one encryption key is needed.')
    return this.#loaded
  }

  /** `<key id>.<iv, text and tag in base64url>`. `context` must be given again to read it: a text moved elsewhere is worthless. */
  seal(text: string, context: string): string {
    const { id, bytes } = this.#keys[0]!
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${id}.${sealed.toString('base64url')}`
  }

  /** Throws VaultError when the key is not here or the text was changed. */
  open(sealed: string, context: string): string {
    const [id, body] = sealed.split('.')
    const key = this.#keys.find((known) => known.id === id)
    if (!key || !body) throw new VaultError('A secret was encrypted with a key that this process does not have.')
    const bytes = Buffer.from(body, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new VaultError('A secret was changed outside of this program.')
    }
  }

  /** The signature of a text: `<key id>.<HMAC-SHA-256 in base64url>`. `context` keeps signatures of different kinds apart. */
  sign(text: string, context: string): string {
    const key = this.#keys[0]!
    return `${key.id}.${mac(key, text, context).toString('base64url')}`
  }

  /** Whether a signature is ours, made with any of the keys here. */
  isSigned(text: string, signature: string, context: string): boolean {
    const [id, signed] = signature.split('.')
    const key = this.#keys.find((known) => known.id === id)
    if (!key || !signed) return false
    const given = Buffer.from(signed, 'base64url')
    const due = mac(key, text, context)
    return given.length === due.length && timingSafeEqual(given, due)
  }

  /** Whether a text was sealed with another key than the one that seals now. */
  isOld(sealed: string): boolean {
    return !sealed.startsWith(`${this.#keys[0]!.id}.`)
  }
}

/**
 * The vault of this process: keys from the settings, else from the key file of the data folder, which is made when the first secret
 * has to be kept.
 */
export const openVault = (keys: string[], dataDir: string): Vault => new Vault(() => (keys.length ? keys : keysIn(dataDir)))

function keysIn(dataDir: string): string[] {
  const path = join(dataDir, 'encryption.key')
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(path, `${newVaultKey()}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Another process was first; its key is the one.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return readFileSync(path, 'utf8')
    .split(/[\s,]+/)
    .filter(Boolean)
}
