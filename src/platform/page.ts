// Cursors: where the next page starts, opaque to callers, tied to the list and the filters they were given for.
import { createHash } from 'node:crypto'
import { badRequest } from './errors.ts'

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
