// What a file has and a phone has sent already. A file names its sources otherwise than a phone does, so that records are the same if their
// kind, the kind of their source and their times agree. What the phone has sent stays.
import type { Tx } from '../../platform/db/transaction.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { recordedSummaries, type RecordedSummary } from '../../wearables/summaries/summaries.ts'
import { recordedSamples } from '../../wearables/timeseries/chunks.ts'
import { EXPORT_APP } from './adapters/apple-activity.ts'
import { type ReadSummary, overlaps, type Span } from './reading.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

interface Owner {
  user_id: string
  provider: string
}

/** Phones name apps by bundle ids, such as `com.apple.health.…`; exports by what people call them. */
const isOfPhone = (app_id: string | null): boolean => app_id === null || /^[\w-]+(\.[\w-]+)+$/.test(app_id)

const timesOf = ({ at_ms, length_ms }: { at_ms: number; length_ms: number | null }): string => `${at_ms} ${length_ms}`

/** The samples that no phone has sent. */
export async function newSamples(
  tx: Tx,
  { user_id, provider }: Owner,
  resource: TimeseriesName,
  samples: IncomingSample[],
): Promise<IncomingSample[]> {
  const own = new Set(samples.map(({ app_id }) => app_id))
  const isChosen = (app_id: string | null) => isOfPhone(app_id) && !own.has(app_id)
  const instants = samples.map(({ at_ms }) => at_ms)
  const recorded = await recordedSamples(tx, { user_id, resource, provider }, isChosen, instants)
  if (!recorded.length) return samples
  const known = new Map<string, Set<string>>()
  for (const one of recorded) {
    const types = known.get(timesOf(one)) ?? new Set()
    known.set(timesOf(one), types.add(one.source_type))
  }
  return samples.filter((sample) => {
    const types = known.get(timesOf(sample))
    // A phone that does not know the kind of a source says `unknown`.
    return !types || !(types.has(sample.source_type) || types.has('unknown'))
  })
}

const OF_FILE = /^(export|file):/
const instantOf = (value: string | null | undefined): number => (value ? Date.parse(value) : NaN)

type IsRecorded = (record: ReadSummary['record']) => boolean

/** Tells of each summary of a file whether a phone has recorded it. Reads the times of every stored summary once. */
function phoneIndex(kind: SummaryKind, recordedSummaries: RecordedSummary[]): IsRecorded {
  switch (kind) {
    case 'activity': {
      const days = new Set(recordedSummaries.flatMap(({ app_id, calendar_date }) => (app_id === EXPORT_APP ? [] : calendar_date)))
      return ({ calendar_date }) => days.has(calendar_date)
    }
    case 'electrocardiogram':
    case 'meal': {
      const starts = new Set(
        recordedSummaries.filter(({ key }) => !OF_FILE.test(key)).map(({ starts_at }) => instantOf(starts_at)),
      )
      const start = kind === 'meal' ? 'timestamp' : 'session_start'
      return ({ document }) => starts.has(instantOf((document as Record<string, string>)[start]))
    }
    case 'menstrual_cycle': {
      // A phone that did not know the zone may have taken the day before or after.
      const days = new Set(
        recordedSummaries.flatMap(({ key, calendar_date }) =>
          OF_FILE.test(key) || calendar_date === null ? [] : [-1, 0, 1].map((days) => addDays(calendar_date, days)),
        ),
      )
      return ({ calendar_date }) => calendar_date !== null && days.has(calendar_date)
    }
    default: {
      const spans = recordedSummaries
        .filter(({ key }) => !OF_FILE.test(key))
        .map(({ starts_at, ends_at }): Span => [instantOf(starts_at), instantOf(ends_at)])
        .filter(([from, to]) => !Number.isNaN(from + to))
      // Nights are cut differently; a workout has two ends.
      const isThere = kind === 'sleep' ? overlaps(spans) : equals(spans)
      return ({ document }) => {
        const { time_start, time_end, bedtime_start, bedtime_stop } = document as Record<string, string | undefined>
        return isThere(
          kind === 'sleep' ? [instantOf(bedtime_start), instantOf(bedtime_stop)] : [instantOf(time_start), instantOf(time_end)],
        )
      }
    }
  }
}

function equals(spans: Span[]): (span: Span) => boolean {
  const known = new Set(spans.map((span) => span.join()))
  return (span) => known.has(span.join())
}

const addDays = (day: string, days: number): string => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** What phones have recorded of the profile, or of an instant of the body by other apps than that of the record. */
type OfPhones = (record: ReadSummary['record']) => RecordedSummary[]

function ofPhones(kind: 'profile' | 'body', recordedSummaries: RecordedSummary[]): OfPhones {
  if (kind === 'profile') {
    const sent = recordedSummaries.filter(({ app_id }) => app_id !== EXPORT_APP)
    return () => sent
  }
  const instants = new Map<string, RecordedSummary[]>()
  for (const one of recordedSummaries) {
    if (!isOfPhone(one.app_id)) continue
    const instant = one.key.split(' ')[0]!
    instants.set(instant, [...(instants.get(instant) ?? []), one])
  }
  return ({ app_id, key }) => (instants.get(key.split(' ')[0]!) ?? []).filter((summary) => summary.app_id !== app_id)
}

/** Says when a measurement was, not what was measured. */
const OF_TIME = new Set(['date', 'calendar_date'])

/** A profile or measurement with the fields that no phone has recorded; none if nothing is left. What a phone says of its app stays. */
function withNewFields(summary: ReadSummary, sentOf: OfPhones): ReadSummary[] {
  const { kind, record } = summary
  const sent = sentOf(record)
  if (!sent.length) return [summary]
  const known = new Set(sent.flatMap(({ fields }) => fields))
  const fields = Object.entries(record.document).filter(
    ([name, value]) => value !== null && (OF_TIME.has(name) || !known.has(name)),
  )
  if (!fields.some(([name]) => !OF_TIME.has(name))) return []
  const app_id = kind === 'profile' ? sent[0]!.app_id : record.app_id
  return [{ ...summary, record: { ...record, app_id, document: Object.fromEntries(fields) } } as ReadSummary]
}

/** The summaries that no phone has sent. */
export async function newSummaries(
  tx: Tx,
  { user_id, provider }: Owner,
  kind: SummaryKind,
  summaries: ReadSummary[],
): Promise<ReadSummary[]> {
  const days = new Set(summaries.flatMap(({ record }) => record.calendar_date ?? []))
  // A night may be filed under the day before or after.
  const all = new Set([...days].flatMap((day) => [addDays(day, -1), day, addDays(day, 1)]))
  const known = await recordedSummaries(tx, { user_id, kind, provider }, [...all])
  if (!known.length) return summaries
  if (kind === 'profile' || kind === 'body') {
    const sentOf = ofPhones(kind, known)
    return summaries.flatMap((summary) => withNewFields(summary, sentOf))
  }
  const isRecorded = phoneIndex(kind, known)
  return summaries.filter(({ record }) => !isRecorded(record))
}
