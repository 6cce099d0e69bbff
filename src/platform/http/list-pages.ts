// Lists in pages: each page starts after the last row of the previous one (keyset), so that deep pages are as quick as the first, and no
// row is repeated or skipped while rows are added and deleted.
import { createHash } from 'node:crypto'
import { join, raw, sql, type Sql } from '../db/sql.ts'
import { FormatError, formats } from '../schema/formats.ts'
import { badRequest } from './errors.ts'

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
  /** The values of the sort columns that the cursor has; undefined without one. */
  readonly position: readonly string[] | undefined
  /** Condition on rows: they follow the page that the cursor ends. */
  readonly afterCursor: Sql
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
    const parts = keys.map(({ part }) => part)
    this.position = query.next_cursor === undefined ? undefined : readCursor(list, query.next_cursor, parts)
    this.afterCursor = this.position ? positionCondition(keys, this.position, order) : sql`true`
    this.order = sql`order by ${join(keys.map(({ column }) => sql`${column} ${raw(order)}`))} limit ${this.limit + 1}`
  }

  /**
   * The rows of the page, and the cursor of the next one if there is one.
   * @param position the values of the sort columns, as the statement selects them
   */
  cut<R>(rows: R[], position: (row: R) => string[]): { page: R[]; next_cursor: string | null } {
    const page = rows.slice(0, this.limit)
    return { page, next_cursor: rows.length > this.limit ? this.cursorAt(position(page.at(-1)!)) : null }
  }

  /** The cursor of the page after a position. */
  cursorAt(position: readonly string[]): string {
    return cursor(this.#list, position)
  }
}

function positionCondition(keys: readonly Key[], position: readonly string[], order: 'asc' | 'desc'): Sql {
  const values = keys.map(({ cast }, i) => sql`${position[i]}${cast}`)
  return sql`(${join(keys.map(({ column }) => column))}) ${raw(order === 'asc' ? '>' : '<')} (${join(values)})`
}

const listTag = (list: string): string => createHash('sha256').update(list).digest('base64url').slice(0, 8)

/** @param list the list with its filters and order: a cursor of another list is rejected */
export const cursor = (list: string, encodePosition: readonly string[]): string =>
  Buffer.from(JSON.stringify([listTag(list), ...encodePosition])).toString('base64url')

/** The format of one part of a position. A cursor is not signed: statements get only values that are checked here. */
export type Part = (text: string) => boolean

export const uuidPart: Part = (text) => !(formats.uuid!(text) instanceof FormatError)

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/
/** An instant in the only format that rows have. */
const instantPart: Part = (text) => INSTANT.test(text) && !(formats['date-time']!(text) instanceof FormatError)

/** A whole number that is not negative. */
export const numberPart =
  (digits_max: number): Part =>
  (text) =>
    text.length <= digits_max && /^\d+$/.test(text)

/**
 * The position of a cursor. 400: not a cursor of this list.
 * @param parts the format of each part of the position
 */
export function readCursor<const P extends readonly Part[]>(list: string, text: string, parts: P): { [I in keyof P]: string } {
  try {
    const [tag, ...encodePosition] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    if (
      tag === listTag(list) &&
      encodePosition.length === parts.length &&
      encodePosition.every((value, i) => typeof value === 'string' && parts[i]!(value))
    )
      return encodePosition as { [I in keyof P]: string }
  } catch {
    // Not JSON, or no list: rejected below like any other text that is not one of our cursors.
  }
  throw badRequest('The cursor does not belong to this list')
}
