// Keys of teams and organizations: issuing and recognising them. Their texts are never stored.
import type { CellName, PlainTx, Queries } from '../platform/db.ts'
import { T } from '../platform/schema.ts'
import { keyHash, keyHint, newKey } from '../platform/secrets.ts'
import { sql } from '../platform/sql.ts'

/** Prefix of a team key → its cell. Source: management-auth.md 3. */
const prefixes: Record<string, CellName> = {
  sk_us_: 'sandbox-us',
  sk_eu_: 'sandbox-eu',
  pk_us_: 'production-us',
  pk_eu_: 'production-eu',
}

const prefixOf = (cell: CellName): string => Object.keys(prefixes).find((prefix) => prefixes[prefix] === cell)!

/** The cell a team key says it is for; undefined for an imported key without a known prefix. */
export const cellOfKey = (text: string): CellName | undefined => prefixes[text.slice(0, 6)]

/**
 * Issue a key for a team in one cell. Writes api_key.
 * @returns the key's text, which is not to be had again
 */
export async function createTeamKey(tx: PlainTx, key: { team_id: string; cell: CellName; label: string }): Promise<string> {
  const text = newKey(prefixOf(key.cell))
  await tx.run(sql`
    insert into api_key (id, team_id, cell, label, key_hash, hint, created_at)
    values (${tx.uuid()}, ${key.team_id}, ${key.cell}, ${key.label}, ${keyHash(text)}, ${keyHint(text)}, ${tx.now})`)
  return text
}

/**
 * Issue a key that controls a whole organization. Writes management_key.
 * @returns the key's text, which is not to be had again
 */
export async function createOrgKey(tx: PlainTx, key: { org_id: string; label: string }): Promise<string> {
  const text = newKey('mg_')
  await tx.run(sql`
    insert into management_key (id, org_id, role, label, key_hash, hint, created_at)
    values (${tx.uuid()}, ${key.org_id}, 'org_admin', ${key.label}, ${keyHash(text)}, ${keyHint(text)}, ${tx.now})`)
  return text
}

const KeyRow = T.Object({ team_id: T.String(), cell: T.String() })

/** The team and cell a key was issued for; undefined when it is unknown, revoked, or not a team key. */
export async function findTeamKey(control: Queries, text: string): Promise<{ team_id: string; cell: CellName } | undefined> {
  const row = await control.maybe(KeyRow, sql`select team_id, cell from api_key where key_hash = ${keyHash(text)}`)
  return row && { team_id: row.team_id, cell: row.cell as CellName }
}

const ListedKey = T.Object({ id: T.String(), cell: T.String(), label: T.String(), hint: T.String(), created_at: T.String() })

/** The keys of a team, newest first, without their texts. At most 200. */
export const listTeamKeys = (control: Queries, team_id: string) =>
  control.many(
    ListedKey,
    sql`
    select id, cell, label, hint, created_at from api_key where team_id = ${team_id} order by created_at desc, id desc limit 200`,
  )

/**
 * Revoke a key of either kind, named by its id or its text. Writes api_key, management_key.
 * @returns whether there was one
 */
export async function revokeKey(tx: PlainTx, key: string): Promise<boolean> {
  const hash = keyHash(key)
  const [ofTeam, ofOrg] = [
    await tx.run(sql`delete from api_key where id::text = ${key} or key_hash = ${hash}`),
    await tx.run(sql`delete from management_key where id::text = ${key} or key_hash = ${hash}`),
  ]
  return ofTeam + ofOrg > 0
}
