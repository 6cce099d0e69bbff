// Management keys, as an organization manages them. Their texts are shown once. Source: management-auth.md 9.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, forbidden, invalidField, missingField, notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { MANAGEMENT_PREFIX, hashKey, lastFour, generateKey } from '../../platform/crypto/api-keys.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import { creatorColumn } from '../organizations/creators.ts'
import { assertMember } from './keys.ts'
import type { Forgets } from '../teams/teams.ts'
import { assertTeams } from '../teams/role-bindings.ts'
import { ManagementKey, type CreateManagementKey, type ManagementKeyQuery, type PatchManagementKey } from '../teams/schema.ts'

const selectKey = sql`
  select k.id, k.label, k.created_at, ${creatorColumn(sql`k.creator_member_id`)}, k.last_used_at, k.last_used_ip, k.role, k.member_id,
         case k.role when 'team_admin' then to_json(array(
           select json_build_object('team_id', b.team_id) from management_key_team b where b.key_id = k.id order by b.team_id))
         end as team_role_bindings
  from management_key k`

/** Keys of the organization, newest first, 50 per page, without their texts. 400: a cursor of another list. */
export async function listManagementKeys(tx: PlainTx, org_id: string, query: ManagementKeyQuery) {
  const list = `management keys ${org_id} ${query.team_id ?? ''} ${query.role ?? ''}`
  const pages = new Pages(list, query, byCreation('k'))
  const conditions = [sql`k.org_id = ${org_id}`, pages.afterCursor]
  if (query.team_id !== undefined)
    conditions.push(sql`exists (select from management_key_team b where b.key_id = k.id and b.team_id = ${query.team_id})`)
  if (query.role !== undefined) conditions.push(sql`k.role = ${query.role}`)
  const rows = await tx.many(ManagementKey, sql`${selectKey} where ${joinConditions(conditions)} ${pages.order}`)
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: page, next_cursor }
}

/** Whether a member acts who administers the organization: keys of the whole organization are for such a person, and for commands. */
const isAdministrator = ({ session_id, teams }: ManagementPrincipal): boolean => session_id !== undefined && teams === null

/**
 * Issues a key that is bound to teams, or, to an administrator, one of the whole organization. Writes management_key, management_key_team.
 * 403: an organization-wide key, which no key can create. 404: a team or a member that the organization does not have. 422: no team.
 * @returns the record with the key's text, which cannot be read again
 */
export async function createManagementKey(tx: PlainTx, manager: ManagementPrincipal, body: CreateManagementKey) {
  const { org: org_id } = manager
  const { role, teams } = validateBindings(body)
  if (role === 'org_admin' && !isAdministrator(manager))
    throw forbidden('A management key cannot create an organization-wide key')
  await assertTeams(tx, org_id, teams)
  await assertMember(tx, org_id, body.member_id)
  const id = tx.uuid()
  const key = generateKey(MANAGEMENT_PREFIX)
  await tx.run(sql`
    insert into management_key (id, org_id, role, label, member_id, creator_member_id, key_hash, last_four, created_at)
    values (${id}, ${org_id}, ${role}, ${body.label}, ${body.member_id}, ${manager.member_id}, ${hashKey(key)}, ${lastFour(key)}, ${tx.now})`)
  await saveBindings(tx, id, teams)
  return { ...(await tx.one(ManagementKey, sql`${selectKey} where k.id = ${id}`)), key }
}

/** An older form names one team and no role. */
function validateBindings(body: CreateManagementKey): { role: string; teams: string[] } {
  const teams = [...new Set(body.team_role_bindings?.map(({ team_id }) => team_id))]
  if (body.role === undefined) {
    if (body.team_id === undefined) throw missingField(['body', 'role'])
    return { role: 'team_admin', teams: teams.length ? teams : [body.team_id] }
  }
  const at = ['body', 'team_role_bindings']
  if (body.role === 'team_admin' && teams.length === 0)
    throw invalidField(at, 'a key with role team_admin requires at least one team')
  if (body.role === 'org_admin' && teams.length) throw invalidField(at, 'a key with role org_admin must not have bindings')
  return { role: body.role, teams }
}

const saveBindings = (tx: PlainTx, key_id: string, teams: string[]): Promise<number> =>
  tx.run(sql`insert into management_key_team (key_id, team_id) select ${key_id}, unnest(${teams}::uuid[])`)

