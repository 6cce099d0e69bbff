// Link codes: short codes by which an app on a phone signs a user in, once. Owns `link_code`. Source: users-wearables.md 2.1, 16.4.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { CredentialChecks } from '../../platform/http/rate-limits.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { maskAddress } from '../../platform/net/network.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { generateCode, readCode, type LinkCodeText } from './code-text.ts'
import { unknownLinkUser } from './link-sessions.ts'

const LIFETIME_S = 3600
const LIFETIME_S_MAX = 86_400
/** Valid codes of a user; a further one ends the oldest. */
const CODES_MAX = 5

const PURPOSE = 'link code'

/**
 * Wrong codes that a network may send in a minute, and that may have the same first half in an hour. A code has 72 random bits, so that no
 * number of guesses meets one: the limits bound the look-ups, and what a person can do who has seen a half of a code.
 */
const WRONG_MAX = { network: 20, code: 20 }
const MINUTE_S = 60
const HOUR_S = 3600
/** The owner of a /48 has 65,536 networks of hosts. */
const SITE_BITS = 48

const Lifetime = T.Object({ expires_at: T.String(), is_allowed: T.Boolean() })

/**
 * Creates a link code of a user. Writes link_code.
 * @param expiresAt default in an hour
 * Errors: 400 `INVALID_USER_ID`; 422 `expires_at` is past, or more than 24 hours ahead.
 */
export async function createLinkCode(tx: Tx, vault: Vault, user_id: string, expiresAt: string | undefined) {
  const user = await lockUser(tx, user_id)
  if (!user) throw unknownLinkUser()
  const end =
    expiresAt === undefined
      ? sql`date_trunc('second', ${dbNowPlus(LIFETIME_S)})`
      : sql`date_trunc('second', ${expiresAt}::timestamptz)`
  const { expires_at, is_allowed } = await tx.one(
    Lifetime,
    sql`select ${end} as expires_at, ${end} > ${dbNow} and ${end} <= ${dbNowPlus(LIFETIME_S_MAX)} as is_allowed`,
  )
  if (!is_allowed) throw invalidField(['query', 'expires_at'], 'must be ahead, and by at most 24 hours')
  const code = generateCode(tx.tenant.cell)
  const code_hash = vault.sign(readCode(code)!.text, PURPOSE)
  await tx.run(sql`
    insert into link_code (team_id, user_id, code_hash, created_at, expires_at)
    values (${tx.team}, ${user.user_id}, ${code_hash}, ${dbNow}, ${expires_at})
    on conflict (team_id, user_id, code_hash) do update set expires_at = excluded.expires_at`)
  await tx.run(sql`
    delete from link_code where team_id = ${tx.team} and user_id = ${user.user_id} and code_hash in (
      select code_hash from link_code
      where team_id = ${tx.team} and user_id = ${user.user_id} order by created_at desc, code_hash offset ${CODES_MAX})`)
  return { code, exchange_url: `tryvital://tryvital?code=${code}`, expires_at }
}

const Owner = T.Object({ team_id: T.String(), user_id: T.String() })
const Used = T.Object({ user_id: T.String() })

export interface Redeemed {
  tenant: Tenant
  user_id: string
}

interface LinkCodeDependencies {
  cells: Cells
  vault: Vault
  findTenant: (cell: CellName, team: string) => Promise<Tenant | undefined>
}

/** Redeems link codes, and limits how many can be guessed. One per process. */
export class LinkCodes {
  readonly #dependencies: LinkCodeDependencies
  readonly #networks = wrongCodes(WRONG_MAX.network, MINUTE_S)
  readonly #codes = wrongCodes(WRONG_MAX.code, HOUR_S)

  constructor(dependencies: LinkCodeDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Uses a code up. Writes link_code.
   * @param enteredCode as a person types it
   * @param prepare makes what is given for the code, before it is used up: an error leaves the code valid
   * Errors: 401 unknown, used or expired; 429 too many wrong ones from the network, or with the same first half.
   */
  async redeem<V>(enteredCode: string, address: string, prepare: (owner: Redeemed) => Promise<V>): Promise<V> {
    const unknown = new Problem(401, {
      detail: { error_type: 'INVALID_REQUEST', error_message: 'The link code is not valid, was used or has expired' },
    })
    const network = maskAddress(address, SITE_BITS)
    const code = readCode(enteredCode)
    if (!code) throw this.#networks.refusal(network, unknown)
    const lookUp = () =>
      this.#codes
        .find(
          code.first,
          undefined,
          () => this.#use(code, prepare),
          () => unknown,
        )
        .catch((error: unknown) => {
          if (error !== unknown) throw error
          return undefined
        })
    return this.#networks.find(network, undefined, lookUp, () => unknown)
  }

  async #use<V>({ cell, text }: LinkCodeText, prepare: (owner: Redeemed) => Promise<V>): Promise<V | undefined> {
    const { cells, vault, findTenant } = this.#dependencies
    if (!cells.has(cell)) return undefined
    const db = cells.db(cell)
    const hashes = vault.signatures(text, PURPOSE)
    const owners = await db.queries.many(
      Owner,
      sql`select team_id, user_id from link_code where code_hash = any(${hashes}) and expires_at > ${dbNow} limit 2`,
    )
    const [owner] = owners
    // Two teams that got the same random code: it names neither.
    if (!owner || owners.length > 1) return undefined
    const tenant = await findTenant(cell, owner.team_id)
    if (!tenant) return undefined
    const prepared = await prepare({ tenant, user_id: owner.user_id })
    const used = await db.tx(tenant, async (tx) => {
      if (!(await lockUser(tx, owner.user_id))) return undefined
      return tx.maybe(
        Used,
        sql`
        delete from link_code
        where team_id = ${tx.team} and user_id = ${owner.user_id} and code_hash = any(${hashes}) and expires_at > ${dbNow}
        returning user_id`,
      )
    })
    return used && prepared
  }
}

const wrongCodes = (wrong_max: number, window_s: number) =>
  new CredentialChecks({ wrong_max, window_s, says: 'Too many invalid link codes, try again later' })
