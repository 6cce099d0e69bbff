// Issues and recognizes keys of teams and organizations. Their texts are never stored.
import { isPast } from '../../platform/runtime/clock.ts'
import { type CellName, prefixOf } from '../../settings/cells.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { OrgPrincipal, Plan } from '../organizations/plans.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { MANAGEMENT_PREFIX, generateKey, hashKey, lastFour } from '../../platform/crypto/api-keys.ts'
import { sql } from '../../platform/db/sql.ts'

/** The constraints of the tables and the responses when statements violate them: the member was removed meanwhile. */
export const keyConstraints = {
  api_key_member_id_fkey: () => notFound('Member not found'),
  management_key_member_id_fkey: () => notFound('Member not found'),
}

/** A masked team key for lists: the prefix of its cell and its last characters. */
export const maskKey = (cell: CellName, last_four: string): string => `${prefixOf(cell)}…${last_four}`

/**
 * Issues a key for a team in one cell. Writes api_key.
 * @param key.member_id the member of the organization who uses it, if it is for one person: see `assertMember`
 * @param key.creator_member_id the member who creates it
 * @param key.text the text of the key, which no other key may have; without it, a generated one
 * @returns the key's text, which cannot be read again
 */
export async function createTeamKey(
  tx: PlainTx,
  key: {
    id?: string
    team_id: string
    cell: CellName
    label: string
    member_id?: string | undefined
    creator_member_id?: string | undefined
    text?: string | undefined
  },
): Promise<string> {
  const { text = generateKey(prefixOf(key.cell)) } = key
  await tx.run(sql`
    insert into api_key (id, team_id, cell, label, member_id, creator_member_id, key_hash, last_four, created_at)
    values (${key.id ?? tx.uuid()}, ${key.team_id}, ${key.cell}, ${key.label}, ${key.member_id}, ${key.creator_member_id}, ${hashKey(text)},
            ${lastFour(text)}, ${tx.now})`)
  return text
}

/**
 * Issues an organization-wide key. Writes management_key.
 * @param key.member_id as of `createTeamKey`
 * @param key.text the text of the key, which no other key may have; without it, a generated one
 * @returns the key's text, which cannot be read again
 */
export async function createOrgKey(
  tx: PlainTx,
  key: { id?: string; org_id: string; label: string; member_id?: string | undefined; text?: string | undefined },
): Promise<string> {
  const { text = generateKey(MANAGEMENT_PREFIX) } = key
  await tx.run(sql`
    insert into management_key (id, org_id, role, label, member_id, key_hash, last_four, created_at)
    values (${key.id ?? tx.uuid()}, ${key.org_id}, 'org_admin', ${key.label}, ${key.member_id}, ${hashKey(text)}, ${lastFour(text)},
            ${tx.now})`)
  return text
}

/** Whether a key can be for this person: a member of the organization, or undefined for a key of a program. */
export const isMember = async (tx: Queries, org_id: string, member_id: string | undefined): Promise<boolean> =>
  member_id === undefined || (await tx.run(sql`select from member where id = ${member_id} and org_id = ${org_id}`)) > 0

/** 404: no key can be for this person (see `isMember`). */
export async function assertMember(tx: PlainTx, org_id: string, member_id: string | undefined): Promise<void> {
  if (!(await isMember(tx, org_id, member_id))) throw notFound('Member not found')
}

/** Deletes the keys of a member who leaves the organization. Writes api_key, management_key, management_key_team. */
export async function deleteKeysOfMember(tx: PlainTx, member_id: string): Promise<void> {
  await tx.run(sql`delete from api_key where member_id = ${member_id}`)
  await tx.run(sql`delete from management_key where member_id = ${member_id}`)
}

const KeyOwner = T.Object({
  key_id: T.String(),
  team_id: T.String(),
  cell: T.Unsafe<CellName>({ type: 'string' }),
  /** The member who uses the key; null for a key of a program. */
  member_id: Nullable(T.String()),
  expires_at: Nullable(T.String()),
})
export type KeyOwner = Static<typeof KeyOwner>

/** The team of a key, and since when its organization is read-only; undefined if the key is unknown or its team is deleted. */
export const findTeamKey = (control: Queries, text: string): Promise<KeyOwner | undefined> =>
  control.maybe(
    KeyOwner,
    sql`
    select k.id as key_id, k.team_id, k.cell, k.member_id, o.expires_at
    from api_key k join team t on t.id = k.team_id and t.deleted_at is null join org o on o.id = t.org_id
    where k.key_hash = ${hashKey(text)}`,
  )

const toListedKey = {
  id: T.String(),
  label: T.String(),
  last_four: T.String(),
  created_at: T.String(),
  last_used_at: Nullable(T.String()),
  last_used_ip: Nullable(T.String()),
  member_id: Nullable(T.String()),
}
const ListedKey = T.Object({ ...toListedKey, cell: T.String() })
const ListedManagementKey = T.Object({ ...toListedKey, role: T.String() })
const listedColumns = sql`id, label, last_four, created_at, last_used_at, last_used_ip, member_id`

/** The keys of a team, newest first, without their texts. At most 200. */
export const listTeamKeys = (control: Queries, team_id: string) =>
  control.many(
    ListedKey,
    sql`
    select ${listedColumns}, cell from api_key where team_id = ${team_id} order by created_at desc, id desc limit 200`,
  )

/** The management keys of an organization, newest first, without their texts. At most 200. */
export const listOrgKeys = (control: Queries, org_id: string) =>
  control.many(
    ListedManagementKey,
    sql`
    select ${listedColumns}, role from management_key where org_id = ${org_id} order by created_at desc, id desc limit 200`,
  )

/**
 * Revokes a key of either kind, named by its id or its text, also by a rotated text. Writes api_key, management_key.
 * @returns whether there was one
 */
export async function revokeKey(tx: PlainTx, key: string): Promise<boolean> {
  const hash = hashKey(key)
  const [ofTeam, ofOrg] = [
    await tx.run(sql`delete from api_key where id::text = ${key} or key_hash = ${hash}`),
    await tx.run(sql`delete from management_key where id::text = ${key} or key_hash = ${hash} or previous_hash = ${hash}`),
  ]
  return ofTeam + ofOrg > 0
}

const ManagementKeyRow = T.Object({
  id: T.String(),
  org_id: T.String(),
  role: T.String(),
  member_id: Nullable(T.String()),
  teams: T.Array(T.String()),
  plan: T.String(),
  expires_at: Nullable(T.String()),
  /** For a rotated text: until when it works. */
  former_until: Nullable(T.String()),
})

/** The principal of a management key; undefined if it is unknown, revoked, or of another kind. */
export async function findManagementPrincipal(control: Queries, text: string): Promise<OrgPrincipal | undefined> {
  const hash = hashKey(text)
  const row = await control.maybe(
    ManagementKeyRow,
    sql`
    select k.id, k.org_id, k.role, k.member_id, to_json(array(select b.team_id from management_key_team b where b.key_id = k.id)) as teams,
           o.plan, o.expires_at, case when k.previous_hash = ${hash} then k.previous_until end as former_until
    from management_key k join org o on o.id = k.org_id
    where k.key_hash = ${hash} or k.previous_hash = ${hash}`,
  )
  if (row?.former_until && isPast(row.former_until)) return undefined
  return (
    row && {
      key_id: row.id,
      ...(row.member_id !== null && { member_id: row.member_id }),
      key_hash: hash,
      org: row.org_id,
      teams: row.role === 'org_admin' ? null : new Set(row.teams),
      plan: row.plan as Plan,
      expires_at: row.expires_at,
    }
  )
}
