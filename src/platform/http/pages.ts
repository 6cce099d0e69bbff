// Lists in pages: each page goes on behind the last row of the one before (keyset), so that deep pages are as quick as the first, and no
// row is shown twice or left out while others come and go.
import { join, raw, sql, type Sql } from '../db/sql.ts'
import { cursor, instantPart, numberPart, readCursor, uuidPart, type Part } from './cursors.ts'

const PAGE = 50

/** A column of the order of a list. */
export interface Key {
  column: Sql
  /** Of its value in a statement. */
  cast: Sql
  /** What its value in a cursor must look like. */
  part: Part
}

export const instantKey = (column: Sql): Key => ({ column, cast: sql`::timestamptz`, part: instantPart })
export const uuidKey = (column: Sql): Key => ({ column, cast: sql`::uuid`, part: uuidPart })
export const numberKey = (column: Sql): Key => ({ column, cast: sql`::bigint`, part: numberPart(15) })

/** By the instant of creation, of equal ones by id. @param table the name that the statement gives to the table */
export const byCreation = (table?: string): Key[] => {
  const prefix = table === undefined ? '' : `${table}.`
  return [instantKey(raw(`${prefix}created_at`)), uuidKey(raw(`${prefix}id`))]
}

export class Pages {
  readonly limit: number
  /** Condition on rows: they come behind the page that the cursor ends. */
  readonly after: Sql
  /** The end of the statement: order, and one row more than a page has, which tells whether there is another page. */
  readonly order: Sql
  readonly #list: string

  /**
   * 400: a cursor of another list.
   * @param list what is listed, filters and order included: a cursor of another list is refused
   * @param order newest first unless said otherwise
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
   * The rows of the page, and the cursor of the next one where there is one.
   * @param position the values of the keys, as a statement shows them
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
