// Users: the people a team orders for. Owns the table "user"; does not know their orders or measurements.
import type { Static } from 'typebox'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest, conflict, invalidField, notFound } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { joinConditions, join, likeAnywhere, sql, type Sql } from '../../platform/db/sql.ts'
import { countedRows, countRows } from '../../platform/db/list-counts.ts'
import { eraseUser, GRACE_S } from './user-erasure.ts'
import { planIngestionEnd } from './ingestion-end.ts'
import { Demographics } from './demographics-schema.ts'
import { User, type CreateUser, type PatchUser } from './schema.ts'

const SEARCH_MAX = 50

/** Selects a "User" from the table "user". */
const userColumns = sql`
  id as user_id, team_id, client_user_id, created_on, connected_sources, fallback_time_zone, fallback_birth_date, ingestion_start, ingestion_end`

const userWire = sql`select ${userColumns} from "user"`

const notDeletedCondition = (tx: Tx): Sql => sql`team_id = ${tx.team} and deleted_at is null`

/**
 * Creates a user. Writes "user", list_count.
 * Errors: 400 the client user id is in use (the body contains the id of its user); 400 the sandbox team is full; 422 the bounds are
 * reversed.
 */
export async function createUser(tx: Tx, body: CreateUser): Promise<User> {
  assertBounds(body.ingestion_start, body.ingestion_end)
  const id = tx.uuid()
  await assertUserLimit(tx, body.client_user_id)
  const user = await tx.maybe(
    User,
    sql`
    insert into "user" (id, team_id, client_user_id, created_on, fallback_time_zone, fallback_birth_date, ingestion_start, ingestion_end)
    values (${id}, ${tx.team}, ${body.client_user_id}, ${tx.now}, ${fallback(tx, 'id', body.fallback_time_zone)},
            ${fallback(tx, 'value', body.fallback_birth_date)}, ${body.ingestion_start ?? null}, ${body.ingestion_end ?? null})
    on conflict (team_id, client_user_id) where deleted_at is null do nothing
    returning ${userColumns}`,
  )
  if (user) {
    countRows(tx, 'users', 1)
    return user
  }
  throw await inUse(tx, body.client_user_id)
}

async function inUse(tx: Tx, client_user_id: string) {
  const user = await tx.maybe(User, sql`${userWire} where ${notDeletedCondition(tx)} and client_user_id = ${client_user_id}`)
  // The user was deleted between the two statements: the caller's next attempt will succeed.
  if (!user) return unavailable('The user id was just released; try again')
  const { user_id, created_on } = user
  return badRequest({ error_type: 'INVALID_REQUEST', error_message: 'Client user id already exists.', user_id, created_on })
}

/**
 * Checks the user limit of a sandbox team. Locks the team's row, so that of two concurrent requests only one gets the last slot.
 * Errors: 400 the team is full. `but`: a client user id that is ignored, because its repeated use is another error.
 */
async function assertUserLimit(tx: Tx, exceptClientUserId?: string): Promise<void> {
  const max = Number(tx.tenant.settings.users_max ?? 0)
  if (!max) return
  await lockTeam(tx)
  const { n } = await tx.one(
    Counted,
    sql`select count(*) as n from (select from "user" where ${notDeletedCondition(tx)} limit ${max}) counted`,
  )
  if (n < max) return
  if (
    exceptClientUserId !== undefined &&
    (await tx.maybe(User, sql`${userWire} where ${notDeletedCondition(tx)} and client_user_id = ${exceptClientUserId}`))
  )
    return
  throw badRequest({
    error_type: 'INVALID_REQUEST',
    error_message: `You have reached the maximum of ${max} Sandbox users`,
  })
}

/** Serializes transactions that add users to a team with a limit. */
const lockTeam = (tx: Tx): Promise<number> => tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)

const fallback = (tx: Tx, key: 'id' | 'value', value: string | null | undefined): string | null =>
  value == null ? null : JSON.stringify({ [key]: value, source_slug: 'manual', updated_at: iso(tx.now) })

function assertBounds(start: string | null | undefined, end: string | null | undefined): void {
  if (start && end && end < start) throw reversedBounds()
}

const reversedBounds = () => invalidField(['body', 'ingestion_end'], 'must not be before ingestion_start')

