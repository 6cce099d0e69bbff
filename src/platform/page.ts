// Cursors: where the next page starts, opaque to callers, tied to the list and the filters they were given for.
import { createHash } from 'node:crypto'
import { badRequest } from './errors.ts'
import { FormatFault, formats } from './formats.ts'

const tagOf = (list: string): string => createHash('sha256').update(list).digest('base64url').slice(0, 8)

/** @param list what is listed, filters and order included: a cursor of another list is refused */
export const cursor = (list: string, position: readonly string[]): string =>
  Buffer.from(JSON.stringify([tagOf(list), ...position])).toString('base64url')

/** The position a cursor stands for. 400: not a cursor of this list. */
export function readCursor(list: string, text: string, parts: number): string[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (
      Array.isArray(value) &&
      value.length === parts + 1 &&
      value[0] === tagOf(list) &&
      value.every((item) => typeof item === 'string' && item.length < 600 && !item.includes('\0'))
    )
      return value.slice(1)
  } catch {
    // Not JSON: refused below like any other text that is not one of our cursors.
  }
  throw badRequest('The cursor is not one of this list')
}

interface Newest {
  id: string
  at: string
}

/** Where a list that is newest first, by instant and id, goes on. 400: not a cursor of this list. */
export function readNewest(list: string, text: string): Newest {
  const [at, id] = readCursor(list, text, 2) as [string, string]
  if (formats.uuid!(id) instanceof FormatFault || formats['date-time']!(at) instanceof FormatFault)
    throw badRequest('The cursor is not one of this list')
  return { at, id }
}

/** The first `size` of the rows found, and the cursor of the next page when there are more. */
export function newestPage<R>(list: string, rows: R[], size: number, position: (row: R) => Newest) {
  const page = rows.slice(0, size)
  if (rows.length <= size) return { page, next_cursor: null }
  const { at, id } = position(page.at(-1)!)
  return { page, next_cursor: cursor(list, [at, id]) }
}
