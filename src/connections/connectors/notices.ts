// What notices of vendors have in common: their bodies, deleted records, and how old a signed notice may be. A vendor repeats a notice for hours with its first signature; after that a repetition comes from
// another sender, or too late to be of use: polling finds what was missed.
import { DAY_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'
import type { PullRequest } from './connector.ts'
import { instantOfText, objectIn, type Values } from './reading.ts'

const AGE_MS_MAX = DAY_MS
/** Clocks of vendors may be ahead of ours. */
const AHEAD_MS_MAX = 5 * MINUTE_MS

/** Numbers from here on are milliseconds: as seconds they would be after the year 5000. */
const MILLISECONDS_MIN = 1e11

/** The instant in a signed header: seconds or milliseconds since 1970, or ISO 8601 with an offset; null for anything else. */
export function signedAt(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return instantOfText(text)
  const value = Number(text)
  return value < MILLISECONDS_MIN ? value * 1000 : value
}

/** Whether a notice signed at an instant is at most a day old and at most five minutes ahead. @param received_ms by the clock of the server, not of the team */
export const isTimely = (signed_ms: number | null, received_ms: number): boolean =>
  signed_ms !== null && received_ms - signed_ms <= AGE_MS_MAX && signed_ms - received_ms <= AHEAD_MS_MAX

/** The object in the body of a notice; undefined for any other body. */
export function readNotice(body: Buffer): Values | undefined {
  try {
    return objectIn(decodeUtf8(body))
  } catch {
    return undefined
  }
}

/** Marks a record that was deleted among the ids of a notice. */
const DELETED = 'deleted:'

export const toDeletedId = (id: string): string => DELETED + id

/** The ids that a notice names, of records that were deleted and of others. */
export function readIds({ ids = [] }: PullRequest): { deletedIds: string[]; otherIds: string[] } {
  const [deletedIds, otherIds] = [true, false].map((isDeleted) => ids.filter((id) => id.startsWith(DELETED) === isDeleted))
  return { deletedIds: deletedIds!.map((id) => id.slice(DELETED.length)), otherIds: otherIds! }
}