/** Runs after the birth date of a user was set or cleared, or came with a profile. */
export const birthDateChanged = hookPoint<[user_id: string]>('user.birth_date_changed')

/** Constraints of this module's tables and the errors for their violations. */
export const userConstraints = {
  user__client_user_id: () => conflict('Client user id already exists'),
  user__ingestion_bounds: reversedBounds,
}

/** Lists users, newest first, without deleted ones. The rows before the page are skipped in the index of the list. */
export async function listUsers(tx: Tx, { offset, limit }: { offset: number; limit: number }) {
  const order = sql`created_on desc, id desc`
  // One after the other: a request holds one connection at a time.
  const total = await countUsers(tx)
  const users = await tx.many(
    User,
    sql`
    select ${userColumns} from "user"
    where team_id = ${tx.team} and id = any (array(
      select id from "user" where ${notDeletedCondition(tx)} order by ${order} offset ${offset} limit ${limit}))
    order by ${order}`,
  )
  return { users, total, offset, limit }
}

const Counted = T.Object({ n: T.Integer() })

/** Returns the number of users of the team, without deleted ones. */
export async function countUsers(tx: Tx): Promise<number> {
  const { n } = await tx.one(
    Counted,
    sql`
    select ${countedRows(tx, 'users')}
           - (select count(*) from "user" where team_id = ${tx.team} and deleted_at is not null) as n`,
  )
  return n
}

const Deleted = T.Object({ deleted_at: Nullable(T.String()) })

/** Returns a user. Errors: 404 unknown, of another team, or deleted. */
export async function getUser(tx: Tx, user_id: string): Promise<User> {
  const user = await findUser(tx, user_id)
  if (user) return user
  throw (await isDeleted(tx, user_id)) ? notFound('You have scheduled this user for deletion.') : notFound('Not found')
}

/** Returns a user, or undefined. */
export const findUser = (tx: Tx, user_id: string): Promise<User | undefined> =>
  tx.maybe(User, sql`${userWire} where id = ${user_id} and ${notDeletedCondition(tx)}`)

export interface UserIdentity {
  user_id: string
  client_user_id: string
}

const Known = T.Object({
  user_id: T.String(),
  client_user_id: T.String(),
  demographics: Nullable(T.Object({ version: T.String(), document: Demographics })),
})
export type KnownUser = Static<typeof Known>

/** Returns a user with their demographics, or undefined, at most 4 s old. Statements that write data of the user use `verifiedUserId`. */
export const cachedUser = (tx: Tx, user_id: string): Promise<KnownUser | undefined> =>
  tx.readCached(`user ${user_id}`, () =>
    tx.lookup(
      Known,
      sql`
      select u.id as user_id, u.client_user_id,
        case when d.user_id is not null then json_build_object('version', d.xmin::text, 'document', d.document) end as demographics
      from "user" u left join user_demographics d on d.user_id = u.id and d.team_id = u.team_id
      where u.id = ${user_id} and u.team_id = ${tx.team} and u.deleted_at is null`,
    ),
  )

/**
 * The id of a cached user as a value of a statement; null if the user was deleted or renamed in the meantime.
 * @param demographics the version of their demographics; null as well if they have changed
 */
export function verifiedUserId(tx: Tx, { user_id, client_user_id }: UserIdentity, demographics?: string): Sql {
  const known = sql`select id from "user" where id = ${user_id} and client_user_id = ${client_user_id} and ${notDeletedCondition(tx)}`
  if (demographics === undefined) return sql`(${known})`
  return sql`
    (${known} and exists (
      select from user_demographics d where d.user_id = ${user_id} and d.team_id = ${tx.team} and d.xmin = ${demographics}::xid))`
}

/**
 * Condition that a column does not contain the id of a deleted user of the team, for every statement that shows rows of users. Deleting a
 * user changes only the user's own row; this condition hides everything of the user, until the deletion is undone.
 */
export const notDeleted = (tx: { team: string }, column: Sql): Sql => userNotDeleted(column, sql`${tx.team}`)

/** Like `notDeleted`, for a statement that reads one row by its key: half the cost there, and a higher cost for many rows. */
export const notDeletedHere = (tx: { team: string }, column: Sql): Sql => sql`
  (select u.deleted_at from "user" u where u.id = ${column} and u.team_id = ${tx.team}) is null`

