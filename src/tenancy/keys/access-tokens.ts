// Access tokens: for ten minutes equivalent to a key of one team in one environment. Source: management-auth.md 10.
import type { CellName } from '../../settings/cells.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { missingField, notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import type { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { cellsOfRegion, findTeam } from '../teams/teams.ts'

const LIFETIME_S = 600

/** The dependencies of minting access tokens. */
export interface TokenDependencies {
  cells: Pick<Cells, 'has'>
  tokens: Pick<SignedTokens, 'sign'>
  /** Minted access tokens, by management key and team. */
  tokenLimiter: FixedWindowLimiter
}

/**
 * Mints a token. It is not stored. 404: a cell that is not served here. 422: no environment given although more than one is served. 429:
 * more than 60 a minute of this key for this team.
 */
export async function mintToken(
  tx: PlainTx,
  dependencies: TokenDependencies,
  manager: ManagementPrincipal,
  team_id: string,
  env?: string,
) {
  const team = await findTeam(tx, team_id)
  if (!team) throw notFound('Team not found')
  const served: CellName[] = cellsOfRegion(team.region).filter((cell) => dependencies.cells.has(cell))
  const cell = env === undefined && served.length === 1 ? served[0]! : `${env}-${team.region}`
  if (env === undefined && served.length !== 1) throw missingField(['body', 'env'])
  if (!served.includes(cell)) throw notFound('This server does not serve this cell')
  const refused = dependencies.tokenLimiter.hit(`${manager.key_id} ${team_id}`, 'Too many access tokens')
  if (refused) throw refused
  // A token acts for the person of its key: the access log names that person, and the token ends when the person is removed.
  const person = manager.member_id === undefined ? [] : [manager.member_id]
  return { access_token: dependencies.tokens.sign([cell, team_id, ...person], LIFETIME_S), expires_in: LIFETIME_S }
}