/**
 * Changes a key's label, or replaces its bindings. Writes management_key, management_key_team. 400: bindings for an organization-wide key.
 * 403: such a key, for a key. 404: no such key or team. 422: no team.
 */
export async function patchManagementKey(
  tx: PlainTx,
  orgs: Forgets,
  manager: ManagementPrincipal,
  key_id: string,
  body: PatchManagementKey,
): Promise<ManagementKey> {
  const key = await lockKey(tx, manager.org, key_id)
  if (!key) throw notFound('Management key not found')
  if (key.role === 'org_admin') {
    if (body.team_role_bindings) throw badRequest('A key of role org_admin has no bindings')
    if (!isAdministrator(manager)) throw forbidden('A management key cannot change an organization-wide key')
  }
  if (body.label !== undefined) await tx.run(sql`update management_key set label = ${body.label} where id = ${key_id}`)
  if (body.team_role_bindings) {
    const { teams } = validateBindings({ label: key.label, role: 'team_admin', team_role_bindings: body.team_role_bindings })
    await assertTeams(tx, manager.org, teams)
    await tx.run(sql`delete from management_key_team where key_id = ${key_id}`)
    await saveBindings(tx, key_id, teams)
  }
  tx.afterCommit(() => orgs.invalidate(manager.org))
  return tx.one(ManagementKey, sql`${selectKey} where k.id = ${key_id}`)
}

async function lockKey(tx: PlainTx, org_id: string, key_id: string): Promise<ManagementKey | undefined> {
  await tx.locking.run(sql`select id from management_key where id = ${key_id} and org_id = ${org_id} for update`)
  return tx.maybe(ManagementKey, sql`${selectKey} where k.id = ${key_id} and k.org_id = ${org_id}`)
}

/**
 * Deletes a key; a key may delete itself. Writes management_key, management_key_team. 403: an organization-wide key other than the caller's
 * own, for a key; any other key, for callers that are bound to teams.
 * @returns the deleted key, null if there was none
 */
export async function removeManagementKey(
  tx: PlainTx,
  orgs: Forgets,
  manager: ManagementPrincipal,
  key_id: string,
): Promise<ManagementKey | null> {
  const itself = key_id === manager.key_id
  if (manager.teams && !itself) throw forbidden('Action forbidden')
  const key = await lockKey(tx, manager.org, key_id)
  if (!key) return null
  if (key.role === 'org_admin' && !itself && !isAdministrator(manager))
    throw forbidden('A management key cannot delete an organization-wide key')
  await tx.run(sql`delete from management_key where id = ${key_id}`)
  tx.afterCommit(() => orgs.invalidate(manager.org))
  return key
}

const OVERLAP_S = 86_400

/**
 * Gives a key a new text, the caller's own or, for an administrator, any; the previous one keeps working for `overlap_s`, by default a
 * day. An even older text stops working. Writes management_key. 403: another key than the caller's own, or a replaced text of it. 404: no
 * such key. Our own operation; source of the rights
 * of keys: management-auth.md 4 and 9.
 * @returns the record with the key's new text, which cannot be read again
 */
export async function rotateManagementKey(
  tx: PlainTx,
  orgs: Forgets,
  manager: ManagementPrincipal,
  key_id: string,
  overlap_s: number = OVERLAP_S,
) {
  if (key_id !== manager.key_id && !isAdministrator(manager)) throw forbidden('A key can only rotate itself')
  if (!(await lockKey(tx, manager.org, key_id))) throw notFound('Management key not found')
  const key = generateKey(MANAGEMENT_PREFIX)
  const rotated = await tx.run(sql`
    update management_key
    set key_hash = ${hashKey(key)}, last_four = ${lastFour(key)}, previous_hash = key_hash, previous_until = ${addSeconds(tx.now, overlap_s)}
    where id = ${key_id}${isAdministrator(manager) ? sql`` : sql` and key_hash = ${manager.key_hash}`}`)
  // Otherwise an attacker with a replaced text could take the key over.
  if (!rotated) throw forbidden('Only the newest text of a key can rotate it')
  tx.afterCommit(() => orgs.invalidate(manager.org))
  return { ...(await tx.one(ManagementKey, sql`${selectKey} where k.id = ${key_id}`)), key }
}

/** Removes the bindings to a deleted team; a key without another binding is bound to no team. Writes management_key_team. */
export const unbindKeys = async (tx: PlainTx, team_id: string): Promise<void> =>
  void (await tx.run(sql`delete from management_key_team where team_id = ${team_id}`))