/**
 * Like `notDeleted`, for a search in which the planner expects one row and many may be found: the deleted users of the team are read once,
 * not once for each row found. The column must not be null.
 */
export const notAmongDeleted = (tx: { team: string }, column: Sql): Sql => sql`
  ${column} not in (select gone.id from "user" gone where gone.team_id = ${tx.team} and gone.deleted_at is not null)`

/** Like `notDeleted`, for a statement about several teams. */
export const userNotDeleted = (column: Sql, team: Sql): Sql => sql`
  not exists (select from "user" gone where gone.id = ${column} and gone.team_id = ${team} and gone.deleted_at is not null)`

/**
 * Whether data may be shown that belongs to one of several users, without it being known which; `column` contains their ids. It is hidden
 * if there are any and all of them are deleted: ids of erased users are not among them.
 */
export const notOfDeletedAlone = (tx: Tx, column: Sql): Sql =>
  someNotDeleted(column, sql`select gone.id from "user" gone where gone.team_id = ${tx.team} and gone.deleted_at is not null`)

/** Like `notOfDeletedAlone`, for a statement about the teams of an organization. */
export const notOfDeletedInOrganization = (org_id: string, column: Sql): Sql =>
  someNotDeleted(
    column,
    sql`
    select gone.id from "user" gone join team on gone.team_id = team.id
    where team.org_id = ${org_id} and gone.deleted_at is not null`,
  )

/** The query names no column of the statement, so that nodes of the database can answer it: see table-placement.ts. */
const someNotDeleted = (column: Sql, deletedIds: Sql): Sql =>
  sql`(cardinality(${column}) = 0 or not ${column} <@ array(${deletedIds}))`

const Some = T.Object({ some: T.Boolean() })

/** Rejects access to data of these users. Errors: 404 one of them is deleted. */
export async function assertNotDeleted(tx: Tx, user_ids: string[]): Promise<void> {
  const { some } = await tx.one(
    Some,
    sql`
    select exists (
      select from "user" where team_id = ${tx.team} and id = any (${user_ids}::uuid[]) and deleted_at is not null) as some`,
  )
  if (some) throw notFound('You have scheduled this user for deletion.')
}

async function isDeleted(tx: Tx, user_id: string): Promise<boolean> {
  const row = await tx.maybe(Deleted, sql`select deleted_at from "user" where id = ${user_id} and team_id = ${tx.team}`)
  return row?.deleted_at != null
}

/** Returns a user by client user id. Errors: 404 unknown client user id. */
export async function resolveUser(tx: Tx, client_user_id: string): Promise<User> {
  const user = await tx.maybe(User, sql`${userWire} where ${notDeletedCondition(tx)} and client_user_id = ${client_user_id}`)
  if (!user) throw notFound('User not found')
  return user
}

/** Returns the newest 50 users whose id starts with, or whose client user id contains, `text`. */
export function searchUsers(tx: Tx, text: string): Promise<User[]> {
  return tx.many(
    User,
    sql`
    ${userWire} where ${notDeletedCondition(tx)} and (starts_with(id::text, ${text.toLowerCase()}) or client_user_id ilike ${likeAnywhere(text)})
    order by created_on desc, id desc limit ${SEARCH_MAX}`,
  )
}

/**
 * Changes a user: absent fields stay, null clears. Writes "user". Queues users.end_ingestion when the bounds get an end.
 * Errors: 400 no fields given; 404 unknown user; 409 the new client user id is in use; 422 the bounds would be reversed.
 */
export async function patchUser(tx: Tx, user_id: string, body: PatchUser): Promise<void> {
  const changes: Sql[] = []
  if (body.client_user_id !== undefined) changes.push(sql`client_user_id = ${body.client_user_id}`)
  if (body.fallback_time_zone !== undefined)
    changes.push(sql`fallback_time_zone = ${fallback(tx, 'id', body.fallback_time_zone)}`)
  if (body.fallback_birth_date !== undefined)
    changes.push(sql`fallback_birth_date = ${fallback(tx, 'value', body.fallback_birth_date)}`)
  if (body.ingestion_start !== undefined) changes.push(sql`ingestion_start = ${body.ingestion_start}`)
  if (body.ingestion_end !== undefined) changes.push(sql`ingestion_end = ${body.ingestion_end}`)
  await assertUserActive(tx, user_id)
  if (changes.length === 0) throw badRequest('Nothing to patch')
  await tx.run(sql`update "user" set ${join(changes, ', ')} where id = ${user_id} and ${notDeletedCondition(tx)}`)
  if (body.fallback_birth_date !== undefined) await tx.notify(birthDateChanged, user_id)
  if (body.ingestion_end) planIngestionEnd(tx, { user_id, ingestion_end: body.ingestion_end })
}

