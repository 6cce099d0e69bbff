// Cursors: the position at which the next page starts, opaque to clients, bound to the list and the filters for which it was issued.
import { createHash } from 'node:crypto'
import { badRequest } from './errors.ts'
import { FormatError, formats } from '../schema/formats.ts'

const listTag = (list: string): string => createHash('sha256').update(list).digest('base64url').slice(0, 8)

/** @param list the list with its filters and order: a cursor of another list is rejected */
export const cursor = (list: string, encodePosition: readonly string[]): string =>
  Buffer.from(JSON.stringify([listTag(list), ...encodePosition])).toString('base64url')

/** The format of one part of a position. A cursor is not signed: statements get only values that are checked here. */
export type Part = (text: string) => boolean

export const uuidPart: Part = (text) => !(formats.uuid!(text) instanceof FormatError)

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/
/** An instant in the only format that rows have. */
export const instantPart: Part = (text) => INSTANT.test(text) && !(formats['date-time']!(text) instanceof FormatError)

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
