// Events as people and tests read them: what was told to the team, newest first. Appending is the outbox's; delivering comes later.
import type { Tx } from '../../platform/db/transaction.ts'
import { JsonText } from '../../platform/http/operation.ts'
import { cursor, readCursor, uuidPart } from '../../platform/http/cursors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { and, sql, type Sql } from '../../platform/db/sql.ts'
import { notDeleted } from '../../people/users/users.ts'
import type { EventPage, EventQuery } from '../endpoints/schema.ts'

const Row = T.Object({ id: T.String(), type: T.String(), object_id: T.String(), created_at: T.String(), body: T.String() })

/** A page of the team's events, without those about deleted users. 400: a cursor of another list. */
export async function listEvents(tx: Tx, query: Static<typeof EventQuery>): Promise<JsonText<Static<typeof EventPage>>> {
  const limit = query.limit ?? 50
  const list = `events ${tx.team} ${query.type ?? ''} ${query.object_id ?? ''}`
  const conditions: Sql[] = []
  if (query.type !== undefined) conditions.push(sql`type = ${query.type}`)
  if (query.object_id !== undefined) conditions.push(sql`object_id = ${query.object_id}`)
  if (query.next_cursor !== undefined) conditions.push(sql`id < ${readCursor(list, query.next_cursor, [uuidPart])[0]}::uuid`)
  const rows = await tx.many(
    Row,
    sql`
    select id, type, object_id, created_at, body from event where team_id = ${tx.team} and ${and(conditions)}
      and ${notDeleted(tx, sql`user_id`)}
    order by id desc limit ${limit + 1}`,
  )
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const data = page.map(
    ({ id, type, object_id, created_at, body }) =>
      `{"id":"${id}","type":${JSON.stringify(type)},"object_id":"${object_id}","created_at":"${created_at}","body":${body}}`,
  )
  return new JsonText(`{"data":[${data.join(',')}],"next_cursor":${JSON.stringify(last ? cursor(list, [last.id]) : null)}}`)
}
