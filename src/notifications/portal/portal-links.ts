// Links to the portal of a patient. One for a patient who is signed in elsewhere is a signed token; one for messages is a code, of which
// only the hash is stored. Owns portal_link.
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { randomBytes } from 'node:crypto'
import { latestDemographics } from '../../people/users/demographics.ts'
import { getUser, notDeletedHere } from '../../people/users/users.ts'
import { hashKey } from '../../platform/crypto/api-keys.ts'
import { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { cellNames, type CellName, type KnownCell } from '../../settings/cells.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { CreatePortalUrl, PortalUrl } from './schema.ts'

const LAUNCH_S = 600
const VISIT_S = 1800
const SHORT_LINK_S = 14 * 86_400
/** Valid short links of a user; a further one ends the oldest. */
const SHORT_LINKS_MAX = 50
/** After so many wrong birth dates in a row a short link shows no orders any more. */
const WRONG_ANSWERS_MAX = 5
const SECRET_BYTES = 16
const UUID_BYTES = 16

/** Whose portal it is, and the order that it opens with. */
export interface PortalVisit {
  cell: CellName
  team: string
  user_id: string
  order_id: string | undefined
}

/** Signs and reads the tokens of portal links. One of a launch opens a visit; one of a visit opens the pages. */
export class PortalTokens {
  readonly #launches: SignedTokens
  readonly #visits: SignedTokens

  constructor(vault: Vault) {
    this.#launches = new SignedTokens(vault, 'portal launch')
    this.#visits = new SignedTokens(vault, 'portal visit')
  }

  launch = (visit: PortalVisit): string => this.#launches.sign(wordsOf(visit), LAUNCH_S)
  visit = (visit: PortalVisit): string => this.#visits.sign(wordsOf(visit), VISIT_S)
  readLaunch = (token: string) => readVisit(this.#launches, token)
  readVisit = (token: string) => readVisit(this.#visits, token)
}

const wordsOf = ({ cell, team, user_id, order_id }: PortalVisit): string[] => [cell, team, user_id, order_id ?? '']

/** Undefined: not signed here, or for something else. */
function readVisit(tokens: SignedTokens, token: string): { id: string; visit: PortalVisit; has_expired: boolean } | undefined {
  const found = tokens.read(token)
  if (!found) return undefined
  const [cell, team, user_id, order_id] = found.words as [CellName, string, string, string]
  return { id: found.id, visit: { cell, team, user_id, order_id: order_id || undefined }, has_expired: found.has_expired }
}

const Owned = T.Object({ id: T.String() })

/**
 * Creates a link to the portal of a user. Writes portal_link for `communications`. A user has at most 50 valid links for messages; a further
 * one ends the oldest.
 * Errors: 404 unknown user, or the user has no such order; 422 the user has no demographics. Source: users-wearables.md 1.
 * @param base the public address of this server, without a final slash
 */
export async function createPortalUrl(
  tx: Tx,
  { tokens, base }: { tokens: PortalTokens; base: string },
  user_id: string,
  { context, order_id }: CreatePortalUrl,
): Promise<PortalUrl> {
  await getUser(tx, user_id)
  if (!(await latestDemographics(tx, user_id)))
    throw invalidField(['path', 'user_id'], 'has no demographics: PATCH /v2/user/{user_id}/info saves them')
  if (order_id && !(await ownsOrder(tx, user_id, order_id))) throw notFound('Order not found')
  const visit = { cell: tx.tenant.cell, team: tx.team, user_id, order_id: order_id ?? undefined }
  return context === 'launch'
    ? { url: `${base}/portal/launch?${new URLSearchParams({ token: tokens.launch(visit) })}`, expires_in: LAUNCH_S }
    : { url: `${base}/p/${await createCode(tx, visit)}`, expires_in: SHORT_LINK_S }
}

const ownsOrder = async (tx: Tx, user_id: string, order_id: string): Promise<boolean> =>
  (await tx.maybe(
    Owned,
    sql`select id from lab_order where id = ${order_id} and team_id = ${tx.team} and user_id = ${user_id}`,
  )) !== undefined

async function createCode(tx: Tx, { cell, team, user_id, order_id }: PortalVisit): Promise<string> {
  const code = `${cellNames.indexOf(cell as KnownCell)}${Buffer.concat([Buffer.from(team.replaceAll('-', ''), 'hex'), randomBytes(SECRET_BYTES)]).toString('base64url')}`
  await tx.run(sql`
    insert into portal_link (team_id, user_id, code_hash, order_id, created_at, expires_at)
    values (${tx.team}, ${user_id}, ${hashOf(code)}, ${order_id ?? null}, ${dbNow}, ${dbNowPlus(SHORT_LINK_S)})`)
  await tx.run(sql`
    delete from portal_link where team_id = ${tx.team} and user_id = ${user_id} and code_hash in (
      select code_hash from portal_link
      where team_id = ${tx.team} and user_id = ${user_id} order by created_at desc, code_hash offset ${SHORT_LINKS_MAX})`)
  return code
}

const hashOf = (code: string): string => hashKey(code).toString('base64url')

/** The cell and the team that a code names; undefined if the text is not a code. */
export function teamOfCode(code: string): { cell: CellName; team: string } | undefined {
  const cell = cellNames[Number(code[0])]
  if (!cell || !/^\d[\w-]{43}$/.test(code)) return undefined
  const hex = Buffer.from(code.slice(1), 'base64url').subarray(0, UUID_BYTES).toString('hex')
  return { cell, team: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }
}

const ShortLink = T.Object({
  user_id: T.String(),
  code_hash: T.String(),
  order_id: Nullable(T.String()),
  has_expired: T.Boolean(),
  is_locked: T.Boolean(),
})
export type ShortLink = Static<typeof ShortLink>

/** The link of a code, expired or not; undefined if it is not there, or its user is deleted. */
export const findShortLink = (tx: Tx, code: string): Promise<ShortLink | undefined> =>
  tx.maybe(
    ShortLink,
    sql`
    select user_id, code_hash, order_id, expires_at <= ${dbNow} as has_expired, wrong_answers >= ${WRONG_ANSWERS_MAX} as is_locked
    from portal_link
    where team_id = ${tx.team} and code_hash = ${hashOf(code)} and ${notDeletedHere(tx, sql`portal_link.user_id`)}`,
  )

const Attempt = T.Object({ wrong_answers: T.Integer() })

/**
 * Whether a text is the birth date of the user of a link. Writes portal_link: a wrong answer is counted before it is compared, so that
 * concurrent ones cannot be more than five in a row; then every answer is wrong.
 */
export async function isBirthDate(tx: Tx, { user_id, code_hash }: ShortLink, answer: string): Promise<boolean> {
  const attempt = await tx.maybe(
    Attempt,
    sql`
    update portal_link set wrong_answers = wrong_answers + 1
    where team_id = ${tx.team} and user_id = ${user_id} and code_hash = ${code_hash}
      and wrong_answers < ${WRONG_ANSWERS_MAX} and expires_at > ${dbNow}
    returning wrong_answers`,
  )
  if (!attempt || (await latestDemographics(tx, user_id))?.dob !== answer) return false
  await tx.run(sql`
    update portal_link set wrong_answers = 0
    where team_id = ${tx.team} and user_id = ${user_id} and code_hash = ${code_hash}`)
  return true
}

/** Ends all links of a user for messages. Writes portal_link. */
export const erasePortalLinks = eraseTablesOfUser('portal_link')
