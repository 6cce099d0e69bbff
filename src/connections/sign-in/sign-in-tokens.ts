// Sign-in tokens, which a team's backend hands to a phone: JWTs under RS256, because the published clients read their claims.
// Source: users-wearables.md 16.2.
import { generateKey } from '../../platform/crypto/api-keys.ts'
import type { CellName } from '../../settings/cells.ts'
import { matchesSchema, T, Uuid } from '../../platform/schema/schema.ts'
import type { SigningKey } from './signing-key.ts'

/** How long a sign-in token can be exchanged. */
const SIGN_IN_TOKEN_S = 900

/** Whom a sign-in token signs in, and the id of the session that it opens. */
export interface SignIn {
  cell: CellName
  team: string
  user_id: string
  session_id: string
}

/** The environments of the claims, which are those of the published clients. */
const claimEnvironments: Record<string, string> = { sandbox: 'stg', production: 'prd' }

const Claims = T.Object({
  uid: Uuid,
  tenant_id: Uuid,
  jti: Uuid,
  claims: T.Object({ cell: T.String() }),
})

/** Signs and verifies sign-in tokens. One per process. */
export class SignInTokens {
  readonly #key: SigningKey

  constructor(key: SigningKey) {
    this.#key = key
  }

  /** A sign-in token in the form in which clients take it: base64 of JSON. Writes sign_in_key the first time. */
  async issue({ cell, team, user_id, session_id }: SignIn): Promise<string> {
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
    const user_token = await this.#key.sign(claims, SIGN_IN_TOKEN_S)
    return Buffer.from(JSON.stringify({ public_key: await this.#key.publicPem(), user_token })).toString('base64')
  }

  /** Whom a `user_token` signs in; undefined if it has expired or was not issued here. */
  async verify(user_token: string): Promise<SignIn | undefined> {
    const jwt = await this.#key.read(user_token)
    const claims = jwt?.has_expired ? undefined : jwt?.claims
    if (!matchesSchema(Claims, claims)) return undefined
    return { cell: claims.claims.cell as CellName, team: claims.tenant_id, user_id: claims.uid, session_id: claims.jti }
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
