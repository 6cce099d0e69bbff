// Events as users and tests list them: those emitted for the team, newest first. The outbox appends them; they are delivered
// later.
import type { Tx } from '../../platform/db/transaction.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { eventBody } from '../../platform/queue/outbox.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import type { EventPage, EventQuery } from './schema.ts'

const Row = T.Object({
  id: T.String(),
  type: T.String(),
  object_id: T.String(),
  user_id: Nullable(T.String()),
  created_at: T.String(),
  body: Nullable(T.String()),
})

/** History and raw events of providers go to no endpoint, only to pipelines that ask for them. Source: events.md 4.11 H2, H6. */
export const isForEndpoints = sql`not historical and not starts_with(type, 'raw.')`

/** The condition that the user of a row, an expression, is not deleted. */
export type NotDeleted = (tx: Tx, user_id: Sql) => Sql

/** A page of the team's events, as endpoints get them: without history and raw events, and events about deleted users. 400: a cursor of another list. */
export async function listEvents(
  tx: Tx,
  notDeleted: NotDeleted,
  query: Static<typeof EventQuery>,
): Promise<PreserializedJson<Static<typeof EventPage>>> {
  const pages = new Pages(`events ${tx.team} ${query.type ?? ''} ${query.object_id ?? ''}`, query, [uuidKey(sql`id`)])
  const conditions = [pages.afterCursor]
  if (query.type !== undefined) conditions.push(sql`type = ${query.type}`)
  if (query.object_id !== undefined) conditions.push(sql`object_id = ${query.object_id}`)
  const rows = await tx.many(
    Row,
    sql`
    select id, type, object_id, user_id, created_at, ${eventBody(tx.team)} as body from event e where team_id = ${tx.team} and ${joinConditions(conditions)}
      and ${isForEndpoints} and ${notDeleted(tx, sql`user_id`)}
    ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ id }) => [id])
  for (const { user_id } of page) tx.concerns(user_id)
  const data = page.map(
    ({ id, type, object_id, created_at, body }, i) =>
      `${i ? ',' : ''}{"id":"${id}","type":${JSON.stringify(type)},"object_id":"${object_id}","created_at":"${created_at}","body":${body}}`,
  )
  // One join: V8 copies a text that is made of two when it is written. Searching it for users would take as long again.
  const text = ['{"data":[', ...data, `],"next_cursor":${JSON.stringify(next_cursor)}}`].join('')
  return new PreserializedJson(text, { searchForUsers: false })
}
