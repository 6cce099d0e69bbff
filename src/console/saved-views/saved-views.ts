// Saved views: the filters of a list under a name, of a member or shared with the team. Owns saved_view.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { SavedView, type CreateSavedView, type PatchSavedView } from './schema.ts'

const SHARED_MAX = 200
const OWN_MAX = 100

/** Constraints of the table, and the errors for their violations. */
export const savedViewConstraints = {
  saved_view__name: () => conflict('A view of this name already exists'),
}

const columns = sql`id, page, name, query, member_id is null as is_shared, created_at, updated_at`

/** The views that a caller sees: those of the team, and the member's own. */
const isVisible = (member_id: string | undefined) => sql`(member_id is null or member_id = ${member_id ?? null}::uuid)`

/** The views of the team and of the member, by page and name. At most 300. */
export const listViews = (tx: Tx, member_id: string | undefined, page: string | undefined): Promise<SavedView[]> =>
  tx.many(
    SavedView,
    sql`
    select ${columns} from saved_view
    where team_id = ${tx.team} and ${isVisible(member_id)} and ${page === undefined ? sql`true` : sql`page = ${page}`}
    order by page, name, id`,
  )

/**
 * Saves a view. Writes saved_view.
 * Errors: 400 a view of its own for a key without a member, or too many views; 409 the name is in use.
 */
export async function createView(
  tx: Tx,
  member_id: string | undefined,
  { page, name, query, is_shared = false }: CreateSavedView,
): Promise<SavedView> {
  if (!is_shared && member_id === undefined) throw badRequest('Only a member can have a view that is not shared')
  const owner = is_shared ? null : member_id!
  // Of two requests, only one gets the last place.
  await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
  const present = sql`
    select count(*) as n from saved_view where team_id = ${tx.team} and member_id is not distinct from ${owner}::uuid`
  await assertBelowLimit(tx, present, is_shared ? SHARED_MAX : OWN_MAX, is_shared ? 'A team' : 'A member', 'saved views')
  return tx.one(
    SavedView,
    sql`
    insert into saved_view (team_id, id, member_id, page, name, query, created_at, updated_at)
    values (${tx.team}, ${tx.uuid()}, ${owner}::uuid, ${page}, ${name}, ${query}, ${tx.now}, ${tx.now})
    returning ${columns}`,
  )
}

const NOT_FOUND = 'Saved view not found'

/**
 * Changes a view of the team or of the member; absent fields stay. Writes saved_view.
 * Errors: 404 unknown, or of another member; 409 the name is in use.
 */
export async function updateView(
  tx: Tx,
  member_id: string | undefined,
  view_id: string,
  { name, query }: PatchSavedView,
): Promise<SavedView> {
  const view = await tx.maybe(
    SavedView,
    sql`
    update saved_view set name = coalesce(${name ?? null}, name), query = coalesce(${query ?? null}, query), updated_at = ${tx.now}
    where team_id = ${tx.team} and id = ${view_id} and ${isVisible(member_id)} returning ${columns}`,
  )
  if (!view) throw notFound(NOT_FOUND)
  return view
}

/** Deletes a view of the team or of the member. Writes saved_view. Errors: 404 unknown, or of another member. */
export async function deleteView(tx: Tx, member_id: string | undefined, view_id: string): Promise<void> {
  const deleted = await tx.run(
    sql`delete from saved_view where team_id = ${tx.team} and id = ${view_id} and ${isVisible(member_id)}`,
  )
  if (deleted === 0) throw notFound(NOT_FOUND)
}
