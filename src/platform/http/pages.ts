// Lists in pages: each page starts after the last row of the previous one (keyset), so that deep pages are as quick as the first, and no
// row is repeated or skipped while rows are added and deleted.
import { join, raw, sql, type Sql } from '../db/sql.ts'
import { cursor, instantPart, numberPart, readCursor, uuidPart, type Part } from './cursors.ts'

const PAGE = 50

/** A sort column of a list. */
export interface Key {
  column: Sql
  /** The SQL of its value. */
  cast: Sql
  /** The format of its value in a cursor. */
  part: Part
}

export const instantKey = (column: Sql): Key => ({ column, cast: sql`::timestamptz`, part: instantPart })
export const uuidKey = (column: Sql): Key => ({ column, cast: sql`::uuid`, part: uuidPart })
export const numberKey = (column: Sql): Key => ({ column, cast: sql`::bigint`, part: numberPart(15) })

/** Sorts by the instant of creation, then by id. @param table the alias of the table in the statement */
export const byCreation = (table?: string): Key[] => {
  const prefix = table === undefined ? '' : `${table}.`
  return [instantKey(raw(`${prefix}created_at`)), uuidKey(raw(`${prefix}id`))]
}

export class Pages {
  readonly limit: number
  /** Condition on rows: they follow the page that the cursor ends. */
  readonly after: Sql
  /** The end of the statement: order, and one row more than a page has, which shows whether there is another page. */
  readonly order: Sql
  readonly #list: string

  /**
   * 400: a cursor of another list.
   * @param list the list with its filters and order: a cursor of another list is rejected
   * @param order default: newest first
   */
  constructor(
    list: string,
    query: { next_cursor?: string | undefined; limit?: number | undefined },
    keys: readonly Key[],
    { limit = PAGE, order = 'desc' }: { limit?: number; order?: 'asc' | 'desc' } = {},
  ) {
    this.#list = list
    this.limit = query.limit ?? limit
    this.after =
      query.next_cursor === undefined
        ? sql`true`
        : after(
            keys,
            readCursor(
              list,
              query.next_cursor,
              keys.map(({ part }) => part),
            ),
            order,
          )
    this.order = sql`order by ${join(keys.map(({ column }) => sql`${column} ${raw(order)}`))} limit ${this.limit + 1}`
  }

  /**
   * The rows of the page, and the cursor of the next one if there is one.
   * @param position the values of the sort columns, as the statement selects them
   */
  cut<R>(rows: R[], position: (row: R) => string[]): { page: R[]; next_cursor: string | null } {
    const page = rows.slice(0, this.limit)
    return { page, next_cursor: rows.length > this.limit ? cursor(this.#list, position(page.at(-1)!)) : null }
  }
}

function after(keys: readonly Key[], position: readonly string[], order: 'asc' | 'desc'): Sql {
  const values = keys.map(({ cast }, i) => sql`${position[i]}${cast}`)
  return sql`(${join(keys.map(({ column }) => column))}) ${raw(order === 'asc' ? '>' : '<')} (${join(values)})`
}
