// What a reader of files makes of one: samples and summaries, what it skipped, and the error that ended it. Readers are functions of bytes;
// they know neither the database nor the user.
import { zoneOffset } from '../../wearables/resources/zones.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { IncomingStream } from '../../wearables/streams/workout-streams.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** Why a file, or the rest of it, could not be read, and what of it was imported if anything was. */
const readErrors = {
  empty: ['The file is empty.', ''],
  unknown_format: [
    'The file is neither an Apple Health export, nor a FIT, TCX or GPX file, nor an archive with one of these.',
    '',
  ],
  invalid_encoding: [
    'The text of the file is not in its encoding, which is UTF-8 unless it declares another one, or that encoding is not known.',
    'What precedes the first such byte was imported.',
  ],
  damaged: ['The file is damaged.', 'What precedes the damage was imported.'],
  truncated: ['The file ends too early.', 'What it has was imported.'],
  encrypted: ['The zip archive is encrypted.', ''],
  too_large: ['The content of the file is larger than the limit.', 'What lies within the limit was imported.'],
  too_complex: ['The file needs more memory than an import may have.', 'What was read before was imported.'],
  too_slow: ['Reading the file takes longer than an import may take.', 'What was read before was imported.'],
  user_deleted: ['The user was deleted.', 'What was read before was imported.'],
  interrupted: ['The import was interrupted too often.', 'What was read before was imported.'],
} as const
export type ReadErrorCode = keyof typeof readErrors

/** The sentences that the API shows for an error. They say that something was imported only if something was. */
export function readErrorText(code: ReadErrorCode, has_data: boolean): string {
  const [reason, imported] = readErrors[code]
  return has_data && imported ? `${reason} ${imported}` : reason
}

/** Ends the reading of a file. */
export class ReadError extends Error {
  override name = 'ReadError'
  readonly code: ReadErrorCode
  constructor(code: ReadErrorCode) {
    super(code)
    this.code = code
  }
}

export const skipReasons = [
  'unsupported',
  'no_value',
  'invalid_value',
  'invalid_time',
  'no_session',
  'unknown_unit',
  'malformed',
  'duplicate',
  'already_there',
  'paused',
  'too_many',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** Records that were not stored, by reason and kind of record. */
export type Skipped = Partial<Record<SkipReason, Record<string, number>>>

/** Kinds that one reason lists; further ones count as `other`. */
const KINDS_MAX = 100

/** Counts skipped records. Kinds come from files: only plain names are kept, and only so many. */
export function countSkipped(skips: Skipped, reason: SkipReason, kind: string, count: number): void {
  const kinds = (skips[reason] ??= {})
  const name = /^[\w-]{1,100}$/.test(kind) && kind !== '__proto__' ? kind : 'other'
  const listed = Object.hasOwn(kinds, name) || Object.keys(kinds).length < KINDS_MAX ? name : 'other'
  kinds[listed] = (Object.hasOwn(kinds, listed) ? kinds[listed]! : 0) + count
}

/** A record with what is stored after it, and only if it is stored. */
export interface ReadSummary<K extends SummaryKind = SummaryKind> {
  kind: K
  record: IncomingSummary<K>
  /** Stages of a night, which name the id of the night once it has one. */
  stages?: IncomingSummary<'sleep_cycle'>
  /** The stream of a workout. */
  stream?: IncomingStream
  /** Voltages of an electrocardiogram. */
  voltages?: IncomingSample[]
}

/** Takes what a reader finds. */
export interface Sink {
  sample(resource: TimeseriesName, sample: IncomingSample): void
  summary<K extends SummaryKind>(summary: ReadSummary<K>): void
  skip(reason: SkipReason, kind: string, count?: number): void
  /** Waits until there is room for more. Readers call it between blocks of bytes. */
  drain(): Promise<void>
}

/** Limits of time of all records. */
export interface ReadContext {
  /** The instant at which the file was sent; nothing may lie more than a day after it. */
  now_ms: number
  /** Where the user lives, for what the file gives no zone of; absent or null: unknown. */
  zone?: string | null
}

/** Seconds east of UTC of something that the file gives no zone of. */
export const offsetAt = ({ zone }: ReadContext, at_ms: number): number | null => (zone == null ? null : zoneOffset(zone, at_ms))

const EARLIEST_MS = Date.UTC(1900, 0, 1)

/** Whether data may have been recorded from one instant to another. */
export const isPlausible = (start_ms: number, end_ms: number, { now_ms }: ReadContext, length_ms_max: number): boolean =>
  start_ms >= EARLIEST_MS && end_ms <= now_ms + DAY_MS && end_ms >= start_ms && end_ms - start_ms <= length_ms_max

/** A text that PostgreSQL can store, of bounded length; null without one, and for one that was not in its encoding. */
export const storable = (text: string | undefined, length_max: number): string | null => {
  if (text === undefined || !text.isWellFormed()) return null
  // The limit may cut a character that takes two units.
  const clean = text
    .replaceAll('\0', '')
    .trim()
    .slice(0, length_max)
    .replace(/[\uD800-\uDBFF]$/, '')
  return clean === '' ? null : clean
}

export type Span = [from_ms: number, to_ms: number]

/** Whether a span overlaps one of these, by a binary search. Spans that touch do not overlap. */
export function overlaps(spans: Span[]): (span: Span) => boolean {
  const sorted = spans.toSorted(([a], [b]) => a - b)
  // Up to each span, the latest end.
  const ends: number[] = []
  for (const [, to] of sorted) ends.push(Math.max(to, ends.at(-1) ?? -Infinity))
  return ([from, to]) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sorted[middle]![0] < to) low = middle + 1
      else high = middle
    }
    return low > 0 && ends[low - 1]! > from
  }
}
