// Pieces of nights in what clouds of vendors answer: a device may hand over a part of a night first and the whole one later, under another
// id. As with nights of phones, the longer one of one source counts. Parts that do not cover each other stay: vendors join them themselves.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { dataChanged } from '../../wearables/ingestion/ingest.ts'
import { nightsBetween } from '../../wearables/summaries/nights.ts'
import { deleteSummaries, summaryIds, type IncomingSummary } from '../../wearables/summaries/summaries.ts'

interface Span {
  key: string
  /** What tells sources apart: the kind of source and the app; and the device, null if it is not known. */
  source: string
  device: string | null
  from_ms: number
  to_ms: number
}

const sourceKey = (source_type: string, app_id: string | null): string => JSON.stringify([source_type, app_id])
const deviceKey = (manufacturer: string | null | undefined, model: string | null | undefined): string | null =>
  manufacturer == null && model == null ? null : JSON.stringify([manufacturer ?? null, model ?? null])

function spanOf({ key, source_type, app_id, device, document }: IncomingSummary): Span | undefined {
  const { bedtime_start, bedtime_stop } = document as { bedtime_start?: string; bedtime_stop?: string }
  const [from_ms, to_ms] = [Date.parse(bedtime_start ?? ''), Date.parse(bedtime_stop ?? '')]
  if (!(to_ms > from_ms)) return undefined
  return { key, source: sourceKey(source_type, app_id), device: deviceKey(device?.manufacturer, device?.model), from_ms, to_ms }
}

/** Whether a night is the whole of which another one is a piece. Of two of one length the other one gives way. */
const covers = (whole: Span, piece: Span): boolean =>
  whole.key !== piece.key &&
  whole.source === piece.source &&
  (whole.device === null || piece.device === null || whole.device === piece.device) &&
  whole.from_ms <= piece.from_ms &&
  whole.to_ms >= piece.to_ms

export interface WholeNights {
  records: IncomingSummary[]
  /** Stored pieces, by the keys of the nights that take their place. */
  replacements: { piece: Span; whole: string }[]
}

/**
 * Selects the arriving nights that are not pieces of others, in the same answer or stored, and the stored nights that are pieces. Locks the
 * user until the transaction ends. Only reads.
 */
export async function wholeNights(
  tx: Tx,
  { user_id, provider }: { user_id: string; provider: string },
  records: IncomingSummary[],
): Promise<WholeNights> {
  const spans = records.flatMap((record) => spanOf(record) ?? [])
  if (!spans.length || !(await lockUser(tx, user_id))) return { records, replacements: [] }
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const [first, last] = [Math.min(...spans.map(({ from_ms }) => from_ms)), Math.max(...spans.map(({ to_ms }) => to_ms))]
  const rows = await nightsBetween(tx, { user_id, provider }, [day(first - DAY_MS), day(last + 2 * DAY_MS)])
  const there = rows.map(({ key, source_type, app_id, manufacturer, model, document }): Span => {
    const [from_ms, to_ms] = [Date.parse(String(document.bedtime_start)), Date.parse(String(document.bedtime_stop))]
    return { key, source: sourceKey(source_type, app_id), device: deviceKey(manufacturer, model), from_ms, to_ms }
  })
  const arriving = new Set(spans.map(({ key }) => key))
  // What arrives under a key that is stored takes its place.
  const all = [...there.filter(({ key }) => !arriving.has(key)), ...spans]
  // If two have the same length, the later one counts, and a stored one before an arriving one.
  const isPiece = (span: Span): boolean =>
    all.some(
      (candidate) =>
        covers(candidate, span) &&
        !(covers(span, candidate) && arriving.has(candidate.key) && all.indexOf(candidate) < all.indexOf(span)),
    )
  const pieces = new Set(all.filter(isPiece).map(({ key }) => key))
  const wholes = all.filter(({ key }) => !pieces.has(key))
  const replacements = there.flatMap((piece) => {
    const whole = pieces.has(piece.key) && wholes.find((candidate) => covers(candidate, piece))
    return whole ? [{ piece, whole: whole.key }] : []
  })
  return { records: records.filter(({ key }) => !pieces.has(key)), replacements }
}

/**
 * Deletes the stored pieces whose whole nights are stored now; one outside of the bounds of ingestion takes no place. Writes summary. No event tells of
 * a deletion, as with nights of phones.
 */
export async function deletePieces(
  tx: Tx,
  { user_id, provider }: { user_id: string; provider: string },
  replacements: WholeNights['replacements'],
): Promise<void> {
  if (!replacements.length) return
  const wholes = replacements.map(({ whole }) => whole)
  const ids = await summaryIds(tx, user_id, 'sleep', provider, wholes)
  const gone = replacements.flatMap(({ piece, whole }) => (ids.has(whole) ? [piece] : []))
  if (!gone.length) return
  const keys = gone.map(({ key }) => key)
  await deleteSummaries(tx, user_id, ['sleep', 'sleep_cycle'], provider, keys)
  const range = {
    from_ms: Math.min(...gone.map(({ from_ms }) => from_ms)) - DAY_MS,
    to_ms: Math.max(...gone.map(({ to_ms }) => to_ms)) + DAY_MS,
  }
  for (const kind of ['sleep', 'sleep_cycle'] as const) await tx.notify(dataChanged, user_id, kind, range)
}
