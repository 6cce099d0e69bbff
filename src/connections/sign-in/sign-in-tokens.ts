// Sign-in tokens, which a team's backend hands to a phone: JWTs under RS256, because the published clients read their claims. Owns
// `sign_in_key`: one RSA key for the installation, generated when it is first needed. Source: users-wearables.md 16.2.
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { generateKey } from '../../platform/crypto/api-keys.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { signJwt, verifyJwt } from '../../platform/crypto/jwt.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { isOf, T, Uuid } from '../../platform/schema/schema.ts'

/** How long a sign-in token can be exchanged. */
export const SIGN_IN_TOKEN_S = 900
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

/** Whom a sign-in token signs in, and the id of the session that it opens. */
export interface SignIn {
  cell: CellName
  team: string
  user_id: string
  session_id: string
}

/** The environments of the claims, which are those of the published clients. */
const claimEnvironments: Record<string, string> = { sandbox: 'stg', production: 'prd' }

interface KeyPair {
  private: KeyObject
  public: KeyObject
  public_pem: string
}

const Stored = T.Object({ private_key: T.String() })
const Claims = T.Object({
  uid: Uuid,
  tenant_id: Uuid,
  jti: Uuid,
  claims: T.Object({ cell: T.String() }),
})

/** Signs and verifies sign-in tokens. One per process; it reads the key once. */
export class SignInTokens {
  readonly #cells: Cells
  readonly #vault: Vault
  #loading: Promise<KeyPair> | undefined

  constructor(cells: Cells, vault: Vault) {
    this.#cells = cells
    this.#vault = vault
  }

  /** A sign-in token in the form in which clients take it: base64 of JSON. Writes sign_in_key the first time. */
  async issue({ cell, team, user_id, session_id }: SignIn): Promise<string> {
    const keys = await this.#keys()
    const [environment = '', region = ''] = cell.split('-')
    const place = `${claimEnvironments[environment]}-${region}`
    const issuer = `id-signer-${place}@vital-id-${place}.iam.gserviceaccount.com`
    const claims = {
      iss: issuer,
      sub: issuer,
      jti: session_id,
      uid: user_id,
      tenant_id: team,
      claims: { vital_team_id: team, vital_user_id: user_id, cell },
    }
    const user_token = signJwt(claims, SIGN_IN_TOKEN_S, keys.private)
    return Buffer.from(JSON.stringify({ public_key: keys.public_pem, user_token })).toString('base64')
  }

  /** Whom a `user_token` signs in; undefined if it has expired or was not issued here. */
  async verify(user_token: string): Promise<SignIn | undefined> {
    const claims = verifyJwt(user_token, (await this.#keys()).public)
    if (!isOf(Claims, claims)) return undefined
    return { cell: claims.claims.cell as CellName, team: claims.tenant_id, user_id: claims.uid, session_id: claims.jti }
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

  /** Of two processes that create the key at once, both get the one that was stored first. */
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

/** A new refresh token. It names its session, so that another text of the session is recognized as a token used before. */
export const generateRefreshToken = ({ cell, team, user_id, session_id }: SignIn): string =>
  generateKey(`rt_${cell}_${team}_${user_id}_${session_id}_`)

const UUID = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
const REFRESH_TOKEN = new RegExp(`^rt_([a-z]+-[a-z]+)_${UUID}_${UUID}_${UUID}_[\\w-]{43}$`)

/** What a refresh token names; undefined if the text has another form. */
export function readRefreshToken(text: string): SignIn | undefined {
  const [, cell, team, user_id, session_id] = REFRESH_TOKEN.exec(text) ?? []
  return session_id === undefined ? undefined : { cell: cell as CellName, team: team!, user_id: user_id!, session_id }
}
