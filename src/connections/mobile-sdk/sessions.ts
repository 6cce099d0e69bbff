// Nights, workouts and electrocardiograms in a post: which can be, and in which zone they were.
import type { Tx } from '../../platform/db/transaction.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { FUTURE, isPastInstant } from '../../wearables/ingestion/plausible.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { storedZones } from '../../wearables/summaries/summaries.ts'
import { placesOf, type Faults } from './faults.ts'
import { PostZones } from './phone-samples.ts'
import type { Envelope, Quantity } from './schema.ts'
import type { PhoneContext } from './summaries.ts'

const SESSION_MS_MAX = 7 * DAY_MS

/** A record and where it is in the request. */
export interface Placed<S> {
  record: S
  place: number
}

interface SessionFields<S> {
  /** The two instants, and how the post names them. */
  instantsOf: (record: S) => [start: string, end: string]
  path: string[]
  names: [start: string, end: string]
}

/** The records whose session can be: it does not end before it starts, lasts at most 7 days, and is neither before 1900 nor in the future. */
export async function goodSessions<S>(
  tx: Tx,
  faults: Faults,
  resource: Resource,
  list: S[],
  { instantsOf: of, path, names: [start, end] }: SessionFields<S>,
): Promise<Placed<S>[]> {
  await faults.addLeftOut(resource, list)
  const placeOf = placesOf(list)
  const now_ms = tx.now.getTime()
  return list.flatMap((record, i) => {
    const place = placeOf(i)
    const [start_ms, end_ms] = of(record).map((text) => Date.parse(text)) as [number, number]
    const fault = (name: string, text: string, at_ms?: number) => {
      faults.add(resource, ['body', 'data', place, ...path, name], text, at_ms)
      return []
    }
    if (!isPastInstant(start_ms, now_ms) || !isPastInstant(end_ms, now_ms)) return fault(start, FUTURE)
    if (end_ms < start_ms || end_ms - start_ms > SESSION_MS_MAX)
      return fault(end, `must not be before ${start}, nor more than 7 days after it`, start_ms)
    return [{ record, place }]
  })
}

/** Fields of nights and workouts, whose instants have these names. */
export const ofPhone: SessionFields<{ start_date: string; end_date: string }> = {
  instantsOf: ({ start_date, end_date }) => [start_date, end_date],
  path: [],
  names: ['start_date', 'end_date'],
}

/**
 * The zone of each record: its own; else, of one that is stored, the zone that it has there, since a phone may send it again on a trip; else
 * that of the phone.
 */
export async function zonesOfSessions(
  tx: Tx,
  user_id: string,
  { provider, time_zone }: Envelope,
  kind: 'sleep' | 'workouts' | 'electrocardiogram',
  keys: string[],
): Promise<(record: { id: string } & Pick<Quantity, 'metadata'>) => PhoneContext> {
  const own = new PostZones(undefined)
  const phone = new PostZones(time_zone).zoneAt({})
  const stored = await storedZones(tx, { user_id, kind, provider }, keys)
  return (record) => ({ zone: own.zoneAt(record) ?? stored.get(record.id) ?? phone })
}
