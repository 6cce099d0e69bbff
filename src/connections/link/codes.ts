// Link codes: short codes by which an app on a phone signs a user in, once. Owns `link_code`. Source: users-wearables.md 2.1, 16.4.
import { randomBytes } from 'node:crypto'
import { lockUser } from '../../people/users/connected-sources.ts'
import { hashKey } from '../../platform/crypto/api-keys.ts'
import { cellNames, type CellName } from '../../platform/db/cell-names.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { CredentialChecks } from '../../platform/http/credential-checks.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { networkOf } from '../../platform/net/network.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { unknownLinkUser } from './sessions.ts'

const LIFETIME_S = 3600
const LIFETIME_S_MAX = 86_400
/** Valid codes of a user; a further one ends the oldest. */
const CODES_MAX = 5

/** A code begins with its cell and ends with 32 random bits: clients accept no other form. */
const prefixes: Record<CellName, string> = {
  'sandbox-us': 'skus',
  'sandbox-eu': 'skeu',
  'production-us': 'pkus',
  'production-eu': 'pkeu',
}
const CODE_BYTES = 4
const hashOf = (code: string): string => hashKey(code).toString('base64url')

/**
 * Wrong codes that a network, and all together, may send in an hour. With 1,000 valid codes, 500 wrong ones an hour meet one of them in
 * a year with a probability of 64 percent; with 10, of 1 percent.
 */
const WRONG_PER_HOUR = { network: 10, all: 500 }
/** The owner of a /48 has 65,536 networks of hosts, which could use up what all together may send. */
const SITE_BITS = 48
const HOUR_S = 3600
const EVERYBODY = '0.0.0.0'

const Lifetime = T.Object({ expires_at: T.String(), is_allowed: T.Boolean() })

/**
 * Creates a link code of a user. Writes link_code.
 * @param until default in an hour
 * Errors: 400 `INVALID_USER_ID`; 422 `expires_at` is past, or more than 24 hours ahead.
 */
export async function createLinkCode(tx: Tx, user_id: string, until: string | undefined) {
  const user = await lockUser(tx, user_id)
  if (!user) throw unknownLinkUser()
  const end =
    until === undefined ? sql`date_trunc('second', ${dbNowPlus(LIFETIME_S)})` : sql`date_trunc('second', ${until}::timestamptz)`
  const { expires_at, is_allowed } = await tx.one(
    Lifetime,
    sql`select ${end} as expires_at, ${end} > ${dbNow} and ${end} <= ${dbNowPlus(LIFETIME_S_MAX)} as is_allowed`,
  )
  if (!is_allowed) throw invalidField(['query', 'expires_at'], 'must be ahead, and by at most 24 hours')
  const code = prefixes[tx.tenant.cell] + randomBytes(CODE_BYTES).toString('hex')
  await tx.run(sql`
    insert into link_code (team_id, user_id, code_hash, created_at, expires_at)
    values (${tx.team}, ${user.user_id}, ${hashOf(code)}, ${dbNow}, ${expires_at})
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

/** Redeems link codes, and limits how many can be guessed. One per process. */
export class LinkCodes {
  readonly #cells: Cells
  readonly #tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>
  readonly #networks = wrongCodes(WRONG_PER_HOUR.network)
  readonly #all = wrongCodes(WRONG_PER_HOUR.all)

  constructor(cells: Cells, tenantOf: (cell: CellName, team: string) => Promise<Tenant | undefined>) {
    this.#cells = cells
    this.#tenantOf = tenantOf
  }

  /**
   * Uses a code up. Writes link_code.
   * @param prepare makes what is given for the code, before it is used up: an error leaves the code valid
   * Errors: 401 unknown, used or expired; 429 too many wrong ones in an hour from the network, or from everybody.
   */
  async redeem<V>(code: string, address: string, prepare: (whose: Redeemed) => Promise<V>): Promise<V> {
    const unknown = new Problem(401, {
      detail: { error_type: 'INVALID_REQUEST', error_message: 'The link code is not valid, was used or has expired' },
    })
    const lookUp = async () => {
      try {
        return await this.#all.find(
          EVERYBODY,
          undefined,
          () => this.#use(code, prepare),
          () => unknown,
        )
      } catch (error) {
        if (error === unknown) return undefined
        throw error
      }
    }
    return this.#networks.find(networkOf(address, SITE_BITS), undefined, lookUp, () => unknown)
  }

  async #use<V>(code: string, prepare: (whose: Redeemed) => Promise<V>): Promise<V | undefined> {
    const cell = cellNames.find((name) => code.startsWith(prefixes[name]))
    if (!cell || !this.#cells.has(cell)) return undefined
    const db = this.#cells.of(cell)
    const hash = hashOf(code)
    const owners = await db.queries.many(
      Owner,
      sql`select team_id, user_id from link_code where code_hash = ${hash} and expires_at > ${dbNow} limit 2`,
    )
    const [owner] = owners
    // Two teams that got the same random code: it names neither.
    if (!owner || owners.length > 1) return undefined
    const tenant = await this.#tenantOf(cell, owner.team_id)
    if (!tenant) return undefined
    const prepared = await prepare({ tenant, user_id: owner.user_id })
    const used = await db.tx(tenant, async (tx) => {
      if (!(await lockUser(tx, owner.user_id))) return undefined
      return tx.maybe(
        Used,
        sql`
        delete from link_code
        where team_id = ${tx.team} and user_id = ${owner.user_id} and code_hash = ${hash} and expires_at > ${dbNow} returning user_id`,
      )
    })
    return used && prepared
  }
}

const wrongCodes = (wrong_max: number) =>
  new CredentialChecks({ wrong_max, window_s: HOUR_S, says: 'Too many invalid link codes, try again later' })

/** Ends all codes of a user. Writes link_code. */
export async function eraseCodes(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`delete from link_code where team_id = ${tx.team} and user_id = ${user_id}`)
}
