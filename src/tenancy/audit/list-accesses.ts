// The access log for organizations: who has read or changed the data of one of their patients.
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { numberKey, Pages } from '../../platform/http/list-pages.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { AccessLine, AccessQuery } from './schema.ts'

const Row = T.Object({ seq: T.Integer(), line: T.String() })

/** The shown fields of a line. */
interface Said {
  at: string
  request: string | null
  key: string
  member?: string
  operation: string
  objects: string[]
  address: string | null
  outcome: number
}

/**
 * The team's lines about a user, newest first, including those of the operator's commands. Empty for a user without lines; the lines of an
 * erased user stay. 400: a cursor of another list.
 */
export async function listAccess(
  tx: Tx,
  query: AccessQuery,
): Promise<{ data: Static<typeof AccessLine>[]; next_cursor: string | null }> {
  const pages = new Pages(`access ${tx.team} ${query.user_id} ${query.object_id ?? ''}`, query, [numberKey(sql`seq`)])
  // A line is JSON text with the ids of its objects.
  const isAbout = query.object_id === undefined ? sql`true` : sql`line like ${`%"${query.object_id}"%`}`
  const rows = await tx.many(
    Row,
    sql`
    select seq, line from access_log_of_team
    where team_id = ${tx.team} and users @> array[${query.user_id}]::uuid[] and ${isAbout} and ${pages.afterCursor}
    ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ seq }) => [String(seq)])
  return { data: page.map(toAccessLine), next_cursor }
}

function toAccessLine({ seq, line }: Static<typeof Row>): Static<typeof AccessLine> {
  const { at, request, key, member = null, operation, objects, address, outcome } = JSON.parse(line) as Said
  return {
    line: seq,
    created_at: iso(new Date(at)),
    request_id: request,
    key_id: key,
    member_id: member,
    operation,
    objects,
    address,
    outcome,
  }
}
