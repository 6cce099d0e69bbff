// The access log for organizations: who has read or changed the data of one of their patients.
import type { ArchiveSearcher, ArchivedLine } from '../../platform/access-log/search-archive.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { TransactionSteps } from '../../platform/http/operation.ts'
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
 * The team's lines about a user, newest first, including those of the operator's commands; first from the database, then from the files of
 * archived days. A page that reads files may be shorter than its limit. Empty for a user without lines; the lines of an erased user stay.
 * 400: a cursor of another list. 503: a file cannot be read.
 */
export async function listAccess(
  { read }: Pick<TransactionSteps<Tx>, 'read'>,
  archive: ArchiveSearcher,
  query: AccessQuery,
): Promise<{ data: Static<typeof AccessLine>[]; next_cursor: string | null }> {
  const { pages, tenant, rows } = await read((tx) => findAccess(tx, query))
  const rowsMax = pages.limit + 1
  const { lines, complete_from } = await archive.search(tenant.cell, {
    team: tenant.team,
    user: query.user_id,
    text: query.object_id && textOfObject(query.object_id),
    below_seq: pages.position && Number(pages.position[0]),
    above_seq: rows.length === rowsMax ? rows.at(-1)!.seq : 0,
    count: rowsMax,
  })
  // A day that was archived after the database was read is in both.
  const all = new Map([...rows, ...lines].map((line) => [line.seq, line]))
  const inOrder = [...all.values()].filter(({ seq }) => seq >= complete_from).sort((a, b) => b.seq - a.seq)
  const { page, next_cursor } = pages.cut(inOrder, positionOf)
  const older = complete_from > 0 ? pages.cursorAt([String(complete_from)]) : null
  return { data: page.map(toAccessLine), next_cursor: next_cursor ?? older }
}

const positionOf = ({ seq }: ArchivedLine): string[] => [String(seq)]

/** How a line names an object: it is JSON text with the ids of its objects. */
const textOfObject = (id: string): string => `"${id}"`

/** The first lines of a page that are in the database. 400: a cursor of another list. */
export async function findAccess(tx: Tx, query: AccessQuery) {
  const pages = new Pages(`access ${tx.team} ${query.user_id} ${query.object_id ?? ''}`, query, [numberKey(sql`seq`)])
  const isAbout = query.object_id === undefined ? sql`true` : sql`line like ${`%${textOfObject(query.object_id)}%`}`
  const rows = await tx.many(
    Row,
    sql`
    select seq, line from access_log_of_team
    where team_id = ${tx.team} and users @> array[${query.user_id}]::uuid[] and ${isAbout} and ${pages.afterCursor}
    ${pages.order}`,
  )
  return { pages, tenant: tx.tenant, rows }
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
