// The one reader of JSON that another party's server has sent.
import { findExcess } from '../schema/json-limits.ts'

/** Values in a text: more than a day of a workout's streams, second by second. */
const VALUES_MAX = 2_000_000

/** The text is not JSON, or has too much of something. It is not kept: it may hold patient data or secrets. */
export class OutsideJsonError extends Error {
  override name = 'OutsideJsonError'
}

/**
 * The value in a JSON text, which has no more levels, objects, lists and sequences of field names than a request may have
 * (src/platform/schema/json-limits.ts), and at most two million values. Who calls limits the length: on the main thread to 256 kB, which
 * take some 20 ms at worst; a longer text is read in a thread. Errors: OutsideJsonError.
 */
export function readOutsideJson(text: string): unknown {
  if (findExcess(Buffer.from(text), VALUES_MAX) !== undefined) throw new OutsideJsonError('the text is too complex')
  try {
    return JSON.parse(text)
  } catch {
    throw new OutsideJsonError('the text is not JSON')
  }
}

/** The longest text that is read on the main thread, in bytes. */
export const MAIN_THREAD_BYTES_MAX = 262_144
