// The RSA key that signs JWTs for phones and for links: one for the installation, generated when it is first needed. Owns `sign_in_key`.
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { readJwt, signJwt, type Jwt } from '../../platform/crypto/jwt.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'

const RSA_BITS = 2048

const KEY_ID = 1
const contextOf = (id: string): string => `sign-in key ${id}`
export const encryptedKeyColumn: EncryptedColumn = {
  plane: 'control',
  table: 'sign_in_key',
  column: 'private_key',
  of: ['id'],
  context: contextOf,
}

interface KeyPair {
  private: KeyObject
  public: KeyObject
  public_pem: string
}

const Stored = T.Object({ private_key: T.String() })

/** Signs and reads JWTs. One per process and purpose; it reads the key once. */
export class SigningKey {
  readonly #cells: Cells
  readonly #vault: Vault
  #loading: Promise<KeyPair> | undefined

  constructor(cells: Cells, vault: Vault) {
    this.#cells = cells
    this.#vault = vault
  }

  /** A JWT with these claims, and with `iat` and `exp`. Writes sign_in_key the first time. */
  async sign(claims: object, lifetime_s: number): Promise<string> {
    return signJwt(claims, lifetime_s, (await this.#keys()).private)
  }

  /** The claims of a JWT that this key signed, expired or not; undefined for every other text. */
  async read(token: string): Promise<Jwt | undefined> {
    return readJwt(token, (await this.#keys()).public)
  }

  /** The public key in PEM. */
  async publicPem(): Promise<string> {
    return (await this.#keys()).public_pem
  }

  #keys(): Promise<KeyPair> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  async #load(): Promise<KeyPair> {
    const stored = (await this.#stored()) ?? (await this.#create())
    const pem = this.#vault.decrypt(stored, contextOf(String(KEY_ID)))
    const publicKey = createPublicKey(pem)
    return {
      private: createPrivateKey(pem),
      public: publicKey,
      public_pem: String(publicKey.export({ type: 'spki', format: 'pem' })),
    }
  }

  async #stored(): Promise<string | undefined> {
    const found = await this.#cells.control.queries.maybe(Stored, sql`select private_key from sign_in_key where id = ${KEY_ID}`)
    return found?.private_key
  }

  /** If two processes create the key at once, both get the one that was stored first. */
  async #create(): Promise<string> {
    const { privateKey } = await promisify(generateKeyPair)('rsa', {
      modulusLength: RSA_BITS,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const encrypted = this.#vault.encrypt(privateKey, contextOf(String(KEY_ID)))
    await this.#cells.control.queries.run(
      sql`insert into sign_in_key (id, private_key, created_at) values (${KEY_ID}, ${encrypted}, ${dbNow}) on conflict (id) do nothing`,
    )
    return (await this.#stored())!
  }
}
