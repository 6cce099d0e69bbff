// API keys of teams, as an organization manages them. Their texts are shown once. Source: management-auth.md 10.
import type { CellName } from '../../settings/cells.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import type { RecordAuditSubject, ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import type { Forgets } from '../teams/teams.ts'
import { assertMember, createTeamKey, maskKey } from './keys.ts'
import { teamAccessCondition, authorizedTeamsInRegion, authorizedTeam } from '../teams/team-access.ts'
import type { CellParams } from '../organizations/management-shapes.ts'
import { creatorColumn } from '../organizations/creators.ts'
import { TeamApiKey } from '../teams/schema.ts'

const cellOf = ({ env, region }: CellParams): CellName => `${env}-${region}`

const Row = T.Object({ ...T.Omit(TeamApiKey, ['value']).properties, last_four: T.String() })
const selectKey = sql`
  select k.id, k.label, k.last_four, k.team_id, k.member_id, ${creatorColumn(sql`k.creator_member_id`)}, k.created_at, k.last_used_at,
         k.last_used_ip
  from api_key k`

/** In API format. @param text of a key that is created now; masked without it */
const toWire = ({ last_four, ...key }: Static<typeof Row>, cell: CellName, text?: string): TeamApiKey => ({
  ...key,
  value: text ?? maskKey(cell, last_four),
})

/** Keys of one cell, newest first, 50 per page, masked. 400: a cursor of another list. 403, 404: a team that is not accessible. */
export async function listKeys(
  tx: PlainTx,
  manager: ManagementPrincipal,
  place: CellParams,
  query: { team_id?: string; next_cursor?: string },
) {
  const cell = cellOf(place)
  const pages = new Pages(`team keys ${manager.org} ${cell} ${query.team_id ?? ''}`, query, byCreation('k'))
  const conditions = [teamAccessCondition(manager), sql`k.cell = ${cell}`, pages.afterCursor]
  if (query.team_id !== undefined) {
    await authorizedTeam(tx, manager, query.team_id)
    conditions.push(sql`k.team_id = ${query.team_id}`)
  }
  const rows = await tx.many(
    Row,
    sql`
    ${selectKey} join team t on t.id = k.team_id
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  const api_keys = page.map((row) => toWire(row, cell))
  return { api_keys, next_cursor }
}

/**
 * Issues a key for a team. Writes api_key. 400: the team belongs to another region. 403: a team that the key is not bound to. 404: a team
 * or a member that the organization does not have.
 * @returns the record with the key's text, which cannot be read again
 */
export async function createKey(
  tx: PlainTx,
  manager: ManagementPrincipal,
  place: CellParams,
  body: { label: string; team_id: string; member_id?: string | undefined },
  recordSubject: RecordAuditSubject,
): Promise<TeamApiKey> {
  await authorizedTeamsInRegion(tx, manager, place.region, [body.team_id])
  await assertMember(tx, manager.org, body.member_id)
  const cell = cellOf(place)
  const id = tx.uuid()
  const text = await createTeamKey(tx, { id, ...body, creator_member_id: manager.member_id, cell })
  recordSubject(body.team_id, id)
  return toWire(await tx.one(Row, sql`${selectKey} where k.id = ${id}`), cell, text)
}

const Deleted = T.Object({ id: T.String(), team_id: T.String() })

/**
 * Deletes keys of one cell; requests in flight complete. Writes api_key.
 * @returns the deleted keys, and the ids that are unknown or not accessible as not found
 */
export async function deleteKeys(
  tx: PlainTx,
  teams: Forgets,
  manager: ManagementPrincipal,
  place: CellParams,
  ids: string[],
  recordSubject: RecordAuditSubject,
) {
  const requestedIds = [...new Set(ids)]
  const deleted = await tx.many(
    Deleted,
    sql`
    delete from api_key where id = any (array(
      select k.id from api_key k join team t on t.id = k.team_id
      where ${teamAccessCondition(manager)} and k.cell = ${cellOf(place)} and k.id = any (${requestedIds}::uuid[])))
    returning id, team_id`,
  )
  for (const { id, team_id } of deleted) recordSubject(team_id, id)
  tx.afterCommit(() => {
    for (const { team_id } of deleted) teams.invalidate(team_id)
  })
  const deletedIds = new Set(deleted.map(({ id }) => id))
  return {
    success: requestedIds.filter((id) => deletedIds.has(id)),
    failure: [],
    not_found: requestedIds.filter((id) => !deletedIds.has(id)),
  }
}

/** Deletes the keys of a deleted team. Writes api_key. */
export const deleteKeysOfTeam = async (tx: PlainTx, team_id: string): Promise<void> =>
  void (await tx.run(sql`delete from api_key where team_id = ${team_id}`))
