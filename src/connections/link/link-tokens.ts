// Link tokens: JWTs that stand for a link session. Source: users-wearables.md 2.1.
import type { CellName } from '../../settings/cells.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import type { Guard } from '../../platform/http/request.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { matchesSchema, T, Uuid } from '../../platform/schema/schema.ts'
import type { Access } from '../../tenancy/access/access.ts'
import { readCredential } from '../../tenancy/access/team-guard.ts'
import type { SigningKey } from '../sign-in/signing-key.ts'
import { LINK_SESSION_S, linkTokenRefused } from './link-sessions.ts'

const HEADERS = ['x-vital-link-token', 'x-service-link-token']

/** Clients may read `aud` to find this server. */
const Claims = T.Object({ aud: T.String(), sub: Uuid, team_id: Uuid, user_id: Uuid, cell: T.String() })

/** Whose session a link token stands for. */
export interface LinkCredential extends UserCredential {
  cell: CellName
  team: string
}

/** A link token of a session. @param base the public address of this server, without a final slash */
export const issueLinkToken = (key: SigningKey, base: string, session: LinkCredential): Promise<string> =>
  key.sign(
    {
      aud: `${base}/v2/link`,
      sub: session.session_id,
      team_id: session.team,
      user_id: session.user_id,
      cell: session.cell,
    },
    LINK_SESSION_S,
  )

/** Whose session a link token stands for, expired or not: the session knows. Undefined if it was not issued here. */
export async function readLinkToken(key: SigningKey, text: string): Promise<LinkCredential | undefined> {
  const claims = (await key.read(text))?.claims
  if (!matchesSchema(Claims, claims) || !claims.aud.endsWith('/v2/link')) return undefined
  return { cell: claims.cell as CellName, team: claims.team_id, user_id: claims.user_id, session_id: claims.sub }
}

export interface LinkGuardDependencies {
  signingKey: SigningKey
  guards: Pick<Access, 'teams' | 'checks'>
}

/**
 * The tenant of a link token; undefined if it is not there, or its cell is not served here. 401: the host is another cell's; 429: too many
 * requests of the session.
 */
export const admitLinkToken = (
  { teams }: LinkGuardDependencies['guards'],
  { cell, team, session_id }: LinkCredential,
  headers: Parameters<Guard>[0],
): Promise<Tenant | undefined> => teams.admitSession(cell, team, `link ${team} ${session_id}`, headers)

const missingTokenError = () =>
  new Problem(400, {
    detail: { error_type: 'MISSING_LINK_TOKEN', error_message: `The header ${HEADERS[0]} is missing` },
  })

/**
 * Authenticates requests by the link token in their header. The session may have expired or linked: operations check it.
 * Errors: 400 `MISSING_LINK_TOKEN`; 401 `INVALID_REQUEST`; 429 too many invalid tokens from the address, or requests of the session.
 */
export function linkGuard({ signingKey, guards }: LinkGuardDependencies): Guard {
  return async (headers, address) => {
    const text = readCredential(headers, HEADERS)
    if (text === undefined) throw missingTokenError()
    const found = await readLinkToken(signingKey, text)
    const tenant = found && (await admitLinkToken(guards, found, headers))
    if (!tenant) throw guards.checks.refusal(address, linkTokenRefused('invalid_token'))
    const { user_id, session_id } = found
    return { tenant, key_id: `link_token:${session_id}`, user: { user_id, session_id } }
  }
}