async function assertUserActive(tx: Tx, user_id: string): Promise<void> {
  if (await findUser(tx, user_id)) return
  throw (await isDeleted(tx, user_id))
    ? notFound('The user has been scheduled for deletion as per your previous request')
    : notFound('The user does not or no longer exists in this team')
}

/**
 * Deletes a user: hidden immediately, the client user id free immediately, the data erased after 7 days. Writes "user".
 * Queues users.erase. Runs the hooks of `userDeleted`.
 * Errors: 404 unknown user.
 */
export async function deleteUser(tx: Tx, user_id: string): Promise<{ success: boolean }> {
  await assertUserActive(tx, user_id)
  await tx.run(sql`update "user" set deleted_at = ${tx.now} where id = ${user_id} and ${notDeletedCondition(tx)}`)
  await tx.notify(userDeleted, user_id)
  enqueue(tx, eraseUser, { user_id }, addSeconds(tx.now, GRACE_S))
  return { success: true }
}

/** A user was deleted, which may be undone. */
export const userDeleted = hookPoint<[user_id: string]>('user.deleted')

const Found = T.Object({ id: T.String() })

/**
 * Undoes the deletion of a user within 7 days. Writes "user".
 * Errors: 400 the sandbox team is full; 404 no such deleted user, or too late; 409 another user has the client user id now; 422 not exactly
 * one of the two ids.
 */
export async function undoDelete(
  tx: Tx,
  identifier: { user_id?: string; client_user_id?: string },
): Promise<{ success: boolean }> {
  if ((identifier.user_id === undefined) === (identifier.client_user_id === undefined))
    throw invalidField(['query'], 'exactly one of user_id and client_user_id must be given')
  await lockTeam(tx)
  const which = joinConditions([
    ...(identifier.user_id === undefined ? [] : [sql`id = ${identifier.user_id}`]),
    ...(identifier.client_user_id === undefined ? [] : [sql`client_user_id = ${identifier.client_user_id}`]),
  ])
  const user = await tx.locking.maybe(
    Found,
    sql`
    select id from "user"
    where team_id = ${tx.team} and ${which} and deleted_at > ${addSeconds(tx.now, -GRACE_S)}
    order by deleted_at desc, id desc limit 1 for update`,
  )
  if (!user) throw notFound('User not found')
  await assertUserLimit(tx)
  await tx.run(sql`update "user" set deleted_at = null where id = ${user.id} and team_id = ${tx.team}`)
  return { success: true }
}

/** Returns which of these users are deleted, erased or not. For modules that send data about users. */
export async function findDeletedUsers(db: Queries, users: { team_id: string; user_id: string | null }[]): Promise<Set<string>> {
  const usersWithId = users.filter((user): user is { team_id: string; user_id: string } => user.user_id !== null)
  if (usersWithId.length === 0) return new Set()
  const ids = usersWithId.map(({ user_id }) => user_id)
  const teams = new Set(usersWithId.map(({ team_id }) => team_id))
  // A statement of one team names it: it runs on one node, and the connection may see no other team.
  const rows = await db.many(
    Found,
    teams.size === 1
      ? sql`select id from "user" where team_id = ${usersWithId[0]!.team_id} and id = any (${ids}::uuid[]) and deleted_at is null`
      : sql`
        select u.id from unnest(${usersWithId.map((user) => user.team_id)}::uuid[], ${ids}::uuid[]) as given (team_id, id)
        join "user" u on u.team_id = given.team_id and u.id = given.id
        where u.deleted_at is null`,
  )
  const active = new Set(rows.map(({ id }) => id))
  return new Set(ids.filter((id) => !active.has(id)))
}
